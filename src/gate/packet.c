#include "packet.h"

#include <netinet/in.h>
#include <string.h>

#define IPV4_HEADER 20
#define IPV6_HEADER 40
#define PORTS       4 /* bytes of a TCP or UDP header: from, to */

bool gate_packet_read(const uint8_t *packet, size_t n, uint8_t address[ADDRESS_BYTES],
                      uint16_t *port, bool *is_udp)
{
    size_t header = 0;
    uint8_t protocol = 0;

    if (n >= IPV4_HEADER && packet[0] >> 4 == 4) {
        header = (size_t)(packet[0] & 15) * 4;
        protocol = packet[9];
        address_from_v4(packet + 16, address);
    } else if (n >= IPV6_HEADER && packet[0] >> 4 == 6) {
        header = IPV6_HEADER;
        protocol = packet[6];
        memcpy(address, packet + 24, ADDRESS_BYTES);
    }
    if (header < IPV4_HEADER || n < header + PORTS ||
        (protocol != IPPROTO_TCP && protocol != IPPROTO_UDP))
        return false;
    *port = (uint16_t)(packet[header + 2] << 8 | packet[header + 3]);
    *is_udp = protocol == IPPROTO_UDP;
    return true;
}
