/*
 * link.c - link(2): another name for a file, or the first for one that has none
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "init/notify/git.h"
#include "init/notify/lock.h"
#include "init/notify/made.h"
#include "init/notify/request.h"
#include "init/notify/review.h"
#include "init/notify/root_view.h"
#include "sys/kernel.h"
#include "sys/raw.h"

/* The file that a link is to be made to, as a descriptor of ours where the caller means what a
 * descriptor or a link leads to: *out_fd, else -1. */
static long link_source(struct notify_request *request, long *out_fd, struct target *from)
{
    struct kernel_open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS };

    *out_fd = -1;
    if (request->flags & AT_EMPTY_PATH && *request->text == '\0') {
        *out_fd = target_start(request->asked, request->directory);
        return *out_fd < 0 || notify_is_waiting(request->asked->id) ? 0 : -ESRCH;
    }
    long r = target_find(from, request->asked, request->directory, request->text);
    if (r != 0 || !(request->flags & AT_SYMLINK_FOLLOW))
        return r;
    *out_fd = from->is_own_descriptors
                  ? notify_take_named(request, from)
                  : raw(NR_OPENAT2, from->parent_fd, from->name, &how, sizeof how);
    return *out_fd == -ELOOP ? NOTIFY_CONTINUE : 0;
}

/* What has another name can be written by that one. */
static long check_link_source(const struct notify_request *request, long fd,
                              const struct target *from)
{
    char where[PLACE_PATH_MAX];
    const char *path = from->path;

    if (fd >= 0) {
        if (notify_where_is(fd, where) == 0)
            return 0;
        path = where;
    }
    int rule = fd >= 0 ? notify_git_rule_of(fd, path) : notify_git_rule(from);
    return rule < 0 ? 0 : notify_refuse(request, path, rule, -EACCES);
}

static long link_places(const struct target *from, const struct target *to)
{
    long r = raw(SYS_linkat, from->act_fd, from->name, to->act_fd, to->name, 0);

    return r == -EXDEV ? notify_root_view_link(from, to) : r;
}

static long link_descriptor(const char *source, const struct target *to)
{
    long r = raw(SYS_linkat, AT_FDCWD, source, to->act_fd, to->name, AT_SYMLINK_FOLLOW);

    if (r != -EXDEV)
        return r;
    long directory = notify_root_view_directory(to); /* a file without a name, made at the top */
    if (directory < 0)
        return r;
    r = raw(SYS_linkat, AT_FDCWD, source, directory, to->name, AT_SYMLINK_FOLLOW);
    (void)raw(SYS_close, directory);
    return r;
}

static bool is_symlink(const struct target *place)
{
    struct stat st;

    return raw(SYS_newfstatat, place->act_fd, place->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISLNK(st.st_mode);
}

/* cp -l of a repository. 0: it is not about a configuration. */
static long link_config(struct notify_request *request, const struct target *from,
                        const struct target *to)
{
    enum notify_review_kind kind;
    int rule = notify_git_gate(to, &kind);

    if (rule < 0 || kind != NOTIFY_GATE_CONFIG || notify_git_gate(from, &kind) < 0 ||
        kind == NOTIFY_GATE_COMMONDIR)
        return 0;
    long r = notify_review_link(request, from, to, rule);
    return r == -EACCES ? notify_refuse(request, to->path, rule, r) : r;
}

long notify_link(struct notify_request *request)
{
    char source[64];
    struct target from;
    struct target to;
    long fd;

    from.parent_fd = to.parent_fd = from.act_fd = -1;
    from.is_inside = from.is_top = from.had_slash = false;
    from.name = from.path;
    from.path[0] = '\0';
    if (request->flags & ~(uint64_t)(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
        return NOTIFY_CONTINUE;
    notify_lock_want(NOTIFY_LOCK_SHARED);
    long r = link_source(request, &fd, &from);
    if (r == 0 && fd < -1)
        r = fd;
    if (r == 0)
        r = target_find(&to, request->asked, request->directory2, request->text2);
    if (r == 0 && !to.is_inside && (fd >= 0 || !from.is_inside))
        r = NOTIFY_CONTINUE;
    if (r == 0 && (to.had_slash || (from.parent_fd >= 0 && from.had_slash)))
        r = NOTIFY_CONTINUE;
    if (r == 0 && fd < 0 && from.is_inside && to.is_inside)
        r = link_config(request, &from, &to);
    if (r == 0)
        r = notify_check_new(request, &to,
                             fd < 0 && is_symlink(&from) ? NOTIFY_LINK : NOTIFY_ANYTHING_ELSE);
    if (r == 0)
        r = check_link_source(request, fd, &from);
    if (r == 0 && fd < 0 && from.is_top && notify_root_view_hides(from.name))
        r = -EACCES;
    if (r == 0 && fd < 0) {
        r = link_places(&from, &to);
    } else if (r == 0) {
        notify_own_path(fd, source);
        r = link_descriptor(source, &to);
    }
    if (r == 0)
        notify_made_name(to.act_fd, to.name);
    if (r == 0) {
        r = notify_git_made(request, &to,
                            fd < 0 && is_symlink(&from) ? GIT_SHAPE_LINK : GIT_SHAPE_OTHER);
        if (r == -EACCES)
            (void)raw(SYS_unlinkat, to.act_fd, to.name, 0);
    }
    if (r == 0 && to.is_top)
        r = notify_root_view_made(to.name, false);
    if (fd >= 0)
        (void)raw(SYS_close, fd);
    target_done(&from);
    target_done(&to);
    return r;
}
