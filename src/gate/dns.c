#include "dns.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "gate/connection.h"
#include "net/wire/dns_message.h"

#define TTL         60
#define AT_ONCE     64 /* then others are served */
#define QUERY_BYTES 4096

/* ---- answers */

/* A program asks for both families, and means one name. */
static bool is_second_half(struct gate *gate, const struct dns_query *query)
{
    bool is = gate->refused_type != query->type && gate->refused_type != 0 &&
              (query->type == DNS_TYPE_A || query->type == DNS_TYPE_AAAA) &&
              strcmp(gate->refused_name, query->name) == 0;

    gate->refused_type = is ? 0 : query->type;
    memcpy(gate->refused_name, query->name, sizeof query->name);
    return is;
}

static void record(struct gate *gate, const struct dns_query *query, enum gate_event_kind kind,
                   int32_t rule, const char *detail)
{
    struct gate_event event = { .kind = kind, .rule = rule };

    if (is_second_half(gate, query))
        return;
    (void)strncpy(event.name, query->name, sizeof event.name - 1);
    (void)strncpy(event.detail, detail, sizeof event.detail - 1);
    gate_events_add(gate, &event);
}

static enum dns_rcode find(struct gate *gate, const struct dns_query *query,
                           uint8_t address[ADDRESS_BYTES], bool *has_address)
{
    struct gate_decision decision = gate_rules_lookup(&gate->rules, query->name);

    if (decision.verdict != HOST_ALLOWED) {
        record(gate, query, GATE_EVENT_NAME, decision.rule, "");
        return DNS_NXDOMAIN;
    }
    const struct gate_name *name = gate_names_add(&gate->names, query->name, true);
    if (!name) {
        record(gate, query, GATE_EVENT_LIMIT, decision.rule, "more names than a gate remembers");
        return DNS_SERVFAIL;
    }
    *has_address = true;
    if (query->type == DNS_TYPE_A) {
        uint8_t v4[4];

        gate_names_ipv4(name, v4);
        address_from_v4(v4, address);
    } else if (query->type == DNS_TYPE_AAAA && gate->sockets.has_ipv6) {
        gate_names_ipv6(name, address);
    } else {
        *has_address = false;
    }
    return DNS_NOERROR;
}

/* The answer's length; 0: none. */
static size_t answer(struct gate *gate, const uint8_t *packet, size_t n,
                     uint8_t out[DNS_ANSWER_MAX])
{
    struct dns_query query;
    uint8_t address[ADDRESS_BYTES];
    bool has_address = false;
    enum dns_rcode rcode = dns_query_parse(packet, n, &query);

    if (rcode == DNS_DROP)
        return 0;
    if (rcode == DNS_NOERROR)
        rcode = find(gate, &query, address, &has_address);
    return dns_answer(&query, rcode, has_address ? address : NULL, TTL, out);
}

/* ---- over UDP */

/* The answer must come from the address that was asked: what the kernel said of it goes back. Its
 * interface would be the wrong one. */
static void keep_address(struct msghdr *header)
{
    for (struct cmsghdr *at = CMSG_FIRSTHDR(header); at; at = CMSG_NXTHDR(header, at)) {
        if (at->cmsg_level == IPPROTO_IPV6 && at->cmsg_type == IPV6_PKTINFO) {
            struct in6_pktinfo info;

            memcpy(&info, CMSG_DATA(at), sizeof info);
            info.ipi6_ifindex = 0;
            memcpy(CMSG_DATA(at), &info, sizeof info);
        } else if (at->cmsg_level == IPPROTO_IP && at->cmsg_type == IP_PKTINFO) {
            struct in_pktinfo info;

            memcpy(&info, CMSG_DATA(at), sizeof info);
            info.ipi_ifindex = 0;
            info.ipi_spec_dst = info.ipi_addr;
            memcpy(CMSG_DATA(at), &info, sizeof info);
        }
    }
}

static void question_came(struct gate *gate, struct loop_source *source, uint32_t events)
{
    uint8_t packet[QUERY_BYTES];
    uint8_t out[DNS_ANSWER_MAX];
    struct sockaddr_storage from;
    union {
        char space[CMSG_SPACE(sizeof(struct in6_pktinfo)) + 64];
        struct cmsghdr header;
    } control;

    (void)events;
    for (int i = 0; i < AT_ONCE; i++) {
        struct iovec io = { packet, sizeof packet };
        struct msghdr header = { .msg_name = &from,
                                 .msg_namelen = sizeof from,
                                 .msg_iov = &io,
                                 .msg_iovlen = 1,
                                 .msg_control = control.space,
                                 .msg_controllen = sizeof control.space };
        ssize_t n = recvmsg(source->fd, &header, MSG_DONTWAIT);

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n < 0) /* what an earlier answer has met */
            continue;
        size_t n_out = answer(gate, packet, (size_t)n, out);
        if (n_out == 0)
            continue;
        keep_address(&header);
        io = (struct iovec){ out, n_out };
        header.msg_flags = 0;
        (void)sendmsg(source->fd, &header, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
}

int gate_dns_serve(struct gate *gate)
{
    gate->dns.happened = question_came;
    return loop_add(&gate->loop, &gate->dns, EPOLLIN);
}

/* ---- over TCP */

/* Whether there was one more; the connection may be gone. */
static bool answer_next(struct gate *gate, struct gate_connection *connection)
{
    uint8_t packet[2 + QUERY_BYTES];
    uint8_t out[2 + DNS_ANSWER_MAX];
    int fd = connection->near.fd;
    ssize_t n = recv(fd, packet, sizeof packet, MSG_PEEK | MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        connection->up.is_readable = false;
        return false;
    }
    size_t length = n < 2 ? 0 : (size_t)packet[0] << 8 | packet[1];
    if (n <= 0 || length > QUERY_BYTES || (n >= 2 && length == 0)) {
        gate_connection_close(gate, connection);
        return false;
    }
    if (n < 2 || (size_t)n < 2 + length) {
        connection->up.is_readable = false;
        return false;
    }
    (void)recv(fd, NULL, 2 + length, MSG_TRUNC | MSG_DONTWAIT);
    size_t n_out = answer(gate, packet + 2, length, out + 2);
    out[0] = (uint8_t)(n_out >> 8);
    out[1] = (uint8_t)n_out;
    /* Who does not read answers gets none. */
    if (n_out == 0 ||
        send(fd, out, 2 + n_out, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)(2 + n_out)) {
        gate_connection_reset(gate, connection);
        return false;
    }
    loop_set(&gate->loop, &connection->timer, LOOP_DELAY_HEAD);
    return true;
}

void gate_dns_step(struct gate *gate, struct gate_connection *connection)
{
    for (int i = 0; i < AT_ONCE; i++)
        if (!connection->up.is_readable || !answer_next(gate, connection))
            return;
    loop_turn(&gate->loop, &connection->turn);
}

void gate_dns_begin(struct gate *gate, struct gate_connection *connection)
{
    gate_connection_enter(gate, connection, GATE_STAGE_DNS);
    gate_dns_step(gate, connection);
}
