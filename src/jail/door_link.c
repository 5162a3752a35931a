/*
 * door_link.c - link(2): another name for a file, or the first for one that has none
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "jail/door_made.h"
#include "jail/door_project.h"
#include "jail/door_request.h"
#include "sys/kernel.h"
#include "sys/raw.h"

/* The file that a link is to be made to, as a descriptor of ours where the caller means what a
 * descriptor or a link leads to: *out_fd, else -1. */
static long link_source(struct door_request *request, long *out_fd, struct place *from)
{
    struct kernel_open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS };

    *out_fd = -1;
    if (request->flags & AT_EMPTY_PATH && *request->text == '\0') {
        *out_fd = place_start(request->asked, request->directory);
        return *out_fd < 0 || door_is_waiting(request->asked->id) ? 0 : -ESRCH;
    }
    long r = place_find(from, request->asked, request->directory, request->text);
    if (r != 0 || !(request->flags & AT_SYMLINK_FOLLOW))
        return r;
    *out_fd = from->is_own_descriptors
                  ? door_take_named(request, from)
                  : raw(NR_OPENAT2, from->parent_fd, from->name, &how, sizeof how);
    return *out_fd == -ELOOP ? DOOR_CONTINUE : 0;
}

/* What has another name can be written by that one. */
static long check_link_source(const struct door_request *request, long fd, const struct place *from)
{
    char where[PLACE_PATH_MAX];
    const char *path = from->path;

    if (fd >= 0) {
        if (door_where_is(fd, where) == 0)
            return 0;
        path = where;
    }
    int rule = place_rule(path);
    return rule < 0 ? 0 : door_refuse(request, path, rule, -EACCES);
}

static long link_places(const struct place *from, const struct place *to)
{
    long r = raw(SYS_linkat, from->act_fd, from->name, to->act_fd, to->name, 0);

    return r == -EXDEV ? door_project_link(from, to) : r;
}

static long link_descriptor(const char *source, const struct place *to)
{
    long r = raw(SYS_linkat, AT_FDCWD, source, to->act_fd, to->name, AT_SYMLINK_FOLLOW);

    if (r != -EXDEV)
        return r;
    long directory = door_project_directory(to); /* a file without a name, made at the top */
    if (directory < 0)
        return r;
    r = raw(SYS_linkat, AT_FDCWD, source, directory, to->name, AT_SYMLINK_FOLLOW);
    (void)raw(SYS_close, directory);
    return r;
}

static bool is_symlink(const struct place *place)
{
    struct stat st;

    return raw(SYS_newfstatat, place->act_fd, place->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISLNK(st.st_mode);
}

long door_link(struct door_request *request)
{
    char source[64];
    struct place from;
    struct place to;
    long fd;

    from.parent_fd = to.parent_fd = from.act_fd = -1;
    from.is_inside = from.is_top = from.had_slash = false;
    from.name = from.path;
    from.path[0] = '\0';
    if (request->flags & ~(uint64_t)(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
        return DOOR_CONTINUE;
    long r = link_source(request, &fd, &from);
    if (r == 0 && fd < -1)
        r = fd;
    if (r == 0)
        r = place_find(&to, request->asked, request->directory2, request->text2);
    if (r == 0 && !to.is_inside && (fd >= 0 || !from.is_inside))
        r = DOOR_CONTINUE;
    if (r == 0 && (to.had_slash || (from.parent_fd >= 0 && from.had_slash)))
        r = DOOR_CONTINUE;
    if (r == 0)
        r = door_check_new(request, &to,
                           fd < 0 && is_symlink(&from) ? DOOR_LINK : DOOR_ANYTHING_ELSE);
    if (r == 0)
        r = check_link_source(request, fd, &from);
    if (r == 0 && fd < 0 && from.is_top && door_project_hides(from.name))
        r = -EACCES;
    if (r == 0 && fd < 0) {
        r = link_places(&from, &to);
    } else if (r == 0) {
        door_own_path(fd, source);
        r = link_descriptor(source, &to);
    }
    if (r == 0)
        door_made_name(to.act_fd, to.name);
    if (r == 0 && to.is_top)
        r = door_project_made(to.name, false);
    if (fd >= 0)
        (void)raw(SYS_close, fd);
    place_done(&from);
    place_done(&to);
    return r;
}
