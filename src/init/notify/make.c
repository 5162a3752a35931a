/*
 * make.c - directories, nodes and symbolic links; and, at the top of a project, their end
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "init/notify/git.h"
#include "init/notify/lock.h"
#include "init/notify/made.h"
#include "init/notify/request.h"
#include "init/notify/root_view.h"
#include "init/notify/umask.h"
#include "sys/raw.h"

static long act_mknod(const struct notify_request *request, const struct target *place)
{
    return raw(SYS_mknodat, place->act_fd, place->name, request->mode, request->extra);
}

static long act_symlink(const struct notify_request *request, const struct target *place)
{
    return raw(SYS_symlinkat, request->text, place->act_fd, place->name);
}

static long act_mkdir(const struct notify_request *request, const struct target *place)
{
    return raw(SYS_mkdirat, place->act_fd, place->name, request->mode);
}

/* What is there already cannot be made: that is no attempt at what is protected. `mkdir -p` asks so. */
static bool is_there(const struct target *place)
{
    struct stat st;

    return target_rule(place->path) >= 0 &&
           raw(SYS_newfstatat, place->act_fd, place->name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

long notify_make(struct notify_request *request, const char *text, int directory,
                 enum notify_kind kind,
                 long (*act)(const struct notify_request *request, const struct target *place))
{
    struct target place;
    bool is_made = false;

    notify_lock_want(NOTIFY_LOCK_SHARED);
    long r = target_find(&place, request->asked, directory, text);

    if (r == 0 && (!place.is_inside || (place.had_slash && kind != NOTIFY_DIRECTORY)))
        r = NOTIFY_CONTINUE;
    if (r == 0)
        r = is_there(&place) ? -EEXIST : notify_check_new(request, &place, kind);
    if (r == NOTIFY_GIT_CONFIG)
        r = 0;
    if (r == 0) {
        notify_umask_take(request->asked);
        r = act(request, &place);
        is_made = r == 0;
    }
    if (r == 0)
        notify_made_name(place.act_fd, place.name);
    if (r == 0 && place.is_top)
        r = notify_root_view_made(place.name, kind == NOTIFY_DIRECTORY);
    if (r == 0)
        r = notify_git_made(request, &place, notify_shape(kind));
    if (r == -EACCES && is_made)
        (void)raw(SYS_unlinkat, place.act_fd, place.name,
                  kind == NOTIFY_DIRECTORY ? AT_REMOVEDIR : 0);
    target_done(&place);
    return r;
}

long notify_symlink(struct notify_request *request)
{
    return notify_make(request, request->text2, request->directory2, NOTIFY_LINK, act_symlink);
}

long notify_mkdir(struct notify_request *request)
{
    return notify_make(request, request->text, request->directory, NOTIFY_DIRECTORY, act_mkdir);
}

long notify_mknod(struct notify_request *request)
{
    return notify_make(request, request->text, request->directory, NOTIFY_ANYTHING_ELSE, act_mknod);
}

/* Only at the top of a project: elsewhere the kernel's own way needs no help. */
long notify_remove(struct notify_request *request)
{
    struct target place;
    long r = target_find(&place, request->asked, request->directory, request->text);

    if (r == 0 && !place.is_top)
        r = NOTIFY_CONTINUE;
    if (r == 0 && place.had_slash && !(request->flags & AT_REMOVEDIR))
        r = NOTIFY_CONTINUE; /* no file has such a name, and a directory is not removed by it */
    if (r == 0) {
        int rule = target_rule(place.path);

        r = rule < 0 ? 0 : notify_refuse(request, place.path, rule, -EACCES);
    }
    if (r == 0 && notify_root_view_hides(place.name))
        r = -EBUSY;
    if (r == 0)
        r = raw(SYS_unlinkat, place.act_fd, place.name, request->flags);
    if (r == 0)
        (void)notify_root_view_show(place.name);
    target_done(&place);
    return r;
}
