/*
 * found.c - the list of what a scan has found
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "protect/scan/scan_private.h"

#define TEXT_CHUNK 4096

struct protect_scan_text {
    struct protect_scan_text *next;
    size_t used, capacity;
    char data[];
};

const struct protect_rule scan_git_rule = { ".git", COOP_PROTECT_KEEP, 0, { NULL, 0, 0 } };

const char *scan_keep_text(struct scan *scan, const char *text)
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
    const char *copy = memcpy(chunk->data + chunk->used, text, size);
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

int scan_add_found(struct scan *scan, const struct protect_found *found, coop_error **err)
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
    const char *path = scan_keep_text(scan, found->path);
    const char *named = found->named == found->path ? path : scan_keep_text(scan, found->named);
    if (!path || !named)
        return fail_no_memory(err);
    struct protect_found *added = &out->found[out->n_found++];
    *added = *found;
    added->path = path;
    added->named = named;
    added->is_gitfile = found->kind == FOUND_KEEP && found->rule == &scan_git_rule;
    return 0;
}

int scan_add_git_directory(struct scan *scan, const char *path, coop_error **err)
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
    const char *copy = scan_keep_text(scan, path);
    if (!copy)
        return fail_no_memory(err);
    out->git_directories[out->n_git_directories++] = copy;
    return 0;
}

/* Outer before inner, as compare_mounts() in view.c. */
int scan_compare_paths(const char *left, const char *right)
{
    const unsigned char *p = (const unsigned char *)left;
    const unsigned char *q = (const unsigned char *)right;

    while (*p && *p == *q)
        p++, q++;
    if (*p == *q)
        return 0;
    if (!*p || !*q)
        return *p ? 1 : -1;
    if (*p == '/' || *q == '/')
        return *p == '/' ? -1 : 1;
    return *p < *q ? -1 : 1;
}

/* Of one path the stronger first. */
static int by_place(const void *left, const void *right)
{
    const struct protect_found *a = left;
    const struct protect_found *b = right;
    int order = scan_compare_paths(a->path, b->path);

    return order ? order : (a->kind > b->kind) - (a->kind < b->kind);
}

static bool is_within(const char *path, const char *directory)
{
    size_t n = strlen(directory);

    return strncmp(path, directory, n) == 0 && path[n] == '/';
}

void scan_put_in_order(struct protect_scan *scan)
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

void protect_scan_done(struct protect_scan *scan)
{
    while (scan->texts) {
        struct protect_scan_text *next = scan->texts->next;

        free(scan->texts);
        scan->texts = next;
    }
    free(scan->found);
    free(scan->git_directories);
    free(scan->absent);
    scan_entries_done(&scan->records);
    *scan = (struct protect_scan){ 0 };
}
