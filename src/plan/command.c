/*
 * command.c - what to execute: the command's name against the box's PATH
 */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "plan/plan.h"

static const char *path_of(const struct plan *plan)
{
    for (size_t i = 0; i < plan->n_environment; i++)
        if (strncmp(plan->environment[i], "PATH=", 5) == 0)
            return plan->environment[i] + 5;
    return "/usr/bin:/bin";
}

int plan_command(struct plan *plan, const struct plan_request *request, coop_error **err)
{
    const char *name = request->argv ? request->argv[0] : NULL;
    size_t n = 0;

    if (!name || !*name)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "the command is empty");
    plan->argv = (char **)(uintptr_t)request->argv; /* borrowed, never changed */
    const char *path = path_of(plan);
    for (const char *p = path; *p; p++)
        n += *p == ':';
    plan->candidates = plan_memory(plan, (n + 2) * sizeof *plan->candidates);
    if (!plan->candidates)
        return fail_no_memory(err);
    if (strchr(name, '/')) {
        plan->candidates[0] = (char *)(uintptr_t)name;
        return 0;
    }
    n = 0;
    for (const char *p = path; *p;) {
        size_t length = strcspn(p, ":");

        if (length > 0)
            plan->candidates[n++] = plan_text(plan, "%.*s/%s", (int)length, p, name);
        p += length;
        p += *p == ':';
    }
    return plan->failed ? fail_no_memory(err) : 0;
}
