#include "template.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/fd.h"
#include "launch/child.h"
#include "policy/network_mode.h"
#include "sys/clone.h"
#include "sys/kernel.h"
#include "sys/raw.h"

struct making {
    struct child child;
    struct template *template;
    bool wants_network;
};

bool template_is_possible(const coop_policy *policy, const struct host *host)
{
    if (host->is_root || !host->namespaces || !host->mount_setattr || policy->root ||
        (policy->has_uid && policy->uid == 0) || policy->mode == COOP_MODE_DISABLED ||
        policy->commands.strength == COOP_COMMANDS_ENFORCE)
        return false;
    for (size_t i = 0; i < policy->n_mounts; i++)
        if (policy->mounts[i].kind == POLICY_TMPFS || /* something may be mounted inside it */
            policy->mounts[i].is_socket)              /* each box looks for itself which it is */
            return false;
    return true;
}

/* One for all is as good as one each only where nothing crosses it: no sockets, scoped names. */
static bool can_share_network(const coop_policy *policy, const struct host *host)
{
    return !network_mode(policy)->has_sockets && host->landlock_abi >= 6;
}

static int open_own(const char *path)
{
    return (int)raw(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
}

/* Runs in our memory and with our descriptors: what it opens last is what we keep. */
static int template_main(void *argument)
{
    struct making *making = argument;
    struct child *child = &making->child;
    struct template *template = making->template;

    child->umask = (mode_t)raw(SYS_umask, 0);
    for (size_t i = 0; i < template->plan.n_steps && !child->error; i++) {
        int r = step_apply(child, &template->plan.steps[i]);

        if (r < 0) {
            child->failed_step = i;
            child->error = -r;
        }
    }
    const int own[] = { child->pool_fd, child->skeleton_fd, child->root_fd };
    for (size_t i = 0; i < COUNT(own); i++)
        if (own[i] >= 0)
            (void)raw(SYS_close, own[i]);
    if (child->error)
        return 1;
    template->user_fd = open_own("/proc/self/ns/user");
    template->mount_fd = open_own("/proc/self/ns/mnt");
    if (making->wants_network)
        template->network_fd = open_own("/proc/self/ns/net");
    return 0;
}

static int run_making(struct making *making, coop_error **err)
{
    struct template *template = making->template;
    void *stack = mmap(NULL, CHILD_STACK_SIZE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    uint64_t all = UINT64_MAX;
    uint64_t old = 0;

    if (stack == MAP_FAILED)
        return fail_no_memory(err);
    struct sys_clone how = {
        .flags = CLONE_VM | CLONE_VFORK | CLONE_FILES | CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID |
                 (making->wants_network ? CLONE_NEWNET : 0),
        .stack = stack,
        .stack_size = CHILD_STACK_SIZE,
    };
    (void)raw(SYS_rt_sigprocmask, SIG_SETMASK, &all, &old, sizeof all);
    long pid = sys_clone(&how, template_main, making);
    if (pid > 0)
        while (raw(SYS_wait4, pid, NULL, __WALL, NULL) == -EINTR)
            ;
    (void)raw(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, sizeof old);
    (void)munmap(stack, CHILD_STACK_SIZE);
    if (pid < 0)
        return fail(err, (int)-pid, "make a template: new namespaces");
    if (making->child.error)
        return fail(err, making->child.error, "make a template: %s",
                    step_rows[template->plan.steps[making->child.failed_step].kind].name);
    int *const kept[] = { &template->user_fd, &template->mount_fd,
                          making->wants_network ? &template->network_fd : NULL };
    for (size_t i = 0; i < COUNT(kept); i++) {
        int r = !kept[i] ? 0 : *kept[i] < 0 ? *kept[i] : fd_lift(kept[i]);

        if (r < 0)
            return fail(err, -r, "keep the namespaces of a template");
    }
    return 0;
}

static int note_sources(struct template *template, coop_error **err)
{
    const struct plan *plan = &template->plan;

    template->sources = calloc(plan->n_steps, sizeof *template->sources);
    if (!template->sources)
        return fail_no_memory(err);
    for (size_t i = 0; i < plan->n_steps; i++) {
        const struct step *step = &plan->steps[i];

        if (step_rows[step->kind].traits & TRAIT_SOURCE && step->flags & STEP_RECHECK)
            template->sources[template->n_sources++] =
                (struct template_source){ step->source, step->dev, step->ino };
    }
    return 0;
}

int template_new(const coop_policy *policy, const struct host *host, bool has_watchfs,
                 struct template **out, coop_error **err)
{
    static char *const nothing[] = { NULL };
    struct plan_request request = { .part = PLAN_TEMPLATE,
                                    .argv = nothing,
                                    .watchfs = has_watchfs };
    struct template *template = calloc(1, sizeof *template);

    if (!template)
        return fail_no_memory(err);
    template->user_fd = template->mount_fd = template->network_fd = -1;
    template->has_watchfs = has_watchfs;
    struct making making = {
        .template = template,
        .wants_network = can_share_network(policy, host),
        .child = { .plan = &template->plan,
                   .pool_fd = -1,
                   .skeleton_fd = -1,
                   .root_fd = -1,
                   .proc_fd = -1,
                   .terminal_fd = -1,
                   .place_fd = -1,
                   .pristine_fd = -1,
                   .masks_fd = -1,
                   .root_view_fd = -1,
                   .watch_fd = -1,
                   .fuse_fd = -1,
                   .watchfs_fd = -1,
                   .late_fds = { -1, -1 },
                   .device_fd = -1,
                   .listener_fd = -1,
                   .proc_ready = 1 },
    };
    int r = plan_compile(&template->plan, policy, host, &request, err);
    if (r == 0)
        r = note_sources(template, err);
    if (r == 0)
        r = root_marks_set(&template->marks, &template->plan, err);
    if (r == 0)
        r = run_making(&making, err);
    if (r < 0) {
        template_free(template);
        return r;
    }
    *out = template;
    return 0;
}

bool template_is_current(const struct template *template)
{
    for (size_t i = 0; i < template->n_sources; i++) {
        const struct template_source *source = &template->sources[i];
        struct stat st;

        if (stat(source->path, &st) < 0 || st.st_dev != source->dev || st.st_ino != source->ino)
            return false;
    }
    return true;
}

void template_free(struct template *template)
{
    if (!template)
        return;
    close_fd(&template->user_fd);
    close_fd(&template->mount_fd);
    close_fd(&template->network_fd);
    root_marks_done(&template->marks);
    plan_done(&template->plan);
    free(template->sources);
    free(template);
}
