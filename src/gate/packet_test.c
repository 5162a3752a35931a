#include "packet.h"

#include "test/check.h"

static uint8_t address[ADDRESS_BYTES];
static uint16_t port;
static bool is_udp;

static const uint8_t tcp4[24] = { 0x45, [9] = 6, [16] = 11, 0, 0, 5, 0x30, 0x39, 0x01, 0xbb };
static const uint8_t udp6[44] = { 0x60, [6] = 17, [24] = 0x26, [39] = 6, 0x30, 0x39, 0, 53 };

static bool is_to(const char *expected)
{
    char text[ADDRESS_TEXT_MAX];

    (void)address_format(address, text);
    return strcmp(text, expected) == 0;
}

TEST(both_families_are_read)
{
    CHECK(gate_packet_read(tcp4, sizeof tcp4, address, &port, &is_udp));
    CHECK(is_to("11.0.0.5") && port == 443 && !is_udp);
    CHECK(gate_packet_read(udp6, sizeof udp6, address, &port, &is_udp));
    CHECK(is_to("2600::6") && port == 53 && is_udp);
}

TEST(options_are_skipped)
{
    uint8_t packet[28] = { 0x46, [9] = 17, [16] = 11, 0, 0, 5, 1, 1, 1, 1, 0, 9, 0x1f, 0x90 };

    CHECK(gate_packet_read(packet, sizeof packet, address, &port, &is_udp));
    CHECK(port == 8080 && is_udp);
}

TEST(what_is_cut_short_is_nothing)
{
    for (size_t n = 0; n < sizeof tcp4; n++)
        CHECK(!gate_packet_read(tcp4, n, address, &port, &is_udp));
    for (size_t n = 0; n < sizeof udp6; n++)
        CHECK(!gate_packet_read(udp6, n, address, &port, &is_udp));
}

TEST(other_packets_are_nothing)
{
    uint8_t packet[64] = { 0x45, [9] = 1 }; /* ICMP */

    CHECK(!gate_packet_read(packet, sizeof packet, address, &port, &is_udp));
    packet[9] = 6;
    packet[0] = 0x44; /* a header that is too short */
    CHECK(!gate_packet_read(packet, sizeof packet, address, &port, &is_udp));
    packet[0] = 0x55;
    CHECK(!gate_packet_read(packet, sizeof packet, address, &port, &is_udp));
    packet[0] = 0x4f; /* one that is longer than the packet */
    CHECK(!gate_packet_read(packet, 62, address, &port, &is_udp));
}
