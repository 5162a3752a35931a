#include "watchfs_steps.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stddef.h>
#include <sys/wait.h>

#include "init/watchfs/watchfs.h"
#include "launch/remount.h"
#include "launch/steps.h"
#include "sys/clone.h"
#include "sys/kernel.h"
#include "sys/raw.h"

/*
 * A mask could be executed and written to, were it not that nothing can be opened: so these attempts are
 * seen as well, and fail as they do with an ordinary mask, whose mode is looked at before its mount.
 */
#define MASK_ATTRIBUTES    (MOUNT_NO_SUID | MOUNT_NO_DEV)
#define WATCHFS_ATTRIBUTES (MASK_ATTRIBUTES | MOUNT_READ_ONLY | MOUNT_NO_EXEC)
#define FEW                3 /* so many are looked up one by one */

/*
 * One request, if there is one; false: nobody will ask any more. What the command itself asks, when
 * it runs already, is left to init, which tells of it.
 */
static bool serve_once(struct child *child, const struct watchfs_fs *fs)
{
    _Alignas(8) char request[WATCHFS_REQUEST_MAX];
    _Alignas(8) char answer[WATCHFS_ANSWER_MAX];
    struct watchfs_touch touch;
    long n = raw(SYS_read, child->fuse_fd, request, sizeof request);

    if (n < 0) /* ENOENT: the question was taken back meanwhile */
        return n == -EINTR || n == -EAGAIN || n == -ENOENT;
    size_t length = watchfs_answer(fs, request, (size_t)n, answer, &touch);
    bool is_late = touch.node && child->helper_pid > 0 &&
                   __atomic_load_n(&child->command_alive, __ATOMIC_ACQUIRE) == 0;
    if (is_late && raw(SYS_write, child->late_fds[1], request, n) == n)
        return true;
    if (length > 0)
        (void)raw(SYS_write, child->fuse_fd, answer, length);
    return n > 0;
}

static struct watchfs_fs fs_of(const struct child *child)
{
    const struct plan_watchfs *watchfs = child->plan->watchfs;

    return (struct watchfs_fs){ watchfs->nodes, watchfs->n, (uint32_t)raw(SYS_getuid),
                                (uint32_t)raw(SYS_getgid) };
}

static int helper_main(void *argument)
{
    struct child *child = argument;
    const struct watchfs_fs fs = fs_of(child);

    struct pollfd fds[] = { { .fd = child->fuse_fd, .events = POLLIN },
                            { .fd = child->helper_fd, .events = POLLIN } };

    for (;;) {
        long n = raw(SYS_ppoll, fds, 2, NULL, NULL, 0);

        if (n == -EINTR)
            continue;
        if (n > 0 && fds[1].revents)
            return 0;
        if (n < 0 || (fds[0].revents && !serve_once(child, &fs))) {
            (void)raw(SYS_close, child->fuse_fd); /* the last: sleepers are woken with an error */
            return 0;
        }
    }
}

static long set(long fs, const char *name, unsigned long value)
{
    char number[WATCHFS_NUMBER_SIZE];

    return raw(NR_FSCONFIG, fs, FSCONFIG_STRING, name, watchfs_node_name(value, number), 0);
}

/* A detached mount of what was described so far without an error; closes its context. */
static long finish_fs(long fs, long r, uint64_t attributes)
{
    if (r >= 0)
        r = raw(NR_FSCONFIG, fs, FSCONFIG_CREATE, NULL, NULL, 0);
    if (r >= 0)
        r = raw(NR_FSMOUNT, fs, FSMOUNT_CLOSE_ON_EXEC, attributes);
    if (fs >= 0)
        (void)raw(SYS_close, fs);
    return r;
}

/* With allow_other, members of the box's user namespace get in, and nobody else: nobody outside can be
 * made to wait here. */
static long make_fs(int fuse_fd)
{
    long fs = raw(NR_FSOPEN, "fuse", FSOPEN_CLOSE_ON_EXEC);
    long r = fs < 0 ? fs : raw(NR_FSCONFIG, fs, FSCONFIG_STRING, "source", "coop", 0);

    if (r >= 0)
        r = set(fs, "fd", (unsigned long)fuse_fd);
    if (r >= 0)
        r = raw(NR_FSCONFIG, fs, FSCONFIG_STRING, "rootmode", "40000", 0);
    if (r >= 0)
        r = set(fs, "user_id", (unsigned long)raw(SYS_getuid));
    if (r >= 0)
        r = set(fs, "group_id", (unsigned long)raw(SYS_getgid));
    if (r >= 0)
        r = raw(NR_FSCONFIG, fs, FSCONFIG_FLAG, "allow_other", NULL, 0);
    return finish_fs(fs, r, MASK_ATTRIBUTES);
}

static long start_helper(struct child *child)
{
    struct sys_clone how = {
        .flags = CLONE_VM | CLONE_FILES,
        .stack = child->helper_stack,
        .stack_size = CHILD_STACK_SIZE,
    };
    long r = raw(SYS_fcntl, child->fuse_fd, F_SETFL, O_RDWR | O_NONBLOCK);

    if (r >= 0)
        r = child->helper_fd = (int)raw(SYS_eventfd2, 0, O_CLOEXEC);
    if (r >= 0) /* each request is a packet */
        r = raw(SYS_pipe2, child->late_fds, O_CLOEXEC | O_DIRECT | O_NONBLOCK);
    if (r < 0)
        return r;
    long pid = sys_clone(&how, helper_main, child);
    if (pid > 0)
        child->helper_pid = (pid_t)pid;
    return pid < 0 ? pid : 0;
}

/*
 * By overlayfs, whose paths are texts: from the pool's own root, which nobody but us can reach or change.
 * Its upper directory is the box's own memory; the lower one has nothing, so nothing is ever copied up.
 */
static long make_overlay(const char *upper, uint64_t attributes)
{
    long fs = raw(NR_FSOPEN, "overlay", FSOPEN_CLOSE_ON_EXEC);
    long r = fs < 0 ? fs : raw(NR_FSCONFIG, fs, FSCONFIG_STRING, "lowerdir", WATCHFS_LOWER, 0);

    if (r >= 0)
        r = raw(NR_FSCONFIG, fs, FSCONFIG_STRING, "upperdir", upper, 0);
    if (r >= 0)
        r = raw(NR_FSCONFIG, fs, FSCONFIG_STRING, "workdir", WATCHFS_WORK, 0);
    if (r >= 0)
        r = raw(NR_FSCONFIG, fs, FSCONFIG_FLAG, "userxattr", NULL, 0);
    return finish_fs(fs, r, attributes);
}

/* Made in the pool; then back to where the caller was, for sources of later steps may be relative. */
static long make_overlay_in_pool(const struct child *child, const char *upper, uint64_t attributes)
{
    /* Fails where the caller may not search its own directory: nothing relative to it can be found. */
    long here = raw(SYS_openat, AT_FDCWD, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    long r = raw(SYS_fchdir, child->pool_fd);

    if (r == 0) {
        long back = -EBADF;

        r = make_overlay(upper, attributes);
        if (here >= 0)
            back = raw(SYS_fchdir, here);
        if (back < 0)
            (void)raw(SYS_chdir, "/");
    }
    if (here >= 0)
        (void)raw(SYS_close, here);
    return r;
}

long watchfs_lay_beneath(const struct child *child, const struct step *step, uint64_t attributes)
{
    if (!child->has_watchfs || !step->node)
        return -ENOSYS;
    long tree = watchfs_clone_node(child, step->node - 1);
    long r = tree < 0 ? tree
                      : raw(NR_MOVE_MOUNT, tree, "", child->pool_fd, WATCHFS_LOWER,
                            MOVE_MOUNT_EMPTY_PATH);
    if (tree >= 0)
        (void)raw(SYS_close, tree);
    return r < 0 ? r
                 : make_overlay_in_pool(child, step->source + 3, attributes); /* less its "../" */
}

void watchfs_release(struct child *child)
{
    const uint64_t one = 1;

    if (child->helper_pid <= 0)
        return;
    /* Not killed: a request that it has read and not answered would wait for ever. */
    (void)raw(SYS_write, child->helper_fd, &one, sizeof one);
    while (raw(SYS_wait4, child->helper_pid, NULL, __WALL, NULL) == -EINTR)
        ;
    child->helper_pid = 0;
    (void)raw(SYS_close, child->helper_fd);
    (void)raw(SYS_fcntl, child->fuse_fd, F_SETFL, O_RDWR);
}

/* As getdents64(2) writes it. */
struct linux_entry {
    uint64_t ino;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
};

/*
 * Every node of a directory at once, by reading it, so that nobody waits for each: the names come with
 * all that the kernel wants to know of a node.
 */
static void learn_nodes(const struct child *child, int at_fd, const char *path, uint32_t parent)
{
    const struct plan_watchfs *watchfs = child->plan->watchfs;
    struct linux_entry entry;
    _Alignas(8) char entries[8192];
    size_t n_left = 2; /* "." and ".." */

    for (size_t i = 0; i < watchfs->n; i++)
        n_left += watchfs->nodes[i].parent == parent && watchfs->nodes[i].kind != WATCHFS_NOTHING;
    if (n_left <= 2 + FEW)
        return;
    long fd = raw(SYS_openat, at_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long n = fd;
    while (n >= 0 && n_left > 0 && (n = raw(SYS_getdents64, fd, entries, sizeof entries)) > 0)
        for (long at = 0; at < n && n_left > 0; at += entry.length, n_left--)
            __builtin_memcpy(&entry, entries + at, offsetof(struct linux_entry, name));
    if (fd >= 0)
        (void)raw(SYS_close, fd);
}

long watchfs_clone_node(const struct child *child, size_t index)
{
    char number[WATCHFS_NUMBER_SIZE];

    return raw(NR_OPEN_TREE, child->watchfs_fd, watchfs_node_name(index, number),
               OPEN_TREE_CLONE_TREE | O_CLOEXEC);
}

static long attach(const struct child *child, size_t index)
{
    long tree = watchfs_clone_node(child, index);

    if (tree < 0)
        return tree;
    const char *path = child->plan->watchfs->nodes[index].path;
    long set =
        step_set_attributes(tree, 0, WATCHFS_ATTRIBUTES); /* for the errno; it isolates nothing */
    long r = raw(NR_MOVE_MOUNT, tree, "", child->root_fd, path, MOVE_MOUNT_EMPTY_PATH);
    (void)raw(SYS_close, tree);
    if (r == 0 && set == -ENOSYS)
        (void)remount_exactly(child->root_fd, path, WATCHFS_ATTRIBUTES);
    return r;
}

/* What the box has there so far, below the node that lies on it now: its mounts as they are. */
static long put_back(const struct child *child, long covered, const struct watchfs_node *node,
                     size_t length)
{
    long tree = raw(NR_OPEN_TREE, covered, node->path + length + 1,
                    OPEN_TREE_CLONE_TREE | O_CLOEXEC | AT_RECURSIVE_TREE | AT_SYMLINK_NOFOLLOW);

    if (tree < 0)
        return tree;
    long r = raw(NR_MOVE_MOUNT, tree, "", child->root_fd, node->path, MOVE_MOUNT_EMPTY_PATH);
    (void)raw(SYS_close, tree);
    return r;
}

static bool is_below(const char *path, const char *directory, size_t length)
{
    return __builtin_strncmp(path, directory, length) == 0 && path[length] == '/';
}

/* A directory of the box's own, with all that is in it and in those below. */
static long cover(const struct child *child, size_t index)
{
    const struct plan_watchfs *watchfs = child->plan->watchfs;
    const char *path = watchfs->nodes[index].path;
    size_t length = __builtin_strlen(path);
    long covered = raw(SYS_openat, child->root_fd, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    long r = covered < 0 ? covered : attach(child, index);

    for (size_t i = index; r == 0 && i < watchfs->n; i++) {
        const struct watchfs_node *node = &watchfs->nodes[i];

        if (i != index && !is_below(node->path, path, length))
            continue;
        if (node->kind == WATCHFS_DIRECTORY)
            learn_nodes(child, child->root_fd, node->path, (uint32_t)i + 1);
        else if (node->is_there)
            r = put_back(child, covered, node, length);
    }
    if (covered >= 0)
        (void)raw(SYS_close, covered);
    return r;
}

/* The directories; masks are put where their own steps say. */
static long attach_all(const struct child *child)
{
    const struct plan_watchfs *watchfs = child->plan->watchfs;
    long r = 0;

    for (size_t i = 0; r == 0 && i < watchfs->n; i++) {
        if (watchfs->nodes[i].kind == WATCHFS_HIDDEN)
            r = attach(child, i);
        else if (watchfs->nodes[i].kind == WATCHFS_DIRECTORY && watchfs->nodes[i].parent == 0)
            r = cover(child, i);
    }
    /* The command's loader asks for it when nobody may be there yet to answer. */
    if (r == 0 && watchfs->has_places)
        (void)raw(SYS_faccessat, child->root_fd, "etc/ld.so.preload", 0);
    return r;
}

static void close_device(struct child *child)
{
    if (child->fuse_fd >= 0)
        (void)raw(SYS_close, child->fuse_fd);
    child->fuse_fd = -1;
}

/* Opened here, in the user namespace that mounts it: the kernel wants that. */
static int open_device(const struct child *child)
{
    static const char own[] = "self/fd/";
    char path[sizeof own + WATCHFS_NUMBER_SIZE];
    char number[WATCHFS_NUMBER_SIZE];
    char *to = path;

    if (child->device_fd < 0)
        return (int)raw(SYS_openat, AT_FDCWD, "/dev/fuse", O_RDWR | O_CLOEXEC);
    for (const char *p = own; *p; p++)
        *to++ = *p;
    for (const char *p = watchfs_node_name((size_t)child->device_fd, number); *p; p++)
        *to++ = *p;
    *to = '\0';
    return (int)raw(SYS_openat, child->proc_fd, path, O_RDWR | O_CLOEXEC);
}

/* Out of sight, as the pool is: what is nowhere cannot be cloned before 6.15, and its last close would
 * wait. */
static long park(const struct child *child, long mount_fd)
{
    return child->proc_fd >= 0
               ? raw(NR_MOVE_MOUNT, mount_fd, "", child->root_fd, "proc", MOVE_MOUNT_EMPTY_PATH)
               : raw(NR_MOVE_MOUNT, mount_fd, "", AT_FDCWD, "/sys", MOVE_MOUNT_EMPTY_PATH);
}

/* Nothing is lost without them but records: so a host that has no FUSE is no reason to fail. What
 * fails when there is one, is. */
/* A host without a usable /dev/fuse has none: child->has_watchfs says so. */
long step_watchfs(struct child *child, const struct step *step)
{
    (void)step;
    if (child->plan->watchfs->n == 0)
        return 0;
    const struct watchfs_fs fs = fs_of(child);
    if (child->fuse_fd < 0)
        child->fuse_fd = open_device(child);
    if (child->fuse_fd < 0)
        return 0;
    long mount_fd = make_fs(child->fuse_fd);
    if (mount_fd < 0) {
        close_device(child);
        return 0;
    }
    child->watchfs_fd = (int)mount_fd;
    /* The first request is the kernel's greeting, and it is there already. */
    long r = serve_once(child, &fs) ? start_helper(child) : -EIO;
    if (r == 0)
        r = park(child, mount_fd);
    if (r == 0) {
        learn_nodes(child, child->watchfs_fd, ".", 0);
        r = attach_all(child);
    }
    child->has_watchfs = r == 0;
    return r;
}
