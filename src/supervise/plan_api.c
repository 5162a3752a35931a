/*
 * plan_api.c - plans for people to read: compiled as for a run, then printed
 */
#include <errno.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "coop/probe.h"
#include "coop/run.h"
#include "plan/command_check.h"
#include "plan/print/print.h"
#include "supervise/box.h"

/* A run finds out by trying whether it can have namespaces; here nothing is run. */
static int look_closely(const coop_sandbox *sandbox, struct host *host, coop_error **err)
{
    coop_probe *probe = NULL;

    *host = sandbox->host;
    if (sandbox->policy->mode == COOP_MODE_DISABLED || !host->namespaces)
        return 0;
    int r = coop_probe_new(&probe, err);
    if (r < 0)
        return r;
    host->namespaces = coop_probe_tier(probe) >= COOP_TIER_NAMESPACES;
    coop_probe_free(probe);
    return 0;
}

static int with_plan(coop_sandbox *sandbox, char *const argv[], const coop_run_options *given,
                     void (*print)(const struct plan *, struct buffer *), char **out,
                     coop_error **err)
{
    struct plan plan = { 0 };
    struct host host;
    struct cgroup cgroup;
    struct buffer text = { 0 };
    coop_run_options options;

    int r = box_take_options(&options, given, sandbox->policy, err);
    if (r == 0)
        r = look_closely(sandbox, &host, err);
    if (r < 0)
        return r;
    cgroup_find(&cgroup);
    struct plan_request request = {
        .argv = argv,
        .is_for_reading = true,
        .env_pass = options.env_pass,
        .directory = options.directory,
        .tty = options.terminal,
        .cgroup_memory = cgroup.has[CGROUP_MEMORY],
        .cgroup_pids = cgroup.has[CGROUP_PIDS],
        .cgroup_cpu = cgroup.has[CGROUP_CPU],
        .cgroup_kind = cgroup_kind(&cgroup),
    };
    cgroup_remove(&cgroup);
    r = plan_compile(&plan, sandbox->policy, &host, &request, err);
    if (r == 0)
        r = command_check(&plan, argv, err);
    if (r == 0 && print == plan_print_bwrap && plan.tier < COOP_TIER_NAMESPACES)
        r = fail_kind(
            err, COOP_ERROR_NOT_AVAILABLE, ENOTSUP,
            "there is no bubblewrap command line for a plan of the tier '%s', which has no "
            "namespaces",
            coop_tier_name(plan.tier));
    if (r == 0)
        print(&plan, &text);
    plan_done(&plan);
    if (r < 0) {
        buffer_done(&text);
        return r;
    }
    *out = buffer_take_string(&text);
    return *out ? 0 : fail_no_memory(err);
}

int coop_plan_text(coop_sandbox *sandbox, char *const argv[], const coop_run_options *options,
                   char **out, coop_error **err)
{
    return with_plan(sandbox, argv, options, plan_print_text, out, err);
}

int coop_plan_json(coop_sandbox *sandbox, char *const argv[], const coop_run_options *options,
                   char **out, coop_error **err)
{
    return with_plan(sandbox, argv, options, plan_print_json, out, err);
}

int coop_plan_bwrap(coop_sandbox *sandbox, char *const argv[], const coop_run_options *options,
                    char **out, coop_error **err)
{
    return with_plan(sandbox, argv, options, plan_print_bwrap, out, err);
}
