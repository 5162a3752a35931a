#include "names.h"

#include <stdio.h>

#include "base/host/address_class.h"
#include "test/check.h"

static const uint64_t key[2] = { 1, 2 };
static struct gate_names names;

/* A gate never forgets a name; a test does. */
static void begin(void)
{
    for (uint32_t i = 0; i < names.n; i++)
        free(names.names[i]);
    free(names.names);
    free(names.slots);
    gate_names_init(&names, key);
}

static struct gate_name *find(const char *text, bool *is_ours)
{
    uint8_t address[ADDRESS_BYTES];

    CHECK(address_parse(text, strlen(text), address));
    return gate_names_find(&names, address, is_ours);
}

TEST(a_name_keeps_its_two_addresses)
{
    uint8_t v4[4];
    uint8_t v6[16];
    char text[ADDRESS_TEXT_MAX];
    bool is_ours;

    begin();
    struct gate_name *first = gate_names_add(&names, "a.example", false);
    struct gate_name *second = gate_names_add(&names, "b.example", true);
    CHECK(first && second && first != second);
    CHECK(gate_names_add(&names, "a.example", true) == first);
    gate_names_ipv4(second, v4);
    CHECK(memcmp(v4, "\xc6\x12\1\1", 4) == 0);
    gate_names_ipv6(second, v6);
    (void)address_format(v6, text);
    CHECK_STR(text, "fd63:6f6f:7000::101");
    CHECK(find("198.18.1.0", &is_ours) == first && is_ours);
    CHECK(find("fd63:6f6f:7000::101", &is_ours) == second && is_ours);
}

TEST(addresses_that_nobody_has_are_told_from_those_of_others)
{
    static const struct {
        const char *address;
        bool is_ours;
    } cases[] = {
        { "198.18.0.255", true },         { "198.18.1.2", true },
        { "198.19.255.255", true },       { "198.20.0.0", false },
        { "198.17.255.255", false },      { "fd63:6f6f:7000::ff", true },
        { "fd63:6f6f:7000::102", true },  { "fd63:6f6f:7000:0:0:1:0:100", true },
        { "fd63:6f6f:7001::100", false }, { "::198.18.1.0", false },
    };
    bool is_ours;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK(!find(cases[i].address, &is_ours));
        CHECK(is_ours == cases[i].is_ours);
    }
}

TEST(names_of_patterns_are_capped_and_those_of_rules_are_not)
{
    char text[32];
    unsigned n = 0;

    begin();
    for (unsigned i = 0; i < 2 * GATE_NAMES_MOST_FREE; i++) {
        (void)snprintf(text, sizeof text, "n%u.example", i);
        n += gate_names_add(&names, text, true) != NULL;
    }
    CHECK(n == GATE_NAMES_MOST_FREE);
    CHECK(gate_names_add(&names, "rule.example", false));
    CHECK(gate_names_add(&names, "n17.example", true)->index == 17);
}
