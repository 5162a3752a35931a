/*
 * pieces.c - the rule's tree with what is a box's own: made-up files, and places to mount on
 *
 * Files are other names of those of the rule's tree, so it costs directories only. Every set of pieces has a tree of
 * its own; most boxes of a user have the same.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/fd.h"
#include "host_etc/private.h"

#define NAME_SIZE (2 + HOST_ETC_HEX + 1)

static void name_of(const struct host_etc_piece *pieces, size_t n, char out[NAME_SIZE])
{
    unsigned char bytes[SHA256_BYTES];
    char hex[SHA256_HEX_SIZE];
    struct sha256 hash;

    sha256_init(&hash);
    for (size_t i = 0; i < n; i++) {
        const char *text = pieces[i].text ? pieces[i].text : "";
        const char kind = (char)('0' + pieces[i].kind);

        sha256_update(&hash, &kind, 1);
        sha256_update(&hash, pieces[i].name, strlen(pieces[i].name) + 1);
        sha256_update(&hash, text, strlen(text) + 1);
    }
    sha256_final(&hash, bytes);
    sha256_hex(bytes, hex);
    (void)snprintf(out, NAME_SIZE, "v-%.*s", HOST_ETC_HEX, hex);
}

/* Directories anew, everything else by another name. */
static int link_all(int from_fd, int to_fd)
{
    int copy = openat(from_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = copy >= 0 ? fdopendir(copy) : NULL;
    const struct dirent *entry;
    int r = 0;

    if (!stream) {
        close_fd(&copy);
        return -EIO;
    }
    while (r == 0 && (entry = readdir(stream))) {
        const char *name = entry->d_name;

        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        auto_close int from =
            openat(from_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (from < 0) {
            r = linkat(from_fd, name, to_fd, name, 0) < 0 ? -errno : 0;
            continue;
        }
        auto_close int to = mkdirat(to_fd, name, 0755) < 0
                                ? -1
                                : openat(to_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        r = to < 0 ? -errno : fchmod(to, 0755) < 0 ? -errno : link_all(from, to);
    }
    (void)closedir(stream);
    return r;
}

/* What is there and is not a directory gives way. */
static int enter(int at_fd, const char *name)
{
    int fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd >= 0)
        return fd;
    if (errno != ENOENT && unlinkat(at_fd, name, 0) < 0)
        return -errno;
    if (mkdirat(at_fd, name, 0755) < 0)
        return -errno;
    fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 || fchmod(fd, 0755) < 0 ? -errno : fd;
}

static int write_text(int at_fd, const char *name, const char *text)
{
    auto_close int fd =
        openat(at_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    size_t n = text ? strlen(text) : 0;

    if (fd < 0)
        return -errno;
    if (write(fd, text ? text : "", n) != (ssize_t)n)
        return -EIO;
    return fchmod(fd, 0444) < 0 ? -errno : 0;
}

static int put_last(int at_fd, const char *name, const struct host_etc_piece *piece)
{
    struct stat st;
    bool is_there = fstatat(at_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;

    if (piece->kind == HOST_ETC_DIRECTORY) {
        int fd = enter(at_fd, name);

        close_fd(&fd);
        return fd < -1 ? fd : 0;
    }
    if (is_there && piece->kind == HOST_ETC_POINT && S_ISREG(st.st_mode))
        return 0;
    if (is_there)
        etc_remove(at_fd, name);
    if (piece->kind == HOST_ETC_LINK)
        return symlinkat(piece->text, at_fd, name) < 0 ? -errno : 0;
    return write_text(at_fd, name, piece->kind == HOST_ETC_FILE ? piece->text : NULL);
}

static int put(int tree_fd, const struct host_etc_piece *piece)
{
    auto_close int at_fd = openat(tree_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char path[HOST_ETC_MAX];
    char *name = path;

    if (at_fd < 0 || strlen(piece->name) >= sizeof path)
        return at_fd < 0 ? -errno : -ENAMETOOLONG;
    memcpy(path, piece->name, strlen(piece->name) + 1);
    for (char *slash; (slash = strchr(name, '/')); name = slash + 1) {
        *slash = '\0';
        int inner = enter(at_fd, name);
        if (inner < 0)
            return inner;
        (void)close(at_fd);
        at_fd = inner;
    }
    return *name ? put_last(at_fd, name, piece) : -EINVAL;
}

static int make(int digest_fd, const char *name, const struct host_etc_piece *pieces, size_t n)
{
    auto_close int base = openat(digest_fd, HOST_ETC_BASE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char temporary[64];
    auto_close int fd = base < 0 ? -errno : etc_make_directory(digest_fd, "t-", temporary);

    if (base < 0 || fd < 0)
        return base < 0 ? -ENOENT : fd;
    int r = fchmod(fd, 0755) < 0 ? -errno : link_all(base, fd);
    for (size_t i = 0; r == 0 && i < n; i++)
        r = put(fd, &pieces[i]);
    if (r == 0 && renameat(digest_fd, temporary, digest_fd, name) == 0) {
        etc_remove_surplus(digest_fd);
        return 0;
    }
    if (r == 0) /* somebody else was faster */
        r = errno == EEXIST || errno == ENOTEMPTY ? 0 : -errno;
    etc_remove(digest_fd, temporary);
    return r;
}

/* -ENOENT: it is not there, or on its way out. */
static int open_used(int digest_fd, const char *name)
{
    auto_close int fd = openat(digest_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return -errno;
    if (flock(fd, LOCK_SH | LOCK_NB) < 0 || fstat(fd, &st) < 0 || st.st_nlink == 0)
        return -ENOENT;
    int r = fd_lift(&fd);
    return r < 0 ? r : take_fd(&fd);
}

int host_etc_with(const char *base, const struct host_etc_piece *pieces, size_t n,
                  struct host_etc_tree *out, coop_error **err)
{
    auto_close int digest_fd = etc_open_own(AT_FDCWD, base);
    char name[NAME_SIZE];
    int fd = -ENOENT;

    *out = (struct host_etc_tree){ .fd = -1 };
    name_of(pieces, n, name);
    if (digest_fd < 0)
        return fail(err, -digest_fd, "open '%s'", base);
    for (int tries = 0; fd == -ENOENT && tries < 3; tries++) {
        fd = open_used(digest_fd, name);
        int r = fd == -ENOENT ? make(digest_fd, name, pieces, n) : 0;
        if (r < 0)
            return fail(err, -r, "make '%s/%s'", base, name);
        if (fd == -ENOENT)
            fd = open_used(digest_fd, name);
    }
    if (fd < 0)
        return fail(err, -fd, "open '%s/%s'", base, name);
    if (asprintf(&out->path, "%s/%s", base, name) < 0) {
        (void)close(fd);
        out->path = NULL;
        return fail_no_memory(err);
    }
    out->fd = fd;
    return 0;
}

void host_etc_tree_done(struct host_etc_tree *tree)
{
    free(tree->path);
    close_fd(&tree->fd);
    tree->path = NULL;
}
