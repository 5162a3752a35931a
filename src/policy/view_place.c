#include "view_place.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "policy/path.h"

struct entry {
    const char *target;
    const struct policy_mount *mount; /* NULL: the workspace */
    size_t order;
    char *owned; /* the target, where it is not the policy's */
};

struct view_index {
    const coop_policy *policy;
    struct entry *entries; /* sorted */
    size_t n;
};

/*
 * The box's own view; plan/view.c builds it. What it has of /etc is given file by file, because the
 * rest of the host's /etc is not there.
 */
static const struct {
    const char *path;
    enum view_what what;
    bool is_writable;
} defaults[] = {
    { "/usr", VIEW_IS_TOOLS, false },
    { "/bin", VIEW_IS_TOOLS, false },
    { "/sbin", VIEW_IS_TOOLS, false },
    { "/lib", VIEW_IS_TOOLS, false },
    { "/lib64", VIEW_IS_TOOLS, false },
    { "/lib32", VIEW_IS_TOOLS, false },
    { "/libx32", VIEW_IS_TOOLS, false },
    { "/nix/store", VIEW_IS_TOOLS, false },
    { "/etc/ld.so.cache", VIEW_IS_TOOLS, false },
    { "/etc/alternatives", VIEW_IS_TOOLS, false },
    { "/etc/ssl/certs", VIEW_IS_TOOLS, false },
    { "/etc/ssl/openssl.cnf", VIEW_IS_TOOLS, false },
    { "/etc/pki", VIEW_IS_TOOLS, false },
    { "/etc/localtime", VIEW_IS_TOOLS, false },
    { "/etc/os-release", VIEW_IS_TOOLS, false },
    { "/etc/fonts", VIEW_IS_TOOLS, false },
    { "/etc/java", VIEW_IS_TOOLS, false },
    { "/etc/passwd", VIEW_IS_OWN, false },
    { "/etc/group", VIEW_IS_OWN, false },
    { "/etc/hosts", VIEW_IS_OWN, false },
    { "/etc/nsswitch.conf", VIEW_IS_OWN, false },
    { "/etc/mtab", VIEW_IS_OWN, false },
    { "/tmp", VIEW_IS_OWN, true },
    { "/var/tmp", VIEW_IS_OWN, true },
    { "/run", VIEW_IS_OWN, true },
    { "/dev/shm", VIEW_IS_OWN, true },
    { "/dev/pts", VIEW_IS_OWN, true },
    { "/dev/null", VIEW_IS_OWN, true },
    { "/dev/zero", VIEW_IS_OWN, true },
    { "/dev/full", VIEW_IS_OWN, true },
    { "/dev/tty", VIEW_IS_OWN, true },
    { "/dev/random", VIEW_IS_OWN, true },
    { "/dev/urandom", VIEW_IS_OWN, true },
    { "/dev/fd", VIEW_IS_OWN, false },
    { "/dev/stdin", VIEW_IS_OWN, false },
    { "/dev/stdout", VIEW_IS_OWN, true },
    { "/dev/stderr", VIEW_IS_OWN, true },
    { "/proc", VIEW_IS_OWN, false },
};

/* Names at the top level that are the box's own, also where the root has them too. */
static const char *const own_names[] = { "usr", "bin", "sbin", "lib",  "lib64", "lib32", "libx32",
                                         "nix", "etc", "dev",  "proc", "tmp",   "run",   "var" };

static bool is_own_name(const char *path)
{
    size_t n = strcspn(path + 1, "/");

    for (size_t i = 0; i < COUNT(own_names); i++)
        if (strlen(own_names[i]) == n && memcmp(own_names[i], path + 1, n) == 0)
            return true;
    return false;
}

const char *view_of_workspace(const coop_policy *policy, const char *workspace)
{
    if (policy->root)
        return "/";
    if (!policy->same_path)
        return VIEW_WORKSPACE;
    if (policy->workspace && *policy->workspace == '/')
        return policy->workspace;
    return workspace;
}

enum view_what view_default(const coop_policy *policy, const char *path)
{
    for (size_t i = 0; i < COUNT(defaults); i++)
        if (path_is_within(path, defaults[i].path))
            return defaults[i].what;
    if (policy->network == COOP_NETWORK_HOST && strcmp(path, "/etc/resolv.conf") == 0)
        return VIEW_IS_TOOLS;
    if (policy->root && !is_own_name(path))
        return VIEW_IS_WORKSPACE;
    return VIEW_NOTHING;
}

bool view_own_is_writable(const char *path)
{
    for (size_t i = 0; i < COUNT(defaults); i++)
        if (path_is_within(path, defaults[i].path))
            return defaults[i].is_writable;
    return false;
}

/* ---- life */

static bool hides(const struct entry *entry)
{
    return entry->mount && entry->mount->kind == POLICY_BLOCK;
}

/* Of equal targets the one that counts comes last. */
static int compare(const void *a, const void *b)
{
    const struct entry *x = a;
    const struct entry *y = b;
    int order = strcmp(x->target, y->target);

    if (order)
        return order;
    if (hides(x) != hides(y))
        return hides(x) ? 1 : -1;
    return x->order < y->order ? -1 : 1;
}

void view_index_free(struct view_index *index)
{
    if (!index)
        return;
    for (size_t i = 0; i < index->n; i++)
        free(index->entries[i].owned);
    free(index->entries);
    free(index);
}

void view_index_free_at_exit(struct view_index **index)
{
    view_index_free(*index);
}

static bool add(struct view_index *index, const struct policy_mount *mount, const char *view)
{
    struct entry entry = { mount ? mount->target : view, mount, index->n, NULL };

    if (mount && *mount->target != '/') {
        /* Where nobody knows the place, no other target can lie in it. */
        entry.owned = path_join(view ? view : "/\001workspace", mount->target);
        if (!entry.owned)
            return false;
        entry.target = entry.owned;
    }
    index->entries[index->n++] = entry;
    return true;
}

struct view_index *view_index_new(const coop_policy *policy, const char *workspace_view)
{
    struct view_index *index = calloc(1, sizeof *index);
    bool is_complete = index != NULL;

    if (!index)
        return NULL;
    index->policy = policy;
    index->entries = calloc(policy->n_mounts + 1, sizeof *index->entries);
    if (!index->entries)
        is_complete = false;
    if (is_complete)
        is_complete = add(index, NULL, workspace_view ? workspace_view : "/\001workspace");
    for (size_t i = 0; is_complete && i < policy->n_mounts; i++)
        is_complete = add(index, &policy->mounts[i], workspace_view);
    if (!is_complete) {
        view_index_free(index);
        return NULL;
    }
    qsort(index->entries, index->n, sizeof *index->entries, compare);
    return index;
}

/* ---- looking up */

/* The last entry whose target is the first `n` bytes of `path`; NULL: there is none. */
static const struct entry *find(const struct view_index *index, const char *path, size_t n)
{
    size_t low = 0;
    size_t high = index->n;

    while (low < high) { /* the first entry behind all that are equal */
        size_t middle = low + (high - low) / 2;
        const char *target = index->entries[middle].target;
        int order = strncmp(target, path, n);

        if (order < 0 || (order == 0 && target[n] == '\0'))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    const struct entry *entry = &index->entries[low - 1];
    return strncmp(entry->target, path, n) == 0 && entry->target[n] == '\0' ? entry : NULL;
}

static enum view_what what_of(const struct entry *entry)
{
    if (!entry->mount)
        return VIEW_IS_WORKSPACE;
    switch (entry->mount->kind) {
    case POLICY_BIND:
        return VIEW_IS_BIND;
    case POLICY_TMPFS:
        return VIEW_IS_TMPFS;
    case POLICY_BLOCK:
        break;
    }
    return VIEW_IS_BLOCK;
}

struct view_place view_find(const struct view_index *index, const char *path)
{
    for (size_t n = strlen(path); n > 0; n--) { /* a root is the last to be asked: view_default() */
        if (path[n] != '\0' && path[n] != '/')
            continue;
        const struct entry *entry = find(index, path, n);
        if (entry)
            return (struct view_place){ what_of(entry), entry->mount, path + n + (path[n] == '/') };
    }
    enum view_what what = view_default(index->policy, path);
    return (struct view_place){ what, NULL, path + (what == VIEW_IS_WORKSPACE) };
}

size_t view_n_targets(const struct view_index *index)
{
    return index->n;
}

const char *view_target(const struct view_index *index, size_t i)
{
    return index->entries[i].target;
}

const struct policy_mount *view_target_mount(const struct view_index *index, size_t i)
{
    return index->entries[i].mount;
}
