/*
 * list.c - aliases that tell of directories and files
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json/write.h"
#include "mcp/alias/private.h"
#include "sys/birth_time.h"
#include "tools/path/place.h"

/* ---- directories, through list_dir */

static int list(const struct alias_call *call, struct json_document *out, coop_error **err)
{
    auto_buffer struct buffer arguments = { 0 };
    auto_free char *path = alias_path(alias_text(call, "path"));
    struct json_writer json;

    json_write_init(&json, &arguments, false);
    json_write_object_begin(&json);
    json_write_key(&json, "path");
    json_write_text(&json, path);
    json_write_key(&json, "limit");
    json_write_int(&json, 10000);
    json_write_object_end(&json);
    json_write_finish(&json);
    return path ? alias_execute(call, "list_dir", &arguments, out, err) : fail_no_memory(err);
}

static const char *member_text(const struct json_value *entry, const char *name)
{
    const struct json_value *value = json_get(entry, name);

    return value && value->kind == JSON_TEXT ? value->text : "";
}

static bool is_directory(const struct json_value *entry)
{
    return strcmp(member_text(entry, "type"), "directory") == 0;
}

int alias_list(struct alias_call *call, coop_error **err)
{
    auto_json_document struct json_document document = { 0 };
    int r = list(call, &document, err);
    const struct json_value *entries = r == 0 ? json_get(document.root, "entries") : NULL;

    for (const struct json_value *entry = entries ? entries->first : NULL; entry;
         entry = entry->next)
        buffer_printf(&call->text, "%s[%s] %s", call->text.length ? "\n" : "",
                      is_directory(entry) ? "DIR" : "FILE", member_text(entry, "name"));
    return r;
}

/* ---- sizes */

struct sized {
    const char *name;
    double size;
    bool is_directory;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct sized *)a)->name, ((const struct sized *)b)->name);
}

static int by_size(const void *a, const void *b)
{
    double x = ((const struct sized *)a)->size;
    double y = ((const struct sized *)b)->size;

    return x == y ? by_name(a, b) : x < y ? 1 : -1;
}

static void print_size(char *out, size_t size, double bytes)
{
    static const char *const units[] = { "B", "KB", "MB", "GB", "TB" };
    size_t unit = 0;

    while (bytes >= 1024 && unit + 1 < COUNT(units)) {
        bytes /= 1024;
        unit++;
    }
    (void)snprintf(out, size, unit == 0 ? "%.0f %s" : "%.2f %s", bytes, units[unit]);
}

/* How many columns a name takes, as that server counts: UTF-16 units. */
static int pad_after(const char *name, int columns)
{
    for (; *name; name++)
        columns -= ((*name & 0xC0) != 0x80) + ((unsigned char)*name >= 0xF0);
    return columns > 0 ? columns : 0;
}

static void print_sized(struct buffer *out, const struct sized *all, size_t n)
{
    size_t n_directories = 0;
    double total = 0;
    char size[32];

    for (size_t i = 0; i < n; i++) {
        print_size(size, sizeof size, all[i].size);
        buffer_printf(out, "[%s] %s%*s ", all[i].is_directory ? "DIR" : "FILE", all[i].name,
                      pad_after(all[i].name, 30), "");
        if (!all[i].is_directory)
            buffer_printf(out, "%10s", size);
        buffer_append_char(out, '\n');
        n_directories += all[i].is_directory;
        total += all[i].is_directory ? 0 : all[i].size;
    }
    print_size(size, sizeof size, total);
    buffer_printf(out, "\nTotal: %zu files, %zu directories\nCombined size: %s", n - n_directories,
                  n_directories, size);
}

/* Of a link the size of what it leads to counts. */
static double size_of(const struct alias_call *call, const struct json_value *listing,
                      const struct json_value *entry)
{
    const struct json_value *size = json_get(entry, "size");
    auto_buffer struct buffer path = { 0 };
    auto_place struct place place = { .fd = -1 };

    if (size)
        return strtod(size->text, NULL);
    buffer_printf(&path, "%s/%s", member_text(listing, "path"), member_text(entry, "name"));
    if (path.failed || place_find(call->toolset->places, path.data, PLACE_READ, &place, NULL) < 0)
        return 0;
    return (double)place.st.st_size;
}

int alias_list_sizes(struct alias_call *call, coop_error **err)
{
    auto_json_document struct json_document document = { 0 };
    bool sorts_by_size = strcmp(alias_text(call, "sortBy"), "size") == 0;
    size_t n = 0;
    int r = list(call, &document, err);

    if (r < 0)
        return r;
    const struct json_value *entries = json_get(document.root, "entries");
    for (const struct json_value *entry = entries ? entries->first : NULL; entry;
         entry = entry->next)
        n++;
    auto_free struct sized *all = calloc(n + 1, sizeof *all);
    if (!all)
        return fail_no_memory(err);
    n = 0;
    for (const struct json_value *entry = entries ? entries->first : NULL; entry;
         entry = entry->next)
        all[n++] = (struct sized){ member_text(entry, "name"), size_of(call, document.root, entry),
                                   is_directory(entry) };
    qsort(all, n, sizeof *all, sorts_by_size ? by_size : by_name);
    print_sized(&call->text, all, n);
    return 0;
}

/* ---- one file */

/* As JavaScript prints a date. */
static void print_time(struct buffer *out, const char *name, time_t seconds)
{
    struct tm when;
    char text[64] = "";

    if (!localtime_r(&seconds, &when))
        return;
    (void)strftime(text, sizeof text, "%a %b %d %Y %H:%M:%S GMT%z", &when);
    bool is_universal = when.tm_gmtoff == 0 && strcmp(when.tm_zone, "UTC") == 0;
    buffer_printf(out, "%s: %s (%s)\n", name, text,
                  is_universal ? "Coordinated Universal Time" : when.tm_zone);
}

int alias_info(struct alias_call *call, coop_error **err)
{
    auto_free char *path = alias_path(alias_text(call, "path"));
    auto_place struct place place = { .fd = -1 };
    struct stat info;

    if (!path)
        return fail_no_memory(err);
    int r = place_find(call->toolset->places, path, PLACE_READ, &place, err);
    if (r < 0)
        return r;
    auto_close int fd = place_open(&place, O_PATH, 0, err);
    if (fd < 0)
        return fd;
    if (fstat(fd, &info) < 0)
        return fail(err, errno, "look at '%s'", place.path);
    time_t made = info.st_ctime;
    (void)sys_birth_time(fd, &made);
    struct buffer *out = &call->text;
    buffer_printf(out, "size: %lld\n", (long long)info.st_size);
    print_time(out, "created", made);
    print_time(out, "modified", info.st_mtime);
    print_time(out, "accessed", info.st_atime);
    buffer_printf(out, "isDirectory: %s\nisFile: %s\npermissions: %03o",
                  S_ISDIR(info.st_mode) ? "true" : "false",
                  S_ISREG(info.st_mode) ? "true" : "false", info.st_mode & 0777u);
    return 0;
}
