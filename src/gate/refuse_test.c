/* What no rule allows is refused at once, and told. */
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "net/gate_protocol.h"
#include "test/gate_checks.h"

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
