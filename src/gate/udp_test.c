/* Datagrams that a rule names. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/gate_protocol.h"
#include "test/gate_checks.h"

#define BEGIN_UDP(rules, ...)                                                  \
    do {                                                                       \
        static const uint16_t ports[] = { __VA_ARGS__ };                       \
        struct gate_inside inside = { .n_udp = sizeof ports / sizeof *ports }; \
        memcpy(inside.udp, ports, sizeof ports);                               \
        begin_with(rules, &inside);                                            \
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
