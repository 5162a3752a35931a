/* Where names lead. */
#include <errno.h>
#include <unistd.h>

#include "net/gate_protocol.h"
#include "test/gate_checks.h"

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
