/*
 * limits.c - a policy's part about limits
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "policy/policy.h"

const char *const policy_limit_names[] = { "memory",    "pids",       "cpus",     "cpu-seconds",
                                           "file-size", "open-files", "tmp-size", NULL };

#define GIB (1024ull * 1024 * 1024)

static const uint64_t default_limits[COOP_LIMIT_COUNT] = {
    [COOP_LIMIT_MEMORY] = 2 * GIB,
    [COOP_LIMIT_PIDS] = 512,
    [COOP_LIMIT_CPUS] = COOP_LIMIT_NONE,
    [COOP_LIMIT_CPU_SECONDS] = COOP_LIMIT_NONE,
    [COOP_LIMIT_FILE_SIZE] = COOP_LIMIT_NONE,
    [COOP_LIMIT_OPEN_FILES] = COOP_LIMIT_NONE,
    [COOP_LIMIT_TMP_SIZE] = GIB / 2,
};

/* What makes no sense below or above: a box of one page or of no process cannot run anything. */
static const struct {
    uint64_t min, max;
} limit_ranges[COOP_LIMIT_COUNT] = {
    [COOP_LIMIT_MEMORY] = { 4ull << 20, INT64_MAX },
    [COOP_LIMIT_PIDS] = { 1, 4194304 },
    [COOP_LIMIT_CPUS] = { 10, 1000000 },
    [COOP_LIMIT_CPU_SECONDS] = { 1, UINT32_MAX },
    [COOP_LIMIT_FILE_SIZE] = { 0, INT64_MAX },
    [COOP_LIMIT_OPEN_FILES] = { 4, 1u << 30 },
    [COOP_LIMIT_TMP_SIZE] = { 64u << 10, INT64_MAX },
};

void policy_set_default_limits(coop_policy *policy)
{
    memcpy(policy->limits, default_limits, sizeof policy->limits);
}

/* A limit as somebody would type it, and exactly: quantity.h reads it back. */
static const char *limit_text(coop_limit limit, uint64_t value, char out[32])
{
    static const char units[] = "kmgt";
    char unit[2] = "";

    if (limit == COOP_LIMIT_CPUS) { /* thousandths, no more of them than it takes */
        int n = snprintf(out, 32, "%llu.%03llu", (unsigned long long)(value / 1000),
                         (unsigned long long)(value % 1000));

        while (out[n - 1] == '0')
            out[--n] = '\0';
        if (out[n - 1] == '.')
            out[n - 1] = '\0';
        return out;
    }
    if (limit == COOP_LIMIT_MEMORY || limit == COOP_LIMIT_FILE_SIZE || limit == COOP_LIMIT_TMP_SIZE)
        for (size_t i = 0; units[i] && value > 0 && value % 1024 == 0; i++, value /= 1024)
            unit[0] = units[i];
    (void)snprintf(out, 32, "%llu%s", (unsigned long long)value, unit);
    return out;
}

int coop_policy_set_limit(coop_policy *policy, coop_limit limit, uint64_t value, coop_error **err)
{
    char given[32], min[32], max[32];

    if ((unsigned)limit >= COOP_LIMIT_COUNT)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "bad limit %d", (int)limit);
    if (value != COOP_LIMIT_NONE &&
        (value < limit_ranges[limit].min || value > limit_ranges[limit].max)) {
        bool is_open = limit_ranges[limit].max == INT64_MAX;

        return fail_kind(err, COOP_ERROR_BAD_POLICY, ERANGE, "bad %s '%s': expected %s%s%s%s",
                         policy_limit_names[limit], limit_text(limit, value, given),
                         is_open ? "at least " : "",
                         limit_text(limit, limit_ranges[limit].min, min), is_open ? "" : " to ",
                         is_open ? "" : limit_text(limit, limit_ranges[limit].max, max));
    }
    policy->limits[limit] = value;
    policy->set |= (unsigned)POLICY_SET_LIMIT << limit;
    return 0;
}
