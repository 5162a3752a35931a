#include "search.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/printable.h"

/* "./src//" is told as "src/", "." as nothing. */
static void make_prefix(struct buffer *out, const char *path)
{
    size_t n = strlen(path);

    while (n > 1 && path[0] == '.' && path[1] == '/') {
        path += 2;
        n -= 2;
        while (n > 0 && path[0] == '/') {
            path++;
            n--;
        }
    }
    while (n > 0 && path[n - 1] == '/' && n > 1)
        n--;
    if (n == 0 || (n == 1 && path[0] == '.'))
        return;
    buffer_append(out, path, n);
    if (path[n - 1] != '/')
        buffer_append_char(out, '/');
}

int search_init(struct search_call *search, struct tool_call *call, const char *path,
                coop_error **err)
{
    *search = (struct search_call){ .call = call, .place.fd = -1 };
    walk_watch_init(&search->watch, call);
    search->options.includes_ignored = tool_flag(call, "include_ignored", false);
    make_prefix(&search->prefix, path ? path : ".");
    if (search->prefix.failed)
        return fail_no_memory(err);
    int r = place_find(call->places, path ? path : ".", PLACE_READ, &search->place, err);
    if (r < 0)
        return r;
    search->is_directory = S_ISDIR(search->place.st.st_mode);
    return 0;
}

void search_done(struct search_call *search)
{
    buffer_done(&search->prefix);
    if (search->place.path)
        place_done(&search->place);
}

void search_join_path(struct buffer *out, const struct search_call *search, const char *path)
{
    size_t n = search->prefix.length;

    if (*path == '\0' && n > 1)
        n--; /* the file itself that was asked for: no '/' behind it */
    if (n > 0)
        buffer_append(out, search->prefix.data, n);
    buffer_append_string(out, path);
}

void search_append_path(struct buffer *out, const struct search_call *search, const char *path)
{
    struct buffer joined = { 0 };

    search_join_path(&joined, search, path);
    if (joined.data)
        printable_append(out, joined.data, joined.length);
    out->failed |= joined.failed;
    buffer_done(&joined);
}

void search_append_notes(struct buffer *out, const struct search_call *search)
{
    const struct walk_result *result = &search->result;

    if (search->watch.is_late)
        buffer_printf(out,
                      "[stopped after %d s, so there may be more: search in a smaller directory, "
                      "or simplify the pattern]\n",
                      WALK_SECONDS);
    else if (result->is_cut)
        buffer_printf(out,
                      "[not everything was searched: more than %d entries, or too deep; search in "
                      "a smaller directory]\n",
                      WALK_ENTRIES_MAX);
    if (result->n_unreadable > 0)
        buffer_printf(out, "[%zu %s could not be read]\n", result->n_unreadable,
                      result->n_unreadable == 1 ? "directory" : "directories");
}
