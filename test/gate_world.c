#include "test/gate_world.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/host_name.h"

#ifndef IPV6_FREEBIND
#define IPV6_FREEBIND 78
#endif

static void need(bool is, const char *what)
{
    if (is)
        return;
    (void)fprintf(stderr, "# the test's own network: %s: %s\n", what, strerror(errno));
    abort();
}

/* ---- name service */

/* Of the internet by their numbers; nothing leaves these namespaces. */
const struct world_name world_names[] = {
    { "good.example", { "11.0.0.5" }, false, false },
    { "both.example", { "11.0.0.6", "2600::6" }, false, false },
    { "other.example", { "11.0.0.7" }, false, false },
    { "a.wild.example", { "11.0.0.8" }, false, false },
    { "b.wild.example", { "11.0.0.9" }, false, false },
    { "rebind.example", { "127.0.0.1" }, false, false },
    { "private.example", { "10.9.9.9" }, false, false },
    { "metadata.example", { "169.254.169.254" }, false, false },
    { "mapped.example", { "::ffff:10.9.9.9" }, false, false },
    { "mixed.example", { "10.9.9.9", "11.0.0.10" }, false, false },
    { "long.example", { "11.0.0.11" }, true, false },
    { "silent.example", { "11.0.0.12" }, false, true },
};
#define N_NAMES (sizeof world_names / sizeof *world_names)

static atomic_uint n_questions;

unsigned world_questions(void)
{
    return n_questions;
}

static size_t question_end(const uint8_t *packet, size_t n, char name[256])
{
    size_t at = 12;
    size_t length = 0;

    while (at < n && packet[at] && length + packet[at] + 1u < 255) {
        memcpy(name + length, packet + at + 1, packet[at]);
        length += packet[at];
        name[length++] = '.';
        at += packet[at] + 1u;
    }
    name[length ? length - 1 : 0] = 0;
    return at + 5;
}

static size_t add_record(uint8_t *out, size_t n, uint16_t type, const void *data, uint16_t length)
{
    const uint8_t head[12] = { 0xc0, 12, 0, (uint8_t)type, 0, 1, 0, 0, 0, 30, 0, (uint8_t)length };

    memcpy(out + n, head, sizeof head);
    memcpy(out + n + sizeof head, data, length);
    return n + sizeof head + length;
}

/* 0: no answer. */
static size_t reply(const uint8_t *packet, size_t n, uint8_t *out, bool is_tcp)
{
    char name[256] = "";
    size_t end = question_end(packet, n, name);
    uint16_t type = (uint16_t)(packet[end - 4] << 8 | packet[end - 3]);
    const struct world_name *found = NULL;
    uint8_t n_answers = 0;

    n_questions++;
    for (size_t i = 0; i < N_NAMES; i++)
        if (strcasecmp(world_names[i].name, name) == 0)
            found = &world_names[i];
    if (found && found->is_silent)
        return 0;
    memcpy(out, packet, end);
    out[2] = 0x81 | (found && found->is_long && !is_tcp ? 2 : 0);
    out[3] = found ? 0x80 : 0x83;
    memset(out + 6, 0, 6);
    for (size_t i = 0; found && !(out[2] & 2) && i < 3 && found->addresses[i]; i++) {
        struct in_addr v4;
        struct in6_addr v6;

        if (type == 1 && inet_pton(AF_INET, found->addresses[i], &v4) == 1) {
            end = add_record(out, end, 1, &v4, 4);
            n_answers++;
        } else if (type == 28 && inet_pton(AF_INET6, found->addresses[i], &v6) == 1) {
            end = add_record(out, end, 28, &v6, 16);
            n_answers++;
        }
    }
    out[7] = n_answers;
    return end;
}

static void *serve_names(void *arg)
{
    int fd = *(int *)arg;

    for (;;) {
        uint8_t packet[1500];
        uint8_t out[2000];
        struct sockaddr_in from;
        socklen_t size = sizeof from;
        ssize_t n = recvfrom(fd, packet, sizeof packet, 0, (struct sockaddr *)&from, &size);

        size_t m = n > 17 ? reply(packet, (size_t)n, out, false) : 0;
        if (m)
            (void)sendto(fd, out, m, 0, (struct sockaddr *)&from, size);
    }
    return NULL;
}

/* ---- servers */

static bool send_all(int fd, const void *bytes, size_t n)
{
    const char *at = bytes;

    while (n > 0) {
        ssize_t sent = send(fd, at, n, MSG_NOSIGNAL);

        if (sent <= 0)
            return false;
        at += sent;
        n -= (size_t)sent;
    }
    return true;
}

static void serve_names_stream(int fd)
{
    uint8_t packet[1500];
    uint8_t out[2000];
    ssize_t n = recv(fd, packet, 2, MSG_WAITALL);

    if (n != 2)
        return;
    n = recv(fd, packet, (size_t)(packet[0] << 8 | packet[1]), MSG_WAITALL);
    size_t m = n > 17 ? reply(packet, (size_t)n, out + 2, true) : 0;
    out[0] = (uint8_t)(m >> 8);
    out[1] = (uint8_t)m;
    (void)send_all(fd, out, m + 2);
}

static void serve_echo(int fd)
{
    char bytes[65536];
    ssize_t n;

    while ((n = recv(fd, bytes, sizeof bytes, 0)) > 0 && send_all(fd, bytes, (size_t)n))
        ;
}

/* How many bytes of the body are not among the n that are there. */
static size_t body_left(const char *head, const char *end, size_t n)
{
    static const char length[] = "Content-Length: ";
    const char *found = strstr(head, length);
    size_t body = found && found < end ? strtoul(found + sizeof length - 1, NULL, 10) : 0;
    size_t there = n - (size_t)(end - head);

    return body > there ? body - there : 0;
}

static bool skip(int fd, size_t n)
{
    char bytes[65536];

    while (n > 0) {
        ssize_t got = recv(fd, bytes, n < sizeof bytes ? n : sizeof bytes, 0);

        if (got <= 0)
            return false;
        n -= (size_t)got;
    }
    return true;
}

/* Each head is answered with itself, when its body has come. A body stands alone at the end. */
static void serve_http(int fd)
{
    static const char switched[] =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n";
    char head[8192];
    char answer[9000];
    size_t n = 0;
    ssize_t got;

    while ((got = recv(fd, head + n, sizeof head - 1 - n, 0)) > 0) {
        n += (size_t)got;
        head[n] = 0;
        for (char *end; (end = strstr(head, "\r\n\r\n"));) {
            end += 4;
            if (strstr(head, "Upgrade: websocket")) {
                (void)send_all(fd, switched, sizeof switched - 1);
                serve_echo(fd);
                return;
            }
            bool has_body = strstr(head, "Content-Length: ") != NULL;
            int length = (int)(end - head);
            int m =
                snprintf(answer, sizeof answer, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%.*s",
                         length, length, head);
            if (!skip(fd, body_left(head, end, n)) || !send_all(fd, answer, (size_t)m))
                return;
            n = has_body ? 0 : n - (size_t)length;
            memmove(head, end, n);
            head[n] = 0;
        }
    }
}

static void serve_bulk(int fd)
{
    static char bytes[65536];

    for (size_t sent = 0; sent < WORLD_BULK; sent += sizeof bytes)
        if (!send_all(fd, bytes, sizeof bytes))
            return;
}

static void serve_count(int fd)
{
    char bytes[65536];
    size_t n = 0;
    ssize_t got;

    while ((got = recv(fd, bytes, sizeof bytes, 0)) > 0)
        n += (size_t)got;
    int m = snprintf(bytes, sizeof bytes, "%zu", n);
    (void)send_all(fd, bytes, (size_t)m);
}

static void serve_reset(int fd)
{
    const struct linger now = { .l_onoff = 1 };
    char byte;

    (void)recv(fd, &byte, 1, 0);
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

static void serve_nothing(int fd)
{
    struct pollfd gone = { .fd = fd }; /* a reset */

    (void)poll(&gone, 1, -1);
}

static void serve_last_word(int fd)
{
    char bytes[4096];

    while (recv(fd, bytes, sizeof bytes, 0) > 0)
        ;
    (void)send_all(fd, "end", 3);
    serve_nothing(fd);
}

struct server {
    uint16_t port;
    void (*serve)(int fd);
    bool is_ipv4; /* only */
    int fd;
};

static struct server servers[] = {
    { 7, serve_echo, false, -1 },         { 53, serve_names_stream, false, -1 },
    { 80, serve_http, false, -1 },        { 443, serve_echo, false, -1 },
    { 9000, serve_bulk, false, -1 },      { 9001, serve_count, false, -1 },
    { 9002, serve_reset, false, -1 },     { 9003, serve_nothing, false, -1 },
    { 9004, serve_echo, true, -1 },       { 9005, serve_echo, true, -1 },
    { 9006, serve_last_word, false, -1 },
};

struct served {
    void (*serve)(int fd);
    int fd;
};

static void *serve_one(void *arg)
{
    struct served served = *(struct served *)arg;

    free(arg);
    served.serve(served.fd);
    (void)close(served.fd);
    return NULL;
}

static void start_thread(void *(*run)(void *), void *arg)
{
    pthread_attr_t small;
    pthread_t thread;

    (void)pthread_attr_init(&small);
    (void)pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
    (void)pthread_attr_setstacksize(&small, 256 * 1024);
    errno = pthread_create(&thread, &small, run, arg);
    need(errno == 0, "start a thread");
    (void)pthread_attr_destroy(&small);
}

static void *serve_port(void *arg)
{
    struct server *server = arg;

    for (;;) {
        int fd = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC);
        struct served *served = malloc(sizeof *served);

        if (fd < 0 || !served) {
            free(served);
            continue;
        }
        *served = (struct served){ server->serve, fd };
        start_thread(serve_one, served);
    }
    return NULL;
}

/* ---- namespaces */

static int write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));

    if (fd >= 0)
        (void)close(fd);
    return n < 0 ? -1 : 0;
}

static void send_netlink(const struct buffer *message)
{
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

    need(fd >= 0 && send(fd, message->data, message->length, 0) >= 0, "netlink");
    (void)close(fd);
}

/* Over a file of /etc, as long as these namespaces live. */
static bool put_file(const char *target, const char *text)
{
    const char *base = getenv("TMPDIR");
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/coop-gate.XXXXXX", base && *base ? base : "/tmp");
    int fd = n < (int)sizeof path ? mkstemp(path) : -1;
    bool is_there = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) &&
                    fchmod(fd, 0644) == 0 && mount(path, target, NULL, MS_BIND, NULL) == 0;

    if (fd >= 0)
        (void)close(fd);
    (void)unlink(path);
    return is_there;
}

static int listen_on(uint16_t port, bool is_ipv4, bool is_ipv6, int backlog)
{
    const struct sockaddr_in6 any6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
    const struct sockaddr_in any4 = { .sin_family = AF_INET, .sin_port = htons(port) };
    const int on = 1;
    const int only = !is_ipv4;
    int fd = socket(is_ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (is_ipv6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only);
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    int r = is_ipv6 ? bind(fd, (const struct sockaddr *)&any6, sizeof any6)
                    : bind(fd, (const struct sockaddr *)&any4, sizeof any4);
    need(r == 0 && listen(fd, backlog) == 0, "listen");
    return fd;
}

/* One that takes nobody, and whose queue is full: who connects hears nothing. */
static void start_deaf(uint16_t port)
{
    struct sockaddr_in6 own = { .sin6_family = AF_INET6,
                                .sin6_port = htons(port),
                                .sin6_addr = IN6ADDR_LOOPBACK_INIT };

    (void)listen_on(port, false, true, 0);
    for (int i = 0; i < 4; i++) {
        int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        (void)connect(fd, (struct sockaddr *)&own, sizeof own);
    }
}

/* Each datagram goes back to where it came from, from where it was sent to. */
static void *echo_datagrams(void *arg)
{
    int fd = *(int *)arg;
    char bytes[65536];

    for (;;) {
        struct sockaddr_in6 from;
        char space[256];
        struct iovec io = { bytes, sizeof bytes };
        struct msghdr header = { .msg_name = &from,
                                 .msg_namelen = sizeof from,
                                 .msg_iov = &io,
                                 .msg_iovlen = 1,
                                 .msg_control = space,
                                 .msg_controllen = sizeof space };
        ssize_t n = recvmsg(fd, &header, 0);

        if (n < 0)
            continue;
        struct cmsghdr *control = CMSG_FIRSTHDR(&header);
        if (control)
            ((struct in6_pktinfo *)(void *)CMSG_DATA(control))->ipi6_ifindex = 0;
        io.iov_len = (size_t)n;
        (void)sendmsg(fd, &header, 0);
    }
    return NULL;
}

static void start_datagrams(int *fd, uint16_t port)
{
    const struct sockaddr_in6 any = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
    const int on = 1;

    *fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    (void)setsockopt(*fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on);
    (void)setsockopt(*fd, IPPROTO_IPV6, IPV6_FREEBIND, &on, sizeof on);
    need(bind(*fd, (const struct sockaddr *)&any, sizeof any) == 0, "bind for datagrams");
    start_thread(echo_datagrams, fd);
}

static void start_servers(void)
{
    static int echo_fds[2];
    static int names_fd;
    const struct sockaddr_in names = { .sin_family = AF_INET,
                                       .sin_port = htons(53),
                                       .sin_addr = { htonl(INADDR_LOOPBACK) } };

    names_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    need(bind(names_fd, (const struct sockaddr *)&names, sizeof names) == 0, "bind port 53");
    start_thread(serve_names, &names_fd);
    start_datagrams(&echo_fds[0], 7);
    start_datagrams(&echo_fds[1], 9007);
    start_deaf(9005);
    for (size_t i = 0; i < sizeof servers / sizeof *servers; i++) {
        servers[i].fd = listen_on(servers[i].port, true, !servers[i].is_ipv4, 4096);
        start_thread(serve_port, &servers[i]);
    }
}

const char *world_enter(void)
{
    static bool is_entered;
    char map[64];
    unsigned uid = getuid();
    unsigned gid = getgid();
    struct gate_inside all = { .has_proxy = false };
    struct rlimit files;

    if (is_entered)
        return NULL;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS) < 0)
        return "no user, network and mount namespaces can be made";
    (void)write_file("/proc/self/setgroups", "deny");
    (void)snprintf(map, sizeof map, "0 %u 1", uid);
    need(write_file("/proc/self/uid_map", map) == 0, "map the user");
    (void)snprintf(map, sizeof map, "0 %u 1", gid);
    (void)write_file("/proc/self/gid_map", map);
    need(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0, "private mounts");
    if (!put_file("/etc/resolv.conf", "# of a test\nsearch example.org\nnameserver 127.0.0.1\n"))
        return "there is no /etc/resolv.conf to put another over";
    if (!put_file("/etc/hosts", "127.0.0.1 localhost\n11.0.0.20\tFiled.example alias.example # x\n"
                                "10.9.9.9 filed-private.example\n"))
        return "there is no /etc/hosts to put another over";
    need(gate_inside_prepare(&all, NULL, 0) == 0, "prepare routes");
    send_netlink(&all.link);
    send_netlink(&all.routes4);
    send_netlink(&all.routes6);
    gate_inside_done(&all);
    need(getrlimit(RLIMIT_NOFILE, &files) == 0, "limits");
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
    (void)signal(SIGPIPE, SIG_IGN);
    start_servers();
    is_entered = true;
    return NULL;
}

/* ---- the gate */

struct gate_network world_network;
bool world_has_no_tables;

static const char *gate_path(void)
{
    static char path[4096];
    const char *given = getenv("COOP_TEST_GATE");
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 32);

    if (given)
        return given;
    need(n > 0, "find the program");
    path[n] = 0;
    char *slash = strrchr(path, '/');
    (void)strcpy(slash, "/../coop-gate");
    return path;
}

void gate_start(struct gate_run *run, const char *rules, struct gate_inside *inside)
{
    struct gate_inside plain = { .has_proxy = false };
    int pair[2];
    const char *path = gate_path();
    int rules_fd = memfd_create("rules", MFD_CLOEXEC);

    memset(run, 0, sizeof *run);
    need(write(rules_fd, rules, strlen(rules)) == (ssize_t)strlen(rules), "write the rules");
    need(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0, "a pair of sockets");
    run->pid = fork();
    need(run->pid >= 0, "fork");
    if (run->pid == 0) {
        if (dup2(pair[1], 0) == 0 && dup2(rules_fd, 1) == 1 && close(2) == 0)
            execl(path, "coop-gate", (char *)NULL);
        _exit(127);
    }
    (void)close(pair[1]);
    (void)close(rules_fd);
    run->socket_fd = pair[0];
    run->outer_ns = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    need(unshare(CLONE_NEWNET) == 0, "a network namespace");
    run->inner_ns = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    if (!inside)
        inside = &plain;
    need(gate_inside_prepare(inside, &world_network, world_network.bits > 0) == 0,
         "prepare the inside");
    if (world_has_no_tables) { /* a kind of message that no kernel knows */
        inside->tables.data[4] = inside->fallback.data[4] = 0x7f;
        inside->tables.data[5] = inside->fallback.data[5] = 0x7f;
    }
    errno = (int)-gate_inside_make(inside, run->socket_fd);
    need(errno == 0 || errno == EPIPE, "make the inside"); /* a gate that cannot begin has ended */
    gate_inside_done(inside);
    need(setns(run->outer_ns, CLONE_NEWNET) == 0, "go back");
    if (!gate_wait(run, GATE_EVENT_READY, NULL))
        need(false, "the gate is not ready");
}

/* One more event; false: none in that time, or the end. */
static bool take_event(struct gate_run *run, int timeout_ms)
{
    struct pollfd ready = { .fd = run->socket_fd, .events = POLLIN };
    struct gate_event event;

    if (poll(&ready, 1, timeout_ms) <= 0)
        return false;
    if (recv(run->socket_fd, &event, sizeof event, 0) != sizeof event)
        return false;
    if (run->n_events < sizeof run->events / sizeof *run->events)
        run->events[run->n_events++] = event;
    return true;
}

const struct gate_event *gate_wait(struct gate_run *run, uint32_t kind, const char *name)
{
    int64_t end = clock_now_ms() + WORLD_PATIENCE_MS;

    while (take_event(run, 0))
        ;
    for (;;) {
        for (size_t i = run->n_events; i > 0; i--)
            if (run->events[i - 1].kind == kind &&
                (!name || strcmp(run->events[i - 1].name, name) == 0))
                return &run->events[i - 1];
        int64_t left = end - clock_now_ms();
        if (left <= 0 || !take_event(run, (int)left))
            return NULL;
    }
}

int gate_stop(struct gate_run *run)
{
    int status = 0;

    (void)shutdown(run->socket_fd, SHUT_WR);
    while (take_event(run, WORLD_PATIENCE_MS))
        ;
    need(waitpid(run->pid, &status, 0) == run->pid, "wait for the gate");
    (void)close(run->socket_fd);
    (void)close(run->outer_ns);
    (void)close(run->inner_ns);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* ---- from inside */

int world_socket(const struct gate_run *run, int family, int type)
{
    need(setns(run->inner_ns, CLONE_NEWNET) == 0, "go inside");
    int fd = socket(family, type | SOCK_CLOEXEC, 0);
    int saved = errno;
    need(setns(run->outer_ns, CLONE_NEWNET) == 0, "go back");
    errno = saved;
    return fd;
}

static socklen_t name_of(const char *address, uint16_t port, struct sockaddr_storage *out)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)out;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)out;

    memset(out, 0, sizeof *out);
    if (inet_pton(AF_INET, address, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(port);
        return sizeof *v4;
    }
    need(inet_pton(AF_INET6, address, &v6->sin6_addr) == 1, "an address");
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    return sizeof *v6;
}

int world_connect(const struct gate_run *run, const char *address, uint16_t port)
{
    const struct timeval patience = { .tv_sec = WORLD_PATIENCE_MS / 1000 };
    struct sockaddr_storage name;
    socklen_t size = name_of(address, port, &name);
    int fd = world_socket(run, name.ss_family, SOCK_STREAM);

    if (fd < 0)
        return -errno;
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(fd, (struct sockaddr *)&name, size) == 0)
        return fd;
    int r = -errno;
    (void)close(fd);
    return r;
}

int world_datagrams(const struct gate_run *run, const char *address, uint16_t port)
{
    const struct timeval patience = { .tv_sec = WORLD_PATIENCE_MS / 1000 };
    struct sockaddr_storage name;
    socklen_t size = name_of(address, port, &name);
    int fd = world_socket(run, name.ss_family, SOCK_DGRAM);

    need(fd >= 0 && connect(fd, (struct sockaddr *)&name, size) == 0, "connect for datagrams");
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return fd;
}

static size_t query(uint8_t *out, const char *name, uint16_t type)
{
    const uint8_t head[12] = { 0x12, 0x34, 1, 0, 0, 1 };
    size_t n = sizeof head;

    memcpy(out, head, sizeof head);
    while (*name) {
        size_t label = strcspn(name, ".");

        out[n++] = (uint8_t)label;
        memcpy(out + n, name, label);
        n += label;
        name += label + (name[label] == '.');
    }
    out[n++] = 0;
    out[n++] = (uint8_t)(type >> 8);
    out[n++] = (uint8_t)type;
    out[n++] = 0;
    out[n++] = 1;
    return n;
}

int world_lookup(const struct gate_run *run, const char *server, const char *name, uint16_t type,
                 char out[64])
{
    uint8_t packet[1500];
    struct sockaddr_storage to;
    socklen_t size = name_of(server, 53, &to);
    int fd = world_socket(run, to.ss_family, SOCK_DGRAM);
    struct pollfd ready = { .fd = fd, .events = POLLIN };
    size_t n_query = query(packet, name, type);

    out[0] = 0;
    /* Connected, so only an answer from the address that was asked comes back. */
    need(connect(fd, (struct sockaddr *)&to, size) == 0, "connect to a name server");
    need(send(fd, packet, n_query, 0) > 0, "ask for a name");
    ssize_t n = poll(&ready, 1, WORLD_PATIENCE_MS) > 0 ? recv(fd, packet, sizeof packet, 0) : -1;
    (void)close(fd);
    if (n < 12)
        return -1;
    if (packet[7] == 1 && n >= (ssize_t)n_query + 12 + 4)
        (void)inet_ntop(type == 1 ? AF_INET : AF_INET6, packet + n_query + 12, out, 64);
    return packet[3] & 15;
}

int world_connect_name(const struct gate_run *run, const char *name, uint16_t port)
{
    char address[64];

    if (world_lookup(run, "198.18.0.53", name, 1, address) != 0 || !*address)
        return -ENOENT;
    return world_connect(run, address, port);
}

ssize_t world_read_all(int fd, char *out, size_t size)
{
    size_t n = 0;

    while (n < size - 1) {
        ssize_t got = recv(fd, out + n, size - 1 - n, 0);

        if (got < 0)
            return -errno;
        if (got == 0)
            break;
        n += (size_t)got;
    }
    out[n] = 0;
    return (ssize_t)n;
}

bool world_send(int fd, const void *bytes, size_t n)
{
    return send_all(fd, bytes, n);
}

/* ---- TLS */

static void put(uint8_t *out, size_t *n, const void *bytes, size_t length)
{
    memcpy(out + *n, bytes, length);
    *n += length;
}

size_t world_hello(uint8_t out[512], const char *name)
{
    static const uint8_t begin[] = { 0x16, 3, 1, 0, 0, 1, 0, 0, 0, 3, 3 };
    static const uint8_t suites[] = {
        0, 0, 2, 0x13, 1, 1, 0
    }; /* no session, one suite, no compression */
    size_t n = 0;
    size_t extensions;

    put(out, &n, begin, sizeof begin);
    memset(out + n, 7, 32);
    n += 32;
    put(out, &n, suites, sizeof suites);
    extensions = n;
    n += 2;
    if (name) {
        size_t length = strlen(name);
        const uint8_t head[9] = {
            0, 0, 0, (uint8_t)(length + 5), 0, (uint8_t)(length + 3), 0, 0, (uint8_t)length
        };

        put(out, &n, head, sizeof head);
        put(out, &n, name, length);
    } else {
        static const uint8_t other[] = { 0, 23, 0, 0 }; /* extended master secret */

        put(out, &n, other, sizeof other);
    }
    out[extensions] = (uint8_t)((n - extensions - 2) >> 8);
    out[extensions + 1] = (uint8_t)(n - extensions - 2);
    out[7] = (uint8_t)((n - 9) >> 8);
    out[8] = (uint8_t)(n - 9);
    out[3] = (uint8_t)((n - 5) >> 8);
    out[4] = (uint8_t)(n - 5);
    return n;
}
