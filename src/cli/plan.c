/*
 * plan.c - coop plan: what coop run would do
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/option/policy_options.h"

static int print_plan(struct policy_arguments *arguments, char *const argv[], coop_error **err)
{
    auto_free char *text = NULL;
    coop_sandbox *sandbox = NULL;
    int r = coop_sandbox_new(arguments->policy, &sandbox, err);

    arguments->options.terminal = arguments->tty;
    if (r < 0)
        return r;
    if (arguments->as_bwrap)
        r = coop_plan_bwrap(sandbox, argv, &arguments->options, &text, err);
    else if (arguments->json)
        r = coop_plan_json(sandbox, argv, &arguments->options, &text, err);
    else
        r = coop_plan_text(sandbox, argv, &arguments->options, &text, err);
    coop_sandbox_free(sandbox);
    if (r == 0)
        (void)fputs(text, stdout);
    return r;
}

static int plan_main(int argc, char **argv)
{
    static char *const example[] = { (char *)(uintptr_t) "true", NULL };
    auto_error coop_error *err = NULL;
    struct policy_arguments arguments;
    char *const *command = example;
    int r = policy_arguments_parse(&arguments, &command_plan, argc, argv, &err);

    if (r == -ECANCELED && !err) {
        policy_arguments_done(&arguments);
        return 0;
    }
    if (r >= 0 && (r < argc || arguments.shell_text))
        r = policy_arguments_command(&arguments, argc, argv, r, &command, &err);
    if (r >= 0 && arguments.as_bwrap && arguments.json)
        r = fail_kind(&err, COOP_ERROR_BAD_POLICY, EINVAL,
                      "--as-bwrap and --json exclude each other");
    if (r >= 0)
        r = print_plan(&arguments, command, &err);
    policy_arguments_done(&arguments);
    if (r >= 0)
        return 0;
    command_complain("plan", err);
    return coop_error_get_kind(err) == COOP_ERROR_BAD_POLICY ? 2 : 1;
}

const struct command command_plan = {
    .name = "plan",
    .arguments = "[options] [--] [COMMAND [ARG...]]",
    .summary = "show, step by step, what coop run would do",
    .options = policy_options_plan,
    .run = plan_main,
};
