#include "request.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "init/notify/denial.h"
#include "init/notify/files.h"
#include "init/notify/git.h"
#include "init/notify/lock.h"
#include "init/notify/notify.h"
#include "init/notify/watch.h"
#include "init/protocol.h"
#include "sys/raw.h"

static uint64_t last_refused; /* whose refusal was told */

/* A path that the rules know: it tells whether something is there. */
static enum denial_op operation_of(const struct notify_request *request, const char *path)
{
    struct stat st;

    switch (request->nr) {
#ifdef SYS_open
    case SYS_open:
    case SYS_creat:
#endif
    case SYS_openat:
        return raw(SYS_newfstatat, AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) == 0 ? DENIAL_WRITE
                                                                                  : DENIAL_CREATE;
#ifdef SYS_rename
    case SYS_rename:
#endif
#ifdef SYS_renameat
    case SYS_renameat:
#endif
    case SYS_renameat2:
        return DENIAL_RENAME;
#ifdef SYS_unlink
    case SYS_unlink:
    case SYS_rmdir:
#endif
    case SYS_unlinkat:
        return DENIAL_DELETE;
    case SYS_truncate:
        return DENIAL_WRITE;
    default:
        return DENIAL_CREATE;
    }
}

long notify_refuse(const struct notify_request *request, const char *path, int rule, long error)
{
    last_refused = request->asked->id;
    notify_note(&(struct notify_denial){ .op = operation_of(request, path),
                                         .nr = -1,
                                         .error = (int)-error,
                                         .rule = rule,
                                         .text = path });
    return error;
}

long notify_let_go(const struct notify_request *request, long result)
{
    if (!notify_lock_end())
        return result;
    return notify_refuse(request, request->text, PROTOCOL_RULE_BUSY, -EBUSY);
}

void notify_will_answer(const struct seccomp_notif *asked, long result)
{
    if (result == NOTIFY_CONTINUE) {
        notify_will_go_on(asked);
        notify_watch_look(asked);
    } else if (result < 0 && last_refused != asked->id) {
        notify_watch_failed(asked, (int)-result);
    }
}

enum git_shape_kind notify_shape(enum notify_kind kind)
{
    return kind == NOTIFY_DIRECTORY ? GIT_SHAPE_DIRECTORY
           : kind == NOTIFY_LINK    ? GIT_SHAPE_LINK
                                    : GIT_SHAPE_OTHER;
}

/* What stands on the way to something protected can only be a directory. */
long notify_check_new(const struct notify_request *request, const struct target *place,
                      enum notify_kind kind)
{
    int rule = notify_git_rule(place);

    if (rule < 0 && kind == NOTIFY_ANYTHING_ELSE)
        rule = target_rule_below(place->path);
    if (rule < 0 && kind == NOTIFY_LINK)
        rule = target_rule_link(place->path);
    return rule < 0 ? notify_git_judge(request, place, notify_shape(kind), -1)
                    : notify_refuse(request, place->path, rule, -EACCES);
}

void notify_own_path(long fd, char out[64])
{
    (void)notify_append_number(notify_append(out, "/proc/self/fd/"), (unsigned long)fd);
}

long notify_where_is(long fd, char out[PLACE_PATH_MAX])
{
    char path[64];

    notify_own_path(fd, path);
    long n = raw(SYS_readlinkat, AT_FDCWD, path, out, PLACE_PATH_MAX - 1);
    if (n <= 0)
        return 0;
    out[n] = '\0';
    target_canonical(out, PLACE_PATH_MAX);
    return target_is_inside(out) ? n : 0;
}

long notify_take_named(const struct notify_request *request, const struct target *place)
{
    char path[96];

    if (strlen(place->name) > 10)
        return -ENOENT;
    notify_proc_path(request->asked, "/fd/", path);
    (void)notify_append(path + strlen(path), place->name);
    long fd = raw(SYS_openat, AT_FDCWD, path, O_PATH | O_CLOEXEC);
    if (fd >= 0 && !notify_is_waiting(request->asked->id)) {
        (void)raw(SYS_close, fd);
        return -ESRCH;
    }
    return fd;
}
