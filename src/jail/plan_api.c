/*
 * plan_api.c - plans for people to read: compiled as for a run, then printed
 */
#include <errno.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "coop/run.h"
#include "jail/box.h"
#include "plan/command_check.h"
#include "plan/print.h"

static int with_plan(coop_sandbox *sandbox, char *const argv[], const coop_run_options *given,
                     void (*print)(const struct plan *, struct buffer *), char **out,
                     coop_error **err)
{
    struct plan plan = { 0 };
    struct cgroup cgroup;
    struct buffer text = { 0 };
    coop_run_options options;

    int r = box_take_options(&options, given, sandbox->policy, err);
    if (r < 0)
        return r;
    cgroup_find(&cgroup);
    struct plan_request request = {
        .argv = argv,
        .is_for_reading = true,
        .env_pass = options.env_pass,
        .tty = options.terminal,
        .cgroup_memory = cgroup.has[CGROUP_MEMORY],
        .cgroup_pids = cgroup.has[CGROUP_PIDS],
        .cgroup_cpu = cgroup.has[CGROUP_CPU],
        .cgroup_kind = cgroup_kind(&cgroup),
    };
    cgroup_remove(&cgroup);
    r = plan_compile(&plan, sandbox->policy, &sandbox->host, &request, err);
    if (r == 0)
        r = command_check(&plan, argv, err);
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
