/*
 * tree.c - aliases that go through a tree
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json/write.h"
#include "mcp/alias/private.h"
#include "tools/path/place.h"
#include "tools/search/name_filter.h"
#include "tools/search/walk.h"

#define PATTERNS_MAX 100
#define TEXT_MAX     (8u * 1024 * 1024) /* bytes of an answer */

struct patterns {
    struct name_filter *filters[PATTERNS_MAX];
    size_t n;
};

struct search {
    struct place place;
    struct patterns wanted, excluded;
    struct buffer *text;
    struct json_writer json; /* of a tree */
    size_t depth;            /* of a tree: open directories */
};

static bool match_any(const struct patterns *patterns, const char *path)
{
    for (size_t i = 0; i < patterns->n; i++) /* directories are meant like files */
        if (name_filter_takes(patterns->filters[i], path, WALK_FILE))
            return true;
    return false;
}

/* As minimatch reads it: a word without a slash is about the directory itself, and what ends with two
 * stars is about what is below. */
static int add_pattern(struct patterns *patterns, const char *text, coop_error **err)
{
    auto_buffer struct buffer pattern = { 0 };
    size_t n = strlen(text);

    if (patterns->n == PATTERNS_MAX)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, E2BIG, "there are too many patterns");
    buffer_printf(&pattern, "%s%s%s", strchr(text, '/') ? "" : "./", text,
                  n >= 3 && strcmp(text + n - 3, "/**") == 0 ? "/*" : "");
    if (pattern.failed)
        return fail_no_memory(err);
    int r = name_filter_new(pattern.data, &patterns->filters[patterns->n], err);
    if (r == 0)
        patterns->n++;
    return r;
}

static void tree_search_done(struct search *search)
{
    place_done(&search->place);
    for (size_t i = 0; i < search->wanted.n; i++)
        name_filter_free(search->wanted.filters[i]);
    for (size_t i = 0; i < search->excluded.n; i++)
        name_filter_free(search->excluded.filters[i]);
}

/* In a tree a word without a star is also the name of something at any depth. */
static int exclude(struct search *search, const struct alias_call *call, bool anywhere,
                   coop_error **err)
{
    const struct json_value *list = json_get(call->arguments, "excludePatterns");
    int r = 0;

    for (const struct json_value *item = list ? list->first : NULL; r == 0 && item;
         item = item->next) {
        r = add_pattern(&search->excluded, item->text, err);
        if (r == 0 && anywhere && !strchr(item->text, '*')) {
            auto_buffer struct buffer text = { 0 };

            buffer_printf(&text, "**/%s", item->text);
            r = text.failed ? fail_no_memory(err) : add_pattern(&search->excluded, text.data, err);
        }
    }
    return r;
}

static int run(struct search *search, const struct alias_call *call, walk_fn *each,
               coop_error **err)
{
    const struct tool_call tool_call = { .tools = call->toolset->tools,
                                         .places = call->toolset->places,
                                         .arguments = call->arguments,
                                         .options = call->options };
    auto_free char *path = alias_path(alias_text(call, "path"));
    struct walk_watch watch;
    struct walk_result result;

    if (!path)
        return fail_no_memory(err);
    int r = place_find(call->toolset->places, path, PLACE_READ, &search->place, err);
    if (r < 0)
        return r;
    if (!S_ISDIR(search->place.st.st_mode))
        return place_fail(err, ENOTDIR, search->place.path, "is not a directory");
    walk_watch_init(&watch, &tool_call);
    r = walk_place(&search->place, &(struct walk_options){ .includes_ignored = true }, &watch, each,
                   search, &result, err);
    if (r == 0 && result.is_cut)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, E2BIG,
                         "the tree is too large: start in a subdirectory, or exclude something");
    return r;
}

/* ---- search_files */

static int found(void *context, const struct walk_entry *entry, coop_error **err)
{
    struct search *search = context;

    if (match_any(&search->excluded, entry->path))
        return WALK_PASS_OVER;
    if (!match_any(&search->wanted, entry->path))
        return WALK_ON;
    if (search->text->length > TEXT_MAX)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, E2BIG,
                         "too many matches: start in a subdirectory, or exclude something");
    buffer_printf(search->text, "%s%s/%s", search->text->length ? "\n" : "",
                  strcmp(search->place.path, "/") ? search->place.path : "", entry->path);
    return WALK_ON;
}

int alias_search(struct alias_call *call, coop_error **err)
{
    struct search search = { .text = &call->text, .place = { .fd = -1 } };
    int r = add_pattern(&search.wanted, alias_text(call, "pattern"), err);

    if (r == 0)
        r = exclude(&search, call, false, err);
    if (r == 0)
        r = run(&search, call, found, err);
    tree_search_done(&search);
    if (r == 0 && call->text.length == 0)
        buffer_append_string(&call->text, "No matches found");
    return r;
}

/* ---- directory_tree */

/* Ends directories until so many are open. */
static void close_directories(struct search *search, size_t depth)
{
    for (; search->depth > depth; search->depth--) {
        json_write_array_end(&search->json);
        json_write_object_end(&search->json);
    }
}

static int branch(void *context, const struct walk_entry *entry, coop_error **err)
{
    struct search *search = context;
    bool is_directory = entry->kind == WALK_DIRECTORY;
    size_t depth = 0;

    if (match_any(&search->excluded, entry->path))
        return WALK_PASS_OVER;
    if (search->text->length > TEXT_MAX)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, E2BIG,
                         "the tree is too large: start in a subdirectory, or exclude something");
    for (const char *slash = entry->path; (slash = strchr(slash, '/')); slash++)
        depth++;
    close_directories(search, depth);
    json_write_object_begin(&search->json);
    json_write_key(&search->json, "name");
    json_write_text(&search->json, entry->name);
    json_write_key(&search->json, "type");
    json_write_text(&search->json, is_directory ? "directory" : "file");
    if (is_directory) {
        json_write_key(&search->json, "children");
        json_write_array_begin(&search->json);
        search->depth++;
    } else {
        json_write_object_end(&search->json);
    }
    return WALK_ON;
}

int alias_tree(struct alias_call *call, coop_error **err)
{
    struct search search = { .text = &call->text, .place = { .fd = -1 } };
    int r = exclude(&search, call, true, err);

    json_write_init(&search.json, &call->text, true);
    json_write_array_begin(&search.json);
    if (r == 0)
        r = run(&search, call, branch, err);
    if (r == 0) {
        close_directories(&search, 0);
        json_write_array_end(&search.json);
    }
    tree_search_done(&search);
    return r;
}
