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
#include "test/gate_world_servers.h"

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

    world_need(fd >= 0 && send(fd, message->data, message->length, 0) >= 0, "netlink");
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
    world_need(write_file("/proc/self/uid_map", map) == 0, "map the user");
    (void)snprintf(map, sizeof map, "0 %u 1", gid);
    (void)write_file("/proc/self/gid_map", map);
    world_need(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0, "private mounts");
    if (!put_file("/etc/resolv.conf", "# of a test\nsearch example.org\nnameserver 127.0.0.1\n"))
        return "there is no /etc/resolv.conf to put another over";
    if (!put_file("/etc/hosts", "127.0.0.1 localhost\n11.0.0.20\tFiled.example alias.example # x\n"
                                "10.9.9.9 filed-private.example\n"))
        return "there is no /etc/hosts to put another over";
    world_need(gate_inside_prepare(&all, NULL, 0) == 0, "prepare routes");
    send_netlink(&all.link);
    send_netlink(&all.routes4);
    send_netlink(&all.routes6);
    gate_inside_done(&all);
    world_need(getrlimit(RLIMIT_NOFILE, &files) == 0, "limits");
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
    (void)signal(SIGPIPE, SIG_IGN);
    world_start_servers();
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
    world_need(n > 0, "find the program");
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
    world_need(write(rules_fd, rules, strlen(rules)) == (ssize_t)strlen(rules), "write the rules");
    world_need(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0,
               "a pair of sockets");
    run->pid = fork();
    world_need(run->pid >= 0, "fork");
    if (run->pid == 0) {
        if (dup2(pair[1], 0) == 0 && dup2(rules_fd, 1) == 1 && close(2) == 0)
            execl(path, "coop-gate", (char *)NULL);
        _exit(127);
    }
    (void)close(pair[1]);
    (void)close(rules_fd);
    run->socket_fd = pair[0];
    run->outer_ns = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    world_need(unshare(CLONE_NEWNET) == 0, "a network namespace");
    run->inner_ns = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    if (!inside)
        inside = &plain;
    world_need(gate_inside_prepare(inside, &world_network, world_network.bits > 0) == 0,
               "prepare the inside");
    if (world_has_no_tables) { /* a kind of message that no kernel knows */
        inside->tables.data[4] = inside->fallback.data[4] = 0x7f;
        inside->tables.data[5] = inside->fallback.data[5] = 0x7f;
    }
    errno = (int)-gate_inside_make(inside, run->socket_fd);
    world_need(errno == 0 || errno == EPIPE,
               "make the inside"); /* a gate that cannot begin has ended */
    gate_inside_done(inside);
    world_need(setns(run->outer_ns, CLONE_NEWNET) == 0, "go back");
    if (!gate_wait(run, GATE_EVENT_READY, NULL))
        world_need(false, "the gate is not ready");
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
    world_need(waitpid(run->pid, &status, 0) == run->pid, "wait for the gate");
    (void)close(run->socket_fd);
    (void)close(run->outer_ns);
    (void)close(run->inner_ns);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* ---- from inside */

int world_socket(const struct gate_run *run, int family, int type)
{
    world_need(setns(run->inner_ns, CLONE_NEWNET) == 0, "go inside");
    int fd = socket(family, type | SOCK_CLOEXEC, 0);
    int saved = errno;
    world_need(setns(run->outer_ns, CLONE_NEWNET) == 0, "go back");
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
    world_need(inet_pton(AF_INET6, address, &v6->sin6_addr) == 1, "an address");
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

    world_need(fd >= 0 && connect(fd, (struct sockaddr *)&name, size) == 0,
               "connect for datagrams");
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
    world_need(connect(fd, (struct sockaddr *)&to, size) == 0, "connect to a name server");
    world_need(send(fd, packet, n_query, 0) > 0, "ask for a name");
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
