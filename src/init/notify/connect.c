/*
 * connect.c - connect(2) on behalf, by descriptor
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

#include "init/notify/address.h"
#include "init/notify/call.h"
#include "init/notify/denial.h"
#include "init/notify/find.h"
#include "init/notify/notify.h"
#include "init/notify/target.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define PIDFD_OF_THREAD 0x80 /* O_EXCL: Linux 6.9 */
#define ANSWERED        (NOTIFY_CONTINUE + 1)
#define MOMENT_NS       300000 /* a connection within one machine takes a tenth of it */

/* The thread group of a thread, for kernels whose pidfds are of groups only. */
static long group_of(uint32_t tid)
{
    char path[48];
    char text[512];

    (void)notify_append(notify_append_number(notify_append(path, "/proc/"), tid), "/status");
    long fd = raw(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fd;
    long n = raw(SYS_read, fd, text, sizeof text - 1);
    (void)raw(SYS_close, fd);
    for (long i = 0; i + 6 < n; i++) {
        const char *p = text + i;
        long group = 0;

        if (p[0] != '\n' || p[1] != 'T' || p[2] != 'g' || p[3] != 'i' || p[4] != 'd')
            continue;
        text[n] = '\0';
        for (p += 6; *p == ' ' || *p == '\t'; p++)
            ;
        while (*p >= '0' && *p <= '9')
            group = group * 10 + (*p++ - '0');
        return group;
    }
    return -ESRCH;
}

/* The caller, as a descriptor of ours; *is_thread: of that very thread. */
static long open_caller(const struct seccomp_notif *asked, bool *is_thread)
{
    long pidfd = raw(NR_PIDFD_OPEN, asked->pid, PIDFD_OF_THREAD);

    *is_thread = pidfd >= 0;
    if (pidfd != -EINVAL)
        return pidfd;
    long group = group_of(asked->pid);
    return group < 0 ? group : raw(NR_PIDFD_OPEN, group, 0);
}

/*
 * Who has asked once often asks again, and to open a thread takes longer than all else here. As long
 * as a thread lives, nobody else has its number; when it has died, its descriptor is good for nothing.
 * With a group's that would not hold: a number may go from one to another.
 */
static struct {
    uint32_t tid; /* 0: nobody's */
    long pidfd;
} last;

static long take_from_last(const struct seccomp_notif *asked)
{
    if (last.tid == 0 || last.tid != asked->pid)
        return -ESRCH;
    return raw(NR_PIDFD_GETFD, last.pidfd, (int)asked->data.args[0], 0);
}

static void keep_caller(const struct seccomp_notif *asked, long pidfd)
{
    if (last.tid)
        (void)raw(SYS_close, last.pidfd);
    last.tid = asked->pid;
    last.pidfd = pidfd;
}

/* The caller's own socket, as a descriptor of ours. */
long notify_take_socket(const struct seccomp_notif *asked)
{
    bool is_thread;
    long fd = take_from_last(asked);

    if (fd != -ESRCH)
        return fd;
    long pidfd = open_caller(asked, &is_thread);
    if (pidfd < 0)
        return pidfd;
    /* Else the number may be somebody else's by now. */
    if (notify_is_waiting(asked->id))
        fd = raw(NR_PIDFD_GETFD, pidfd, (int)asked->data.args[0], 0);
    if (is_thread && fd >= 0)
        keep_caller(asked, pidfd);
    else
        (void)raw(SYS_close, pidfd);
    return fd;
}

/* As the caller would find it: from its working directory, following links, but no magic ones. */
static long open_socket_file(const struct seccomp_notif *asked, const char *path)
{
    struct kernel_open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS };
    long directory = *path == '/' ? AT_FDCWD : target_start(asked, AT_FDCWD);

    if (directory < 0 && directory != AT_FDCWD)
        return directory;
    long fd = -ESRCH;
    /* A path from the root is the caller's since it was read; else its directory must be, too. */
    if (directory == AT_FDCWD || notify_is_waiting(asked->id))
        fd = raw(NR_OPENAT2, directory, path, &how, sizeof how);
    if (directory >= 0)
        (void)raw(SYS_close, directory);
    return fd;
}

/* The kernel's number of a device as user space writes it. */
static uint64_t user_device(uint32_t device)
{
    uint64_t major = device >> 20;
    uint64_t minor = device & 0xfffff;

    return (minor & 0xff) | major << 8 | (minor & ~0xffull) << 12;
}

static bool message_names(const struct nlmsghdr *message, const struct stat *st)
{
    const char *at =
        (const char *)message + NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(struct unix_diag_msg));
    const char *end = (const char *)message + message->nlmsg_len;

    while (at + sizeof(struct nlattr) <= end) {
        const struct nlattr *attribute = (const struct nlattr *)(const void *)at;
        const struct unix_diag_vfs *file =
            (const struct unix_diag_vfs *)(const void *)(at + NLA_HDRLEN);

        if (attribute->nla_len < NLA_HDRLEN)
            return false;
        if (attribute->nla_type == UNIX_DIAG_VFS &&
            attribute->nla_len >= NLA_HDRLEN + sizeof *file && file->udiag_vfs_ino == st->st_ino &&
            user_device(file->udiag_vfs_dev) == st->st_dev)
            return true;
        at += NLA_ALIGN(attribute->nla_len);
    }
    return false;
}

/* Whether a socket of our network namespace is bound to this file. An inode is bound only once. */
static bool is_bound_here(const struct stat *st)
{
    static char buffer[16384] __attribute__((aligned(8)));
    struct {
        struct nlmsghdr header;
        struct unix_diag_req request;
    } ask;
    long fd = raw(SYS_socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

    if (fd < 0)
        return false;
    notify_clear(&ask, sizeof ask);
    ask.header.nlmsg_len = sizeof ask;
    ask.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    ask.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    ask.request.sdiag_family = AF_UNIX;
    ask.request.udiag_states = ~0u;
    ask.request.udiag_show = UDIAG_SHOW_VFS;
    if (raw(SYS_sendto, fd, &ask, sizeof ask, 0, NULL, 0) < 0)
        return false;
    for (;;) {
        long n = raw(SYS_recvfrom, fd, buffer, sizeof buffer, 0, NULL, 0);
        const struct nlmsghdr *message = (const struct nlmsghdr *)(const void *)buffer;

        if (n <= 0)
            return false;
        for (; NLMSG_OK(message, n); message = NLMSG_NEXT(message, n)) {
            if (message->nlmsg_type == NLMSG_DONE || message->nlmsg_type == NLMSG_ERROR)
                return false;
            if (message_names(message, st))
                return true;
        }
    }
}

/* The number of the mount that a path, or a descriptor itself, is on; 0: not known. */
static uint64_t mount_of(long fd, const char *path)
{
    struct statx st;

    return raw(SYS_statx, fd, path, AT_EMPTY_PATH, STATX_MNT_ID, &st) == 0 &&
                   st.stx_mask & STATX_MNT_ID
               ? st.stx_mnt_id
               : 0;
}

/* Nobody outside can bind anything in the box's own places. At /tmp there may be a directory of the host. */
static bool is_private(const struct notify *notify, long fd)
{
    uint64_t mount = mount_of(fd, "");

    return mount && (mount == mount_of(AT_FDCWD, "/run") ||
                     (notify->has_own_tmp && mount == mount_of(AT_FDCWD, "/tmp")));
}

/* One that the policy names. The box has it mounted, so nobody else gets its number. */
static bool is_granted(const struct notify *notify, const struct stat *st)
{
    for (size_t i = 0; i < notify->n_sockets; i++)
        if (notify->sockets[i].dev == st->st_dev && notify->sockets[i].ino == st->st_ino)
            return true;
    return false;
}

static void tell(enum denial_op op, int error, const char *text)
{
    notify_note(&(struct notify_denial){
        .op = op, .nr = SYS_connect, .error = error, .rule = -1, .text = text });
}

/* A name of any bytes, behind a NUL that is written as '@', as others do. */
static void tell_abstract(char *address, uint32_t length)
{
    const size_t at = offsetof(struct sockaddr_un, sun_path);

    for (size_t i = at; i < length; i++)
        if (address[i] == '\0')
            address[i] = '@';
    address[length] = '\0';
    tell(DENIAL_CONNECT, EPERM, length > at ? address + at : "@");
}

/* The host may have a socket there that the box has not. */
static void ask(const struct seccomp_notif *asked, int error, const char *path)
{
    static char where[NOTIFY_FIND_MAX];
    long fd = notify_find(asked, AT_FDCWD, path, true, where);

    if (fd >= 0)
        (void)raw(SYS_close, fd);
    else if (where[0] == '/')
        notify_ask(&(struct notify_denial){
            .op = DENIAL_CONNECT, .nr = SYS_connect, .error = error, .rule = -1, .text = where });
}

/* What the caller is told of a file that cannot be opened. */
static long answer_of(long error)
{
    return error == -EXDEV || error == -ELOOP ? -EACCES : error;
}

static long connect_file(const struct notify *notify, const struct seccomp_notif *asked,
                         long socket_fd, const char *path)
{
    struct sockaddr_un address;
    struct stat st;
    long fd = open_socket_file(asked, path);

    if (fd == -ENOENT || fd == -EACCES)
        ask(asked, (int)-fd, path);
    if (fd < 0)
        return answer_of(fd);
    if (raw(SYS_fstat, fd, &st) < 0 || !S_ISSOCK(st.st_mode))
        return -ECONNREFUSED;
    if (!is_granted(notify, &st) && !is_private(notify, fd) &&
        !(notify->has_own_network && is_bound_here(&st))) {
        static char where[NOTIFY_FIND_MAX];
        long found = notify_find(asked, AT_FDCWD, path, true, where);

        if (found >= 0)
            (void)raw(SYS_close, found);
        tell(DENIAL_CONNECT, EACCES, where[0] == '/' ? where : path);
        return -EACCES;
    }
    notify_clear(&address, sizeof address);
    address.sun_family = AF_UNIX;
    (void)notify_append_number(notify_append(address.sun_path, "/proc/self/fd/"),
                               (unsigned long)fd);
    return raw(SYS_connect, socket_fd, &address, sizeof address);
}

/* ---- the call */

union address {
    struct sockaddr header;
    struct sockaddr_un file;
    char bytes[sizeof(struct sockaddr_storage) + 1];
};

/* Where to, and with which socket: its descriptor or -errno. */
static long take_call(const struct seccomp_notif *asked, union address *address, uint32_t *length)
{
    *length = (uint32_t)asked->data.args[2];
    notify_clear(address, sizeof *address);
    if (*length < sizeof address->header.sa_family || *length > sizeof address->bytes - 1)
        return -EINVAL;
    long r = notify_read_memory(asked, asked->data.args[1], address, *length);
    return r < 0 ? r : notify_take_socket(asked);
}

static int option_of(long fd, int option)
{
    int value = -1;
    uint32_t size = sizeof value;

    return raw(SYS_getsockopt, fd, SOL_SOCKET, option, &value, &size) < 0 ? -1 : value;
}

/* No route leads there: nobody else would tell of it. */
static void tell_unreached(const struct notify *notify, long error, const union address *address,
                           uint32_t length)
{
    char text[NOTIFY_ADDRESS_TEXT];

    if (notify->has_own_network && (error == -ENETUNREACH || error == -EADDRNOTAVAIL) &&
        notify_address_print(address, length, text))
        tell(DENIAL_CONNECT, (int)-error, text);
}

static long connect_for(const struct notify *notify, const struct seccomp_notif *asked)
{
    union address address;
    uint32_t length;
    long fd = take_call(asked, &address, &length);

    if (fd < 0)
        return fd;
    int domain = option_of(fd, SO_DOMAIN);
    if (domain < 0)
        return -ENOTSOCK;
    if (domain != AF_UNIX || address.header.sa_family != AF_UNIX) {
        long r = raw(SYS_connect, fd, &address, length);

        tell_unreached(notify, r, &address, length);
        return r;
    }
    if (length > sizeof address.file)
        return -EINVAL;
    if (length == sizeof address.file.sun_family || address.file.sun_path[0] == '\0') {
        /* Abstract names are the network namespace's; the host's own are closed by Landlock to the
         * command, but would not be to us. */
        if (notify->has_own_network)
            return raw(SYS_connect, fd, &address, length);
        tell_abstract(address.bytes, length);
        return -EPERM;
    }
    return connect_file(notify, asked, fd, address.file.sun_path);
}

/*
 * A socket of the internet, which init connects itself: most connections are made within the machine,
 * or not waited for. One that would be waited for longer than a moment goes on all the same, and a
 * child awaits it: a second connect(2) is told what became of the first.
 */
static bool is_quick(int domain, int protocol)
{
    return (domain == AF_INET || domain == AF_INET6) &&
           (protocol == IPPROTO_TCP || protocol == IPPROTO_UDP);
}

static bool is_under_way(long r)
{
    return r == -EINPROGRESS || r == -EALREADY;
}

/* Within one machine it is there before the first call is over, or soon after. */
static long await_connection(long fd, const union address *address, uint32_t length)
{
    const struct timespec moment = { .tv_nsec = MOMENT_NS };
    struct pollfd connected = { .fd = (int)fd, .events = POLLOUT };
    long r = raw(SYS_connect, fd, address, length);

    if (!is_under_way(r))
        return r;
    (void)raw(SYS_ppoll, &connected, 1, &moment, NULL, 0);
    r = raw(SYS_connect, fd, address, length);
    return is_under_way(r) ? NOTIFY_CONTINUE : r;
}

/* A socket that would wait is one that does not, for as long as it takes. Nobody can read or write
 * before it is connected; for datagrams that does not hold, but nothing waits there. */
static long connect_quickly(long fd, int protocol, const union address *address, uint32_t length)
{
    long flags = protocol == IPPROTO_UDP ? O_NONBLOCK : raw(SYS_fcntl, fd, F_GETFL);

    if (flags < 0)
        return flags;
    if (flags & O_NONBLOCK)
        return raw(SYS_connect, fd, address, length);
    (void)raw(SYS_fcntl, fd, F_SETFL, flags | O_NONBLOCK);
    long r = raw(SYS_connect, fd, address, length);
    if (is_under_way(r))
        r = await_connection(fd, address, length);
    (void)raw(SYS_fcntl, fd, F_SETFL, flags);
    return r;
}

/* A file that is not there, or not for the caller, needs no waiting: many programs ask for one each time they
 * start. Answered at once; a path from the root can be looked up later, for whoever wants to know. */
static bool fails_at_once(const struct seccomp_notif *asked, const union address *address,
                          uint32_t length)
{
    const char *path = address->file.sun_path;

    if (address->header.sa_family != AF_UNIX || length > sizeof address->file ||
        length <= sizeof address->file.sun_family || !*path)
        return false;
    long fd = open_socket_file(asked, path);
    if (fd >= 0) {
        (void)raw(SYS_close, fd);
        return false;
    }
    bool is_told = fd == -ENOENT || fd == -EACCES;
    if (is_told && *path != '/')
        ask(asked, (int)-fd, path);
    notify_answer(asked->id, answer_of(fd));
    if (is_told && *path == '/')
        ask(asked, (int)-fd, path);
    return true;
}

/* NOTIFY_CONTINUE: it is not done yet; or ANSWERED. */
static long connect_now(const struct notify *notify, const struct seccomp_notif *asked)
{
    union address address;
    uint32_t length;
    long fd = take_call(asked, &address, &length);

    if (fd < 0)
        return fd;
    long r = NOTIFY_CONTINUE;
    int domain = option_of(fd, SO_DOMAIN);
    int protocol = domain == AF_UNIX ? 0 : option_of(fd, SO_PROTOCOL);
    if (domain == AF_UNIX && fails_at_once(asked, &address, length)) {
        r = ANSWERED;
    } else if (is_quick(domain, protocol)) {
        r = connect_quickly(fd, protocol, &address, length);
        tell_unreached(notify, r, &address, length);
    }
    (void)raw(SYS_close, fd);
    return r;
}

/* What may block is done by a child: init has a supervisor to listen to. */
void notify_connect(const struct notify *notify, const struct seccomp_notif *asked)
{
    long r = connect_now(notify, asked);

    if (r != NOTIFY_CONTINUE) {
        if (r != ANSWERED)
            notify_answer(asked->id, r);
        return;
    }
    long pid = raw(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (pid < 0)
        notify_answer(asked->id, pid);
    if (pid != 0)
        return;
    notify_denial_in_child();
    notify_answer(asked->id, connect_for(notify, asked));
    for (;;)
        (void)raw(SYS_exit_group, 0);
}
