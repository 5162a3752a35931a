#include "credential.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "net/credential_protocol.h"

/* ---- what it tells */

static void record(struct gate *gate, int32_t index, const char *detail)
{
    struct gate_event event = { .kind = GATE_EVENT_CREDENTIAL, .rule = index };

    (void)strncpy(event.detail, detail, sizeof event.detail - 1);
    gate_events_add(gate, &event);
}

static void program_spoke(struct gate *gate, struct loop_source *source, uint32_t events)
{
    struct gate_event event;
    ssize_t n = recv(source->fd, &event, sizeof event, MSG_DONTWAIT);

    (void)events;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n == (ssize_t)sizeof event && event.kind == GATE_EVENT_CREDENTIAL) {
        event.name[sizeof event.name - 1] = event.detail[sizeof event.detail - 1] = '\0';
        event.count = 0;
        gate_events_add(gate, &event);
        gate->knows_why = gate->knows_why || event.rule < 0;
        return;
    }
    loop_close(source);
    if (!gate->knows_why)
        record(gate, -1, "the program that holds the secrets has ended");
}

int gate_credential_serve(struct gate *gate)
{
    gate->credential = (struct loop_source){ .happened = program_spoke, .fd = GATE_CREDENTIAL_FD };
    if (gate->rules.n_credentials > 0)
        return loop_add(&gate->loop, &gate->credential, EPOLLIN);
    gate->credential.fd = -1;
    return 0;
}

/* ---- connections */

void gate_credential_aim(struct gate *gate, struct gate_connection *connection)
{
    const struct host_rule *host = &connection->credential->host;

    connection->name = gate_names_add(&gate->names, host->name, false); /* it is there */
    connection->port = host->first_port;
}

/* 0 or -errno. */
static int send_order(const struct gate *gate, const struct credential_order *order, int near,
                      int far)
{
    const int fds[2] = { near, far };
    union {
        char space[CMSG_SPACE(sizeof fds)];
        struct cmsghdr header;
    } control = { .space = { 0 } };
    struct iovec io = { (void *)(uintptr_t)order, sizeof *order };
    struct msghdr header = { .msg_iov = &io, .msg_iovlen = 1 };

    if (near >= 0) {
        control.header.cmsg_len = CMSG_LEN(sizeof fds);
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        memcpy(CMSG_DATA(&control.header), fds, sizeof fds);
        header.msg_control = control.space;
        header.msg_controllen = sizeof control.space;
    }
    return sendmsg(gate->credential.fd, &header, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

/* They live on elsewhere, so closing them would not end their events here. */
static void forget(struct gate *gate, const struct loop_source *source)
{
    (void)epoll_ctl(gate->loop.epoll_fd, EPOLL_CTL_DEL, source->fd, NULL);
}

void gate_credential_hand_over(struct gate *gate, struct gate_connection *connection)
{
    const struct gate_event wanted = { .kind = GATE_EVENT_WANTS_CREDENTIALS, .rule = -1 };
    const struct credential_order order = { .index = (uint32_t)(connection->credential -
                                                                gate->rules.credentials) };

    if (!gate->wants_credentials)
        gate_events_add(gate, &wanted);
    gate->wants_credentials = true;
    int r = send_order(gate, &order, connection->near.fd, connection->far.fd);
    if (r < 0) {
        record(gate, (int32_t)order.index, "more requests at once than are served");
        gate_refuse(gate, connection, "the program that holds the secret cannot take the request");
        return;
    }
    forget(gate, &connection->near);
    forget(gate, &connection->far);
    gate_connection_close(gate, connection);
}

void gate_credential_judge_all(struct gate *gate)
{
    for (size_t i = 0; gate->wants_credentials && i < gate->rules.n_credentials; i++) {
        const struct credential_order order = { .index = (uint32_t)i, .is_end = 1 };

        if (gate_rules_credential_name(&gate->rules, &gate->rules.credentials[i]).verdict ==
            HOST_DENIED)
            (void)send_order(gate, &order, -1, -1);
    }
}
