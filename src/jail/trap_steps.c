#include "trap_steps.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/wait.h>

#include "jail/trap.h"
#include "sys/clone.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define TRAP_ATTRIBUTES (MOUNT_READ_ONLY | MOUNT_NO_SUID | MOUNT_NO_DEV | MOUNT_NO_EXEC)
#define NUMBER_SIZE     24

/*
 * One request, if there is one; false: nobody will ask any more. What the command itself asks, when
 * it runs already, is left to init, which tells of it.
 */
static bool serve_once(struct child *child, const struct trap_fs *fs)
{
    _Alignas(8) char request[TRAP_REQUEST_MAX];
    _Alignas(8) char answer[TRAP_ANSWER_MAX];
    struct trap_touch touch;
    long n = raw(SYS_read, child->fuse_fd, request, sizeof request);

    if (n < 0) /* ENOENT: the question was taken back meanwhile */
        return n == -EINTR || n == -EAGAIN || n == -ENOENT;
    size_t length = trap_answer(fs, request, (size_t)n, answer, &touch);
    bool is_late = touch.directory[0] && child->helper_pid > 0 &&
                   __atomic_load_n(&child->command_alive, __ATOMIC_ACQUIRE) == 0;
    if (is_late && raw(SYS_write, child->late_fds[1], request, n) == n)
        return true;
    if (length > 0)
        (void)raw(SYS_write, child->fuse_fd, answer, length);
    return n > 0;
}

static struct trap_fs fs_of(const char *names)
{
    return (struct trap_fs){ names, (uint32_t)raw(SYS_getuid), (uint32_t)raw(SYS_getgid) };
}

static int helper_main(void *argument)
{
    struct child *child = argument;
    const struct trap_fs fs = fs_of(child->traps);

    struct pollfd fds[] = { { .fd = child->fuse_fd, .events = POLLIN },
                            { .fd = child->helper_fd, .events = POLLIN } };

    for (;;) {
        (void)raw(SYS_ppoll, fds, 2, NULL, NULL, 0);
        if (fds[1].revents)
            return 0;
        if (fds[0].revents && !serve_once(child, &fs)) {
            (void)raw(SYS_close, child->fuse_fd); /* the last: sleepers are woken with an error */
            return 0;
        }
    }
}

static const char *decimal(unsigned long number, char *end)
{
    *--end = '\0';
    do
        *--end = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    return end;
}

static long set(long fs, const char *name, unsigned long value)
{
    char number[NUMBER_SIZE];

    return raw(NR_FSCONFIG, fs, FSCONFIG_STRING, name, decimal(value, number + sizeof number), 0);
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
    if (r >= 0)
        r = raw(NR_FSCONFIG, fs, FSCONFIG_CREATE, NULL, NULL, 0);
    if (r >= 0)
        r = raw(NR_FSMOUNT, fs, FSMOUNT_CLOSE_ON_EXEC, TRAP_ATTRIBUTES);
    if (fs >= 0)
        (void)raw(SYS_close, fs);
    return r;
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

void trap_release(struct child *child)
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

static long attach(struct child *child, long mount_fd, const char *name)
{
    long tree = raw(NR_OPEN_TREE, mount_fd, name, OPEN_TREE_CLONE_TREE | O_CLOEXEC);

    if (tree < 0)
        return tree;
    long r = raw(NR_MOVE_MOUNT, tree, "", child->root_fd, name, MOVE_MOUNT_EMPTY_PATH);
    (void)raw(SYS_close, tree);
    return r;
}

static long attach_all(struct child *child, long mount_fd)
{
    char name[TRAP_NAME_MAX];
    long r = 0;

    for (const char *at = child->traps; r == 0 && *at;) {
        size_t n = 0;

        while (at[n] && at[n] != '/' && n < sizeof name - 1) {
            name[n] = at[n];
            n++;
        }
        name[n] = '\0';
        r = attach(child, mount_fd, name);
        at += n + (at[n] == '/');
    }
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
    char path[sizeof own + NUMBER_SIZE];
    char number[NUMBER_SIZE];
    char *to = path;

    if (child->device_fd < 0)
        return (int)raw(SYS_openat, AT_FDCWD, "/dev/fuse", O_RDWR | O_CLOEXEC);
    for (const char *p = own; *p; p++)
        *to++ = *p;
    for (const char *p = decimal((unsigned long)child->device_fd, number + sizeof number); *p; p++)
        *to++ = *p;
    *to = '\0';
    return (int)raw(SYS_openat, child->proc_fd, path, O_RDWR | O_CLOEXEC);
}

/* Nothing is lost without them but records: so a host that has no FUSE is no reason to fail. What
 * fails when there is one, is. */
long trap_make(struct child *child, const struct step *step)
{
    const struct trap_fs fs = fs_of(step->source);

    if (child->fuse_fd < 0)
        child->fuse_fd = open_device(child);
    if (child->fuse_fd < 0)
        return 0;
    child->traps = step->source;
    long mount_fd = make_fs(child->fuse_fd);
    if (mount_fd < 0) {
        close_device(child);
        return 0;
    }
    /* The first request is the kernel's greeting, and it is there already. */
    long r = serve_once(child, &fs) ? start_helper(child) : -EIO;
    if (r == 0)
        r = attach_all(child, mount_fd);
    /* Out of sight, as the pool is: the last close of a mount that is nowhere would wait. */
    if (child->proc_fd >= 0)
        (void)raw(NR_MOVE_MOUNT, mount_fd, "", child->root_fd, "proc", MOVE_MOUNT_EMPTY_PATH);
    else
        (void)raw(NR_MOVE_MOUNT, mount_fd, "", AT_FDCWD, "/sys", MOVE_MOUNT_EMPTY_PATH);
    (void)raw(SYS_close, mount_fd);
    child->has_traps = r == 0;
    return r;
}
