/* Names that are asked for: which are answered, and how much of it. */
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/gate_protocol.h"
#include "test/gate_checks.h"

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
