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

#define SMALL      128  /* directories: trees up to here are walked before anything is looked up */
#define CACHE_FROM 2000 /* directories: from here on a stat each is worth remembering them */

/* ---- other names of what was found */

static int add_link(void *context, const struct link_wanted *wanted, const char *path,
                    coop_error **err)
{
    struct scan *scan = context;
    struct protect_found found = scan->out->found[(size_t)(uintptr_t)wanted->data];

    found.path = path; /* `named` is the other one's: its text stays where it is */
    return scan_add_found(scan, &found, err);
}

static int find_links(struct scan *scan, coop_error **err)
{
    struct protect_scan *out = scan->out;
    struct link_wanted *wanted = NULL;
    size_t n = 0;

    for (size_t i = 0; i < out->n_found; i++) {
        const struct protect_found *found = &out->found[i];

        if (S_ISDIR(found->st.st_mode) || found->st.st_nlink < 2)
            continue;
        if (!wanted)
            wanted = calloc(out->n_found, sizeof *wanted);
        if (!wanted)
            return fail_no_memory(err);
        wanted[n++] =
            (struct link_wanted){ found->st.st_dev, found->st.st_ino, (void *)(uintptr_t)i };
    }
    int r = 0;
    if (n > 0) {
        links_sort(wanted, n);
        r = links_find(scan->root_fd, wanted, n, add_link, scan, err);
    }
    free(wanted);
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
