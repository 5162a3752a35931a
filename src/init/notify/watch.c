#include "watch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/stat.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/vfs.h>

#include "init/notify/address.h"
#include "init/notify/denial.h"
#include "init/notify/ended.h"
#include "init/notify/find.h"
#include "init/protocol.h"
#include "sys/raw.h"

#define NR_FACCESSAT2 439
#define NR_FCHMODAT2  452

#define MAY_EXECUTE 1
#define MAY_WRITE   2
#define MAY_READ    4

#define IS_READ_ONLY       1u /* ST_RDONLY */
#define IS_MOUNT_ROOT      0x2000u
#define FORMAT_MASK        0170000u
#define FORMAT_DIRECTORY   0040000u
#define FORMAT_REGULAR     0100000u
#define SETUID_BITS        06000u
#define ANY_EXECUTE        0111u
#define UNNAMED_FILE_ALONE (O_TMPFILE & ~O_DIRECTORY)

static bool watches_writes, watches_lookups, has_own_network;

enum watch_kind {
    OPENS,
    MAKES,
    REMOVES,
    MOVES,
    CHANGES,
    EXECUTES,
    LOOKS,
    BINDS,
    SENDS,
    SENDS_MESSAGE,
    PASSES
};

#define NO (-1) /* the call has no such argument */

/* Which argument is what. */
static const struct watched {
    int nr;
    enum watch_kind kind;
    enum denial_op op;
    signed char directory, path, directory2, path2, flags, mode;
    int implied_flags;
} calls[] = {
#ifdef SYS_open
    { SYS_open, OPENS, DENIAL_READ, NO, 0, NO, NO, 1, 2, 0 },
    { SYS_creat, OPENS, DENIAL_READ, NO, 0, NO, NO, NO, 1, O_CREAT | O_WRONLY | O_TRUNC },
    { SYS_mkdir, MAKES, DENIAL_CREATE, NO, 0, NO, NO, NO, NO, 0 },
    { SYS_mknod, MAKES, DENIAL_CREATE, NO, 0, NO, NO, NO, 1, 0 },
    { SYS_rename, MOVES, DENIAL_RENAME, NO, 0, NO, 1, NO, NO, 0 },
    { SYS_link, MAKES, DENIAL_CREATE, NO, 1, NO, NO, NO, NO, 0 },
    { SYS_symlink, MAKES, DENIAL_CREATE, NO, 1, NO, NO, NO, NO, 0 },
    { SYS_unlink, REMOVES, DENIAL_DELETE, NO, 0, NO, NO, NO, NO, 0 },
    { SYS_rmdir, REMOVES, DENIAL_DELETE, NO, 0, NO, NO, NO, NO, 0 },
    { SYS_chmod, CHANGES, DENIAL_CHMOD, NO, 0, NO, NO, NO, 1, 0 },
    { SYS_chown, CHANGES, DENIAL_CHMOD, NO, 0, NO, NO, NO, NO, 0 },
    { SYS_lchown, CHANGES, DENIAL_CHMOD, NO, 0, NO, NO, NO, NO, AT_SYMLINK_NOFOLLOW },
    { SYS_utime, CHANGES, DENIAL_CHMOD, NO, 0, NO, NO, NO, NO, 0 },
    { SYS_utimes, CHANGES, DENIAL_CHMOD, NO, 0, NO, NO, NO, NO, 0 },
    { SYS_futimesat, CHANGES, DENIAL_CHMOD, 0, 1, NO, NO, NO, NO, 0 },
    { SYS_stat, LOOKS, DENIAL_READ, NO, 0, NO, NO, NO, NO, 0 },
    { SYS_lstat, LOOKS, DENIAL_READ, NO, 0, NO, NO, NO, NO, AT_SYMLINK_NOFOLLOW },
    { SYS_access, LOOKS, DENIAL_READ, NO, 0, NO, NO, NO, NO, 0 },
    { SYS_readlink, LOOKS, DENIAL_READ, NO, 0, NO, NO, NO, NO, AT_SYMLINK_NOFOLLOW },
#endif
    { SYS_openat, OPENS, DENIAL_READ, 0, 1, NO, NO, 2, 3, 0 },
    { SYS_mkdirat, MAKES, DENIAL_CREATE, 0, 1, NO, NO, NO, NO, 0 },
    { SYS_mknodat, MAKES, DENIAL_CREATE, 0, 1, NO, NO, NO, 2, 0 },
#ifdef SYS_renameat
    { SYS_renameat, MOVES, DENIAL_RENAME, 0, 1, 2, 3, NO, NO, 0 },
#endif
    { SYS_renameat2, MOVES, DENIAL_RENAME, 0, 1, 2, 3, NO, NO, 0 },
    { SYS_linkat, MAKES, DENIAL_CREATE, 2, 3, NO, NO, NO, NO, 0 },
    { SYS_symlinkat, MAKES, DENIAL_CREATE, 1, 2, NO, NO, NO, NO, 0 },
    { SYS_unlinkat, REMOVES, DENIAL_DELETE, 0, 1, NO, NO, NO, NO, 0 },
    { SYS_truncate, OPENS, DENIAL_WRITE, NO, 0, NO, NO, NO, NO, O_WRONLY },
    { SYS_fchmodat, CHANGES, DENIAL_CHMOD, 0, 1, NO, NO, NO, 2, 0 },
    { NR_FCHMODAT2, CHANGES, DENIAL_CHMOD, 0, 1, NO, NO, 3, 2, 0 },
    { SYS_fchownat, CHANGES, DENIAL_CHMOD, 0, 1, NO, NO, 4, NO, 0 },
    { SYS_utimensat, CHANGES, DENIAL_CHMOD, 0, 1, NO, NO, 3, NO, 0 },
    { SYS_setxattr, CHANGES, DENIAL_CHMOD, NO, 0, NO, NO, NO, NO, 0 },
    { SYS_lsetxattr, CHANGES, DENIAL_CHMOD, NO, 0, NO, NO, NO, NO, AT_SYMLINK_NOFOLLOW },
    { SYS_removexattr, CHANGES, DENIAL_CHMOD, NO, 0, NO, NO, NO, NO, 0 },
    { SYS_lremovexattr, CHANGES, DENIAL_CHMOD, NO, 0, NO, NO, NO, NO, AT_SYMLINK_NOFOLLOW },
    { SYS_execve, EXECUTES, DENIAL_EXEC, NO, 0, NO, NO, NO, NO, 0 },
    { SYS_execveat, EXECUTES, DENIAL_EXEC, 0, 1, NO, NO, 4, NO, 0 },
    { SYS_newfstatat, LOOKS, DENIAL_READ, 0, 1, NO, NO, 3, NO, 0 },
    { SYS_statx, LOOKS, DENIAL_READ, 0, 1, NO, NO, 2, NO, 0 },
    { SYS_faccessat, LOOKS, DENIAL_READ, 0, 1, NO, NO, NO, NO, 0 },
    { NR_FACCESSAT2, LOOKS, DENIAL_READ, 0, 1, NO, NO, 3, NO, 0 },
    { SYS_readlinkat, LOOKS, DENIAL_READ, 0, 1, NO, NO, NO, NO, AT_SYMLINK_NOFOLLOW },
    { SYS_chdir, LOOKS, DENIAL_READ, NO, 0, NO, NO, NO, NO, 0 },
    { SYS_bind, BINDS, DENIAL_BIND, NO, NO, NO, NO, NO, NO, 0 },
    { SYS_sendto, SENDS, DENIAL_CONNECT, NO, NO, NO, NO, NO, NO, 0 },
    { SYS_sendmsg, SENDS_MESSAGE, DENIAL_CONNECT, NO, NO, NO, NO, NO, NO, 0 },
    { SYS_sendmmsg, SENDS_MESSAGE, DENIAL_CONNECT, NO, NO, NO, NO, NO, NO, 0 },
    { SYS_umask, PASSES, DENIAL_CREATE, NO, NO, NO, NO, NO, NO, 0 },
};

void notify_watch_start(bool writes, bool lookups, bool own_network)
{
    watches_writes = writes;
    watches_lookups = lookups;
    has_own_network = own_network;
}

static const struct watched *find_call(int nr)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].nr == nr)
            return &calls[i];
    return NULL;
}

/* One question about one call. */
struct look {
    const struct seccomp_notif *asked;
    const struct watched *call;
    enum denial_op op;
    int flags;
    char text[NOTIFY_FIND_MAX]; /* as the caller wrote it */
    char path[NOTIFY_FIND_MAX]; /* where that leads in the box */
};

static uint64_t argument(const struct look *look, int index, uint64_t otherwise)
{
    return index == NO ? otherwise : look->asked->data.args[index];
}

static bool read_path(struct look *look, int index)
{
    return notify_read_string(look->asked, argument(look, index, 0), look->text,
                              sizeof look->text) > 0;
}

static void ask(const struct look *look, int error, int value)
{
    if (look->path[0] != '/' || strcmp(look->path, "/proc") == 0 ||
        strncmp(look->path, "/proc/", 6) == 0)
        return; /* the one that init sees is another than the caller's */
    notify_ask(&(struct notify_denial){ .op = look->op,
                                        .nr = look->call->nr,
                                        .error = error,
                                        .rule = -1,
                                        .value = value,
                                        .text = look->path });
}

static bool is_read_only(long fd)
{
    struct statfs fs;

    return raw(SYS_fstatfs, fd, &fs) == 0 && (unsigned long)fs.f_flags & IS_READ_ONLY;
}

static bool may(long fd, int rights)
{
    return raw(NR_FACCESSAT2, fd, "", rights, AT_EMPTY_PATH | AT_EACCESS) != -EACCES;
}

static bool look_at(long fd, const char *name, struct statx *out)
{
    return raw(SYS_statx, fd, name, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
               STATX_TYPE | STATX_MODE, out) == 0;
}

static int directory_of(const struct look *look, int index)
{
    return (int)argument(look, index, (uint64_t)AT_FDCWD);
}

/* What a name in its directory will answer. `makes`: it is to come into being there. */
static int judge_name(struct look *look, int directory, bool makes)
{
    static char above[NOTIFY_FIND_MAX];
    char name[256];
    struct statx st;
    int error = 0;

    if (!notify_find_split(look->text, above, name))
        return 0;
    long fd = notify_find(look->asked, directory, above, true, look->path);
    if (!notify_find_append(look->path, name)) {
        error = 0;
    } else if (fd < 0) {
        error = fd == -ENOENT || fd == -EACCES ? (int)-fd : 0;
    } else if (!may(fd, MAY_EXECUTE)) { /* what is masked, say: nothing can be looked for there */
        error = EACCES;
    } else {
        bool exists = look_at(fd, name, &st);

        if (exists && makes)
            error = 0;
        else if (!exists && !makes) /* the kernel looks at the mount before it looks for the name */
            error = is_read_only(fd) ? EROFS : ENOENT;
        else if (exists && st.stx_attributes & IS_MOUNT_ROOT)
            error = EBUSY;
        else if (is_read_only(fd))
            error = EROFS;
        else if (!may(fd, MAY_WRITE | MAY_EXECUTE))
            error = EACCES;
    }
    if (fd >= 0)
        (void)raw(SYS_close, fd);
    return error;
}

static int judge_open_object(const struct look *look, long fd, bool writes)
{
    struct statx st;

    if (!look_at(fd, "", &st))
        return 0;
    unsigned format = st.stx_mode & FORMAT_MASK;
    if (!writes)
        return watches_lookups && !may(fd, MAY_READ) ? EACCES : 0;
    if (format == FORMAT_DIRECTORY || (look->flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
        return 0;
    if (format == FORMAT_REGULAR && is_read_only(fd))
        return EROFS;
    return may(fd, MAY_WRITE) ? 0 : EACCES;
}

static bool opens_to_write(const struct look *look)
{
    return look->flags & (O_WRONLY | O_RDWR | O_TRUNC | O_CREAT) ||
           (look->flags & O_TMPFILE) == O_TMPFILE;
}

static void look_open(struct look *look)
{
    bool writes = opens_to_write(look);
    bool follow =
        !(look->flags & O_NOFOLLOW) && (look->flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
    int directory = directory_of(look, look->call->directory);
    int error;

    look->op = writes ? DENIAL_WRITE : DENIAL_READ;
    long fd = notify_find(look->asked, directory, look->text, follow, look->path);
    if (fd >= 0) {
        error = judge_open_object(look, fd, writes);
        (void)raw(SYS_close, fd);
    } else if (fd == -ENOENT && look->flags & O_CREAT) {
        look->op = DENIAL_CREATE;
        error = judge_name(look, directory, true);
    } else {
        if (look->flags & O_CREAT) /* the supervisor knows whether it is there */
            look->op = DENIAL_CREATE;
        error = fd == -ENOENT || fd == -EACCES ? (int)-fd : 0;
    }
    if (error)
        ask(look, error, 0);
}

static void look_move(struct look *look)
{
    int error = judge_name(look, directory_of(look, look->call->directory), false);

    if (!error && read_path(look, look->call->path2)) {
        int directory = directory_of(look, look->call->directory2);

        error = judge_name(look, directory, true);
        if (!error) /* what is there is to be replaced, if there is something */
            error = judge_name(look, directory, false), error = error == ENOENT ? 0 : error;
    }
    if (error)
        ask(look, error, 0);
}

static void look_object(struct look *look)
{
    struct statx st;
    int error = 0;
    long fd = notify_find(look->asked, directory_of(look, look->call->directory), look->text,
                          !(look->flags & AT_SYMLINK_NOFOLLOW), look->path);

    if (fd == -ENOENT || fd == -EACCES)
        error = (int)-fd;
    else if (fd >= 0 && look->call->kind == CHANGES && is_read_only(fd))
        error = EROFS;
    else if (fd >= 0 && look->call->kind == EXECUTES && look_at(fd, "", &st) &&
             (st.stx_mode & FORMAT_MASK) == FORMAT_REGULAR && st.stx_mode & ANY_EXECUTE &&
             !may(fd, MAY_EXECUTE))
        error = EACCES;
    if (fd >= 0)
        (void)raw(SYS_close, fd);
    if (error)
        ask(look, error, look->call->kind == LOOKS ? PROTOCOL_LOOKED : 0);
}

/* Addresses of a network that the box has of its own, and that reaches nobody. */
static void look_address(struct look *look, uint64_t at, uint32_t length)
{
    _Alignas(8) char address[NOTIFY_ADDRESS_MAX];

    memset(address, 0, sizeof address);
    if (!has_own_network || length > sizeof address ||
        notify_read_memory(look->asked, at, address, length) < 0 ||
        !notify_address_print(address, length, look->path))
        return;
    long r = notify_address_try(look->op, address, length);
    if (r == -ENETUNREACH || r == -EADDRNOTAVAIL)
        notify_note(&(struct notify_denial){ .op = look->op,
                                             .nr = look->call->nr,
                                             .error = (int)-r,
                                             .rule = -1,
                                             .text = look->path });
}

/* Both calls begin with a message; of several, the first is looked at. */
static void look_message(struct look *look)
{
    struct {
        uint64_t name;
        uint32_t length;
    } begin = { 0 };

    if (notify_read_memory(look->asked, look->asked->data.args[1], &begin, sizeof begin) == 0 &&
        begin.name && begin.length)
        look_address(look, begin.name, begin.length);
}

static bool fill(struct look *look, const struct seccomp_notif *asked)
{
    look->asked = asked;
    look->call = find_call(asked->data.nr);
    if (!look->call)
        return false;
    look->op = look->call->op;
    look->flags = (int)argument(look, look->call->flags, (uint64_t)look->call->implied_flags);
    return true;
}

/* Calls that nobody watches, but that look a path up. */
static const struct {
    int nr;
    signed char path;
} others[] = { { SYS_statfs, 0 },    { SYS_getxattr, 0 },   { SYS_lgetxattr, 0 },
               { SYS_listxattr, 0 }, { SYS_llistxattr, 0 }, { SYS_inotify_add_watch, 1 } };

static bool describe_other(const struct seccomp_notif *asked, struct notify_watch_call *out)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].nr == asked->data.nr) {
            out->op = DENIAL_READ;
            out->is_look = true;
            out->n_paths = 1;
            out->paths[0] =
                (struct notify_watch_path){ AT_FDCWD, asked->data.args[others[i].path] };
            return true;
        }
    return false;
}

bool notify_watch_describe(const struct seccomp_notif *asked, struct notify_watch_call *out)
{
    struct look look;

    memset(out, 0, sizeof *out);
    if (!fill(&look, asked) || look.call->path == NO)
        return describe_other(asked, out);
    bool is_read = look.call->kind == LOOKS || (look.call->kind == OPENS && !opens_to_write(&look));
    out->op = look.call->kind != OPENS || is_read ? look.op
              : look.flags & O_CREAT              ? DENIAL_CREATE
                                                  : DENIAL_WRITE;
    out->writes = !is_read;
    out->is_look = look.call->kind == LOOKS;
    out->paths[out->n_paths++] =
        (struct notify_watch_path){ directory_of(&look, look.call->directory),
                                    argument(&look, look.call->path, 0) };
    if (look.call->path2 != NO)
        out->paths[out->n_paths++] =
            (struct notify_watch_path){ directory_of(&look, look.call->directory2),
                                        argument(&look, look.call->path2, 0) };
    return true;
}

/* The caller's own limit, and how many it has open: st_size of the directory since Linux 6.2. */
static void look_descriptors(const struct look *look)
{
    struct {
        uint64_t soft, hard;
    } limit;
    struct statx st;
    char path[64];

    notify_proc_path(look->asked, "/fd", path);
    if (raw(SYS_prlimit64, look->asked->pid, RLIMIT_NOFILE, NULL, &limit) == 0 &&
        raw(SYS_statx, AT_FDCWD, path, 0, STATX_SIZE, &st) == 0 && st.stx_size > 0 &&
        st.stx_size >= limit.soft)
        notify_note(&(struct notify_denial){ .op = DENIAL_OPEN_FILES,
                                             .nr = -1,
                                             .error = EMFILE,
                                             .rule = -1,
                                             .value = (int)limit.soft });
}

static void look_by_kind(struct look *look)
{
    switch (look->call->kind) {
    case OPENS:
        if (read_path(look, look->call->path))
            look_open(look);
        if (watches_lookups)
            look_descriptors(look);
        break;
    case MAKES:
    case REMOVES:
        if (read_path(look, look->call->path)) {
            int error = judge_name(look, directory_of(look, look->call->directory),
                                   look->call->kind == MAKES);

            if (error)
                ask(look, error, 0);
        }
        break;
    case MOVES:
        if (read_path(look, look->call->path))
            look_move(look);
        break;
    case EXECUTES:
        notify_ended_take(look->asked);
        if (read_path(look, look->call->path))
            look_object(look);
        break;
    case CHANGES:
    case LOOKS:
        if (read_path(look, look->call->path))
            look_object(look);
        break;
    case BINDS:
        look_address(look, look->asked->data.args[1], (uint32_t)look->asked->data.args[2]);
        break;
    case SENDS:
        look_address(look, look->asked->data.args[4], (uint32_t)look->asked->data.args[5]);
        break;
    case SENDS_MESSAGE:
        look_message(look);
        break;
    case PASSES:
        break;
    }
}

void notify_watch_look(const struct seccomp_notif *asked)
{
    static struct look look;

    if (watches_writes || asked->data.nr == SYS_bind)
        if (fill(&look, asked))
            look_by_kind(&look);
}

/* Those are refused: plan/seccomp/rules.h. */
static bool makes_setuid(const struct look *look)
{
    bool makes = look->call->kind != OPENS || look->flags & (O_CREAT | UNNAMED_FILE_ALONE);

    return look->call->mode != NO && makes && argument(look, look->call->mode, 0) & SETUID_BITS;
}

bool notify_watch_serve(const struct seccomp_notif *asked)
{
    static struct look look;

    if (!watches_writes || !fill(&look, asked) || makes_setuid(&look))
        return false;
    look_by_kind(&look);
    notify_answer(asked->id, NOTIFY_CONTINUE);
    return true;
}

void notify_watch_failed(const struct seccomp_notif *asked, int error)
{
    static struct look look;

    if (!fill(&look, asked) || look.call->path == NO)
        return;
    if (error == EMFILE)
        look_descriptors(&look);
    if ((error != EROFS && error != EACCES && error != EBUSY) || !read_path(&look, look.call->path))
        return;
    if (look.call->kind == OPENS)
        look.op = look.flags & (O_WRONLY | O_RDWR | O_TRUNC | O_CREAT) ? DENIAL_WRITE : DENIAL_READ;
    long fd =
        notify_find(asked, directory_of(&look, look.call->directory), look.text, true, look.path);
    if (fd >= 0)
        (void)raw(SYS_close, fd);
    else if (look.call->kind == OPENS && look.flags & O_CREAT)
        look.op = DENIAL_CREATE;
    ask(&look, error, 0);
}
