#include "log.h"

#include <errno.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_log.h>
#include <linux/netlink.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "gate/packet.h"

#define AT_ONCE 64

static void record(struct gate *gate, const uint8_t *packet, size_t n)
{
    struct gate_event event = { .rule = -1 };
    uint8_t address[ADDRESS_BYTES];
    bool is_udp = false;
    bool is_ours = false;

    if (!gate_packet_read(packet, n, address, &event.port, &is_udp))
        return;
    const struct gate_name *name = gate_names_find(&gate->names, address, &is_ours);
    event.kind = is_udp ? GATE_EVENT_UDP : GATE_EVENT_CONNECT;
    event.is_udp = is_udp;
    if (name)
        (void)strncpy(event.name, name->text, sizeof event.name - 1);
    else
        (void)address_format(address, event.name);
    struct gate_decision decision =
        name ? gate_rules_name(&gate->rules, name->text, event.port, is_udp)
             : gate_rules_address(&gate->rules, address, event.port, is_udp);
    if (decision.verdict == HOST_DENIED)
        event.rule = decision.rule;
    gate_events_add(gate, &event);
}

/* ---- messages of the kernel */

static void read_attributes(struct gate *gate, const uint8_t *at, size_t n)
{
    struct nlattr attribute;

    while (n >= sizeof attribute) {
        memcpy(&attribute, at, sizeof attribute);
        if (attribute.nla_len < sizeof attribute || attribute.nla_len > n)
            return;
        if ((attribute.nla_type & NLA_TYPE_MASK) == NFULA_PAYLOAD)
            record(gate, at + sizeof attribute, attribute.nla_len - sizeof attribute);
        size_t step = NLA_ALIGN(attribute.nla_len);
        if (step >= n)
            return;
        at += step;
        n -= step;
    }
}

static void read_messages(struct gate *gate, const uint8_t *at, size_t n)
{
    struct nlmsghdr header;
    const size_t before = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(struct nfgenmsg));

    while (n >= sizeof header) {
        memcpy(&header, at, sizeof header);
        if (header.nlmsg_len < sizeof header || header.nlmsg_len > n)
            return;
        if (header.nlmsg_type == (NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_PACKET) &&
            header.nlmsg_len > before)
            read_attributes(gate, at + before, header.nlmsg_len - before);
        size_t step = NLMSG_ALIGN(header.nlmsg_len);
        if (step >= n)
            return;
        at += step;
        n -= step;
    }
}

static void log_came(struct gate *gate, struct loop_source *source, uint32_t events)
{
    (void)events;
    for (int i = 0; i < AT_ONCE; i++) {
        ssize_t n = recv(source->fd, gate->scratch, GATE_SCRATCH, MSG_DONTWAIT);

        if (n < 0 && errno == ENOBUFS) /* some were lost: they are counted no more */
            continue;
        if (n <= 0)
            return;
        read_messages(gate, (const uint8_t *)gate->scratch, (size_t)n);
    }
}

int gate_log_serve(struct gate *gate)
{
    gate->log.happened = log_came;
    return loop_add(&gate->loop, &gate->log, EPOLLIN);
}
