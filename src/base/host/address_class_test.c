/* worlds: user */
#include "base/host/address_class.h"

#include "base/cleanup.h"
#include "test/check.h"

static bool parse(const char *text, uint8_t out[ADDRESS_BYTES])
{
    return address_parse(text, strlen(text), out);
}

static const struct {
    const char *address;
    enum address_class class;
} known[] = {
    { "8.8.8.8", ADDRESS_PUBLIC },
    { "1.1.1.1", ADDRESS_PUBLIC },
    { "2606:4700::1111", ADDRESS_PUBLIC },
    { "2a00:1450:4001::1", ADDRESS_PUBLIC },
    { "0.0.0.0", ADDRESS_UNSPECIFIED },
    { "::", ADDRESS_UNSPECIFIED },
    { "127.0.0.1", ADDRESS_LOOPBACK },
    { "127.255.255.255", ADDRESS_LOOPBACK },
    { "::1", ADDRESS_LOOPBACK },
    { "::ffff:127.0.0.1", ADDRESS_LOOPBACK },
    { "10.255.0.1", ADDRESS_PRIVATE },
    { "172.15.255.255", ADDRESS_PUBLIC },
    { "172.16.0.0", ADDRESS_PRIVATE },
    { "172.31.255.255", ADDRESS_PRIVATE },
    { "172.32.0.0", ADDRESS_PUBLIC },
    { "192.168.1.1", ADDRESS_PRIVATE },
    { "192.167.1.1", ADDRESS_PUBLIC },
    { "fc00::1", ADDRESS_PRIVATE },
    { "fdff::1", ADDRESS_PRIVATE },
    { "fec0::1", ADDRESS_PRIVATE },
    { "169.254.1.1", ADDRESS_LINK_LOCAL },
    { "fe80::1", ADDRESS_LINK_LOCAL },
    { "febf::1", ADDRESS_LINK_LOCAL },
    { "169.254.169.254", ADDRESS_METADATA },
    { "::ffff:169.254.169.254", ADDRESS_METADATA },
    { "fd00:ec2::254", ADDRESS_METADATA },
    { "fd00:ec2::23", ADDRESS_METADATA },
    { "fd20:ce::254", ADDRESS_METADATA },
    { "169.254.170.2", ADDRESS_METADATA },
    { "100.100.100.200", ADDRESS_METADATA },
    { "168.63.129.16", ADDRESS_METADATA },
    { "192.0.0.192", ADDRESS_METADATA },
    { "224.0.0.1", ADDRESS_MULTICAST },
    { "239.255.255.255", ADDRESS_MULTICAST },
    { "ff02::1", ADDRESS_MULTICAST },
    { "0.1.2.3", ADDRESS_RESERVED },
    { "100.64.0.1", ADDRESS_RESERVED },
    { "100.127.255.255", ADDRESS_RESERVED },
    { "100.128.0.0", ADDRESS_PUBLIC },
    { "192.0.0.1", ADDRESS_RESERVED },
    { "192.0.2.1", ADDRESS_RESERVED },
    { "198.17.255.255", ADDRESS_PUBLIC },
    { "198.18.0.53", ADDRESS_RESERVED },
    { "198.19.255.255", ADDRESS_RESERVED },
    { "198.20.0.0", ADDRESS_PUBLIC },
    { "203.0.113.9", ADDRESS_RESERVED },
    { "240.0.0.1", ADDRESS_RESERVED },
    { "255.255.255.255", ADDRESS_RESERVED },
    { "::1.2.3.4", ADDRESS_RESERVED },
    { "::2", ADDRESS_RESERVED },
    { "100::1", ADDRESS_RESERVED },
    { "2001:db8::1", ADDRESS_RESERVED },
    { "2001:20::1", ADDRESS_RESERVED },
    { "3fff::1", ADDRESS_RESERVED },
    { "4000::1", ADDRESS_RESERVED },
    { "64:ff9b:1::8.8.8.8", ADDRESS_RESERVED },
    { "64:ff9b::8.8.8.8", ADDRESS_PUBLIC },
    { "64:ff9b::10.0.0.1", ADDRESS_PRIVATE },
    { "64:ff9b::169.254.169.254", ADDRESS_METADATA },
    { "2002:808:808::1", ADDRESS_PUBLIC },
    { "2002:7f00:1::1", ADDRESS_LOOPBACK },
    { "2002:a9fe:a9fe::", ADDRESS_METADATA },
    /* Teredo: server 8.8.8.8, client 8.8.4.4 and 127.0.0.1, both inverted; and a server at home */
    { "2001:0:808:808::f7f7:fbfb", ADDRESS_PUBLIC },
    { "2001:0:808:808::80ff:fffe", ADDRESS_LOOPBACK },
    { "2001:0:a00:1::f7f7:fbfb", ADDRESS_PRIVATE },
};

TEST(tells_what_an_address_is)
{
    for (size_t i = 0; i < COUNT(known); i++) {
        uint8_t address[ADDRESS_BYTES];

        CHECK(parse(known[i].address, address));
        if (address_class(address) != known[i].class)
            printf("# %s is %s\n", known[i].address, address_class_name(address_class(address)));
        CHECK(address_class(address) == known[i].class);
    }
}

TEST(has_a_word_for_each)
{
    for (int class = ADDRESS_PUBLIC; class <= ADDRESS_RESERVED; class ++)
        CHECK(*address_class_name((enum address_class) class));
    CHECK_STR(address_class_name(ADDRESS_LINK_LOCAL), "link-local");
}

TEST(one_address_has_one_form)
{
    char text[ADDRESS_TEXT_MAX];
    uint8_t a[ADDRESS_BYTES];
    uint8_t b[ADDRESS_BYTES];

    CHECK(parse("10.1.2.3", a) && parse("::ffff:10.1.2.3", b) && memcmp(a, b, sizeof a) == 0);
    CHECK(address_is_v4(a));
    CHECK(address_format(a, text) == 8);
    CHECK_STR(text, "10.1.2.3");
    CHECK(parse("2001:0DB8:0:0::1", a) && !address_is_v4(a));
    CHECK(address_format(a, text) == strlen("2001:db8::1"));
    CHECK_STR(text, "2001:db8::1");
}

TEST(other_spellings_are_no_addresses)
{
    static const char *const wrong[] = { "",
                                         "127.1",
                                         "0x7f.0.0.1",
                                         "0177.0.0.1",
                                         "2130706433",
                                         "1.2.3.4.",
                                         "[::1]",
                                         "fe80::1%lo",
                                         "1.2.3.256",
                                         "::1/128",
                                         " 1.2.3.4",
                                         ":::1",
                                         "1111:2222:3333:4444:5555:6666:7777:8888:9999" };
    uint8_t address[ADDRESS_BYTES];

    for (size_t i = 0; i < COUNT(wrong); i++)
        CHECK(!parse(wrong[i], address));
    CHECK(!address_parse("1.2.3.4\0", 8, address));
}

TEST(a_range_is_public_when_all_of_it_is)
{
    static const struct {
        const char *range;
        unsigned bits;
        bool is_public;
    } ranges[] = {
        { "8.8.8.0", 120, true },
        { "8.8.8.8", 128, true },
        { "10.0.0.0", 104, false },
        { "0.0.0.0", 96, false },
        { "172.0.0.0", 104, false },
        { "11.0.0.0", 104, true },
        { "168.63.129.0", 120, false },
        { "168.63.128.0", 120, true },
        { "2606:4700::", 32, true },
        { "2000::", 3, false },
        { "2002::", 16, false },
        { "2000::", 8, false },
        { "2002:808:808::", 128, true },
        { "2002:808:808::", 48, false },
        { "64:ff9b::", 96, false },
        { "64:ff9b::8.8.8.8", 128, true },
        { "::", 0, false },
        { "2a00::", 12, true },
    };

    for (size_t i = 0; i < COUNT(ranges); i++) {
        uint8_t address[ADDRESS_BYTES];

        CHECK(parse(ranges[i].range, address));
        if (address_range_is_public(address, ranges[i].bits) != ranges[i].is_public)
            printf("# %s/%u\n", ranges[i].range, ranges[i].bits);
        CHECK(address_range_is_public(address, ranges[i].bits) == ranges[i].is_public);
    }
}

struct looking {
    uint8_t address[ADDRESS_BYTES];
    bool is_found, is_metadata, others_came;
};

static void look(void *context, const uint8_t range[ADDRESS_BYTES], unsigned bits,
                 enum address_class class)
{
    struct looking *looking = context;

    CHECK(class != ADDRESS_METADATA || !looking->others_came);
    looking->others_came = looking->others_came || class != ADDRESS_METADATA;
    if (address_is_v4(looking->address) && bits < 96)
        return; /* a packet is of one family */
    if (!address_is_within(looking->address, range, bits))
        return;
    looking->is_metadata = looking->is_metadata || class == ADDRESS_METADATA;
    looking->is_found = true;
}

TEST(ranges_that_are_not_of_the_internet_hold_what_the_classes_say_and_nothing_else)
{
    static const char *const carriers[] = { "64:ff9b::8.8.8.8", "2002:808:808::1",
                                            "2001:0:808:808::1" };
    size_t n_special = 0;

    for (size_t i = 0; i < COUNT(known); i++) {
        struct looking looking = { .is_found = false };

        CHECK(parse(known[i].address, looking.address));
        address_each_special(look, &looking);
        CHECK(looking.is_found == address_is_special(looking.address));
        n_special += looking.is_found;
        if (known[i].class != ADDRESS_PUBLIC)
            CHECK(looking.is_found);
    }
    CHECK(n_special > 20 && n_special < COUNT(known));
    for (size_t i = 0; i < COUNT(carriers); i++) {
        struct looking looking = { .is_found = false };

        CHECK(parse(carriers[i], looking.address));
        address_each_special(look, &looking);
        CHECK(looking.is_found && address_is_special(looking.address));
    }
    struct looking looking = { .is_found = false };
    CHECK(parse("168.63.129.16", looking.address));
    address_each_special(look, &looking);
    CHECK(looking.is_metadata);
}
