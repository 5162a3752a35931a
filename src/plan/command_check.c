#include "command_check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/printable.h"
#include "policy/command_reach.h"

int command_check_decide(const struct plan *plan, const struct command_rules *rules,
                         char *const argv[], struct command_decision *out, coop_error **err)
{
    auto_command_reach struct command_reach reach = { 0 };
    const struct command_context context = {
        .dialect = SHELL_POSIX,
        .check_path = command_reach_check,
        .opaque = &reach,
    };

    if (command_reach_init(&reach, plan->policy, plan->workspace_view) < 0)
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
    auto_buffer struct buffer whole = { 0 };
    auto_buffer struct buffer words = { 0 };
    auto_buffer struct buffer origin = { 0 };

    if (decision->command)
        buffer_append_string(&asked, decision->command);
    else
        print_argv(&asked, argv);
    if (decision->has_origin) {
        buffer_append_string(&rule, " (rule: ");
        origin_print(&rule, decision->origin);
        buffer_append_char(&rule, ')');
    }
    print_argv(&whole, argv);
    buffer_append_string(&words, "commands '");
    printable_append(&words, asked.data, asked.length);
    buffer_append_char(&words, '\'');
    origin_print(&origin, decision->has_origin ? decision->origin : (struct origin){ 0 });
    if (asked.failed || rule.failed || whole.failed || words.failed || origin.failed)
        return fail_no_memory(err);
    int r = fail_kind(err, COOP_ERROR_DENIED, EACCES, "'%s' may not run: %s%s", asked.data,
                      decision->why, rule.data ? rule.data : "");
    if (decision->allow)
        r = fail_hint(
            err, r, "%s%s",
            decision->is_undecided ? "to have it decided: " : "to allow it: ", decision->allow);
    return fail_denied(err, r,
                       &(coop_denial){ .operation = "command",
                                       .target = whole.data,
                                       .rule = words.data,
                                       .origin = origin.data,
                                       .fix = decision->allow,
                                       .count = 1,
                                       .error = EACCES,
                                       .why = decision->why });
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
