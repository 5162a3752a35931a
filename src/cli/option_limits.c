/*
 * option_limits.c - options: limits, and how strict the box is
 */
#include <string.h>

#include "base/cleanup.h"
#include "base/quantity.h"
#include "cli/option.h"
#include "policy/policy.h"

int option_set_mode(void *context, const char *value, coop_error **err)
{
    static const char *const words[] = { "required", "preferred", "disabled", NULL };
    int i = option_find_word(words, "mode", value, err);

    return i < 0 ? i : coop_policy_set_mode(POLICY(context), (coop_mode)i, err);
}

int option_set_profile(void *context, const char *value, coop_error **err)
{
    static const char *const words[] = { "default", "dev", NULL };
    int i = option_find_word(words, "profile", value, err);

    ((struct policy_arguments *)context)->profile_flag = "--profile";
    return option_note_value(
        context, i < 0 ? i : coop_policy_set_profile(POLICY(context), (coop_profile)i, err),
        POLICY_NOTE_PROFILE, "--profile", err);
}

static int set_limit(void *context, coop_limit limit, const char *value,
                     int (*parse)(const char *, uint64_t *, coop_error **), coop_error **err)
{
    static const char *const flags[COOP_LIMIT_COUNT] = {
        "--memory",    "--pids",       "--cpus",     "--cpu-seconds",
        "--file-size", "--open-files", "--tmp-size",
    };
    uint64_t number = COOP_LIMIT_NONE;
    int r = strcmp(value, "none") == 0 ? 0 : parse(value, &number, err);

    if (r == 0)
        r = coop_policy_set_limit(POLICY(context), limit, number, err);
    return option_note_value(context, r, (enum policy_note)(POLICY_NOTE_LIMIT + limit),
                             flags[limit], err);
}

static int parse_count(const char *value, uint64_t *out, coop_error **err)
{
    return quantity_count(value, 1, INT64_MAX, out, err);
}

int option_set_memory(void *context, const char *value, coop_error **err)
{
    return set_limit(context, COOP_LIMIT_MEMORY, value, quantity_size, err);
}

int option_set_pids(void *context, const char *value, coop_error **err)
{
    return set_limit(context, COOP_LIMIT_PIDS, value, parse_count, err);
}

int option_set_cpus(void *context, const char *value, coop_error **err)
{
    return set_limit(context, COOP_LIMIT_CPUS, value, quantity_decimal_milli, err);
}

int option_set_cpu_seconds(void *context, const char *value, coop_error **err)
{
    return set_limit(context, COOP_LIMIT_CPU_SECONDS, value, parse_count, err);
}

int option_set_file_size(void *context, const char *value, coop_error **err)
{
    return set_limit(context, COOP_LIMIT_FILE_SIZE, value, quantity_size, err);
}

int option_set_open_files(void *context, const char *value, coop_error **err)
{
    return set_limit(context, COOP_LIMIT_OPEN_FILES, value, parse_count, err);
}

int option_set_tmp_size(void *context, const char *value, coop_error **err)
{
    return set_limit(context, COOP_LIMIT_TMP_SIZE, value, quantity_size, err);
}

int option_set_timeout(void *context, const char *value, coop_error **err)
{
    struct policy_arguments *arguments = context;
    uint64_t ms = 0; /* none */
    bool is_none = strcmp(value, "none") == 0;
    int r = is_none ? 0 : quantity_duration_ms(value, &ms, err);

    if (r == 0 && ms == 0 && !is_none)
        return option_bad(err, "duration", value, "more than 0");
    arguments->options.timeout_ms = ms;
    return option_note_value(context, r, POLICY_NOTE_TIMEOUT, "--timeout", err);
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
