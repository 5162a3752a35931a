/*
 * file_id.h - which file this is: an inode's number may come again, so its birth counts too, where the
 * file system keeps it
 *
 * Also in the init image: no libc.
 */
#pragma once

#include <fcntl.h>
#include <linux/stat.h>
#include <stdbool.h>
#include <stdint.h>

#include "sys/raw.h"

#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif

struct file_id {
    uint64_t dev, ino, birth;
};

/* Of a name, not followed, or of a descriptor with the name ""; false if it is gone. */
static inline bool file_id_of(int fd, const char *name, struct file_id *out)
{
    struct statx st;

    if (raw(SYS_statx, fd, name, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH, STATX_INO | STATX_BTIME,
            &st) < 0)
        return false;
    out->dev = (uint64_t)st.stx_dev_major << 32 | st.stx_dev_minor;
    out->ino = st.stx_ino;
    out->birth = st.stx_mask & STATX_BTIME
                     ? (uint64_t)st.stx_btime.tv_sec * 1000000000u + st.stx_btime.tv_nsec
                     : 0;
    return true;
}

static inline bool file_id_equal(const struct file_id *a, const struct file_id *b)
{
    return a->ino == b->ino && a->dev == b->dev && a->birth == b->birth;
}
