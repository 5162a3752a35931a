#include "door_files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "jail/door_gate.h"
#include "jail/door_place.h"
#include "jail/door_umask.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define MAX_LINKS 40
#define MAX_TOLD  64 /* refusals told one by one */

/* Where a file's status flags can be changed after it was opened. */
#define CHANGEABLE (O_APPEND | O_NONBLOCK | O_DIRECT | O_NOATIME | O_ASYNC)

struct request {
    const struct seccomp_notif *asked;
    int nr;
    int directory, directory2; /* AT_FDCWD or a descriptor of the caller's */
    uint64_t path, path2;      /* addresses in the caller */
    uint64_t flags, mode, extra;
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

/* A name that is to come into being there: what for `is_directory` is fine, on the way to something
 * protected, is not for a file or a link. */
static long check_new(const struct request *request, const struct place *place, bool is_directory)
{
    int rule = place_rule(place->path);

    if (rule < 0 && !is_directory)
        rule = place_rule_below(place->path);
    return rule < 0 ? 0 : refuse(request, place->path, rule, -EACCES);
}

/* A descriptor of the caller's that it names by /proc/self/fd: the object itself, opened anew. */
static long open_own_descriptor(const struct request *request, const struct place *place, int flags)
{
    char path[96];
    char where[PLACE_PATH_MAX];
    struct stat st;

    door_proc_path(request->asked, "/fd/", path);
    if (strlen(place->name) > 10)
        return -ENOENT;
    (void)door_append(path + strlen(path), place->name);
    long fd = raw(SYS_openat, AT_FDCWD, path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return DOOR_CONTINUE;
    (void)door_append_number(door_append(path, "/proc/self/fd/"), (unsigned long)fd);
    long n = raw(SYS_readlinkat, AT_FDCWD, path, where, sizeof where - 1);
    long r = raw(SYS_fstat, fd, &st);
    if (n <= 0 || r < 0 || !S_ISREG(st.st_mode) || where[0] != '/') {
        (void)raw(SYS_close, fd);
        return DOOR_CONTINUE; /* pipes and terminals are no business of the wall */
    }
    where[n] = '\0';
    int rule = place_rule(where);
    if (rule >= 0) {
        (void)raw(SYS_close, fd);
        return refuse(request, where, rule, -EACCES);
    }
    r = raw(SYS_openat, AT_FDCWD, path, (flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW)) | O_CLOEXEC);
    (void)raw(SYS_close, fd);
    return r;
}

/* Opening a FIFO waits for its other end, and init must not wait. */
static long open_slowly(const struct request *request, const struct place *place, int flags)
{
    long pid = raw(SYS_clone, SIGCHLD, 0, 0, 0, 0);

    if (pid != 0)
        return pid < 0 ? pid : -EINPROGRESS;
    long fd = raw(SYS_openat, place->parent_fd, place->name, flags | O_NOFOLLOW | O_CLOEXEC,
                  request->mode);
    if (fd < 0)
        door_answer(request->asked->id, fd);
    else
        door_answer_descriptor(request->asked->id, (int)fd, request->flags & O_CLOEXEC);
    for (;;)
        (void)raw(SYS_exit_group, 0);
}

/* The descriptor, or -errno; -EINPROGRESS: somebody else will answer. */
static long open_at(const struct request *request, const struct place *place, int flags)
{
    struct stat st;
    long fd = raw(SYS_openat, place->parent_fd, place->name,
                  flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, request->mode);

    if (flags & O_NONBLOCK || (fd < 0 && fd != -ENXIO))
        return fd;
    if (fd == -ENXIO)
        return open_slowly(request, place, flags);
    long r = raw(SYS_fstat, fd, &st);
    if (r == 0 && S_ISFIFO(st.st_mode)) {
        (void)raw(SYS_close, fd);
        return open_slowly(request, place, flags);
    }
    if (r == 0)
        r = raw(SYS_fcntl, fd, F_SETFL, flags & CHANGEABLE);
    if (r < 0) {
        (void)raw(SYS_close, fd);
        return r;
    }
    return fd;
}

static long open_unnamed(const struct request *request, int flags)
{
    struct kernel_open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
                                   .resolve = RESOLVE_NO_MAGICLINKS };
    struct place place;
    long start = *request->text == '/' ? AT_FDCWD : place_start(request->asked, request->directory);

    if (start < 0 && start != AT_FDCWD)
        return DOOR_CONTINUE;
    long fd = raw(NR_OPENAT2, start, request->text, &how, sizeof how);
    if (start >= 0)
        (void)raw(SYS_close, start);
    if (fd < 0)
        return DOOR_CONTINUE;
    long r = place_of_directory(&place, (int)fd);
    if (r == 0 && !place.is_inside)
        r = DOOR_CONTINUE;
    if (r == 0) {
        int rule = place_rule(place.path);

        r = rule < 0 ? 0 : refuse(request, place.path, rule, -EACCES);
    }
    if (r == 0)
        r = raw(SYS_openat, fd, ".", flags | O_CLOEXEC, request->mode);
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
    return open_at(request, place, flags);
}

/* The descriptor; DOOR_CONTINUE; or -errno. */
static long open_for(struct request *request, int flags)
{
    struct place place;

    if (flags & O_PATH)
        return DOOR_CONTINUE;
    if ((flags & O_TMPFILE) == O_TMPFILE) {
        door_umask_take(request->asked);
        return open_unnamed(request, flags);
    }
    long r = place_find(&place, request->asked, request->directory, request->text);
    for (unsigned i = 0; r == 0 && i < MAX_LINKS; i++) {
        struct place next;

        if (!may_follow(flags) || place.is_own_descriptors || follow(&place, request->text) == 0) {
            r = open_place(request, &place, flags);
            if (r == -ELOOP && may_follow(flags)) { /* a link has come there meanwhile */
                r = 0;
                continue;
            }
            place_done(&place);
            return r;
        }
        /* Links of /proc lead where their words do not. */
        if (strncmp(place.path, "/proc/", 6) == 0) {
            r = DOOR_CONTINUE;
            break;
        }
        r = place_find_from(&next, place.parent_fd, request->text);
        place_done(&place);
        place = next;
        place.name = place.path + (next.name - next.path);
    }
    place_done(&place);
    return r == 0 ? -ELOOP : r;
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
    (void)raw(SYS_close, r);
}

/* Its limit on file sizes is not ours. */
static long truncate_for(struct request *request)
{
    struct {
        uint64_t soft, hard;
    } limit;
    long fd = open_for(request, O_WRONLY | O_NONBLOCK);

    if (fd < 0 || fd == DOOR_CONTINUE)
        return fd;
    long r = raw(SYS_prlimit64, request->asked->pid, RLIMIT_FSIZE, NULL, &limit);
    if (r == 0 && request->extra > limit.soft)
        r = -EFBIG;
    if (r == 0)
        r = raw(SYS_ftruncate, fd, request->extra);
    (void)raw(SYS_close, fd);
    return r;
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
        r = check_new(request, &place, is_directory);
    if (r == 0) {
        door_umask_take(request->asked);
        r = act ? act(request, &place)
                : raw(SYS_mkdirat, place.parent_fd, place.name, request->mode);
    }
    place_done(&place);
    return r;
}

static long act_mknod(const struct request *request, const struct place *place)
{
    return raw(SYS_mknodat, place->parent_fd, place->name, request->mode, request->extra);
}

static long act_symlink(const struct request *request, const struct place *place)
{
    return raw(SYS_symlinkat, request->text, place->parent_fd, place->name);
}

/* Moving `from` to `to`. A directory on the way to something protected stays where it is, and what
 * comes to the place of one must not have it inside already. */
static long check_move(const struct request *request, const struct place *from,
                       const struct place *to)
{
    int rule = place_rule(from->path);

    if (rule < 0)
        rule = place_rule(to->path);
    if (rule >= 0)
        return refuse(request, place_rule(from->path) >= 0 ? from->path : to->path, rule, -EACCES);
    rule = place_rule_below(from->path);
    if (rule >= 0)
        return refuse(request, from->path, rule, -EBUSY);
    if (place_rule_below(to->path) < 0)
        return 0;
    long fd =
        raw(SYS_openat, from->parent_fd, from->name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd == -ENOENT)
        return 0; /* rename says so */
    rule = fd < 0 ? place_rule_below(to->path) : place_rule_brought(to->path, (int)fd);
    if (fd >= 0)
        (void)raw(SYS_close, fd);
    return rule < 0 ? 0 : refuse(request, to->path, rule, -EACCES);
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
        r = raw(SYS_renameat2, from.parent_fd, from.name, to.parent_fd, to.name, request->flags);
    place_done(&from);
    place_done(&to);
    return r;
}

/* The file that a link is to be made to, as a path that the kernel follows to it; *out_fd is ours. */
static long link_source(struct request *request, char path[64], long *out_fd, struct place *from)
{
    *out_fd = -1;
    if (request->flags & AT_EMPTY_PATH && *request->text == '\0') {
        *out_fd = place_start(request->asked, request->directory);
    } else {
        long r = place_find(from, request->asked, request->directory, request->text);

        if (r != 0)
            return r;
        if (!(request->flags & AT_SYMLINK_FOLLOW))
            return 0;
        if (!from->is_own_descriptors)
            return DOOR_CONTINUE;
        char own[64];
        door_proc_path(request->asked, "/fd/", own);
        if (strlen(from->name) > 10)
            return -ENOENT;
        (void)door_append(own + strlen(own), from->name);
        *out_fd = raw(SYS_openat, AT_FDCWD, own, O_PATH | O_CLOEXEC);
    }
    if (*out_fd < 0)
        return *out_fd;
    (void)door_append_number(door_append(path, "/proc/self/fd/"), (unsigned long)*out_fd);
    return 0;
}

static long link_for(struct request *request)
{
    char source[64];
    struct place from;
    struct place to;
    long fd;

    from.parent_fd = to.parent_fd = -1;
    long r = link_source(request, source, &fd, &from);
    if (r == 0)
        r = place_find(&to, request->asked, request->directory2, request->text2);
    if (r == 0 && !to.is_inside && (fd >= 0 || !from.is_inside))
        r = DOOR_CONTINUE;
    if (r == 0 && to.had_slash)
        r = DOOR_CONTINUE;
    if (r == 0)
        r = check_new(request, &to, false);
    if (r == 0 && fd < 0) {
        int rule = place_rule(from.path);

        r = rule < 0 ? 0 : refuse(request, from.path, rule, -EACCES);
    }
    if (r == 0 && fd < 0)
        r = raw(SYS_linkat, from.parent_fd, from.name, to.parent_fd, to.name, 0);
    else if (r == 0)
        r = raw(SYS_linkat, AT_FDCWD, source, to.parent_fd, to.name, AT_SYMLINK_FOLLOW);
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
#endif
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
    { SYS_umask, NO, NO, NO, NO, NO, NO, NO, 0, false, serve_umask },
};

static uint64_t argument(const struct seccomp_notif *asked, int index, uint64_t otherwise)
{
    return index == NO ? otherwise : asked->data.args[index];
}

/* The new call carries its flags in memory. What it restricts beyond the usual is left to the
 * kernel, and so to the wall. */
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
    bool writes =
        how.flags & (O_CREAT | O_WRONLY | O_RDWR | O_TRUNC) || (how.flags & O_TMPFILE) == O_TMPFILE;
    return how.resolve || !writes ? DOOR_CONTINUE : 0;
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
