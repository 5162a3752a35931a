/*
 * landlock.c - the same view once more, as Landlock rules
 *
 * Landlock follows a file's place upwards, across mounts, until a rule allows what is asked. So one
 * rule on the box's root lets everything in the view be read and executed, and one rule per
 * writable place adds the rest. A descriptor that leads out of the view meets no rule at all.
 */
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "plan/enforce.h"
#include "plan/kernel_files.h"
#include "plan/plan.h"
#include "policy/path.h"
#include "sys/kernel.h"

#define READ_RIGHTS (LANDLOCK_EXECUTE | LANDLOCK_READ_FILE | LANDLOCK_READ_DIR)
#define FILE_RIGHTS                                                                    \
    (LANDLOCK_EXECUTE | LANDLOCK_WRITE_FILE | LANDLOCK_READ_FILE | LANDLOCK_TRUNCATE | \
     LANDLOCK_IOCTL_DEV)

static uint64_t fs_rights(int abi)
{
    uint64_t rights = LANDLOCK_ALL_ABI1;

    if (abi >= 2)
        rights |= LANDLOCK_REFER;
    if (abi >= 3)
        rights |= LANDLOCK_TRUNCATE;
    if (abi >= 5)
        rights |= LANDLOCK_IOCTL_DEV;
    return rights;
}

static void add_to(struct plan_landlock *layer, const char *path, uint64_t allowed)
{
    struct plan_landlock_rule *rule = &layer->rules[layer->n_rules++];

    rule->path = path;
    rule->allowed = allowed & layer->fs;
}

static void add_rule(struct plan *plan, const char *path, uint64_t allowed)
{
    add_to(&plan->landlock, path, allowed);
}

/* Writable places that the steps of `from` make. */
static void rules_from_steps(struct plan *plan, const struct plan *from)
{
    for (size_t i = 0; i < from->n_steps; i++) {
        const struct step *step = &from->steps[i];
        bool writable = step->kind == STEP_PRIVATE || step->kind == STEP_TMPFS ||
                        (step->kind == STEP_BIND && !(step->flags & STEP_DEVICE));

        if (writable && !(step->flags & STEP_READ_ONLY))
            add_rule(plan, plan_text(plan, "/%s", step->target), plan->landlock.fs);
    }
}

static const char *const writable_devices[] = { "/dev/null",   "/dev/zero",    "/dev/full",
                                                "/dev/random", "/dev/urandom", "/dev/tty",
                                                "/dev/pts",    "/dev/ptmx" };

/* Without a mount namespace the rules are all there is: the host's tools, and what is writable. */
static void rules_on_host(struct plan *plan)
{
    static const char *const readable[] = { "/usr",   "/bin", "/sbin", "/lib",
                                            "/lib64", "/etc", "/proc", "/nix/store" };
    const coop_policy *policy = plan->policy;

    for (size_t i = 0; i < COUNT(readable); i++)
        add_rule(plan, readable[i], READ_RIGHTS);
    for (size_t i = 0; i < COUNT(writable_devices); i++)
        add_rule(plan, writable_devices[i], READ_RIGHTS | FILE_RIGHTS);
    /* By its descriptor: the name of a part of the workspace could mean something else by then. */
    add_rule(plan,
             *plan->shown.below ? plan_text(plan, "/proc/self/fd/%d", plan->shown.fd)
                                : plan->workspace,
             policy->read_only ? READ_RIGHTS : plan->landlock.fs);
    for (size_t i = 0; i < policy->n_mounts; i++)
        if (policy->mounts[i].kind == POLICY_BIND)
            add_rule(plan, policy->mounts[i].source,
                     policy->mounts[i].read_only ? READ_RIGHTS : plan->landlock.fs);
}

/* Then a right to execute is one file's, or that of a directory that belongs to a program. */
static void rules_of_programs(struct plan *plan)
{
    const struct plan_enforce *enforce = plan->enforce;
    bool has_namespaces = plan->tier >= COOP_TIER_NAMESPACES;

    if (!enforce)
        return;
    for (size_t i = 0; i < plan->landlock.n_rules; i++)
        plan->landlock.rules[i].allowed &= ~LANDLOCK_EXECUTE;
    for (size_t i = 0; i < enforce->n; i++)
        if (enforce->entries[i].is_program)
            add_rule(plan, has_namespaces ? enforce->entries[i].target : enforce->entries[i].source,
                     LANDLOCK_EXECUTE);
}

int plan_landlock(struct plan *plan, const struct host *host, const struct plan_request *request,
                  coop_error **err)
{
    struct plan_landlock *landlock = &plan->landlock;
    bool has_namespaces = plan->tier >= COOP_TIER_NAMESPACES;
    size_t most = plan->n_steps + plan->policy->n_mounts + 32 +
                  (request->template ? request->template->n_steps : 0) +
                  (plan->enforce ? plan->enforce->n : 0);

    landlock->fs = fs_rights(host->landlock_abi);
    if (host->landlock_abi >= 4 &&
        (plan->policy->network == COOP_NETWORK_OFF ||
         (plan->policy->network != COOP_NETWORK_HOST && !has_namespaces)))
        landlock->net = LANDLOCK_TCP_BIND | LANDLOCK_TCP_CONNECT;
    if (host->landlock_abi >= 6)
        landlock->scoped = LANDLOCK_SCOPE_ABSTRACT | LANDLOCK_SCOPE_SIGNAL;
    landlock->attr_size = host->landlock_abi >= 6 ? 24 : host->landlock_abi >= 4 ? 16 : 8;
    landlock->rules = plan_memory(plan, most * sizeof *landlock->rules);
    if (!landlock->rules)
        return fail_no_memory(err);
    if (!has_namespaces) {
        int r = kernel_files_refuse_sources(plan, err);

        if (r < 0)
            return r;
        rules_on_host(plan);
        rules_of_programs(plan);
        return 0;
    }
    /* A project that is the root gets new entries while the box runs, and a layer no new rules. What
     * is not the project's is read-only by its mounts, and the wall lets nothing there be written. */
    add_rule(plan, "/",
             plan->is_root_view && !plan->policy->read_only ? landlock->fs & ~LANDLOCK_IOCTL_DEV
                                                            : READ_RIGHTS);
    add_rule(plan, "/dev", READ_RIGHTS | FILE_RIGHTS);
    rules_from_steps(plan, plan);
    if (request->template)
        rules_from_steps(plan, request->template);
    rules_of_programs(plan);
    return 0;
}

#define WALL_RIGHTS                                                                      \
    (LANDLOCK_WRITE_FILE | LANDLOCK_MAKE_CHAR | LANDLOCK_MAKE_DIR | LANDLOCK_MAKE_REG |  \
     LANDLOCK_MAKE_FIFO | LANDLOCK_MAKE_SOCK | LANDLOCK_MAKE_BLOCK | LANDLOCK_MAKE_SYM | \
     LANDLOCK_REFER | LANDLOCK_TRUNCATE)

/*
 * Rights flow down: neither a place inside a protected root nor one that contains it gets any. Where
 * the root is "/", its entries have no rules of their own, and everything that has one is another's.
 */
static bool touches_root(const struct plan *plan, const char *path)
{
    for (size_t i = 0; i < plan->n_never_roots; i++) {
        const char *root = plan->never_roots[i].path;

        if (root[1] ? path_is_within(path, root) || path_is_within(root, path) : !path[1])
            return true;
    }
    for (size_t i = 0; i < plan->n_aliases; i++)
        if (path_is_within(path, plan->aliases[i].target) ||
            path_is_within(plan->aliases[i].target, path))
            return true;
    return false;
}

/*
 * Where the workspace is shown below a place that can be written, as in /tmp, that place cannot be
 * left to the kernel: it is the door's too, which has nothing against anything there.
 */
static void take_in_surroundings(struct plan *plan, uint64_t rights)
{
    size_t n = plan->n_never_roots;

    for (size_t i = 0; i < plan->landlock.n_rules; i++) {
        const struct plan_landlock_rule *rule = &plan->landlock.rules[i];

        /* Devices are for the kernel to open. */
        if (!(rule->allowed & rights & ~LANDLOCK_WRITE_FILE & ~LANDLOCK_TRUNCATE) || !rule->path[1])
            continue;
        for (size_t k = 0; k < n; k++)
            if (strcmp(plan->never_roots[k].path, rule->path) != 0 &&
                path_is_within(plan->never_roots[k].path, rule->path)) {
                plan_never_root(plan, rule->path, -1);
                break;
            }
    }
}

/* With the workspace in /dev/shm, /dev has no rule: then each device has one. */
static void add_devices(struct plan_landlock *wall)
{
    for (size_t i = 0; i < COUNT(writable_devices); i++)
        add_to(wall, writable_devices[i], FILE_RIGHTS);
}

int plan_wall(struct plan *plan, const struct host *host, const struct plan_request *request,
              coop_error **err)
{
    struct plan_landlock *wall = &plan->wall;

    (void)request;
    if (plan->n_never == 0)
        return 0;
    wall->fs = WALL_RIGHTS & fs_rights(host->landlock_abi);
    wall->attr_size = plan->landlock.attr_size;
    size_t most = plan->landlock.n_rules + 1 + COUNT(writable_devices);
    wall->rules = plan_memory(plan, most * sizeof *wall->rules);
    if (!wall->rules)
        return fail_no_memory(err);
    add_to(wall, "/", LANDLOCK_REFER);
    take_in_surroundings(plan, wall->fs);
    for (size_t i = 0; i < plan->landlock.n_rules; i++) {
        const struct plan_landlock_rule *rule = &plan->landlock.rules[i];

        if (rule->allowed & wall->fs && !touches_root(plan, rule->path))
            add_to(wall, rule->path, rule->allowed);
        else if (strcmp(rule->path, "/dev") == 0)
            add_devices(wall);
    }
    plan_add(plan, STEP_WALL, STAGE_COMMAND);
    return 0;
}
