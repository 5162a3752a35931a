/*
 * stat.c - what is known about a file without reading it
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json/write.h"
#include "base/printable.h"
#include "tools/path/place.h"
#include "tools/tool.h"

/* RFC 3339, UTC. */
static void print_time(const struct timespec *when, char out[40])
{
    struct tm parts;

    if (!gmtime_r(&when->tv_sec, &parts) || strftime(out, 40, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        (void)snprintf(out, 40, "@%lld", (long long)when->tv_sec);
}

/* Whether these tools may write it, and the user they run as. */
static bool is_writable(struct tool_call *call, const struct place *place)
{
    auto_place struct place again = { .fd = -1 };
    char link[64];

    if (place_find(call->places, place->path, PLACE_CHANGE, &again, NULL) < 0)
        return false;
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", again.fd);
    return !again.exists || faccessat(AT_FDCWD, link, W_OK, AT_EACCESS) == 0;
}

static void write_text(struct buffer *text, const struct place *place, const char *mode,
                       const char *modified, const char *target, bool is_open)
{
    printable_append(text, place->path, strlen(place->path));
    buffer_printf(text, "\ntype: %s\n", place_type(place->st.st_mode));
    if (target) {
        buffer_append_string(text, "target: ");
        printable_append(text, target, strlen(target));
        buffer_append_char(text, '\n');
    }
    buffer_printf(text, "size: %lld\nmode: %s\nmodified: %s\nwritable: %s\n",
                  (long long)place->st.st_size, mode, modified, is_open ? "yes" : "no");
}

static void write_facts(struct json_writer *json, const struct place *place, const char *mode,
                        const char *modified, const char *target, bool is_open)
{
    json_write_object_begin(json);
    json_write_key(json, "path");
    json_write_text(json, place->path);
    json_write_key(json, "type");
    json_write_text(json, place_type(place->st.st_mode));
    json_write_key(json, "size");
    json_write_int(json, place->st.st_size);
    json_write_key(json, "mode");
    json_write_text(json, mode);
    json_write_key(json, "modified");
    json_write_text(json, modified);
    json_write_key(json, "writable");
    json_write_bool(json, is_open);
    if (target) {
        json_write_key(json, "target");
        json_write_text(json, target);
    }
    json_write_key(json, "links");
    json_write_uint(json, place->st.st_nlink);
    json_write_key(json, "uid");
    json_write_uint(json, place->st.st_uid);
    json_write_key(json, "gid");
    json_write_uint(json, place->st.st_gid);
    json_write_object_end(json);
    json_write_finish(json);
}

int tool_stat(struct tool_call *call, coop_error **err)
{
    bool follows = tool_flag(call, "follow", true);
    auto_place struct place place;
    struct json_writer json;
    char modified[40];
    char mode[16];
    char target[PATH_MAX] = "";
    int r = place_find(call->places, tool_text(call, "path"), follows ? PLACE_READ : PLACE_LOOK,
                       &place, err);

    if (r < 0)
        return r;
    if (S_ISLNK(place.st.st_mode)) {
        ssize_t n = readlinkat(place.fd, "", target, sizeof target - 1);

        target[n > 0 ? n : 0] = '\0';
    }
    bool is_open = !S_ISLNK(place.st.st_mode) && is_writable(call, &place);
    print_time(&place.st.st_mtim, modified);
    (void)snprintf(mode, sizeof mode, "%04o", place.st.st_mode & 07777);
    json_write_init(&json, &call->reply->structured, false);
    write_facts(&json, &place, mode, modified, *target ? target : NULL, is_open);
    write_text(&call->reply->text, &place, mode, modified, *target ? target : NULL, is_open);
    return 0;
}
