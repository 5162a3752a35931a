/*
 * open.c - opening for writing, and truncate(2), which is that and no more
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "init/notify/denial.h"
#include "init/notify/git.h"
#include "init/notify/lock.h"
#include "init/notify/made.h"
#include "init/notify/notify.h"
#include "init/notify/request.h"
#include "init/notify/review.h"
#include "init/notify/root_view.h"
#include "init/notify/slow.h"
#include "init/notify/umask.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define MAX_LINKS 40

/* Where a file's status flags can be changed after it was opened. */
#define CHANGEABLE (O_APPEND | O_NONBLOCK | O_DIRECT | O_NOATIME | O_ASYNC)

/* Flags that the old calls know; they overlook all others, the new one does not. */
#define KNOWN_FLAGS                                                                       \
    (O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_SYNC | \
     O_DSYNC | O_ASYNC | O_DIRECT | O_DIRECTORY | O_NOFOLLOW | O_NOATIME | O_TMPFILE)

/* The object behind a descriptor of ours, opened anew. */
static long reopen(const struct notify_request *request, long fd, int flags)
{
    char path[64];
    char where[PLACE_PATH_MAX];
    struct stat st;

    if (notify_where_is(fd, where) == 0 || raw(SYS_fstat, fd, &st) < 0)
        return NOTIFY_CONTINUE; /* elsewhere the backstop lets everything through */
    int rule = notify_git_rule_of(fd, where);
    if (rule >= 0)
        return notify_refuse(request, where, rule, -EACCES);
    if (S_ISFIFO(st.st_mode) && (flags & O_ACCMODE) == O_WRONLY && !(flags & O_NONBLOCK))
        return notify_slow_open(request->asked, (int)fd, (int)request->flags);
    if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode))
        return NOTIFY_CONTINUE;
    notify_own_path(fd, path);
    return raw(SYS_openat, AT_FDCWD, path, (flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW)) | O_CLOEXEC);
}

static long open_own_descriptor(const struct notify_request *request, const struct target *place,
                                int flags)
{
    long fd = notify_take_named(request, place);

    if (fd < 0)
        return NOTIFY_CONTINUE;
    long r = reopen(request, fd, flags);
    (void)raw(SYS_close, fd);
    return r;
}

/* Something there would have to be waited for. */
static long open_waiting(const struct notify_request *request, const struct target *place,
                         long error)
{
    struct stat st;
    long fd = raw(SYS_openat, place->parent_fd, place->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return fd;
    long r = raw(SYS_fstat, fd, &st);
    if (r == 0)
        r = S_ISFIFO(st.st_mode) || S_ISREG(st.st_mode)
                ? notify_slow_open(request->asked, (int)fd, (int)request->flags)
                : error;
    (void)raw(SYS_close, fd);
    return r;
}

/* Whether a file was made or was there must be known, so it is made alone first. */
static long open_or_make(const struct target *place, struct kernel_open_how *how)
{
    bool is_alone = how->flags & O_EXCL;

    if (how->flags & O_CREAT) {
        how->flags |= O_EXCL;
        long fd = raw(NR_OPENAT2, place->parent_fd, place->name, how, sizeof *how);
        if (fd >= 0)
            notify_made_name((int)fd, "");
        if (fd != -EEXIST || is_alone)
            return fd;
        how->flags &= ~(uint64_t)O_EXCL;
    }
    return raw(NR_OPENAT2, place->parent_fd, place->name, how, sizeof *how);
}

/*
 * The descriptor, or -errno; -EINPROGRESS: somebody else will answer. init must not wait, so it opens
 * without waiting whatever the caller wants. A FIFO that could be opened for writing so has its
 * reader, and needs no waiting.
 */
static long open_at(const struct notify_request *request, const struct target *place, int flags)
{
    bool may_wait = !(flags & O_NONBLOCK) && (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
    struct kernel_open_how how = {
        .flags = (uint32_t)flags | O_CLOEXEC | O_NOCTTY | (may_wait ? O_NONBLOCK : 0),
        .mode = request->mode,
        .resolve = RESOLVE_NO_SYMLINKS,
    };
    struct stat st;

    how.flags &= KNOWN_FLAGS | O_CLOEXEC;
    how.mode &= flags & O_CREAT ? 07777 : 0; /* the new call minds what the old one ignores */
    /* To read from a FIFO, the caller can go to the kernel: the backstop only stops who writes. */
    if (may_wait && (flags & O_ACCMODE) == O_RDONLY &&
        raw(SYS_newfstatat, place->parent_fd, place->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISFIFO(st.st_mode))
        return NOTIFY_CONTINUE;
    long fd = open_or_make(place, &how);
    if (may_wait && (fd == -ENXIO || fd == -EAGAIN))
        return open_waiting(request, place, fd);
    if (fd < 0 || !may_wait)
        return fd;
    long r = raw(SYS_fcntl, fd, F_SETFL, flags & CHANGEABLE);
    if (r < 0) {
        (void)raw(SYS_close, fd);
        return r;
    }
    return fd;
}

static long open_unnamed(const struct notify_request *request, int flags)
{
    struct kernel_open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
                                   .resolve = RESOLVE_NO_MAGICLINKS };
    struct target place;
    long start =
        *request->text == '/' ? AT_FDCWD : target_start(request->asked, request->directory);

    if (start < 0 && start != AT_FDCWD)
        return NOTIFY_CONTINUE;
    long fd = raw(NR_OPENAT2, start, request->text, &how, sizeof how);
    if (start >= 0)
        (void)raw(SYS_close, start);
    if (fd < 0)
        return NOTIFY_CONTINUE;
    long r = target_of_directory(&place, (int)fd);
    if (r == 0 && !notify_is_waiting(request->asked->id))
        r = -ESRCH;
    if (r == 0 && !place.is_inside)
        r = NOTIFY_CONTINUE;
    if (r == 0) {
        int rule = target_rule(place.path);

        r = rule < 0 ? 0 : notify_refuse(request, place.path, rule, -EACCES);
    }
    if (r == 0)
        r = raw(SYS_openat, place.act_fd, ".", flags | O_CLOEXEC, request->mode);
    target_done(&place);
    return r;
}

static int own_tmp = -1; /* the box's own /tmp */

void notify_open_start(bool has_own_tmp)
{
    if (has_own_tmp)
        own_tmp = (int)raw(SYS_openat, AT_FDCWD, "/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/*
 * Something that is there, in the /tmp that is the box's own, without a link on the way: the rules are not
 * about it, and nothing but the box's own doing lets the call fail.
 */
static bool is_in_own_tmp(const char *path)
{
    static const char tmp[] = "/tmp/";
    const struct kernel_open_how how = {
        .flags = O_PATH | O_CLOEXEC,
        .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV | RESOLVE_BENEATH,
    };

    if (own_tmp < 0 || strncmp(path, tmp, sizeof tmp - 1) != 0)
        return false;
    long fd = raw(NR_OPENAT2, own_tmp, path + sizeof tmp - 1, &how, sizeof how);
    if (fd >= 0)
        (void)raw(SYS_close, fd);
    return fd >= 0;
}

static bool may_follow(int flags)
{
    return !(flags & O_NOFOLLOW) && (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
}

/* One link further: `text` becomes what the last component holds; 0 if it is none. */
static long follow(const struct target *place, char *text)
{
    long n = raw(SYS_readlinkat, place->parent_fd, place->name, text, PLACE_PATH_MAX - 1);

    if (n <= 0)
        return 0;
    text[n] = '\0';
    return n;
}

/* Opens what `made` is, at the place if it is still there: the host may be quicker. */
static long open_same(const struct target *place, int flags, long made)
{
    char path[64];
    struct stat wanted;
    struct stat found;
    long fd = raw(SYS_openat, place->parent_fd, place->name,
                  flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    bool is_same = fd >= 0 && raw(SYS_fstat, fd, &found) == 0 &&
                   raw(SYS_fstat, made, &wanted) == 0 && found.st_dev == wanted.st_dev &&
                   found.st_ino == wanted.st_ino;

    if (fd == -EACCES || is_same)
        return fd;
    if (fd >= 0)
        (void)raw(SYS_close, fd);
    notify_own_path(made, path);
    return raw(SYS_openat, AT_FDCWD, path, flags | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
}

/* What was just made with a mode that lets nobody write it is still its maker's to write. */
static long open_made(const struct target *place, int flags, long made)
{
    struct stat st;
    long fd = open_same(place, flags, made);

    if (fd == -EACCES && raw(SYS_fstat, made, &st) == 0 &&
        raw(SYS_fchmod, made, (st.st_mode & 07777) | 0600) == 0) {
        fd = open_same(place, flags, made);
        (void)raw(SYS_fchmod, made, st.st_mode & 07777);
    }
    if (fd >= 0 && !(flags & O_NONBLOCK))
        (void)raw(SYS_fcntl, fd, F_SETFL, flags & CHANGEABLE);
    return fd;
}

/* At the top of a project: made there, shown in the root, and opened as everybody sees it. */
static long open_top(const struct notify_request *request, const struct target *place, int flags)
{
    int plain = flags & ~(O_CREAT | O_EXCL);

    if (!(flags & O_CREAT))
        return open_at(request, place, flags);
    long made = raw(SYS_openat, place->act_fd, place->name,
                    O_RDONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, request->mode);
    if (made == -EEXIST && !(flags & O_EXCL)) {
        (void)notify_root_view_show(place->name); /* the host may have made it this very moment */
        return open_at(request, place, plain);
    }
    if (made < 0)
        return made;
    notify_made_name((int)made, "");
    long r = notify_root_view_made(place->name, false);
    if (r == 0)
        r = open_made(place, plain & ~O_NOFOLLOW, made);
    (void)raw(SYS_close, made);
    return r;
}

/*
 * `git worktree add` writes this file, and git on the host would take hooks and configuration from
 * where it leads. What a caller writes comes after the open, so there is one text for all of them, the
 * one that git writes, and what is written goes nowhere.
 */
static long open_commondir(const struct notify_request *request, const struct target *place,
                           int flags)
{
    static const char text[] = "../..\n";

    notify_umask_take(request->asked);
    long fd = raw(SYS_openat, place->act_fd, place->name,
                  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, request->mode);
    if (fd < 0 && (fd != -EEXIST || flags & O_EXCL))
        return fd;
    if (fd >= 0) {
        long n = raw(SYS_write, fd, text, sizeof text - 1);

        notify_made_name((int)fd, "");
        (void)raw(SYS_close, fd);
        if (n != (long)sizeof text - 1)
            return n < 0 ? n : -ENOSPC;
    }
    return raw(SYS_openat, AT_FDCWD, "/dev/null", (flags & O_ACCMODE) | O_CLOEXEC);
}

/* What nobody may make, unless it is git's business. */
static long open_forbidden(const struct notify_request *request, const struct target *place,
                           int rule, int flags)
{
    enum notify_review_kind kind = NOTIFY_GATE_NONE;
    long r = -EACCES;

    if (flags & O_CREAT && !place->had_slash)
        (void)notify_git_gate(place, &kind);
    if (kind == NOTIFY_GATE_COMMONDIR)
        return open_commondir(request, place, flags);
    if (kind == NOTIFY_GATE_CONFIG && (flags & O_ACCMODE) != O_RDONLY)
        r = notify_review_open(request, place, rule, flags);
    return r == -EACCES ? notify_refuse(request, place->path, rule, r) : r;
}

static long open_place(struct notify_request *request, struct target *place, int flags)
{
    if (place->is_own_descriptors && may_follow(flags))
        return open_own_descriptor(request, place, flags);
    if (!place->is_inside)
        return NOTIFY_CONTINUE;
    int rule = notify_git_rule(place);
    if (rule < 0 && flags & O_CREAT)
        rule = target_rule_below(place->path);
    if (rule < 0 && flags & O_CREAT && notify_git_judge(request, place, GIT_SHAPE_OTHER, -1) != 0)
        return -EACCES;
    if (rule >= 0)
        return open_forbidden(request, place, rule, flags);
    if (place->had_slash)
        return NOTIFY_CONTINUE; /* no file can be made by such a name */
    notify_umask_take(request->asked);
    long fd = place->is_top ? open_top(request, place, flags) : open_at(request, place, flags);
    if (fd < 0 || fd == NOTIFY_CONTINUE)
        return fd;
    long r = notify_git_made(request, place, GIT_SHAPE_OTHER);
    if (r == 0)
        return fd;
    struct file_id identity;
    if (file_id_of((int)fd, "", &identity) && notify_made_is(&identity))
        (void)raw(SYS_unlinkat, place->act_fd, place->name, 0);
    (void)raw(SYS_close, fd);
    return r;
}

/* One try at a place; -ELOOP: a link is, or may be, there that is to be followed. A link in the
 * workspace is seen when it cannot be opened; elsewhere one is looked for. */
static long try_place(struct notify_request *request, struct target *place, int flags)
{
    if (place->is_inside || place->is_own_descriptors)
        return open_place(request, place, flags);
    return may_follow(flags) ? -ELOOP : NOTIFY_CONTINUE;
}

/* The place that the link at `place` leads to, instead of it. */
static long follow_place(struct notify_request *request, struct target *place, struct target *next)
{
    if (follow(place, request->text) == 0)
        return place->is_inside ? -EAGAIN : NOTIFY_CONTINUE; /* none, or one that is gone again */
    if (strncmp(place->path, "/proc/", 6) == 0)
        return NOTIFY_CONTINUE; /* links of /proc lead where their words do not */
    return target_find_from(next, place->parent_fd, request->text);
}

/* The descriptor; NOTIFY_CONTINUE; or -errno. */
static long open_for(struct notify_request *request, int flags)
{
    struct target places[2];
    struct target *place = &places[0];

    request->needs_no_look =
        strcmp(request->text, "/dev/null") == 0 || is_in_own_tmp(request->text);
    if (flags & O_PATH || request->needs_no_look)
        return NOTIFY_CONTINUE;
    if ((flags & O_TMPFILE) == O_TMPFILE) {
        notify_umask_take(request->asked);
        return open_unnamed(request, flags);
    }
    places[1].parent_fd = -1;
    long r = target_find(place, request->asked, request->directory, request->text);
    for (unsigned n_links = 0; r == 0; n_links++) {
        struct target *next = &places[place == &places[0]];

        r = try_place(request, place, flags);
        if (r != -ELOOP || !may_follow(flags))
            break;
        if (n_links == MAX_LINKS) {
            r = place->is_inside ? r : NOTIFY_CONTINUE;
            break;
        }
        r = follow_place(request, place, next);
        if (r == 0) {
            target_done(place);
            place = next;
        } else if (r == -EAGAIN) {
            r = 0;
        }
    }
    target_done(&places[0]);
    target_done(&places[1]);
    return r;
}

void notify_open(struct notify_request *request)
{
    int flags = (int)request->flags;

    /* What is there already is where it was judged: what is protected does not move. */
    notify_lock_want(flags & O_CREAT ? NOTIFY_LOCK_SHARED : NOTIFY_LOCK_NONE);
    long r = notify_let_go(request, open_for(request, flags & ~O_CLOEXEC));
    if (r == -EINPROGRESS)
        return;
    if (r < 0 || r == NOTIFY_CONTINUE) {
        if (r == NOTIFY_CONTINUE && request->needs_no_look)
            notify_will_go_on(request->asked);
        else
            notify_will_answer(request->asked, r);
        notify_answer(request->asked->id, r);
        return;
    }
    notify_answer_descriptor(request->asked, (int)r, flags & O_CLOEXEC);
}

/* The caller's limit on file sizes is not ours; as in the kernel, it stops a file from growing. */
static long check_size(const struct notify_request *request, uint64_t size)
{
    struct {
        uint64_t soft, hard;
    } limit;
    long r = raw(SYS_prlimit64, request->asked->pid, RLIMIT_FSIZE, NULL, &limit);

    if (r < 0 || request->extra <= size || request->extra <= limit.soft)
        return r;
    notify_note(
        &(struct notify_denial){ .op = DENIAL_FILE_SIZE, .nr = -1, .error = EFBIG, .rule = -1 });
    (void)raw(SYS_tkill, request->asked->pid, SIGXFSZ);
    return -EFBIG;
}

long notify_truncate(struct notify_request *request)
{
    struct stat st;

    if ((int64_t)request->extra < 0)
        return -EINVAL;
    long fd = open_for(request, O_WRONLY | O_NONBLOCK);
    if (fd < 0 || fd == NOTIFY_CONTINUE)
        return fd == -ENXIO ? -EINVAL : fd;
    long r = raw(SYS_fstat, fd, &st);
    if (r == 0 && !S_ISREG(st.st_mode))
        r = -EINVAL;
    if (r == 0)
        r = check_size(request, (uint64_t)st.st_size);
    if (r == 0)
        r = raw(SYS_ftruncate, fd, request->extra);
    (void)raw(SYS_close, fd);
    return r;
}
