#include "test/gate_world_servers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test/gate_world.h"

#ifndef IPV6_FREEBIND
#define IPV6_FREEBIND 78
#endif

void world_need(bool is, const char *what)
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
    { "retry.example", { "11.0.0.13" }, false, false },
    { "final.example", { "11.0.0.14" }, false, false },
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

bool world_send(int fd, const void *bytes, size_t n)
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
    (void)world_send(fd, out, m + 2);
}

static void serve_echo(int fd)
{
    char bytes[65536];
    ssize_t n;

    while ((n = recv(fd, bytes, sizeof bytes, 0)) > 0 && world_send(fd, bytes, (size_t)n))
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
                (void)world_send(fd, switched, sizeof switched - 1);
                serve_echo(fd);
                return;
            }
            bool has_body = strstr(head, "Content-Length: ") != NULL;
            int length = (int)(end - head);
            int m =
                snprintf(answer, sizeof answer, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%.*s",
                         length, length, head);
            if (!skip(fd, body_left(head, end, n)) || !world_send(fd, answer, (size_t)m))
                return;
            n = has_body ? 0 : n - (size_t)length;
            memmove(head, end, n);
            head[n] = 0;
        }
    }
}

/* Echoes; but before that, hellos for two names get an answer: send another, or go on. */
static void serve_tls(int fd)
{
    char hello[1024];
    uint8_t answer[5 + 38] = { 0x16, 3, 3, 0, 38, 2, 0, 0, 34, 3, 3 };
    ssize_t n = recv(fd, hello, sizeof hello, MSG_PEEK);

    memcpy(answer + 11, WORLD_RETRY, 32);
    if (n > 0 && memmem(hello, (size_t)n, "final.example", 13))
        answer[42] ^= 1;
    else if (n <= 0 || !memmem(hello, (size_t)n, "retry.example", 13))
        answer[0] = 0;
    if (!answer[0] || world_send(fd, answer, sizeof answer))
        serve_echo(fd);
}

static void serve_bulk(int fd)
{
    static char bytes[65536];

    for (size_t sent = 0; sent < WORLD_BULK; sent += sizeof bytes)
        if (!world_send(fd, bytes, sizeof bytes))
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
    (void)world_send(fd, bytes, (size_t)m);
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
    (void)world_send(fd, "end", 3);
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
    { 80, serve_http, false, -1 },        { 443, serve_tls, false, -1 },
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
    world_need(errno == 0, "start a thread");
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
    world_need(r == 0 && listen(fd, backlog) == 0, "listen");
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
    world_need(bind(*fd, (const struct sockaddr *)&any, sizeof any) == 0, "bind for datagrams");
    start_thread(echo_datagrams, fd);
}

void world_start_servers(void)
{
    static int echo_fds[2];
    static int names_fd;
    const struct sockaddr_in names = { .sin_family = AF_INET,
                                       .sin_port = htons(53),
                                       .sin_addr = { htonl(INADDR_LOOPBACK) } };

    names_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    world_need(bind(names_fd, (const struct sockaddr *)&names, sizeof names) == 0, "bind port 53");
    start_thread(serve_names, &names_fd);
    start_datagrams(&echo_fds[0], 7);
    start_datagrams(&echo_fds[1], 9007);
    start_deaf(9005);
    for (size_t i = 0; i < sizeof servers / sizeof *servers; i++) {
        servers[i].fd = listen_on(servers[i].port, true, !servers[i].is_ipv4, 4096);
        start_thread(serve_port, &servers[i]);
    }
}
