/*
 * birth_time.h - when a file was made
 */
#pragma once

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* statx(2): Linux 4.11, glibc 2.28, musl 1.2.4. -1: the file system does not know it. */
static inline int sys_birth_time(int fd, time_t *out)
{
    /* struct statx: the mask, then the time at byte 80. */
    unsigned char info[256] = { 0 };
    const uint32_t wanted = 0x800; /* STATX_BTIME */
    uint32_t mask;
    int64_t seconds;

    if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH, wanted, info) < 0)
        return -1;
    memcpy(&mask, info, sizeof mask);
    memcpy(&seconds, info + 80, sizeof seconds);
    if (!(mask & wanted))
        return -1;
    *out = (time_t)seconds;
    return 0;
}
