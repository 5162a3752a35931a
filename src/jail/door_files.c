#include "door_files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "jail/door_gate.h"
#include "jail/door_place.h"
#include "jail/door_project.h"
#include "jail/door_slow.h"
#include "jail/door_umask.h"
#include "jail/protocol.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define MAX_LINKS 40
#define MAX_TOLD  64 /* refusals told one by one */

#define KNOWN_RESOLVE                                                                  \
    (RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH | \
     RESOLVE_IN_ROOT | RESOLVE_CACHED)

/* Where a file's status flags can be changed after it was opened. */
#define CHANGEABLE (O_APPEND | O_NONBLOCK | O_DIRECT | O_NOATIME | O_ASYNC)

/* Flags that the old calls know; they overlook all others, the new one does not. */
#define KNOWN_FLAGS                                                                       \
    (O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_SYNC | \
     O_DSYNC | O_ASYNC | O_DIRECT | O_DIRECTORY | O_NOFOLLOW | O_NOATIME | O_TMPFILE)

struct request {
    const struct seccomp_notif *asked;
    int nr;
    int directory, directory2; /* AT_FDCWD or a descriptor of the caller's */
    uint64_t path, path2;      /* addresses in the caller */
    uint64_t flags, mode, extra;
    uint64_t resolve; /* of openat2(2) */
    char text[PLACE_PATH_MAX], text2[PLACE_PATH_MAX];
};

static unsigned n_told;
static uint64_t n_not_told;

static long refuse(const struct request *request, const char *path, int rule, long error)
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

enum kind { DIRECTORY, LINK, ANYTHING_ELSE };

/* A name that is to come into being there. What stands on the way to something protected can only be
 * a directory. */
static long check_new(const struct request *request, const struct place *place, enum kind kind)
{
    int rule = place_rule(place->path);

    if (rule < 0 && kind == ANYTHING_ELSE)
        rule = place_rule_below(place->path);
    if (rule < 0 && kind == LINK)
        rule = place_rule_link(place->path);
    return rule < 0 ? 0 : refuse(request, place->path, rule, -EACCES);
}

/* Where the object behind a descriptor of ours lies; 0: nowhere in a protected root. */
static long where_is(long fd, char out[PLACE_PATH_MAX])
{
    char path[64];

    (void)door_append_number(door_append(path, "/proc/self/fd/"), (unsigned long)fd);
    long n = raw(SYS_readlinkat, AT_FDCWD, path, out, PLACE_PATH_MAX - 1);
    if (n <= 0)
        return 0;
    out[n] = '\0';
    place_canonical(out, PLACE_PATH_MAX);
    return place_is_inside(out) ? n : 0;
}

/* A descriptor of the caller's that it names by /proc/self/fd; ours, O_PATH. */
static long take_named_descriptor(const struct request *request, const struct place *place)
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

/* The object behind a descriptor of ours, opened anew. */
static long reopen(const struct request *request, long fd, int flags)
{
    char path[64];
    char where[PLACE_PATH_MAX];
    struct stat st;

    if (where_is(fd, where) == 0 || raw(SYS_fstat, fd, &st) < 0)
        return DOOR_CONTINUE; /* elsewhere the wall lets everything through */
    int rule = place_rule(where);
    if (rule >= 0)
        return refuse(request, where, rule, -EACCES);
    if (S_ISFIFO(st.st_mode) && (flags & O_ACCMODE) == O_WRONLY && !(flags & O_NONBLOCK))
        return door_slow_open(request->asked, (int)fd, (int)request->flags);
    if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode))
        return DOOR_CONTINUE;
    (void)door_append_number(door_append(path, "/proc/self/fd/"), (unsigned long)fd);
    return raw(SYS_openat, AT_FDCWD, path, (flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW)) | O_CLOEXEC);
}

static long open_own_descriptor(const struct request *request, const struct place *place, int flags)
{
    long fd = take_named_descriptor(request, place);

    if (fd < 0)
        return DOOR_CONTINUE;
    long r = reopen(request, fd, flags);
    (void)raw(SYS_close, fd);
    return r;
}

/* Something there would have to be waited for. */
static long open_waiting(const struct request *request, const struct place *place, long error)
{
    struct stat st;
    long fd = raw(SYS_openat, place->parent_fd, place->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return fd;
    long r = raw(SYS_fstat, fd, &st);
    if (r == 0)
        r = S_ISFIFO(st.st_mode) || S_ISREG(st.st_mode)
                ? door_slow_open(request->asked, (int)fd, (int)request->flags)
                : error;
    (void)raw(SYS_close, fd);
    return r;
}

/*
 * The descriptor, or -errno; -EINPROGRESS: somebody else will answer. init must not wait, so it opens
 * without waiting whatever the caller wants. A FIFO that could be opened for writing so has its
 * reader, and needs no waiting.
 */
static long open_at(const struct request *request, const struct place *place, int flags)
{
    bool may_wait = !(flags & O_NONBLOCK) && (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
    struct kernel_open_how how = {
        .flags = (uint32_t)flags | O_CLOEXEC | O_NOCTTY | (may_wait ? O_NONBLOCK : 0),
        .mode = request->mode,
        .resolve = RESOLVE_NO_SYMLINKS | (request->resolve & RESOLVE_NO_XDEV),
    };
    struct stat st;

    if (request->nr != NR_OPENAT2) {
        how.flags &= KNOWN_FLAGS | O_CLOEXEC;
        how.mode &= 07777;
    }
    if (!(flags & O_CREAT) && (request->nr != NR_OPENAT2 || request->flags & O_CREAT))
        how.mode = 0; /* the new call minds a mode without need */
    /* To read from a FIFO, the caller can go to the kernel: the wall only stops who writes. */
    if (may_wait && (flags & O_ACCMODE) == O_RDONLY &&
        raw(SYS_newfstatat, place->parent_fd, place->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISFIFO(st.st_mode))
        return DOOR_CONTINUE;
    long fd = raw(NR_OPENAT2, place->parent_fd, place->name, &how, sizeof how);
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

static long open_unnamed(const struct request *request, int flags)
{
    struct kernel_open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
                                   .resolve = RESOLVE_NO_MAGICLINKS | request->resolve };
    struct place place;
    bool is_absolute = *request->text == '/' && !(request->resolve & RESOLVE_IN_ROOT);
    long start = is_absolute ? AT_FDCWD : place_start(request->asked, request->directory);

    if (start < 0 && start != AT_FDCWD)
        return DOOR_CONTINUE;
    long fd = raw(NR_OPENAT2, start, request->text, &how, sizeof how);
    if (start >= 0)
        (void)raw(SYS_close, start);
    if (fd < 0)
        return DOOR_CONTINUE;
    long r = place_of_directory(&place, (int)fd);
    if (r == 0 && !door_is_waiting(request->asked->id))
        r = -ESRCH;
    if (r == 0 && !place.is_inside)
        r = DOOR_CONTINUE;
    if (r == 0) {
        int rule = place_rule(place.path);

        r = rule < 0 ? 0 : refuse(request, place.path, rule, -EACCES);
    }
    if (r == 0)
        r = raw(SYS_openat, place.act_fd, ".", flags | O_CLOEXEC, request->mode);
    place_done(&place);
    return r;
}

static bool may_follow(int flags)
{
    return !(flags & O_NOFOLLOW) && (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
}

/* One link further: `text` becomes what the last component holds; 0 if it is none. */
static long follow(const struct place *place, char *text)
{
    long n = raw(SYS_readlinkat, place->parent_fd, place->name, text, PLACE_PATH_MAX - 1);

    if (n <= 0)
        return 0;
    text[n] = '\0';
    return n;
}

/* Opens what `made` is, at the place if it is still there: the host may be quicker. */
static long open_same(const struct place *place, int flags, long made)
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
    (void)door_append_number(door_append(path, "/proc/self/fd/"), (unsigned long)made);
    return raw(SYS_openat, AT_FDCWD, path, flags | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
}

/* What was just made with a mode that lets nobody write it is still its maker's to write. */
static long open_made(const struct place *place, int flags, long made)
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
static long open_top(const struct request *request, const struct place *place, int flags)
{
    int plain = flags & ~(O_CREAT | O_EXCL);

    if (!(flags & O_CREAT))
        return open_at(request, place, flags);
    long made = raw(SYS_openat, place->act_fd, place->name,
                    O_RDONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, request->mode);
    if (made == -EEXIST && !(flags & O_EXCL)) {
        (void)door_project_show(place->name); /* the host may have made it this very moment */
        return open_at(request, place, plain);
    }
    if (made < 0)
        return made;
    long r = door_project_made(place->name, false);
    if (r == 0)
        r = open_made(place, plain & ~O_NOFOLLOW, made);
    (void)raw(SYS_close, made);
    return r;
}

static long open_place(struct request *request, struct place *place, int flags)
{
    if (place->is_own_descriptors && may_follow(flags))
        return open_own_descriptor(request, place, flags);
    if (!place->is_inside)
        return DOOR_CONTINUE;
    int rule = place_rule(place->path);
    if (rule < 0 && flags & O_CREAT)
        rule = place_rule_below(place->path);
    if (rule >= 0)
        return refuse(request, place->path, rule, -EACCES);
    if (place->had_slash)
        return DOOR_CONTINUE; /* no file can be made by such a name */
    door_umask_take(request->asked);
    return place->is_top ? open_top(request, place, flags) : open_at(request, place, flags);
}

/* A last link where openat2(2) says how links are to be read: the kernel reads them so. */
static long open_restricted_link(const struct request *request, int flags)
{
    struct kernel_open_how how = { .flags = O_PATH | O_CLOEXEC,
                                   .resolve = RESOLVE_NO_MAGICLINKS | request->resolve };
    bool is_absolute = *request->text == '/' && !(request->resolve & RESOLVE_IN_ROOT);
    long start = is_absolute ? AT_FDCWD : place_start(request->asked, request->directory);

    if (start < 0 && start != AT_FDCWD)
        return DOOR_CONTINUE;
    long fd = raw(NR_OPENAT2, start, request->text, &how, sizeof how);
    if (start >= 0)
        (void)raw(SYS_close, start);
    if (fd < 0)
        return fd;
    long r = door_is_waiting(request->asked->id) ? reopen(request, fd, flags) : -ESRCH;
    (void)raw(SYS_close, fd);
    return r;
}

/* One try at a place; -ELOOP: a link is, or may be, there that is to be followed. A link in the
 * workspace is seen when it cannot be opened; elsewhere one is looked for. */
static long try_place(struct request *request, struct place *place, int flags)
{
    if (place->is_inside || place->is_own_descriptors)
        return open_place(request, place, flags);
    return may_follow(flags) && !request->resolve ? -ELOOP : DOOR_CONTINUE;
}

/* The place that the link at `place` leads to, instead of it. */
static long follow_place(struct request *request, struct place *place, struct place *next)
{
    if (follow(place, request->text) == 0)
        return place->is_inside ? -EAGAIN : DOOR_CONTINUE; /* none, or one that is gone again */
    if (strncmp(place->path, "/proc/", 6) == 0)
        return DOOR_CONTINUE; /* links of /proc lead where their words do not */
    return place_find_from(next, place->parent_fd, request->text);
}

/* The descriptor; DOOR_CONTINUE; or -errno. */
static long open_for(struct request *request, int flags)
{
    struct place places[2];
    struct place *place = &places[0];

    if (flags & O_PATH || strcmp(request->text, "/dev/null") == 0)
        return DOOR_CONTINUE;
    if ((flags & O_TMPFILE) == O_TMPFILE) {
        door_umask_take(request->asked);
        return open_unnamed(request, flags);
    }
    places[1].parent_fd = -1;
    long r = place_find_within(place, request->asked, request->directory, request->text,
                               request->resolve);
    for (unsigned n_links = 0; r == 0; n_links++) {
        struct place *next = &places[place == &places[0]];

        r = try_place(request, place, flags);
        if (r != -ELOOP || !may_follow(flags))
            break;
        if (request->resolve) {
            r = request->resolve & RESOLVE_NO_SYMLINKS ? r : open_restricted_link(request, flags);
            break;
        }
        if (n_links == MAX_LINKS) {
            r = place->is_inside ? r : DOOR_CONTINUE;
            break;
        }
        r = follow_place(request, place, next);
        if (r == 0) {
            place_done(place);
            place = next;
        } else if (r == -EAGAIN) {
            r = 0;
        }
    }
    place_done(&places[0]);
    place_done(&places[1]);
    return r;
}

static void serve_open(struct request *request)
{
    int flags = (int)request->flags;
    long r = open_for(request, flags & ~O_CLOEXEC);

    if (r == -EINPROGRESS)
        return;
    if (r < 0 || r == DOOR_CONTINUE) {
        door_answer(request->asked->id, r);
        return;
    }
    door_answer_descriptor(request->asked->id, (int)r, flags & O_CLOEXEC);
}

/* The caller's limit on file sizes is not ours; as in the kernel, it stops a file from growing. */
static long check_size(const struct request *request, uint64_t size)
{
    struct {
        uint64_t soft, hard;
    } limit;
    long r = raw(SYS_prlimit64, request->asked->pid, RLIMIT_FSIZE, NULL, &limit);

    if (r < 0 || request->extra <= size || request->extra <= limit.soft)
        return r;
    (void)raw(SYS_tkill, request->asked->pid, SIGXFSZ);
    return -EFBIG;
}

static long truncate_for(struct request *request)
{
    struct stat st;

    if ((int64_t)request->extra < 0)
        return -EINVAL;
    long fd = open_for(request, O_WRONLY | O_NONBLOCK);
    if (fd < 0 || fd == DOOR_CONTINUE)
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

static long act_mknod(const struct request *request, const struct place *place)
{
    return raw(SYS_mknodat, place->act_fd, place->name, request->mode, request->extra);
}

static long act_symlink(const struct request *request, const struct place *place)
{
    return raw(SYS_symlinkat, request->text, place->act_fd, place->name);
}

/* What mkdir, mknod and symlink have in common: one new name. */
static long make(struct request *request, uint64_t path, int directory,
                 long (*act)(const struct request *request, const struct place *place))
{
    char *text = path == request->path ? request->text : request->text2;
    struct place place;
    bool is_directory = act == NULL;
    long r = place_find(&place, request->asked, directory, text);

    if (r == 0 && !place.is_inside)
        r = DOOR_CONTINUE;
    if (r == 0 && place.had_slash && !is_directory)
        r = DOOR_CONTINUE;
    if (r == 0)
        r = check_new(request, &place,
                      is_directory         ? DIRECTORY
                      : act == act_symlink ? LINK
                                           : ANYTHING_ELSE);
    if (r == 0) {
        door_umask_take(request->asked);
        r = act ? act(request, &place) : raw(SYS_mkdirat, place.act_fd, place.name, request->mode);
    }
    if (r == 0 && place.is_top)
        r = door_project_made(place.name, is_directory);
    place_done(&place);
    return r;
}

/* A socket's name, relative to its directory: that is all the room an address has for sure. */
static long act_bind(const struct request *request, const struct place *place)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    size_t n = strlen(place->name);

    if (n >= sizeof address.sun_path)
        return -ENAMETOOLONG;
    memcpy(address.sun_path, place->name, n);
    long fd = door_take_socket(request->asked);
    if (fd < 0)
        return fd;
    long r = raw(SYS_fchdir, place->act_fd);
    if (r == 0)
        r = raw(SYS_bind, fd, &address, offsetof(struct sockaddr_un, sun_path) + n + 1);
    (void)raw(SYS_close, fd);
    return r;
}

/* Only names of files are the door's: the kernel does the others, and the wall watches it. */
static long bind_for(struct request *request)
{
    union {
        struct sockaddr_un address;
        char bytes[sizeof(struct sockaddr_un) + 1];
    } given;
    uint64_t length = (uint32_t)request->asked->data.args[2];

    door_clear(&given, sizeof given);
    if (length <= offsetof(struct sockaddr_un, sun_path) || length > sizeof given.address)
        return DOOR_CONTINUE;
    long r = door_read_memory(request->asked, request->asked->data.args[1], &given, length);
    if (r < 0)
        return r == -ESRCH ? r : DOOR_CONTINUE;
    if (given.address.sun_family != AF_UNIX || given.address.sun_path[0] == '\0')
        return DOOR_CONTINUE;
    (void)door_append(request->text, given.address.sun_path);
    return make(request, request->path, AT_FDCWD, act_bind);
}

/* Something at `from` that is to come to a stricter place, or leave one. */
static long check_moved(const struct request *request, const struct place *from,
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
        return refuse(request, to->path, rule, -EACCES);
    return r == 0 && taken >= 0 ? refuse(request, from->path, taken, -EBUSY) : r;
}

/* Moving `from` to `to`. A directory on the way to something protected stays where it is, and what
 * comes to the place of one must not have it inside already. */
static long check_move(const struct request *request, const struct place *from,
                       const struct place *to)
{
    int rule = place_rule(from->path);

    if ((from->is_top && door_project_hides(from->name)) ||
        (to->is_top && door_project_hides(to->name)))
        return -EBUSY; /* as if a mask lay on it */
    if (rule >= 0)
        return refuse(request, from->path, rule, -EACCES);
    if (place_holds_hidden(from->path))
        return refuse(request, from->path, PROTOCOL_RULE_HELD, -EBUSY);
    rule = place_rule(to->path);
    if (rule >= 0)
        return refuse(request, to->path, rule, -EACCES);
    rule = place_rule_below(from->path);
    if (rule >= 0)
        return refuse(request, from->path, rule, -EBUSY);
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
    long r = 0;

    if (from->is_top && to->is_top)
        r = door_project_may_rename(from, to, is_exchange);
    if (r == 0)
        r = raw(SYS_renameat2, from->act_fd, from->name, to->act_fd, to->name, flags);
    if (r == -EXDEV)
        r = door_project_rename(from, to, flags);
    if (r == 0 && (from->is_top || to->is_top))
        r = door_project_renamed(from, to, is_exchange);
    return r;
}

static long rename_for(struct request *request)
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
            r = r == 0 ? -EINPROGRESS : refuse(request, to.path, gate, r);
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

/* The file that a link is to be made to, as a descriptor of ours where the caller means what a
 * descriptor or a link leads to: *out_fd, else -1. */
static long link_source(struct request *request, long *out_fd, struct place *from)
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
                  ? take_named_descriptor(request, from)
                  : raw(NR_OPENAT2, from->parent_fd, from->name, &how, sizeof how);
    return *out_fd == -ELOOP ? DOOR_CONTINUE : 0;
}

/* What has another name can be written by that one. */
static long check_link_source(const struct request *request, long fd, const struct place *from)
{
    char where[PLACE_PATH_MAX];
    const char *path = from->path;

    if (fd >= 0) {
        if (where_is(fd, where) == 0)
            return 0;
        path = where;
    }
    int rule = place_rule(path);
    return rule < 0 ? 0 : refuse(request, path, rule, -EACCES);
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

static long link_for(struct request *request)
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
        r = check_new(request, &to, fd < 0 && is_symlink(&from) ? LINK : ANYTHING_ELSE);
    if (r == 0)
        r = check_link_source(request, fd, &from);
    if (r == 0 && fd < 0 && from.is_top && door_project_hides(from.name))
        r = -EACCES;
    if (r == 0 && fd < 0) {
        r = link_places(&from, &to);
    } else if (r == 0) {
        (void)door_append_number(door_append(source, "/proc/self/fd/"), (unsigned long)fd);
        r = link_descriptor(source, &to);
    }
    if (r == 0 && to.is_top)
        r = door_project_made(to.name, false);
    if (fd >= 0)
        (void)raw(SYS_close, fd);
    place_done(&from);
    place_done(&to);
    return r;
}

static long serve_symlink(struct request *request)
{
    return make(request, request->path2, request->directory2, act_symlink);
}

static long serve_mkdir(struct request *request)
{
    return make(request, request->path, request->directory, NULL);
}

static long serve_mknod(struct request *request)
{
    return make(request, request->path, request->directory, act_mknod);
}

/* Only at the top of a project: elsewhere the kernel's own way needs no help. */
static long remove_for(struct request *request)
{
    struct place place;
    long r = place_find(&place, request->asked, request->directory, request->text);

    if (r == 0 && !place.is_top)
        r = DOOR_CONTINUE;
    if (r == 0 && place.had_slash && !(request->flags & AT_REMOVEDIR))
        r = DOOR_CONTINUE; /* no file has such a name, and a directory is not removed by it */
    if (r == 0) {
        int rule = place_rule(place.path);

        r = rule < 0 ? 0 : refuse(request, place.path, rule, -EACCES);
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

static long serve_umask(struct request *request)
{
    (void)request;
    door_umask_changed();
    return DOOR_CONTINUE;
}

#define NO (-1) /* the call has no such argument */

/* Which argument is what. */
static const struct {
    int nr;
    int directory, path, directory2, path2, flags, mode, extra;
    unsigned implied_flags;
    bool is_open;
    long (*serve)(struct request *request);
} calls[] = {
#ifdef SYS_open
    { SYS_open, NO, 0, NO, NO, 1, 2, NO, 0, true, NULL },
    { SYS_creat, NO, 0, NO, NO, NO, 1, NO, O_CREAT | O_WRONLY | O_TRUNC, true, NULL },
    { SYS_mkdir, NO, 0, NO, NO, NO, 1, NO, 0, false, serve_mkdir },
    { SYS_mknod, NO, 0, NO, NO, NO, 1, 2, 0, false, serve_mknod },
    { SYS_rename, NO, 0, NO, 1, NO, NO, NO, 0, false, rename_for },
    { SYS_link, NO, 0, NO, 1, NO, NO, NO, 0, false, link_for },
    { SYS_symlink, NO, 0, NO, 1, NO, NO, NO, 0, false, serve_symlink },
    { SYS_unlink, NO, 0, NO, NO, NO, NO, NO, 0, false, remove_for },
    { SYS_rmdir, NO, 0, NO, NO, NO, NO, NO, AT_REMOVEDIR, false, remove_for },
#endif
    { SYS_unlinkat, 0, 1, NO, NO, 2, NO, NO, 0, false, remove_for },
    { SYS_openat, 0, 1, NO, NO, 2, 3, NO, 0, true, NULL },
    { SYS_mkdirat, 0, 1, NO, NO, NO, 2, NO, 0, false, serve_mkdir },
    { SYS_mknodat, 0, 1, NO, NO, NO, 2, 3, 0, false, serve_mknod },
#ifdef SYS_renameat
    { SYS_renameat, 0, 1, 2, 3, NO, NO, NO, 0, false, rename_for },
#endif
    { SYS_renameat2, 0, 1, 2, 3, 4, NO, NO, 0, false, rename_for },
    { SYS_linkat, 0, 1, 2, 3, 4, NO, NO, 0, false, link_for },
    { SYS_symlinkat, NO, 0, 1, 2, NO, NO, NO, 0, false, serve_symlink },
    { SYS_truncate, NO, 0, NO, NO, NO, NO, 1, 0, false, truncate_for },
    { SYS_bind, NO, NO, NO, NO, NO, NO, NO, 0, false, bind_for },
    { SYS_umask, NO, NO, NO, NO, NO, NO, NO, 0, false, serve_umask },
};

static uint64_t argument(const struct seccomp_notif *asked, int index, uint64_t otherwise)
{
    return index == NO ? otherwise : asked->data.args[index];
}

/* The new call carries its flags in memory. What is not known yet is left to the kernel, and so to the
 * wall. */
static long read_open_how(struct request *request)
{
    struct kernel_open_how how;
    const struct seccomp_notif *asked = request->asked;

    if (asked->data.args[3] != sizeof how)
        return DOOR_CONTINUE;
    long r = door_read_memory(asked, asked->data.args[2], &how, sizeof how);
    if (r < 0)
        return r;
    request->directory = (int)asked->data.args[0];
    request->path = asked->data.args[1];
    request->flags = how.flags;
    request->mode = how.mode;
    request->resolve = how.resolve & ~(uint64_t)RESOLVE_NO_MAGICLINKS; /* the door follows none */
    bool writes =
        how.flags & (O_CREAT | O_WRONLY | O_RDWR | O_TRUNC) || (how.flags & O_TMPFILE) == O_TMPFILE;
    if (!writes || how.resolve & ~(uint64_t)KNOWN_RESOLVE || how.flags >> 32)
        return DOOR_CONTINUE;
    return how.resolve & RESOLVE_CACHED ? -EAGAIN : 0;
}

static long read_paths(struct request *request)
{
    long r = 0;

    if (request->path)
        r = door_read_string(request->asked, request->path, request->text, sizeof request->text);
    if (r >= 0 && request->path2)
        r = door_read_string(request->asked, request->path2, request->text2, sizeof request->text2);
    return r == -EFAULT || r == -ENAMETOOLONG ? DOOR_CONTINUE : r < 0 ? r : 0;
}

bool door_files_open(int rules_fd, unsigned umask)
{
    door_umask_start(umask);
    return place_rules_load(rules_fd);
}

static void serve(struct request *request, bool is_open, long (*act)(struct request *request))
{
    long r = read_paths(request);

    if (r == 0 && is_open) {
        serve_open(request);
        return;
    }
    if (r == 0)
        r = act(request);
    if (r != -EINPROGRESS)
        door_answer(request->asked->id, r);
}

bool door_files_serve(const struct seccomp_notif *asked)
{
    static struct request request;

    request.asked = asked;
    request.nr = asked->data.nr;
    request.path2 = 0;
    request.resolve = 0;
    if (asked->data.nr == NR_OPENAT2) {
        long r = read_open_how(&request);

        if (r == 0)
            serve(&request, true, NULL);
        else
            door_answer(asked->id, r);
        return true;
    }
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (calls[i].nr != asked->data.nr)
            continue;
        request.directory = (int)argument(asked, calls[i].directory, (uint64_t)AT_FDCWD);
        request.path = argument(asked, calls[i].path, 0);
        request.directory2 = (int)argument(asked, calls[i].directory2, (uint64_t)AT_FDCWD);
        request.path2 = argument(asked, calls[i].path2, 0);
        request.flags = (uint32_t)argument(asked, calls[i].flags, calls[i].implied_flags);
        request.mode = argument(asked, calls[i].mode, 0);
        request.extra = argument(asked, calls[i].extra, 0);
        serve(&request, calls[i].is_open, calls[i].serve);
        return true;
    }
    return false;
}
