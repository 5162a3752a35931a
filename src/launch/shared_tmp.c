#include "shared_tmp.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/fd.h"
#include "launch/child.h"
#include "launch/user_namespace.h"
#include "policy/path/path.h"
#include "sys/clone.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define PLACE "/tmp"

/* ---- whether */

static bool is_inside(const char *path)
{
    return path && path_is_within(path, PLACE);
}

const char *shared_tmp_why_not(const struct plan *plan, const struct host *host)
{
    const coop_policy *policy = plan->policy;

    if (plan->tier < COOP_TIER_NAMESPACES)
        return "without namespaces there is no private /tmp";
    if (!host->mount_setattr)
        return "the kernel is older than 5.12";
    if (policy->has_uid && policy->uid == 0 && !host->is_root)
        return "users of the box that are granted by /etc/subuid cannot own files there";
    if (is_inside(plan->workspace_view) || is_inside(plan->git.target) || is_inside(plan->git.link))
        return "the workspace is in /tmp";
    for (size_t i = 0; i < policy->n_mounts; i++)
        if (policy->mounts[i].kind != POLICY_BLOCK && is_inside(policy->mounts[i].target))
            return "the policy mounts something in /tmp";
    return NULL;
}

/* ---- a task in our memory */

/*
 * Entering another user namespace marks our memory as not dumpable, because the task shares it; see
 * launch.c. Signals wait meanwhile: no handler of ours may run in it.
 */
static int run_beside(uint64_t namespaces, int (*fn)(void *), void *argument, coop_error **err)
{
    void *stack = mmap(NULL, CHILD_STACK_SIZE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    int dumpable = prctl(PR_GET_DUMPABLE);
    uint64_t all = UINT64_MAX;
    uint64_t old = 0;

    if (stack == MAP_FAILED)
        return fail_no_memory(err);
    struct sys_clone how = {
        .flags = CLONE_VM | CLONE_VFORK | CLONE_FILES | namespaces,
        .stack = stack,
        .stack_size = CHILD_STACK_SIZE,
    };
    (void)raw(SYS_rt_sigprocmask, SIG_SETMASK, &all, &old, sizeof all);
    long pid = sys_clone(&how, fn, argument);
    if (pid > 0)
        while (raw(SYS_wait4, pid, NULL, __WALL, NULL) == -EINTR)
            ;
    (void)raw(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, sizeof old);
    if (dumpable == 1 && prctl(PR_GET_DUMPABLE) != 1)
        (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    (void)munmap(stack, CHILD_STACK_SIZE);
    return pid < 0 ? fail(err, (int)-pid, "make a /tmp for all boxes: new namespaces") : 0;
}

/* ---- making it */

#define N_STEPS 5

struct making {
    struct child child;
    struct plan plan;
    struct step steps[N_STEPS];
    size_t n_steps;
    struct shared_tmp *tmp;
};

static int making_main(void *argument)
{
    struct making *making = argument;
    struct child *child = &making->child;
    struct shared_tmp *tmp = making->tmp;

    (void)raw(SYS_umask, 0);
    /* Before the root changes: there is no /proc behind it. */
    tmp->mount_fd = (int)raw(SYS_openat, AT_FDCWD, "/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
    if (tmp->user_fd != -1)
        tmp->user_fd = (int)raw(SYS_openat, AT_FDCWD, "/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
    /* Without a user namespace of its own, a new mount namespace still passes mounts on to the host's. */
    if (tmp->user_fd == -1)
        child->error = (int)-raw(SYS_mount, NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
    for (size_t i = 0; i < making->n_steps && !child->error; i++)
        child->error = -step_apply(child, &making->steps[i]);
    const int own[] = { child->pool_fd, child->skeleton_fd };
    for (size_t i = 0; i < COUNT(own); i++)
        if (own[i] >= 0)
            (void)raw(SYS_close, own[i]);
    return 0;
}

static void add_step(struct making *making, struct step step)
{
    step.fd = -1;
    making->steps[making->n_steps++] = step;
}

/* The root of the namespace is the directory that a box's own root would be in its pool. */
static void add_steps(struct making *making, const struct plan *located, const struct host *host)
{
    uint64_t size = located->policy->limits[COOP_LIMIT_TMP_SIZE];
    uint64_t n_files = size == COOP_LIMIT_NONE ? 0 : size / 4096 < 16384 ? 16384 : size / 4096;

    if (!host->is_root)
        add_step(making, (struct step){
                             .kind = STEP_ID_MAP,
                             .source = plan_text(&making->plan, "%u %u 1", host->uid, host->uid),
                             .target = plan_text(&making->plan, "%u %u 1", host->gid, host->gid),
                         });
    add_step(making, (struct step){ .kind = STEP_POOL, .value = size, .value2 = n_files });
    add_step(making, (struct step){ .kind = STEP_ROOT });
    add_step(making, (struct step){ .kind = STEP_ENTER_ROOT });
    add_step(making, (struct step){ .kind = STEP_DROP_HOST_ROOT });
}

static int run_making(struct making *making, const struct plan *located, const struct host *host,
                      coop_error **err)
{
    struct shared_tmp *tmp = making->tmp;
    int r = run_beside(CLONE_NEWNS | (host->is_root ? 0 : CLONE_NEWUSER), making_main, making, err);

    tmp->root_fd = making->child.root_fd;
    if (r == 0 && making->child.error)
        r = fail(err, making->child.error, "make a /tmp for all boxes");
    int *const kept[] = { &tmp->root_fd, &tmp->mount_fd, &tmp->user_fd };
    for (size_t i = 0; r == 0 && i < COUNT(kept); i++) {
        int lifted = *kept[i] == -1 ? 0 : *kept[i] < 0 ? *kept[i] : fd_lift(kept[i]);

        if (lifted < 0)
            r = fail(err, -lifted, "keep the /tmp for all boxes");
        else
            fd_settle(kept[i]);
    }
    if (r == 0 && fchmodat(tmp->root_fd, ".", 01777, 0) < 0)
        r = fail(err, errno, "open the /tmp for all boxes to them");
    if (r == 0 && host->is_root &&
        fchownat(tmp->root_fd, ".", located->outside_uid, located->outside_gid, 0) < 0)
        r = fail(err, errno, "hand over the /tmp for all boxes");
    return r;
}

/*
 * Root's box is somebody else on the host where the workspace belongs to root. Who looks from outside
 * with the rights of the workspace's owner sees that owner there, and what is made from outside belongs
 * to the box. Before Linux 6.3 that cannot be: then the box can only read what is made from outside.
 */
static int map_owner(struct shared_tmp *tmp, const struct plan *located, coop_error **err)
{
    const struct user_namespace_map map = { located->outside_uid, located->workspace_uid,
                                            located->outside_gid, located->workspace_gid, false };
    auto_close int mount = shared_tmp_mount(tmp, err);

    if (mount < 0)
        return mount;
    auto_close int fd = user_namespace_new(&map, err);
    if (fd < 0)
        return fd;
    struct kernel_mount_attr attributes = { .set = MOUNT_IDMAP, .userns_fd = (uint64_t)fd };
    if (raw(NR_MOUNT_SETATTR, mount, "", AT_EMPTY_PATH, &attributes, sizeof attributes) == 0) {
        (void)close(tmp->root_fd);
        tmp->root_fd = take_fd(&mount);
    }
    return 0;
}

int shared_tmp_new(const struct plan *located, const struct host *host, struct shared_tmp **out,
                   coop_error **err)
{
    struct shared_tmp *tmp = calloc(1, sizeof *tmp);
    struct making *making = calloc(1, sizeof *making);

    if (!tmp || !making) {
        free(tmp);
        free(making);
        return fail_no_memory(err);
    }
    *tmp = (struct shared_tmp){ .root_fd = -1, .mount_fd = -1, .user_fd = host->is_root ? -1 : -2 };
    making->tmp = tmp;
    making->child = (struct child){ .plan = &making->plan,
                                    .pool_fd = -1,
                                    .skeleton_fd = -1,
                                    .root_fd = -1,
                                    .proc_fd = -1,
                                    .proc_ready = 1 };
    add_steps(making, located, host);
    int r = making->plan.failed ? fail_no_memory(err) : run_making(making, located, host, err);
    plan_done(&making->plan);
    free(making);
    if (r == 0 && host->is_root && located->outside_uid != located->workspace_uid)
        r = map_owner(tmp, located, err);
    if (r < 0) {
        shared_tmp_free(tmp);
        return r;
    }
    *out = tmp;
    return 0;
}

/* ---- a mount for a box */

/* Only who is in the namespace may clone a mount of it; a few at once, for it takes a task. */
static int mounting_main(void *argument)
{
    struct shared_tmp *tmp = argument;
    long r = tmp->user_fd < 0 ? 0 : raw(SYS_setns, tmp->user_fd, CLONE_NEWUSER);

    if (r == 0)
        r = raw(SYS_setns, tmp->mount_fd, CLONE_NEWNS);
    for (size_t i = 0; i < SHARED_TMP_SPARES; i++) {
        if (r >= 0)
            r = raw(NR_OPEN_TREE, AT_FDCWD, "/", OPEN_TREE_CLONE_TREE | O_CLOEXEC);
        tmp->spares[i] = (int)r;
    }
    return 0;
}

int shared_tmp_mount(struct shared_tmp *tmp, coop_error **err)
{
    if (tmp->n_spares == 0) {
        int r = run_beside(0, mounting_main, tmp, err);

        if (r < 0)
            return r;
        while (tmp->n_spares < SHARED_TMP_SPARES && tmp->spares[tmp->n_spares] >= 0)
            tmp->n_spares++;
        if (tmp->n_spares == 0)
            return fail(err, -tmp->spares[0], "mount the /tmp of all boxes");
    }
    int fd = tmp->spares[--tmp->n_spares];
    int r = fd_lift(&fd);
    if (r < 0) {
        (void)close(fd);
        return fail(err, -r, "keep a mount of the /tmp of all boxes");
    }
    return fd;
}

void shared_tmp_free(struct shared_tmp *tmp)
{
    if (!tmp)
        return;
    while (tmp->n_spares > 0)
        (void)close(tmp->spares[--tmp->n_spares]);
    close_fd(&tmp->root_fd);
    close_fd(&tmp->mount_fd);
    close_fd(&tmp->user_fd);
    free(tmp);
}
