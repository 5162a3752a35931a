/*
 * limits.c - which limit is held by what
 *
 * A cgroup counts everything in the box together. Without one, limits of each process stand in, and
 * the supervisor samples memory. Never RLIMIT_AS: node, the JVM and Go reserve far more address
 * space than they use.
 */
#include <sys/resource.h>

#include "plan/plan.h"

static void add_limit(struct plan *plan, int resource, uint64_t soft, uint64_t hard,
                      const char *name)
{
    enum step_stage stage = resource == RLIMIT_NOFILE ? STAGE_COMMAND : STAGE_EARLY;
    struct step *step = plan_add(plan, STEP_LIMIT, stage);

    step->fd = resource;
    step->value = soft;
    step->value2 = hard;
    step->target = name;
}

static void limit_memory(struct plan *plan, const struct plan_request *request)
{
    uint64_t limit = plan->policy->limits[COOP_LIMIT_MEMORY];

    if (limit == COOP_LIMIT_NONE)
        return;
    if (request->cgroup_memory) {
        plan->enforced.limits[COOP_LIMIT_MEMORY] = request->cgroup_kind;
        return;
    }
    plan->watch_memory = plan->tier >= COOP_TIER_NAMESPACES;
    /* Where the supervisor samples, it shall see and tell; the limit then is for what is too quick
     * to be seen. */
    uint64_t each = plan->watch_memory && limit < UINT64_MAX / 4 ? 4 * limit : limit;
    add_limit(plan, RLIMIT_DATA, each, each, "data");
    plan->enforced.limits[COOP_LIMIT_MEMORY] =
        plan->watch_memory ? "sampled by the supervisor + RLIMIT_DATA of each process"
                           : "RLIMIT_DATA of each process";
}

static void limit_pids(struct plan *plan, const struct host *host,
                       const struct plan_request *request)
{
    uint64_t limit = plan->policy->limits[COOP_LIMIT_PIDS];

    if (limit == COOP_LIMIT_NONE)
        return;
    if (request->cgroup_pids) {
        plan->enforced.limits[COOP_LIMIT_PIDS] = request->cgroup_kind;
        return;
    }
    /* Older kernels would count all processes of the caller's user, the host's too. */
    if (!host->nproc_by_namespace || plan->tier < COOP_TIER_NAMESPACES)
        return;
    add_limit(plan, RLIMIT_NPROC, limit, limit, "processes");
    plan->enforced.limits[COOP_LIMIT_PIDS] = "RLIMIT_NPROC in the user namespace";
}

void plan_limits(struct plan *plan, const struct host *host, const struct plan_request *request)
{
    const uint64_t *limits = plan->policy->limits;
    const char **enforced = plan->enforced.limits;

    if (plan->tier == COOP_TIER_NONE)
        return;
    limit_memory(plan, request);
    limit_pids(plan, host, request);
    if (limits[COOP_LIMIT_CPUS] != COOP_LIMIT_NONE && request->cgroup_cpu)
        enforced[COOP_LIMIT_CPUS] = request->cgroup_kind;
    if (limits[COOP_LIMIT_CPU_SECONDS] != COOP_LIMIT_NONE) {
        add_limit(plan, RLIMIT_CPU, limits[COOP_LIMIT_CPU_SECONDS],
                  limits[COOP_LIMIT_CPU_SECONDS] + 1, "CPU seconds");
        enforced[COOP_LIMIT_CPU_SECONDS] = "RLIMIT_CPU";
    }
    if (limits[COOP_LIMIT_FILE_SIZE] != COOP_LIMIT_NONE) {
        add_limit(plan, RLIMIT_FSIZE, limits[COOP_LIMIT_FILE_SIZE], limits[COOP_LIMIT_FILE_SIZE],
                  "file size");
        enforced[COOP_LIMIT_FILE_SIZE] = "RLIMIT_FSIZE";
    }
    if (limits[COOP_LIMIT_OPEN_FILES] != COOP_LIMIT_NONE)
        enforced[COOP_LIMIT_OPEN_FILES] = "RLIMIT_NOFILE";
    if (limits[COOP_LIMIT_TMP_SIZE] != COOP_LIMIT_NONE && plan->tier >= COOP_TIER_NAMESPACES)
        enforced[COOP_LIMIT_TMP_SIZE] = "tmpfs size";
    /* One byte, not zero: zero would still hand the core to a program that the host names in
     * core_pattern, which runs outside the box. */
    add_limit(plan, RLIMIT_CORE, 1, 1, "core size");
}

/* The other last steps need descriptors themselves. */
void plan_last_limits(struct plan *plan)
{
    uint64_t limit = plan->policy->limits[COOP_LIMIT_OPEN_FILES];

    if (limit != COOP_LIMIT_NONE)
        add_limit(plan, RLIMIT_NOFILE, limit, limit, "open files");
}
