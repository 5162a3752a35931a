/*
 * landlock.c - the same view once more, as Landlock rules
 *
 * Landlock follows a file's place upwards, across mounts, until a rule allows what is asked. So one
 * rule on the box's root lets everything in the view be read and executed, and one rule per
 * writable place adds the rest. A descriptor that leads out of the view meets no rule at all.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "plan/enforce.h"
#include "plan/plan.h"
#include "policy/network_mode.h"
#include "policy/path/path.h"
#include "policy/view/defaults.h"
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

/* A path of the host's that must still be what is behind `fd` when the rule is made. */
static int add_opened(struct plan *plan, const char *path, int fd, uint64_t allowed,
                      coop_error **err)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return fail(err, errno, "look at '%s'", path);
    add_rule(plan, path, allowed);
    struct plan_landlock_rule *rule = &plan->landlock.rules[plan->landlock.n_rules - 1];
    rule->dev = st.st_dev;
    rule->ino = st.st_ino;
    rule->is_opened = true;
    return 0;
}

/* Writable places that the steps of `from` make. */
static void rules_from_steps(struct plan *plan, const struct plan *from)
{
    for (size_t i = 0; i < from->n_steps; i++) {
        const struct step *step = &from->steps[i];

        if (step_rows[step->kind].traits & TRAIT_WRITABLE &&
            !(step->flags & (STEP_READ_ONLY | STEP_DEVICE)))
            add_rule(plan, plan_text(plan, "/%s", step->target), plan->landlock.fs);
    }
}

static const char *const writable_devices[] = { "/dev/null",   "/dev/zero",    "/dev/full",
                                                "/dev/random", "/dev/urandom", "/dev/tty",
                                                "/dev/pts",    "/dev/ptmx" };

/* Without a mount namespace the rules are all there is: the host's tools, and what is writable. */
static int rules_on_host(struct plan *plan, coop_error **err)
{
    static const char *const readable[] = { "/usr",   "/bin", "/sbin", "/lib",
                                            "/lib64", "/etc", "/proc", "/nix/store" };
    const coop_policy *policy = plan->policy;

    /* A view of a front end's own has what its rows say; here these can only be devices. */
    for (const struct view_default *row = policy->view; row && row->path; row++)
        if (row->origin == VIEW_DEVICE)
            add_rule(plan, row->path, READ_RIGHTS | FILE_RIGHTS);
    for (size_t i = 0; !policy->view && i < COUNT(readable); i++)
        add_rule(plan, readable[i], READ_RIGHTS);
    for (size_t i = 0; !policy->view && i < COUNT(writable_devices); i++)
        add_rule(plan, writable_devices[i], READ_RIGHTS | FILE_RIGHTS);
    int r = add_opened(plan, plan->shown.source, plan->shown.fd,
                       policy->read_only ? READ_RIGHTS : plan->landlock.fs, err);
    for (size_t i = 0; r == 0 && i < policy->n_mounts; i++) {
        const struct policy_mount *mount = &policy->mounts[i];

        if (mount->kind != POLICY_BIND)
            continue;
        int fd = plan_source(plan, i, err);
        r = fd < 0 ? fd
                   : add_opened(plan, mount->source, fd,
                                mount->read_only ? READ_RIGHTS : plan->landlock.fs, err);
    }
    return r;
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

/* Rights flow down, and nothing is mounted over anything: what lies in a shown directory is seen. */
static int refuse_secrets(const struct plan *plan, coop_error **err)
{
    for (size_t i = 0; i < plan->policy->n_mounts; i++) {
        const struct policy_mount *mount = &plan->policy->mounts[i];

        if (!mount->is_secret)
            continue;
        int r = fail_kind(err, COOP_ERROR_NOT_AVAILABLE, ENOTSUP,
                          "'%s' would be seen, and without namespaces nothing can hide it",
                          mount->target);
        return fail_hint(err, r, "show a smaller directory");
    }
    return 0;
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
    if (host->landlock_abi >= 4 && (!network_mode(plan->policy)->has_sockets ||
                                    (network_mode(plan->policy)->has_namespace && !has_namespaces)))
        landlock->net = LANDLOCK_TCP_BIND | LANDLOCK_TCP_CONNECT;
    if (host->landlock_abi >= 6)
        landlock->scoped = LANDLOCK_SCOPE_ABSTRACT | LANDLOCK_SCOPE_SIGNAL;
    landlock->attr_size = host->landlock_abi >= 6 ? 24 : host->landlock_abi >= 4 ? 16 : 8;
    landlock->rules = plan_memory(plan, most * sizeof *landlock->rules);
    if (!landlock->rules)
        return fail_no_memory(err);
    if (!has_namespaces) {
        int r = refuse_secrets(plan, err);

        if (r == 0)
            r = rules_on_host(plan, err);
        if (r == 0)
            rules_of_programs(plan);
        return r;
    }
    /* A project that is the root gets new entries while the box runs, and a layer no new rules. What
     * is not the project's is read-only by its mounts, and the backstop lets nothing there be written. */
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

#define BACKSTOP_RIGHTS                                                                  \
    (LANDLOCK_WRITE_FILE | LANDLOCK_MAKE_CHAR | LANDLOCK_MAKE_DIR | LANDLOCK_MAKE_REG |  \
     LANDLOCK_MAKE_FIFO | LANDLOCK_MAKE_SOCK | LANDLOCK_MAKE_BLOCK | LANDLOCK_MAKE_SYM | \
     LANDLOCK_REFER | LANDLOCK_TRUNCATE)

/*
 * Rights flow down: neither a place inside a protected root nor one that contains it gets any. Where
 * the root is "/", its entries have no rules of their own, and everything that has one is another's.
 */
static bool touches_root(const struct plan *plan, const char *path)
{
    for (size_t i = 0; i < plan->n_write_roots; i++) {
        const char *root = plan->write_roots[i].path;

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
 * left to the kernel: it is notify's too, which has nothing against anything there.
 */
static void take_in_surroundings(struct plan *plan, uint64_t rights)
{
    size_t n = plan->n_write_roots;

    for (size_t i = 0; i < plan->landlock.n_rules; i++) {
        const struct plan_landlock_rule *rule = &plan->landlock.rules[i];

        /* Devices are for the kernel to open. */
        if (!(rule->allowed & rights & ~LANDLOCK_WRITE_FILE & ~LANDLOCK_TRUNCATE) || !rule->path[1])
            continue;
        for (size_t k = 0; k < n; k++)
            if (strcmp(plan->write_roots[k].path, rule->path) != 0 &&
                path_is_within(plan->write_roots[k].path, rule->path)) {
                plan_write_root(plan, rule->path, -1);
                break;
            }
    }
}

/* With the workspace in /dev/shm, /dev has no rule: then each device has one. */
static void add_devices(struct plan_landlock *backstop)
{
    for (size_t i = 0; i < COUNT(writable_devices); i++)
        add_to(backstop, writable_devices[i], FILE_RIGHTS);
}

int plan_backstop(struct plan *plan, const struct host *host, const struct plan_request *request,
                  coop_error **err)
{
    struct plan_landlock *backstop = &plan->backstop;

    (void)request;
    if (plan->n_write_rules == 0)
        return 0;
    backstop->fs = BACKSTOP_RIGHTS & fs_rights(host->landlock_abi);
    backstop->attr_size = plan->landlock.attr_size;
    size_t most = plan->landlock.n_rules + 1 + COUNT(writable_devices);
    backstop->rules = plan_memory(plan, most * sizeof *backstop->rules);
    if (!backstop->rules)
        return fail_no_memory(err);
    add_to(backstop, "/", LANDLOCK_REFER);
    take_in_surroundings(plan, backstop->fs);
    for (size_t i = 0; i < plan->landlock.n_rules; i++) {
        const struct plan_landlock_rule *rule = &plan->landlock.rules[i];

        if (rule->allowed & backstop->fs && !touches_root(plan, rule->path))
            add_to(backstop, rule->path, rule->allowed);
        else if (strcmp(rule->path, "/dev") == 0)
            add_devices(backstop);
    }
    plan_add(plan, STEP_BACKSTOP, PHASE_COMMAND);
    return 0;
}
