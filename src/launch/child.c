#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <linux/stat.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "init/protocol.h"
#include "init/start.h"
#include "launch/init_start.h"
#include "launch/watchfs_steps.h"
#include "plan/seccomp/seccomp.h"
#include "sys/clone.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif

#define INIT_IMAGE_FD     14
#define INIT_CAPABILITIES (1ull << CAP_SYS_PTRACE | 1ull << CAP_SYS_ADMIN) /* at most */
#define LOOKS             100 /* about as many microseconds */

static int report(struct child *child, size_t step, long error)
{
    child->failed_step = step;
    child->error = (int)-error;
    return 1;
}

/* The first steps of PHASE_BOX, which the command's process must inherit. */
static bool is_first(enum step_kind kind)
{
    return step_rows[kind].traits & TRAIT_FIRST;
}

static long walk_first(struct child *child, size_t *at)
{
    const struct plan *plan = child->plan;

    for (size_t i = 0; i < plan->n_steps && is_first(plan->steps[i].kind); i++) {
        *at = i;
        long r = step_apply(child, &plan->steps[i]);
        if (r < 0)
            return r;
    }
    return 0;
}

static long walk(struct child *child, enum step_phase phase, size_t *at)
{
    const struct plan *plan = child->plan;

    for (size_t i = 0; i < plan->n_steps; i++) {
        if (plan->steps[i].phase != phase || is_first(plan->steps[i].kind))
            continue;
        *at = i;
        long r = step_apply(child, &plan->steps[i]);
        if (r < 0)
            return r;
    }
    return 0;
}

struct kernel_sigaction {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

static void set_default(int signal)
{
    const struct kernel_sigaction by_default = { 0 };

    (void)raw(SYS_rt_sigaction, signal, &by_default, NULL, sizeof by_default.mask);
}

/* A program starts with every signal at its default, and none blocked: the latter at the very end. */
static void reset_signals(void)
{
    for (int i = 1; i <= 64; i++)
        if (i != SIGKILL && i != SIGSTOP)
            set_default(i);
}

static void unblock_signals(void)
{
    uint64_t none = 0;

    (void)raw(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none);
}

/* Which refusal to report: a file that is there but cannot run says more than one that is not. */
static long execute(struct child *child)
{
    const struct plan *plan = child->plan;
    long result = -ENOENT;

    for (size_t i = 0; plan->candidates[i]; i++) {
        long r =
            raw(SYS_execve, plan->candidates[i], plan->argv, plan->environment, SECCOMP_OWN_CALL);

        if (r == -ENOENT &&
            raw(SYS_faccessat, AT_FDCWD, plan->candidates[i], 0, SECCOMP_OWN_CALL) == 0)
            child->exists = 1;
        if (r != -ENOENT && r != -ENOTDIR) {
            child->candidate = i;
            if (r != -EACCES)
                return r;
            result = r;
        } else if (result == -ENOENT) {
            child->candidate = i;
        }
    }
    return result;
}

void child_wait(uint32_t *futex, uint32_t while_it_is)
{
    while (__atomic_load_n(futex, __ATOMIC_ACQUIRE) == while_it_is)
        (void)raw(SYS_futex, futex, FUTEX_WAIT, while_it_is, NULL, NULL, 0);
}

void child_tell(uint32_t *futex, uint32_t value)
{
    __atomic_store_n(futex, value, __ATOMIC_RELEASE);
    (void)raw(SYS_futex, futex, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* The mount that a path leads to; 0: not known. The flag does nothing here but pass the filter. */
static uint64_t mount_of(const char *path)
{
    struct statx found;
    long r = raw(SYS_statx, AT_FDCWD, path, AT_EMPTY_PATH, STATX_MNT_ID, &found);

    return r == 0 && found.stx_mask & STATX_MNT_ID ? found.stx_mnt_id : 0;
}

/*
 * The host's root lies on top of ours until init has unmounted it. From then on no path leads to
 * it; the kernel only keeps init waiting for those who may be on their way through it, and on some
 * machines that takes as long as everything else. So the command's process looks for itself: "/" is
 * its own root, and ".." from below is whatever lies on top of that.
 */
static bool host_root_is_gone(void)
{
    uint64_t own = mount_of("/");

    for (int i = 0; own && i < LOOKS; i++) {
        uint64_t seen = mount_of("/proc/..");

        if (seen == own || !seen)
            return seen == own;
    }
    return false;
}

int command_main(void *argument)
{
    struct child *child = argument;
    size_t at = 0;

    (void)raw(SYS_umask, child->umask); /* before the filter: init does not serve notify yet */
    reset_signals();
    long r = walk(child, PHASE_EARLY, &at);
    if (r == 0) {
        child_wait(&child->box_ready, 0);
        r = walk(child, PHASE_COMMAND, &at);
    }
    if (r < 0) {
        child_tell(&child->network_done, 1); /* nobody may wait for what will not come */
        return report(child, at, r);
    }
    child_wait(&child->box_ready, 1);
    if (!host_root_is_gone())
        child_wait(&child->box_ready, 2);
    unblock_signals();
    child->is_executing = 1;
    r = execute(child);
    child->is_executing = 0;
    return report(child, child->plan->n_steps, r);
}

/*
 * The supervisor wrote the go-ahead before it cloned. It may have died since: then our end reads
 * end-of-file, because the other end was closed in this process first of all.
 */
static long await_go(int control_fd)
{
    char byte = 0;
    long r = raw(SYS_recvfrom, control_fd, &byte, 1, MSG_DONTWAIT, NULL, 0);

    if (r != 1 || byte != PROTOCOL_GO)
        return -ECANCELED;
    struct pollfd control = { .fd = control_fd, .events = POLLIN };
    struct timespec at_once = { 0 };
    r = raw(SYS_ppoll, &control, 1, &at_once, NULL, 0);
    return r < 0 || (r > 0 && (control.revents & (POLLHUP | POLLERR))) ? -ECANCELED : 0;
}

/*
 * init keeps one capability over its own user namespace, so that nothing in the box, which has
 * none, can trace it or open its memory; no signal from inside reaches it as pid 1. Where a project
 * is the root it keeps another, to mount what comes to its top level.
 */
static uint64_t init_capabilities(const struct child *child)
{
    return child->root_view_fd >= 0 ? INIT_CAPABILITIES : 1ull << CAP_SYS_PTRACE;
}

static long keep_capabilities(uint64_t kept)
{
    struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct data[2] = { 0 };

    for (int i = 0; i < 2; i++)
        data[i].effective = data[i].permitted = data[i].inheritable = (uint32_t)(kept >> 32 * i);
    long r = raw(SYS_capset, &header, data);
    for (int i = 0; r == 0 && i < 64; i++)
        if (kept >> i & 1)
            r = raw(SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, i, 0, 0);
    if (r == 0)
        r = raw(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return r;
}

/* init keeps a terminal open, as its descriptor 0: a command may close it and open it again. */
static void close_all_but(const struct child *child)
{
    const int kept[] = { child->control_fd,  child->init_fd,       child->listener_fd,
                         child->start_fd,    child->root_view_fd,  child->skeleton_fd,
                         child->watch_fd,    child->names_fd,      child->fuse_fd,
                         child->late_fds[0], child->supervisor_fd, child->lock_fd };
    unsigned from = child->terminal_fd >= 0 ? 1 : 0;

    for (;;) {
        unsigned next = ~0u;

        for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
            if (kept[i] >= 0 && (unsigned)kept[i] >= from && (unsigned)kept[i] < next)
                next = (unsigned)kept[i];
        if (next == ~0u)
            break;
        if (next > from)
            (void)raw(NR_CLOSE_RANGE, from, next - 1, 0);
        from = next + 1;
    }
    (void)raw(NR_CLOSE_RANGE, from, ~0u, 0);
}

/* What is gone from the bounding set, no exec can bring back. */
long child_shrink_bounding_set(uint64_t *left, uint64_t kept)
{
    for (int i = 0; i <= 63; i++) {
        if (!((*left & ~kept) >> i & 1))
            continue;
        long r = raw(SYS_prctl, PR_CAPBSET_DROP, i, 0, 0, 0);

        if (r == -EINVAL && i > 0) { /* the one before was the kernel's last */
            *left &= (1ull << i) - 1;
            return 0;
        }
        if (r < 0)
            return r;
        *left &= ~(1ull << i);
    }
    return 0;
}

/* Out of the way of the fixed numbers: any may stand on another's place. */
static long move_up(int *fd)
{
    long higher = *fd < 0 ? *fd : raw(SYS_fcntl, *fd, F_DUPFD_CLOEXEC, INIT_IMAGE_FD + 1);

    if (higher < 0)
        return *fd < 0 ? 0 : higher;
    *fd = (int)higher;
    return 0;
}

static long place_at(int fd, int number, int flags)
{
    return fd < 0 ? (raw(SYS_close, number), 0) : raw(SYS_dup3, fd, number, flags);
}

/* What init needs, under the numbers it knows, and nothing else. */
static long arrange_descriptors(struct child *child)
{
    long r = 0;

    if (child->root_view_fd < 0)
        child->skeleton_fd = -1;
    close_all_but(child);
    int *const fds[] = { &child->control_fd,    &child->listener_fd, &child->start_fd,
                         &child->root_view_fd,  &child->skeleton_fd, &child->watch_fd,
                         &child->names_fd,      &child->fuse_fd,     &child->late_fds[0],
                         &child->supervisor_fd, &child->lock_fd,     &child->init_fd };
    for (size_t i = 0; r >= 0 && i < sizeof fds / sizeof *fds; i++)
        r = move_up(fds[i]);
    if (r >= 0)
        r = place_at(child->control_fd, PROTOCOL_CONTROL_FD, 0);
    if (r >= 0)
        r = place_at(child->listener_fd, PROTOCOL_LISTENER_FD, 0);
    if (r >= 0)
        r = place_at(child->start_fd, PROTOCOL_START_FD, 0);
    if (r >= 0)
        r = place_at(child->root_view_fd, PROTOCOL_ROOT_VIEW_FD, 0);
    if (r >= 0)
        r = place_at(child->skeleton_fd, PROTOCOL_SKELETON_FD, 0);
    if (r >= 0)
        r = place_at(child->watch_fd, PROTOCOL_WATCH_FD, 0);
    if (r >= 0)
        r = place_at(child->names_fd, PROTOCOL_NAMES_FD, 0);
    if (r >= 0)
        r = place_at(child->fuse_fd, PROTOCOL_WATCHFS_FD, 0);
    if (r >= 0)
        r = place_at(child->late_fds[0], PROTOCOL_LATE_FD, 0);
    if (r >= 0)
        r = place_at(child->supervisor_fd, PROTOCOL_SUPERVISOR_FD, 0);
    if (r >= 0)
        r = place_at(child->lock_fd, PROTOCOL_LOCK_FD, 0);
    if (r >= 0)
        r = place_at(child->init_fd, INIT_IMAGE_FD, O_CLOEXEC);
    if (r >= 0)
        (void)raw(NR_CLOSE_RANGE, INIT_IMAGE_FD + 1, ~0u, 0);
    return r < 0 ? r : 0;
}

/* The rest of what init gets, and nobody changes it any more. */
static long write_start(const struct child *child)
{
    struct init_start start = *child->start;

    start.command = child->command_pid;
    start.umask = child->umask;
    start.has_listener = child->listener_fd >= 0;
    start.has_root_view = child->root_view_fd >= 0;
    start.has_names = child->names_fd >= 0;
    start.has_watchfs = child->fuse_fd >= 0;
    long n = raw(SYS_pwrite64, child->start_fd, &start, sizeof start, 0);
    if (n != (long)sizeof start)
        return n < 0 ? n : -ENOSPC;
    return raw(SYS_fcntl, child->start_fd, F_ADD_SEALS, MEMORY_FILE_SEALS);
}

static long become_init(struct child *child)
{
    static const char *const no_environment[] = { NULL };
    static const char *const arguments[] = { "coop-init", NULL };
    uint64_t kept = init_capabilities(child);
    long r = child_shrink_bounding_set(&child->bounding_set, kept);
    if (r == 0)
        r = keep_capabilities(kept);
    if (r == 0)
        r = write_start(child);
    if (r == 0)
        r = arrange_descriptors(child);
    if (r < 0)
        return r;
    child->has_init = 1;
    return raw(SYS_execveat, INIT_IMAGE_FD, "", arguments, no_environment, AT_EMPTY_PATH);
}

/* Shares our descriptors too, until it executes: what it opens early is ours as well. */
static long start_command(struct child *child)
{
    struct sys_clone how = {
        .flags = CLONE_VM | CLONE_FILES,
        .exit_signal = SIGCHLD,
        .stack = child->command_stack,
        .stack_size = CHILD_STACK_SIZE,
        .gone = &child->command_alive,
    };

    /* Each costs new credentials, so once for both. What fails here is tried and told later. */
    (void)child_shrink_bounding_set(&child->bounding_set, INIT_CAPABILITIES);
    child->command_bounding_set = child->bounding_set;
    long pid = sys_clone(&how, command_main, child);
    if (pid > 0)
        child->command_pid = (pid_t)pid;
    return pid < 0 ? pid : 0;
}

/* Before the caller gets its memory back, nobody else may be using it. */
static int give_up(struct child *child)
{
    watchfs_release(child);
    if (child->command_pid > 0) {
        (void)raw(SYS_kill, child->command_pid, SIGKILL);
        (void)raw(SYS_wait4, child->command_pid, NULL, __WALL, NULL);
    }
    return 1;
}

/*
 * The caller's table of descriptors was shared until now: a copy is made of what the box needs and
 * no more, so that a caller who has thousands open does not pay for them.
 */
static long take_descriptors(const struct child *child)
{
    long r = raw(NR_CLOSE_RANGE, child->last_fd + 1, ~0u, CLOSE_RANGE_UNSHARE_TABLE);

    return r < 0 ? raw(SYS_unshare, CLONE_FILES) : r;
}

/* Without a pid namespace nothing but the parent-death signal ties the command to its supervisor. */
int bare_main(void *argument)
{
    struct child *child = argument;
    long r = take_descriptors(child);

    if (r < 0)
        return report(child, SIZE_MAX, r);
    (void)raw(SYS_close, child->parent_control_fd);
    (void)raw(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    child->umask = (mode_t)raw(SYS_umask, 0);
    child->box_ready = 3;
    r = await_go(child->control_fd);
    if (r < 0)
        return report(child, 0, r);
    return command_main(child);
}

/* A host may have closed some of 0, 1 and 2: what is opened here must not take their numbers, or the
 * command's standard input and output would replace it. */
static void occupy_standard_numbers(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (raw(SYS_fcntl, fd, F_GETFD) == -EBADF)
            (void)raw(SYS_openat, AT_FDCWD, "/", O_PATH | O_CLOEXEC);
}

int box_main(void *argument)
{
    struct child *child = argument;
    size_t at = 0;
    long r = take_descriptors(child);

    if (r < 0)
        return report(child, SIZE_MAX, r);
    (void)raw(SYS_close, child->parent_control_fd);
    occupy_standard_numbers();
    child->umask = (mode_t)raw(SYS_umask, 0);
    set_default(SIGCHLD); /* a host that ignores it would make the kernel reap the command */
    /* The command must be born in the cgroup and its namespace, and with the terminal if any. */
    r = walk_first(child, &at);
    if (r == 0 && !child->plan->has_tty)
        r = start_command(child);
    if (r == 0)
        r = walk(child, PHASE_BOX, &at);
    if (r == 0 && child->plan->has_tty)
        r = start_command(child);
    if (r == 0) {
        child_tell(&child->box_ready, 1);
        r = walk(child, PHASE_SEAL, &at);
    }
    if (r == 0)
        r = await_go(child->control_fd);
    if (r == 0) {
        child_tell(&child->box_ready, 2);
        r = walk(child, PHASE_LAST, &at);
    }
    if (r < 0) {
        if (!child->error) /* the command's process may have failed first, and told why */
            (void)report(child, at, r);
        return give_up(child);
    }
    child_tell(&child->box_ready, 3);
    child_wait(&child->command_alive, 1);
    watchfs_release(child);
    if (child->error)
        return give_up(child);
    if (!child->is_executing) { /* it died before its last step: somebody killed it */
        (void)report(child, at, -ECANCELED);
        return give_up(child);
    }
    r = become_init(child);
    return report(child, child->plan->n_steps, r);
}
