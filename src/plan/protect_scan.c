/*
 * protect_scan.c - from the names that a rule may be about to what must be protected
 */
#include "protect_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "plan/protect_cache.h"
#include "plan/protect_links.h"
#include "plan/protect_records.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define SMALL       128  /* directories: trees up to here are walked before anything is looked up */
#define CACHE_FROM  2000 /* directories: from here on a stat each is worth remembering them */
#define TEXT_CHUNK  4096
#define GITFILE_MAX 4096

struct protect_scan_text {
    struct protect_scan_text *next;
    size_t used, capacity;
    char data[];
};

struct scan {
    int root_fd;
    char root[PATH_MAX]; /* where it is on the host; "" until somebody asks */
    struct protect *protect;
    const struct protect_scan_options *options;
    struct protect_scan *out;
    time_t now;
    size_t capacity, git_capacity;
    char *content; /* space to read files into; NULL until first needed */
};

/* Rules of the scan itself. */
static const struct protect_rule unsearchable = {
    "a directory that cannot be searched", COOP_PROTECT_HIDE, 0, { NULL, 0, 0 }
};
static const struct protect_rule git_place = { ".git", COOP_PROTECT_KEEP, 0, { NULL, 0, 0 } };

/* ---- what was found */

static char *keep_text(struct scan *scan, const char *text)
{
    struct protect_scan_text *chunk = scan->out->texts;
    size_t size = strlen(text) + 1;

    if (!chunk || chunk->capacity - chunk->used < size) {
        size_t capacity = size > TEXT_CHUNK ? size : TEXT_CHUNK;

        chunk = malloc(sizeof *chunk + capacity);
        if (!chunk)
            return NULL;
        *chunk = (struct protect_scan_text){ .next = scan->out->texts, .capacity = capacity };
        scan->out->texts = chunk;
    }
    char *copy = memcpy(chunk->data + chunk->used, text, size);
    chunk->used += size;
    return copy;
}

static int too_many(coop_error **err)
{
    int r = fail(err, E2BIG, "protect the workspace: more than %d names in it are to be protected",
                 PROTECT_FOUND_MAX);

    return fail_hint(err, r,
                     "make exceptions with --unprotect PATTERN, or choose a smaller workspace");
}

static int add_found(struct scan *scan, enum protect_found_kind kind, const char *path,
                     const struct stat *st, const struct protect_rule *rule, bool is_nested,
                     coop_error **err)
{
    struct protect_scan *out = scan->out;

    if (out->n_found == PROTECT_FOUND_MAX)
        return too_many(err);
    if (out->n_found == scan->capacity) {
        size_t capacity = scan->capacity ? 2 * scan->capacity : 16;
        struct protect_found *more = reallocarray(out->found, capacity, sizeof *more);

        if (!more)
            return fail_no_memory(err);
        out->found = more;
        scan->capacity = capacity;
    }
    const char *copy = keep_text(scan, path);
    if (!copy)
        return fail_no_memory(err);
    out->found[out->n_found++] =
        (struct protect_found){ .kind = kind,
                                .is_gitfile = kind == FOUND_KEEP && rule == &git_place,
                                .is_nested = is_nested,
                                .path = copy,
                                .rule = rule,
                                .st = *st };
    return 0;
}

static int add_git_directory(struct scan *scan, const char *path, coop_error **err)
{
    struct protect_scan *out = scan->out;

    if (out->n_git_directories == scan->git_capacity) {
        size_t capacity = scan->git_capacity ? 2 * scan->git_capacity : 16;
        const char **more = reallocarray(out->git_directories, capacity, sizeof *more);

        if (!more)
            return fail_no_memory(err);
        out->git_directories = more;
        scan->git_capacity = capacity;
    }
    const char *copy = keep_text(scan, path);
    if (!copy)
        return fail_no_memory(err);
    out->git_directories[out->n_git_directories++] = copy;
    return 0;
}

/* ---- content */

/* Up to `size` bytes of a regular file, as many as there are; -errno. */
static long read_file(struct scan *scan, const char *path, char *to, size_t size)
{
    struct kernel_open_how how = {
        .flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | O_NOATIME,
        .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    long fd = raw(NR_OPENAT2, scan->root_fd, path, &how, sizeof how);
    size_t n = 0;

    if (fd == -EPERM) { /* not its owner */
        how.flags &= ~(uint64_t)O_NOATIME;
        fd = raw(NR_OPENAT2, scan->root_fd, path, &how, sizeof how);
    }
    if (fd < 0)
        return fd;
    while (n < size) {
        ssize_t got = read((int)fd, to + n, size - n);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            n = 0;
            break;
        }
        if (got == 0)
            break;
        n += (size_t)got;
    }
    (void)close((int)fd);
    return (long)n;
}

/* What cannot be read counts as secret. */
static int content_applies(struct scan *scan, unsigned conditions, const char *path,
                           const struct stat *st, bool *out, coop_error **err)
{
    *out = true;
    if (!S_ISREG(st->st_mode) || !protect_needs_content(conditions))
        return 0;
    if (!scan->content)
        scan->content = malloc(PROTECT_CONTENT_MAX + 1);
    if (!scan->content)
        return fail_no_memory(err);
    long n = read_file(scan, path, scan->content, PROTECT_CONTENT_MAX + 1);
    if (n < 0)
        return 0;
    bool is_whole = (size_t)n <= PROTECT_CONTENT_MAX;
    *out = protect_content_applies(conditions, scan->content,
                                   is_whole ? (size_t)n : PROTECT_CONTENT_MAX, is_whole);
    return 0;
}

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Whether the conditions of the rule hold for what is at `path`, which is called `name`. */
static int rule_applies(struct scan *scan, const struct protect_rule *rule, const char *name,
                        const char *path, const struct stat *st, bool *out, coop_error **err)
{
    *out = !(rule->conditions & PROTECT_FILES_ONLY && !S_ISREG(st->st_mode)) &&
           protect_name_applies(rule->conditions, name, strlen(name));
    return *out ? content_applies(scan, rule->conditions, path, st, out, err) : 0;
}

/* ---- links */

/* The kernel's own name of the root: what links lead to is compared with it. */
static const char *root_path(struct scan *scan)
{
    char link[64];

    if (!scan->root[0]) {
        (void)snprintf(link, sizeof link, "/proc/self/fd/%d", scan->root_fd);
        ssize_t n = readlink(link, scan->root, sizeof scan->root - 1);

        scan->root[n > 0 ? n : 0] = '\0';
    }
    return scan->root;
}

/*
 * What a link leads to, if that is in the tree: its path there, relative to the root. Outside, the
 * box has nothing to show.
 */
static bool follow(struct scan *scan, const char *path, char out[PATH_MAX], struct stat *st)
{
    char link[64];
    char target[PATH_MAX];
    const char *root = root_path(scan);
    size_t length = strlen(root);
    auto_close int fd = openat(scan->root_fd, path, O_PATH | O_CLOEXEC);

    if (fd < 0 || fstat(fd, st) < 0 || length == 0)
        return false;
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, target, sizeof target - 1);
    if (n <= 0)
        return false;
    target[n] = '\0';
    if (strncmp(target, root, length) != 0 || target[length] != '/')
        return false;
    memcpy(out, target + length + 1, strlen(target + length + 1) + 1);
    return true;
}

/* ---- one name */

struct subject {
    const char *path;
    const char *name;
    const struct record *record; /* of its directory */
    const char *rule_path;       /* what the rules are asked about: the link, where one led here */
    struct stat st;
};

static enum protect_scope scope_of(const struct record *record)
{
    return record->mode == RECORD_PLAIN ? PROTECT_ALL : PROTECT_OWN;
}

static int examine_hiding(struct scan *scan, const struct subject *subject, bool *out_hidden,
                          coop_error **err)
{
    bool is_directory = S_ISDIR(subject->st.st_mode);
    enum protect_scope scope = scope_of(subject->record);

    for (;; scope = PROTECT_OWN) {
        const struct protect_rule *rule =
            protect_hides(scan->protect, subject->rule_path, is_directory, scope);
        bool applies = false;

        if (!rule)
            return 0;
        int r = rule_applies(scan, rule, subject->name, subject->path, &subject->st, &applies, err);
        if (r < 0)
            return r;
        if (applies) {
            *out_hidden = true;
            return add_found(scan, FOUND_HIDE, subject->path, &subject->st, rule, false, err);
        }
        if (scope == PROTECT_OWN)
            return 0;
    }
}

static int examine_keeping(struct scan *scan, const struct subject *subject, coop_error **err)
{
    bool is_directory = S_ISDIR(subject->st.st_mode);
    const struct record *record = subject->record;
    const struct protect_rule *rule =
        protect_keeps(scan->protect, subject->rule_path, is_directory);
    bool is_nested = false;

    if (!rule && record->mode == RECORD_GIT &&
        !protect_shows(scan->protect, subject->rule_path, is_directory)) {
        rule =
            protect_keeps_in_git(scan->protect, subject->rule_path + record->git_at, is_directory);
        is_nested = rule && !scan->options->is_git_directory;
    }
    if (!rule)
        return 0;
    enum protect_found_kind kind =
        rule->conditions & PROTECT_GIT_CONFIG && !is_directory ? FOUND_GIT_CONFIG : FOUND_KEEP;
    return add_found(scan, kind, subject->path, &subject->st, rule, is_nested, err);
}

/* A .git in a work tree: the directory itself, or a file that says where it is. */
static int examine_git(struct scan *scan, const struct subject *subject, coop_error **err)
{
    bool is_top = strcmp(subject->path, ".git") == 0;

    if (is_top)
        scan->out->is_work_tree = true;
    if (!protect_has_defaults(scan->protect) ||
        protect_shows(scan->protect, subject->path, S_ISDIR(subject->st.st_mode)))
        return 0;
    if (!S_ISDIR(subject->st.st_mode))
        return S_ISREG(subject->st.st_mode) ? add_found(scan, FOUND_KEEP, subject->path,
                                                        &subject->st, &git_place, !is_top, err)
                                            : 0;
    int r =
        add_found(scan, FOUND_GIT_DIRECTORY, subject->path, &subject->st, &git_place, !is_top, err);
    return r == 0 && !is_top ? add_git_directory(scan, subject->path, err) : r;
}

static int examine_subject(struct scan *scan, const struct subject *subject, coop_error **err)
{
    bool is_hidden = false;
    int r = examine_hiding(scan, subject, &is_hidden, err);

    return r < 0 || is_hidden ? r : examine_keeping(scan, subject, err);
}

static int examine_pointed(struct scan *scan, const char *path, const struct stat *st,
                           coop_error **err);

/* A link .git that leads to a directory of another name in the tree. */
static int examine_linked_git(struct scan *scan, const char *path, const char *target,
                              const struct stat *st, coop_error **err)
{
    if (strcmp(path, ".git") == 0)
        scan->out->is_work_tree = true;
    return S_ISDIR(st->st_mode) && protect_has_defaults(scan->protect)
               ? examine_pointed(scan, target, st, err)
               : 0;
}

static int examine(struct scan *scan, const struct record *record, const char *path,
                   coop_error **err)
{
    char target[PATH_MAX];
    struct subject subject = {
        .path = path, .name = last_name(path), .record = record, .rule_path = path
    };

    if (fstatat(scan->root_fd, path, &subject.st, AT_SYMLINK_NOFOLLOW) < 0)
        return 0; /* gone meanwhile: nothing to hide */
    if (strcmp(subject.name, ".git") == 0 && record->mode == RECORD_PLAIN &&
        !S_ISLNK(subject.st.st_mode))
        return examine_git(scan, &subject, err);
    if (S_ISLNK(subject.st.st_mode)) {
        if (!follow(scan, path, target, &subject.st))
            return 0;
        if (strcmp(subject.name, ".git") == 0 && record->mode == RECORD_PLAIN)
            return examine_linked_git(scan, path, target, &subject.st, err);
        subject.path = target;
    }
    return examine_subject(scan, &subject, err);
}

static int examine_record(struct scan *scan, const struct records *records, size_t i,
                          coop_error **err)
{
    const struct record *record = &records->items[i];
    const char *directory = records_path(records, i);
    const char *name = records->text.data + record->names;
    char path[PATH_MAX + 256];
    struct stat st;
    int r = 0;

    if (record->flags & RECORD_UNSEARCHABLE && *directory &&
        fstatat(scan->root_fd, directory, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
        return add_found(scan, FOUND_HIDE, directory, &st, &unsearchable, false, err);
    for (uint32_t n = 0; r == 0 && n < record->n_names; n++) {
        (void)snprintf(path, sizeof path, "%s%s%s", directory, *directory ? "/" : "", name);
        r = examine(scan, record, path, err);
        name += strlen(name) + 1;
    }
    return r;
}

/* ---- a gitfile that leads to a git directory of another name in the tree: .git says .bare */

static int examine_pointed(struct scan *scan, const char *path, const struct stat *st,
                           coop_error **err)
{
    struct records records = { 0 };
    size_t n_read = 0;
    auto_close int fd =
        openat(scan->root_fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    char inner[2 * PATH_MAX];

    if (fd < 0)
        return 0;
    const struct records_walk how = { fd, scan->protect, true, scan->now };
    int r = add_git_directory(scan, path, err);
    if (r == 0)
        r = add_found(scan, FOUND_GIT_DIRECTORY, path, st, &git_place, false, err);
    if (r == 0)
        r = records_walk(&how, RECORDS_MAX, NULL, NULL, &records, &n_read, err);
    for (size_t i = 0; r == 0 && i < records.n; i++) {
        const struct record *record = &records.items[i];
        const char *name = records.text.data + record->names;
        const char *directory = records_path(&records, i);

        for (uint32_t n = 0; r == 0 && n < record->n_names; n++, name += strlen(name) + 1) {
            struct record outside = *record;

            (void)snprintf(inner, sizeof inner, "%s/%s%s%s", path, directory, *directory ? "/" : "",
                           name);
            outside.git_at = (uint16_t)(strlen(path) + 1);
            r = strlen(inner) < PATH_MAX ? examine(scan, &outside, inner, err) : 0;
        }
    }
    records_done(&records);
    return r;
}

static bool is_below_git(const char *path)
{
    return strncmp(path, ".git/", 5) == 0 || strstr(path, "/.git/");
}

static int examine_gitfile(struct scan *scan, const char *path, coop_error **err)
{
    static const char prefix[] = "gitdir: ";
    char text[GITFILE_MAX + 1];
    char joined[2 * PATH_MAX];
    char target[PATH_MAX];
    struct stat st;
    long n = read_file(scan, path, text, GITFILE_MAX);

    if (n <= (long)sizeof prefix || strncmp(text, prefix, sizeof prefix - 1) != 0)
        return 0;
    text[n] = '\0';
    text[strcspn(text, "\r\n")] = '\0';
    const char *to = text + sizeof prefix - 1;
    if (*to == '/')
        (void)snprintf(joined, sizeof joined, "%s", to);
    else
        (void)snprintf(joined, sizeof joined, "%.*s%s", (int)(last_name(path) - path), path, to);
    if (!follow(scan, joined, target, &st) || !S_ISDIR(st.st_mode) || is_below_git(target) ||
        strcmp(last_name(target), ".git") == 0)
        return 0;
    return examine_pointed(scan, target, &st, err);
}

static int examine_gitfiles(struct scan *scan, coop_error **err)
{
    size_t n = scan->out->n_found;
    int r = 0;

    for (size_t i = 0; r == 0 && i < n; i++) {
        const struct protect_found *found = &scan->out->found[i];

        if (found->is_gitfile)
            r = examine_gitfile(scan, found->path, err);
    }
    return r;
}

/* ---- other names of what was found */

static int add_link(void *context, const struct link_wanted *wanted, const char *path,
                    coop_error **err)
{
    struct scan *scan = context;
    const struct protect_found found = scan->out->found[(size_t)(uintptr_t)wanted->data];

    return add_found(scan, found.kind, path, &found.st, found.rule, found.is_nested, err);
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

/* ---- order */

/* Outer before inner, as compare_mounts() in view.c; of one path the stronger first. */
static int by_place(const void *left, const void *right)
{
    const struct protect_found *a = left;
    const struct protect_found *b = right;
    const unsigned char *p = (const unsigned char *)a->path;
    const unsigned char *q = (const unsigned char *)b->path;

    while (*p && *p == *q)
        p++, q++;
    if (*p == *q)
        return (a->kind > b->kind) - (a->kind < b->kind);
    if (!*p || !*q)
        return *p ? 1 : -1;
    if (*p == '/' || *q == '/')
        return *p == '/' ? -1 : 1;
    return *p < *q ? -1 : 1;
}

static bool is_within(const char *path, const char *directory)
{
    size_t n = strlen(directory);

    return strncmp(path, directory, n) == 0 && path[n] == '/';
}

/* No path twice, and nothing inside what is hidden as a whole. */
static void put_in_order(struct protect_scan *scan)
{
    const struct protect_found *hidden = NULL;
    size_t kept = 0;

    if (scan->n_found > 1)
        qsort(scan->found, scan->n_found, sizeof *scan->found, by_place);
    for (size_t i = 0; i < scan->n_found; i++) {
        const struct protect_found *found = &scan->found[i];

        if (kept > 0 && strcmp(scan->found[kept - 1].path, found->path) == 0)
            continue;
        if (hidden && is_within(found->path, hidden->path))
            continue;
        scan->found[kept] = *found;
        if (found->kind == FOUND_HIDE && S_ISDIR(found->st.st_mode))
            hidden = &scan->found[kept];
        kept++;
    }
    scan->n_found = kept;
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

static int walk_tree(struct scan *scan, size_t most, const struct records *old,
                     const bool *verified, struct records *out, coop_error **err)
{
    const struct records_walk how = { scan->root_fd, scan->protect, scan->options->is_git_directory,
                                      scan->now };

    return records_walk(&how, most, old, verified, out, &scan->out->n_read, err);
}

/* With what is remembered: what is as it was is not read again. */
static int look_again(struct scan *scan, const struct cache_key *key, struct records *records,
                      coop_error **err)
{
    const struct protect_scan_options *options = scan->options;
    struct records old = { 0 };
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
        r = walk_tree(scan, RECORDS_MAX, is_known ? &old : NULL, verified, records, err);
    if (r == 0 && records->n >= (options->cache_from ? options->cache_from : CACHE_FROM))
        cache_store(options->cache_directory, key, records);
    free(verified);
    records_done(&old);
    return r;
}

static int find_records(struct scan *scan, struct records *records, coop_error **err)
{
    const struct protect_scan_options *options = scan->options;
    size_t small = options->cache_from && options->cache_from < SMALL ? 0 : SMALL;
    struct cache_key key;
    struct stat st;
    int r = 1;

    if (!options->cache_directory)
        small = RECORDS_MAX;
    if (small > 0)
        r = walk_tree(scan, small, NULL, NULL, records, err);
    if (r <= 0)
        return r;
    records_done(records);
    if (is_in_tree(scan, options->cache_directory)) /* a box could write there */
        return walk_tree(scan, RECORDS_MAX, NULL, NULL, records, err);
    if (fstat(scan->root_fd, &st) < 0)
        return fail(err, errno, "look at the workspace");
    cache_key_init(&key, scan->protect, st.st_dev, st.st_ino, options->is_git_directory);
    return look_again(scan, &key, records, err);
}

int protect_scan(int root_fd, struct protect *protect, const struct protect_scan_options *options,
                 struct protect_scan *out, coop_error **err)
{
    struct scan scan = { .root_fd = root_fd,
                         .protect = protect,
                         .options = options,
                         .out = out,
                         .now = options->now ? options->now : time(NULL) };
    struct records records = { 0 };

    *out = (struct protect_scan){ 0 };
    int r = find_records(&scan, &records, err);
    for (size_t i = 0; r == 0 && i < records.n; i++)
        r = examine_record(&scan, &records, i, err);
    out->n_directories = records.n;
    records_done(&records);
    if (r == 0)
        r = examine_gitfiles(&scan, err);
    if (r == 0)
        r = find_links(&scan, err);
    free(scan.content);
    if (r < 0) {
        protect_scan_done(out);
        return r;
    }
    put_in_order(out);
    return 0;
}

void protect_scan_done(struct protect_scan *scan)
{
    while (scan->texts) {
        struct protect_scan_text *next = scan->texts->next;

        free(scan->texts);
        scan->texts = next;
    }
    free(scan->found);
    free(scan->git_directories);
    *scan = (struct protect_scan){ 0 };
}
