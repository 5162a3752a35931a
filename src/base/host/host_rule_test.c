/* worlds: user */
#include "base/host/host_rule.h"

#include "base/cleanup.h"
#include "test/check.h"

static struct host_rule rule_of(const char *text)
{
    struct host_rule rule;
    const char *wrong = host_rule_parse(text, &rule);

    if (wrong)
        printf("# '%s' %s\n", text, wrong);
    CHECK(!wrong);
    return rule;
}

static void address_of(const char *text, uint8_t out[ADDRESS_BYTES])
{
    CHECK(address_parse(text, strlen(text), out));
}

static bool is_same(const struct host_rule *a, const struct host_rule *b)
{
    return a->kind == b->kind && a->first_port == b->first_port && a->last_port == b->last_port &&
           a->is_udp == b->is_udp && a->bits == b->bits && a->length == b->length &&
           memcmp(a->address, b->address, ADDRESS_BYTES) == 0 && strcmp(a->name, b->name) == 0;
}

TEST(reads_and_writes_rules)
{
    static const struct {
        const char *text;
        const char *shortest; /* NULL: the same */
    } texts[] = {
        { "github.com:443", NULL },
        { "GitHub.com:443", "github.com:443" },
        { "*.example.org", NULL },
        { "*.Example.org:80", "*.example.org:80" },
        { "10.1.2.0/24:5432", NULL },
        { "10.1.2.3/24", "10.1.2.0/24" },
        { "10.1.2.3/32", "10.1.2.3" },
        { "0.0.0.0/0", NULL },
        { "10.0.0.1", NULL },
        { "[2001:db8::/32]:443", NULL },
        { "2001:db8::/32", NULL },
        { "[2001:db8::1]", "2001:db8::1" },
        { "[2001:db8::1:443]", NULL },
        { "[2001:db8::1:443/128]", "[2001:db8::1:443]" },
        { "[2001:db8::1:443/127]", "2001:db8::1:442/127" },
        { "1:2:3:4:5:6:7:8", NULL },
        { "2001:db8::1:abcd", NULL },
        { "[::ffff:10.0.0.1]:80", "10.0.0.1:80" },
        { "::ffff:10.0.0.1/104", "10.0.0.0/8" },
        { "::/0", NULL },
        { "::ffff:0:0/95", "::fffe:0:0/95" },
        { "localhost:3000", NULL },
        { "example.org:8000-8010", NULL },
        { "example.org:8000-8000", "example.org:8000" },
        { "example.org:1-65535", "example.org" },
        { "example.org:1-65535/udp", NULL },
        { "time.example.org:123/udp", NULL },
        { "10.0.0.0/8:53/udp", NULL },
        { "[::1]:53/udp", NULL },
        { "example.org:443/tcp", "example.org:443" },
        { "*:443", NULL },
        { "*", NULL },
        { "*:53/udp", NULL },
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        struct host_rule rule = rule_of(texts[i].text);
        char text[HOST_RULE_TEXT_MAX];

        CHECK(host_rule_format(&rule, text) == strlen(text));
        CHECK_STR(text, texts[i].shortest ? texts[i].shortest : texts[i].text);
        struct host_rule again = rule_of(text);
        CHECK(is_same(&rule, &again));
    }
}

TEST(fills_in_all_that_is_said)
{
    struct host_rule rule = rule_of("*.Example.org:8000-8010/udp");

    CHECK(rule.kind == HOST_RULE_BELOW && rule.is_udp && rule.length == 11);
    CHECK(rule.first_port == 8000 && rule.last_port == 8010);
    CHECK_STR(rule.name, "example.org");
    rule = rule_of("10.0.0.0/8");
    CHECK(rule.kind == HOST_RULE_ADDRESS && rule.bits == 104 && rule.address[12] == 10);
    CHECK(rule.first_port == 0 && rule.last_port == 65535 && !rule.is_udp);
    CHECK(rule_of("*").kind == HOST_RULE_ANY);
}

TEST(says_why_a_text_is_no_rule)
{
    static const struct {
        const char *text;
        const char *why;
    } wrong[] = {
        { "", "is empty" },
        { "https://github.com", "is an address of the web: write the host alone" },
        { "github.com:", "has no port from 1 to 65535 behind its ':'" },
        { "github.com:0", "has no port from 1 to 65535 behind its ':'" },
        { "github.com:65536", "has no port from 1 to 65535 behind its ':'" },
        { "github.com:http", "has no port from 1 to 65535 behind its ':'" },
        { "github.com:80-", "has a range of ports without its end: write it as in 8000-8010" },
        { "github.com:80-79", "has a range of ports that ends before it begins" },
        { "github.com/udp", "has '/udp' without a port before it" },
        { "::1/udp", "has '/udp' without a port before it" },
        { "github.com:/udp", "has no port from 1 to 65535 behind its ':'" },
        { "[::1:80", "has a '[' without its ']'" },
        { "::1:80",
          "could be an address, or another and a port: write [ADDRESS] or [ADDRESS]:PORT" },
        { "2001:db8::1:443",
          "could be an address, or another and a port: write [ADDRESS] or [ADDRESS]:PORT" },
        { "::1:80-90", "is no address: one of IPv6 with a port is written as [ADDRESS]:PORT" },
        { "fe80::1%lo:80", "is no address: one of IPv6 with a port is written as [ADDRESS]:PORT" },
        { "[1.2.3.4]:80", "has no IPv6 address in its brackets" },
        { "[::1/129]", "has no IPv6 address in its brackets" },
        { "[]", "has no IPv6 address in its brackets" },
        { "10.0.0.0/33", "is no address with the number of its bits" },
        { "10.0.0.0/0008", "is no address with the number of its bits" },
        { "10.0.0.0/8x", "is no address with the number of its bits" },
        { "10.0.0.0/", "is no address with the number of its bits" },
        { "a/b", "is no address with the number of its bits" },
        { "300.1.1.1", "is neither a host name nor an address" },
        { "127.1", "is neither a host name nor an address" },
        { "a..b", "is no host name: between its dots are 1 to 63 characters" },
        { "a.org.:80", "is no host name: between its dots are 1 to 63 characters" },
        { "*.", "is no host name: between its dots are 1 to 63 characters" },
        { "-a.org", "is no host name: no part begins or ends with '-'" },
        { "a.*.org",
          "is no host name: letters, digits, '-' and '.', and '*.' at the beginning only" },
        { "*a.org",
          "is no host name: letters, digits, '-' and '.', and '*.' at the beginning only" },
    };
    char longer[1000];
    struct host_rule rule = { .bits = 77 };

    for (size_t i = 0; i < COUNT(wrong); i++)
        CHECK_STR(host_rule_parse(wrong[i].text, &rule), wrong[i].why);
    memset(longer, 'a', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    CHECK_STR(host_rule_parse(longer, &rule), "is longer than a host name can be");
    CHECK(rule.bits == 77);
}

static bool matches(const char *text, const char *name, uint16_t port, bool is_udp)
{
    struct host_rule rule = rule_of(text);
    uint8_t address[ADDRESS_BYTES];

    return address_parse(name, strlen(name), address)
               ? host_rule_matches_address(&rule, address, port, is_udp)
               : host_rule_matches_name(&rule, name, strlen(name), port, is_udp);
}

TEST(matches_names)
{
    CHECK(matches("github.com", "github.com", 443, false));
    CHECK(!matches("github.com", "github.co", 443, false));
    CHECK(!matches("github.com", "x.github.com", 443, false));
    CHECK(!matches("github.com", "github.com", 443, true));
    CHECK(matches("github.com:443", "github.com", 443, false));
    CHECK(!matches("github.com:443", "github.com", 80, false));
    CHECK(matches("a:80-90", "a", 80, false) && matches("a:80-90", "a", 90, false));
    CHECK(!matches("a:80-90", "a", 79, false) && !matches("a:80-90", "a", 91, false));
    CHECK(matches("*.x.org", "a.x.org", 1, false) && matches("*.x.org", "a.b.x.org", 1, false));
    CHECK(!matches("*.x.org", "x.org", 1, false) && !matches("*.x.org", ".x.org", 1, false));
    CHECK(!matches("*.x.org", "ax.org", 1, false) && !matches("*.x.org", "a.x.org.b", 1, false));
    CHECK(matches("*", "anything", 1, false) && !matches("*", "anything", 1, true));
    CHECK(matches("*:53/udp", "anything", 53, true));
    CHECK(!matches("10.0.0.0/8", "ten", 1, false));
}

TEST(matches_addresses)
{
    CHECK(matches("10.0.0.0/8", "10.255.1.2", 1, false));
    CHECK(!matches("10.0.0.0/8", "11.0.0.0", 1, false));
    CHECK(matches("10.0.0.0/9", "10.127.0.0", 1, false));
    CHECK(!matches("10.0.0.0/9", "10.128.0.0", 1, false));
    CHECK(matches("10.0.0.1", "::ffff:10.0.0.1", 1, false));
    CHECK(matches("0.0.0.0/0", "1.2.3.4", 1, false) && !matches("0.0.0.0/0", "::1", 1, false));
    CHECK(matches("2001:db8::1", "2001:db8::1", 1, false));
    CHECK(matches("::/0", "2001:db8::1", 1, false) && !matches("::/0", "1.2.3.4", 1, false));
    CHECK(matches("*:443", "8.8.8.8", 443, false) && !matches("*:443", "8.8.8.8", 80, false));
    CHECK(!matches("github.com", "8.8.8.8", 443, false));
}

static bool covers(const char *parent, const char *child)
{
    struct host_rule a = rule_of(parent);
    struct host_rule b = rule_of(child);

    return host_rule_covers(&a, &b);
}

TEST(narrower_rules_are_covered)
{
    CHECK(covers("a.org", "a.org:443") && !covers("a.org:443", "a.org"));
    CHECK(covers("a.org:80-90", "a.org:85-90") && !covers("a.org:80-90", "a.org:85-91"));
    CHECK(covers("a.org:1-65535", "a.org"));
    CHECK(!covers("a.org", "a.org:53/udp") && !covers("a.org:53/udp", "a.org:53"));
    CHECK(!covers("a.org", "b.org") && !covers("a.org", "*.a.org") && !covers("a.org", "*"));
    CHECK(covers("*.a.org", "b.a.org") && covers("*.a.org", "*.a.org"));
    CHECK(covers("*.a.org", "*.b.a.org"));
    CHECK(!covers("*.a.org", "a.org") && !covers("*.b.a.org", "*.a.org"));
    CHECK(covers("*", "a.org") && covers("*", "*.a.org") && covers("*", "*:80"));
    CHECK(!covers("*:80", "*"));
    CHECK(covers("10.0.0.0/8", "10.1.0.0/16") && !covers("10.1.0.0/16", "10.0.0.0/8"));
    CHECK(!covers("10.0.0.0/8", "11.0.0.0/16") && !covers("10.0.0.0/8", "a.org"));
    CHECK(covers("0.0.0.0/0", "10.0.0.1") && !covers("::/0", "10.0.0.1"));
    CHECK(covers("::/0", "2001:db8::/32") && !covers("::/0", "a.org") && !covers("::/0", "*"));
    CHECK(covers("2001:db8::/32", "2001:db8::1") && !covers("2001:db8::1", "10.0.0.1"));
}

TEST(every_host_is_every_public_one)
{
    CHECK(covers("*", "8.8.8.8") && covers("*", "8.8.8.0/24"));
    CHECK(!covers("*", "10.0.0.1") && !covers("*", "127.0.0.1:80") && !covers("*", "0.0.0.0/0"));
    CHECK(!covers("*", "localhost:80") && !covers("*", "*.localhost"));
    CHECK(covers("*.localhost", "a.localhost") && covers("localhost", "localhost:80"));
}

TEST(metadata_must_be_named_alone)
{
    CHECK(!covers("169.254.0.0/16", "169.254.169.254"));
    CHECK(covers("169.254.169.254", "169.254.169.254:80"));
    CHECK(covers("169.254.0.0/16", "169.254.169.0/24"));
}

/* ---- lists */

static struct host_rule allow[8];
static struct host_rule deny[8];

static struct host_rules lists(const char *const allowed[], const char *const denied[])
{
    struct host_rules rules = { .allow = allow, .deny = deny };

    for (; allowed[rules.n_allow]; rules.n_allow++)
        allow[rules.n_allow] = rule_of(allowed[rules.n_allow]);
    for (; denied[rules.n_deny]; rules.n_deny++)
        deny[rules.n_deny] = rule_of(denied[rules.n_deny]);
    return rules;
}
#define LIST(...) ((const char *const[]){ __VA_ARGS__ __VA_OPT__(, ) NULL })

static enum host_verdict by_address(const struct host_rules *rules, const char *text, uint16_t port,
                                    size_t *rule)
{
    uint8_t address[ADDRESS_BYTES];

    address_of(text, address);
    return host_rules_decide_address(rules, address, port, false, rule);
}

static enum host_verdict leads_to(const struct host_rules *rules, const char *name,
                                  const char *text, size_t *rule)
{
    uint8_t address[ADDRESS_BYTES];

    address_of(text, address);
    return host_rules_decide_answer(rules, name, address, 443, false, rule);
}

TEST(deny_wins)
{
    struct host_rules rules = lists(LIST("a.org", "*.example.org:443", "10.0.0.0/8"),
                                    LIST("x.org", "bad.example.org", "10.9.0.0/16"));
    size_t rule = 99;

    CHECK(host_rules_decide_name(&rules, "ok.example.org", 443, false, &rule) == HOST_ALLOWED);
    CHECK(rule == 1);
    CHECK(host_rules_decide_name(&rules, "bad.example.org", 443, false, &rule) == HOST_DENIED);
    CHECK(rule == 1);
    CHECK(host_rules_decide_name(&rules, "ok.example.org", 80, false, NULL) == HOST_NO_RULE);
    CHECK(host_rules_decide_name(&rules, "b.org", 443, false, NULL) == HOST_NO_RULE);
    CHECK(by_address(&rules, "10.1.1.1", 5, &rule) == HOST_ALLOWED && rule == 2);
    CHECK(by_address(&rules, "10.9.1.1", 5, &rule) == HOST_DENIED && rule == 2);
    CHECK(by_address(&rules, "11.9.1.1", 5, NULL) == HOST_NO_RULE);
}

TEST(deny_is_read_broadly)
{
    struct host_rules rules = lists(LIST("*", "*:1-65535/udp", "64:ff9b::/96"),
                                    LIST("a.org:443", "b.org:53/udp", "10.0.0.0/8"));

    CHECK(host_rules_decide_name(&rules, "a.org", 443, true, NULL) == HOST_DENIED);
    CHECK(host_rules_decide_name(&rules, "a.org", 444, true, NULL) == HOST_ALLOWED);
    CHECK(host_rules_decide_name(&rules, "b.org", 53, true, NULL) == HOST_DENIED);
    CHECK(host_rules_decide_name(&rules, "b.org", 53, false, NULL) == HOST_ALLOWED);
    CHECK(by_address(&rules, "64:ff9b::10.0.0.1", 80, NULL) == HOST_DENIED);
    CHECK(by_address(&rules, "64:ff9b::11.0.0.1", 80, NULL) == HOST_ALLOWED);
}

TEST(a_name_may_be_asked_for_if_some_port_of_it_is_allowed)
{
    struct host_rules rules =
        lists(LIST("a.org:443", "b.org:53/udp", "*.c.org"), LIST("a.org:80", "x.c.org"));
    size_t rule = 99;

    CHECK(host_rules_decide_lookup(&rules, "a.org", &rule) == HOST_ALLOWED && rule == 0);
    CHECK(host_rules_decide_lookup(&rules, "b.org", &rule) == HOST_ALLOWED && rule == 1);
    CHECK(host_rules_decide_lookup(&rules, "y.c.org", &rule) == HOST_ALLOWED && rule == 2);
    CHECK(host_rules_decide_lookup(&rules, "x.c.org", &rule) == HOST_DENIED && rule == 1);
    CHECK(host_rules_decide_lookup(&rules, "c.org", NULL) == HOST_NO_RULE);
}

TEST(the_hosts_own_addresses_must_be_named)
{
    static const uint8_t own[][ADDRESS_BYTES] = { { [10] = 0xff, 0xff, 45, 10, 20, 2 },
                                                  { 0x2a, 0x0e, [15] = 2 } };
    struct host_rules rules = lists(LIST("*", "a.org", "45.10.20.2:80", "[2a0e::/16]:81"), LIST());
    size_t rule = 99;

    CHECK(leads_to(&rules, "a.org", "45.10.20.2", &rule) == HOST_ALLOWED && rule == 0);
    rules.own = own;
    rules.n_own = 2;
    CHECK(leads_to(&rules, "a.org", "45.10.20.2", NULL) == HOST_NO_RULE);
    CHECK(leads_to(&rules, "a.org", "::ffff:45.10.20.2", NULL) == HOST_NO_RULE);
    CHECK(leads_to(&rules, "a.org", "2a0e::2", NULL) == HOST_NO_RULE);
    CHECK(leads_to(&rules, "a.org", "45.10.20.3", NULL) == HOST_ALLOWED);
    CHECK(by_address(&rules, "45.10.20.2", 443, NULL) == HOST_NO_RULE);
    CHECK(by_address(&rules, "45.10.20.2", 80, &rule) == HOST_ALLOWED && rule == 2);
    CHECK(by_address(&rules, "2a0e::2", 81, &rule) == HOST_ALLOWED && rule == 3);
    CHECK(by_address(&rules, "2a0e::3", 82, &rule) == HOST_ALLOWED && rule == 0);
}

TEST(every_host_by_address_is_a_public_one)
{
    struct host_rules rules = lists(LIST("*"), LIST());

    CHECK(by_address(&rules, "8.8.8.8", 1, NULL) == HOST_ALLOWED);
    CHECK(by_address(&rules, "10.0.0.1", 1, NULL) == HOST_NO_RULE);
    CHECK(by_address(&rules, "::1", 1, NULL) == HOST_NO_RULE);
    CHECK(by_address(&rules, "169.254.169.254", 1, NULL) == HOST_NO_RULE);
    rules = lists(LIST("0.0.0.0/0"), LIST());
    CHECK(by_address(&rules, "10.0.0.1", 1, NULL) == HOST_ALLOWED);
    CHECK(by_address(&rules, "169.254.169.254", 1, NULL) == HOST_NO_RULE);
    rules = lists(LIST("169.254.169.254:80"), LIST());
    CHECK(by_address(&rules, "169.254.169.254", 80, NULL) == HOST_ALLOWED);
}

TEST(a_name_that_leads_inwards_is_refused)
{
    struct host_rules rules =
        lists(LIST("a.org", "*.b.org", "localhost", "10.1.0.0/16"), LIST("10.1.9.0/24", "9.9.9.9"));
    size_t rule = 99;

    CHECK(leads_to(&rules, "a.org", "8.8.8.8", &rule) == HOST_ALLOWED && rule == 0);
    CHECK(leads_to(&rules, "a.org", "9.9.9.9", &rule) == HOST_DENIED && rule == 1);
    CHECK(leads_to(&rules, "a.org", "10.2.0.1", NULL) == HOST_NO_RULE);
    CHECK(leads_to(&rules, "x.b.org", "127.0.0.1", NULL) == HOST_NO_RULE);
    CHECK(leads_to(&rules, "x.b.org", "::ffff:127.0.0.1", NULL) == HOST_NO_RULE);
    CHECK(leads_to(&rules, "a.org", "10.1.2.3", &rule) == HOST_ALLOWED && rule == 3);
    CHECK(leads_to(&rules, "a.org", "10.1.9.3", &rule) == HOST_DENIED && rule == 0);
    CHECK(leads_to(&rules, "localhost", "127.0.0.1", &rule) == HOST_ALLOWED && rule == 2);
    CHECK(leads_to(&rules, "localhost", "::1", NULL) == HOST_ALLOWED);
    CHECK(leads_to(&rules, "localhost", "192.168.0.1", NULL) == HOST_NO_RULE);
    rules = lists(LIST("*"), LIST());
    CHECK(leads_to(&rules, "localhost", "127.0.0.1", NULL) == HOST_NO_RULE);
}
