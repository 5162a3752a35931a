/*
 * remove.c - trees that nobody needs any more
 *
 * Whoever uses a tree holds a shared lock on it; who removes one takes it exclusively and moves the tree out of the
 * way first.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "host_etc/private.h"

#define KEPT_S     (60L * 60) /* somebody may be about to use it, or be making it */
#define PIECES_MAX 16

static DIR *open_stream(int at_fd, const char *name)
{
    int fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;

    if (!stream)
        close_fd(&fd);
    return stream;
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

void etc_remove(int at_fd, const char *name)
{
    if (unlinkat(at_fd, name, 0) == 0)
        return;
    DIR *stream = open_stream(at_fd, name);
    const struct dirent *entry;
    while (stream && (entry = readdir(stream)))
        if (!is_dots(entry->d_name))
            etc_remove(dirfd(stream), entry->d_name);
    if (stream)
        (void)closedir(stream);
    (void)unlinkat(at_fd, name, AT_REMOVEDIR);
}

static bool is_old(int at_fd, const char *name)
{
    struct stat st;

    return fstatat(at_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           st.st_mtim.tv_sec < time(NULL) - KEPT_S;
}

/* Takes it out of sight if nobody uses it, and then removes it. */
static bool remove_unused(int at_fd, const char *name)
{
    auto_close int fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    char away[300];

    (void)snprintf(away, sizeof away, "x-%.200s", name);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || renameat(at_fd, name, at_fd, away) < 0)
        return false;
    etc_remove(at_fd, away);
    return true;
}

static void remove_tree(int store_fd, const char *name)
{
    DIR *stream = open_stream(store_fd, name);
    const struct dirent *entry;
    bool is_unused = stream != NULL;

    while (stream && (entry = readdir(stream)))
        if (strncmp(entry->d_name, "v-", 2) == 0 && !remove_unused(dirfd(stream), entry->d_name))
            is_unused = false;
    if (stream)
        (void)closedir(stream);
    if (is_unused)
        (void)remove_unused(store_fd, name);
}

void etc_remove_old(int store_fd, const char *digest)
{
    DIR *stream = open_stream(store_fd, ".");
    const struct dirent *entry;

    while (stream && (entry = readdir(stream))) {
        const char *name = entry->d_name;

        if (!is_dots(name) && strcmp(name, digest) != 0 && strcmp(name, "index") != 0 &&
            is_old(store_fd, name)) {
            if (name[1] == '-') /* "t-" and "x-": left behind */
                etc_remove(store_fd, name);
            else
                remove_tree(store_fd, name);
        }
    }
    if (stream)
        (void)closedir(stream);
}

void etc_remove_surplus(int digest_fd)
{
    for (;;) {
        DIR *stream = open_stream(digest_fd, ".");
        const struct dirent *entry;
        char oldest[256] = "";
        time_t since = 0;
        size_t n = 0;
        struct stat st;

        while (stream && (entry = readdir(stream)))
            if (strncmp(entry->d_name, "v-", 2) == 0 &&
                fstatat(digest_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
                n++;
                if (!*oldest || st.st_mtim.tv_sec < since) {
                    since = st.st_mtim.tv_sec;
                    (void)snprintf(oldest, sizeof oldest, "%s", entry->d_name);
                }
            }
        if (stream)
            (void)closedir(stream);
        if (n <= PIECES_MAX || !is_old(digest_fd, oldest) || !remove_unused(digest_fd, oldest))
            return;
    }
}
