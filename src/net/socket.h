/*
 * socket.h - addresses as the kernel writes them
 */
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include "base/host/address_class.h"

static inline void gate_socket_read(const struct sockaddr_storage *name,
                                    uint8_t address[ADDRESS_BYTES], uint16_t *port)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;

    if (name->ss_family == AF_INET) {
        memcpy(&v4, name, sizeof v4);
        address_from_v4((const uint8_t *)&v4.sin_addr, address);
        *port = ntohs(v4.sin_port);
    } else {
        memcpy(&v6, name, sizeof v6);
        memcpy(address, &v6.sin6_addr, ADDRESS_BYTES);
        *port = ntohs(v6.sin6_port);
    }
}

/* Returns its size. */
static inline socklen_t gate_socket_write(const uint8_t address[ADDRESS_BYTES], uint16_t port,
                                          struct sockaddr_storage *name)
{
    if (address_is_v4(address)) {
        struct sockaddr_in *v4 = (struct sockaddr_in *)name;

        *v4 = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port) };
        memcpy(&v4->sin_addr, address + 12, 4);
        return sizeof *v4;
    }
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)name;
    *v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = htons(port) };
    memcpy(&v6->sin6_addr, address, ADDRESS_BYTES);
    return sizeof *v6;
}
