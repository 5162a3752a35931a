/*
 * limits.c - options: how long it may run, and descriptors
 */
#include <string.h>

#include "base/cleanup.h"
#include "base/quantity.h"
#include "cli/option/option.h"
#include "policy/policy.h"

int option_set_timeout(void *context, const char *value, coop_error **err)
{
    struct policy_arguments *arguments = context;
    uint64_t ms = 0; /* none */
    bool is_none = strcmp(value, "none") == 0;
    int r = is_none ? 0 : quantity_duration_ms(value, &ms, err);

    if (r == 0 && ms == 0 && !is_none)
        return option_bad(err, "duration", value, "more than 0");
    arguments->options.timeout_ms = ms;
    return option_note_value(context, r, SETTING_SANDBOX_TIMEOUT, "--timeout", err);
}

int option_keep_fd(void *context, const char *value, coop_error **err)
{
    struct policy_arguments *arguments = context;
    uint64_t fd = 0;
    int r = quantity_count(value, 0, 1u << 20, &fd, err);

    if (r < 0)
        return r;
    if (arguments->options.n_keep_fds == POLICY_MAX_KEEP)
        return option_bad(err, "descriptor", value, "at most 64 of them");
    arguments->keep_fds[arguments->options.n_keep_fds++] = (int)fd;
    return 0;
}
