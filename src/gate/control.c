#include "control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "gate/connection.h"
#include "gate/credential.h"
#include "gate/dial.h"
#include "gate/dns.h"
#include "gate/listen.h"
#include "gate/log.h"
#include "gate/publish.h"
#include "gate/udp.h"

#define FDS_MOST 253 /* that the kernel passes in one message */

struct received {
    int fds[FDS_MOST];
    size_t n, next;
};

static int next_fd(struct received *received)
{
    return received->next < received->n ? take_fd(&received->fds[received->next++]) : -1;
}

int gate_control_add_names(struct gate *gate)
{
    for (size_t i = 0; i < gate->rules.n_allow; i++)
        if (gate->rules.allow[i].kind == HOST_RULE_NAME &&
            !gate_names_add(&gate->names, gate->rules.allow[i].name, false))
            return -ENOMEM;
    for (size_t i = 0; i < gate->rules.n_credentials; i++)
        if (!gate_names_add(&gate->names, gate->rules.credentials[i].name, false) ||
            !gate_names_add(&gate->names, gate->rules.credentials[i].host.name, false))
            return -ENOMEM;
    return 0;
}

/* ---- sockets of the box */

static void accepted_for_proxy(struct gate *gate, struct gate_listener *listener, int fd)
{
    struct gate_connection *connection = gate_connection_new(gate, fd);

    (void)listener;
    if (connection)
        gate_proxy_begin(gate, connection);
}

static const uint8_t loopback[ADDRESS_BYTES] = { [10] = 0xff, 0xff, 127, 0, 0, 1 };

static void accepted_for_reach(struct gate *gate, struct gate_listener *listener, int fd)
{
    struct gate_connection *connection = gate_connection_new(gate, fd);

    if (!connection)
        return;
    memcpy(connection->address, loopback, sizeof loopback);
    connection->port = listener->port;
    gate_dial_loopback(gate, connection, listener->port);
}

static int add_listener(struct gate *gate, int fd, uint16_t port,
                        void (*accepted)(struct gate *gate, struct gate_listener *listener, int fd))
{
    struct gate_listener *listener = &gate->listeners[gate->n_listeners++];

    *listener = (struct gate_listener){
        .source.fd = fd, .accepted = accepted, .port = port, .is_inner = true
    };
    return fd < 0 ? -EBADMSG : gate_listen(gate, listener);
}

static int add_reach(struct gate *gate, struct received *received)
{
    unsigned n_each = gate->sockets.has_ipv6 ? 2 : 1;

    for (unsigned i = 0; i < gate->sockets.n_reach; i++) {
        if (i / n_each >= gate->rules.n_reach)
            return -EBADMSG;
        int r = add_listener(gate, next_fd(received), gate->rules.reach[i / n_each],
                             accepted_for_reach);
        if (r < 0)
            return r;
    }
    return 0;
}

static int add_udp(struct gate *gate, struct received *received)
{
    for (unsigned i = 0; i < gate->sockets.n_udp; i++) {
        int fd = next_fd(received);

        if (fd < 0 || i >= gate->rules.n_udp) {
            close_fd(&fd);
            return -EBADMSG;
        }
        int r = gate_udp_serve(gate, gate->rules.udp[i], fd);
        if (r < 0)
            return r;
    }
    return 0;
}

/* In the order of struct gate_sockets. */
static int take_sockets(struct gate *gate, struct received *received)
{
    const struct gate_sockets *sockets = &gate->sockets;
    size_t n = (size_t)sockets->n_listeners + sockets->n_reach + 1;
    int r = 0;

    gate->listeners = calloc(n, sizeof *gate->listeners);
    if (!gate->listeners)
        return -ENOMEM;
    for (unsigned i = 0; r == 0 && i < sockets->n_listeners; i++)
        r = add_listener(gate, next_fd(received), 0, gate_connection_accepted);
    gate->dns.fd = next_fd(received);
    if (r == 0)
        r = gate->dns.fd < 0 ? -EBADMSG : gate_dns_serve(gate);
    if (r == 0 && sockets->has_log) {
        gate->log.fd = next_fd(received);
        r = gate->log.fd < 0 ? -EBADMSG : gate_log_serve(gate);
    }
    if (r == 0 && sockets->has_proxy)
        r = add_listener(gate, next_fd(received), 0, accepted_for_proxy);
    if (r == 0 && sockets->has_publish) {
        int connector = next_fd(received);
        int listener = next_fd(received);

        r = listener < 0 ? -EBADMSG : gate_publish_serve(gate, connector, listener);
    }
    if (r == 0)
        r = add_reach(gate, received);
    return r < 0 ? r : add_udp(gate, received);
}

static void sockets_came(struct gate *gate, struct received *received)
{
    struct gate_event event = { .kind = GATE_EVENT_READY, .rule = -1 };
    int r = take_sockets(gate, received);

    if (r < 0) {
        event.error = -r;
        (void)strncpy(event.detail, "use the sockets of the box", sizeof event.detail - 1);
        gate->loop.is_over = true;
    }
    gate_events_tell(&gate->events, &event);
}

/* ---- lines */

static void lines_came(struct gate *gate, char *text)
{
    size_t n_deny = gate->rules.n_deny;

    (void)gate_rules_read(&gate->rules, text, true); /* the supervisor has checked them */
    (void)gate_control_add_names(gate);
    if (gate->rules.n_deny > n_deny) {
        gate_connection_judge_all(gate);
        gate_credential_judge_all(gate);
        gate_udp_judge_all(gate);
    }
}

/* ---- messages */

static void take_fds(struct msghdr *header, struct received *received)
{
    for (struct cmsghdr *at = CMSG_FIRSTHDR(header); at; at = CMSG_NXTHDR(header, at)) {
        if (at->cmsg_level != SOL_SOCKET || at->cmsg_type != SCM_RIGHTS)
            continue;
        received->n = (at->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(received->fds, CMSG_DATA(at), received->n * sizeof(int));
    }
}

static void message_came(struct gate *gate, struct loop_source *source, uint32_t events)
{
    union {
        char space[CMSG_SPACE(FDS_MOST * sizeof(int))];
        struct cmsghdr header;
    } control;
    struct iovec io = { gate->scratch, GATE_SCRATCH - 1 };
    struct msghdr header = { .msg_iov = &io,
                             .msg_iovlen = 1,
                             .msg_control = control.space,
                             .msg_controllen = sizeof control.space };
    struct received received = { .n = 0 };
    ssize_t n = recvmsg(source->fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

    (void)events;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) { /* nothing more is heard of it */
        loop_change(&gate->loop, source, 0);
        gate->loop.is_over = true;
        return;
    }
    take_fds(&header, &received);
    gate->scratch[n] = 0;
    if (n == sizeof gate->sockets && received.n > 0 && gate->sockets.magic == 0) {
        memcpy(&gate->sockets, gate->scratch, sizeof gate->sockets);
        if (gate->sockets.magic == GATE_SOCKETS_MAGIC)
            sockets_came(gate, &received);
    } else if (received.n == 0) {
        lines_came(gate, gate->scratch);
    }
    for (size_t i = 0; i < received.n; i++)
        close_fd(&received.fds[i]);
}

int gate_control_serve(struct gate *gate)
{
    int r = gate_credential_serve(gate);

    gate->control.happened = message_came;
    return r < 0 ? r : loop_add(&gate->loop, &gate->control, EPOLLIN);
}
