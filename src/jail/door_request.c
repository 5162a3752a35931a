#include "door_request.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "jail/door_files.h"
#include "sys/raw.h"

#define MAX_TOLD 64 /* refusals told one by one */

static unsigned n_told;
static uint64_t n_not_told;

long door_refuse(const struct door_request *request, const char *path, int rule, long error)
{
    if (n_told < MAX_TOLD) {
        n_told++;
        door_tell_refused(request->nr, 1, rule, path);
    } else {
        n_not_told++;
    }
    return error;
}

void door_files_report(void)
{
    if (n_not_told > 0)
        door_tell_refused(-1, n_not_told, -1, NULL);
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
