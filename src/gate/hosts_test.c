#include "hosts.h"

#include "test/check.h"

static uint8_t out[4][ADDRESS_BYTES];

static size_t find(const char *text, const char *name)
{
    return gate_hosts_find(text, strlen(text), name, out, 0, 4);
}

static const char *text_of(size_t i)
{
    static char text[ADDRESS_TEXT_MAX];

    (void)address_format(out[i], text);
    return text;
}

TEST(a_name_has_the_addresses_of_all_its_lines)
{
    static const char text[] = "# comment name.example\n"
                               "127.0.0.1\tlocalhost\n"
                               "192.0.2.1 Name.Example. other # name2.example\n"
                               "2001:db8::1  alias   name.example\r\n"
                               "not-an-address name.example\n"
                               "192.0.2.3 name.example";

    CHECK(find(text, "name.example") == 3);
    CHECK_STR(text_of(0), "192.0.2.1");
    CHECK_STR(text_of(1), "2001:db8::1");
    CHECK_STR(text_of(2), "192.0.2.3");
    CHECK(find(text, "other") == 1);
    CHECK(find(text, "name2.example") == 0);
    CHECK(find(text, "example") == 0 && find(text, "192.0.2.1") == 0);
}

TEST(no_more_than_there_is_room_for)
{
    CHECK(gate_hosts_find("1.1.1.1 a\n2.2.2.2 a\n", 20, "a", out, 3, 4) == 4);
    CHECK(gate_hosts_find("1.1.1.1 a\n", 10, "a", out, 4, 4) == 4);
    CHECK(find("", "a") == 0 && find("\n\n \n#", "a") == 0);
}

TEST(name_servers_are_read)
{
    static const char text[] = "; comment\nsearch example.org\nnameserver 192.0.2.1\n"
                               "nameserver\t2001:db8::53 # that one\nnameserver\n"
                               "nameserver fe80::1%eth0\nnameservers 9.9.9.9\n"
                               "#nameserver 8.8.8.8\nnameserver 192.0.2.3\nnameserver 192.0.2.4\n";
    struct gate_servers servers = { .n = 7 };
    char first[ADDRESS_TEXT_MAX];

    gate_servers_read(text, sizeof text - 1, &servers);
    CHECK(servers.n == 3);
    (void)address_format(servers.addresses[0], first);
    CHECK_STR(first, "192.0.2.1");
    (void)address_format(servers.addresses[2], first);
    CHECK_STR(first, "192.0.2.3");
    gate_servers_read("", 0, &servers);
    CHECK(servers.n == 0);
}
