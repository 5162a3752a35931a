/*
 * launch.c - from a plan to a running box (the parent's side)
 *
 * Everything that can fail for a reason worth telling is done here, before clone: descriptors,
 * cgroups, user namespaces. Then one vfork-like clone makes the namespaces; the child walks the
 * plan in our memory while we sleep, starts the command, and leaves our memory by executing the
 * init image. When we wake, either the command runs or the child has left a step and an errno.
 *
 *   ordinary user    we -> box (new namespaces)
 *   maps from        we -> entrance (joins the prepared user namespace, takes its ids)
 *   outside                  -> box (the other namespaces), a child of ours all the same
 *   on a template    we -> threshold (joins the template's namespaces)
 *                            -> box (its own below them), a child of ours all the same
 *   no namespaces    we -> command
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/fd.h"
#include "init/protocol.h"
#include "init/structure_lock.h"
#include "launch/child.h"
#include "launch/init_image.h"
#include "launch/init_start.h"
#include "launch/user_namespace.h"
#include "supervise/box.h"
#include "supervise/launch_error.h"
#include "supervise/network/nat.h"
#include "survey/newidmap.h"
#include "sys/clone.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define N_STACKS 4

/* What a launch owns and a box does not. */
struct launch {
    struct coop_box *box;
    struct child child;
    struct kernel_termios terminal_settings;
    int pipes[3][2];
    int control[2];
    int user_namespace_fd;
    struct init_start start;
    int start_fd, lock_fd;
    int supervisor_fd;
    int fuse_fd;   /* opened on the way in; -1: not */
    int device_fd; /* child.h */
    const struct template *template;
    int *tree_fds;
    size_t n_tree_fds;
    char *stacks;
    int pidfd;
    pid_t pid;
};

static int make_pipe(int out[2])
{
    if (pipe2(out, O_CLOEXEC) < 0)
        return -errno;
    int r = fd_lift(&out[0]);
    return r < 0 ? r : fd_lift(&out[1]);
}

static int make_channels(struct launch *launch, coop_error **err)
{
    struct coop_box *box = launch->box;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, launch->control) < 0)
        return fail(err, errno, "make the control socket");
    int r = fd_lift(&launch->control[0]);
    if (r == 0)
        r = fd_lift(&launch->control[1]);
    for (int i = 0; r == 0 && i < 3 && !box->plan.has_tty; i++)
        r = make_pipe(launch->pipes[i]);
    if (r < 0)
        return fail(err, -r, "make the pipes for input and output");
    /* Root's pipes must be the box's: /dev/stdout opens them anew. */
    for (int i = 0; i < 3 && box->plan.map_owners && !box->plan.has_tty; i++)
        if (fchown(launch->pipes[i][0], box->plan.outside_uid, box->plan.outside_gid) < 0)
            return fail(err, errno, "hand over the pipes for input and output");
    /* Some containers refuse it: then the sockets alone must do. */
    launch->supervisor_fd = (int)raw(NR_PIDFD_OPEN, getpid(), 0);
    r = launch->supervisor_fd < 0 ? 0 : fd_lift(&launch->supervisor_fd);
    if (r < 0)
        return fail(err, -r, "keep a descriptor of this process");
    const char go = PROTOCOL_GO;
    if (send(launch->control[0], &go, 1, MSG_NOSIGNAL) != 1)
        return fail(err, errno, "write to the control socket");
    return 0;
}

static bool has_range(uid_t uid)
{
    struct newidmap_range users;
    struct newidmap_range groups;

    return access(NEWIDMAP_USERS, X_OK) == 0 && access(NEWIDMAP_GROUPS, X_OK) == 0 &&
           newidmap_find(uid, &users, &groups);
}

/* Root needs one, because its box is somebody else; root inside, where ids are granted to it. */
static bool needs_user_namespace(const struct coop_box *box)
{
    const struct plan *plan = &box->plan;

    if (plan->tier < COOP_TIER_NAMESPACES)
        return false;
    return box->sandbox->host.is_root ||
           (plan->policy->has_uid && plan->policy->uid == 0 && has_range(box->sandbox->host.uid));
}

static int make_user_namespace(struct launch *launch, coop_error **err)
{
    const struct coop_box *box = launch->box;
    const struct plan *plan = &box->plan;
    const struct user_namespace_map map = {
        plan->inside_uid,  plan->outside_uid,           plan->inside_gid,
        plan->outside_gid, !box->sandbox->host.is_root,
    };

    if (!needs_user_namespace(box))
        return 0;
    int fd = user_namespace_new(&map, err);
    if (fd == -ENOSPC || fd == -EPERM || fd == -EINVAL || fd == -EUSERS)
        return launch_error_of_clone(launch->box, -fd, err);
    if (fd < 0)
        return fd;
    launch->user_namespace_fd = fd;
    int r = fd_lift(&launch->user_namespace_fd);
    return r < 0 ? fail(err, -r, "keep the user namespace") : 0;
}

/* Maps the owner of a source to the user that the box is on the host. */
static int map_owner(struct launch *launch, int tree_fd, const struct stat *st,
                     const struct step *step, coop_error **err)
{
    const struct plan *plan = &launch->box->plan;

    if (st->st_uid == plan->outside_uid && st->st_gid == plan->outside_gid)
        return 0;
    const struct user_namespace_map map = { st->st_uid, plan->outside_uid, st->st_gid,
                                            plan->outside_gid, false };
    auto_close int fd = user_namespace_new(&map, err);
    if (fd < 0)
        return fd;
    struct kernel_mount_attr attributes = { .set = MOUNT_IDMAP, .userns_fd = (uint64_t)fd };
    long r = raw(NR_MOUNT_SETATTR, tree_fd, "", AT_EMPTY_PATH | AT_RECURSIVE_TREE, &attributes,
                 sizeof attributes);
    if (r == 0 || step->flags & STEP_READ_ONLY)
        return 0;
    int result = fail(err, (int)-r, "map the owner of '%s'", step->source);
    return fail_hint(err, result,
                     "this file system or kernel cannot map owners; run coop as the owner of the "
                     "directory instead of as root");
}

/* Root clones its sources itself: the box's user could not even reach some of them. */
static int clone_sources(struct launch *launch, coop_error **err)
{
    struct plan *plan = &launch->box->plan;

    if (!plan->map_owners || plan->tier < COOP_TIER_NAMESPACES)
        return 0;
    launch->tree_fds = calloc(plan->n_steps, sizeof *launch->tree_fds);
    if (!launch->tree_fds)
        return fail_no_memory(err);
    for (size_t i = 0; i < plan->n_steps; i++) {
        struct step *step = &plan->steps[i];
        struct stat st;

        if (!(step_rows[step->kind].traits & TRAIT_SOURCE) || !(step->flags & STEP_RECHECK))
            continue;
        long fd = raw(NR_OPEN_TREE, step->fd, "",
                      OPEN_TREE_CLONE_TREE | O_CLOEXEC | AT_RECURSIVE_TREE | AT_EMPTY_PATH);
        if (fd < 0)
            return fail(err, (int)-fd, "clone the mount of '%s'", step->source);
        int *tree_fd = &launch->tree_fds[launch->n_tree_fds++];
        *tree_fd = (int)fd;
        int r = fd_lift(tree_fd);
        if (r < 0 || fstat(*tree_fd, &st) < 0)
            return fail(err, r < 0 ? -r : errno, "look at '%s'", step->source);
        r = map_owner(launch, *tree_fd, &st, step, err);
        if (r < 0)
            return r;
        step->fd = *tree_fd;
        step->flags |= STEP_TREE_FD;
    }
    return 0;
}

/* What init gets: a file in memory that it reads once. */
static int make_start(struct launch *launch, coop_error **err)
{
    const struct plan *plan = &launch->box->plan;

    if (plan->tier < COOP_TIER_NAMESPACES)
        return 0;
    launch->start_fd = init_start_open(plan, &launch->start, err);
    if (launch->start_fd < 0 || !plan->packed_rules)
        return launch->start_fd < 0 ? launch->start_fd : 0;
    launch->lock_fd = structure_lock_open(err);
    return launch->lock_fd < 0 ? launch->lock_fd : 0;
}

static int prepare_sandbox(coop_sandbox *sandbox, coop_error **err)
{
    if (sandbox->init_fd < 0) {
        int fd = init_image_open(err);

        if (fd < 0)
            return fd;
        sandbox->init_fd = fd;
    }
    if (!sandbox->stacks) {
        void *stacks = mmap(NULL, N_STACKS * CHILD_STACK_SIZE, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

        if (stacks == MAP_FAILED)
            return fail_no_memory(err);
        sandbox->stacks = stacks;
    }
    return 0;
}

/* The last act of entrance and threshold: the box, as our own sibling. `r` is how they got on. */
static int clone_beside(struct launch *launch, long r, uint64_t namespaces_there)
{
    struct sys_clone how = {
        .flags = CLONE_VM | CLONE_VFORK | CLONE_FILES | CLONE_PARENT |
                 (launch->box->plan.namespaces & ~namespaces_there),
        .stack = launch->stacks + CHILD_STACK_SIZE,
        .stack_size = CHILD_STACK_SIZE,
        .out_pidfd = &launch->pidfd,
    };

    if (r == 0)
        r = sys_clone(&how, box_main, &launch->child);
    if (r < 0) {
        launch->child.error = (int)-r;
        launch->child.failed_step = SIZE_MAX;
    } else {
        launch->pid = (pid_t)r;
    }
    return 0;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* Runs in our memory, as root or as the owner of the prepared namespace. */
static int entrance_main(void *argument)
{
    struct launch *launch = argument;
    const struct plan *plan = &launch->box->plan;
    long r = raw(SYS_setns, launch->user_namespace_fd, CLONE_NEWUSER);

    /* While we may: it must be opened in the user namespace that mounts it. */
    if (r == 0 && plan->wants_watchfs)
        launch->fuse_fd = (int)raw(SYS_openat, AT_FDCWD, "/dev/fuse", O_RDWR | O_CLOEXEC);
    launch->child.fuse_fd = launch->fuse_fd;
    launch->child.last_fd = larger(launch->child.last_fd, launch->fuse_fd);
    if (r == 0)
        r = user_namespace_become(plan->inside_uid, plan->inside_gid);
    return clone_beside(launch, r, CLONE_NEWNET | CLONE_NEWUSER);
}

/* Runs in our memory, for a moment in the template's namespaces. */
static int threshold_main(void *argument)
{
    struct launch *launch = argument;
    const struct template *template = launch->template;
    long r = raw(SYS_setns, template->user_fd, CLONE_NEWUSER);

    if (r == 0 && template->network_fd >= 0)
        r = raw(SYS_setns, template->network_fd, CLONE_NEWNET);
    if (r == 0)
        r = raw(SYS_setns, template->mount_fd, CLONE_NEWNS);
    return clone_beside(launch, r, CLONE_NEWNET);
}

/* All signals wait while a child shares our memory: no handler of ours may run in it. */
static void block_signals(sigset_t *old)
{
    uint64_t all = UINT64_MAX;

    (void)raw(SYS_rt_sigprocmask, SIG_SETMASK, &all, old, 8);
}

static void restore_signals(const sigset_t *old)
{
    (void)raw(SYS_rt_sigprocmask, SIG_SETMASK, old, NULL, 8);
}

/* Born into its cgroup: moving a process later waits for every other processor. Version 2 only. */
static int *birth_cgroup(struct launch *launch)
{
    struct cgroup *cgroup = &launch->box->cgroup;

    return cgroup->is_made && cgroup->version == CGROUP_V2 ? &cgroup->fds[0] : NULL;
}

static long clone_into_cgroup(struct launch *launch, struct sys_clone *how, int (*fn)(void *),
                              void *argument)
{
    how->cgroup_fd = birth_cgroup(launch);
    if (!how->cgroup_fd)
        return sys_clone(how, fn, argument);
    int joins[CGROUP_CONTROLLERS];
    for (int i = 0; i < CGROUP_CONTROLLERS; i++) {
        joins[i] = launch->child.cgroup_fds[i];
        launch->child.cgroup_fds[i] = -1;
    }
    long pid = sys_clone(how, fn, argument);
    if (pid != -ENOSYS && pid != -EINVAL && pid != -E2BIG) /* 5.7 brought it */
        return pid;
    how->cgroup_fd = NULL;
    for (int i = 0; i < CGROUP_CONTROLLERS; i++)
        launch->child.cgroup_fds[i] = joins[i];
    return sys_clone(how, fn, argument);
}

/*
 * Taking other ids marks our memory as not dumpable, because the child shares it. That is wanted
 * while it lasts: otherwise a process of the box's user on the host could trace the child and reach
 * into root's memory. Afterwards the mark goes back to what it was.
 */
static long clone_through(struct launch *launch, int (*gate)(void *))
{
    int dumpable = prctl(PR_GET_DUMPABLE);
    struct sys_clone how = {
        .flags = CLONE_VM | CLONE_VFORK | CLONE_FILES,
        .stack = launch->stacks,
        .stack_size = CHILD_STACK_SIZE,
    };
    long pid = clone_into_cgroup(launch, &how, gate, launch);

    if (pid > 0)
        while (raw(SYS_wait4, pid, NULL, __WALL, NULL) == -EINTR)
            ;
    if (dumpable == 1 && prctl(PR_GET_DUMPABLE) != 1)
        (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    return pid < 0 ? pid : launch->pid;
}

static long clone_box(struct launch *launch)
{
    const struct plan *plan = &launch->box->plan;
    bool has_namespaces = plan->tier >= COOP_TIER_NAMESPACES;
    struct sys_clone how = {
        .flags = CLONE_VM | CLONE_VFORK | CLONE_FILES | (plan->namespaces & ~CLONE_NEWNET),
        .stack = launch->stacks + CHILD_STACK_SIZE,
        .stack_size = CHILD_STACK_SIZE,
        .out_pidfd = &launch->pidfd,
    };
    sigset_t old;
    long pid;

    block_signals(&old);
    if (launch->user_namespace_fd >= 0)
        pid = clone_through(launch, entrance_main);
    else if (launch->template)
        pid = clone_through(launch, threshold_main);
    else
        pid =
            clone_into_cgroup(launch, &how, has_namespaces ? box_main : bare_main, &launch->child);
    restore_signals(&old);
    if (pid > 0)
        launch->pid = (pid_t)pid;
    return pid;
}

static void take_terminal_settings(const struct termios *settings, struct kernel_termios *out)
{
    *out = (struct kernel_termios){ settings->c_iflag, settings->c_oflag, settings->c_cflag,
                                    settings->c_lflag, settings->c_line,  { 0 } };
    memcpy(out->keys, settings->c_cc, sizeof out->keys);
}

/* Everything above it is of no use to the box, and need not be copied. */
static int last_descriptor(const struct child *child)
{
    const struct plan *plan = child->plan;
    int last = larger(child->control_fd, child->parent_control_fd);

    last = larger(last, larger(child->init_fd, child->start_fd));
    last = larger(last, larger(child->lock_fd, child->supervisor_fd));
    last = larger(last, larger(child->gate_fd, child->device_fd));
    for (int i = 0; i < 3; i++)
        last = larger(last, larger(child->stdio_fds[i], child->cgroup_fds[i]));
    for (size_t i = 0; i < child->n_keep_fds; i++)
        last = larger(last, child->keep_fds[i]);
    for (size_t i = 0; i < plan->n_steps; i++)
        last = larger(last, plan->steps[i].fd); /* of a limit this is its number, a small one */
    return last;
}

static void fill_child(struct launch *launch)
{
    struct coop_box *box = launch->box;

    launch->child = (struct child){
        .plan = &box->plan,
        .control_fd = launch->control[1],
        .parent_control_fd = launch->control[0],
        .stdio_fds = { launch->pipes[0][0], launch->pipes[1][1], launch->pipes[2][1] },
        .init_fd = box->sandbox->init_fd,
        .start_fd = launch->start_fd,
        .start = &launch->start,
        .supervisor_fd = launch->supervisor_fd,
        .lock_fd = launch->lock_fd,
        .gate_fd = box->gate.fd,
        .keep_fds = box->options.keep_fds,
        .n_keep_fds = box->options.n_keep_fds,
        .command_stack = launch->stacks + 2 * CHILD_STACK_SIZE,
        .bounding_set = ~0ull,
        .command_bounding_set = ~0ull,
        .helper_stack = launch->stacks + 3 * CHILD_STACK_SIZE,
        .fuse_fd = -1,
        .watchfs_fd = -1,
        .late_fds = { -1, -1 },
        .device_fd = launch->device_fd,
        .pool_fd = -1,
        .skeleton_fd = -1,
        .root_fd = -1,
        .proc_fd = -1,
        .proc_ready = launch->template == NULL,
        .terminal_fd = -1,
        .place_fd = -1,
        .pristine_fd = -1,
        .masks_fd = -1,
        .root_view_fd = -1,
        .watch_fd = -1,
        .listener_fd = -1,
        .names_fd = -1,
        .has_map = launch->user_namespace_fd >= 0,
        .rows = box->options.terminal_rows,
        .columns = box->options.terminal_columns,
        .terminal_settings = box->options.terminal_settings ? &launch->terminal_settings : NULL,
    };
    if (box->options.terminal_settings)
        take_terminal_settings(box->options.terminal_settings, &launch->terminal_settings);
    for (int i = 0; i < CGROUP_CONTROLLERS; i++)
        launch->child.cgroup_fds[i] = box->cgroup.is_made ? box->cgroup.procs_fds[i] : -1;
    launch->child.last_fd = last_descriptor(&launch->child);
}

static void reap(struct launch *launch)
{
    siginfo_t info;

    while (raw(SYS_waitid, WAIT_ON_PIDFD, launch->pidfd, &info, WEXITED | __WALL, NULL) == -EINTR)
        ;
}

static void launch_done(struct launch *launch)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++)
            close_fd(&launch->pipes[i][j]);
    close_fd(&launch->control[0]);
    close_fd(&launch->control[1]);
    close_fd(&launch->user_namespace_fd);
    close_fd(&launch->start_fd);
    close_fd(&launch->supervisor_fd);
    close_fd(&launch->lock_fd);
    close_fd(&launch->fuse_fd);
    close_fd(&launch->device_fd);
    close_fd(&launch->pidfd);
    for (size_t i = 0; i < launch->n_tree_fds; i++)
        (void)close(launch->tree_fds[i]);
    free(launch->tree_fds);
}

/* What is watched: the plan itself is forgotten. */
static void take_watchfs(struct coop_box *box, bool is_made, bool watches_tmp)
{
    const struct plan_watchfs *watchfs = box->plan.watchfs;

    if (is_made && watchfs->directories)
        box->watchfs = strdup(watchfs->directories);
    box->watches_places = is_made && watchfs->has_places;
    box->watches_tmp = is_made && watches_tmp;
    if (is_made || !watchfs->n_masks)
        box->masks = watchfs->n_left_out ? BOX_MASKS_SOME : BOX_MASKS_ALL;
}

static void hand_over(struct launch *launch)
{
    struct coop_box *box = launch->box;

    fd_settle(&launch->pidfd);
    fd_settle(&launch->control[0]);
    fd_settle(&box->gate.fd);
    if (box->plan.nat)
        network_nat_took(&box->plan, launch->child.nat_method);
    for (int i = 0; i < 3; i++)
        fd_settle(&launch->pipes[i][i == 0]);
    if (box->plan.watchfs)
        take_watchfs(box, launch->child.has_watchfs, launch->child.watches_tmp);
    box->pid = launch->pid;
    box->pidfd = take_fd(&launch->pidfd);
    box->control_fd = take_fd(&launch->control[0]);
    box->input_fd = take_fd(&launch->pipes[0][1]);
    if (box->options.relay_input && lseek(box->options.input_fd, 0, SEEK_CUR) >= 0)
        box->unread_fd = take_fd(&launch->pipes[0][0]);
    box->output_fds[0] = take_fd(&launch->pipes[1][0]);
    box->output_fds[1] = take_fd(&launch->pipes[2][0]);
}

static int run_launch(struct launch *launch, coop_error **err)
{
    int r = prepare_sandbox(launch->box->sandbox, err);

    if (r == 0)
        r = make_channels(launch, err);
    if (r == 0) {
        r = make_user_namespace(launch, err);
        if (r < 0 && coop_error_get_kind(err ? *err : NULL) == COOP_ERROR_NOT_AVAILABLE)
            return r;
    }
    if (r == 0)
        r = make_start(launch, err);
    if (r == 0)
        r = root_marks_set(&launch->box->marks, &launch->box->plan, err);
    if (r == 0)
        r = clone_sources(launch, err);
    if (r < 0)
        return fail_as(err, fail_within(err, r, "start the sandbox"), COOP_ERROR_SETUP);
    launch->stacks = launch->box->sandbox->stacks;
    if (launch->template && launch->box->plan.wants_watchfs) /* its view has no such device */
        launch->device_fd = open("/dev/fuse", O_PATH | O_CLOEXEC);
    fill_child(launch);
    long pid = clone_box(launch);
    if (pid < 0)
        return launch_error_of_clone(launch->box, (int)-pid, err);
    bool has_namespaces = launch->box->plan.tier >= COOP_TIER_NAMESPACES;
    if (!launch->child.error && has_namespaces && !launch->child.has_init)
        launch->child.error = ECANCELED; /* killed from outside */
    if (!launch->child.error)
        return 0;
    /* Its end is the end of everything in it, and so of every use of our memory. */
    if (launch->pidfd >= 0)
        reap(launch);
    launch->box->tree_changed = launch_error_is_change(&launch->box->plan, &launch->child);
    return launch_error_of_step(launch->box, &launch->child, err);
}

int launch(struct coop_box *box, coop_error **err)
{
    struct launch launch = {
        .box = box,
        .template = box->on_template ? box->sandbox->template : NULL,
        .pipes = { { -1, -1 }, { -1, -1 }, { -1, -1 } },
        .control = { -1, -1 },
        .user_namespace_fd = -1,
        .start_fd = -1,
        .supervisor_fd = -1,
        .lock_fd = -1,
        .fuse_fd = -1,
        .device_fd = -1,
        .pidfd = -1,
    };
    int r = run_launch(&launch, err);

    if (r == 0)
        hand_over(&launch);
    launch_done(&launch);
    return r;
}
