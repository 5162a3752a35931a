/* Requests on a connection, one after the other. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/gate_protocol.h"
#include "test/gate_checks.h"

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
        "GET http://good.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        "GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        "GET http://good.example:81/ HTTP/1.1\r\nHost: good.example:81\r\n\r\n",
        "GET http://good.example@evil.example/ HTTP/1.1\r\nHost: good.example\r\n\r\n",
        "GET http://11.0.0.5/ HTTP/1.1\r\nHost: 11.0.0.5\r\n\r\n",
        "GET https://good.example/ HTTP/1.1\r\nHost: good.example\r\n\r\n",
        "GET http://good.example/ HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: good.example\r\nConnection: close, Host\r\n\r\n",
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

TEST(a_request_that_names_its_host_in_the_first_line_too_passes_where_all_agree)
{
    static const char *const requests[] = {
        "GET http://good.example/1 HTTP/1.1\r\nHost: good.example\r\n\r\n",
        "GET HTTP://GOOD.example:80/1 HTTP/1.1\r\nHost: Good.Example\r\n\r\n",
        "GET http://good.example./1 HTTP/1.1\r\nHost: good.example:80\r\n\r\n",
        "GET http://good.example HTTP/1.1\r\nHost: good.example\r\n\r\n",
    };
    char back[4096];

    BEGIN("allow good.example\n");
    int fd = world_connect_name(&run, "good.example", 80);
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        CHECK(request(fd, requests[i], back, sizeof back) > 0);
        CHECK(strncmp(back, "HTTP/1.1 200", 12) == 0 && strstr(back, requests[i]));
    }
    CHECK(request(fd, requests[0], back, sizeof back) > 0);
    CHECK(request(fd, "GET http://evil.example/2 HTTP/1.1\r\nHost: evil.example\r\n\r\n", back,
                  sizeof back) > 0);
    CHECK(strncmp(back, "HTTP/1.1 403", 12) == 0 && !strstr(back, "GET "));
    (void)close(fd);
    const struct gate_event *event = gate_wait(&run, GATE_EVENT_HEAD, "good.example");
    CHECK(event);
    CHECK_STR(event->detail, "evil.example");
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
