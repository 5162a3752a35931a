/*
 * limits.c - which limit is held by what
 *
 * A cgroup counts everything in the box together. Without one, limits of each process stand in, and
 * the supervisor samples memory. Never RLIMIT_AS: node, the JVM and Go reserve far more address
 * space than they use.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "plan/plan.h"

static void add_limit(struct plan *plan, int resource, uint64_t soft, uint64_t hard,
                      const char *name)
{
    enum step_phase phase = resource == RLIMIT_NOFILE ? PHASE_COMMAND : PHASE_EARLY;
    struct step *step = plan_add(plan, STEP_LIMIT, phase);

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
        plan->watch_memory
            ? "sampled by the supervisor + RLIMIT_DATA of each process; not counted: "
              "buffers of sockets and pipes, shared memory that nobody has in use"
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
    plan->counts_pids = true;
    plan->enforced.limits[COOP_LIMIT_PIDS] = "RLIMIT_NPROC in the user namespace";
}

/* 0: not known. */
static uint64_t read_number(const char *path)
{
    char text[32] = "";
    auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || read(fd, text, sizeof text - 1) <= 0)
        return 0;
    return strtoull(text, NULL, 10);
}

/* Half of what the user has, for his other programs are to go on, and the supervisor watches too. */
void plan_watches(struct plan *plan)
{
    uint64_t instances = read_number("/proc/sys/user/max_inotify_instances");
    uint64_t watches = read_number("/proc/sys/user/max_inotify_watches");

    if (instances < 2 || watches < 2)
        return;
    struct step *step = plan_add(plan, STEP_WATCHES, PHASE_BOX);
    step->value = instances / 2;
    step->value2 = watches / 2;
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
    /* These two the kernel counts for the user, in the box's user namespace and outside: a box must not
     * take all. */
    add_limit(plan, RLIMIT_SIGPENDING, 4096, 4096, "pending signals");
    add_limit(plan, RLIMIT_MSGQUEUE, 400 << 10, 400 << 10, "message queues");
    /* One byte, not zero: zero would still hand the core to a program that the host names in
     * core_pattern, which runs outside the box. */
    add_limit(plan, RLIMIT_CORE, 1, 1, "core size");
}

/* The other last steps need descriptors themselves. */
void plan_last_limits(struct plan *plan)
{
    const coop_policy *policy = plan->policy;
    uint64_t limit = policy->limits[COOP_LIMIT_OPEN_FILES];
    /* A higher soft limit than usual harms programs that use select(); others raise it themselves. */
    bool is_asked_for = policy_is_set(policy, SETTING_SANDBOX_OPEN_FILES);

    if (limit != COOP_LIMIT_NONE)
        add_limit(plan, RLIMIT_NOFILE, is_asked_for ? limit : PLAN_SOFT_OF_CALLER, limit,
                  "open files");
}

bool plan_limit_fell_back(const struct plan *plan, coop_limit limit)
{
    static const char cgroup[] = "cgroup ";
    const char *by = plan->enforced.limits[limit];

    return (limit == COOP_LIMIT_MEMORY || limit == COOP_LIMIT_PIDS || limit == COOP_LIMIT_CPUS) &&
           by && strncmp(by, cgroup, sizeof cgroup - 1) != 0;
}
