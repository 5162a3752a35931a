#include "guard_mount.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/stat.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "launch/child.h"
#include "launch/user_namespace.h"
#include "sys/clone.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif

#ifndef AT_STATX_DONT_SYNC
#define AT_STATX_DONT_SYNC 0x4000
#endif

#define ATTRIBUTES (MOUNT_READ_ONLY | MOUNT_NO_SUID | MOUNT_NO_DEV | MOUNT_NO_EXEC)

static long enter(const struct guard_mount *mount)
{
    long r = raw(SYS_setns, mount->pidfd, CLONE_NEWUSER);

    if (r == 0 && mount->takes_ids)
        r = user_namespace_become(mount->inside_uid, mount->inside_gid);
    return r < 0 ? r : raw(SYS_setns, mount->pidfd, CLONE_NEWNS);
}

static long open_beneath(long directory_fd, const char *path, int flags)
{
    struct kernel_open_how how = {
        .flags = (uint64_t)(O_PATH | O_NOFOLLOW | O_CLOEXEC | flags),
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    long fd;

    do
        fd = raw(NR_OPENAT2, directory_fd, path, &how, sizeof how);
    while (fd == -EAGAIN);
    return fd;
}

static bool is_gone(long r)
{
    /* EACCES: where we may not go, nobody in the box may */
    return r == -ENOENT || r == -ENOTDIR || r == -ELOOP || r == -EACCES;
}

/* ---- what is put there */

static long open_masks(struct guard_mount *mount)
{
    if (mount->masks_fd >= 0)
        return 0;
    long fs = raw(NR_FSOPEN, "tmpfs", FSOPEN_CLOSE_ON_EXEC);
    if (fs < 0)
        return fs;
    long r = raw(NR_FSCONFIG, fs, FSCONFIG_STRING, "size", "16m", 0);
    if (r >= 0)
        r = raw(NR_FSCONFIG, fs, FSCONFIG_STRING, "mode", "0700", 0);
    if (r >= 0)
        r = raw(NR_FSCONFIG, fs, FSCONFIG_CREATE, NULL, NULL, 0);
    if (r >= 0)
        r = raw(NR_FSMOUNT, fs, FSMOUNT_CLOSE_ON_EXEC,
                MOUNT_NO_SUID | MOUNT_NO_DEV | MOUNT_NO_EXEC);
    (void)raw(SYS_close, fs);
    if (r >= 0)
        mount->masks_fd = (int)r;
    return r < 0 ? r : 0;
}

static void write_name(unsigned number, char out[12])
{
    char digits[12];
    int n = 0;

    do
        digits[n++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (n > 0)
        *out++ = digits[--n];
    *out = '\0';
}

/* As large and as old as what it covers, and as executable; or the text. */
static long fill(const struct guard_mount *mount, long fd)
{
    const struct timespec times[2] = { mount->st->st_mtim, mount->st->st_mtim };
    long r = 0;

    for (size_t done = 0; mount->text && r >= 0 && done < mount->length; done += (size_t)r) {
        r = raw(SYS_write, fd, mount->text + done, mount->length - done);
        if (r == 0)
            return -EIO;
    }
    if (!mount->text) {
        (void)raw(SYS_ftruncate, fd, mount->st->st_size);
        r = raw(SYS_utimensat, fd, NULL, times, 0);
    }
    return r < 0 ? r : 0;
}

static long make(const struct guard_mount *mount, const char *name)
{
    if (S_ISDIR(mount->st->st_mode))
        return raw(SYS_mkdirat, mount->masks_fd, name, 0);
    long fd = raw(SYS_openat, mount->masks_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                  mount->st->st_mode & (mount->text ? 0777 : 0111));
    if (fd < 0)
        return fd;
    long r = fill(mount, fd);
    (void)raw(SYS_close, fd);
    return r;
}

/* A mount of its own. Before 6.15 nothing of a file system that is attached nowhere could be cloned:
 * then a device that cannot be opened must do. */
static long new_mask(struct guard_mount *mount, const char *name)
{
    struct kernel_mount_attr attributes = { .set = ATTRIBUTES };
    long r = make(mount, name);
    long fd =
        r < 0 ? r : raw(NR_OPEN_TREE, mount->masks_fd, name, OPEN_TREE_CLONE_TREE | O_CLOEXEC);
    if (fd == -EINVAL && !S_ISDIR(mount->st->st_mode))
        fd = raw(NR_OPEN_TREE, AT_FDCWD, "/dev/null", OPEN_TREE_CLONE_TREE | O_CLOEXEC);
    if (fd < 0)
        return fd;
    r = raw(NR_MOUNT_SETATTR, fd, "", AT_EMPTY_PATH, &attributes, sizeof attributes);
    if (r < 0 && r != -ENOSYS) {
        (void)raw(SYS_close, fd);
        return r;
    }
    return fd;
}

/* ---- where */

/* The directory of the path, and the last name. */
static long open_parent(const char *path, const char **out_name)
{
    char directory[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t n = (size_t)(slash - path);

    *out_name = slash + 1;
    if (n >= sizeof directory)
        return -ENAMETOOLONG;
    memcpy(directory, path, n);
    directory[n] = '\0';
    long root = raw(SYS_openat, AT_FDCWD, "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return root;
    long fd = open_beneath(root, n > 0 ? directory + 1 : ".", O_DIRECTORY);
    (void)raw(SYS_close, root);
    return fd;
}

static long move(long mask, long place, unsigned flags)
{
    return raw(NR_MOVE_MOUNT, mask, "", place, "",
               MOVE_MOUNT_EMPTY_PATH | MOVE_MOUNT_TO_EMPTY_PATH | flags);
}

/* The new one under the old, which then goes: there is no moment without. */
static long exchange(long mask, long place, long parent, const char *name)
{
    long r = move(mask, place, MOVE_MOUNT_UNDER);

    if (r == -EINVAL) /* an older kernel, or there is none */
        return move(mask, place, 0);
    if (r == 0)
        r = raw(SYS_fchdir, parent);
    return r < 0 ? r : raw(SYS_umount2, name, MNT_DETACH | UMOUNT_NOFOLLOW);
}

/* What is mounted must have a name until it is. */
static long cover(struct guard_mount *mount, long place, bool is_bare, long parent,
                  const char *name)
{
    char own[12];
    long r = open_masks(mount);

    if (r < 0)
        return r;
    write_name(mount->number++, own);
    long mask = new_mask(mount, own);
    r = mask;
    if (mask >= 0) {
        r = is_bare ? move(mask, place, 0) : exchange(mask, place, parent, name);
        (void)raw(SYS_close, mask);
    }
    (void)raw(SYS_unlinkat, mount->masks_fd, own, S_ISDIR(mount->st->st_mode) ? AT_REMOVEDIR : 0);
    return r == -ENOENT ? 0 : r < 0 ? r : 1; /* gone meanwhile: another event will tell */
}

/*
 * What is there may be a mask that init serves (watchfs.h), and init may wait for us: so the kernel is to ask
 * nobody. Which file it is does not change.
 */
static long look_at(long place, struct statx *out)
{
    return raw(SYS_statx, place, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, out);
}

static long put(struct guard_mount *mount, long parent, const char *name)
{
    struct statx found;
    long place = open_beneath(parent, name, 0);

    if (place < 0)
        return is_gone(place) ? 0 : place;
    long r = look_at(place, &found);
    bool is_it = r == 0 && found.stx_ino == mount->st->st_ino &&
                 makedev(found.stx_dev_major, found.stx_dev_minor) == mount->st->st_dev;
    if (is_it ? !mount->only_replaces : r == 0 && mount->replaces)
        r = cover(mount, place, is_it, parent, name);
    (void)raw(SYS_close, place);
    return r;
}

static int guard_main(void *argument)
{
    struct guard_mount *mount = argument;
    const char *name = NULL;
    long r = enter(mount);

    (void)raw(SYS_umask, 0);
    if (r == 0) {
        long parent = open_parent(mount->path, &name);

        r = parent >= 0 ? put(mount, parent, name) : is_gone(parent) ? 0 : parent;
        if (parent >= 0)
            (void)raw(SYS_close, parent);
    }
    mount->result = r;
    return 0;
}

long guard_mount_put(struct guard_mount *mount)
{
    struct sys_clone how = {
        .flags = CLONE_VM | CLONE_VFORK | CLONE_FILES,
        .stack = mount->stack,
        .stack_size = CHILD_STACK_SIZE,
    };
    int dumpable = prctl(PR_GET_DUMPABLE);
    uint64_t all = UINT64_MAX; /* no handler of ours may run in the child */
    uint64_t old = 0;

    mount->result = -ECANCELED;
    (void)raw(SYS_rt_sigprocmask, SIG_SETMASK, &all, &old, sizeof all);
    long pid = sys_clone(&how, guard_main, mount);
    if (pid > 0)
        while (raw(SYS_wait4, pid, NULL, __WALL, NULL) == -EINTR)
            ;
    (void)raw(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, sizeof old);
    /* Taking other ids marked our memory as not dumpable, as in launch.c. */
    if (dumpable == 1 && prctl(PR_GET_DUMPABLE) != 1)
        (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    return pid < 0 ? pid : mount->result;
}
