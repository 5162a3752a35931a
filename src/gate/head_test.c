/* What a connection says first: hellos, and bytes that change while they are looked at. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/gate_protocol.h"
#include "test/gate_changing.h"
#include "test/gate_checks.h"

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

/* ---- bytes that change while they wait in a socket */

TEST(a_request_that_changes_after_it_was_judged_goes_on_as_it_was)
{
    static const char text[] = "GET / HTTP/1.1\r\nHost: good.example\r\n\r\n";
    char back[4096];
    int n_answered = 0;

    BEGIN("allow good.example\n");
    changing_begin(text, sizeof text - 1, (size_t)(strstr(text, "good") - text), "good", "evil");
    for (int i = 0; i < 200; i++) {
        int fd = world_connect_name(&run, "good.example", 80);

        changing_send(fd);
        ssize_t n = recv(fd, back, sizeof back - 1, 0);
        back[n > 0 ? n : 0] = 0;
        n_answered += strncmp(back, "HTTP/1.1 200", 12) == 0;
        CHECK(!strstr(back, "Host: evil"));
        (void)close(fd);
    }
    changing_end();
    CHECK(n_answered > 0);
    END();
}

static int connect_443(const char *host)
{
    return world_connect_name(&run, host, 443);
}

TEST(a_hello_that_changes_after_it_was_judged_goes_on_as_it_was)
{
    BEGIN("allow good.example\n");
    changing_hellos("good.example", "evil.example", 200, connect_443);
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
