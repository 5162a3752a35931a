#include "head_start.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "jail/init_image.h"
#include "jail/launch_private.h"
#include "policy/policy.h"
#include "policy/protect.h"
#include "sys/clone.h"
#include "sys/raw.h"

/*
 * Off: on two processors, where it was measured, the process more that it takes costs more than the
 * time it wins (median of a one-shot 3.5 ms without, 4.1 with).
 */
static const bool is_worth_it = false;

/* What the policy alone decides. Everything else would have to be undone too often. */
static bool is_possible(const struct coop_box *box, const struct plan_request *request)
{
    const coop_policy *policy = box->sandbox->policy;
    const struct host *host = &box->sandbox->host;

    return policy->mode != COOP_MODE_DISABLED && host->namespaces && host->landlock_abi > 0 &&
           !host->is_root && !policy->has_uid && !request->tty && !request->cgroup_kind &&
           !request->tmp_fd && !request->traps && policy->commands.strength == COOP_COMMANDS_OFF &&
           (policy->network == COOP_NETWORK_NONE || policy->network == COOP_NETWORK_OFF ||
            policy->network == COOP_NETWORK_HOST ||
            (policy->network == COOP_NETWORK_GATE && box->gate.fd >= 0));
}

static enum child_network network_of(const struct coop_box *box, const struct plan_request *request)
{
    coop_network network = box->sandbox->policy->network;

    if (network == COOP_NETWORK_HOST || request->shares_network)
        return CHILD_NETWORK_LATER; /* there is none to make */
    return network == COOP_NETWORK_NONE ? CHILD_NETWORK_LOOPBACK : CHILD_NETWORK_BARE;
}

/* Everything that the box needs a descriptor of: it has a table of its own from its first act on. */
static int prepare(struct launch *launch)
{
    coop_sandbox *sandbox = launch->box->sandbox;
    int r = launch_make_stacks(sandbox, NULL);

    if (r == 0)
        r = launch_make_channels(launch, NULL);
    if (r == 0 && sandbox->init_fd < 0)
        r = launch->image_fd = init_image_make(NULL);
    if (r >= 0 && protect_is_wanted(sandbox->policy)) {
        launch->rules_fd = memfd_create("coop-rules", MFD_CLOEXEC);
        r = launch->rules_fd < 0 ? -errno : fd_lift(&launch->rules_fd);
    }
    return r < 0 ? r : 0;
}

/* Runs in our memory beside us: system calls only. */
static int threshold(void *argument)
{
    struct launch *launch = argument;

    if (launch->template)
        return launch_threshold(launch);
    return launch_clone_beside(launch, raw(SYS_unshare, CLONE_NEWUSER),
                               CLONE_NEWUSER | CLONE_NEWNET);
}

static void begin(struct launch *launch, const struct plan_request *request)
{
    struct sys_clone how = {
        .flags = CLONE_VM | CLONE_FILES,
        .stack_size = CHILD_STACK_SIZE,
        .is_beside_us = true,
    };
    sigset_t old;

    launch->stacks = how.stack = launch->box->sandbox->stacks;
    launch->namespaces = plan_namespaces(launch->box->sandbox->policy);
    launch->waits_for_itself = false;
    launch_fill_child(launch);
    launch->child.is_begun = true;
    launch->child.network_first = network_of(launch->box, request);
    if (launch->image_fd >= 0) {
        launch->child.init_fd = launch->image_fd;
        launch->child.image = init_image;
        launch->child.image_size = init_image_size;
    }
    launch->was_dumpable = prctl(PR_GET_DUMPABLE) == 1;
    launch_block_signals(&old);
    long pid = sys_clone(&how, threshold, launch);
    launch_restore_signals(&old);
    launch->threshold_pid = pid > 0 ? (pid_t)pid : 0;
}

static void forget(struct coop_box *box)
{
    struct launch *launch = take_ptr(box->head_start);

    close_fd(&launch->image_fd);
    launch_done(launch);
    free(launch);
}

void head_start(struct coop_box *box, const struct plan_request *request)
{
    if (!is_worth_it || !is_possible(box, request))
        return;
    struct launch *launch = box->head_start = calloc(1, sizeof *launch);
    if (!launch)
        return;
    launch_init(launch, box);
    if (prepare(launch) == 0)
        begin(launch, request);
    if (launch->threshold_pid == 0)
        forget(box);
}

/* Only then is it known whether there is a box. */
static void await_threshold(struct launch *launch)
{
    while (raw(SYS_wait4, launch->threshold_pid, NULL, __WALL, NULL) == -EINTR)
        ;
    launch->threshold_pid = 0;
    /* As in launch.c: another user namespace may have marked our memory. */
    if (launch->was_dumpable && prctl(PR_GET_DUMPABLE) != 1)
        (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

/* Before a descriptor is closed: the box may not have its own table yet. */
static void end_box(struct launch *launch)
{
    if (launch->threshold_pid)
        await_threshold(launch);
    if (launch->pidfd < 0)
        return;
    (void)raw(NR_PIDFD_SEND_SIGNAL, launch->pidfd, SIGKILL, NULL, 0);
    launch_reap(launch);
}

void head_start_drop(struct coop_box *box)
{
    if (!box->head_start)
        return;
    end_box(box->head_start);
    forget(box);
}

/* A plan may turn out to need what the box was not given. */
static bool fits(const struct launch *launch)
{
    const struct plan *plan = &launch->box->plan;

    if (plan->tier != COOP_TIER_FULL || plan->nat || plan->map_owners ||
        (plan->gate && launch->child.gate_fd < 0) || plan->namespaces != launch->namespaces ||
        (plan->door_rules && launch->rules_fd < 0))
        return false;
    for (size_t i = 0; i < plan->n_steps; i++)
        if (plan->steps[i].kind == STEP_PROJECT || plan->steps[i].flags & STEP_TREE_FD)
            return false;
    return true;
}

static bool say_go(struct launch *launch)
{
    if (!launch->box->plan.door_rules)
        launch->child.rules_fd = -1;
    else if (launch_write_rules(launch, NULL) < 0)
        return false;
    return launch_say_go(launch, NULL) == 0;
}

int head_start_finish(struct coop_box *box, coop_error **err)
{
    struct launch *launch = box->head_start;

    if (!launch)
        return 1;
    if (!fits(launch) || !say_go(launch)) {
        head_start_drop(box);
        return 1;
    }
    await_threshold(launch);
    child_wait(&launch->box_alive, 1);
    if (launch->pidfd < 0 || launch->child.is_unbegun) {
        end_box(launch);
        forget(box);
        return 1;
    }
    int r = launch_outcome(launch, err);
    if (r == 0 && launch->image_fd >= 0)
        box->sandbox->init_fd = take_fd(&launch->image_fd);
    forget(box);
    return r;
}
