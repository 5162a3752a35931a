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

bool neighbours_meet(struct neighbours *neighbours, int workspace_fd)
{
    struct stat here;
    struct stat above;
    bool are_there = false;
    auto_close int at = openat(workspace_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

    neighbours_leave(neighbours);
    for (bool is_workspace = true; at >= 0; is_workspace = false) {
        int fd = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (fd >= 0 && neighbours->n == NEIGHBOURS_MAX)
            close_fd(&fd);
        if (fd < 0) {
            are_there |=
                is_workspace; /* it cannot be known; above, who may not look does not care */
        } else {
            fd_settle(&fd);
            neighbours->fds[neighbours->n++] = fd;
            are_there |= is_workspace ? meet_at(fd, HERE, HERE, 2) : meet_at(fd, BELOW, HERE, 1);
        }
        int up = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
        bool is_top = up < 0 || fstat(at, &here) < 0 || fstat(up, &above) < 0 ||
                      (here.st_dev == above.st_dev && here.st_ino == above.st_ino);
        close_fd(&at);
        at = up;
        if (is_top)
            break;
    }
    return are_there;
}

void neighbours_leave(struct neighbours *neighbours)
{
    while (neighbours->n > 0)
        (void)close(neighbours->fds[--neighbours->n]);
}
