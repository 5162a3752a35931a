/*
 * door_move.c - rename(2): what leaves a place, what comes to one, and git's own way to write
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/stat.h>

#include "jail/door_gate.h"
#include "jail/door_made.h"
#include "jail/door_project.h"
#include "jail/door_request.h"
#include "jail/protocol.h"
#include "sys/raw.h"

/* Something at `from` that is to come to a stricter place, or leave one. */
static long check_moved(const struct door_request *request, const struct place *from,
                        const struct place *to)
{
    struct stat st;
    int taken = -1;
    int rule;
    long fd = raw(SYS_openat, from->act_fd, from->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return fd;
    long r = raw(SYS_fstat, fd, &st);
    if (r == 0 && S_ISDIR(st.st_mode)) {
        rule = place_rule_within(to->path, from->path, (int)fd);
        if (rule < 0)
            taken = place_rule_within(from->path, to->path, (int)fd);
    } else {
        rule = S_ISLNK(st.st_mode) ? place_rule_link(to->path) : place_rule_below(to->path);
    }
    (void)raw(SYS_close, fd);
    if (r == 0 && rule >= 0)
        return door_refuse(request, to->path, rule, -EACCES);
    return r == 0 && taken >= 0 ? door_refuse(request, from->path, taken, -EBUSY) : r;
}

/* Moving `from` to `to`. A directory on the way to something protected stays where it is, and what
 * comes to the place of one must not have it inside already. */
static long check_move(const struct door_request *request, const struct place *from,
                       const struct place *to)
{
    int rule = place_rule(from->path);

    if ((from->is_top && door_project_hides(from->name)) ||
        (to->is_top && door_project_hides(to->name)))
        return -EBUSY; /* as if a mask lay on it */
    if (rule >= 0)
        return door_refuse(request, from->path, rule, -EACCES);
    if (place_holds_hidden(from->path) || door_project_holds_later(from->path))
        return door_refuse(request, from->path, PROTOCOL_RULE_HELD, -EBUSY);
    rule = place_rule(to->path);
    if (rule >= 0)
        return door_refuse(request, to->path, rule, -EACCES);
    rule = place_rule_below(from->path);
    if (rule >= 0)
        return door_refuse(request, from->path, rule, -EBUSY);
    if (!place_is_stricter(to->path, from->path) && !place_is_stricter(from->path, to->path))
        return 0;
    return check_moved(request, from, to);
}

/* git's own way to write: "config.lock" becomes "config", in one directory. The rule, or -1. */
static int gate_of(const struct place *from, const struct place *to)
{
    size_t n = strlen(to->path);
    int rule = place_gate(to->path);

    return rule >= 0 && strncmp(from->path, to->path, n) == 0 &&
                   strcmp(from->path + n, ".lock") == 0
               ? rule
               : -1;
}

static long rename_places(const struct place *from, const struct place *to, unsigned flags)
{
    bool is_exchange = flags & RENAME_EXCHANGE;
    struct identity moved;
    struct identity other;
    bool has_moved = identity_of(from->act_fd, from->name, &moved);
    bool has_other = is_exchange && identity_of(to->act_fd, to->name, &other);
    long r = 0;

    if (from->is_top && to->is_top)
        r = door_project_may_rename(from, to, is_exchange);
    if (r == 0)
        r = raw(SYS_renameat2, from->act_fd, from->name, to->act_fd, to->name, flags);
    if (r == -EXDEV)
        r = door_project_rename(from, to, flags);
    if (r == 0 && has_moved)
        door_made(&moved);
    if (r == 0 && has_other)
        door_made(&other);
    if (r == 0 && (from->is_top || to->is_top))
        r = door_project_renamed(from, to, is_exchange);
    return r;
}

long door_rename(struct door_request *request)
{
    struct place from;
    struct place to;
    long r = place_find(&from, request->asked, request->directory, request->text);

    to.parent_fd = -1;
    if (r == 0)
        r = place_find(&to, request->asked, request->directory2, request->text2);
    if (r == 0 && !from.is_inside && !to.is_inside)
        r = DOOR_CONTINUE;
    if (r == 0 && (from.is_taken || to.is_taken))
        r = -EBUSY; /* EXDEV would make mv copy all of /usr */
    if (r == 0 && !(request->flags & RENAME_EXCHANGE)) {
        int gate = gate_of(&from, &to);

        if (gate >= 0) {
            r = door_gate_ask(request->asked, &from, &to, gate);
            r = r == 0 ? -EINPROGRESS : door_refuse(request, to.path, gate, r);
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
    place_done(&from);
    place_done(&to);
    return r;
}
