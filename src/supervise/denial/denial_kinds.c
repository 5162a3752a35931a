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

static const char *by_traps(const struct coop_box *box)
{
    if (by_init(box) || box->traps || box->watches_places || box->plan.watch == PLAN_WATCH_LOOKUPS)
        return by_init(box);
    if (box->options.explain != COOP_EXPLAIN_WRITES && box->options.explain != COOP_EXPLAIN_HIDDEN)
        return "only with --explain, or with --explain=all, which makes every look at a path "
               "slower";
    return box->plan.is_root_view
               ? "only with --explain=all: the workspace is the root"
               : "only with --explain=all: /dev/fuse is not there, or may not be used";
}

/* What of it is seen, where that is not all. */
static const char *seen_of_hidden(const struct coop_box *box)
{
    if (box->plan.watch == PLAN_WATCH_LOOKUPS)
        return "not what every program looks for at its start";
    if (box->watches_places && box->watches_tmp)
        return "below directories of the root that the box does not have, and in those that it "
               "makes to hold others, /etc, /etc/ssl and /var among them; in /tmp the first look "
               "for "
               "each name; not what every program looks for at its start; in /run, in /dev, and "
               "files of the root only with --explain=all";
    return box->watches_places
               ? "below directories of the root that the box does not have, and in those that it "
                 "makes to hold others, /etc, /etc/ssl and /var among them; not what every program "
                 "looks for at its start; in places where the box can make names itself, as /tmp "
                 "and /run, in /dev, and files of the root only with --explain=all"
               : "below directories of the root that the box does not have; elsewhere only with "
                 "--explain=all: the policy shows too many names";
}

static const char *seen_of_protected(const struct coop_box *box)
{
    if (box->plan.watch == PLAN_WATCH_LOOKUPS)
        return "writing, making and moving; reading is of the kind 'hidden'";
    if (box->masks == BOX_MASKS_SOME)
        return "reading only of the first that were hidden at the start: there are too many";
    if (box->masks == BOX_MASKS_ALL)
        return box->plan.is_root_view
                   ? "reading only of what was hidden at the start, below the workspace's top level"
                   : "reading only of what was hidden at the start";
    return box->options.explain == COOP_EXPLAIN_WRITES ||
                   box->options.explain == COOP_EXPLAIN_HIDDEN
               ? "writing, making and moving; reading only with --explain=all: /dev/fuse is not "
                 "there, or may not be used"
               : "writing, making and moving; reading only with --explain";
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

static const char *seen_of_datagrams(const struct coop_box *box)
{
    return box->plan.watch == PLAN_WATCH_LOOKUPS ? NULL
                                                 : "sendto(2); sendmsg(2) only with --explain=all";
}

static const char *seen_of_children(const struct coop_box *box)
{
    return watches(box) && !by_init(box)
               ? "where it ended the command or a program that it executed (from Linux 6.15 on)"
               : "where it ended the command itself; with --explain also what it executes";
}

static const char *seen_of_tmp(const struct coop_box *box)
{
    return watches(box) ? "whether it was full at the end, or when a name was removed or a file cut"
                        : "whether it was full at the end; with --explain also in between";
}

static const struct {
    const char *name;
    why_not *why_not;
    const char *only;                                /* what of it is seen, where that is not all */
    const char *(*seen)(const struct coop_box *box); /* the same, where it depends */
} kinds[RECORD_KINDS] = {
    { "syscall", by_filter, "not those that are answered with ENOSYS", NULL },
    { "socket", by_filter, NULL, NULL },
    { "connect", by_connect, NULL, NULL },
    { "unix-connect", by_connect, NULL, NULL },
    { "datagram", by_sendto, NULL, seen_of_datagrams },
    { "bind", by_bind, NULL, NULL },
    { "dns", by_names, NULL, NULL },
    { "protected", by_init, NULL, seen_of_protected },
    { "read-only", by_writes, NULL, NULL },
    { "exec", by_writes, NULL, NULL },
    { "hidden", by_traps, NULL, seen_of_hidden },
    { "memory", by_cgroup_memory, NULL, NULL },
    { "pids", by_cgroup_pids, NULL, NULL },
    { "time", never, NULL, NULL },
    { "cpu", never, NULL, seen_of_children },
    { "file-size", never, NULL, seen_of_children },
    { "tmp-size", by_tmp, NULL, seen_of_tmp },
    { "open-files", by_descriptors, NULL, NULL },
};

void record_kinds(const struct coop_box *box, coop_watched out[RECORD_KINDS])
{
    for (size_t i = 0; i < COUNT(kinds); i++) {
        const char *why = kinds[i].why_not(box);

        const char *only = kinds[i].seen ? kinds[i].seen(box) : kinds[i].only;

        out[i] = (coop_watched){ kinds[i].name, why == NULL, why ? why : only };
    }
}
