/*
 * search.c - what there is to protect in a tree, searched as before every box
 *
 * The search is remembered. It is made again when it is old, measured by what it costs, and whenever
 * there is reason to doubt it: a file with several names that has changed since may have got one of
 * them since. If it fails, nothing in the tree can be reached: half a search protects nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "glob/pack.h"
#include "plan/protect_write_rules.h"
#include "plan/rules/packed.h"
#include "tools/path/private.h"

#define LIFE_NS   INT64_C(2000000000)
#define LIFE_COST 20                /* times what the search took */
#define SETTLE_NS INT64_C(20000000) /* change times are that coarse, at most */

struct place_search {
    struct protect_scan scan;
    struct plan plan; /* holds the patterns of what nobody may make, and nothing else */
    struct write_rules write_rules;
    const struct protect_found **by_path, **by_inode;
    int64_t looked_at_ns; /* when it began, as files count time */
    int64_t good_until_ns;
};

static int64_t now_ns(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

void place_search_free(struct place_search *search)
{
    if (!search)
        return;
    free(search->by_path);
    free(search->by_inode);
    plan_done(&search->plan);
    protect_scan_done(&search->scan);
    free(search);
}

static int compare_paths(const void *left, const void *right)
{
    const struct protect_found *const *a = left;
    const struct protect_found *const *b = right;

    return strcmp((*a)->path, (*b)->path);
}

static int order_of_inodes(dev_t dev, ino_t ino, const struct stat *st)
{
    if (ino != st->st_ino)
        return ino < st->st_ino ? -1 : 1;
    return (dev > st->st_dev) - (dev < st->st_dev);
}

/* Of one inode what is hidden comes first. */
static int compare_inodes(const void *left, const void *right)
{
    const struct protect_found *const *a = left;
    const struct protect_found *const *b = right;
    int order = order_of_inodes((*a)->st.st_dev, (*a)->st.st_ino, &(*b)->st);

    return order ? order : ((*a)->kind > (*b)->kind) - ((*a)->kind < (*b)->kind);
}

static int index_found(struct place_search *search, coop_error **err)
{
    size_t n = search->scan.n_found;

    search->by_path = calloc(n + 1, sizeof(void *));
    search->by_inode = calloc(n + 1, sizeof(void *));
    if (!search->by_path || !search->by_inode)
        return fail_no_memory(err);
    for (size_t i = 0; i < n; i++)
        search->by_path[i] = search->by_inode[i] = &search->scan.found[i];
    qsort(search->by_path, n, sizeof(void *), compare_paths);
    qsort(search->by_inode, n, sizeof(void *), compare_inodes);
    return 0;
}

/* Patterns are relative to the tree, as if it were "/". */
static int take_patterns(struct places *places, struct place_search *search, coop_error **err)
{
    struct packed_rules_header header;

    search->plan.policy = places->policy;
    search->plan.tier = COOP_TIER_FULL;
    protect_write_rules(&search->plan, places->rules, &search->scan, "/", -1);
    int r = plan_packed_rules(&search->plan, protect_ignores_case(places->rules), err);
    if (r < 0 || search->plan.failed)
        return r < 0 ? r : fail_no_memory(err);
    if (!search->plan.packed_rules)
        return 0;
    memcpy(&header, search->plan.packed_rules, sizeof header);
    void *patterns = search->plan.packed_rules + header.patterns_at;
    glob_unpack(patterns);
    search->write_rules = (struct write_rules){
        .patterns = patterns,
        .n = header.n_rules,
        .exceptions = header.exceptions_at
                          ? (const void *)(search->plan.packed_rules + header.exceptions_at)
                          : NULL,
    };
    return 0;
}

/* Where a directory turns out to ignore case, the rules must too: as plan/protect.c. */
static int scan(struct places *places, const struct place_tree *tree, struct place_search *search,
                coop_error **err)
{
    const struct protect_scan_options options = {
        .cache_directory = protect_cache_directory(&search->plan),
        .is_beside = tree->is_beside,
    };
    int r = protect_scan(tree->fd, places->rules, &options, &search->scan, err);

    if (r < 0 || protect_ignores_case(places->rules) || !search->scan.ignores_case)
        return r;
    protect_scan_done(&search->scan);
    protect_ignore_case(places->rules);
    for (size_t i = 0; i < places->n_trees; i++)
        if (places->trees[i].search)
            places->trees[i].search->good_until_ns = 0;
    return protect_scan(tree->fd, places->rules, &options, &search->scan, err);
}

static int look(struct places *places, const struct place_tree *tree, struct place_search **out,
                coop_error **err)
{
    struct place_search *search = calloc(1, sizeof *search);
    int64_t began = now_ns(CLOCK_MONOTONIC);

    if (!search)
        return fail_no_memory(err);
    search->looked_at_ns = now_ns(CLOCK_REALTIME);
    int r = scan(places, tree, search, err);
    if (r == 0)
        r = index_found(search, err);
    if (r == 0)
        r = take_patterns(places, search, err);
    if (r < 0) {
        place_search_free(search);
        return fail_within(err, r, "search the %s for protected names",
                           tree->is_beside ? "mount" : "workspace");
    }
    int64_t ended = now_ns(CLOCK_MONOTONIC);
    search->good_until_ns = ended + LIFE_NS + LIFE_COST * (ended - began);
    *out = search;
    return 0;
}

int place_search_again(struct places *places, struct place_tree *tree, coop_error **err)
{
    struct place_search *search = NULL;
    int r = look(places, tree, &search, err);

    if (r < 0)
        return r;
    place_search_free(tree->search);
    tree->search = search;
    return 0;
}

static int refresh(struct places *places, struct place_tree *tree, coop_error **err)
{
    if (tree->search && now_ns(CLOCK_MONOTONIC) < tree->search->good_until_ns)
        return 0;
    return place_search_again(places, tree, err);
}

int place_search_write_rules(struct places *places, struct place_tree *tree,
                             const struct write_rules **rules, const struct plan **plan,
                             coop_error **err)
{
    int r = refresh(places, tree, err);

    if (r < 0)
        return r;
    *rules = &tree->search->write_rules;
    *plan = &tree->search->plan;
    return 0;
}

/* ---- asking */

static const struct protect_found *find_path(const struct place_search *search, const char *path,
                                             size_t n)
{
    size_t low = 0;
    size_t high = search->scan.n_found;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const char *found = search->by_path[middle]->path;
        int order = strncmp(found, path, n);

        if (order == 0 && found[n] == '\0')
            return search->by_path[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static const struct protect_found *find_inode(const struct place_search *search,
                                              const struct stat *st)
{
    size_t low = 0;
    size_t high = search->scan.n_found;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct stat *there = &search->by_inode[middle]->st;

        if (order_of_inodes(there->st_dev, there->st_ino, st) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == search->scan.n_found)
        return NULL;
    const struct protect_found *found = search->by_inode[low];
    return order_of_inodes(found->st.st_dev, found->st.st_ino, st) == 0 ? found : NULL;
}

/* Whether what was found there says something about `path`, which is it or lies below it. */
static bool says(const struct protect_found *found, bool is_itself, struct place_found *out)
{
    out->rule = found->rule;
    out->is_hidden = found->kind == FOUND_HIDE || found->kind == FOUND_GIT_CONFIG;
    switch (found->kind) {
    case FOUND_HIDE:
    case FOUND_KEEP:
        return true;
    case FOUND_GIT_CONFIG:
    case FOUND_LINK:
    case FOUND_KEPT_LINK:
        return is_itself;
    case FOUND_GIT_DIRECTORY:
        return is_itself && !found->is_nested; /* others may be removed with all that is in them */
    }
    return true;
}

/* In what is kept there may be something hidden. */
static bool is_found(const struct place_search *search, const char *path, const struct stat *st,
                     struct place_found *out)
{
    const struct protect_found *inode = st && !S_ISDIR(st->st_mode) ? find_inode(search, st) : NULL;
    struct place_found one;
    bool is_kept = false;

    for (size_t n = 0; path[n];) {
        n += strcspn(path + n, "/");
        const struct protect_found *found = find_path(search, path, n);

        if (found && says(found, !path[n], &one)) {
            if (!is_kept || one.is_hidden)
                *out = one;
            if (one.is_hidden)
                return true;
            is_kept = true;
        }
        n += path[n] == '/';
    }
    if (!inode || !says(inode, true, &one) || (is_kept && !one.is_hidden))
        return is_kept;
    *out = one;
    return true;
}

/* A file `.git` says where a repository is. */
static bool is_git_file(const char *path)
{
    const char *slash = strrchr(path, '/');

    return strcasecmp(slash ? slash + 1 : path, ".git") == 0;
}

/* A file with several names, changed since: by getting one of them, perhaps. Or one that is protected by
 * what it is, not by its name alone, and was not there. */
static bool is_doubtful(const struct place_search *search, const char *path, const struct stat *st)
{
    return st && S_ISREG(st->st_mode) && (st->st_nlink > 1 || is_git_file(path)) &&
           st->st_ctim.tv_sec * INT64_C(1000000000) + st->st_ctim.tv_nsec >
               search->looked_at_ns - SETTLE_NS;
}

int place_search_find(struct places *places, struct place_tree *tree, const char *path,
                      const struct stat *st, struct place_found *out, coop_error **err)
{
    int r = refresh(places, tree, err);

    if (r == 0 && is_doubtful(tree->search, path, st))
        r = place_search_again(places, tree, err);
    if (r < 0)
        return r;
    return tree->search->scan.n_found > 0 && is_found(tree->search, path, st, out);
}

static bool is_below(const char *path, const char *directory)
{
    size_t n = strlen(directory);

    return n == 0 || (strncmp(path, directory, n) == 0 && path[n] == '/');
}

const struct protect_found *place_search_held(const struct place_tree *tree, const char *path,
                                              bool is_removing)
{
    const struct protect_scan *scan = &tree->search->scan;

    for (size_t i = 0; i < scan->n_found; i++) {
        const struct protect_found *found = &scan->found[i];

        /* What belongs to a repository inside can go with it. */
        if (is_below(found->path, path) &&
            (found->kind == FOUND_HIDE || (is_removing && !found->is_nested)))
            return found;
    }
    return NULL;
}
