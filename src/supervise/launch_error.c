#include "launch_error.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "coop/probe.h"

/* The doctor's reason: the first thing missing that the full tier needs. */
static void add_reason(coop_error **err, int r)
{
    coop_probe *probe = NULL;

    if (!err || coop_probe_new(&probe, NULL) < 0)
        return;
    for (size_t i = 0; i < coop_probe_n_capabilities(probe); i++) {
        const coop_capability *c = coop_probe_capability(probe, i);

        if (!c->needed || c->available)
            continue;
        (void)fail_hint(err, r, "%s: %s%s%s", c->title, c->detail ? c->detail : "not available",
                        c->fix ? "; fix it with: " : "", c->fix ? c->fix : "");
        break;
    }
    coop_probe_free(probe);
}

static int not_available(int errnum, coop_error **err, const char *what)
{
    int r = fail_kind(err, COOP_ERROR_NOT_AVAILABLE, errnum, "the sandbox is not available: %s: %s",
                      what, strerror(errnum));

    add_reason(err, r);
    return r;
}

int launch_error_of_clone(const struct coop_box *box, int errnum, coop_error **err)
{
    bool transient = errnum == EAGAIN || errnum == ENOMEM || errnum == EMFILE || errnum == ENFILE;

    if (box->plan.tier < COOP_TIER_NAMESPACES || transient)
        return fail_as(err,
                       fail(err, errnum, "start the sandbox: make a process%s",
                            errnum == EAGAIN ? " (too many processes, or no pid left)" : ""),
                       COOP_ERROR_SETUP);
    return not_available(errnum, err, "this host refuses new namespaces");
}

static bool is_of_namespaces(const struct plan *plan, const struct child *child)
{
    return child->failed_step < plan->n_steps &&
           (child->error == EPERM || child->error == EACCES) &&
           step_rows[plan->steps[child->failed_step].kind].traits & TRAIT_RIGHTS;
}

/* A step that protects what the plan saw in the workspace found something else there. */
bool launch_error_is_change(const struct plan *plan, const struct child *child)
{
    if (child->error != ESTALE || child->failed_step >= plan->n_steps)
        return false;
    return step_rows[plan->steps[child->failed_step].kind].traits & TRAIT_SEEN;
}

/* "Symbolic link loop", says the kernel: links are not followed there, and one is enough. */
static bool is_of_link(const struct step *step, int errnum)
{
    return errnum == ELOOP && step_rows[step->kind].traits & TRAIT_NO_LINK;
}

static bool is_of_device(const struct step *step, int errnum)
{
    return errnum == ENODEV && step->kind == STEP_BIND && (step->flags & STEP_DEVICE);
}

static const char *reason_for(const struct step *step, int errnum)
{
    if (is_of_link(step, errnum))
        return "the target is a symbolic link, or one leads to it";
    if (is_of_device(step, errnum))
        return "it is not the character device of that name";
    if (step->kind == STEP_NAT && errnum == EPIPE)
        return "coop-nat, which provides the network, has ended";
    if (step->kind == STEP_NAT && errnum == EPROTONOSUPPORT)
        return "this kernel has no nf_tables, which is needed to refuse private networks";
    return strerror(errnum);
}

static const char *hint_for(const struct step *step, int errnum)
{
    if (step->kind == STEP_BIND && errnum == ENOENT)
        return "coop creates no mount points in host directories: create it first, or choose "
               "another target";
    if (is_of_link(step, errnum))
        return "name the target of the link";
    if (is_of_device(step, errnum))
        return "this host's /dev has something else in its place";
    if (step_rows[step->kind].traits & TRAIT_SOURCE && errnum == ESTALE)
        return "the source was replaced while the box was being set up: run again";
    if (step->kind == STEP_BIND && errnum == ENOTDIR)
        return "source and target must both be directories or both be files";
    if (step->kind == STEP_CHANGE_DIRECTORY)
        return "name a directory in the box with --chdir; the workspace is at /work, or at its own "
               "path with --same-path";
    if (step->kind == STEP_ROOT_VIEW && (errnum == EMFILE || errnum == ENOSPC))
        return "the kernel's limit on inotify instances, watches or mounts is reached: see "
               "/proc/sys/fs/inotify and /proc/sys/fs/mount-max";
    if (errnum == ENOSPC)
        return "the kernel's limit on namespaces or mounts is reached: see /proc/sys/user and "
               "/proc/sys/fs/mount-max";
    return NULL;
}

static int launch_error_of_exec(const struct plan *plan, const struct child *child,
                                coop_error **err)
{
    const char *name = plan->argv[0];
    const char *path = plan->candidates[child->candidate];
    int r;

    switch (child->error) {
    case ENOENT:
    case ENOTDIR:
        if (child->exists) {
            r = fail_kind(err, COOP_ERROR_EXEC, ENOENT,
                          "execute '%s': its interpreter does not exist in the box", path);
            return fail_hint(err, r, "check the file's first line, or its ELF interpreter");
        }
        r = fail_kind(err, COOP_ERROR_EXEC, ENOENT, "execute '%s': no such command in the box",
                      name);
        return fail_hint(
            err, r, "the box shows /usr, /bin, /sbin and the workspace; show more with --ro PATH");
    case EACCES:
        r = fail_kind(err, COOP_ERROR_EXEC, EACCES,
                      "execute '%s': not executable (a directory, no execute permission, or a "
                      "noexec mount)",
                      path);
        return r;
    case ENOEXEC:
        return fail_kind(err, COOP_ERROR_EXEC, ENOEXEC,
                         "execute '%s': not a program for this machine (another architecture, or a "
                         "script without '#!')",
                         path);
    case E2BIG:
        return fail_kind(
            err, COOP_ERROR_EXEC, E2BIG,
            "execute '%s': arguments and environment are larger than the kernel accepts", path);
    default:
        return fail_as(err, fail(err, child->error, "execute '%s'", path), COOP_ERROR_EXEC);
    }
}

int launch_error_of_step(const struct coop_box *box, const struct child *child, coop_error **err)
{
    const struct plan *plan = &box->plan;
    char words[512];

    if (child->failed_step == plan->n_steps)
        return launch_error_of_exec(plan, child, err);
    if (child->error == ECANCELED)
        return fail_kind(err, COOP_ERROR_SETUP, ECANCELED,
                         "start the sandbox: the process that builds it was killed");
    if (child->failed_step == SIZE_MAX)
        return fail_as(
            err, fail(err, child->error, "start the sandbox: prepare the process that builds it"),
            COOP_ERROR_SETUP);
    const struct step *step = &plan->steps[child->failed_step];
    if (launch_error_is_change(plan, child)) {
        int changed = fail_kind(
            err, COOP_ERROR_SETUP, ESTALE,
            "start the sandbox: '%s' changed while the sandbox was being set up", step->target);

        return fail_hint(err, changed,
                         "run again when protected files are no longer being moved or replaced");
    }
    plan_describe_step(plan, child->failed_step, words, sizeof words);
    if (is_of_namespaces(plan, child))
        return not_available(child->error, err, words);
    int r =
        fail_kind(err, COOP_ERROR_SETUP, child->error, "start the sandbox: step %zu of %zu, %s: %s",
                  child->failed_step + 1, plan->n_steps, words, reason_for(step, child->error));
    const char *hint = hint_for(step, child->error);
    return hint ? fail_hint(err, r, "%s", hint) : r;
}
