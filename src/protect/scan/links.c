#include "links.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define PATH_SIZE 4096

struct search {
    int root_fd;
    const struct link_wanted *wanted; /* NULL: every file with several names */
    size_t n;
    int (*found)(void *, const struct link_wanted *, const char *, coop_error **);
    void *context;
    struct buffer pending; /* paths, the last one is next; each with its NUL */
};

static int by_inode(const void *left, const void *right)
{
    const struct link_wanted *a = left;
    const struct link_wanted *b = right;

    if (a->ino != b->ino)
        return a->ino < b->ino ? -1 : 1;
    return (a->dev > b->dev) - (a->dev < b->dev);
}

void links_sort(struct link_wanted *wanted, size_t n)
{
    qsort(wanted, n, sizeof *wanted, by_inode);
}

/* The first with this inode number, of whatever device. */
static const struct link_wanted *find_inode(const struct search *search, ino_t ino)
{
    size_t low = 0;
    size_t high = search->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (search->wanted[middle].ino < ino)
            low = middle + 1;
        else
            high = middle;
    }
    return low < search->n && search->wanted[low].ino == ino ? &search->wanted[low] : NULL;
}

static int look_at(struct search *search, int fd, const struct dirent *entry, const char *path,
                   coop_error **err)
{
    const struct link_wanted *wanted = search->wanted ? find_inode(search, entry->d_ino) : NULL;
    struct stat st;

    if (search->wanted && !wanted)
        return 0;
    if (fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : fail(err, errno, "look at '%s' in the workspace", path);
    if (!wanted && st.st_nlink > 1)
        return search->found(search->context, &(struct link_wanted){ st.st_dev, st.st_ino, 0 },
                             path, err);
    for (; wanted && wanted < search->wanted + search->n && wanted->ino == st.st_ino; wanted++)
        if (wanted->dev == st.st_dev)
            return search->found(search->context, wanted, path, err);
    return 0;
}

static bool is_directory(int fd, const struct dirent *entry)
{
    struct stat st;

    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type == DT_DIR;
    return fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static int read_directory(struct search *search, const char *path, coop_error **err)
{
    const struct kernel_open_how how = {
        .flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK,
        .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    size_t length = strlen(path);
    char full[PATH_SIZE];
    int r = 0;
    long fd = raw(NR_OPENAT2, search->root_fd, *path ? path : ".", &how, sizeof how);
    DIR *stream = fd >= 0 ? fdopendir((int)fd) : NULL;
    const struct dirent *entry;

    if (!stream) {
        int error = fd < 0 ? (int)-fd : errno;

        if (fd >= 0)
            (void)close((int)fd);
        if (error == ENOENT || error == ENOTDIR || error == ELOOP || error == EACCES)
            return 0; /* gone, or closed to us */
        return fail(err, error, "open the directory '%s' of the workspace", path);
    }
    while (r == 0 && (errno = 0, entry = readdir(stream))) {
        size_t n = strlen(entry->d_name);

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            length + n + 2 > sizeof full)
            continue;
        (void)snprintf(full, sizeof full, "%s%s%s", path, length > 0 ? "/" : "", entry->d_name);
        if (is_directory((int)fd, entry)) {
            buffer_append(&search->pending, full, strlen(full) + 1);
            r = search->pending.failed ? fail_no_memory(err) : 0;
        } else {
            r = look_at(search, (int)fd, entry, full, err);
        }
    }
    if (r == 0 && errno != 0 && errno != ENOENT)
        r = fail(err, errno, "read the directory '%s' of the workspace", path);
    (void)closedir(stream);
    return r;
}

/* Takes the last path off the list. */
static void take_pending(struct buffer *pending, char out[PATH_SIZE])
{
    size_t at = pending->length - 1;

    while (at > 0 && pending->data[at - 1] != '\0')
        at--;
    memcpy(out, pending->data + at, pending->length - at);
    pending->length = at;
}

static int walk(struct search *search, const char *directory, coop_error **err)
{
    char path[PATH_SIZE];
    int r = read_directory(search, directory, err);

    while (r == 0 && search->pending.length > 0) {
        take_pending(&search->pending, path);
        r = read_directory(search, path, err);
    }
    buffer_done(&search->pending);
    return r;
}

int links_find(int root_fd, const struct link_wanted *wanted, size_t n,
               int (*found)(void *, const struct link_wanted *, const char *, coop_error **),
               void *context, coop_error **err)
{
    struct search search = { root_fd, wanted, n, found, context, { 0 } };

    return walk(&search, "", err);
}

int links_gather(int root_fd, const char *directory,
                 int (*found)(void *, const struct link_wanted *, const char *, coop_error **),
                 void *context, coop_error **err)
{
    struct search search = { root_fd, NULL, 0, found, context, { 0 } };

    return walk(&search, directory, err);
}
