/*
 * list_dir.c - what is in a directory
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json/write.h"
#include "base/printable.h"
#include "tools/path/place.h"
#include "tools/tool.h"

#define LIMIT_DEFAULT 1000

struct list {
    const struct place *place;
    int fd;
    char **names;
    size_t n, capacity;
    size_t n_hidden;
};

static void list_done(struct list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->names[i]);
    free(list->names);
}

static void close_directory(DIR **directory)
{
    if (*directory)
        (void)closedir(*directory);
}

static int by_name(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static char *join(const char *directory, const char *name)
{
    size_t n = strlen(directory);
    auto_buffer struct buffer joined = { 0 };

    buffer_append_string(&joined, directory);
    if (n > 0 && directory[n - 1] != '/')
        buffer_append_char(&joined, '/');
    buffer_append_string(&joined, name);
    return buffer_take_string(&joined);
}

/* What is mounted there is shown in the place of what the directory itself has. */
static int look_at_mount(const struct list *list, const char *name, struct stat *st)
{
    auto_place struct place place = { .fd = -1 };
    auto_free char *path = join(list->place->path, name);
    int r = path ? place_find(list->place->places, path, PLACE_LOOK, &place, NULL) : -ENOMEM;

    if (r == 0)
        *st = place.st;
    return r;
}

/* 1: it is shown, and *st (may be NULL) what it is. */
static int look_at(const struct list *list, const char *name, unsigned char type, struct stat *st)
{
    struct stat space;
    auto_free char *below = join(list->place->below, name);

    if (!below)
        return -ENOMEM;
    if (!st && type != DT_UNKNOWN) {
        if (place_shows(list->place, below, list->fd, name, type == DT_DIR))
            return 1;
        return look_at_mount(list, name, &space) == 0;
    }
    st = st ? st : &space;
    if (fstatat(list->fd, name, st, AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    if (place_shows(list->place, below, list->fd, name, S_ISDIR(st->st_mode)))
        return 1;
    return look_at_mount(list, name, st) == 0;
}

static int add(struct list *list, const char *name, coop_error **err)
{
    if (list->n == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 64;
        char **more = reallocarray(list->names, capacity, sizeof *more);

        if (!more)
            return fail_no_memory(err);
        list->names = more;
        list->capacity = capacity;
    }
    list->names[list->n] = strdup(name);
    if (!list->names[list->n])
        return fail_no_memory(err);
    list->n++;
    return 0;
}

static int read_names(struct tool_call *call, struct list *list, coop_error **err)
{
    int copy = fcntl(list->fd, F_DUPFD_CLOEXEC, 3);
    __attribute__((cleanup(close_directory))) DIR *directory = copy < 0 ? NULL : fdopendir(copy);
    const struct dirent *entry;
    size_t n_read = 0;

    if (!directory) {
        int error = errno;

        if (copy >= 0)
            (void)close(copy);
        return fail(err, error, "read the directory '%s'", list->place->path);
    }
    while ((errno = 0, entry = readdir(directory))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (++n_read % 1024 == 0 && tool_is_cancelled(call))
            return fail_kind(err, COOP_ERROR_CANCELLED, ECANCELED, "the call was cancelled");
        int r = look_at(list, entry->d_name, entry->d_type, NULL);
        if (r == 0)
            list->n_hidden++;
        else if (r > 0)
            r = add(list, entry->d_name, err);
        else
            return fail_no_memory(err);
        if (r < 0)
            return r;
    }
    if (errno)
        return fail(err, errno, "read the directory '%s'", list->place->path);
    if (list->n > 1)
        qsort(list->names, list->n, sizeof *list->names, by_name);
    return 0;
}

static void write_entry(const struct list *list, const char *name, const struct stat *st,
                        struct buffer *text, struct json_writer *json)
{
    char target[PATH_MAX];
    ssize_t n = S_ISLNK(st->st_mode) ? readlinkat(list->fd, name, target, sizeof target) : -1;

    printable_append(text, name, strlen(name));
    if (S_ISDIR(st->st_mode)) {
        buffer_append_char(text, '/');
    } else if (n >= 0) {
        buffer_append_string(text, " -> ");
        printable_append(text, target, (size_t)n);
    } else if (S_ISREG(st->st_mode)) {
        buffer_printf(text, "  %lld", (long long)st->st_size);
    } else {
        buffer_printf(text, "  (%s)", place_type(st->st_mode));
    }
    buffer_append_char(text, '\n');
    json_write_object_begin(json);
    json_write_key(json, "name");
    json_write_text(json, name);
    json_write_key(json, "type");
    json_write_text(json, place_type(st->st_mode));
    if (S_ISREG(st->st_mode)) {
        json_write_key(json, "size");
        json_write_int(json, st->st_size);
    }
    if (n >= 0) {
        json_write_key(json, "target");
        json_write_string(json, target, (size_t)n);
    }
    json_write_object_end(json);
}

static void write_list(struct tool_call *call, const struct list *list, size_t limit)
{
    struct buffer *text = &call->reply->text;
    size_t n = list->n < limit ? list->n : limit;
    struct json_writer json;
    struct stat st;

    json_write_init(&json, &call->reply->structured, false);
    json_write_object_begin(&json);
    json_write_key(&json, "path");
    json_write_text(&json, list->place->path);
    json_write_key(&json, "entries");
    json_write_array_begin(&json);
    for (size_t i = 0; i < n; i++)
        if (look_at(list, list->names[i], DT_UNKNOWN, &st) > 0) /* else it is gone */
            write_entry(list, list->names[i], &st, text, &json);
    json_write_array_end(&json);
    json_write_key(&json, "hidden");
    json_write_uint(&json, list->n_hidden);
    json_write_key(&json, "truncated");
    json_write_bool(&json, n < list->n);
    json_write_object_end(&json);
    json_write_finish(&json);
    if (list->n == 0)
        buffer_append_string(text, list->n_hidden ? "" : "[the directory is empty]\n");
    if (n < list->n)
        buffer_printf(text, "[%zu of %zu entries are shown: raise limit, or use glob]\n", n,
                      list->n);
    if (list->n_hidden > 0)
        buffer_printf(text, "[%zu more %s not shown: hidden by the policy]\n", list->n_hidden,
                      list->n_hidden == 1 ? "is" : "are");
}

int tool_list_dir(struct tool_call *call, coop_error **err)
{
    const char *path = tool_text(call, "path");
    auto_place struct place place;
    __attribute__((cleanup(list_done))) struct list list = { .place = &place };
    int r = place_find(call->places, path ? path : ".", PLACE_READ, &place, err);

    if (r < 0)
        return r;
    if (!S_ISDIR(place.st.st_mode))
        return place_fail(err, ENOTDIR, place.path,
                          "is not a directory: use read_file to read it, or stat to describe it");
    auto_close int fd = place_open(&place, O_RDONLY | O_DIRECTORY, 0, err);
    if (fd < 0)
        return fd;
    list.fd = fd;
    r = read_names(call, &list, err);
    if (r < 0)
        return r;
    write_list(call, &list, (size_t)tool_number(call, "limit", LIMIT_DEFAULT));
    return 0;
}
