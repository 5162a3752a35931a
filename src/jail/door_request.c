#include "door_request.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "jail/door_files.h"
#include "jail/door_record.h"
#include "jail/door_watch.h"
#include "sys/raw.h"

static uint64_t last_refused; /* whose refusal was told */

/* A path that the rules know: it tells whether something is there. */
static enum record_op operation_of(const struct door_request *request, const char *path)
{
    struct stat st;

    switch (request->nr) {
#ifdef SYS_open
    case SYS_open:
    case SYS_creat:
#endif
    case SYS_openat:
        return raw(SYS_newfstatat, AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) == 0 ? RECORD_WRITE
                                                                                  : RECORD_CREATE;
#ifdef SYS_rename
    case SYS_rename:
#endif
#ifdef SYS_renameat
    case SYS_renameat:
#endif
    case SYS_renameat2:
        return RECORD_RENAME;
#ifdef SYS_unlink
    case SYS_unlink:
    case SYS_rmdir:
#endif
    case SYS_unlinkat:
        return RECORD_DELETE;
    case SYS_truncate:
        return RECORD_WRITE;
    default:
        return RECORD_CREATE;
    }
}

long door_refuse(const struct door_request *request, const char *path, int rule, long error)
{
    last_refused = request->asked->id;
    door_note(&(struct door_denial){ .op = operation_of(request, path),
                                     .nr = -1,
                                     .error = (int)-error,
                                     .rule = rule,
                                     .text = path });
    return error;
}

void door_will_answer(const struct seccomp_notif *asked, long result)
{
    if (result == DOOR_CONTINUE)
        door_watch_look(asked);
    else if (result < 0 && last_refused != asked->id)
        door_watch_failed(asked, (int)-result);
}

/* What stands on the way to something protected can only be a directory. */
long door_check_new(const struct door_request *request, const struct place *place,
                    enum door_kind kind)
{
    int rule = place_rule(place->path);

    if (rule < 0 && kind == DOOR_ANYTHING_ELSE)
        rule = place_rule_below(place->path);
    if (rule < 0 && kind == DOOR_LINK)
        rule = place_rule_link(place->path);
    return rule < 0 ? 0 : door_refuse(request, place->path, rule, -EACCES);
}

void door_own_path(long fd, char out[64])
{
    (void)door_append_number(door_append(out, "/proc/self/fd/"), (unsigned long)fd);
}

long door_where_is(long fd, char out[PLACE_PATH_MAX])
{
    char path[64];

    door_own_path(fd, path);
    long n = raw(SYS_readlinkat, AT_FDCWD, path, out, PLACE_PATH_MAX - 1);
    if (n <= 0)
        return 0;
    out[n] = '\0';
    place_canonical(out, PLACE_PATH_MAX);
    return place_is_inside(out) ? n : 0;
}

long door_take_named(const struct door_request *request, const struct place *place)
{
    char path[96];

    if (strlen(place->name) > 10)
        return -ENOENT;
    door_proc_path(request->asked, "/fd/", path);
    (void)door_append(path + strlen(path), place->name);
    long fd = raw(SYS_openat, AT_FDCWD, path, O_PATH | O_CLOEXEC);
    if (fd >= 0 && !door_is_waiting(request->asked->id)) {
        (void)raw(SYS_close, fd);
        return -ESRCH;
    }
    return fd;
}
