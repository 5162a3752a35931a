#include "host_etc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/directories.h"
#include "base/error.h"
#include "config/home.h"
#include "host_etc/private.h"

#define TRIES 100

int host_etc_store(char **out, coop_error **err)
{
    auto_free char *cache = NULL;
    int r = home_directory(NULL, "XDG_CACHE_HOME", ".cache", &cache, err);

    *out = NULL;
    if (r < 0 || !cache)
        return r;
    if (asprintf(out, "%s/coop/etc", cache) < 0) {
        *out = NULL;
        return fail_no_memory(err);
    }
    return 0;
}

int etc_open_own(int at_fd, const char *name)
{
    auto_close int fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return -errno;
    if (st.st_uid != geteuid() || st.st_mode & 077)
        return -EPERM;
    return take_fd(&fd);
}

int etc_make_directory(int store_fd, const char *prefix, char name[64])
{
    for (unsigned i = 0; i < TRIES; i++) {
        (void)snprintf(name, 64, "%s%ld-%u", prefix, (long)getpid(), i);
        if (mkdirat(store_fd, name, 0700) == 0) {
            int fd = openat(store_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

            return fd < 0 ? -errno : fd;
        }
        if (errno != EEXIST)
            return -errno;
    }
    return -EEXIST;
}

static int rename_to_digest(int store_fd, const char *temporary, const char *digest)
{
    if (renameat(store_fd, temporary, store_fd, digest) == 0)
        return 0;
    if (errno != EEXIST && errno != ENOTEMPTY)
        return -errno;
    etc_remove(store_fd, temporary); /* somebody made the same */
    return 0;
}

/* In a directory of its own, whose name says what the host looked like. */
static int make(int root_fd, int store_fd, char digest[HOST_ETC_HEX + 1], coop_error **err)
{
    struct etc_stamps stamps = { 0 };
    char temporary[64];
    auto_close int fd = etc_make_directory(store_fd, "t-", temporary);
    auto_close int base =
        fd < 0 || mkdirat(fd, HOST_ETC_BASE, 0755) < 0
            ? -1
            : openat(fd, HOST_ETC_BASE, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int r = base < 0 ? fail(err, fd < 0 ? -fd : errno, "make a tree of /etc") : 0;

    if (r == 0)
        r = etc_base_make(root_fd, base, &stamps, digest, err);
    if (r == 0) {
        int renamed = rename_to_digest(store_fd, temporary, digest);

        r = renamed < 0 ? fail(err, -renamed, "make a tree of /etc") : 0;
    } else if (fd >= 0) {
        etc_remove(store_fd, temporary);
    }
    if (r == 0)
        r = etc_index_write(store_fd, digest, &stamps, err);
    if (r == 0)
        etc_remove_old(store_fd, digest);
    buffer_done(&stamps.first);
    buffer_done(&stamps.all);
    return r;
}

int host_etc_current(int root_fd, const char *store, char **out, coop_error **err)
{
    char digest[HOST_ETC_HEX + 1] = "";
    auto_close int opened = -1;
    auto_close int store_fd = etc_open_own(AT_FDCWD, store);

    *out = NULL;
    if (store_fd == -ENOENT) {
        int r = directories_make(store, err);

        if (r < 0)
            return r;
        store_fd = etc_open_own(AT_FDCWD, store);
    }
    if (store_fd < 0)
        return fail(err, -store_fd, "open '%s'", store);
    if (root_fd == AT_FDCWD) {
        opened = root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (opened < 0)
            return fail(err, errno, "open '/'");
    }
    struct stat st;
    bool is_made = etc_index_is_current(store_fd, root_fd, digest) &&
                   fstatat(store_fd, digest, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
    int r = is_made ? 0 : make(root_fd, store_fd, digest, err);
    if (r < 0)
        return r;
    if (asprintf(out, "%s/%s", store, digest) < 0) {
        *out = NULL;
        return fail_no_memory(err);
    }
    return 0;
}

bool host_etc_has(const char *base, const char *name)
{
    auto_free char *path = NULL;
    struct stat st;

    if (asprintf(&path, "%s/" HOST_ETC_BASE "/%s", base, name) < 0) {
        path = NULL;
        return false;
    }
    return lstat(path, &st) == 0;
}
