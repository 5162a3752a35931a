/* The whole program, with real sockets: see test/gate_world.h. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "net/gate_protocol.h"
#include "test/check.h"
#include "test/gate_world.h"

static struct gate_run run;

#define BEGIN(rules)                     \
    do {                                 \
        const char *why = world_enter(); \
        if (why)                         \
            SKIP(why);                   \
        gate_start(&run, rules, NULL);   \
    } while (0)

#define END()                        \
    do {                             \
        CHECK(gate_stop(&run) == 0); \
    } while (0)

static bool say(int fd, const char *text)
{
    return fd >= 0 && world_send(fd, text, strlen(text));
}

/* Sends, and expects that back. */
static bool echoes(int fd, const char *text)
{
    char back[256] = "";
    size_t n = strlen(text);

    return fd >= 0 && world_send(fd, text, n) && recv(fd, back, n, MSG_WAITALL) == (ssize_t)n &&
           strcmp(back, text) == 0;
}

TEST(an_allowed_name_leads_to_its_host)
{
    char address[64];

    BEGIN("allow good.example:7\nallow *.wild.example:7\n");
    CHECK(world_lookup(&run, "198.18.0.53", "good.example", 1, address) == 0);
    CHECK_STR(address, "198.18.1.0");
    int fd = world_connect(&run, address, 7);
    CHECK(echoes(fd, "hello"));
    (void)close(fd);
    fd = world_connect_name(&run, "a.wild.example", 7);
    CHECK(echoes(fd, "wild"));
    (void)close(fd);
    END();
}

TEST(both_families_and_every_server_address_answer)
{
    static const char *const servers[] = { "198.18.0.53", "8.8.8.8", "127.0.0.1", "::1",
                                           "2001:4860:4860::8888" };
    char address[64];

    BEGIN("allow good.example:7\n");
    for (size_t i = 0; i < sizeof servers / sizeof *servers; i++) {
        CHECK(world_lookup(&run, servers[i], "GOOD.example", 28, address) == 0);
        CHECK_STR(address, "fd63:6f6f:7000::100");
    }
    int fd = world_connect(&run, address, 7);
    CHECK(echoes(fd, "six"));
    (void)close(fd);
    CHECK(world_lookup(&run, "8.8.8.8", "good.example", 15, address) == 0); /* MX */
    CHECK_STR(address, "");
    END();
}

TEST(another_name_does_not_exist)
{
    char address[64];

    BEGIN("allow good.example:7\ndeny bad.example\n");
    CHECK(world_lookup(&run, "8.8.8.8", "evil.example", 1, address) == 3);
    CHECK(world_lookup(&run, "8.8.8.8", "evil.example", 28, address) == 3);
    const struct gate_event *event = gate_wait(&run, GATE_EVENT_NAME, "evil.example");
    CHECK(event && event->rule == -1 && event->count == 1);
    CHECK(world_lookup(&run, "8.8.8.8", "bad.example", 1, address) == 3);
    event = gate_wait(&run, GATE_EVENT_NAME, "bad.example");
    CHECK(event && event->rule == 1);
    END();
    /* Both families are one question. */
    CHECK(gate_wait(&run, GATE_EVENT_NAME, "evil.example")->count == 1);
}

/* ---- what is refused */

/* Connected by the kernel, then reset by the gate. */
static bool is_reset(int fd)
{
    char byte;

    if (fd == -ECONNREFUSED || fd == -ECONNRESET)
        return true;
    bool is = fd >= 0 && recv(fd, &byte, 1, 0) < 0 && errno == ECONNRESET;
    if (fd >= 0)
        (void)close(fd);
    return is;
}

TEST(another_port_of_an_allowed_name_is_refused)
{
    BEGIN("allow good.example:7\nallow other.example\ndeny other.example:7\n");
    CHECK(is_reset(world_connect_name(&run, "good.example", 8)));
    const struct gate_event *event = gate_wait(&run, GATE_EVENT_CONNECT, "good.example");
    CHECK(event && event->port == 8 && event->rule == -1);
    CHECK(is_reset(world_connect_name(&run, "other.example", 7)));
    event = gate_wait(&run, GATE_EVENT_CONNECT, "other.example");
    CHECK(event && event->port == 7 && event->rule == 2);
    END();
}

TEST(an_address_is_refused_where_no_rule_names_it)
{
    static const char *const addresses[] = {
        "11.0.0.5", "169.254.169.254", "10.0.0.1",    "::ffff:11.0.0.5",
        "2600::6",  "198.18.77.7",     "198.18.0.53", "fd63:6f6f:7000::7777",
    };

    BEGIN("allow good.example\n");
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        const char *name =
            strncmp(addresses[i], "::ffff:", 7) == 0 ? addresses[i] + 7 : addresses[i];

        CHECK(is_reset(world_connect(&run, addresses[i], 7)));
        const struct gate_event *event = gate_wait(&run, GATE_EVENT_CONNECT, name);
        CHECK(event && event->port == 7);
    }
    /* The gate's own port is no way in. */
    CHECK(is_reset(world_connect(&run, "127.0.0.1", 1)));
    END();
}

TEST(other_udp_is_refused_and_recorded)
{
    const struct sockaddr_in to = { .sin_family = AF_INET,
                                    .sin_port = htons(443),
                                    .sin_addr = { htonl(0x0b000005) } };

    BEGIN("allow good.example\n");
    int fd = world_socket(&run, AF_INET, SOCK_DGRAM);
    CHECK(sendto(fd, "quic", 4, 0, (const struct sockaddr *)&to, sizeof to) < 0);
    const struct gate_event *event = gate_wait(&run, GATE_EVENT_UDP, "11.0.0.5");
    CHECK(event && event->port == 443 && event->is_udp);
    (void)close(fd);
    END();
}

/* ---- datagrams */

#define BEGIN_UDP(rules, ...)                                                  \
    do {                                                                       \
        static const uint16_t ports[] = { __VA_ARGS__ };                       \
        struct gate_inside inside = { .n_udp = sizeof ports / sizeof *ports }; \
        const char *why = world_enter();                                       \
        if (why)                                                               \
            SKIP(why);                                                         \
        memcpy(inside.udp, ports, sizeof ports);                               \
        gate_start(&run, rules, &inside);                                      \
    } while (0)

/* A datagram, and what comes back is the same. */
static bool comes_back(int fd, const char *text)
{
    char back[256] = "";

    return send(fd, text, strlen(text), 0) == (ssize_t)strlen(text) &&
           recv(fd, back, sizeof back - 1, 0) == (ssize_t)strlen(text) && strcmp(back, text) == 0;
}

/* Nothing that was sent on it before comes back: what is sent after it on another one does. */
static bool is_lost(int fd)
{
    char byte;

    return recv(fd, &byte, 1, MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == ECONNREFUSED);
}

TEST(datagrams_pass_where_a_rule_names_their_port)
{
    char address[64];

    BEGIN_UDP("allow good.example:7/udp\nallow *.wild.example:9007/udp\nudp 7\nudp 9007\n", 7,
              9007);
    CHECK(world_lookup(&run, "8.8.8.8", "good.example", 1, address) == 0);
    int fd = world_datagrams(&run, address, 7);
    CHECK(comes_back(fd, "one") && comes_back(fd, "two"));
    (void)close(fd);
    CHECK(world_lookup(&run, "8.8.8.8", "good.example", 28, address) == 0);
    fd = world_datagrams(&run, address, 7);
    CHECK(comes_back(fd, "six"));
    (void)close(fd);
    CHECK(world_lookup(&run, "8.8.8.8", "a.wild.example", 1, address) == 0);
    fd = world_datagrams(&run, address, 9007);
    CHECK(comes_back(fd, "wild"));
    (void)close(fd);
    END();
}

TEST(datagrams_pass_to_an_address_that_a_rule_names)
{
    BEGIN_UDP("allow 11.0.0.0/24:7/udp\nallow [2600::/16]:7/udp\nudp 7\n", 7);
    int fd = world_datagrams(&run, "11.0.0.77", 7);
    CHECK(comes_back(fd, "four"));
    (void)close(fd);
    fd = world_datagrams(&run, "2600::77", 7);
    CHECK(comes_back(fd, "six"));
    (void)close(fd);
    END();
}

TEST(a_long_datagram_and_an_empty_one_pass)
{
    static char bytes[60000];
    static char back[65536];

    BEGIN_UDP("allow 11.0.0.5:7/udp\nudp 7\n", 7);
    int fd = world_datagrams(&run, "11.0.0.5", 7);
    memset(bytes, 'x', sizeof bytes);
    CHECK(send(fd, bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes);
    CHECK(recv(fd, back, sizeof back, 0) == (ssize_t)sizeof bytes);
    CHECK(memcmp(bytes, back, sizeof bytes) == 0);
    CHECK(send(fd, "", 0, 0) == 0 && recv(fd, back, sizeof back, 0) == 0);
    (void)close(fd);
    END();
}

/* Each on its port, to which datagrams go, but not these. */
TEST(datagrams_that_no_rule_allows_are_recorded_and_lost)
{
    static const struct {
        const char *address, *name;
        uint16_t port;
        int32_t rule;
    } cases[] = {
        { "198.18.1.0", "good.example", 9007, 5 }, /* another port, denied */
        { "198.18.1.1", "other.example", 7, -1 },  /* for TCP only */
        { "198.18.1.2", "both.example", 7, 4 },    /* denied */
        { "198.18.77.7", "198.18.77.7", 7, -1 },   { "11.0.0.9", "11.0.0.9", 7, -1 },
        { "2600::9", "2600::9", 7, -1 },           { "10.9.9.9", "10.9.9.9", 9007, -1 },
        { "127.0.0.1", "127.0.0.1", 7, -1 },       { "::1", "::1", 9007, -1 },
    };

    BEGIN_UDP("allow good.example:7/udp\nallow other.example\nallow both.example:7/udp\n"
              "allow *:9007/udp\ndeny both.example\ndeny good.example:9007\nudp 7\nudp 9007\n",
              7, 9007);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int fd = world_datagrams(&run, cases[i].address, cases[i].port);

        CHECK(send(fd, "lost", 4, 0) == 4);
        const struct gate_event *event = gate_wait(&run, GATE_EVENT_UDP, cases[i].name);
        CHECK(event && event->port == cases[i].port && event->is_udp);
        CHECK(event->rule == cases[i].rule);
        CHECK(is_lost(fd));
        (void)close(fd);
    }
    END();
}

TEST(datagrams_to_a_name_that_leads_inside_are_lost)
{
    char address[64];

    BEGIN_UDP("allow rebind.example:7/udp\nallow mixed.example:7/udp\nudp 7\n", 7);
    CHECK(world_lookup(&run, "8.8.8.8", "rebind.example", 1, address) == 0);
    int fd = world_datagrams(&run, address, 7);
    CHECK(send(fd, "lost", 4, 0) == 4);
    const struct gate_event *event = gate_wait(&run, GATE_EVENT_ANSWER, "rebind.example");
    CHECK(event && event->is_udp && strncmp(event->detail, "127.0.0.1 ", 10) == 0);
    CHECK(is_lost(fd));
    (void)close(fd);
    CHECK(world_lookup(&run, "8.8.8.8", "mixed.example", 1, address) == 0);
    fd = world_datagrams(&run, address, 7);
    CHECK(comes_back(fd, "its other address"));
    (void)close(fd);
    END();
}

TEST(datagrams_of_the_loopback_need_a_rule_for_localhost)
{
    BEGIN_UDP("allow localhost:7/udp\nudp 7\nudp 9007\n", 7, 9007);
    int fd = world_datagrams(&run, "127.0.0.1", 7);
    CHECK(comes_back(fd, "own"));
    (void)close(fd);
    fd = world_datagrams(&run, "127.0.0.1", 9007);
    CHECK(send(fd, "lost", 4, 0) == 4);
    CHECK(gate_wait(&run, GATE_EVENT_UDP, "127.0.0.1"));
    CHECK(is_lost(fd));
    (void)close(fd);
    END();
}

TEST(more_flows_than_fit_end_the_oldest)
{
    const struct rlimit few = { 290, 290 };
    int fds[400];

    BEGIN_UDP("allow 11.0.0.0/16:7/udp\nudp 7\n", 7);
    CHECK(prlimit(run.pid, RLIMIT_NOFILE, &few, NULL) == 0);
    for (int i = 0; i < 400; i++) {
        fds[i] = world_datagrams(&run, "11.0.1.1", 7);
        CHECK(comes_back(fds[i], "new"));
    }
    CHECK(comes_back(fds[0], "begun again") && comes_back(fds[399], "still there"));
    for (int i = 0; i < 400; i++)
        (void)close(fds[i]);
    END();
}

TEST(first_datagrams_wait_for_the_name_and_no_more_than_a_few)
{
    char address[64];
    char back[8];
    int n = 0;

    /* Answered by TCP only, so it takes a moment. */
    BEGIN_UDP("allow long.example:7/udp\nallow silent.example:7/udp\nudp 7\n", 7);
    CHECK(world_lookup(&run, "8.8.8.8", "long.example", 1, address) == 0);
    int fd = world_datagrams(&run, address, 7);
    CHECK(comes_back(fd, "a") && comes_back(fd, "b"));
    (void)close(fd);
    CHECK(world_lookup(&run, "8.8.8.8", "silent.example", 1, address) == 0);
    for (int i = 0; i < 300; i++) { /* more flows than fit, and much that waits */
        static char much[60000];

        fd = world_datagrams(&run, address, 7);
        n += send(fd, much, sizeof much, 0) > 0;
        (void)close(fd);
    }
    CHECK(n == 300);
    CHECK(world_lookup(&run, "8.8.8.8", "long.example", 1, address) == 0);
    fd = world_datagrams(&run, address, 7);
    CHECK(send(fd, "x", 1, 0) == 1 && recv(fd, back, sizeof back, 0) == 1);
    (void)close(fd);
    END();
}

TEST(a_host_without_a_server_for_datagrams_is_told)
{
    BEGIN_UDP("allow 11.0.0.5:9008/udp\nudp 9008\n", 9008);
    int fd = world_datagrams(&run, "11.0.0.5", 9008);
    CHECK(send(fd, "lost", 4, 0) == 4);
    const struct gate_event *event = gate_wait(&run, GATE_EVENT_UPSTREAM, "11.0.0.5");
    CHECK(event && event->error == ECONNREFUSED && event->is_udp && event->port == 9008);
    (void)close(fd);
    END();
}

TEST(a_rule_that_comes_later_ends_flows)
{
    static const char line[] = "deny good.example:7";
    char address[64];

    BEGIN_UDP("allow good.example:7/udp\nudp 7\n", 7);
    CHECK(world_lookup(&run, "8.8.8.8", "good.example", 1, address) == 0);
    int fd = world_datagrams(&run, address, 7);
    CHECK(comes_back(fd, "one"));
    CHECK(send(run.socket_fd, line, sizeof line - 1, 0) > 0);
    CHECK(gate_wait(&run, GATE_EVENT_UDP, "good.example")); /* the flow itself */
    CHECK(send(fd, "lost", 4, 0) == 4);
    (void)close(fd);
    END();
    CHECK(gate_wait(&run, GATE_EVENT_UDP, "good.example")->count == 2);
}

/* QUIC, to a host that is allowed. */
TEST(datagrams_to_other_ports_of_an_allowed_name_are_recorded)
{
    char address[64];

    BEGIN("allow good.example\n");
    CHECK(world_lookup(&run, "8.8.8.8", "good.example", 1, address) == 0);
    int fd = world_datagrams(&run, address, 443);
    CHECK(send(fd, "quic", 4, 0) == 4);
    const struct gate_event *event = gate_wait(&run, GATE_EVENT_UDP, "good.example");
    CHECK(event && event->port == 443 && event->is_udp);
    CHECK(send(fd, "quic", 4, 0) < 0 && errno == ECONNREFUSED); /* at once: it falls back */
    (void)close(fd);
    END();
}

/* ---- heads */

/* What a connection to port 443 gets for that hello. */
static ssize_t say_hello(const char *host, const char *named, char *out, size_t size)
{
    uint8_t hello[512];
    size_t n = world_hello(hello, named);
    int fd = world_connect_name(&run, host, 443);

    if (fd < 0 || !world_send(fd, hello, n))
        return -1;
    (void)shutdown(fd, SHUT_WR);
    ssize_t got = world_read_all(fd, out, size);
    (void)close(fd);
    return got;
}

#define ALERT "\x15\x03\x03\x00\x02\x02\x31"

TEST(a_hello_for_another_host_is_refused_with_an_alert)
{
    char back[1024];

    BEGIN("allow good.example\nallow *.wild.example\n");
    CHECK(say_hello("good.example", "good.example", back, sizeof back) > 50);
    CHECK(memcmp(back, "\x16\x03\x01", 3) == 0);
    CHECK(say_hello("good.example", "GOOD.example", back, sizeof back) > 50);
    CHECK(say_hello("good.example", "evil.example", back, sizeof back) == 7);
    CHECK(memcmp(back, ALERT, 7) == 0);
    const struct gate_event *event = gate_wait(&run, GATE_EVENT_HEAD, "good.example");
    CHECK(event && event->port == 443);
    CHECK_STR(event->detail, "evil.example");
    /* Another name of the same pattern is another host too. */
    CHECK(say_hello("a.wild.example", "b.wild.example", back, sizeof back) == 7);
    END();
}

TEST(a_hello_without_a_name_is_for_rules_that_name_the_host)
{
    char back[1024];

    BEGIN("allow good.example\nallow *.wild.example\n");
    CHECK(say_hello("good.example", NULL, back, sizeof back) > 40);
    CHECK(say_hello("a.wild.example", NULL, back, sizeof back) == 7);
    CHECK(memcmp(back, ALERT, 7) == 0);
    END();
    BEGIN("allow good.example\nunnamed no\n");
    CHECK(say_hello("good.example", NULL, back, sizeof back) == 7);
    END();
    BEGIN("allow *.wild.example\nunnamed yes\n");
    CHECK(say_hello("a.wild.example", NULL, back, sizeof back) > 40);
    END();
}

TEST(port_443_is_for_tls_only)
{
    char back[64];

    BEGIN("allow good.example\n");
    int fd = world_connect_name(&run, "good.example", 443);
    CHECK(fd >= 0 && world_send(fd, "S", 1)); /* the first byte decides */
    CHECK(world_read_all(fd, back, sizeof back) == -ECONNRESET);
    (void)close(fd);
    CHECK(gate_wait(&run, GATE_EVENT_HEAD, "good.example"));
    END();
}

TEST(a_hello_may_come_in_pieces)
{
    uint8_t hello[512];
    size_t n = world_hello(hello, "good.example");
    char back[1024];

    BEGIN("allow good.example\n");
    int fd = world_connect_name(&run, "good.example", 443);
    for (size_t i = 0; i < n; i++)
        CHECK(world_send(fd, hello + i, 1));
    (void)shutdown(fd, SHUT_WR);
    CHECK(world_read_all(fd, back, sizeof back) == (ssize_t)n);
    CHECK(memcmp(back, hello, n) == 0);
    (void)close(fd);
    END();
}

/* One request and its answer. */
static ssize_t request(int fd, const char *text, char *out, size_t size)
{
    size_t n = 0;

    if (fd < 0 || !world_send(fd, text, strlen(text)))
        return -1;
    while (n < size - 1) {
        ssize_t got = recv(fd, out + n, size - 1 - n, 0);

        if (got <= 0)
            break;
        n += (size_t)got;
        out[n] = 0;
        const char *end = strstr(out, "\r\n\r\n");
        const char *length = strstr(out, "Content-Length: ");
        if (end && length && n >= (size_t)(end - out) + 4 + strtoul(length + 16, NULL, 10))
            break;
    }
    out[n] = 0;
    return (ssize_t)n;
}

TEST(every_request_must_be_for_the_host_of_its_connection)
{
    char back[4096];

    BEGIN("allow good.example\n");
    int fd = world_connect_name(&run, "good.example", 80);
    CHECK(request(fd, "GET /1 HTTP/1.1\r\nHost: good.example\r\n\r\n", back, sizeof back) > 0);
    CHECK(strncmp(back, "HTTP/1.1 200", 12) == 0 && strstr(back, "GET /1"));
    CHECK(request(fd, "POST /2 HTTP/1.1\r\nHost: Good.Example:80\r\nContent-Length: 5\r\n\r\nGET /",
                  back, sizeof back) > 0);
    CHECK(strncmp(back, "HTTP/1.1 200", 12) == 0 && strstr(back, "POST /2"));
    CHECK(request(fd, "GET /3 HTTP/1.1\r\nHost: evil.example\r\n\r\n", back, sizeof back) > 0);
    CHECK(strncmp(back, "HTTP/1.1 403", 12) == 0 && strstr(back, "'evil.example'"));
    CHECK(!strstr(back, "GET /3"));
    CHECK(recv(fd, back, 1, 0) == 0);
    (void)close(fd);
    const struct gate_event *event = gate_wait(&run, GATE_EVENT_HEAD, "good.example");
    CHECK(event && event->port == 80);
    CHECK_STR(event->detail, "evil.example");
    END();
}

/* ---- bytes that change while they wait in a socket */

#define HEAD_AT 22 /* of the name in it */

static struct {
    _Atomic bool is_over;
    char *page;
    size_t at;
} changing;

static void *change_name(void *arg)
{
    while (!changing.is_over) {
        memcpy(changing.page + changing.at, "good", 4);
        (void)sched_yield();
        memcpy(changing.page + changing.at, "evil", 4);
        (void)sched_yield();
    }
    return arg;
}

/* A file whose pages go to the socket as they are: what is written to it later is read there. */
static int changing_file(const void *bytes, size_t n, size_t at)
{
    int fd = memfd_create("changing", MFD_CLOEXEC);

    CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
    changing.page = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(changing.page != MAP_FAILED);
    changing.at = at;
    changing.is_over = false;
    return fd;
}

TEST(a_request_that_changes_after_it_was_judged_goes_on_as_it_was)
{
    static const char text[] = "GET / HTTP/1.1\r\nHost: good.example\r\n\r\n";
    pthread_t thread;
    char back[4096];
    int n_answered = 0;

    BEGIN("allow good.example\n");
    int file = changing_file(text, sizeof text - 1, HEAD_AT);
    CHECK(pthread_create(&thread, NULL, change_name, NULL) == 0);
    for (int i = 0; i < 200; i++) {
        int fd = world_connect_name(&run, "good.example", 80);
        off_t at = 0;

        CHECK(fd >= 0 && sendfile(fd, file, &at, sizeof text - 1) == (ssize_t)sizeof text - 1);
        ssize_t n = recv(fd, back, sizeof back - 1, 0);
        back[n > 0 ? n : 0] = 0;
        n_answered += strncmp(back, "HTTP/1.1 200", 12) == 0;
        CHECK(!strstr(back, "Host: evil"));
        (void)close(fd);
    }
    changing.is_over = true;
    (void)pthread_join(thread, NULL);
    CHECK(n_answered > 0);
    (void)munmap(changing.page, sizeof text - 1);
    (void)close(file);
    END();
}

TEST(a_hello_that_changes_after_it_was_judged_goes_on_as_it_was)
{
    uint8_t hello[512];
    uint8_t back[512];
    size_t length = world_hello(hello, "good.example");
    const uint8_t *name = memmem(hello, length, "good", 4);
    pthread_t thread;
    int n_answered = 0;

    BEGIN("allow good.example\n");
    int file = changing_file(hello, length, (size_t)(name - hello));
    CHECK(pthread_create(&thread, NULL, change_name, NULL) == 0);
    for (int i = 0; i < 200; i++) {
        int fd = world_connect_name(&run, "good.example", 443);
        off_t at = 0;

        CHECK(fd >= 0 && sendfile(fd, file, &at, length) == (ssize_t)length);
        ssize_t n = recv(fd, back, length, MSG_WAITALL); /* an alert, or all of it */
        n_answered += n == (ssize_t)length;
        CHECK(n != (ssize_t)length || !memmem(back, length, "evil", 4));
        (void)close(fd);
    }
    changing.is_over = true;
    (void)pthread_join(thread, NULL);
    CHECK(n_answered > 0);
    (void)munmap(changing.page, length);
    (void)close(file);
    END();
}

/* A byte that is urgent is left out of what is read, until another one is: then it is not. */
TEST(an_urgent_byte_does_not_hide_another_request)
{
    static const char before[] = "POST /1 HTTP/1.1\r\nHost: good.example\r\nA: b\r\n";
    static const char behind[] =
        "Content-Length: 37\r\n\r\nGET /2 HTTP/1.1\r\nHost: evil.example\r\n\r\n";
    char back[8192];

    BEGIN("allow good.example\n");
    for (int i = 0; i < 50; i++) {
        int fd = world_connect_name(&run, "good.example", 80);

        CHECK(fd >= 0 && say(fd, before) && send(fd, "X", 1, MSG_OOB) == 1 && say(fd, behind));
        (void)send(fd, "Y", 1, MSG_OOB | MSG_NOSIGNAL);
        (void)shutdown(fd, SHUT_WR);
        (void)world_read_all(fd, back, sizeof back);
        back[sizeof back - 1] = 0;
        CHECK(!strstr(back, "\r\n\r\nGET /2"));
        (void)close(fd);
    }
    END();
}

/* The mark of an urgent byte does not hold up what comes behind it, however much there is. */
TEST(much_arrives_whole_with_urgent_bytes_in_it)
{
    static char bytes[256 * 1024];
    char back[32] = "";
    char expected[32];
    size_t n = 0;

    BEGIN("allow good.example\n");
    int fd = world_connect_name(&run, "good.example", 9001);
    CHECK(fd >= 0);
    for (int i = 0; i < 8; i++) {
        CHECK(world_send(fd, bytes, sizeof bytes) && send(fd, "!", 1, MSG_OOB) == 1);
        n += sizeof bytes + 1;
    }
    CHECK(shutdown(fd, SHUT_WR) == 0);
    CHECK(world_read_all(fd, back, sizeof back) > 0);
    (void)snprintf(expected, sizeof expected, "%zu", n);
    CHECK_STR(back, expected);
    (void)close(fd);
    END();
}

TEST(a_long_body_passes_and_what_follows_is_judged)
{
    static char body[8 * 1024 * 1024];
    char back[4096];

    memset(body, 'x', sizeof body);
    BEGIN("allow good.example\n");
    int fd = world_connect_name(&run, "good.example", 80);
    CHECK(say(fd, "PUT /1 HTTP/1.1\r\nHost: good.example\r\nContent-Length: 8388608\r\n\r\n"));
    CHECK(world_send(fd, body, sizeof body));
    CHECK(request(fd, "", back, sizeof back) > 0);
    CHECK(strncmp(back, "HTTP/1.1 200", 12) == 0 && strstr(back, "PUT /1"));
    CHECK(request(fd, "GET /2 HTTP/1.1\r\nHost: good.example\r\n\r\n", back, sizeof back) > 0);
    CHECK(strncmp(back, "HTTP/1.1 200", 12) == 0 && strstr(back, "GET /2"));
    CHECK(request(fd, "GET /3 HTTP/1.1\r\nHost: evil.example\r\n\r\n", back, sizeof back) > 0);
    CHECK(strncmp(back, "HTTP/1.1 403", 12) == 0);
    (void)close(fd);
    END();
}

TEST(two_requests_at_once_are_both_judged)
{
    char back[4096];

    BEGIN("allow good.example\n");
    int fd = world_connect_name(&run, "good.example", 80);
    CHECK(say(fd, "GET /1 HTTP/1.1\r\nHost: good.example\r\n\r\n"
                  "GET /2 HTTP/1.1\r\nHost: evil.example\r\n\r\n"));
    CHECK(world_read_all(fd, back, sizeof back) == -ECONNRESET || !strstr(back, "GET /2"));
    CHECK(gate_wait(&run, GATE_EVENT_HEAD, "good.example"));
    (void)close(fd);
    END();
}

TEST(what_two_servers_could_read_differently_is_refused)
{
    static const char *const requests[] = {
        "GET http://evil.example/ HTTP/1.1\r\nHost: good.example\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: good.example\r\nHost: evil.example\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : evil.example\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        ("POST / HTTP/1.1\r\nHost: good.example\r\nContent-Length: 3\r\n"
         "Transfer-Encoding: chunked\r\n\r\n"),
        "CONNECT evil.example:443 HTTP/1.1\r\nHost: good.example\r\n\r\n",
        ("GET / HTTP/1.1\r\nHost: good.example\r\nContent-Length: 37\r\n\r\n"
         "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
        "HEAD / HTTP/1.1\r\nHost: good.example\r\nTransfer-Encoding: chunked\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "\x16\x03\x01",
    };
    char back[4096];

    BEGIN("allow good.example\n");
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        int fd = world_connect_name(&run, "good.example", 80);

        CHECK(request(fd, requests[i], back, sizeof back) > 0);
        CHECK(strncmp(back, "HTTP/1.1 403", 12) == 0);
        (void)close(fd);
    }
    END();
}

TEST(a_websocket_passes_once_the_server_agrees)
{
    char back[1024];

    BEGIN("allow good.example\n");
    int fd = world_connect_name(&run, "good.example", 80);
    CHECK(say(fd, "GET /chat HTTP/1.1\r\nHost: good.example\r\nUpgrade: websocket\r\n"
                  "Connection: Upgrade\r\n\r\n"));
    ssize_t n = recv(fd, back, sizeof back - 1, 0);
    CHECK(n > 0);
    back[n] = 0;
    CHECK(strncmp(back, "HTTP/1.1 101", 12) == 0);
    CHECK(echoes(fd, "\x81\x05hello"));
    (void)close(fd);
    END();
}

/* ---- where names lead */

static size_t read_bulk(int fd)
{
    static char bytes[65536];
    size_t n = 0;
    ssize_t got;

    while ((got = recv(fd, bytes, sizeof bytes, 0)) > 0)
        n += (size_t)got;
    return got < 0 ? 0 : n;
}

TEST(a_name_that_leads_inside_is_refused)
{
    static const struct {
        const char *name, *detail;
    } names[] = {
        { "rebind.example", "127.0.0.1 (loopback)" },
        { "private.example", "10.9.9.9 (private)" },
        { "metadata.example", "169.254.169.254 (metadata)" },
        { "mapped.example", "10.9.9.9 (private)" },
        { "filed-private.example", "10.9.9.9 (private)" },
    };

    BEGIN("allow *.example\n");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CHECK(is_reset(world_connect_name(&run, names[i].name, 7)));
        const struct gate_event *event = gate_wait(&run, GATE_EVENT_ANSWER, names[i].name);
        CHECK(event && event->port == 7);
        CHECK_STR(event->detail, names[i].detail);
    }
    /* Of several, those that may be are used. */
    int fd = world_connect_name(&run, "mixed.example", 7);
    CHECK(echoes(fd, "mixed"));
    (void)close(fd);
    CHECK(gate_wait(&run, GATE_EVENT_ANSWER, "mixed.example"));
    END();
}

TEST(rules_with_addresses_decide_on_answers_too)
{
    BEGIN("allow private.example:7\nallow 10.9.9.0/24:7\nallow good.example:7\ndeny 11.0.0.0/24\n");
    int fd = world_connect_name(&run, "private.example", 7);
    CHECK(echoes(fd, "named"));
    (void)close(fd);
    CHECK(is_reset(world_connect_name(&run, "good.example", 7)));
    const struct gate_event *event = gate_wait(&run, GATE_EVENT_ANSWER, "good.example");
    CHECK(event && event->rule == 3);
    END();
}

TEST(names_come_from_files_and_by_tcp_too)
{
    BEGIN("allow filed.example:7\nallow long.example:7\nallow both.example:7\n"
          "allow x.localhost:7\n");
    int fd = world_connect_name(&run, "filed.example", 7);
    CHECK(echoes(fd, "filed"));
    (void)close(fd);
    fd = world_connect_name(&run, "long.example", 7);
    CHECK(echoes(fd, "long"));
    (void)close(fd);
    fd = world_connect_name(&run, "both.example", 7);
    CHECK(echoes(fd, "both"));
    (void)close(fd);
    fd = world_connect_name(&run, "x.localhost", 7);
    CHECK(echoes(fd, "localhost"));
    (void)close(fd);
    END();
}

TEST(the_address_that_answers_is_taken)
{
    BEGIN("allow both.example\n");
    for (uint16_t port = 9004; port <= 9005; port++) { /* IPv6 is refused; IPv6 hears nothing */
        int fd = world_connect_name(&run, "both.example", port);

        CHECK(echoes(fd, "by IPv4"));
        (void)close(fd);
    }
    END();
}

TEST(a_name_server_that_says_nothing_is_not_waited_for)
{
    BEGIN("allow silent.example:7\nallow good.example:7\n");
    unsigned before = world_questions();
    int silent = world_connect_name(&run, "silent.example", 7);
    int good = world_connect_name(&run, "good.example", 7);
    CHECK(echoes(good, "others go on"));
    (void)close(good);
    CHECK(is_reset(silent));
    const struct gate_event *event = gate_wait(&run, GATE_EVENT_UPSTREAM, "silent.example");
    CHECK(event && event->error == ETIMEDOUT);
    CHECK(world_questions() - before ==
          4 + 2); /* twice for both families; and for the other name */
    END();
}

TEST(an_address_that_a_rule_names_is_reached)
{
    world_network = (struct gate_network){ .address = { 11 }, .bits = 8 };
    BEGIN("allow 11.0.0.0/24:7\nallow good.example:9000\n");
    world_network = (struct gate_network){ .bits = 0 };
    int fd = world_connect(&run, "11.0.0.5", 7);
    CHECK(echoes(fd, "by number"));
    (void)close(fd);
    fd = world_connect(&run, "::ffff:11.0.0.5", 7);
    CHECK(echoes(fd, "by number"));
    (void)close(fd);
    /* Where the name is allowed the address is not, and the other way round. */
    CHECK(is_reset(world_connect(&run, "11.0.0.5", 9000)));
    CHECK(is_reset(world_connect(&run, "11.0.1.5", 7)));
    CHECK(is_reset(world_connect_name(&run, "good.example", 7)));
    END();
}

TEST(single_listeners_do_where_there_are_no_tables)
{
    struct gate_inside inside = { .ports = { 7007, 9000 }, .n_ports = 2 };
    const char *why = world_enter();

    if (why)
        SKIP(why);
    world_has_no_tables = true;
    gate_start(&run, "allow good.example:9000\n", &inside);
    world_has_no_tables = false;
    int fd = world_connect_name(&run, "good.example", 9000);
    CHECK(fd >= 0 && read_bulk(fd) == WORLD_BULK);
    (void)close(fd);
    CHECK(is_reset(world_connect_name(&run, "good.example", 7007)));
    CHECK(gate_wait(&run, GATE_EVENT_CONNECT, "good.example"));
    CHECK(is_reset(world_connect(&run, "11.0.0.5", 9000)));
    CHECK(gate_wait(&run, GATE_EVENT_CONNECT, "11.0.0.5"));
    END();
}

TEST(an_answer_is_kept)
{
    BEGIN("allow good.example:7\n");
    int fd = world_connect_name(&run, "good.example", 7);
    CHECK(echoes(fd, "one"));
    (void)close(fd);
    unsigned before = world_questions();
    for (int i = 0; i < 10; i++) {
        fd = world_connect_name(&run, "good.example", 7);
        CHECK(echoes(fd, "more"));
        (void)close(fd);
    }
    CHECK(world_questions() == before);
    END();
}

TEST(a_host_that_cannot_be_reached_is_told)
{
    BEGIN("allow good.example\nallow missing.example\n");
    CHECK(is_reset(world_connect_name(&run, "good.example", 4444)));
    const struct gate_event *event = gate_wait(&run, GATE_EVENT_UPSTREAM, "good.example");
    CHECK(event && event->error == ECONNREFUSED && event->port == 4444);
    CHECK(is_reset(world_connect_name(&run, "missing.example", 7)));
    event = gate_wait(&run, GATE_EVENT_UPSTREAM, "missing.example");
    CHECK(event && event->error == ENOENT);
    END();
}

/* ---- bytes */

TEST(one_direction_may_end_before_the_other)
{
    static char bytes[3 * 1024 * 1024];
    char back[64];

    BEGIN("allow good.example\n");
    int fd = world_connect_name(&run, "good.example", 9001);
    CHECK(fd >= 0 && world_send(fd, bytes, sizeof bytes));
    CHECK(shutdown(fd, SHUT_WR) == 0);
    CHECK(world_read_all(fd, back, sizeof back) > 0);
    CHECK_STR(back, "3145728");
    (void)close(fd);
    END();
}

TEST(much_arrives_whole)
{
    BEGIN("allow good.example\n");
    int fd = world_connect_name(&run, "good.example", 9000);
    CHECK(fd >= 0 && read_bulk(fd) == WORLD_BULK);
    (void)close(fd);
    END();
}

TEST(much_arrives_whole_also_without_pipes)
{
    size_t n = 0;

    BEGIN("allow good.example\n");
    int first = world_connect_name(&run, "good.example", 7);
    CHECK(echoes(first, "the name is known"));
    (void)close(first);
    /* The fewest descriptors with which it works leave none for a pipe. */
    for (rlim_t most = 8; n == 0 && most < 32; most++) {
        CHECK(prlimit(run.pid, RLIMIT_NOFILE, &(struct rlimit){ most, 1024 }, NULL) == 0);
        int fd = world_connect_name(&run, "good.example", 9000);
        if (fd >= 0) {
            n = read_bulk(fd);
            (void)close(fd);
        }
    }
    CHECK(n == WORLD_BULK);
    END();
}

/*
 * A connection for which there was a place. The gate sees in its own time that another has gone,
 * and refuses until then.
 */
static int connect_to_a_place(const char *address, bool has_ended)
{
    int64_t end = clock_now_ms() + WORLD_PATIENCE_MS;
    char byte;

    while (clock_now_ms() < end) {
        int fd = world_connect(&run, address, has_ended ? 9006 : 7);

        if (has_ended && fd >= 0 && shutdown(fd, SHUT_WR) == 0 && recv(fd, &byte, 1, 0) == 1)
            return fd;
        if (!has_ended && echoes(fd, "in"))
            return fd;
        if (fd >= 0)
            (void)close(fd);
    }
    return -1;
}

TEST(a_reset_is_passed_on)
{
    const struct linger now = { .l_onoff = 1 };
    char byte;

    BEGIN("allow good.example\nconnections 1\n");
    int fd = world_connect_name(&run, "good.example", 9002);
    CHECK(fd >= 0 && world_send(fd, "x", 1));
    CHECK(recv(fd, &byte, 1, 0) < 0 && errno == ECONNRESET);
    (void)close(fd);
    /* And the other way round, also where one direction has ended: no connection is left. */
    for (int i = 0; i < 3; i++) {
        fd = connect_to_a_place("198.18.1.0", i == 1);
        CHECK(fd >= 0);
        CHECK(setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now) == 0);
        (void)close(fd);
    }
    END();
}

/* ---- too much at once */

static unsigned long cpu_ms(pid_t pid)
{
    char path[64];
    char text[512] = "";
    unsigned long user = 0;
    unsigned long system = 0;

    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    CHECK(file && fgets(text, sizeof text, file));
    (void)fclose(file);
    CHECK(sscanf(strrchr(text, ')') + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
                 &user, &system) == 2);
    return (user + system) * 1000 / (unsigned long)sysconf(_SC_CLK_TCK);
}

TEST(connections_above_the_cap_are_reset)
{
    int fds[20];
    char address[64];

    BEGIN("allow good.example\nconnections 16\n");
    CHECK(world_lookup(&run, "1.1.1.1", "good.example", 1, address) == 0);
    for (int i = 0; i < 16; i++) {
        fds[i] = world_connect(&run, address, 7);
        CHECK(echoes(fds[i], "in"));
    }
    CHECK(is_reset(world_connect(&run, address, 7)));
    const struct gate_event *event = gate_wait(&run, GATE_EVENT_LIMIT, "");
    CHECK(event);
    CHECK_STR(event->detail, "more than 16 connections at once");
    /* A place that is free again is given away again. The gate sees the end in its own time. */
    (void)close(fds[0]);
    fds[0] = connect_to_a_place(address, false);
    CHECK(fds[0] >= 0);
    for (int i = 0; i < 16; i++)
        (void)close(fds[i]);
    END();
}

TEST(a_thousand_are_served_at_once)
{
    static int fds[1000];
    char address[64];

    BEGIN("allow good.example\n");
    CHECK(world_lookup(&run, "1.1.1.1", "good.example", 1, address) == 0);
    for (int i = 0; i < 1000; i++) {
        fds[i] = world_connect(&run, address, 7);
        CHECK(fds[i] >= 0);
    }
    for (int i = 999; i >= 0; i--)
        CHECK(echoes(fds[i], "all of us"));
    for (int i = 0; i < 1000; i++)
        (void)close(fds[i]);
    END();
}

TEST(without_descriptors_it_neither_spins_nor_stays_deaf)
{
    static int fds[300];
    char address[64];
    const struct rlimit few = { 100, 100 };

    BEGIN("allow good.example\n");
    CHECK(prlimit(run.pid, RLIMIT_NOFILE, &few, NULL) == 0);
    CHECK(world_lookup(&run, "1.1.1.1", "good.example", 1, address) == 0);
    for (int i = 0; i < 300; i++)
        fds[i] = world_connect(&run, address, 7);
    const struct gate_event *event = gate_wait(&run, GATE_EVENT_LIMIT, "");
    CHECK(event && event->error == EMFILE);
    /* Names are answered all the same. */
    unsigned long before = cpu_ms(run.pid);
    CHECK(world_lookup(&run, "1.1.1.1", "good.example", 1, address) == 0);
    (void)poll(NULL, 0, 500);
    CHECK(cpu_ms(run.pid) - before < 250);
    for (int i = 0; i < 300; i++)
        if (fds[i] >= 0)
            (void)close(fds[i]);
    fds[0] = connect_to_a_place(address, false);
    CHECK(fds[0] >= 0);
    END();
}

TEST(whoever_says_nothing_is_cut_off)
{
    char back[64];
    uint8_t hello[512];

    (void)world_hello(hello, "good.example");
    BEGIN("allow good.example\n");
    int64_t begin = clock_now_ms();
    int silent = world_connect_name(&run, "good.example", 443);
    int slow = world_connect_name(&run, "good.example", 80);
    int dns = world_connect(&run, "1.1.1.1", 53);
    CHECK(silent >= 0 && world_send(silent, hello, 20));
    CHECK(say(slow, "GET / HT"));
    CHECK(dns >= 0 && world_send(dns, "\0\x20half", 6));
    CHECK(world_read_all(silent, back, sizeof back) == -ECONNRESET);
    CHECK(world_read_all(slow, back, sizeof back) == -ECONNRESET);
    CHECK(world_read_all(dns, back, sizeof back) == -ECONNRESET);
    CHECK(clock_now_ms() - begin >= 9000);
    (void)close(silent);
    (void)close(slow);
    (void)close(dns);
    END();
}

TEST(a_flood_of_names_does_not_hide_those_of_the_rules)
{
    char name[64];

    BEGIN("allow *.wild.example\nallow good.example:7\n");
    int fd = world_socket(&run, AF_INET, SOCK_DGRAM);
    const struct sockaddr_in to = { .sin_family = AF_INET,
                                    .sin_port = htons(53),
                                    .sin_addr = { htonl(0x01010101) } };
    CHECK(connect(fd, (const struct sockaddr *)&to, sizeof to) == 0);
    unsigned n_given = 0;
    unsigned n_failed = 0;
    for (unsigned i = 0; i < 100000; i++) {
        uint8_t packet[64] = { 0, 0, 1, 0, 0, 1 };
        int n = snprintf(name, sizeof name, "n%05u", i);

        packet[12] = (uint8_t)n;
        memcpy(packet + 13, name, (size_t)n);
        memcpy(packet + 13 + n, "\4wild\7example\0\0\1\0\1", 18);
        CHECK(send(fd, packet, (size_t)n + 31, 0) > 0);
        CHECK(recv(fd, packet, sizeof packet, 0) > 12);
        n_given += (packet[3] & 15) == 0;
        n_failed += (packet[3] & 15) == 2;
    }
    CHECK(n_given == 4096 && n_failed == 100000 - 4096);
    (void)close(fd);
    fd = world_connect_name(&run, "good.example", 7);
    CHECK(echoes(fd, "still here"));
    (void)close(fd);
    END();
    CHECK(gate_wait(&run, GATE_EVENT_LIMIT, NULL));
    CHECK(run.n_events < 4096);
}

TEST(a_count_that_grows_is_told_while_it_runs)
{
    char address[64];
    const struct gate_event *event = NULL;

    BEGIN("allow good.example:7\n");
    for (unsigned i = 0; i < 10; i++)
        CHECK(world_lookup(&run, "1.1.1.1", "evil.example", 1, address) == 3);
    for (int64_t end = clock_now_ms() + WORLD_PATIENCE_MS;
         (!event || event->count < 10) && clock_now_ms() < end;) {
        event = gate_wait(&run, GATE_EVENT_NAME, "evil.example");
        (void)poll(NULL, 0, 1);
    }
    CHECK(event && event->count == 10);
    END();
}

TEST(many_refusals_become_few_events)
{
    char address[64];
    char name[64];
    uint32_t total = 0;

    BEGIN("allow good.example:7\n");
    for (unsigned i = 0; i < 1000; i++) {
        (void)snprintf(name, sizeof name, "evil%u.example", i);
        CHECK(world_lookup(&run, "1.1.1.1", name, 1, address) == 3);
    }
    for (unsigned i = 0; i < 1000; i++)
        CHECK(world_lookup(&run, "1.1.1.1", "same.example", 1, address) == 3);
    END();
    /* The last word on each kind; the rest are counted together. */
    CHECK(gate_wait(&run, GATE_EVENT_NAME, "evil0.example")->count == 1);
    for (size_t i = 0; i < run.n_events; i++)
        if (run.events[i].kind == GATE_EVENT_LIMIT)
            total = run.events[i].count;
    CHECK(total == 2000 - 255);
}

TEST(what_is_no_question_gets_no_answer_and_harms_nothing)
{
    static const struct {
        const char *bytes;
        size_t n;
        int rcode; /* -1: silence */
    } packets[] = {
        { "", 0, -1 },
        { "\0\1", 2, -1 },
        { "\0\1\x81\x80\0\1\0\0\0\0\0\0\1a\0\0\1\0\1", 19, -1 },         /* an answer */
        { "\0\1\1\0\0\2\0\0\0\0\0\0\1a\0\0\1\0\1\1b\0\0\1\0\1", 26, 1 }, /* two questions */
        { "\0\1\1\0\0\1\0\0\0\0\0\0\xc0\x0c\0\1\0\1", 18, 1 },           /* points to itself */
        { "\0\1\1\0\0\1\0\0\0\0\0\0\x3f"
          "aaaa",
          17, 1 },                                            /* cut short */
        { "\0\1\x29\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1", 19, 4 }, /* another opcode */
    };
    char address[64];
    const struct sockaddr_in to = { .sin_family = AF_INET,
                                    .sin_port = htons(53),
                                    .sin_addr = { htonl(0x01010101) } };

    BEGIN("allow good.example:7\n");
    int fd = world_socket(&run, AF_INET, SOCK_DGRAM);
    CHECK(connect(fd, (const struct sockaddr *)&to, sizeof to) == 0);
    for (size_t i = 0; i < sizeof packets / sizeof *packets; i++) {
        uint8_t back[512] = { 0 };

        CHECK(send(fd, packets[i].bytes, packets[i].n, 0) == (ssize_t)packets[i].n);
        /* Answers come in order, so one that is answered shows that what came before was not. */
        CHECK(send(fd, "\7\7\1\0\0\1\0\0\0\0\0\0\4good\7example\0\0\1\0\1", 30, 0) == 30);
        if (packets[i].rcode >= 0) {
            CHECK(recv(fd, back, sizeof back, 0) >= 12);
            CHECK(back[1] == 1 && (back[3] & 15) == packets[i].rcode);
        }
        CHECK(recv(fd, back, sizeof back, 0) > 30);
        CHECK(back[1] == 7 && (back[3] & 15) == 0);
    }
    (void)close(fd);
    CHECK(world_lookup(&run, "1.1.1.1", "good.example", 1, address) == 0);
    END();
}

TEST(names_are_answered_over_tcp)
{
    static const uint8_t two[] = "\0\x1e\7\7\1\0\0\1\0\0\0\0\0\0\4good\7example\0\0\1\0\1"
                                 "\0\x1e\7\x8\1\0\0\1\0\0\0\0\0\0\4evil\7example\0\0\1\0\1";
    uint8_t back[512];

    BEGIN("allow good.example:7\n");
    int fd = world_connect(&run, "9.9.9.9", 53);
    CHECK(fd >= 0 && world_send(fd, two, sizeof two - 1));
    CHECK(recv(fd, back, 2 + 30 + 16, MSG_WAITALL) == 48);
    CHECK(back[3] == 7 && (back[5] & 15) == 0 && memcmp(back + 44, "\xc6\x12\1\0", 4) == 0);
    CHECK(recv(fd, back, 2 + 30, MSG_WAITALL) == 32);
    CHECK(back[3] == 8 && (back[5] & 15) == 3);
    (void)close(fd);
    END();
}

/* ---- ports in and out */

static void begin_with(const char *rules, struct gate_inside *inside)
{
    const char *why = world_enter();

    if (why)
        SKIP(why);
    gate_start(&run, rules, inside);
}

TEST(a_port_of_the_host_can_be_reached)
{
    struct gate_inside inside = { .reach = { 7, 4444 }, .n_reach = 2 };

    begin_with("reach 7\nreach 4444\n", &inside);
    int fd = world_connect(&run, "127.0.0.1", 7);
    CHECK(echoes(fd, "reach"));
    (void)close(fd);
    fd = world_connect(&run, "::1", 7);
    CHECK(echoes(fd, "reach"));
    (void)close(fd);
    CHECK(is_reset(world_connect(&run, "127.0.0.1", 4444)));
    const struct gate_event *event = gate_wait(&run, GATE_EVENT_UPSTREAM, "127.0.0.1");
    CHECK(event && event->port == 4444 && event->error == ECONNREFUSED);
    /* Others of the host are not there. */
    CHECK(world_connect(&run, "127.0.0.1", 9000) == -ECONNREFUSED);
    END();
}

static int connect_outside(uint16_t port)
{
    const struct timeval patience = { .tv_sec = WORLD_PATIENCE_MS / 1000 };
    const struct sockaddr_in to = { .sin_family = AF_INET,
                                    .sin_port = htons(port),
                                    .sin_addr = { htonl(INADDR_LOOPBACK) } };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0);
    CHECK(connect(fd, (const struct sockaddr *)&to, sizeof to) == 0);
    return fd;
}

static int listen_inside(uint16_t port)
{
    const struct sockaddr_in own = { .sin_family = AF_INET,
                                     .sin_port = htons(port),
                                     .sin_addr = { htonl(INADDR_LOOPBACK) } };
    int fd = world_socket(&run, AF_INET, SOCK_STREAM);

    CHECK(bind(fd, (const struct sockaddr *)&own, sizeof own) == 0 && listen(fd, 64) == 0);
    return fd;
}

TEST(a_port_of_the_box_can_be_published)
{
    struct gate_inside inside = { .has_publish = true };
    char bytes[64] = "";

    begin_with("publish 127.0.0.1 8080 3000\n", &inside);
    CHECK(is_reset(connect_outside(8080))); /* nobody listens yet */
    int listener = listen_inside(3000);
    for (int i = 0; i < 20; i++) {
        int out = connect_outside(8080);
        int in = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

        CHECK(in >= 0 && say(out, "GET") && recv(in, bytes, 3, MSG_WAITALL) == 3);
        CHECK(say(in, "here it is") && shutdown(in, SHUT_WR) == 0);
        CHECK(world_read_all(out, bytes, sizeof bytes) == 10);
        CHECK_STR(bytes, "here it is");
        (void)close(in);
        (void)close(out);
    }
    (void)close(listener);
    END();
}

TEST(many_publish_at_once)
{
    struct gate_inside inside = { .has_publish = true };
    int out[50];
    int in[50];

    begin_with("publish 127.0.0.1 8080 3000\n", &inside);
    int listener = listen_inside(3000);
    for (int i = 0; i < 50; i++)
        out[i] = connect_outside(8080);
    for (int i = 0; i < 50; i++) {
        in[i] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        CHECK(in[i] >= 0);
    }
    for (int i = 0; i < 50; i++) {
        char byte = 0;

        CHECK(say(out[i], "x"));
        (void)shutdown(out[i], SHUT_WR);
        CHECK(recv(in[i], &byte, 1, 0) == 1 && byte == 'x' && recv(in[i], &byte, 1, 0) == 0);
        (void)close(in[i]);
        (void)close(out[i]);
    }
    (void)close(listener);
    END();
}

/* The listener from which sockets inside are made: code in the box may find it. */
static int connect_to_maker(void)
{
    int fd = -1;

    for (unsigned port = 65535; fd < 0 && port >= 1024; port--) {
        struct sockaddr_in own = { 0 };
        socklen_t size = sizeof own;

        fd = world_connect(&run, "127.0.0.1", (uint16_t)port);
        if (fd >= 0 && getsockname(fd, (struct sockaddr *)&own, &size) == 0 &&
            ntohs(own.sin_port) == port) { /* it has met itself */
            (void)close(fd);
            fd = -1;
        }
    }
    return fd;
}

TEST(publishing_without_descriptors_does_not_spin)
{
    struct gate_inside inside = { .has_publish = true };
    const struct rlimit few = { 8, 1000 };
    const struct rlimit many = { 1000, 1000 };

    begin_with("publish 127.0.0.1 8080 3000\n", &inside);
    CHECK(prlimit(run.pid, RLIMIT_NOFILE, &few, NULL) == 0);
    int fd = connect_to_maker();
    CHECK(fd >= 0);
    unsigned long before = cpu_ms(run.pid);
    (void)poll(NULL, 0, 500);
    CHECK(cpu_ms(run.pid) - before < 250);
    CHECK(prlimit(run.pid, RLIMIT_NOFILE, &many, NULL) == 0);
    CHECK(is_reset(fd)); /* a stranger, and it is looked at again */
    END();
}

TEST(a_port_that_is_taken_cannot_be_published)
{
    struct gate_inside inside = { .has_publish = true };

    begin_with("publish 127.0.0.1 9000 3000\n", &inside);
    const struct gate_event *event = gate_wait(&run, GATE_EVENT_READY, NULL);
    CHECK(event && event->error == EADDRINUSE);
    CHECK_STR(event->detail, "publish port 9000");
    CHECK(gate_stop(&run) == 1);
}

/* ---- the proxy */

static int begin_proxy(const char *rules)
{
    struct gate_inside inside = { .has_proxy = true };

    begin_with(rules, &inside);
    return world_connect(&run, "127.0.0.1", GATE_INSIDE_PROXY);
}

TEST(the_proxy_takes_connect)
{
    char back[1024];
    uint8_t hello[512];
    size_t n = world_hello(hello, "evil.example");

    int fd = begin_proxy("allow good.example\nproxy yes\n");
    CHECK(say(fd, "CONNECT good.example:7 HTTP/1.1\r\nHost: good.example:7\r\n\r\n"));
    CHECK(recv(fd, back, 39, MSG_WAITALL) == 39 && strncmp(back, "HTTP/1.1 200", 12) == 0);
    CHECK(echoes(fd, "through"));
    (void)close(fd);
    /* Another host: the proxy says so itself. */
    fd = world_connect(&run, "127.0.0.1", GATE_INSIDE_PROXY);
    CHECK(request(fd, "CONNECT evil.example:7 HTTP/1.1\r\nHost: evil.example:7\r\n\r\n", back,
                  sizeof back) > 0);
    CHECK(strncmp(back, "HTTP/1.1 403", 12) == 0);
    (void)close(fd);
    const struct gate_event *event = gate_wait(&run, GATE_EVENT_CONNECT, "evil.example");
    CHECK(event && event->port == 7);
    /* What goes through is looked at as well. */
    fd = world_connect(&run, "127.0.0.1", GATE_INSIDE_PROXY);
    CHECK(say(fd, "CONNECT good.example:443 HTTP/1.1\r\nHost: good.example:443\r\n\r\n"));
    CHECK(recv(fd, back, 39, MSG_WAITALL) == 39 && strncmp(back, "HTTP/1.1 200", 12) == 0);
    CHECK(world_send(fd, hello, n));
    CHECK(world_read_all(fd, back, sizeof back) == 7 && memcmp(back, ALERT, 7) == 0);
    (void)close(fd);
    /* A host that does not answer. */
    fd = world_connect(&run, "127.0.0.1", GATE_INSIDE_PROXY);
    CHECK(request(fd, "CONNECT good.example:4444 HTTP/1.1\r\nHost: good.example:4444\r\n\r\n", back,
                  sizeof back) > 0);
    CHECK(strncmp(back, "HTTP/1.1 502", 12) == 0 && strstr(back, "refused"));
    (void)close(fd);
    END();
}

TEST(a_second_connect_is_only_bytes_for_the_first)
{
    char back[1024];

    int fd = begin_proxy("allow good.example\nproxy yes\n");
    CHECK(say(fd, "CONNECT good.example:80 HTTP/1.1\r\nHost: good.example:80\r\n\r\n"));
    CHECK(recv(fd, back, 39, MSG_WAITALL) == 39 && strncmp(back, "HTTP/1.1 200", 12) == 0);
    CHECK(request(fd, "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n", back,
                  sizeof back) > 0);
    CHECK(strncmp(back, "HTTP/1.1 403", 12) == 0);
    (void)close(fd);
    END();
}

TEST(the_proxy_takes_socks5)
{
    uint8_t back[64];

    int fd = begin_proxy("allow good.example:7\nproxy yes\n");
    CHECK(world_send(fd, "\5\1\0", 3));
    CHECK(recv(fd, back, 2, MSG_WAITALL) == 2 && memcmp(back, "\5\0", 2) == 0);
    CHECK(world_send(fd, "\5\1\0\3\x0cgood.example\0\7", 19));
    CHECK(recv(fd, back, 10, MSG_WAITALL) == 10 && memcmp(back, "\5\0\0\1", 4) == 0);
    CHECK(echoes(fd, "socks"));
    (void)close(fd);
    fd = world_connect(&run, "127.0.0.1", GATE_INSIDE_PROXY);
    CHECK(world_send(fd, "\5\1\0\5\1\0\1\x0b\0\0\5\0\7", 13)); /* at once, and by address */
    CHECK(recv(fd, back, 12, MSG_WAITALL) == 12 && memcmp(back + 2, "\5\2\0\1", 4) == 0);
    (void)close(fd);
    CHECK(gate_wait(&run, GATE_EVENT_CONNECT, "11.0.0.5"));
    END();
}

/* ---- while it runs */

TEST(rules_may_come_later)
{
    char address[64];

    BEGIN("allow good.example:7\n");
    CHECK(world_lookup(&run, "1.1.1.1", "other.example", 1, address) == 3);
    CHECK(send(run.socket_fd, "allow other.example:7", 21, 0) == 21);
    int64_t end = clock_now_ms() + WORLD_PATIENCE_MS;
    while (world_lookup(&run, "1.1.1.1", "other.example", 1, address) != 0)
        CHECK(clock_now_ms() < end);
    int other = world_connect(&run, address, 7);
    CHECK(echoes(other, "allowed now"));
    int good = world_connect_name(&run, "good.example", 7);
    CHECK(echoes(good, "allowed still"));
    /* What is denied ends. */
    CHECK(send(run.socket_fd, "deny other.example\n", 19, 0) == 19);
    CHECK(is_reset(other));
    CHECK(echoes(good, "allowed still"));
    (void)close(good);
    const struct gate_event *event = gate_wait(&run, GATE_EVENT_CONNECT, "other.example");
    CHECK(event && event->rule == 2);
    END();
}

TEST(it_ends_with_its_supervisor)
{
    int status = 0;

    BEGIN("allow good.example:7\n");
    int fd = world_connect_name(&run, "good.example", 7);
    CHECK(echoes(fd, "x"));
    (void)close(run.socket_fd);
    CHECK(waitpid(run.pid, &status, 0) == run.pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    char byte;
    CHECK(recv(fd, &byte, 1, 0) <= 0);
    (void)close(fd);
    CHECK(world_connect(&run, "198.18.1.0", 7) < 0);
    (void)close(run.inner_ns);
    (void)close(run.outer_ns);
}

TEST(it_has_given_up_what_it_could_do)
{
    static const char *const lines[] = { "CapEff:\t0000000000000000", "CapPrm:\t0000000000000000",
                                         "NoNewPrivs:\t1", "Seccomp:\t2" };
    char path[64];
    char text[4096] = "";

    BEGIN("allow good.example:7\n");
    (void)snprintf(path, sizeof path, "/proc/%d/status", (int)run.pid);
    FILE *file = fopen(path, "re");
    CHECK(file && fread(text, 1, sizeof text - 1, file) > 0);
    (void)fclose(file);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        CHECK(strstr(text, lines[i]));
    END();
}
