/*
 * report.c - options: a shell text, a terminal, and what is printed
 */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "cli/option/option.h"

int option_set_shell_text(void *context, const char *value, coop_error **err)
{
    struct policy_arguments *arguments = context;

    if (!*value)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "the shell text is empty");
    arguments->shell_text = value;
    return 0;
}

int option_set_explain(void *context, const char *value, coop_error **err)
{
    coop_explain *explain = &((struct policy_arguments *)context)->options.explain;

    if (!value)
        *explain = COOP_EXPLAIN_WRITES;
    else if (strcmp(value, "all") == 0)
        *explain = COOP_EXPLAIN_ALL;
    else if (strcmp(value, "none") == 0)
        *explain = COOP_EXPLAIN_NONE;
    else
        return option_bad(err, "value", value, "--explain, --explain=all or --explain=none");
    return 0;
}

#define SET_FLAG(field)                                                        \
    int option_set_##field(void *context, const char *value, coop_error **err) \
    {                                                                          \
        (void)value;                                                           \
        (void)err;                                                             \
        ((struct policy_arguments *)context)->field = true;                    \
        return 0;                                                              \
    }

SET_FLAG(tty)
SET_FLAG(json)
SET_FLAG(quiet)
SET_FLAG(as_bwrap)

int option_set_log_format(void *context, const char *value, coop_error **err)
{
    return log_sink_format(&((struct policy_arguments *)context)->sink, value, err);
}
