/* Too much at once, and too little. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "net/gate_protocol.h"
#include "test/gate_checks.h"

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

/* One after the other, as fast as it goes: refused ones by the gate, others relayed. */
TEST(a_flood_of_connections_is_served_and_told_in_few_words)
{
    char address[64];
    unsigned n_refused = 0;
    unsigned n_served = 0;

    BEGIN("allow good.example:7\n");
    CHECK(world_lookup(&run, "1.1.1.1", "good.example", 1, address) == 0);
    for (unsigned i = 0; i < 10000; i++) {
        n_refused += is_reset(world_connect(&run, address, 8));
        if (i % 10 > 0)
            continue;
        int fd = world_connect(&run, address, 7);
        n_served += echoes(fd, "in between");
        (void)close(fd);
    }
    CHECK(n_refused == 10000 && n_served == 1000);
    END();
    CHECK(gate_wait(&run, GATE_EVENT_CONNECT, "good.example")->count == 10000);
    CHECK(run.n_events < 100);
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
