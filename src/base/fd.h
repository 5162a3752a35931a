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

#define FD_LOW  32  /* a launch finds its descriptors here, and copies no more than these */
#define FD_HIGH 256 /* those that live as long as a box go here when the room above is taken */

/* Out of the way of later launches, where the limit on descriptors allows it. */
static inline void fd_settle(int *fd)
{
    if (*fd < FD_LOW || *fd >= FD_HIGH)
        return;
    int higher = fcntl(*fd, F_DUPFD_CLOEXEC, FD_HIGH);
    if (higher < 0)
        return;
    (void)close(*fd);
    *fd = higher;
}

/* As many bytes as there are, `size` at most; -1 and errno. */
static inline ssize_t fd_read_start(int fd, char *bytes, size_t size)
{
    size_t n = 0;

    while (n < size) {
        ssize_t got = read(fd, bytes + n, size - n);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        n += (size_t)got;
    }
    return (ssize_t)n;
}
