#include "udp.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/siphash.h"
#include "gate/own.h"
#include "net/socket.h"

#define AT_ONCE       64 /* then others are served */
#define FLOWS_MOST    256
#define N_SLOTS       256
#define WAITING_EACH  8            /* datagrams of a flow that is not connected yet */
#define WAITING_BYTES (256 * 1024) /* of all flows together */

struct inner {
    struct loop_source source;
    uint16_t port;
};

struct waiting {
    struct waiting *next;
    size_t n;
    uint8_t bytes[];
};

struct key {
    uint8_t client[ADDRESS_BYTES];
    uint8_t destination[ADDRESS_BYTES];
    uint16_t client_port, port;
};

struct flow {
    struct loop_dead dead;
    struct loop_source far;
    struct gate_waiter waiter;
    struct loop_timer timer; /* in the order in which they were used last */
    struct flow *next;       /* in its slot */
    struct key key;
    const struct inner *inner;
    struct gate_name *name;               /* NULL: an address */
    struct waiting *first_waiting, **end; /* until it is connected */
    unsigned n_waiting;
    bool is_ipv6; /* the socket inside, whatever the addresses are */
};

struct gate_udp {
    struct inner inner[GATE_RULES_MOST_UDP];
    size_t n_inner;
    struct flow *slots[N_SLOTS];
    unsigned n_flows;
    size_t waiting_bytes;
};

static struct flow **slot_of(const struct gate *gate, const struct key *key)
{
    return &gate->udp->slots[siphash(gate->names.hash_key, key, sizeof *key) % N_SLOTS];
}

static struct flow *find(const struct gate *gate, const struct key *key)
{
    struct flow *flow = *slot_of(gate, key);

    while (flow && memcmp(&flow->key, key, sizeof *key) != 0)
        flow = flow->next;
    return flow;
}

static void record(struct gate *gate, const struct gate_name *name, const struct key *key,
                   const struct gate_event *what)
{
    struct gate_event event = *what;

    event.port = key->port;
    event.is_udp = 1;
    if (name)
        (void)strncpy(event.name, name->text, sizeof event.name - 1);
    else
        (void)address_format(key->destination, event.name);
    gate_events_add(gate, &event);
}

static void record_failed(struct gate *gate, const struct flow *flow, int error)
{
    record(gate, flow->name, &flow->key,
           &(struct gate_event){ .kind = GATE_EVENT_UPSTREAM, .rule = -1, .error = error });
}

/* ---- the end of a flow */

static void forget_waiting(struct gate *gate, struct flow *flow)
{
    while (flow->first_waiting) {
        struct waiting *first = flow->first_waiting;

        flow->first_waiting = first->next;
        gate->udp->waiting_bytes -= first->n;
        free(first);
    }
    flow->end = &flow->first_waiting;
}

static void end_flow(struct gate *gate, struct flow *flow)
{
    struct flow **at = slot_of(gate, &flow->key);

    while (*at != flow)
        at = &(*at)->next;
    *at = flow->next;
    gate->udp->n_flows--;
    loop_close(&flow->far);
    loop_stop(&flow->timer);
    gate_resolver_forget(&flow->waiter);
    forget_waiting(gate, flow);
    loop_free(&gate->loop, &flow->dead);
}

static void is_idle(struct gate *gate, struct loop_timer *timer)
{
    end_flow(gate, LOOP_CONTAINER(timer, struct flow, timer));
}

static void was_used(struct gate *gate, struct flow *flow)
{
    loop_set(&gate->loop, &flow->timer, LOOP_DELAY_FLOW);
}

/* ---- datagrams to the host */

static void send_on(struct gate *gate, const struct flow *flow, const void *bytes, size_t n)
{
    ssize_t sent = send(flow->far.fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);

    /* That was what an earlier one has met, and this one has not left. */
    if (sent < 0 && errno == ECONNREFUSED) {
        record_failed(gate, flow, errno);
        sent = send(flow->far.fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    if (sent < 0 && errno != EAGAIN)
        record_failed(gate, flow, errno);
}

/* More than can be kept is lost, as datagrams are. */
static void keep_waiting(struct gate *gate, struct flow *flow, const void *bytes, size_t n)
{
    if (flow->n_waiting == WAITING_EACH || gate->udp->waiting_bytes + n > WAITING_BYTES)
        return;
    struct waiting *waiting = malloc(sizeof *waiting + n);
    if (!waiting)
        return;
    waiting->next = NULL;
    waiting->n = n;
    memcpy(waiting->bytes, bytes, n);
    *flow->end = waiting;
    flow->end = &waiting->next;
    flow->n_waiting++;
    gate->udp->waiting_bytes += n;
}

/* ---- datagrams from the host */

/* From the address that was asked to whoever asked. */
static void send_back(const struct flow *flow, const void *bytes, size_t n)
{
    const struct key *key = &flow->key;
    struct iovec io = { (void *)(uintptr_t)bytes, n };
    struct sockaddr_in6 to6 = { .sin6_family = AF_INET6, .sin6_port = htons(key->client_port) };
    struct sockaddr_in to4 = { .sin_family = AF_INET, .sin_port = htons(key->client_port) };
    struct in6_pktinfo from6 = { 0 };
    struct in_pktinfo from4 = { 0 };
    union {
        char space[CMSG_SPACE(sizeof from6)];
        struct cmsghdr header;
    } control = { .space = { 0 } };
    struct msghdr header = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = control.space };

    if (flow->is_ipv6) {
        memcpy(&to6.sin6_addr, key->client, sizeof to6.sin6_addr);
        memcpy(&from6.ipi6_addr, key->destination, sizeof from6.ipi6_addr);
        control.header.cmsg_level = IPPROTO_IPV6;
        control.header.cmsg_type = IPV6_PKTINFO;
        control.header.cmsg_len = CMSG_LEN(sizeof from6);
        memcpy(CMSG_DATA(&control.header), &from6, sizeof from6);
        header.msg_name = &to6;
        header.msg_namelen = sizeof to6;
        header.msg_controllen = CMSG_SPACE(sizeof from6);
    } else {
        memcpy(&to4.sin_addr, key->client + 12, sizeof to4.sin_addr);
        memcpy(&from4.ipi_spec_dst, key->destination + 12, sizeof from4.ipi_spec_dst);
        control.header.cmsg_level = IPPROTO_IP;
        control.header.cmsg_type = IP_PKTINFO;
        control.header.cmsg_len = CMSG_LEN(sizeof from4);
        memcpy(CMSG_DATA(&control.header), &from4, sizeof from4);
        header.msg_name = &to4;
        header.msg_namelen = sizeof to4;
        header.msg_controllen = CMSG_SPACE(sizeof from4);
    }
    (void)sendmsg(flow->inner->source.fd, &header, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void host_answered(struct gate *gate, struct loop_source *source, uint32_t events)
{
    struct flow *flow = LOOP_CONTAINER(source, struct flow, far);

    (void)events;
    for (int i = 0; i < AT_ONCE; i++) {
        ssize_t n = recv(source->fd, gate->scratch, GATE_SCRATCH, MSG_DONTWAIT);

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n < 0) { /* what one of ours has met */
            record_failed(gate, flow, errno);
            continue;
        }
        send_back(flow, gate->scratch, (size_t)n);
        was_used(gate, flow);
    }
}

/* ---- where to */

/* 0 or -errno. */
static int connect_to(struct gate *gate, struct flow *flow, const uint8_t address[ADDRESS_BYTES])
{
    /* What is too long for the way goes in pieces: the program inside cannot be told of it. */
    const int never = IP_PMTUDISC_DONT;
    struct sockaddr_storage name;
    socklen_t size = gate_socket_write(address, flow->key.port, &name);
    bool is_ipv4 = name.ss_family == AF_INET;

    flow->far.fd = socket(name.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (flow->far.fd < 0)
        return -errno;
    (void)setsockopt(flow->far.fd, is_ipv4 ? IPPROTO_IP : IPPROTO_IPV6,
                     is_ipv4 ? IP_MTU_DISCOVER : IPV6_MTU_DISCOVER, &never, sizeof never);
    int r = connect(flow->far.fd, (const struct sockaddr *)&name, size) < 0 ? -errno : 0;
    if (r == 0)
        r = loop_add(&gate->loop, &flow->far, EPOLLIN);
    if (r < 0)
        loop_close(&flow->far);
    return r;
}

static void connected(struct gate *gate, struct flow *flow)
{
    for (const struct waiting *at = flow->first_waiting; at; at = at->next)
        send_on(gate, flow, at->bytes, at->n);
    forget_waiting(gate, flow);
}

static void not_connected(struct gate *gate, struct flow *flow, int error)
{
    record_failed(gate, flow, error);
    end_flow(gate, flow);
}

static void record_answer(struct gate *gate, const struct flow *flow,
                          const uint8_t address[ADDRESS_BYTES], int32_t rule)
{
    struct gate_event event = { .kind = GATE_EVENT_ANSWER, .rule = rule };
    char text[ADDRESS_TEXT_MAX];

    (void)address_format(address, text);
    (void)snprintf(event.detail, sizeof event.detail, "%s (%s)", text,
                   gate_own_class(gate, address));
    record(gate, flow->name, &flow->key, &event);
}

/* Nobody can say which of its addresses answers, so it is the first that there is a way to. */
static void answered(struct gate *gate, struct gate_waiter *waiter,
                     const struct gate_answer *answer)
{
    struct flow *flow = LOOP_CONTAINER(waiter, struct flow, waiter);
    int error = answer->n > 0 ? 0 : answer->error;

    gate_own_know(gate);
    for (unsigned i = 0; i < answer->n; i++) {
        struct gate_decision decision = gate_rules_answer(
            &gate->rules, flow->name->text, answer->addresses[i], flow->key.port, true);

        if (decision.verdict != HOST_ALLOWED) {
            record_answer(gate, flow, answer->addresses[i], decision.rule);
            continue;
        }
        error = -connect_to(gate, flow, answer->addresses[i]);
        if (error == 0) {
            connected(gate, flow);
            return;
        }
    }
    if (error)
        not_connected(gate, flow, error);
    else
        end_flow(gate, flow);
}

static void begin(struct gate *gate, struct flow *flow)
{
    if (flow->name) {
        gate_resolver_ask(gate, flow->name, &flow->waiter);
        return;
    }
    int r = connect_to(gate, flow, flow->key.destination);
    if (r < 0)
        not_connected(gate, flow, -r);
    else
        connected(gate, flow);
}

/* ---- what comes from the box */

static struct gate_decision decide(const struct gate *gate, const struct gate_name *name,
                                   const struct key *key)
{
    bool is_ours;

    if (name)
        return gate_rules_name(&gate->rules, name->text, key->port, true);
    /* The box's own loopback leads to the host's at this port, where a rule says so. */
    if (address_class(key->destination) == ADDRESS_LOOPBACK)
        return gate_rules_answer(&gate->rules, "localhost", key->destination, key->port, true);
    (void)gate_names_find(&gate->names, key->destination, &is_ours);
    if (is_ours)
        return (struct gate_decision){ HOST_NO_RULE, -1, false };
    return gate_rules_address(&gate->rules, key->destination, key->port, true);
}

static void make_room(struct gate *gate)
{
    struct loop_timer *oldest = loop_first(&gate->loop, LOOP_DELAY_FLOW);

    if (gate->udp->n_flows == FLOWS_MOST)
        end_flow(gate, LOOP_CONTAINER(oldest, struct flow, timer));
}

/* NULL: it is refused, or there is no memory. */
static struct flow *new_flow(struct gate *gate, const struct key *key)
{
    bool is_ours;
    struct gate_name *name = gate_names_find(&gate->names, key->destination, &is_ours);

    gate_own_know(gate);
    struct gate_decision decision = decide(gate, name, key);
    if (decision.verdict != HOST_ALLOWED) {
        record(gate, name, key,
               &(struct gate_event){ .kind = GATE_EVENT_UDP, .rule = decision.rule });
        return NULL;
    }
    make_room(gate);
    struct flow *flow = calloc(1, sizeof *flow);
    if (!flow)
        return NULL;
    struct flow **slot = slot_of(gate, key);
    *flow = (struct flow){ .far = { .happened = host_answered, .fd = -1 },
                           .waiter.answered = answered,
                           .timer.fire = is_idle,
                           .next = *slot,
                           .key = *key,
                           .name = name,
                           .end = &flow->first_waiting };
    *slot = flow;
    gate->udp->n_flows++;
    return flow;
}

static void datagram_came(struct gate *gate, const struct inner *inner, const struct key *key,
                          bool is_ipv6, size_t n)
{
    struct flow *flow = find(gate, key);

    if (flow && flow->far.fd >= 0) {
        was_used(gate, flow);
        send_on(gate, flow, gate->scratch, n);
        return;
    }
    if (flow) {
        keep_waiting(gate, flow, gate->scratch, n);
        return;
    }
    flow = new_flow(gate, key);
    if (!flow)
        return;
    flow->inner = inner;
    flow->is_ipv6 = is_ipv6;
    was_used(gate, flow);
    keep_waiting(gate, flow, gate->scratch, n); /* what finds the name uses the scratch */
    begin(gate, flow);
}

/* False: the kernel has not said where it was for. */
static bool read_destination(struct msghdr *header, uint8_t address[ADDRESS_BYTES])
{
    for (struct cmsghdr *at = CMSG_FIRSTHDR(header); at; at = CMSG_NXTHDR(header, at)) {
        if (at->cmsg_level == IPPROTO_IPV6 && at->cmsg_type == IPV6_PKTINFO) {
            struct in6_pktinfo info;

            memcpy(&info, CMSG_DATA(at), sizeof info);
            memcpy(address, &info.ipi6_addr, ADDRESS_BYTES);
            return true;
        }
        if (at->cmsg_level == IPPROTO_IP && at->cmsg_type == IP_PKTINFO) {
            struct in_pktinfo info;

            memcpy(&info, CMSG_DATA(at), sizeof info);
            address_from_v4((const uint8_t *)&info.ipi_addr, address);
            return true;
        }
    }
    return false;
}

static void box_sent(struct gate *gate, struct loop_source *source, uint32_t events)
{
    const struct inner *inner = LOOP_CONTAINER(source, struct inner, source);
    struct sockaddr_storage from;
    union {
        char space[CMSG_SPACE(sizeof(struct in6_pktinfo)) + 64];
        struct cmsghdr header;
    } control;

    (void)events;
    for (int i = 0; i < AT_ONCE; i++) {
        struct iovec io = { gate->scratch, GATE_SCRATCH };
        struct msghdr header = { .msg_name = &from,
                                 .msg_namelen = sizeof from,
                                 .msg_iov = &io,
                                 .msg_iovlen = 1,
                                 .msg_control = control.space,
                                 .msg_controllen = sizeof control.space };
        struct key key = { .port = inner->port };
        ssize_t n = recvmsg(source->fd, &header, MSG_DONTWAIT);

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n < 0 || !read_destination(&header, key.destination)) /* what an earlier one has met */
            continue;
        gate_socket_read(&from, key.client, &key.client_port);
        datagram_came(gate, inner, &key, from.ss_family == AF_INET6, (size_t)n);
    }
}

int gate_udp_serve(struct gate *gate, uint16_t port, int fd)
{
    if (!gate->udp)
        gate->udp = calloc(1, sizeof *gate->udp);
    if (!gate->udp || gate->udp->n_inner == GATE_RULES_MOST_UDP) {
        (void)close(fd);
        return gate->udp ? -E2BIG : -ENOMEM;
    }
    struct inner *inner = &gate->udp->inner[gate->udp->n_inner++];
    *inner = (struct inner){ { .happened = box_sent, .fd = fd }, port };
    int r = loop_add(&gate->loop, &inner->source, EPOLLIN);
    if (r < 0)
        loop_close(&inner->source);
    return r;
}

void gate_udp_judge_all(struct gate *gate)
{
    for (unsigned i = 0; gate->udp && i < N_SLOTS; i++) {
        struct flow *next;

        for (struct flow *at = gate->udp->slots[i]; at; at = next) {
            next = at->next;
            struct gate_decision decision = decide(gate, at->name, &at->key);
            if (decision.verdict == HOST_ALLOWED)
                continue;
            record(gate, at->name, &at->key,
                   &(struct gate_event){ .kind = GATE_EVENT_UDP, .rule = decision.rule });
            end_flow(gate, at);
        }
    }
}
