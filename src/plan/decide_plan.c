#include "decide_plan.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/suggest.h"
#include "plan/enforce.h"
#include "plan/seccomp/seccomp.h"
#include "policy/network_mode.h"
#include "policy/path/path.h"
#include "policy/view/place.h"

/* ---- system calls */

/* As the plan of a box of the full tier has it, but for what init does on behalf. */
static unsigned variant_of(const coop_policy *policy)
{
    return (policy->profile == COOP_PROFILE_DEV ? SECCOMP_PROFILE_DEV : 0) |
           (network_mode(policy)->has_sockets ? 0 : SECCOMP_UNIX_ONLY) |
           (policy->host_sockets ? 0 : SECCOMP_NOTIFY_CONNECT);
}

static bool holds(const struct seccomp_denied *row, unsigned variant)
{
    return (variant & row->variant_mask) == row->variant_value;
}

/* All that is refused of one call. */
struct refusals {
    const struct seccomp_denied *always; /* NULL: not with all arguments */
    struct buffer when; /* "'Operation not permitted' where argument 1 is 0x5412" */
    int last_error;
    bool is_asked; /* init does it on behalf, or lets it through */
};

/* Rules of one errno stand together. */
static void add_when(struct refusals *refusals, const struct seccomp_denied *row)
{
    if (row->error != refusals->last_error)
        buffer_printf(&refusals->when, "%s'%s' where ", refusals->when.length ? ", and " : "",
                      strerror(row->error));
    else
        buffer_append_string(&refusals->when, ", or where ");
    refusals->last_error = row->error;
    buffer_append_string(&refusals->when, *row->when ? row->when : "no rule allows its arguments");
}

static void add_row(struct refusals *refusals, const struct seccomp_denied *row, unsigned variant)
{
    if (!holds(row, variant))
        return;
    if (row->error == 0) {
        refusals->is_asked = true;
        return;
    }
    if (row->depends_on_arguments)
        add_when(refusals, row);
    else if (!refusals->always)
        refusals->always = row;
}

static void find_refusals(const coop_policy *policy, int nr, struct refusals *out)
{
    const struct seccomp_arch *arch = seccomp_native_arch();
    unsigned variant = variant_of(policy);

    for (size_t i = 0; i < arch->n_denied; i++)
        if (arch->denied[i].nr == nr)
            add_row(out, &arch->denied[i], variant);
    for (const struct seccomp_denied *row = seccomp_no_code_denied;
         enforce_is_wanted(policy) && row->name; row++)
        if (row->nr == nr)
            add_row(out, row, variant);
}

static int no_such_call(const char *name, coop_error **err)
{
    const struct seccomp_arch *arch = seccomp_native_arch();
    auto_free const char **names = calloc((size_t)arch->newest_nr + 2, sizeof *names);
    size_t n = 0;

    if (!names)
        return fail_no_memory(err);
    for (int nr = 0; nr <= arch->newest_nr; nr++)
        if (arch->names[nr])
            names[n++] = arch->names[nr];
    const char *near = suggest(name, names);
    int r = fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                      "no system call of %s that coop knows is called '%.60s'", arch->name, name);
    return near ? fail_hint(err, r, "did you mean %s?", near) : r;
}

static int say_refused(const struct decide_subject *subject, const char *name,
                       const struct refusals *refusals, struct decide_answer *out)
{
    auto_buffer struct buffer why = { 0 };
    bool is_for_debuggers = refusals->always->variant_mask & SECCOMP_PROFILE_DEV;

    buffer_printf(&why, "the answer to it is always '%s'%s", strerror(refusals->always->error),
                  is_for_debuggers ? ", but in boxes for debuggers" : "");
    if (why.failed)
        return -ENOMEM;
    int r = decide_say(out, false, is_for_debuggers ? &subject->profile_origin : NULL,
                       is_for_debuggers ? "write profile = \"dev\" in [sandbox]" : NULL, why.data,
                       "the system call filter, '%s'", name);
    return r < 0 || !is_for_debuggers ? r : decide_flag(out, "--profile dev", NULL);
}

static int say_let_through(const char *name, const struct refusals *refusals,
                           struct decide_answer *out)
{
    auto_buffer struct buffer why = { 0 };

    if (refusals->when.length)
        buffer_printf(&why, "the filter lets it through, but answers %s", refusals->when.data);
    else if (refusals->is_asked)
        buffer_append_string(&why, "coop looks at where it leads, and then does it");
    else
        buffer_append_string(&why, "the filter lets it through; whether the kernel grants it is "
                                   "another matter");
    if (why.failed)
        return -ENOMEM;
    return decide_say(out, true, NULL, NULL, why.data, "the system call filter, '%s'", name);
}

int decide_plan_syscall(const struct decide_subject *subject, const char *name,
                        struct decide_answer *out, coop_error **err)
{
    struct refusals refusals = { 0 };
    int nr = seccomp_call_number(name);
    int r = -ENOMEM;

    if (nr < 0)
        return no_such_call(name, err);
    find_refusals(subject->policy, nr, &refusals);
    if (!refusals.when.failed)
        r = refusals.always ? say_refused(subject, name, &refusals, out)
                            : say_let_through(name, &refusals, out);
    buffer_done(&refusals.when);
    return r < 0 ? fail_no_memory(err) : 0;
}

/* ---- programs */

/* Whether the box has it, or executes it, by one of the entries. */
static bool is_granted(const struct plan_enforce *enforce, const char *path, bool is_executing)
{
    bool is_elsewhere = true;

    for (size_t i = 0; i < enforce->n; i++) {
        const struct enforce_entry *entry = &enforce->entries[i];

        if (!entry->target)
            continue;
        if (entry->kind == ENFORCE_DIRECTORY) {
            is_elsewhere = is_elsewhere && (!path_is_within(path, entry->target) ||
                                            strcmp(path, entry->target) == 0);
            continue;
        }
        if ((entry->is_program || !is_executing) &&
            (entry->kind == ENFORCE_TREE ? path_is_within(path, entry->target)
                                         : strcmp(path, entry->target) == 0))
            return true;
    }
    return is_elsewhere && !is_executing;
}

/* By the host's own links: the name must be in its directory, and what it leads to as well. */
static bool leads_to_granted(const struct plan_enforce *enforce, const char *path,
                             bool is_executing)
{
    char directory[PATH_MAX];
    char real[PATH_MAX];
    const char *slash = strrchr(path, '/');
    auto_free char *above = slash ? strndup(path, (size_t)(slash - path)) : NULL;
    auto_free char *named = NULL;

    if (!above || !realpath(*above ? above : "/", directory))
        return is_granted(enforce, path, is_executing);
    named = path_join(directory, slash + 1);
    if (!named || !is_granted(enforce, named, false))
        return false;
    return is_granted(enforce, realpath(named, real) ? real : named, is_executing);
}

int decide_plan_has_program(const struct decide_subject *subject, const char *path,
                            bool is_executing, coop_error **err)
{
    const char *view = view_of_workspace(subject->policy, subject->workspace);
    struct plan plan = { .policy = subject->policy,
                         .tier = COOP_TIER_FULL,
                         .workspace = subject->workspace ? subject->workspace : "",
                         .workspace_view = view ? view : VIEW_WORKSPACE };
    int r = plan_enforce(&plan, NULL, err);

    if (r == 0)
        r = (is_executing && is_granted(plan.enforce, path, true)) ||
            leads_to_granted(plan.enforce, path, is_executing);
    plan_done(&plan);
    return r;
}
