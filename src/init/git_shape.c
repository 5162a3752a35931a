#include "git_shape.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "sys/raw.h"

#define DEPTH_MAX   48
#define UP_MAX      256
#define ENTRIES_MAX 100000u

/* Some file systems take names of different case for the same. */
static bool is_called(const char *name, const char *word)
{
    for (; *name && *word; name++, word++) {
        char c = *name >= 'A' && *name <= 'Z' ? (char)(*name - 'A' + 'a') : *name;
        char d = *word >= 'A' && *word <= 'Z' ? (char)(*word - 'A' + 'a') : *word;

        if (c != d)
            return false;
    }
    return *name == *word;
}

static bool has(int fd, const char *name)
{
    struct stat st;

    return raw(SYS_newfstatat, fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

bool git_shape_is(int fd)
{
    return has(fd, "objects") && has(fd, "refs");
}

/* Directories of git's own in one: beside them may be work trees. */
static const char *const own[] = { "objects",  "refs",         "logs",         "info",
                                   "hooks",    "modules",      "worktrees",    "rr-cache",
                                   "reftable", "rebase-merge", "rebase-apply", "sequencer",
                                   "lfs",      "svn",          "common" };

/* Whether `child` is a directory of git's own in `fd`, which has that shape. */
static bool is_own(int fd, const struct stat *child)
{
    struct stat st;

    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (raw(SYS_newfstatat, fd, own[i], &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            st.st_dev == child->st_dev && st.st_ino == child->st_ino)
            return true;
    return false;
}

bool git_shape_is_within(int fd)
{
    struct stat here;
    struct stat above;
    bool found = git_shape_is(fd);
    long at = raw(SYS_openat, fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

    for (unsigned depth = 0; at >= 0 && !found; depth++) {
        long up = raw(SYS_openat, at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);

        if (up < 0 || depth == UP_MAX || raw(SYS_fstat, at, &here) < 0 ||
            raw(SYS_fstat, up, &above) < 0) {
            found = true; /* nobody can say */
        } else if (here.st_dev == above.st_dev && here.st_ino == above.st_ino) {
            (void)raw(SYS_close, up);
            break;
        } else {
            found = git_shape_is((int)up) && is_own((int)up, &here);
        }
        (void)raw(SYS_close, at);
        at = up;
    }
    if (at >= 0)
        (void)raw(SYS_close, at);
    return found || at < 0;
}

/* ---- looking through */

struct walk {
    unsigned n_entries;
    bool (*is_bad)(const char *name, unsigned char type);
};

static unsigned char type_of(int fd, const struct dirent64 *entry)
{
    struct stat st;

    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type;
    if (raw(SYS_newfstatat, fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return DT_REG; /* gone */
    return S_ISDIR(st.st_mode) ? DT_DIR : S_ISLNK(st.st_mode) ? DT_LNK : DT_REG;
}

/* Whether something bad is below the name in the directory; also where nobody can look. */
static bool walk_at(struct walk *walk, int directory, const char *name, unsigned depth)
{
    _Alignas(struct dirent64) char buffer[2048];
    bool is_bad = false;
    long n = 0;
    long fd = raw(SYS_openat, directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        is_bad = fd != -ENOENT;
    while (fd >= 0 && !is_bad && (n = raw(SYS_getdents64, fd, buffer, sizeof buffer)) > 0)
        for (long at = 0; at < n && !is_bad;) {
            const struct dirent64 *entry = (const void *)(buffer + at);

            at += entry->d_reclen;
            if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
                continue;
            unsigned char type = type_of((int)fd, entry);
            is_bad =
                ++walk->n_entries > ENTRIES_MAX || walk->is_bad(entry->d_name, type) ||
                (type == DT_DIR && depth > 1 && walk_at(walk, (int)fd, entry->d_name, depth - 1));
        }
    if (fd >= 0)
        (void)raw(SYS_close, fd);
    return is_bad || n < 0;
}

static bool is_link(const char *name, unsigned char type)
{
    (void)name;
    return type == DT_LNK;
}

bool git_shape_is_sample(const char *name)
{
    size_t n = strlen(name);

    return n > 7 && is_called(name + n - 7, ".sample");
}

static bool is_hook(const char *name, unsigned char type)
{
    return type != DT_REG || !git_shape_is_sample(name);
}

static bool has_links(int directory, const char *name)
{
    return walk_at(&(struct walk){ .is_bad = is_link }, directory, name, DEPTH_MAX);
}

/* In a directory that is to have that shape. */
static bool has_own_links(int directory)
{
    bool found = walk_at(&(struct walk){ .is_bad = is_link }, directory, ".", 1);

    for (size_t i = 0; !found && i < sizeof own / sizeof *own; i++)
        found = has(directory, own[i]) && has_links(directory, own[i]);
    return found;
}

static bool has_hooks(int directory, const char *name)
{
    return walk_at(&(struct walk){ .is_bad = is_hook }, directory, name, 1);
}

/* ---- names */

bool git_shape_is_named(const char *name)
{
    return is_called(name, "config") || is_called(name, "hooks");
}

bool git_shape_is_key(const char *path)
{
    size_t n = strlen(path);
    char name[8];

    while (n > 0 && path[n - 1] == '/')
        n--;
    size_t end = n;
    while (n > 0 && path[n - 1] != '/')
        n--;
    if (end - n >= sizeof name)
        return false;
    memcpy(name, path + n, end - n);
    name[end - n] = '\0';
    return is_called(name, "objects") || is_called(name, "refs");
}

/* What the directory holds, the name apart, when that makes a git directory of it. */
static enum git_shape_verdict judge_whole(const struct git_shape_new *new)
{
    struct stat st;

    if (has(new->fd, ".git") || has_hooks(new->fd, "hooks") || has_own_links(new->fd))
        return GIT_SHAPE_REFUSED;
    if (raw(SYS_newfstatat, new->fd, "config", &st, AT_SYMLINK_NOFOLLOW) < 0)
        return GIT_SHAPE_FINE;
    return S_ISREG(st.st_mode) ? GIT_SHAPE_CONFIG : GIT_SHAPE_REFUSED;
}

static bool completes(const struct git_shape_new *new)
{
    return (is_called(new->name, "objects") && has(new->fd, "refs") && !has(new->fd, "objects")) ||
           (is_called(new->name, "refs") && has(new->fd, "objects") && !has(new->fd, "refs"));
}

/* git init makes a link and removes it, to see whether the file system has links. */
static bool is_trial(const struct git_shape_new *new)
{
    return new->target &&strcmp(new->target, "testing") == 0 && *new->name == 't' &&
           strlen(new->name) == 7;
}

enum git_shape_verdict git_shape_judge_made(const struct git_shape_new *new)
{
    if (new->kind == GIT_SHAPE_LINK)
        return !is_trial(new) && git_shape_is_within(new->fd) ? GIT_SHAPE_REFUSED : GIT_SHAPE_FINE;
    if (!git_shape_is_key(new->name) || !git_shape_is(new->fd) || new->is_in_git)
        return GIT_SHAPE_FINE;
    return judge_whole(new);
}

enum git_shape_verdict git_shape_judge(const struct git_shape_new *new)
{
    bool is_moved = new->moved_fd >= 0;

    /* Beside a .git, which counts as long as it is whole. */
    if (is_called(new->name, "HEAD") && git_shape_is(new->fd) && has(new->fd, ".git"))
        return GIT_SHAPE_REFUSED;
    if (is_called(new->name, ".git") && new->kind == GIT_SHAPE_LINK)
        return GIT_SHAPE_REFUSED;
    bool is_within = (new->kind == GIT_SHAPE_LINK || is_moved) &&
                     (new->is_in_git || git_shape_is_within(new->fd));
    if (is_within && new->kind == GIT_SHAPE_LINK && !is_trial(new))
        return GIT_SHAPE_REFUSED;
    if (is_moved && is_called(new->name, "hooks") && git_shape_is(new->fd) &&
        has_hooks(new->moved_fd, "."))
        return GIT_SHAPE_REFUSED;
    bool is_completed = completes(new);
    if (is_moved && (is_within || is_completed) && has_links(new->moved_fd, "."))
        return GIT_SHAPE_REFUSED;
    if (!is_completed)
        return GIT_SHAPE_FINE;
    return new->kind == GIT_SHAPE_DIRECTORY ? judge_whole(new) : GIT_SHAPE_REFUSED;
}
