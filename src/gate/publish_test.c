/* Ports in and out. */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/gate_protocol.h"
#include "test/gate_checks.h"

TEST(a_port_of_the_host_can_be_reached)
{
    struct gate_inside inside = { .reach = { 7, 4444 }, .n_reach = 2 };

    begin_with("reach 7\nreach 4444\n", &inside);
    int fd = world_connect(&run, "127.0.0.1", 7);
    CHECK(echoes(fd, "reach"));
    (void)close(fd);
    fd = world_connect(&run, "::1", 7);
    CHECK(echoes(fd, "reach"));
    (void)close(fd);
    CHECK(is_reset(world_connect(&run, "127.0.0.1", 4444)));
    const struct gate_event *event = gate_wait(&run, GATE_EVENT_UPSTREAM, "127.0.0.1");
    CHECK(event && event->port == 4444 && event->error == ECONNREFUSED);
    /* Others of the host are not there. */
    CHECK(world_connect(&run, "127.0.0.1", 9000) == -ECONNREFUSED);
    END();
}

static int connect_outside(uint16_t port)
{
    const struct timeval patience = { .tv_sec = WORLD_PATIENCE_MS / 1000 };
    const struct sockaddr_in to = { .sin_family = AF_INET,
                                    .sin_port = htons(port),
                                    .sin_addr = { htonl(INADDR_LOOPBACK) } };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0);
    CHECK(connect(fd, (const struct sockaddr *)&to, sizeof to) == 0);
    return fd;
}

static int listen_inside(uint16_t port)
{
    const struct sockaddr_in own = { .sin_family = AF_INET,
                                     .sin_port = htons(port),
                                     .sin_addr = { htonl(INADDR_LOOPBACK) } };
    int fd = world_socket(&run, AF_INET, SOCK_STREAM);

    CHECK(bind(fd, (const struct sockaddr *)&own, sizeof own) == 0 && listen(fd, 64) == 0);
    return fd;
}

TEST(a_port_of_the_box_can_be_published)
{
    struct gate_inside inside = { .has_publish = true };
    char bytes[64] = "";

    begin_with("publish 127.0.0.1 8080 3000\n", &inside);
    CHECK(is_reset(connect_outside(8080))); /* nobody listens yet */
    int listener = listen_inside(3000);
    for (int i = 0; i < 20; i++) {
        int out = connect_outside(8080);
        int in = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

        CHECK(in >= 0 && say(out, "GET") && recv(in, bytes, 3, MSG_WAITALL) == 3);
        CHECK(say(in, "here it is") && shutdown(in, SHUT_WR) == 0);
        CHECK(world_read_all(out, bytes, sizeof bytes) == 10);
        CHECK_STR(bytes, "here it is");
        (void)close(in);
        (void)close(out);
    }
    (void)close(listener);
    END();
}

TEST(many_publish_at_once)
{
    struct gate_inside inside = { .has_publish = true };
    int out[50];
    int in[50];

    begin_with("publish 127.0.0.1 8080 3000\n", &inside);
    int listener = listen_inside(3000);
    for (int i = 0; i < 50; i++)
        out[i] = connect_outside(8080);
    for (int i = 0; i < 50; i++) {
        in[i] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        CHECK(in[i] >= 0);
    }
    for (int i = 0; i < 50; i++) {
        char byte = 0;

        CHECK(say(out[i], "x"));
        (void)shutdown(out[i], SHUT_WR);
        CHECK(recv(in[i], &byte, 1, 0) == 1 && byte == 'x' && recv(in[i], &byte, 1, 0) == 0);
        (void)close(in[i]);
        (void)close(out[i]);
    }
    (void)close(listener);
    END();
}

/* The listener from which sockets inside are made: code in the box may find it. */
static int connect_to_maker(void)
{
    int fd = -1;

    for (unsigned port = 65535; fd < 0 && port >= 1024; port--) {
        struct sockaddr_in own = { 0 };
        socklen_t size = sizeof own;

        fd = world_connect(&run, "127.0.0.1", (uint16_t)port);
        if (fd >= 0 && getsockname(fd, (struct sockaddr *)&own, &size) == 0 &&
            ntohs(own.sin_port) == port) { /* it has met itself */
            (void)close(fd);
            fd = -1;
        }
    }
    return fd;
}

TEST(publishing_without_descriptors_does_not_spin)
{
    struct gate_inside inside = { .has_publish = true };
    const struct rlimit few = { 8, 1000 };
    const struct rlimit many = { 1000, 1000 };

    begin_with("publish 127.0.0.1 8080 3000\n", &inside);
    CHECK(prlimit(run.pid, RLIMIT_NOFILE, &few, NULL) == 0);
    int fd = connect_to_maker();
    CHECK(fd >= 0);
    unsigned long before = cpu_ms(run.pid);
    (void)poll(NULL, 0, 500);
    CHECK(cpu_ms(run.pid) - before < 250);
    CHECK(prlimit(run.pid, RLIMIT_NOFILE, &many, NULL) == 0);
    CHECK(is_reset(fd)); /* a stranger, and it is looked at again */
    END();
}

TEST(a_port_that_is_taken_cannot_be_published)
{
    struct gate_inside inside = { .has_publish = true };

    begin_with("publish 127.0.0.1 9000 3000\n", &inside);
    const struct gate_event *event = gate_wait(&run, GATE_EVENT_READY, NULL);
    CHECK(event && event->error == EADDRINUSE);
    CHECK_STR(event->detail, "publish port 9000");
    CHECK(gate_stop(&run) == 1);
}
