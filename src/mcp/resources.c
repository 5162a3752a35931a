/*
 * resources.c - the files of the workspace as resources
 *
 * Their addresses are the paths that the tools know, so what a model reads here and what it says to a
 * tool is the same. A page of the list ends with the address of its last file, and that is the cursor:
 * the next page begins behind it, whatever has changed meanwhile.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/media.h"
#include "base/utf8.h"
#include "mcp/alias/private.h"
#include "mcp/file_uri.h"
#include "mcp/methods.h"
#include "tools/path/place.h"
#include "tools/rights.h"
#include "tools/search/walk.h"

#define PAGE 200

static bool may_read(const struct toolset *toolset, const char **why)
{
    return coop_tools_may(toolset->tools, "read_file", why);
}

/* ---- the list */

struct listing {
    struct json_writer json;
    const struct revision *revision;
    const char *workspace; /* as the tools see it */
    const char *directory; /* where the walk began, likewise */
    const char *after;     /* a path below that; NULL: from the beginning */
    size_t n;
    struct buffer last; /* the address of the last one; it is a cursor if there are more */
    bool has_more;
};

/* In which order a walk comes to two paths: by the names of directories first. */
static int compare_paths(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    int x = *a == '/' ? 1 : (unsigned char)*a; /* behind the end, before every other character */
    int y = *b == '/' ? 1 : (unsigned char)*b;
    return x - y;
}

static bool is_above(const char *directory, const char *path)
{
    size_t n = strlen(directory);

    return strncmp(directory, path, n) == 0 && path[n] == '/';
}

/* NULL: it is not below the directory. */
static const char *path_below(const char *path, const char *directory)
{
    if (strcmp(directory, "/") == 0)
        return path[0] == '/' && path[1] ? path + 1 : NULL;
    return is_above(directory, path) ? path + strlen(directory) + 1 : NULL;
}

static int list_entry(void *context, const struct walk_entry *entry, coop_error **err)
{
    struct listing *listing = context;
    struct stat st;

    (void)err;
    if (listing->after && compare_paths(entry->path, listing->after) <= 0)
        return is_above(entry->path, listing->after) || entry->kind != WALK_DIRECTORY
                   ? WALK_ON
                   : WALK_PASS_OVER;
    if (entry->kind != WALK_FILE)
        return WALK_ON;
    if (listing->n == PAGE) {
        listing->has_more = true;
        return WALK_STOP;
    }
    auto_buffer struct buffer path = { 0 };
    buffer_printf(&path, "%s/%s", strcmp(listing->directory, "/") ? listing->directory : "",
                  entry->path);
    if (path.failed)
        return fail_no_memory(err);
    listing->n++;
    buffer_done(&listing->last);
    file_uri_append(&listing->last, path.data);
    json_write_object_begin(&listing->json);
    json_write_key(&listing->json, "uri");
    json_write_string(&listing->json, listing->last.data, listing->last.length);
    const char *name = path_below(path.data, listing->workspace);
    json_write_key(&listing->json, "name");
    json_write_text(&listing->json, name ? name : path.data);
    if (listing->revision->has_annotations &&
        fstatat(entry->directory_fd, entry->name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        json_write_key(&listing->json, "size");
        json_write_int(&listing->json, st.st_size);
    }
    json_write_object_end(&listing->json);
    return WALK_ON;
}

static int walk_directory(struct call *call, const struct toolset *toolset, struct listing *listing)
{
    auto_error coop_error *err = NULL;
    auto_place struct place place = { .fd = -1 };
    const coop_execute_options options = { .size = sizeof options,
                                           .can_cancel = call->cancel_fd >= 0,
                                           .cancel_fd = call->cancel_fd };
    const struct tool_call tool_call = { .tools = toolset->tools,
                                         .places = toolset->places,
                                         .options = &options };
    struct walk_watch watch;
    struct walk_result result;
    auto_rights struct rights rights = { 0 };
    int r = rights_lower_for(&rights, toolset->tools, &err);

    if (r == 0)
        r = place_find(toolset->places, listing->directory, PLACE_READ, &place, &err);
    if (r == 0) {
        walk_watch_init(&watch, &tool_call);
        r = walk_place(&place, &(struct walk_options){ 0 }, &watch, list_entry, listing, &result,
                       &err);
    }
    if (r == -ENOMEM)
        return call_no_memory(call);
    return r < 0 ? call_fault(call, RPC_INTERNAL, "%s", coop_error_message(err)) : 0;
}

/* One directory after the other, from where the cursor stands. */
static int list_all(struct call *call, const struct toolset *toolset, const char *cursor,
                    struct listing *listing)
{
    auto_free char *path = cursor ? file_uri_path(cursor) : NULL;
    size_t i = 0;
    int r = 0;

    if (cursor) {
        while (path && toolset->views[i] && !(listing->after = path_below(path, toolset->views[i])))
            i++;
        if (!listing->after)
            return call_fault(call, RPC_INVALID_PARAMS, "'cursor' was not issued by this server");
    }
    for (; r == 0 && toolset->views[i] && !listing->has_more; i++) {
        listing->directory = toolset->views[i];
        r = walk_directory(call, toolset, listing);
        listing->after = NULL;
    }
    return r;
}

int method_resources_list(struct call *call, struct buffer *out)
{
    bool is_wrong = false;
    const char *cursor = call_text(call, "cursor", &is_wrong);

    if (is_wrong)
        return call_fault(call, RPC_INVALID_PARAMS, "'cursor' must be a string");
    int r = roots_await(call->session, call);
    if (r < 0)
        return r;
    auto_toolset struct toolset *toolset = session_toolset(call->session);
    struct listing listing = { .revision = call->revision,
                               .workspace = coop_tools_workspace(toolset->tools) };
    json_write_init(&listing.json, out, false);
    json_write_object_begin(&listing.json);
    json_write_key(&listing.json, "resources");
    json_write_array_begin(&listing.json);
    r = may_read(toolset, NULL) ? list_all(call, toolset, cursor, &listing) : 0;
    if (r == 0) {
        json_write_array_end(&listing.json);
        if (listing.has_more) {
            json_write_key(&listing.json, "nextCursor");
            json_write_string(&listing.json, listing.last.data, listing.last.length);
        }
        json_write_object_end(&listing.json);
        json_write_finish(&listing.json);
    }
    buffer_done(&listing.last);
    return r;
}

int method_resource_templates(struct call *call, struct buffer *out)
{
    auto_toolset struct toolset *toolset = session_toolset(call->session);
    const char *workspace = coop_tools_workspace(toolset->tools);
    auto_buffer struct buffer uri = { 0 };
    struct json_writer json;

    file_uri_append(&uri, workspace);
    buffer_append_string(&uri, strcmp(workspace, "/") == 0 ? "{+path}" : "/{+path}");
    json_write_init(&json, out, false);
    json_write_object_begin(&json);
    json_write_key(&json, "resourceTemplates");
    json_write_array_begin(&json);
    if (may_read(toolset, NULL)) {
        json_write_object_begin(&json);
        json_write_key(&json, "uriTemplate");
        json_write_string(&json, uri.data, uri.length);
        json_write_key(&json, "name");
        json_write_text(&json, "workspace file");
        json_write_key(&json, "description");
        json_write_text(&json, "A file in the workspace, by its path");
        json_write_object_end(&json);
    }
    json_write_array_end(&json);
    json_write_object_end(&json);
    json_write_finish(&json);
    return 0;
}

/* ---- reading */

static bool is_text(const struct buffer *content)
{
    return content->length == 0 ||
           (utf8_valid_prefix(content->data, content->length) == content->length &&
            !memchr(content->data, '\0', content->length));
}

static void write_contents(struct buffer *out, const char *uri, const struct buffer *content)
{
    const char *type = content->length ? media_type(content->data, content->length) : NULL;
    auto_buffer struct buffer blob = { 0 };
    struct json_writer json;
    bool as_text = is_text(content);

    json_write_init(&json, out, false);
    json_write_object_begin(&json);
    json_write_key(&json, "contents");
    json_write_array_begin(&json);
    json_write_object_begin(&json);
    json_write_key(&json, "uri");
    json_write_text(&json, uri);
    json_write_key(&json, "mimeType");
    json_write_text(&json, as_text ? "text/plain" : type ? type : "application/octet-stream");
    json_write_key(&json, as_text ? "text" : "blob");
    if (as_text) {
        json_write_string(&json, content->data, content->length);
    } else {
        base64_append(&blob, content->data, content->length);
        json_write_string(&json, blob.data, blob.length);
        out->failed |= blob.failed;
    }
    json_write_object_end(&json);
    json_write_array_end(&json);
    json_write_object_end(&json);
    json_write_finish(&json);
}

static int no_resource(struct call *call, const char *uri, const char *why)
{
    struct buffer data = { 0 };
    struct json_writer json;

    json_write_init(&json, &data, false);
    json_write_object_begin(&json);
    json_write_key(&json, "uri");
    json_write_text(&json, uri);
    json_write_object_end(&json);
    call->fault_data = buffer_take_string(&data);
    return call_fault(call, RPC_NO_RESOURCE, "%s", why);
}

int method_resources_read(struct call *call, struct buffer *out)
{
    bool is_wrong = false;
    const char *uri = call_text(call, "uri", &is_wrong);
    const char *why = NULL;
    auto_error coop_error *err = NULL;
    auto_buffer struct buffer content = { 0 };

    if (!uri)
        return call_fault(call, RPC_INVALID_PARAMS, "'uri' must be a string");
    auto_free char *path = file_uri_path(uri);
    if (!path)
        return no_resource(call, uri, "resources are files, with URIs of the form file:///...");
    int r = roots_await(call->session, call);
    if (r < 0)
        return r;
    auto_toolset struct toolset *toolset = session_toolset(call->session);
    if (!may_read(toolset, &why))
        return no_resource(call, uri, why);
    const struct alias_call reading = { .toolset = toolset };
    auto_rights struct rights rights = { 0 };
    r = rights_lower_for(&rights, toolset->tools, &err);
    if (r == 0)
        r = alias_read(&reading, path, &content, &err);
    if (r == -ENOMEM)
        return call_no_memory(call);
    if (r < 0)
        return no_resource(call, uri, coop_error_message(err));
    write_contents(out, uri, &content);
    return 0;
}
