/*
 * shipped.c - the names below /etc that packages ship, from the package manager's own files
 *
 * dpkg has a list for each package, also for one that was removed and left its settings; pacman a
 * directory. rpm's database is not read: a table of common names stands in for it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/fd.h"
#include "host_etc/rule.h"

#define LIST_MAX  ((size_t)64 << 20)
#define NAMES_MAX 200000

static const struct database {
    const char *directory;
    const char *file;   /* in each directory of it; NULL: its files themselves */
    const char *suffix; /* of the files */
    const char *prefix; /* of the lines that count */
} databases[] = {
    { "var/lib/dpkg/info", NULL, ".list", "/etc/" },
    { "var/lib/pacman/local", "files", "", "etc/" },
};

static int add(struct etc_shipped *out, const char *name, size_t n)
{
    if (n == 0 || n >= 4096)
        return 0;
    if (out->n == NAMES_MAX)
        return -E2BIG;
    if (out->n == out->capacity) {
        size_t capacity = out->capacity ? 2 * out->capacity : 1024;
        char **grown = reallocarray(out->names, capacity, sizeof *grown);

        if (!grown)
            return -ENOMEM;
        out->names = grown;
        out->capacity = capacity;
    }
    out->names[out->n] = strndup(name, n);
    return out->names[out->n] ? (out->n++, 0) : -ENOMEM;
}

static int add_lines(struct etc_shipped *out, const char *text, const char *prefix)
{
    size_t length = strlen(prefix);
    int r = 0;

    for (const char *line = text; r == 0 && *line;) {
        size_t n = strcspn(line, "\n");

        if (n > length && strncmp(line, prefix, length) == 0)
            r = add(out, line + length, n - length - (line[n - 1] == '/'));
        line += n + (line[n] == '\n');
    }
    return r;
}

/* What cannot be read ships nothing. */
static int read_list(int directory_fd, const char *name, struct buffer *text)
{
    auto_close int fd = openat(directory_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;

    text->length = 0;
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size < 0 ||
        (size_t)st.st_size > LIST_MAX)
        return 0;
    if (!buffer_reserve(text, (size_t)st.st_size + 1))
        return -ENOMEM;
    ssize_t n = fd_read_start(fd, text->data, (size_t)st.st_size);
    text->data[n > 0 ? n : 0] = '\0';
    text->length = n > 0 ? (size_t)n : 0;
    return 0;
}

static bool ends_with(const char *name, const char *suffix)
{
    size_t n = strlen(name);
    size_t length = strlen(suffix);

    return n > length && strcmp(name + n - length, suffix) == 0;
}

static int read_database(int directory_fd, const struct database *database, struct etc_shipped *out)
{
    auto_buffer struct buffer text = { 0 };
    int fd = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    int r = 0;

    if (!stream) {
        close_fd(&fd);
        return -EIO;
    }
    while (r == 0 && (entry = readdir(stream))) {
        auto_close int package_fd = -1;

        if (entry->d_name[0] == '.' || !ends_with(entry->d_name, database->suffix))
            continue;
        if (database->file) {
            package_fd =
                openat(directory_fd, entry->d_name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (package_fd < 0)
                continue;
        }
        r = read_list(database->file ? package_fd : directory_fd,
                      database->file ? database->file : entry->d_name, &text);
        if (r == 0 && text.length > 0)
            r = add_lines(out, text.data, database->prefix);
    }
    (void)closedir(stream);
    return r;
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int etc_shipped_load(int root_fd, struct etc_shipped *out, coop_error **err)
{
    *out = (struct etc_shipped){ 0 };
    for (size_t i = 0; i < COUNT(databases); i++) {
        auto_close int fd =
            openat(root_fd, databases[i].directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        int r = fd < 0 ? 0 : read_database(fd, &databases[i], out);

        if (r < 0) {
            etc_shipped_done(out);
            return fail(err, -r, "read the package database '/%s'", databases[i].directory);
        }
    }
    out->has_database = out->n > 0;
    if (out->n > 0)
        qsort(out->names, out->n, sizeof *out->names, compare);
    return 0;
}

bool etc_shipped_has(const struct etc_shipped *shipped, const char *name)
{
    return shipped->n > 0 &&
           bsearch(&name, shipped->names, shipped->n, sizeof *shipped->names, compare) != NULL;
}

void etc_shipped_done(struct etc_shipped *shipped)
{
    for (size_t i = 0; i < shipped->n; i++)
        free(shipped->names[i]);
    free(shipped->names);
    *shipped = (struct etc_shipped){ 0 };
}
