/*
 * mount_steps.c - one function per kind of mount, and the root that they make up
 *
 * All of it runs in the child: system calls only, no decisions beyond the step's own fields.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "launch/remount.h"
#include "launch/steps.h"
#include "launch/watchfs_steps.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define TMPFS_ATTRIBUTES (MOUNT_NO_SUID | MOUNT_NO_DEV)

struct fs_option {
    const char *name;
    uint64_t value; /* 0: not set */
};

/* A new file system as a detached mount: its descriptor, or -errno. */
static long new_mount(const char *type, const struct fs_option *options, unsigned attributes)
{
    char number[24];
    long fs = raw(NR_FSOPEN, type, FSOPEN_CLOSE_ON_EXEC);
    long r = 0;

    if (fs < 0)
        return fs;
    for (; r >= 0 && options && options->name; options++)
        if (options->value)
            r = raw(NR_FSCONFIG, fs, FSCONFIG_STRING, options->name,
                    step_decimal(options->value, number + sizeof number), 0);
    if (r >= 0)
        r = raw(NR_FSCONFIG, fs, FSCONFIG_CREATE, NULL, NULL, 0);
    if (r >= 0)
        r = raw(NR_FSMOUNT, fs, FSMOUNT_CLOSE_ON_EXEC, attributes);
    (void)raw(SYS_close, fs);
    return r;
}

static long attach(struct child *child, long mount_fd, const char *target)
{
    long r = raw(NR_MOVE_MOUNT, mount_fd, "", child->root_fd, target, MOVE_MOUNT_EMPTY_PATH);

    (void)raw(SYS_close, mount_fd);
    return r;
}

/* Through directories of the host nothing may lead elsewhere: no links on the way to the target. */
static long attach_checked(struct child *child, long mount_fd, const char *target)
{
    struct kernel_open_how how = {
        .flags = O_PATH | O_CLOEXEC,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    long place = raw(NR_OPENAT2, child->root_fd, target, &how, sizeof how);

    if (place < 0) {
        (void)raw(SYS_close, mount_fd);
        return place;
    }
    long r = raw(NR_MOVE_MOUNT, mount_fd, "", place, "",
                 MOVE_MOUNT_EMPTY_PATH | MOVE_MOUNT_TO_EMPTY_PATH);
    (void)raw(SYS_close, mount_fd);
    (void)raw(SYS_close, place);
    return r;
}

/*
 * A mount that is attached nowhere makes the last close of its descriptor wait for every processor.
 * So it is put where nobody looks: on the host's /sys, which goes with the host's root, or on the
 * template's /proc, which our own covers. Where neither is there, it stays detached.
 */
static void park_pool(struct child *child)
{
    if (child->root_fd >= 0)
        (void)raw(NR_MOVE_MOUNT, child->pool_fd, "", child->root_fd, "proc", MOVE_MOUNT_EMPTY_PATH);
    else
        (void)raw(NR_MOVE_MOUNT, child->pool_fd, "", AT_FDCWD, "/sys", MOVE_MOUNT_EMPTY_PATH);
}

long step_pool(struct child *child, const struct step *step)
{
    const struct fs_option options[] = {
        { "size", step->value == COOP_LIMIT_NONE ? 0 : step->value },
        { "nr_inodes", step->value2 },
        { "mode", 755 },
        { NULL, 0 },
    };
    long fd = new_mount("tmpfs", options,
                        TMPFS_ATTRIBUTES | (step->flags & STEP_NO_EXEC ? MOUNT_NO_EXEC : 0));

    if (fd < 0)
        return fd;
    child->pool_fd = (int)fd;
    park_pool(child);
    long r = raw(SYS_mkdirat, fd, "r", 0755);
    if (r == 0)
        r = raw(SYS_mkdirat, fd, "e", 0755);
    if (r == 0)
        r = raw(SYS_mkdirat, fd, "e/d", 0);
    if (r == 0)
        r = raw(SYS_mknodat, fd, "e/f", S_IFREG, 0);
    if (r == 0)
        r = raw(SYS_openat, fd, "r", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (r >= 0)
        child->skeleton_fd = (int)r;
    return r < 0 ? r : 0;
}

long step_make_directory(struct child *child, const struct step *step)
{
    long r = raw(SYS_mkdirat, child->skeleton_fd, step->target, step->mode);

    return r == -EEXIST ? 0 : r;
}

long step_make_link(struct child *child, const struct step *step)
{
    return raw(SYS_symlinkat, step->source, child->skeleton_fd, step->target);
}

long step_make_file(struct child *child, const struct step *step)
{
    if (!step->source) {
        long r = raw(SYS_mknodat, child->skeleton_fd, step->target, S_IFREG | 0644, 0);

        return r == -EEXIST ? 0 : r;
    }
    long fd = raw(SYS_openat, child->skeleton_fd, step->target,
                  O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, step->mode);
    if (fd < 0)
        return fd;
    long r = raw(SYS_write, fd, step->source, step->length);
    (void)raw(SYS_close, fd);
    return r < 0 ? r : 0;
}

/* Before 6.15 a detached mount cannot be cloned in parts: then it is attached out of sight. */
long step_clone_of_pool(struct child *child, const char *path)
{
    long fd = raw(NR_OPEN_TREE, child->pool_fd, path, OPEN_TREE_CLONE_TREE | O_CLOEXEC);

    if (fd != -EINVAL)
        return fd;
    long r = raw(NR_MOVE_MOUNT, child->pool_fd, "", AT_FDCWD, "/", MOVE_MOUNT_EMPTY_PATH);
    if (r < 0)
        return r;
    child->pool_is_attached = true;
    return raw(NR_OPEN_TREE, child->pool_fd, path, OPEN_TREE_CLONE_TREE | O_CLOEXEC);
}

long step_make_root(struct child *child, const struct step *step)
{
    (void)step;
    long fd = step_clone_of_pool(child, "r");
    if (fd < 0)
        return fd;
    child->root_fd = (int)fd;
    return raw(NR_MOVE_MOUNT, fd, "", AT_FDCWD, "/", MOVE_MOUNT_EMPTY_PATH);
}

long step_set_attributes(long mount_fd, unsigned flags, uint64_t set)
{
    struct kernel_mount_attr attributes = { .set = set, .propagation = MOUNT_PROPAGATE_PRIVATE };

    return raw(NR_MOUNT_SETATTR, mount_fd, "", AT_EMPTY_PATH | flags, &attributes,
               sizeof attributes);
}

/* A node of the host's /dev; what is bound is what is looked at. Another device, or a file that
 * somebody put there, would be open to the box without nodev. */
static long open_device(const struct step *step)
{
    struct stat st;
    long fd = raw(NR_OPEN_TREE, AT_FDCWD, step->source, OPEN_TREE_CLONE_TREE | O_CLOEXEC);

    if (fd < 0)
        return fd;
    long r = raw(SYS_fstat, fd, &st);
    if (r == 0 && (!S_ISCHR(st.st_mode) || st.st_rdev != step->dev))
        r = -ENODEV;
    if (r == 0)
        return fd;
    (void)raw(SYS_close, fd);
    return r;
}

/* The source as a detached copy of its mounts; what was opened before must still be there. */
long step_open_source(const struct step *step)
{
    struct stat now;

    if (step->flags & STEP_TREE_FD)
        return raw(SYS_fcntl, step->fd, F_DUPFD_CLOEXEC, 3);
    if (step->flags & STEP_DEVICE)
        return open_device(step);
    if (!(step->flags & STEP_RECHECK))
        return raw(NR_OPEN_TREE, AT_FDCWD, step->source,
                   OPEN_TREE_CLONE_TREE | O_CLOEXEC | AT_RECURSIVE_TREE);
    long fd = raw(SYS_openat, AT_FDCWD, step->source, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return fd;
    long r = raw(SYS_fstat, fd, &now);
    if (r == 0 && (now.st_dev != step->dev || now.st_ino != step->ino))
        r = -ESTALE;
    if (r == 0)
        r = raw(NR_OPEN_TREE, fd, "",
                OPEN_TREE_CLONE_TREE | O_CLOEXEC | AT_RECURSIVE_TREE | AT_EMPTY_PATH);
    (void)raw(SYS_close, fd);
    return r;
}

long step_bind(struct child *child, const struct step *step)
{
    long fd = step_open_source(step);

    if (fd < 0)
        return fd;
    if (step->flags & (STEP_DEVICE | STEP_SEALED_LATER))
        return attach(child, fd, step->target);
    uint64_t attributes = MOUNT_NO_SUID | MOUNT_NO_DEV |
                          (step->flags & STEP_READ_ONLY ? MOUNT_READ_ONLY : 0) |
                          (step->flags & STEP_NO_EXEC ? MOUNT_NO_EXEC : 0);
    long set = step_set_attributes(fd, AT_RECURSIVE_TREE, attributes);
    if (set < 0 && set != -ENOSYS) {
        (void)raw(SYS_close, fd);
        return set;
    }
    long r = step->flags & (STEP_RECHECK | STEP_TREE_FD) ? attach_checked(child, fd, step->target)
                                                         : attach(child, fd, step->target);
    if (r == 0 && set == -ENOSYS)
        r = remount_below(child->root_fd, step->target, attributes);
    return r;
}

long step_private(struct child *child, const struct step *step)
{
    long fd = watchfs_lay_beneath(
        child, step, TMPFS_ATTRIBUTES | (step->flags & STEP_NO_EXEC ? MOUNT_NO_EXEC : 0));

    if (fd >= 0)
        child->watches_tmp = 1;
    else                                                  /* it is the same directory, unwatched */
        fd = step_clone_of_pool(child, step->source + 3); /* less its "../" */
    if (fd < 0 || !(step->flags & STEP_READ_ONLY))
        return fd < 0 ? fd : attach(child, fd, step->target);
    const uint64_t attributes = TMPFS_ATTRIBUTES | MOUNT_READ_ONLY;
    long set = step_set_attributes(fd, 0, attributes);
    if (set < 0 && set != -ENOSYS) {
        (void)raw(SYS_close, fd);
        return set;
    }
    long r = attach(child, fd, step->target);
    if (r == 0 && set == -ENOSYS)
        r = remount_exactly(child->root_fd, step->target, attributes);
    return r;
}

long step_tmpfs(struct child *child, const struct step *step)
{
    const struct fs_option options[] = { { "size", step->value }, { "mode", 1777 }, { NULL, 0 } };
    long fd = new_mount("tmpfs", options,
                        TMPFS_ATTRIBUTES | (step->flags & STEP_READ_ONLY ? MOUNT_READ_ONLY : 0) |
                            (step->flags & STEP_NO_EXEC ? MOUNT_NO_EXEC : 0));

    return fd < 0 ? fd : attach_checked(child, fd, step->target);
}

/*
 * Of processes only those are shown that whoever looks may trace, whatever groups it is in. init-to-be and
 * its helper share the caller's memory when the command begins, and everybody could read the caller's
 * arguments.
 */
static const struct fs_option proc_options[] = { { "hidepid", 4 }, { NULL, 0 } };

long step_proc(struct child *child, const struct step *step)
{
    if (child->proc_fd < 0) {
        long fd = new_mount("proc", proc_options,
                            MOUNT_NO_SUID | MOUNT_NO_DEV | MOUNT_NO_EXEC |
                                (step->flags & STEP_READ_ONLY ? MOUNT_READ_ONLY : 0));

        return fd < 0 ? fd : attach(child, fd, step->target);
    }
    /* Kept open, the command's process may need it still. The maps are written: now read-only. */
    long r = step_set_attributes(child->proc_fd, 0, MOUNT_READ_ONLY);
    if (r == 0)
        r = raw(NR_MOVE_MOUNT, child->proc_fd, "", child->root_fd, step->target,
                MOVE_MOUNT_EMPTY_PATH);
    return r;
}

/* The view that a template made is our root already; what is our own is put on top of it. */
long step_enter_template(struct child *child, const struct step *step)
{
    (void)step;
    long root = raw(SYS_openat, AT_FDCWD, "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return root;
    child->root_fd = (int)root;
    /* Not read-only yet: the id maps are written through it. */
    long fd = new_mount("proc", proc_options, MOUNT_NO_SUID | MOUNT_NO_DEV | MOUNT_NO_EXEC);
    if (fd >= 0)
        child->proc_fd = (int)fd;
    child_tell(&child->proc_ready, 1);
    return fd < 0 ? fd : 0;
}

long step_terminals(struct child *child, const struct step *step)
{
    const struct fs_option options[] = { { "ptmxmode", 666 }, { "mode", 620 }, { NULL, 0 } };
    long fd = new_mount("devpts", options, MOUNT_NO_SUID | MOUNT_NO_EXEC);

    return fd < 0 ? fd : attach(child, fd, step->target);
}

/* One that tells when somebody wants it: watchfs.h. */
static long hide_by_node(const struct child *child, size_t index, long place)
{
    long fd = watchfs_clone_node(child, index);

    if (fd < 0)
        return fd;
    long r =
        raw(NR_MOVE_MOUNT, fd, "", place, "", MOVE_MOUNT_EMPTY_PATH | MOVE_MOUNT_TO_EMPTY_PATH);
    (void)raw(SYS_close, fd);
    return r;
}

static long hide_by_pool(struct child *child, const struct step *step, bool is_directory,
                         long place)
{
    const uint64_t attributes = MOUNT_READ_ONLY | MOUNT_NO_SUID | MOUNT_NO_DEV | MOUNT_NO_EXEC;
    long fd = step_clone_of_pool(child, is_directory ? "e/d" : "e/f");

    if (fd < 0)
        return fd;
    long set = step_set_attributes(fd, 0, attributes);
    long r = set == -ENOSYS ? 0 : set;
    if (r >= 0)
        r = raw(NR_MOVE_MOUNT, fd, "", place, "", MOVE_MOUNT_EMPTY_PATH | MOVE_MOUNT_TO_EMPTY_PATH);
    if (r == 0 && set == -ENOSYS)
        r = remount_below(child->root_fd, step->target, attributes);
    (void)raw(SYS_close, fd);
    return r;
}

/* An empty thing of the same sort that nobody may open. What is not there needs no hiding. */
long step_hide(struct child *child, const struct step *step)
{
    struct kernel_open_how how = {
        .flags = O_PATH | O_CLOEXEC,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    struct stat st;
    long place = raw(NR_OPENAT2, child->root_fd, step->target, &how, sizeof how);

    /* Where init itself may not go, nobody in the box may. */
    if (place == -ENOENT || place == -ENOTDIR || place == -EACCES)
        return 0;
    if (place < 0)
        return place;
    long r = raw(SYS_fstat, place, &st);
    if (r == 0 && step->node && child->watchfs_fd >= 0)
        r = hide_by_node(child, step->node - 1 + S_ISDIR(st.st_mode), place);
    else if (r == 0)
        r = hide_by_pool(child, step, S_ISDIR(st.st_mode), place);
    (void)raw(SYS_close, place);
    return r;
}

long step_seal_root(struct child *child, const struct step *step)
{
    const uint64_t attributes = MOUNT_READ_ONLY | MOUNT_NO_SUID | MOUNT_NO_DEV |
                                (step->flags & STEP_NO_EXEC ? MOUNT_NO_EXEC : 0);
    long r = step_set_attributes(child->root_fd, AT_RECURSIVE_TREE, attributes);

    return r == -ENOSYS ? remount_below(child->root_fd, "", attributes) : r;
}

long step_enter_root(struct child *child, const struct step *step)
{
    (void)step;
    long r = raw(SYS_fchdir, child->root_fd);

    /* Mounts of a host that shares its own are its slaves until now: those of single files, say. */
    if (r == 0)
        r = raw(SYS_mount, NULL, ".", NULL, MS_REC | MS_PRIVATE, NULL);
    return r < 0 ? r : raw(SYS_pivot_root, ".", ".");
}

long step_drop_host_root(struct child *child, const struct step *step)
{
    long r = 0;

    (void)step;
    /* The host's root now lies on top of ours, and on top of that the pool, if it was attached. */
    if (child->pool_is_attached)
        r = raw(SYS_umount2, ".", MNT_DETACH);
    if (r == 0)
        r = raw(SYS_umount2, ".", MNT_DETACH);
    if (r == 0)
        r = raw(SYS_chdir, "/");
    return r;
}
