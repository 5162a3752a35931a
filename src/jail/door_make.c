/*
 * door_make.c - directories, nodes and symbolic links; and, at the top of a project, their end
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "jail/door_made.h"
#include "jail/door_project.h"
#include "jail/door_request.h"
#include "jail/door_umask.h"
#include "sys/raw.h"

static long act_mknod(const struct door_request *request, const struct place *place)
{
    return raw(SYS_mknodat, place->act_fd, place->name, request->mode, request->extra);
}

static long act_symlink(const struct door_request *request, const struct place *place)
{
    return raw(SYS_symlinkat, request->text, place->act_fd, place->name);
}

static long act_mkdir(const struct door_request *request, const struct place *place)
{
    return raw(SYS_mkdirat, place->act_fd, place->name, request->mode);
}

/* What is there already cannot be made: that is no attempt at what is protected. `mkdir -p` asks so. */
static bool is_there(const struct place *place)
{
    struct stat st;

    return place_rule(place->path) >= 0 &&
           raw(SYS_newfstatat, place->act_fd, place->name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

long door_make(struct door_request *request, const char *text, int directory, enum door_kind kind,
               long (*act)(const struct door_request *request, const struct place *place))
{
    struct place place;
    long r = place_find(&place, request->asked, directory, text);

    if (r == 0 && (!place.is_inside || (place.had_slash && kind != DOOR_DIRECTORY)))
        r = DOOR_CONTINUE;
    if (r == 0)
        r = is_there(&place) ? -EEXIST : door_check_new(request, &place, kind);
    if (r == 0) {
        door_umask_take(request->asked);
        r = act(request, &place);
    }
    if (r == 0)
        door_made_name(place.act_fd, place.name);
    if (r == 0 && place.is_top)
        r = door_project_made(place.name, kind == DOOR_DIRECTORY);
    place_done(&place);
    return r;
}

long door_symlink(struct door_request *request)
{
    return door_make(request, request->text2, request->directory2, DOOR_LINK, act_symlink);
}

long door_mkdir(struct door_request *request)
{
    return door_make(request, request->text, request->directory, DOOR_DIRECTORY, act_mkdir);
}

long door_mknod(struct door_request *request)
{
    return door_make(request, request->text, request->directory, DOOR_ANYTHING_ELSE, act_mknod);
}

/* Only at the top of a project: elsewhere the kernel's own way needs no help. */
long door_remove(struct door_request *request)
{
    struct place place;
    long r = place_find(&place, request->asked, request->directory, request->text);

    if (r == 0 && !place.is_top)
        r = DOOR_CONTINUE;
    if (r == 0 && place.had_slash && !(request->flags & AT_REMOVEDIR))
        r = DOOR_CONTINUE; /* no file has such a name, and a directory is not removed by it */
    if (r == 0) {
        int rule = place_rule(place.path);

        r = rule < 0 ? 0 : door_refuse(request, place.path, rule, -EACCES);
    }
    if (r == 0 && door_project_hides(place.name))
        r = -EBUSY;
    if (r == 0)
        r = raw(SYS_unlinkat, place.act_fd, place.name, request->flags);
    if (r == 0)
        (void)door_project_show(place.name);
    place_done(&place);
    return r;
}
