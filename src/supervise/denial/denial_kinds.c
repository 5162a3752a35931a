#include "denial_kinds.h"

#include "base/cleanup.h"
#include "policy/network_mode.h"
#include "supervise/box.h"

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
               ? "not watched at this tier: the kernel refuses by itself"
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
    return box->plan.policy->host_sockets && network_mode(box->plan.policy)->has_namespace
               ? "connect(2) is not watched with allow_sockets"
               : NULL;
}

static const char *by_bind(const struct coop_box *box)
{
    if (by_init(box))
        return by_init(box);
    return box->plan.n_write_rules == 0 && !watches(box)
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
    return network_mode(box->plan.policy)->no_names;
}

static const char *by_writes(const struct coop_box *box)
{
    if (by_init(box))
        return by_init(box);
    return box->plan.watch == PLAN_WATCH_NOTHING   ? "not with --explain=none"
           : box->plan.watch == PLAN_WATCH_REFUSED ? "only with --explain: nothing here is "
                                                     "read-only that the caller could write outside"
                                                   : NULL;
}

static const char *by_lookups(const struct coop_box *box)
{
    if (by_init(box))
        return by_init(box);
    return box->plan.watch != PLAN_WATCH_LOOKUPS
               ? "only with --explain=all, which slows down every path lookup"
               : NULL;
}

static const char *by_watchfs(const struct coop_box *box)
{
    if (by_init(box) || box->watchfs || box->watches_places ||
        box->plan.watch == PLAN_WATCH_LOOKUPS)
        return by_init(box);
    if (box->options.explain != COOP_EXPLAIN_WRITES && box->options.explain != COOP_EXPLAIN_HIDDEN)
        return "only with --explain, or with --explain=all, which slows down every path lookup";
    return box->plan.is_root_view ? "only with --explain=all: the workspace is the root"
                                  : "only with --explain=all: /dev/fuse is missing or not usable";
}

/* What of it is seen, where that is not all. */
static const char *seen_of_hidden(const struct coop_box *box)
{
    if (box->plan.watch == PLAN_WATCH_LOOKUPS)
        return "except what every program looks for at startup";
    if (box->watches_places && box->watches_tmp)
        return "below directories of the root that the box does not have, and in those that it "
               "creates to hold others, including /etc, /etc/ssl and /var; in /tmp the first "
               "lookup of each name; except what every program looks for at startup; in /run, in "
               "/dev, and "
               "files of the root only with --explain=all";
    return box->watches_places
               ? "below directories of the root that the box does not have, and in those that it "
                 "creates to hold others, including /etc, /etc/ssl and /var; except what every "
                 "program looks for at startup; where the box can create names itself, such as "
                 "/tmp and /run, in /dev, and for files of the root only with --explain=all"
               : "below directories of the root that the box does not have; elsewhere only with "
                 "--explain=all: the policy shows too many names";
}

static const char *seen_of_protected(const struct coop_box *box)
{
    if (box->plan.watch == PLAN_WATCH_LOOKUPS)
        return "writing, creating and moving; reading is of the kind 'hidden'";
    if (box->masks == BOX_MASKS_SOME)
        return "reading only for the first files hidden at the start: there are too many";
    if (box->masks == BOX_MASKS_ALL)
        return box->plan.is_root_view
                   ? "reading only for files hidden at the start, below the workspace's top level"
                   : "reading only for files hidden at the start";
    return box->options.explain == COOP_EXPLAIN_WRITES ||
                   box->options.explain == COOP_EXPLAIN_HIDDEN
               ? "writing, creating and moving; reading only with --explain=all: /dev/fuse is "
                 "missing or not usable"
               : "writing, creating and moving; reading only with --explain";
}

static const char *by_cgroup_memory(const struct coop_box *box)
{
    const coop_policy *policy = box->plan.policy;

    return policy->limits[COOP_LIMIT_MEMORY] == COOP_LIMIT_NONE || box->plan.watch_memory ||
                   (box->cgroup.is_made && box->cgroup.has[CGROUP_MEMORY])
               ? NULL
               : "no cgroup counts it: each process has its own memory limit";
}

static const char *by_cgroup_pids(const struct coop_box *box)
{
    return box->plan.policy->limits[COOP_LIMIT_PIDS] == COOP_LIMIT_NONE ||
                   (box->cgroup.is_made && box->cgroup.has[CGROUP_PIDS])
               ? NULL
           : box->plan.counts_pids
               ? "no cgroup counts it: sampled, and checked when the command has ended"
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
               ? "if it ended the command or a program that it executed (since Linux 6.15)"
               : "if it ended the command itself; with --explain also what it executes";
}

static const char *seen_of_tmp(const struct coop_box *box)
{
    return watches(box)
               ? "whether it was full at the end, or when a name was removed or a file truncated"
               : "whether it was full at the end; with --explain also in between";
}

static const struct {
    const char *name;
    why_not *why_not;
    const char *only;                                /* what of it is seen, where that is not all */
    const char *(*seen)(const struct coop_box *box); /* the same, where it depends */
} kinds[] = {
    { "syscall", by_filter, "except calls that fail with ENOSYS", NULL },
    { "socket", by_filter, NULL, NULL },
    { "connect", by_connect, NULL, NULL },
    { "unix-connect", by_connect, NULL, NULL },
    { "datagram", by_sendto, NULL, seen_of_datagrams },
    { "bind", by_bind, NULL, NULL },
    { "dns", by_names, NULL, NULL },
    { "protected", by_init, NULL, seen_of_protected },
    { "read-only", by_writes, NULL, NULL },
    { "exec", by_writes, NULL, NULL },
    { "hidden", by_watchfs, NULL, seen_of_hidden },
    { "memory", by_cgroup_memory, NULL, NULL },
    { "pids", by_cgroup_pids, NULL, NULL },
    { "time", never, NULL, NULL },
    { "cpu", never, NULL, seen_of_children },
    { "file-size", never, NULL, seen_of_children },
    { "tmp-size", by_tmp, NULL, seen_of_tmp },
    { "open-files", by_descriptors, NULL, NULL },
};

const struct limit_words denial_limits[] = {
    { DENIAL_MEMORY, COOP_LIMIT_MEMORY, "more memory than the limit", "sandbox.memory",
      "all its processes together may use ", " bytes", "--memory SIZE" },
    { DENIAL_PIDS, COOP_LIMIT_PIDS, "more processes than the limit", "sandbox.pids_limit",
      "it may have ", " processes and threads at once", "--pids N" },
    { DENIAL_CPU, COOP_LIMIT_CPU_SECONDS, "more CPU time than the limit", "sandbox.cpu_seconds",
      "each process may use ", " s of CPU time", "--cpu-seconds N" },
    { DENIAL_FILE_SIZE, COOP_LIMIT_FILE_SIZE, "a larger file than the limit", "sandbox.file_size",
      "each file may have ", " bytes", "--file-size SIZE" },
    { DENIAL_TMP_SIZE, COOP_LIMIT_TMP_SIZE, "/tmp", "sandbox.tmp_size", "all its ",
      " bytes were in use", "--tmp-size SIZE" },
    { DENIAL_OPEN_FILES, COOP_LIMIT_OPEN_FILES, "more open files than the limit",
      "sandbox.open_files", "each process may have ", " descriptors", "--open-files N" },
    { 0 },
};

_Static_assert(COUNT(kinds) <= DENIAL_KINDS_MAX, "raise DENIAL_KINDS_MAX");

size_t denial_kinds(const struct coop_box *box, coop_watched out[DENIAL_KINDS_MAX])
{
    for (size_t i = 0; i < COUNT(kinds); i++) {
        const char *why = kinds[i].why_not(box);

        const char *only = kinds[i].seen ? kinds[i].seen(box) : kinds[i].only;

        out[i] = (coop_watched){ kinds[i].name, why == NULL, why ? why : only };
    }
    return COUNT(kinds);
}
