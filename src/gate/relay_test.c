/* Bytes, both ways. */
#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test/gate_checks.h"

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
