#include "command_check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/printable.h"
#include "policy/path.h"
#include "policy/view_place.h"

struct paths {
    const struct plan *plan;
    struct view_index *index;
};

/* As the box's shell would have it; *out NULL: somebody else's home, which the box does not show. */
static int absolute(const struct plan *plan, const char *path, char **out)
{
    if (*path == '/') {
        *out = strdup(path);
    } else if (*path == '~') {
        *out = NULL;
        if (path[1] != '\0' && path[1] != '/')
            return 0;
        *out = path_join(plan->workspace_view, path + 1 + (path[1] == '/'));
    } else {
        *out = path_join(plan->directory, path);
    }
    return *out ? 0 : -ENOMEM;
}

static int check_path(void *opaque, const char *path, bool may_write)
{
    const struct paths *paths = opaque;
    auto_error coop_error *err = NULL;
    auto_free char *whole = NULL;
    auto_free char *normal = NULL;

    (void)may_write; /* what may be read only is the kernel's business, with a message of its own */
    int r = absolute(paths->plan, path, &whole);
    if (r < 0 || !whole)
        return r < 0 ? r : 1;
    r = path_resolve("path", whole, &normal, &err);
    if (r < 0)
        return r == -ENOMEM ? r : 1;
    struct view_place place = view_find(paths->index, normal);
    if (place.what == VIEW_IS_BLOCK)
        return 1;
    /* Where the workspace is the root, whatever is not something else is in it. */
    return place.what == VIEW_NOTHING && !paths->plan->is_root_view;
}

int command_check_decide(const struct plan *plan, const struct command_rules *rules,
                         char *const argv[], struct command_decision *out, coop_error **err)
{
    auto_view_index struct view_index *index = view_index_new(plan->policy, plan->workspace_view);
    struct paths paths = { plan, index };
    const struct command_context context = {
        .dialect = SHELL_POSIX,
        .check_path = check_path,
        .opaque = &paths,
    };

    if (!index)
        return fail_no_memory(err);
    int r = command_rules_decide_argv(rules, (const char *const *)argv, &context, out, err);
    return r < 0 && err && !*err ? fail_no_memory(err) : r;
}

/* What was asked for, as far as a line takes it. */
static void print_argv(struct buffer *out, char *const argv[])
{
    for (size_t i = 0; argv[i]; i++) {
        if (out->length > 200) {
            buffer_append_string(out, " ...");
            return;
        }
        buffer_append_string(out, i > 0 ? " " : "");
        printable_append(out, argv[i], strnlen(argv[i], 100));
    }
}

int command_check_refuse(const struct command_decision *decision, char *const argv[],
                         coop_error **err)
{
    auto_buffer struct buffer asked = { 0 };
    auto_buffer struct buffer rule = { 0 };

    if (decision->command)
        buffer_append_string(&asked, decision->command);
    else
        print_argv(&asked, argv);
    if (decision->has_origin) {
        buffer_append_string(&rule, " (rule: ");
        origin_print(&rule, decision->origin);
        buffer_append_char(&rule, ')');
    }
    if (asked.failed || rule.failed)
        return fail_no_memory(err);
    int r = fail_kind(err, COOP_ERROR_DENIED, EACCES, "'%s' may not run: %s%s", asked.data,
                      decision->why, rule.data ? rule.data : "");
    return decision->allow
               ? fail_hint(err, r, "%s%s",
                           decision->is_undecided ? "to have it decided: " : "to allow it: ",
                           decision->allow)
               : r;
}

int command_check(const struct plan *plan, char *const argv[], coop_error **err)
{
    auto_command_decision struct command_decision decision = { 0 };

    if (plan->policy->commands.strength == COOP_COMMANDS_OFF)
        return 0;
    int r = command_check_decide(plan, &plan->policy->commands.rules, argv, &decision, err);
    if (r < 0 || decision.is_allowed)
        return r;
    return command_check_refuse(&decision, argv, err);
}
