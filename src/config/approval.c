#include "approval.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/directories.h"
#include "base/error.h"
#include "config/file.h"
#include "config/home.h"

#define BELOW "coop/allowed"

void approval_digest(const char *path, const void *bytes, size_t n, char out[SHA256_HEX_SIZE])
{
    unsigned char digest[SHA256_BYTES];
    struct sha256 hash;

    sha256_init(&hash);
    sha256_update(&hash, path, strlen(path) + 1);
    sha256_update(&hash, bytes, n);
    sha256_final(&hash, digest);
    sha256_hex(digest, out);
}

/* ---- where */

/* Of a path whose end need not exist: what does exist, without links. */
static int canonical_part(const char *path, char out[PATH_MAX], coop_error **err)
{
    auto_free char *part = strdup(path);

    if (!part)
        return fail_no_memory(err);
    while (!realpath(part, out)) {
        char *slash = strrchr(part, '/');

        if ((errno != ENOENT && errno != ENOTDIR) || !slash)
            return fail(err, errno, "find '%s'", path);
        slash[slash == part] = '\0';
    }
    return 0;
}

static bool is_within(const char *path, const char *ancestor)
{
    size_t n = strlen(ancestor);

    return n == 1 || (strncmp(path, ancestor, n) == 0 && (!path[n] || path[n] == '/'));
}

static int check_outside(const char *store, const char *workspace, coop_error **err)
{
    char real[PATH_MAX];
    int r = canonical_part(store, real, err);

    if (r < 0 || !is_within(real, workspace))
        return r;
    r = fail_kind(err, COOP_ERROR_BAD_POLICY, EPERM,
                  "approvals do not count: '%s', where they are kept, lies in the workspace '%s'",
                  store, workspace);
    return fail_hint(err, r, "choose a smaller workspace, or another XDG_STATE_HOME");
}

int approval_store(const char *state_home, const char *workspace, char **out, coop_error **err)
{
    auto_free char *home = NULL;
    auto_free char *store = NULL;
    int r = home_directory(state_home, "XDG_STATE_HOME", ".local/state", &home, err);

    if (r < 0)
        return r;
    if (!home)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, ENOENT,
                         "there is no place for approvals: neither XDG_STATE_HOME nor HOME is an "
                         "absolute path");
    if (asprintf(&store, "%s/" BELOW, home) < 0) {
        store = NULL;
        return fail_no_memory(err);
    }
    r = workspace ? check_outside(store, workspace, err) : 0;
    if (r == 0)
        *out = take_ptr(store);
    return r;
}

/* The store if it can be trusted. -ENOENT: there is none. */
static int open_store(const char *store, int *out, coop_error **err)
{
    struct stat stat;
    auto_close int fd = open(store, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &stat) < 0)
        return fail(err, errno, "open '%s'", store);
    if (stat.st_uid != geteuid() || stat.st_mode & 077)
        return fail_hint(err,
                         fail_kind(err, COOP_ERROR_BAD_POLICY, EPERM,
                                   "approvals do not count: others have a part in '%s'", store),
                         "make it yours, with mode 0700, after a look at what is in it");
    *out = take_fd(&fd);
    return 0;
}

static int open_store_if_any(const char *store, int *out)
{
    auto_error coop_error *ignored = NULL;

    return open_store(store, out, &ignored);
}

/* ---- records: a file of the digest's name that holds the path and a newline */

int approval_is_given(const char *store, const char *digest, bool *out, coop_error **err)
{
    auto_close int fd = -1;
    int r = open_store_if_any(store, &fd);
    struct stat stat;

    if (r == -ENOENT) {
        *out = false;
        return 0;
    }
    if (r < 0)
        return open_store(store, &fd, err);
    *out = fstatat(fd, digest, &stat, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(stat.st_mode);
    return 0;
}

static int write_record(int dir_fd, const char *temporary, const char *path, coop_error **err)
{
    auto_close int fd =
        openat(dir_fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    auto_buffer struct buffer text = { 0 };

    if (fd < 0)
        return fail(err, errno, "write the approval");
    buffer_printf(&text, "%s\n", path);
    if (text.failed)
        return fail_no_memory(err);
    ssize_t n = write(fd, text.data, text.length);
    if (n < 0 || (size_t)n != text.length || fsync(fd) < 0)
        return fail(err, n < 0 ? errno : ENOSPC, "write the approval");
    return 0;
}

int approval_give(const char *store, const char *digest, const char *path, coop_error **err)
{
    auto_close int fd = -1;
    char temporary[SHA256_HEX_SIZE + 32];
    int r = directories_make(store, err);

    if (r == 0)
        r = open_store(store, &fd, err);
    if (r < 0)
        return r;
    if (strchr(path, '\n'))
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "the path has a newline in it");
    (void)snprintf(temporary, sizeof temporary, ".%s.%d", digest, (int)getpid());
    r = write_record(fd, temporary, path, err);
    if (r == 0 && renameat(fd, temporary, fd, digest) < 0)
        r = fail(err, errno, "write the approval");
    if (r < 0)
        (void)unlinkat(fd, temporary, 0);
    return r;
}

/* ---- all of them */

static int read_record(int dir_fd, const char *name, struct buffer *text, long long *given)
{
    auto_close int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    char bytes[PATH_MAX + 1];
    struct stat stat;

    if (fd < 0 || fstat(fd, &stat) < 0 || !S_ISREG(stat.st_mode))
        return -EINVAL;
    ssize_t n = read(fd, bytes, sizeof bytes);
    if (n < 2 || bytes[n - 1] != '\n')
        return -EINVAL;
    text->length = 0;
    buffer_append(text, bytes, (size_t)n - 1);
    *given = stat.st_mtime;
    return text->failed ? -ENOMEM : 0;
}

static int each_record(DIR *dir, int (*each)(void *context, const struct approval *approval),
                       void *context, coop_error **err)
{
    auto_buffer struct buffer path = { 0 };
    const struct dirent *entry;
    int r = 0;

    while (r == 0 && (errno = 0, entry = readdir(dir))) {
        struct approval approval = { .digest = entry->d_name };

        if (strlen(entry->d_name) != SHA256_HEX_SIZE - 1 ||
            read_record(dirfd(dir), entry->d_name, &path, &approval.given) < 0)
            continue;
        approval.path = path.data;
        r = each(context, &approval);
    }
    if (path.failed)
        return fail_no_memory(err);
    return r == 0 && errno != 0 ? fail(err, errno, "list the approvals") : r;
}

int approval_list(const char *store, int (*each)(void *context, const struct approval *approval),
                  void *context, coop_error **err)
{
    auto_close int fd = -1;
    int r = open_store_if_any(store, &fd);

    if (r == -ENOENT)
        return 0;
    if (r < 0)
        return open_store(store, &fd, err);
    DIR *dir = fdopendir(fd);
    if (!dir)
        return fail(err, errno, "list the approvals");
    (void)take_fd(&fd);
    r = each_record(dir, each, context, err);
    (void)closedir(dir);
    return r;
}

struct revocation {
    int dir_fd;
    const char *path;
    size_t n;
    int errnum;
};

static int revoke_one(void *context, const struct approval *approval)
{
    struct revocation *revocation = context;

    if (strcmp(approval->path, revocation->path) != 0)
        return 0;
    if (unlinkat(revocation->dir_fd, approval->digest, 0) < 0 && errno != ENOENT)
        revocation->errnum = errno;
    revocation->n++;
    return 0;
}

int approval_revoke(const char *store, const char *path, size_t *out_n, coop_error **err)
{
    auto_close int fd = -1;
    struct revocation revocation = { .path = path };
    int r = open_store_if_any(store, &fd);

    if (r == -ENOENT) {
        *out_n = 0;
        return 0;
    }
    if (r < 0)
        return open_store(store, &fd, err);
    revocation.dir_fd = fd;
    r = approval_list(store, revoke_one, &revocation, err);
    if (r < 0)
        return r;
    if (revocation.errnum)
        return fail(err, revocation.errnum, "take an approval of '%s' back", path);
    *out_n = revocation.n;
    return 0;
}
