/*
 * door_connect.c - connect(2) on behalf, by descriptor
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

#include "jail/door.h"
#include "jail/door_address.h"
#include "jail/door_call.h"
#include "jail/door_find.h"
#include "jail/door_record.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define PIDFD_OF_THREAD 0x80   /* O_EXCL: Linux 6.9 */
#define MOMENT_NS       300000 /* a connection within one machine takes a tenth of it */

/* The thread group of a thread, for kernels whose pidfds are of groups only. */
static long group_of(uint32_t tid)
{
    char path[48];
    char text[512];

    (void)door_append(door_append_number(door_append(path, "/proc/"), tid), "/status");
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
    if (last.tid == 0 || last.tid != asked->pid || !door_is_waiting(asked->id))
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
long door_take_socket(const struct seccomp_notif *asked)
{
    bool is_thread;
    long fd = take_from_last(asked);

    if (fd != -ESRCH)
        return fd;
    long pidfd = open_caller(asked, &is_thread);
    if (pidfd < 0)
        return pidfd;
    /* Else the number may be somebody else's by now. */
    if (door_is_waiting(asked->id))
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
    char name[64];

    door_proc_path(asked, "/cwd", name);
    long directory = raw(SYS_openat, AT_FDCWD, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return directory;
    if (!door_is_waiting(asked->id))
        return -ESRCH;
    return raw(NR_OPENAT2, directory, path, &how, sizeof how);
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
    door_clear(&ask, sizeof ask);
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
static bool is_private(const struct door *door, long fd)
{
    uint64_t mount = mount_of(fd, "");

    return mount && (mount == mount_of(AT_FDCWD, "/run") ||
                     (door->has_own_tmp && mount == mount_of(AT_FDCWD, "/tmp")));
}

static const char *next_number(const char *text, uint64_t *out)
{
    for (*out = 0; *text >= '0' && *text <= '9'; text++)
        *out = *out * 10 + (uint64_t)(*text - '0');
    return *text ? text + 1 : text;
}

/* One that the policy names. The box has it mounted, so nobody else gets its number. */
static bool is_granted(const struct door *door, const struct stat *st)
{
    const char *at = door->sockets;

    while (*at) {
        uint64_t device;
        uint64_t inode;

        at = next_number(next_number(at, &device), &inode);
        if (device == st->st_dev && inode == st->st_ino)
            return true;
    }
    return false;
}

static void tell(enum record_op op, int error, const char *text)
{
    door_note(&(struct door_denial){
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
    tell(RECORD_CONNECT, EPERM, length > at ? address + at : "@");
}

/* The host may have a socket there that the box has not. */
static void ask(const struct seccomp_notif *asked, int error, const char *path)
{
    static char where[DOOR_FIND_MAX];
    long fd = door_find(asked, AT_FDCWD, path, true, where);

    if (fd >= 0)
        (void)raw(SYS_close, fd);
    else if (where[0] == '/')
        door_ask(&(struct door_denial){
            .op = RECORD_CONNECT, .nr = SYS_connect, .error = error, .rule = -1, .text = where });
}

static long connect_file(const struct door *door, const struct seccomp_notif *asked, long socket_fd,
                         const char *path)
{
    struct sockaddr_un address;
    struct stat st;
    long fd = open_socket_file(asked, path);

    if (fd == -ENOENT || fd == -EACCES)
        ask(asked, (int)-fd, path);
    if (fd < 0)
        return fd == -EXDEV || fd == -ELOOP ? -EACCES : fd;
    if (raw(SYS_fstat, fd, &st) < 0 || !S_ISSOCK(st.st_mode))
        return -ECONNREFUSED;
    if (!is_granted(door, &st) && !is_private(door, fd) &&
        !(door->has_own_network && is_bound_here(&st))) {
        static char where[DOOR_FIND_MAX];
        long found = door_find(asked, AT_FDCWD, path, true, where);

        if (found >= 0)
            (void)raw(SYS_close, found);
        tell(RECORD_CONNECT, EACCES, where[0] == '/' ? where : path);
        return -EACCES;
    }
    door_clear(&address, sizeof address);
    address.sun_family = AF_UNIX;
    (void)door_append_number(door_append(address.sun_path, "/proc/self/fd/"), (unsigned long)fd);
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
    door_clear(address, sizeof *address);
    if (*length < sizeof address->header.sa_family || *length > sizeof address->bytes - 1)
        return -EINVAL;
    long r = door_read_memory(asked, asked->data.args[1], address, *length);
    return r < 0 ? r : door_take_socket(asked);
}

static int option_of(long fd, int option)
{
    int value = -1;
    uint32_t size = sizeof value;

    return raw(SYS_getsockopt, fd, SOL_SOCKET, option, &value, &size) < 0 ? -1 : value;
}

/* No route leads there: nobody else would tell of it. */
static void tell_unreached(const struct door *door, long error, const union address *address,
                           uint32_t length)
{
    char text[DOOR_ADDRESS_TEXT];

    if (door->has_own_network && (error == -ENETUNREACH || error == -EADDRNOTAVAIL) &&
        door_address_print(address, length, text))
        tell(RECORD_CONNECT, (int)-error, text);
}

static long connect_for(const struct door *door, const struct seccomp_notif *asked)
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

        tell_unreached(door, r, &address, length);
        return r;
    }
    if (length > sizeof address.file)
        return -EINVAL;
    if (length == sizeof address.file.sun_family || address.file.sun_path[0] == '\0') {
        /* Abstract names are the network namespace's; the host's own are closed by Landlock to the
         * command, but would not be to us. */
        if (door->has_own_network)
            return raw(SYS_connect, fd, &address, length);
        tell_abstract(address.bytes, length);
        return -EPERM;
    }
    return connect_file(door, asked, fd, address.file.sun_path);
}

/*
 * A socket of the internet, which init connects itself: most connections are made within the machine,
 * or not waited for. One that would be waited for longer than a moment goes on all the same, and a
 * child awaits it: a second connect(2) is told what became of the first.
 */
static bool is_quick(long fd, int protocol)
{
    int domain = option_of(fd, SO_DOMAIN);

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
    return is_under_way(r) ? DOOR_CONTINUE : r;
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

/* DOOR_CONTINUE: it is not done yet. */
static long connect_now(const struct door *door, const struct seccomp_notif *asked)
{
    union address address;
    uint32_t length;
    long fd = take_call(asked, &address, &length);

    if (fd < 0)
        return fd;
    long r = DOOR_CONTINUE;
    int protocol = option_of(fd, SO_PROTOCOL);
    if (is_quick(fd, protocol)) {
        r = connect_quickly(fd, protocol, &address, length);
        tell_unreached(door, r, &address, length);
    }
    (void)raw(SYS_close, fd);
    return r;
}

/* What may block is done by a child: init has a supervisor to listen to. */
void door_connect(const struct door *door, const struct seccomp_notif *asked)
{
    long r = connect_now(door, asked);

    if (r != DOOR_CONTINUE) {
        door_answer(asked->id, r);
        return;
    }
    long pid = raw(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (pid < 0)
        door_answer(asked->id, pid);
    if (pid != 0)
        return;
    door_record_in_child();
    door_answer(asked->id, connect_for(door, asked));
    for (;;)
        (void)raw(SYS_exit_group, 0);
}
