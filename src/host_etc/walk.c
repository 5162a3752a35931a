/*
 * walk.c - the rule applied to what is there
 *
 * Everything is decided on what was opened: a file is looked at, read and judged by one descriptor, and
 * no link is followed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/fd.h"
#include "host_etc/rule.h"
#include "policy/secret_content.h"

#define FILE_MAX_SIZE ((off_t)8 << 20)
#define DEPTH_MAX     16
#define NAME_SPACE    4096

struct walk {
    const struct etc_shipped *shipped;
    etc_visit *visit;
    void *context;
    struct buffer bytes;
    char name[NAME_SPACE];
};

static int tell(struct walk *walk, struct etc_entry *entry, enum etc_verdict verdict)
{
    entry->verdict = verdict;
    return walk->visit(walk->context, entry);
}

/* "://user@" or "://user:password@", in a file that has no business with either. */
static bool has_url_user(const char *bytes, size_t n)
{
    const char *end = bytes + n;

    for (const char *at = bytes; (at = memmem(at, (size_t)(end - at), "://", 3));) {
        at += 3;
        at += strcspn(at, "/@ \t\r\n");
        if (at < end && *at == '@')
            return true;
    }
    return false;
}

static int visit_file(struct walk *walk, int directory_fd, const char *last, struct stat *st,
                      struct etc_entry *entry)
{
    auto_close int fd = openat(directory_fd, last, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0)
        return errno == ENOENT ? 0 : tell(walk, entry, ETC_CLOSED);
    if (fstat(fd, st) < 0)
        return -errno;
    if (!S_ISREG(st->st_mode) || st->st_size > FILE_MAX_SIZE)
        return tell(walk, entry, ETC_ODD);
    if (!(st->st_mode & S_IROTH))
        return tell(walk, entry, ETC_CLOSED);
    walk->bytes.length = 0;
    if (!buffer_reserve(&walk->bytes, (size_t)FILE_MAX_SIZE + 2))
        return -ENOMEM;
    ssize_t n = fd_read_start(fd, walk->bytes.data, (size_t)FILE_MAX_SIZE + 1);
    if (n < 0)
        return tell(walk, entry, ETC_CLOSED);
    if (n > (ssize_t)FILE_MAX_SIZE) /* it grew meanwhile */
        return tell(walk, entry, ETC_ODD);
    walk->bytes.data[n] = '\0';
    entry->why = secret_content(walk->bytes.data, (size_t)n);
    if (!entry->why && strncmp(entry->name, "apt/", 4) == 0 &&
        has_url_user(walk->bytes.data, (size_t)n))
        entry->why = "a user in an address";
    if (entry->why)
        return tell(walk, entry, ETC_SECRET);
    entry->bytes = walk->bytes.data;
    entry->n = (size_t)n;
    return tell(walk, entry, ETC_ADMITTED);
}

static int visit_link(struct walk *walk, int directory_fd, const char *last,
                      struct etc_entry *entry)
{
    char text[NAME_SPACE];
    ssize_t n = readlinkat(directory_fd, last, text, sizeof text - 1);

    if (n <= 0 || n == (ssize_t)sizeof text - 1)
        return n < 0 && errno == ENOENT ? 0 : tell(walk, entry, ETC_ODD);
    text[n] = '\0';
    entry->bytes = text;
    entry->n = (size_t)n;
    return tell(walk, entry, ETC_ADMITTED);
}

static int walk_directory(struct walk *walk, int directory_fd, size_t length, unsigned depth);

static int visit_directory(struct walk *walk, int parent_fd, const char *last, size_t length,
                           unsigned depth, struct stat *st, struct etc_entry *entry)
{
    auto_close int fd =
        openat(parent_fd, last, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0)
        return errno == ENOENT ? 0 : tell(walk, entry, ETC_CLOSED);
    if (fstat(fd, st) < 0)
        return -errno;
    if (!(st->st_mode & S_IXOTH))
        return tell(walk, entry, ETC_CLOSED);
    if (depth == DEPTH_MAX)
        return tell(walk, entry, ETC_ODD);
    int r = tell(walk, entry, ETC_ADMITTED);
    return r != 0 ? r : walk_directory(walk, fd, length, depth + 1);
}

static int visit_name(struct walk *walk, int directory_fd, size_t at, unsigned depth)
{
    const char *last = walk->name + at;
    struct etc_entry entry = { .name = walk->name };
    struct stat st;
    enum etc_verdict verdict = etc_rule_name(walk->name, walk->shipped->has_database, &entry.why);

    if (fstatat(directory_fd, last, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : -errno;
    entry.st = &st;
    entry.is_shipped = etc_shipped_has(walk->shipped, walk->name);
    if (verdict == ETC_REFUSED || verdict == ETC_MADE_UP)
        return tell(walk, &entry, verdict);
    if (S_ISDIR(st.st_mode))
        return visit_directory(walk, directory_fd, last, strlen(walk->name), depth, &st, &entry);
    if (verdict == ETC_LOCAL && !entry.is_shipped)
        return tell(walk, &entry, ETC_LOCAL);
    if (S_ISREG(st.st_mode))
        return visit_file(walk, directory_fd, last, &st, &entry);
    return S_ISLNK(st.st_mode) ? visit_link(walk, directory_fd, last, &entry)
                               : tell(walk, &entry, ETC_ODD);
}

static int walk_directory(struct walk *walk, int directory_fd, size_t length, unsigned depth)
{
    int fd = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    size_t at = length + (length > 0);
    int r = 0;

    if (!stream) {
        close_fd(&fd);
        return -EIO;
    }
    while (r == 0 && (entry = readdir(stream))) {
        size_t n = strlen(entry->d_name);

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            at + n >= sizeof walk->name)
            continue;
        if (length > 0)
            walk->name[length] = '/';
        memcpy(walk->name + at, entry->d_name, n + 1);
        r = visit_name(walk, directory_fd, at, depth);
    }
    walk->name[length] = '\0';
    (void)closedir(stream);
    return r;
}

int etc_walk(int root_fd, const struct etc_shipped *shipped, etc_visit *visit, void *context,
             coop_error **err)
{
    struct walk walk = { .shipped = shipped, .visit = visit, .context = context };
    struct stat st = { 0 };
    struct etc_entry etc = { .name = walk.name, .st = &st };
    int r = visit_directory(&walk, root_fd, "etc", 0, 0, &st, &etc);

    buffer_done(&walk.bytes);
    return r < 0 ? fail(err, -r, "look through '/etc'") : r;
}
