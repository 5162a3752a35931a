/*
 * mask_steps.c - the steps that protect what exists in a writable tree
 *
 *   pristine   a second mount of the tree, taken before anything is put on it and kept out of sight:
 *              what is cloned from it costs the same however many masks there are already
 *   hold       a directory mounted on itself: it cannot be moved away
 *   freeze     the pristine mount becomes read-only, and so does what is cloned from it
 *   keep       a thing's own read-only clone, on top of it
 *   mask       on top of it something that nobody may open
 *   cover      on top of it a file with other content
 *
 * By descriptors, through no link, and only if the place still holds what the plan saw there: if not,
 * ESTALE. They run in the child: system calls only.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "launch/remount.h"
#include "launch/steps.h"
#include "launch/watchfs_steps.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif

#define KEPT_ATTRIBUTES (MOUNT_READ_ONLY | MOUNT_NO_SUID | MOUNT_NO_DEV)
#define MASK_ATTRIBUTES (KEPT_ATTRIBUTES | MOUNT_NO_EXEC)
#define NUMBER_SIZE     24

static void close_if(int *fd)
{
    if (*fd >= 0)
        (void)raw(SYS_close, *fd);
    *fd = -1;
}

/* A rename anywhere on the host may ask for another try. */
static long open_beneath(int directory_fd, const char *path)
{
    struct kernel_open_how how = {
        .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    long fd;

    do
        fd = raw(NR_OPENAT2, directory_fd, path, &how, sizeof how);
    while (fd == -EAGAIN);
    return fd;
}

/* The very thing that the plan saw. */
static long open_seen(int directory_fd, const struct step *step)
{
    struct stat now;
    long fd = open_beneath(directory_fd, step->target);

    if (fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP)
        return -ESTALE;
    if (fd < 0)
        return fd;
    long r = raw(SYS_fstat, fd, &now);
    if (r == 0 && (now.st_dev != step->dev || now.st_ino != step->ino))
        r = -ESTALE;
    if (r == 0)
        return fd;
    (void)raw(SYS_close, fd);
    return r;
}

static long clone_tree(long fd)
{
    return raw(NR_OPEN_TREE, fd, "",
               OPEN_TREE_CLONE_TREE | O_CLOEXEC | AT_RECURSIVE_TREE | AT_EMPTY_PATH);
}

/*
 * Out of sight, as the pool is: on the host's /sys, which goes with the host's root, or on the
 * template's /proc, which our own will cover. What stays detached can be cloned from 6.15 on.
 */
static long park(struct child *child, long mount_fd)
{
    long r = child->proc_fd >= 0
                 ? raw(NR_MOVE_MOUNT, mount_fd, "", child->root_fd, "proc", MOVE_MOUNT_EMPTY_PATH)
                 : raw(NR_MOVE_MOUNT, mount_fd, "", AT_FDCWD, "/sys", MOVE_MOUNT_EMPTY_PATH);

    return r == -ENOENT || r == -ENOTDIR ? 0 : r;
}

long step_pristine(struct child *child, const struct step *step)
{
    close_if(&child->place_fd);
    close_if(&child->pristine_fd);
    bool is_project =
        !*step->target; /* its parts are shown one by one, and it is kept as a whole */
    long place = open_beneath(child->root_fd, is_project ? "." : step->target);
    if (place < 0)
        return place;
    child->place_fd = (int)place;
    long fd = clone_tree(is_project ? child->root_view_fd : place);
    if (fd < 0)
        return fd;
    child->pristine_fd = (int)fd;
    long r = step_set_attributes(fd, AT_RECURSIVE_TREE, MOUNT_NO_SUID | MOUNT_NO_DEV);
    return r < 0 && r != -ENOSYS ? r : park(child, fd);
}

long step_freeze(struct child *child, const struct step *step)
{
    (void)step;
    long r = step_set_attributes(child->pristine_fd, AT_RECURSIVE_TREE, KEPT_ATTRIBUTES);

    child->needs_remount = r == -ENOSYS;
    return child->needs_remount ? 0 : r;
}

/* Puts the mount on the place; both are closed. */
static long put(struct child *child, const struct step *step, long mount_fd, long place,
                uint64_t attributes)
{
    long r = raw(NR_MOVE_MOUNT, mount_fd, "", place, "",
                 MOVE_MOUNT_EMPTY_PATH | MOVE_MOUNT_TO_EMPTY_PATH);

    (void)raw(SYS_close, mount_fd);
    (void)raw(SYS_close, place);
    if (r == 0 && attributes && child->needs_remount)
        r = remount_exactly(child->place_fd, step->target, attributes);
    return r;
}

/* Where init itself may not go, nobody in the box may. */
static bool is_out_of_reach(long r)
{
    return r == -EACCES;
}

static long put_own_clone(struct child *child, const struct step *step, uint64_t attributes)
{
    long place = open_seen(child->place_fd, step);

    if (place < 0)
        return is_out_of_reach(place) ? 0 : place;
    long source = open_seen(child->pristine_fd, step);
    long fd = source < 0 ? source : clone_tree(source);
    if (source >= 0)
        (void)raw(SYS_close, source);
    if (fd < 0) {
        (void)raw(SYS_close, place);
        return fd;
    }
    return put(child, step, fd, place, attributes);
}

long step_hold(struct child *child, const struct step *step)
{
    return put_own_clone(child, step, 0);
}

long step_keep(struct child *child, const struct step *step)
{
    return put_own_clone(child, step, KEPT_ATTRIBUTES);
}

/* Files for masks are made in the pool; they are mounted from a read-only clone of their directory. */
static long open_masks(struct child *child)
{
    if (child->masks_fd >= 0)
        return 0;
    long r = raw(SYS_mkdirat, child->pool_fd, "m", 0700);
    if (r == 0)
        r = raw(SYS_mkdirat, child->pool_fd, "m/d", 0);
    if (r < 0)
        return r;
    long fd = step_clone_of_pool(child, "m");
    if (fd < 0)
        return fd;
    child->masks_fd = (int)fd;
    r = step_set_attributes(fd, 0, MASK_ATTRIBUTES);
    child->needs_remount = r == -ENOSYS;
    return r < 0 && r != -ENOSYS ? r : park(child, fd);
}

/* "m/17"; what follows the slash is its name among the masks. */
static const char *mask_name(uint64_t number, char buffer[NUMBER_SIZE])
{
    char *at = buffer + NUMBER_SIZE;

    *--at = '\0';
    do
        *--at = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    *--at = '/';
    *--at = 'm';
    return at;
}

static long make_mask(struct child *child, const char *name, mode_t mode)
{
    return raw(SYS_openat, child->pool_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
}

/* As large and as old as what it covers, and as executable: git looks at no more than that. */
static long make_lookalike(struct child *child, const struct step *step, const char *name)
{
    const int64_t second = 1000000000;
    int64_t mtime = (int64_t)step->value2;
    struct timespec times[2] = { { .tv_sec = (time_t)(mtime / second),
                                   .tv_nsec = (long)(mtime % second) } };
    long fd = make_mask(child, name, step->mode & 0111);

    if (fd < 0)
        return fd;
    if (times[0].tv_nsec < 0) {
        times[0].tv_sec--;
        times[0].tv_nsec += (long)second;
    }
    times[1] = times[0];
    (void)raw(SYS_ftruncate, fd, step->value);
    long r = raw(SYS_utimensat, fd, NULL, times, 0);
    (void)raw(SYS_close, fd);
    return r;
}

/* `name` among the masks; NULL: the step's node, which tells when somebody comes (watchfs.h). */
static long put_mask(struct child *child, const struct step *step, const char *name)
{
    long place = open_seen(child->place_fd, step);

    if (place < 0)
        return is_out_of_reach(place) ? 0 : place;
    long fd = name ? raw(NR_OPEN_TREE, child->masks_fd, name, OPEN_TREE_CLONE_TREE | O_CLOEXEC)
                   : watchfs_clone_node(child, step->node - 1);
    if (fd < 0) {
        (void)raw(SYS_close, place);
        return fd;
    }
    return put(child, step, fd, place, name ? MASK_ATTRIBUTES : 0);
}

long step_mask(struct child *child, const struct step *step)
{
    char buffer[NUMBER_SIZE];
    const char *name = "m/d";

    if (step->node && child->watchfs_fd >= 0)
        return put_mask(child, step, NULL);
    long r = open_masks(child);

    if (r == 0 && !S_ISDIR(step->mode)) {
        name = mask_name(step->length, buffer);
        r = make_lookalike(child, step, name);
    }
    return r < 0 ? r : put_mask(child, step, name + 2);
}

long step_cover(struct child *child, const struct step *step)
{
    char buffer[NUMBER_SIZE];
    const char *name = mask_name(step->value, buffer);
    long r = open_masks(child);
    long fd = r < 0 ? r : make_mask(child, name, step->mode & 0777);

    if (fd < 0)
        return fd;
    for (size_t done = 0; r >= 0 && done < step->length; done += (size_t)r)
        r = raw(SYS_write, fd, step->source + done, step->length - done);
    (void)raw(SYS_close, fd);
    return r < 0 ? r : put_mask(child, step, name + 2);
}
