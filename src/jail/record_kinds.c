#include "record_kinds.h"

#include "base/cleanup.h"
#include "jail/box.h"

/* Why not, or NULL: it is watched. */
typedef const char *why_not(const struct coop_box *box);

static const char *never(const struct coop_box *box)
{
    (void)box;
    return NULL;
}

/* Only there is an init that is asked. */
static const char *by_init(const struct coop_box *box)
{
    return box->plan.tier < COOP_TIER_NAMESPACES
               ? "nobody is asked at this tier: the kernel refuses by itself"
               : NULL;
}

static const char *by_filter(const struct coop_box *box)
{
    return by_init(box)                            ? by_init(box)
           : box->plan.watch == PLAN_WATCH_NOTHING ? "not with --explain=none"
                                                   : NULL;
}

/* With --explain, or where the policy asks for it. */
static bool watches(const struct coop_box *box)
{
    return box->plan.watch == PLAN_WATCH_WRITES || box->plan.watch == PLAN_WATCH_LOOKUPS;
}

static const char *by_connect(const struct coop_box *box)
{
    if (by_init(box))
        return by_init(box);
    return box->plan.policy->host_sockets && box->plan.policy->network != COOP_NETWORK_HOST
               ? "with allow_sockets nobody looks at connect(2)"
               : NULL;
}

static const char *by_bind(const struct coop_box *box)
{
    if (by_init(box))
        return by_init(box);
    return box->plan.n_never == 0 && !watches(box)
               ? "only with --explain, or where names are protected"
               : NULL;
}

static const char *by_sendto(const struct coop_box *box)
{
    if (by_init(box))
        return by_init(box);
    return watches(box) ? NULL : "only with --explain";
}

static const char *by_names(const struct coop_box *box)
{
    if (by_init(box))
        return by_init(box);
    if (box->plan.policy->network == COOP_NETWORK_NAT)
        return "the network 'nat' refuses no names";
    return box->plan.policy->network == COOP_NETWORK_OFF ? "without a network nothing is asked"
                                                         : NULL;
}

static const char *by_writes(const struct coop_box *box)
{
    if (by_init(box))
        return by_init(box);
    return box->plan.watch == PLAN_WATCH_NOTHING ? "not with --explain=none"
           : box->plan.watch == PLAN_WATCH_REFUSED
               ? "only with --explain: nothing is read-only here that the caller could write "
                 "outside"
               : NULL;
}

static const char *by_lookups(const struct coop_box *box)
{
    if (by_init(box))
        return by_init(box);
    return box->plan.watch != PLAN_WATCH_LOOKUPS
               ? "only with --explain=all, which makes every look at a path slower"
               : NULL;
}

static const char *by_cgroup_memory(const struct coop_box *box)
{
    const coop_policy *policy = box->plan.policy;

    return policy->limits[COOP_LIMIT_MEMORY] == COOP_LIMIT_NONE || box->plan.watch_memory ||
                   (box->cgroup.is_made && box->cgroup.has[CGROUP_MEMORY])
               ? NULL
               : "no cgroup counts it: a process is refused memory by a limit of its own";
}

static const char *by_cgroup_pids(const struct coop_box *box)
{
    return box->plan.policy->limits[COOP_LIMIT_PIDS] == COOP_LIMIT_NONE ||
                   (box->cgroup.is_made && box->cgroup.has[CGROUP_PIDS])
               ? NULL
               : "no cgroup counts it";
}

static const char *by_tmp(const struct coop_box *box)
{
    return box->plan.policy->limits[COOP_LIMIT_TMP_SIZE] == COOP_LIMIT_NONE ? NULL : by_init(box);
}

static const char *by_descriptors(const struct coop_box *box)
{
    return box->plan.policy->limits[COOP_LIMIT_OPEN_FILES] == COOP_LIMIT_NONE ? NULL
                                                                              : by_lookups(box);
}

static const struct {
    const char *name;
    why_not *why_not;
    const char *only; /* what of it is seen, where that is not all */
} kinds[RECORD_KINDS] = {
    { "syscall", by_filter, "not those that are answered with ENOSYS" },
    { "socket", by_filter, NULL },
    { "connect", by_connect, NULL },
    { "unix-connect", by_connect, NULL },
    { "datagram", by_sendto, "sendto(2), not sendmsg(2)" },
    { "bind", by_bind, NULL },
    { "dns", by_names, NULL },
    { "protected", by_init, "writing, making and moving; reading is of the kind 'hidden'" },
    { "read-only", by_writes, NULL },
    { "exec", by_writes, NULL },
    { "hidden", by_lookups, "not what every program looks for at its start" },
    { "memory", by_cgroup_memory, NULL },
    { "pids", by_cgroup_pids, NULL },
    { "time", never, NULL },
    { "cpu", never, "of the command itself, not of what it starts" },
    { "file-size", never, "of the command itself, not of what it starts" },
    { "tmp-size", by_tmp, "whether it was full at the end" },
    { "open-files", by_descriptors, NULL },
};

void record_kinds(const struct coop_box *box, coop_watched out[RECORD_KINDS])
{
    for (size_t i = 0; i < COUNT(kinds); i++) {
        const char *why = kinds[i].why_not(box);

        out[i] = (coop_watched){ kinds[i].name, why == NULL, why ? why : kinds[i].only };
    }
}
