#include "own.h"

#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "net/inside/own_addresses.h"

#define KNOWN_MS 2000

int gate_own_open(struct gate *gate)
{
    gate->own_fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    return gate->own_fd < 0 ? -errno : 0;
}

void gate_own_know(struct gate *gate)
{
    uint8_t(*own)[ADDRESS_BYTES] = NULL;
    size_t n = 0;

    if (gate->loop.now_ms < gate->own_until_ms)
        return;
    gate->own_until_ms = gate->loop.now_ms + KNOWN_MS;
    if (own_addresses_ask(gate->own_fd, &own, &n) < 0)
        return;
    free(gate->rules.own);
    gate->rules.own = own;
    gate->rules.n_own = n;
}

const char *gate_own_class(const struct gate *gate, const uint8_t address[ADDRESS_BYTES])
{
    enum address_class class = address_class(address);

    for (size_t i = 0; class == ADDRESS_PUBLIC && i < gate->rules.n_own; i++)
        if (memcmp(gate->rules.own[i], address, ADDRESS_BYTES) == 0)
            return "the host's own";
    return address_class_name(class);
}
