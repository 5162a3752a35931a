/* CONNECT and SOCKS5, for programs that insist. */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/gate_protocol.h"
#include "test/gate_checks.h"

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
