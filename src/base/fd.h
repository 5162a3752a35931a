/*
 * fd.h - descriptors that keep away from standard input and output
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Descriptors of ours never take the numbers 0 to 2, even if the caller closed those. */
static inline int fd_lift(int *fd)
{
    if (*fd > 2)
        return 0;
    int higher = fcntl(*fd, F_DUPFD_CLOEXEC, 3);
    if (higher < 0)
        return -errno;
    (void)close(*fd);
    *fd = higher;
    return 0;
}
