/*
 * glob.c - the tool that finds files by name
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json/write.h"
#include "base/printable.h"
#include "tools/search/name_filter.h"
#include "tools/search/search.h"

#define FOUND_MAX     100000 /* kept until they are sorted; beyond, they are only counted */
#define LIMIT_DEFAULT 200

struct found {
    char *path; /* a directory's with a '/' behind it */
    int64_t modified_ns;
};

struct globbing {
    struct search_call search;
    struct name_filter *filter;
    bool by_name;
    struct found *found;
    size_t n_found, capacity;
    size_t n_matched;
};

static void globbing_done(struct globbing *globbing)
{
    for (size_t i = 0; i < globbing->n_found; i++)
        free(globbing->found[i].path);
    free(globbing->found);
    name_filter_free(globbing->filter);
    search_done(&globbing->search);
}

static int64_t modified_ns(const struct walk_entry *entry)
{
    struct stat st;

    if (fstatat(entry->directory_fd, entry->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    return (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

static int keep(struct globbing *globbing, const struct walk_entry *entry, coop_error **err)
{
    bool is_directory = entry->kind == WALK_DIRECTORY;
    size_t n = strlen(entry->path);

    globbing->n_matched++;
    if (globbing->n_found == FOUND_MAX)
        return 0;
    if (globbing->n_found == globbing->capacity) {
        size_t wanted = globbing->capacity ? 2 * globbing->capacity : 64;
        void *more = reallocarray(globbing->found, wanted, sizeof *globbing->found);

        if (!more)
            return fail_no_memory(err);
        globbing->found = more;
        globbing->capacity = wanted;
    }
    char *path = malloc(n + 2);
    if (!path)
        return fail_no_memory(err);
    memcpy(path, entry->path, n);
    (void)strcpy(path + n, is_directory ? "/" : "");
    globbing->found[globbing->n_found++] =
        (struct found){ path, globbing->by_name ? 0 : modified_ns(entry) };
    return 0;
}

static int each(void *context, const struct walk_entry *entry, coop_error **err)
{
    struct globbing *globbing = context;

    if (name_filter_takes(globbing->filter, entry->path, entry->kind)) {
        int r = keep(globbing, entry, err);
        if (r < 0)
            return r;
    }
    return entry->kind == WALK_DIRECTORY &&
                   !name_filter_may_take_below(globbing->filter, entry->path)
               ? WALK_PASS_OVER
               : WALK_ON;
}

/* The newest first; where times are equal, and where they do not count, by path. */
static int compare(const void *a, const void *b)
{
    const struct found *x = a;
    const struct found *y = b;

    if (x->modified_ns != y->modified_ns)
        return x->modified_ns > y->modified_ns ? -1 : 1;
    return strcmp(x->path, y->path);
}

/* ---- the reply */

static void write_text(const struct globbing *globbing, const char *pattern, size_t n_told)
{
    const struct search_call *search = &globbing->search;
    struct buffer *text = &search->call->reply->text;

    for (size_t i = 0; i < n_told; i++) {
        search_append_path(text, search, globbing->found[i].path);
        buffer_append_char(text, '\n');
    }
    if (n_told == 0) {
        buffer_append_string(text, "No file matches '");
        printable_append(text, pattern, strlen(pattern));
        buffer_append_string(text, "' in '");
        printable_append(text, search->place.path, strlen(search->place.path));
        buffer_append_string(text, search->options.includes_ignored
                                       ? "'.\n"
                                       : "'. Files ignored by .gitignore were not searched: set "
                                         "include_ignored to search them.\n");
    }
    if (globbing->n_matched > n_told)
        buffer_printf(text, "[%zu of %zu shown: raise limit, or narrow the pattern]\n", n_told,
                      globbing->n_matched);
    search_append_notes(text, search);
}

static void write_structured(const struct globbing *globbing, const char *pattern, size_t n_told)
{
    const struct search_call *search = &globbing->search;
    struct json_writer json;

    json_write_init(&json, &search->call->reply->structured, false);
    json_write_object_begin(&json);
    json_write_key(&json, "pattern");
    json_write_text(&json, pattern);
    json_write_key(&json, "path");
    json_write_text(&json, search->place.path);
    json_write_key(&json, "files");
    json_write_array_begin(&json);
    for (size_t i = 0; i < n_told; i++) {
        auto_buffer struct buffer path = { 0 };

        search_join_path(&path, search, globbing->found[i].path);
        json_write_string(&json, path.data ? path.data : "", path.length);
    }
    json_write_array_end(&json);
    json_write_key(&json, "matched");
    json_write_uint(&json, globbing->n_matched);
    json_write_key(&json, "truncated");
    json_write_bool(&json, globbing->n_matched > n_told || search->result.is_cut);
    if (search->result.n_unreadable > 0) {
        json_write_key(&json, "errors");
        json_write_uint(&json, search->result.n_unreadable);
    }
    json_write_object_end(&json);
    json_write_finish(&json);
}

/* ---- */

/* "/work/src/x*.c" without a path: the directory in front of the first wildcard is the path. */
static const char *split_absolute(const char *pattern, char **out_path)
{
    size_t n = strcspn(pattern, "*?[{\\");

    while (n > 0 && pattern[n - 1] != '/')
        n--;
    if (n == strlen(pattern)) /* "/work/src/": the directory itself is what is looked for */
        for (n--; n > 0 && pattern[n - 1] != '/';)
            n--;
    if (n == 0 || !(*out_path = strndup(pattern, n)))
        return pattern;
    return pattern + n;
}

static int run(struct globbing *globbing, const char *pattern, const char *path, coop_error **err)
{
    struct search_call *search = &globbing->search;
    int r = search_init(search, search->call, path, err);

    if (r < 0)
        return r;
    if (!search->is_directory)
        return place_fail(err, ENOTDIR, search->place.path,
                          "is not a directory: give the directory to search in as the path");
    r = name_filter_new(pattern, &globbing->filter, err);
    if (r < 0)
        return r;
    return walk_place(&search->place, &search->options, &search->watch, each, globbing,
                      &search->result, err);
}

int tool_glob(struct tool_call *call, coop_error **err)
{
    const char *pattern = tool_text(call, "pattern");
    const char *path = tool_text(call, "path");
    const char *sort = tool_text(call, "sort");
    size_t limit = (size_t)tool_number(call, "limit", LIMIT_DEFAULT);
    auto_free char *split = NULL;
    struct globbing globbing = { .search.call = call,
                                 .by_name = sort && strcmp(sort, "name") == 0 };
    const char *rest = pattern[0] == '/' && !path ? split_absolute(pattern, &split) : pattern;
    /* what was split off had a slash, so what is left is a path, not a name */
    auto_buffer struct buffer anchored = { 0 };
    if (split)
        buffer_append_string(&anchored, strchr(rest, '/') ? "" : "./");
    buffer_append_string(&anchored, rest);
    if (anchored.failed)
        return fail_no_memory(err);
    int r = run(&globbing, anchored.data, split ? split : path, err);
    if (r == 0) {
        if (globbing.n_found > 0)
            qsort(globbing.found, globbing.n_found, sizeof *globbing.found, compare);
        size_t n_told = globbing.n_found < limit ? globbing.n_found : limit;
        write_text(&globbing, pattern, n_told);
        write_structured(&globbing, pattern, n_told);
        if (call->reply->text.failed || call->reply->structured.failed)
            r = fail_no_memory(err);
    }
    globbing_done(&globbing);
    return r;
}
