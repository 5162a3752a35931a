/* The whole program, with real sockets: see test/gate_world.h. Its parts have tests of their own. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "net/gate_protocol.h"
#include "test/gate_checks.h"

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

TEST(single_listeners_do_where_there_are_no_tables)
{
    struct gate_inside inside = { .ports = { 7007, 9000 }, .n_ports = 2 };

    world_has_no_tables = true;
    begin_with("allow good.example:9000\n", &inside);
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
