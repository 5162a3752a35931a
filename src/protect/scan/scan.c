#include "scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "protect/scan/cache.h"
#include "protect/scan/links.h"
#include "protect/scan/scan_private.h"

/* All three are costs of a walk, struct entries_spent: a stat for each directory instead of reading them all
 * must be worth the file. */
#define LOOK_UP_AT       256
#define CACHE_FROM       512
#define CACHE_AGAIN_FROM 64

/* ---- other names of what was found, of what is in hidden directories, and of what is blocked */

/* A file with several names: what to say of each of them. */
struct link_source {
    enum protect_found_kind kind;
    bool is_gitfile, is_nested;
    const struct protect_rule *rule;
    const char *named; /* the name that the rule is about */
    const char *below; /* names below this one are hidden with it; NULL: there are none */
};

struct links {
    struct scan *scan;
    struct link_wanted *wanted;
    struct link_source *sources; /* of each */
    size_t n, capacity;
    struct link_source of; /* for those that are gathered */
};

static int want(struct links *links, dev_t dev, ino_t ino, const struct link_source *source,
                coop_error **err)
{
    if (links->n == links->capacity) {
        size_t capacity = links->capacity ? 2 * links->capacity : 64;
        struct link_wanted *wanted = reallocarray(links->wanted, capacity, sizeof *wanted);

        if (!wanted)
            return fail_no_memory(err);
        links->wanted = wanted;
        struct link_source *sources = reallocarray(links->sources, capacity, sizeof *sources);
        if (!sources)
            return fail_no_memory(err);
        links->sources = sources;
        links->capacity = capacity;
    }
    links->wanted[links->n] = (struct link_wanted){ dev, ino, links->n };
    links->sources[links->n++] = *source;
    return 0;
}

static int want_gathered(void *context, const struct link_wanted *wanted, const char *path,
                         coop_error **err)
{
    struct links *links = context;

    links->of.named = scan_keep_text(links->scan, path);
    if (!links->of.named)
        return fail_no_memory(err);
    return want(links, wanted->dev, wanted->ino, &links->of, err);
}

/* A directory stands for all files in it. */
static int want_hidden(struct links *links, const char *path, const struct stat *st,
                       const struct protect_rule *rule, coop_error **err)
{
    links->of =
        (struct link_source){ .kind = FOUND_HIDE, .rule = rule, .named = path, .below = path };
    if (S_ISDIR(st->st_mode))
        return links_gather(links->scan->root_fd, path, want_gathered, links, err);
    return st->st_nlink > 1 ? want(links, st->st_dev, st->st_ino, &links->of, err) : 0;
}

static int want_found(struct links *links, const struct protect_found *found, coop_error **err)
{
    const struct link_source source = { found->kind, found->is_gitfile, found->is_nested,
                                        found->rule, found->named,      NULL };

    if (S_ISDIR(found->st.st_mode) && found->kind == FOUND_KEEP) {
        links->of = source;
        links->of.below = found->path;
        return links_gather(links->scan->root_fd, found->path, want_gathered, links, err);
    }
    if (S_ISDIR(found->st.st_mode))
        return found->kind == FOUND_HIDE
                   ? want_hidden(links, found->path, &found->st, found->rule, err)
                   : 0;
    return found->st.st_nlink < 2 ? 0
                                  : want(links, found->st.st_dev, found->st.st_ino, &source, err);
}

/* What is not there is nobody's secret. */
static int want_blocked(struct links *links, const struct protect_rule *rule, coop_error **err)
{
    struct stat st;

    if (fstatat(links->scan->root_fd, rule->pattern, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == ELOOP
                   ? 0
                   : fail(err, errno, "look at '%s' in the workspace", rule->pattern);
    return want_hidden(links, rule->pattern, &st, rule, err);
}

static bool is_at_or_below(const char *path, const char *directory)
{
    size_t n = strlen(directory);

    return strncmp(path, directory, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

static int add_link(void *context, const struct link_wanted *wanted, const char *path,
                    coop_error **err)
{
    const struct links *links = context;
    const struct link_source *source = &links->sources[wanted->data];
    struct protect_found found = {
        .kind = source->kind,
        .is_gitfile = source->is_gitfile,
        .is_nested = source->is_nested,
        .path = path,
        .named = source->named,
        .rule = source->rule,
    };

    if (source->below && is_at_or_below(path, source->below))
        return 0;
    if (fstatat(links->scan->root_fd, path, &found.st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : fail(err, errno, "look at '%s' in the workspace", path);
    return scan_add_found(links->scan, &found, err);
}

static int find_links(struct scan *scan, coop_error **err)
{
    struct links links = { .scan = scan };
    size_t n = scan->out->n_found;
    int r = 0;

    for (size_t i = 0; r == 0 && i < n; i++)
        r = want_found(&links, &scan->out->found[i], err);
    for (size_t i = 0; r == 0 && !scan->options->is_git_directory && !scan->options->is_beside &&
                       i < protect_n_blocks(scan->protect);
         i++)
        r = want_blocked(&links, protect_block(scan->protect, i), err);
    if (r == 0 && links.n > 0) {
        links_sort(links.wanted, links.n);
        r = links_find(scan->root_fd, links.wanted, links.n, add_link, &links, err);
    }
    free(links.wanted);
    free(links.sources);
    return r;
}

/* ---- all of it */

/* Whether the directory, or the nearest one above it that exists, lies in the tree that is scanned. */
static bool is_in_tree(const struct scan *scan, const char *directory)
{
    char path[PATH_MAX];
    struct stat root;
    struct stat here;
    struct stat above;
    int fd = -1;

    if (strlen(directory) >= sizeof path || fstat(scan->root_fd, &root) < 0)
        return true;
    memcpy(path, directory, strlen(directory) + 1);
    while ((fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0) {
        char *slash = strrchr(path, '/');

        if (errno != ENOENT || !slash || slash == path)
            return true;
        *slash = '\0';
    }
    bool is_inside = fstat(fd, &here) < 0;
    while (!is_inside) {
        is_inside = here.st_dev == root.st_dev && here.st_ino == root.st_ino;
        int up = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);

        (void)close(fd);
        fd = up;
        if (up < 0 || fstat(up, &above) < 0 ||
            (above.st_dev == here.st_dev && above.st_ino == here.st_ino))
            break;
        here = above;
    }
    close_fd(&fd);
    return is_inside;
}

/* What a walk may spend (struct entries_spent) before it is looked up whether the tree is remembered. */
static size_t asks_at(const struct protect_scan_options *options)
{
    return options->cache_from ? 0 : LOOK_UP_AT;
}

static bool is_worth_remembering(const struct scan *scan, const struct scan_entries *records,
                                 size_t cost)
{
    if (scan->options->cache_from)
        return records->n >= scan->options->cache_from && cost > 0;
    return cost >= (scan->old.n > 0 ? CACHE_AGAIN_FROM : CACHE_FROM);
}

static int walk_tree(struct scan *scan, const struct entries_walk *special,
                     const struct scan_entries *old, const bool *verified, struct scan_entries *out,
                     size_t *out_cost, coop_error **err)
{
    struct entries_walk how = *special;
    struct entries_spent spent;

    how.root_fd = scan->root_fd;
    how.protect = scan->protect;
    how.is_git_directory = scan->options->is_git_directory;
    how.is_beside = scan->options->is_beside;
    how.now = scan->now;
    int r = entries_walk(&how, old, verified, out, &spent, err);
    scan->out->n_read = spent.n_read;
    *out_cost = spent.cost;
    return r;
}

/* There is nothing to go by in place of a walk. Called when that turns out to be worth something. */
static bool is_not_remembered(void *context)
{
    struct scan *scan = context;
    const struct protect_scan_options *options = scan->options;
    struct stat st;

    if (is_in_tree(scan, options->cache_directory) || fstat(scan->root_fd, &st) < 0)
        return true; /* a box could write there */
    cache_key_init(&scan->key, scan->protect, st.st_dev, st.st_ino, options->is_git_directory,
                   options->is_beside);
    scan->has_key = true;
    return !cache_load(options->cache_directory, &scan->key, &scan->old);
}

/* With what is remembered: what is as it was is not read again. */
static int look_again(struct scan *scan, struct scan_entries *records, size_t *out_cost,
                      coop_error **err)
{
    const struct entries_walk plain = { 0 };
    bool *verified = calloc(scan->old.n, sizeof *verified);
    int r = 0;

    if (!verified)
        return fail_no_memory(err);
    if (entries_verify(scan->root_fd, &scan->old, verified)) {
        scan->out->n_read = 0;
        scan->out->n_verified = scan->old.n;
        *records = scan->old;
        scan->old = (struct scan_entries){ 0 };
        *out_cost = 0;
    } else {
        r = walk_tree(scan, &plain, &scan->old, verified, records, out_cost, err);
    }
    free(verified);
    return r;
}

static int find_records(struct scan *scan, struct scan_entries *records, coop_error **err)
{
    const struct protect_scan_options *options = scan->options;
    const struct entries_walk watched = { .opened = options->opened, .context = options->context };
    const struct entries_walk first = { .goes_on = is_not_remembered,
                                        .asks_at = asks_at(options),
                                        .context = scan };
    size_t cost = 0;

    if (!options->cache_directory || options->opened)
        return walk_tree(scan, &watched, options->old, NULL, records, &cost, err);
    int r = walk_tree(scan, &first, NULL, NULL, records, &cost, err);
    if (r == 1) {
        scan_entries_done(records);
        r = look_again(scan, records, &cost, err);
    }
    if (r == 0 && scan->has_key && is_worth_remembering(scan, records, cost))
        cache_store(options->cache_directory, &scan->key, records);
    scan_entries_done(&scan->old);
    return r;
}

int protect_scan(int root_fd, struct protect *protect, const struct protect_scan_options *options,
                 struct protect_scan *out, coop_error **err)
{
    struct scan scan; /* large: what is not set here is set before it is read */

    memset(&scan, 0, offsetof(struct scan, root));
    scan.root_fd = root_fd;
    scan.protect = protect;
    scan.options = options;
    scan.out = out;
    scan.now = options->now ? options->now : time(NULL);
    *out = (struct protect_scan){ 0 };
    struct scan_entries *records = &out->records;
    int r = find_records(&scan, records, err);
    for (size_t i = 0; r == 0 && i < records->n; i++) {
        out->ignores_case |= records->items[i].flags & ENTRY_IGNORES_CASE;
        scan.depends = false;
        r = scan_examine_entry(&scan, records, i, err);
        if (scan.depends && options->depends)
            options->depends(options->context, i);
    }
    out->n_directories = records->n;
    if (r == 0)
        r = scan_examine_gitfiles(&scan, err);
    if (r == 0)
        r = scan_find_led(&scan, err);
    if (r == 0)
        r = find_links(&scan, err);
    free(scan.content);
    if (r < 0) {
        protect_scan_done(out);
        return r;
    }
    scan_put_in_order(out);
    return 0;
}
