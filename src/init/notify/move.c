/*
 * move.c - rename(2): what leaves a place, what comes to one, and git's own way to write
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/stat.h>

#include "init/notify/git.h"
#include "init/notify/lock.h"
#include "init/notify/made.h"
#include "init/notify/request.h"
#include "init/notify/review.h"
#include "init/notify/root_view.h"
#include "init/protocol.h"
#include "sys/raw.h"

/* The call must be begun again: it needs the lock alone. */
#define ALONE (NOTIFY_CONTINUE + 1)

/* Something at `from` that is to come to a stricter place, or leave one. */
static long check_moved(const struct notify_request *request, const struct target *from,
                        const struct target *to)
{
    struct stat st;
    int taken = -1;
    int rule;
    long fd = raw(SYS_openat, from->act_fd, from->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return fd;
    long r = raw(SYS_fstat, fd, &st);
    if (r == 0 && S_ISDIR(st.st_mode) && !notify_lock_is_alone()) {
        (void)raw(SYS_close, fd);
        return ALONE;
    }
    if (r == 0 && S_ISDIR(st.st_mode)) {
        rule = target_rule_within(to->path, from->path, (int)fd);
        if (rule < 0)
            taken = target_rule_within(from->path, to->path, (int)fd);
    } else {
        rule = S_ISLNK(st.st_mode) ? target_rule_link(to->path) : target_rule_below(to->path);
    }
    (void)raw(SYS_close, fd);
    if (r == 0 && rule >= 0)
        return notify_refuse(request, to->path, rule, -EACCES);
    return r == 0 && taken >= 0 ? notify_refuse(request, from->path, taken, -EBUSY) : r;
}

/* What comes to a git directory of any name, or makes one. */
static long check_shape(const struct notify_request *request, const struct target *from,
                        const struct target *to)
{
    struct stat st;

    if (raw(SYS_newfstatat, from->act_fd, from->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return 0; /* the kernel says what is wrong */
    if (!S_ISDIR(st.st_mode))
        return notify_git_judge(request, to, S_ISLNK(st.st_mode) ? GIT_SHAPE_LINK : GIT_SHAPE_OTHER,
                                -1);
    if (!notify_lock_is_alone() && notify_git_is_about(to))
        return ALONE;
    long fd =
        raw(SYS_openat, from->act_fd, from->name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return fd;
    long r = notify_git_judge(request, to, GIT_SHAPE_DIRECTORY, (int)fd);
    (void)raw(SYS_close, fd);
    return r;
}

/* Moving `from` to `to`. A directory on the way to something protected stays where it is, and what
 * comes to the place of one must not have it inside already. */
static long check_move(const struct notify_request *request, const struct target *from,
                       const struct target *to)
{
    int rule = target_rule(from->path);

    if ((from->is_top && notify_root_view_hides(from->name)) ||
        (to->is_top && notify_root_view_hides(to->name)))
        return -EBUSY; /* as if a mask lay on it */
    if (rule >= 0)
        return notify_refuse(request, from->path, rule, -EACCES);
    if (target_holds_hidden(from->path) || notify_root_view_holds_later(from->path))
        return notify_refuse(request, from->path, PROTOCOL_RULE_HELD, -EBUSY);
    rule = notify_git_rule(to);
    if (rule >= 0)
        return notify_refuse(request, to->path, rule, -EACCES);
    long r = check_shape(request, from, to);
    if (r != 0)
        return r;
    rule = target_rule_below(from->path);
    if (rule >= 0)
        return notify_refuse(request, from->path, rule, -EBUSY);
    if (!target_is_stricter(to->path, from->path) && !target_is_stricter(from->path, to->path))
        return 0;
    return check_moved(request, from, to);
}

/* git's own way to write: "config.lock" becomes "config", in one directory. The rule, or -1. */
static int gate_of(const struct target *from, const struct target *to,
                   enum notify_review_kind *kind)
{
    size_t n = strlen(to->path);
    int rule = notify_git_gate(to, kind);

    return rule >= 0 && *kind != NOTIFY_GATE_COMMONDIR && strncmp(from->path, to->path, n) == 0 &&
                   strcmp(from->path + n, ".lock") == 0
               ? rule
               : -1;
}

static long rename_places(const struct target *from, const struct target *to, unsigned flags)
{
    bool is_exchange = flags & RENAME_EXCHANGE;
    struct file_id moved;
    struct file_id other;
    bool has_moved = file_id_of(from->act_fd, from->name, &moved);
    bool has_other = is_exchange && file_id_of(to->act_fd, to->name, &other);
    long r = 0;

    if (from->is_top && to->is_top)
        r = notify_root_view_may_rename(from, to, is_exchange);
    if (r == 0)
        r = raw(SYS_renameat2, from->act_fd, from->name, to->act_fd, to->name, flags);
    if (r == -EXDEV)
        r = notify_root_view_rename(from, to, flags);
    if (r == 0 && has_moved)
        notify_made(&moved);
    if (r == 0 && has_other)
        notify_made(&other);
    if (r == 0 && (from->is_top || to->is_top))
        r = notify_root_view_renamed(from, to, is_exchange);
    return r;
}

/* A file that came to a git directory which another box has made meanwhile. */
static long check_made(const struct notify_request *request, const struct target *to)
{
    struct stat st;

    if (raw(SYS_newfstatat, to->act_fd, to->name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
        S_ISDIR(st.st_mode))
        return 0;
    long r = notify_git_made(request, to, S_ISLNK(st.st_mode) ? GIT_SHAPE_LINK : GIT_SHAPE_OTHER);
    if (r == -EACCES)
        (void)raw(SYS_unlinkat, to->act_fd, to->name, 0);
    return r;
}

/* Both are names in one directory, as most often. */
static bool is_beside(const struct notify_request *request, struct target *to,
                      const struct target *from)
{
    return request->directory == request->directory2 &&
           request->text[strcspn(request->text, "/")] == '\0' &&
           target_beside(to, from, request->text2);
}

static long try_rename(struct notify_request *request, enum notify_lock_kind kind)
{
    struct target from;
    struct target to;

    notify_lock_want(kind);
    long r = target_find(&from, request->asked, request->directory, request->text);

    to.parent_fd = -1;
    if (r == 0 && !is_beside(request, &to, &from))
        r = target_find(&to, request->asked, request->directory2, request->text2);
    if (r == 0 && !from.is_inside && !to.is_inside)
        r = NOTIFY_CONTINUE;
    if (r == 0 && (from.is_taken || to.is_taken))
        r = -EBUSY; /* EXDEV would make mv copy all of /usr */
    if (r == 0 && !(request->flags & RENAME_EXCHANGE)) {
        enum notify_review_kind gate_kind;
        int gate = gate_of(&from, &to, &gate_kind);

        if (gate >= 0) {
            r = notify_review_ask(request, &from, &to, gate);
            r = r == 0 ? -EINPROGRESS : notify_refuse(request, to.path, gate, r);
        }
    }
    if (r == 0)
        r = check_move(request, &from, &to);
    if (r == 0 && request->flags & RENAME_EXCHANGE)
        r = check_move(request, &to, &from);
    if (r == 0 && (from.had_slash || to.had_slash)) {
        struct stat st;

        r = raw(SYS_newfstatat, from.parent_fd, from.name, &st, AT_SYMLINK_NOFOLLOW);
        if (r == 0 && !S_ISDIR(st.st_mode))
            r = -ENOTDIR;
    }
    if (r == 0)
        r = rename_places(&from, &to, (unsigned)request->flags);
    if (r == 0 && !notify_lock_is_alone())
        r = check_made(request, &to);
    target_done(&to);
    target_done(&from);
    return r;
}

long notify_rename(struct notify_request *request)
{
    long r = try_rename(request, NOTIFY_LOCK_SHARED);

    if (r == ALONE) {
        (void)notify_lock_end();
        r = try_rename(request, NOTIFY_LOCK_ALONE);
    }
    return r;
}
