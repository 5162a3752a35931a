#include "neighbours.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"

#define HERE  0x636F6F70 /* a box has this directory as its workspace */
#define BELOW 0x636F6F71 /* a box has one somewhere below */

/* Leaves our lock in one place and looks for others in `n` from `from` on. */
static bool meet_at(int fd, off_t own, off_t from, off_t n)
{
    struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = own, .l_len = 1 };
    struct flock others = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = from, .l_len = n };

    if (fcntl(fd, F_OFD_SETLK, &lock) < 0 || fcntl(fd, F_OFD_GETLK, &others) < 0)
        return true;
    return others.l_type != F_UNLCK;
}

/* Of a directory that may not be read, only the way up is needed. */
static int open_for_locks(int at, const char *name, bool *can_lock)
{
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    *can_lock = fd >= 0;
    return fd >= 0 ? fd : openat(at, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

bool neighbours_meet(struct neighbours *neighbours, int workspace_fd)
{
    struct stat below = { 0 };
    struct stat here;
    bool can_lock;
    bool are_there = false;
    auto_close int passed = -1; /* the last one that could not be locked */

    neighbours_leave(neighbours);
    int at = open_for_locks(workspace_fd, ".", &can_lock);
    for (bool is_workspace = true; at >= 0; is_workspace = false) {
        if (fstat(at, &here) < 0 ||
            (!is_workspace && here.st_dev == below.st_dev && here.st_ino == below.st_ino)) {
            close_fd(&at); /* above the top is the top */
            break;
        }
        below = here;
        can_lock &= neighbours->n < NEIGHBOURS_MAX;
        close_fd(&passed);
        if (can_lock) {
            fd_settle(&at);
            neighbours->fds[neighbours->n++] = at;
            are_there |= is_workspace ? meet_at(at, HERE, HERE, 2) : meet_at(at, BELOW, HERE, 1);
        } else {
            passed = at;
            are_there |=
                is_workspace; /* it cannot be known; above, who may not look does not care */
        }
        at = open_for_locks(at, "..", &can_lock);
    }
    return are_there;
}

void neighbours_leave(struct neighbours *neighbours)
{
    while (neighbours->n > 0)
        (void)close(neighbours->fds[--neighbours->n]);
}
