#include "replace.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"

#define NAME_SIZE 40
#define TRIES     16

/* The new content on its way: a file without a name where the file system has such, else a name that
 * is taken away again. */
struct draft {
    int parent_fd;
    int fd;
    char name[NAME_SIZE]; /* "" while it has none */
};

static void draft_done(struct draft *draft)
{
    int saved = errno;

    if (draft->name[0])
        (void)unlinkat(draft->parent_fd, draft->name, 0);
    close_fd(&draft->fd);
    close_fd(&draft->parent_fd);
    errno = saved;
}

/* A name that nobody uses and no rule is about. 1: no name may be made beside this one, which is an
 * exception and exists. */
static int choose_name(const struct place *place, char out[NAME_SIZE], coop_error **err)
{
    for (int i = 0; i < TRIES; i++) {
        auto_place struct place beside = { .fd = -1 };
        uint64_t random;

        if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
            return fail(err, errno, "choose a name");
        (void)snprintf(out, NAME_SIZE, ".coop-%016llx.new", (unsigned long long)random);
        int r = place_beside(place, out, &beside, i + 1 < TRIES ? NULL : err);
        if (r == 0)
            return 0;
        if (r == -ENOMEM)
            return fail_no_memory(err);
    }
    if (!place->exists)
        return -EACCES;
    coop_error_free(err ? take_ptr(*err) : NULL);
    return 1;
}

/* 1: as choose_name(). */
static int open_draft(const struct place *place, struct draft *draft, coop_error **err)
{
    mode_t mode = place->exists ? 0600 : 0666;
    char name[NAME_SIZE];

    draft->fd = openat(draft->parent_fd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
    if (draft->fd >= 0)
        return 0;
    if (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL)
        return place_fail(err, errno, place->path, "cannot be written: %s", strerror(errno));
    int r = choose_name(place, name, err);
    if (r != 0)
        return r;
    auto_place_lock int lock = place_lock_parent(place, draft->parent_fd, err);
    if (lock < 0)
        return lock;
    draft->fd =
        openat(draft->parent_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (draft->fd < 0)
        return place_fail(err, errno, place->path, "cannot be written: %s", strerror(errno));
    memcpy(draft->name, name, sizeof draft->name);
    return 0;
}

static int write_bytes(const struct place *place, int fd, const char *bytes, size_t n,
                       coop_error **err)
{
    while (n > 0) {
        ssize_t written = write(fd, bytes, n);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return place_fail(err, errno, place->path, "cannot be written: %s", strerror(errno));
        bytes += written;
        n -= (size_t)written;
    }
    return 0;
}

/* What users attach to files, and access lists; never capabilities, which were the old content's. */
static void copy_attributes(int from, int to)
{
    char names[4096];
    char value[4096];
    ssize_t n = flistxattr(from, names, sizeof names);

    for (const char *name = names; n > 0 && name < names + n; name += strlen(name) + 1) {
        if (strncmp(name, "user.", 5) != 0 && strcmp(name, "system.posix_acl_access") != 0)
            continue;
        ssize_t length = fgetxattr(from, name, value, sizeof value);

        if (length >= 0)
            (void)fsetxattr(to, name, value, (size_t)length, 0);
    }
}

/* 0; 1: the owner cannot be kept. */
static int keep_face(const struct place *place, int fd, coop_error **err)
{
    struct stat st;

    if (!place->exists)
        return 0;
    if (fstat(fd, &st) < 0)
        return fail(err, errno, "look at the new '%s'", place->path);
    if ((st.st_uid != place->st.st_uid || st.st_gid != place->st.st_gid) &&
        fchown(fd, place->st.st_uid, place->st.st_gid) < 0)
        return 1;
    if (fchmod(fd, place->st.st_mode & 07777) < 0)
        return place_fail(err, errno, place->path, "cannot keep its mode: %s", strerror(errno));
    auto_close int old = place_open(place, O_RDONLY, 0, NULL);
    if (old >= 0)
        copy_attributes(old, fd);
    return 0;
}

/* Gives the draft a name. */
static int name_draft(struct draft *draft, const char *name)
{
    char link[64];

    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", draft->fd);
    return linkat(AT_FDCWD, link, draft->parent_fd, name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

static int by_now(const struct place *place, coop_error **err)
{
    return place_fail(err, EAGAIN, place->path,
                      "was changed in the meantime: nothing was written; look at it and try again");
}

static int move_new(const struct place *place, struct draft *draft, const char *name,
                    coop_error **err)
{
    int r;

    if (!draft->name[0]) {
        r = name_draft(draft, name);
    } else {
        r = syscall(SYS_renameat2, draft->parent_fd, draft->name, draft->parent_fd, name,
                    RENAME_NOREPLACE) < 0
                ? -errno
                : 0;
        if (r == -EINVAL) /* a file system without it */
            r = linkat(draft->parent_fd, draft->name, draft->parent_fd, name, 0) < 0 ? -errno : 0;
        else if (r == 0)
            draft->name[0] = '\0';
    }
    if (r == -EEXIST)
        return by_now(place, err);
    return r < 0 ? place_fail(err, -r, place->path, "cannot be created: %s", strerror(-r)) : 0;
}

/* 1: as choose_name(). */
static int move_over(const struct place *place, struct draft *draft, const char *name,
                     coop_error **err)
{
    struct stat st;
    int r = 0;

    if (!draft->name[0]) {
        char chosen[NAME_SIZE];

        r = choose_name(place, chosen, err);
        if (r != 0)
            return r;
        r = name_draft(draft, chosen);
        if (r < 0)
            return place_fail(err, -r, place->path, "cannot be written: %s", strerror(-r));
        memcpy(draft->name, chosen, sizeof draft->name);
    }
    if (fstatat(draft->parent_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
        st.st_dev != place->st.st_dev || st.st_ino != place->st.st_ino ||
        st.st_ctim.tv_sec != place->st.st_ctim.tv_sec ||
        st.st_ctim.tv_nsec != place->st.st_ctim.tv_nsec)
        return by_now(place, err);
    if (renameat(draft->parent_fd, draft->name, draft->parent_fd, name) < 0)
        return place_fail(err, errno, place->path, "cannot be replaced: %s", strerror(errno));
    draft->name[0] = '\0';
    return 0;
}

/* The content is there; now the names. 1: as choose_name(). */
static int move_draft(const struct place *place, struct draft *draft, const char *name,
                      coop_error **err)
{
    auto_place_lock int lock = place_lock_parent(place, draft->parent_fd, err);

    if (lock < 0)
        return lock;
    return place->exists ? move_over(place, draft, name, err) : move_new(place, draft, name, err);
}

static int write_in_place(const struct place *place, const void *bytes, size_t n, coop_error **err)
{
    auto_close int fd = place_open(place, O_WRONLY | O_TRUNC, 0, err);

    return fd < 0 ? fd : write_bytes(place, fd, bytes, n, err);
}

static int check_writable(const struct place *place, coop_error **err)
{
    char link[64];

    if (!place->exists)
        return place_may_make(place, PLACE_NEW_FILE, err);
    if (S_ISDIR(place->st.st_mode))
        return place_fail(err, EISDIR, place->path, "is a directory");
    if (!S_ISREG(place->st.st_mode)) { /* says what it is instead */
        auto_close int fd = place_open(place, O_WRONLY, 0, err);

        return fd < 0 ? fd : -EINVAL;
    }
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", place->fd);
    if (faccessat(AT_FDCWD, link, W_OK, AT_EACCESS) < 0)
        return place_fail(err, EACCES, place->path,
                          "may not be written by the user these tools run as (its mode is %04o)",
                          place->st.st_mode & 07777);
    return 0;
}

int file_replace(const struct place *place, const void *bytes, size_t n, coop_error **err)
{
    __attribute__((cleanup(draft_done))) struct draft draft = { -1, -1, "" };
    const char *name = NULL;
    int r = check_writable(place, err);

    if (r < 0)
        return r;
    if (place->exists && !*place->below)
        return write_in_place(place, bytes, n, err);
    draft.parent_fd = place_open_parent(place, &name, err);
    if (draft.parent_fd < 0)
        return draft.parent_fd;
    r = open_draft(place, &draft, err);
    if (r == 0)
        r = write_bytes(place, draft.fd, bytes, n, err);
    if (r == 0)
        r = keep_face(place, draft.fd, err);
    if (r == 0)
        r = move_draft(place, &draft, name, err);
    return r == 1 ? write_in_place(place, bytes, n, err) : r;
}
