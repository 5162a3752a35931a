/*
 * root_view_steps.c - a directory of the host as the box's root, step by step
 *
 * The directory itself is mounted where the box's own /proc will cover it: there nobody inside can
 * reach it, and init can still take parts of it. Its entries are shown one by one (root_entries.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/inotify.h>

#include "init/root_entries.h"
#include "launch/remount.h"
#include "launch/steps.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define WATCHED (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR)
#define PLACE   "proc" /* of the root; our own proc comes on top */

/* From before the first look on: what the host changes meanwhile is not lost. */
static long watch(struct child *child, long root_view_fd)
{
    char path[48] = "/proc/self/fd/";
    char *end = path + sizeof path - 1;
    char *at = end;
    unsigned long number = (unsigned long)root_view_fd;

    do
        *--at = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    for (char *to = path + 14; at <= end;)
        *to++ = *at++;
    long fd = raw(SYS_inotify_init1, IN_NONBLOCK | IN_CLOEXEC);
    if (fd < 0)
        return fd;
    child->watch_fd = (int)fd;
    long r = raw(SYS_inotify_add_watch, fd, path, WATCHED);
    return r < 0 ? r : 0;
}

long step_root_view(struct child *child, const struct step *step)
{
    uint64_t attributes = MOUNT_NO_SUID | MOUNT_NO_DEV |
                          (step->flags & STEP_READ_ONLY ? MOUNT_READ_ONLY : 0) |
                          (step->flags & STEP_NO_EXEC ? MOUNT_NO_EXEC : 0);
    long fd = step_open_source(step);

    if (fd < 0)
        return fd;
    child->root_view_fd = (int)fd;
    long set = step_set_attributes(fd, AT_RECURSIVE_TREE, attributes);
    if (set < 0 && set != -ENOSYS)
        return set;
    long r = raw(NR_MOVE_MOUNT, fd, "", child->root_fd, PLACE, MOVE_MOUNT_EMPTY_PATH);
    if (r == 0 && set == -ENOSYS)
        r = remount_below(child->root_fd, PLACE, attributes);
    return r < 0 ? r : watch(child, fd);
}

long step_show(struct child *child, const struct step *step)
{
    const struct root_entries view = { child->root_view_fd, child->skeleton_fd, child->root_fd };

    return root_entry_show(&view, step->target, step->flags & STEP_HIDDEN ? ROOT_ENTRY_HIDDEN : 0);
}
