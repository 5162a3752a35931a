#include "protect_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "plan/protect_cache.h"
#include "plan/protect_links.h"
#include "plan/protect_scan_private.h"

#define SMALL      32   /* directories: trees up to here are walked before anything is looked up */
#define CACHE_FROM 2000 /* directories: from here on a stat each is worth remembering them */

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
    for (size_t i = 0;
         r == 0 && !scan->options->is_git_directory && i < protect_n_blocks(scan->protect); i++)
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

static int walk_tree(struct scan *scan, size_t most, const struct scan_records *old,
                     const bool *verified, struct scan_records *out, coop_error **err)
{
    const struct records_walk how = {
        .root_fd = scan->root_fd,
        .protect = scan->protect,
        .is_git_directory = scan->options->is_git_directory,
        .now = scan->now,
        .opened = scan->options->opened,
        .context = scan->options->context,
    };

    return records_walk(&how, most, old, verified, out, &scan->out->n_read, err);
}

/* With what is remembered: what is as it was is not read again. */
static int look_again(struct scan *scan, const struct cache_key *key, struct scan_records *records,
                      coop_error **err)
{
    const struct protect_scan_options *options = scan->options;
    struct scan_records old = { 0 };
    bool *verified = NULL;
    bool is_known = cache_load(options->cache_directory, key, &old);
    int r = 0;

    if (is_known) {
        verified = calloc(old.n, sizeof *verified);
        if (!verified)
            r = fail_no_memory(err);
    }
    if (r == 0 && is_known && records_verify(scan->root_fd, &old, verified)) {
        scan->out->n_verified = old.n;
        *records = old;
        free(verified);
        return 0;
    }
    if (r == 0)
        r = walk_tree(scan, SCAN_RECORDS_MAX, is_known ? &old : NULL, verified, records, err);
    if (r == 0 && records->n >= (options->cache_from ? options->cache_from : CACHE_FROM))
        cache_store(options->cache_directory, key, records);
    free(verified);
    scan_records_done(&old);
    return r;
}

static int find_records(struct scan *scan, struct scan_records *records, coop_error **err)
{
    const struct protect_scan_options *options = scan->options;
    size_t small = options->cache_from && options->cache_from < SMALL ? 0 : SMALL;
    struct cache_key key;
    struct stat st;
    int r = 1;

    if (!options->cache_directory || options->opened)
        return walk_tree(scan, SCAN_RECORDS_MAX, options->old, NULL, records, err);
    if (small > 0)
        r = walk_tree(scan, small, NULL, NULL, records, err);
    if (r <= 0)
        return r;
    scan_records_done(records);
    if (is_in_tree(scan, options->cache_directory)) /* a box could write there */
        return walk_tree(scan, SCAN_RECORDS_MAX, NULL, NULL, records, err);
    if (fstat(scan->root_fd, &st) < 0)
        return fail(err, errno, "look at the workspace");
    cache_key_init(&key, scan->protect, st.st_dev, st.st_ino, options->is_git_directory);
    return look_again(scan, &key, records, err);
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
    struct scan_records *records = &out->records;
    int r = find_records(&scan, records, err);
    for (size_t i = 0; r == 0 && i < records->n; i++) {
        out->ignores_case |= records->items[i].flags & RECORD_IGNORES_CASE;
        scan.depends = false;
        r = scan_examine_record(&scan, records, i, err);
        if (scan.depends && options->depends)
            options->depends(options->context, i);
    }
    out->n_directories = records->n;
    if (r == 0)
        r = scan_examine_gitfiles(&scan, err);
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
