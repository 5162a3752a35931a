#include "rules.h"

#include "test/check.h"

static struct gate_rules rules;

/* A gate never forgets a rule; a test does. */
static void begin(void)
{
    free(rules.allow);
    free(rules.deny);
    free(rules.allow_number);
    free(rules.deny_number);
    gate_rules_init(&rules);
}

static const char *read_text(const char *text, bool is_live)
{
    static char copy[512];

    (void)strcpy(copy, text);
    return gate_rules_read(&rules, copy, is_live);
}

TEST(each_line_is_taken)
{
    begin();
    CHECK(rules.connections == 1024 && rules.unnamed == GATE_UNNAMED_EXACT);
    CHECK(!read_text(
        "allow a.example:443\ndeny *.b.example\nallow 10.0.0.0/8\nconnections 7\n"
        "unnamed no\nreach 5432\nreach 80\npublish 127.0.0.1 8080 3000\nproxy yes\nudp 123\n",
        false));
    CHECK(rules.n_allow == 2 && rules.n_deny == 1 && rules.connections == 7);
    CHECK(rules.unnamed == GATE_UNNAMED_NEVER && rules.has_proxy);
    CHECK(rules.n_reach == 2 && rules.reach[0] == 5432 && rules.reach[1] == 80);
    CHECK(rules.n_udp == 1 && rules.udp[0] == 123);
    CHECK(rules.n_publish == 1 && rules.publish[0].port == 8080 &&
          rules.publish[0].inner_port == 3000);
}

TEST(a_rule_has_the_number_of_its_line)
{
    struct gate_decision decision = gate_rules_name(&rules, "a.example", 443, false);

    CHECK(decision.verdict == HOST_ALLOWED && decision.rule == 0 && decision.is_exact);
    CHECK(gate_rules_lookup(&rules, "x.b.example").rule == 1);
    CHECK(gate_rules_name(&rules, "a.example", 80, false).rule == -1);
    CHECK(!read_text("allow *.c.example", true));
    decision = gate_rules_name(&rules, "x.c.example", 1, false);
    CHECK(decision.verdict == HOST_ALLOWED && decision.rule == 3 && !decision.is_exact);
}

TEST(a_line_that_cannot_be_read_is_told)
{
    static const char *const lines[] = {
        "allow",
        "allow a..b",
        "allow a:0",
        "connections 0",
        "connections many",
        "unnamed maybe",
        "reach 0",
        "reach x",
        "udp 0",
        "publish 127.0.0.1 80",
        "publish x 80 80",
        "publish ::1 80 80 80",
        "permit a.example",
        "proxy",
        "credential api",
        "credential api example.org",
        "credential api *.example.org:443",
        "credential api 10.0.0.1:443",
    };

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        CHECK(read_text(lines[i], false));
    /* Later only rules come. */
    CHECK(read_text("connections 9", true) && read_text("reach 9", true));
    CHECK(rules.connections == 7);
}

TEST(a_credential_has_a_name_that_no_rule_allows)
{
    static const uint8_t public[ADDRESS_BYTES] = { [10] = 0xff, 0xff, 11, 22, 33, 5 };
    static const uint8_t private[ADDRESS_BYTES] = { [10] = 0xff, 0xff, 10, 9, 8, 7 };

    begin();
    CHECK(!read_text("deny bad.example\ncredential api good.example:8443\ncredential bad "
                     "bad.example:443\n",
                     false));
    const struct gate_credential_rule *api = gate_rules_credential(&rules, "api.coop.internal", 80);
    const struct gate_credential_rule *bad = gate_rules_credential(&rules, "bad.coop.internal", 80);
    CHECK(api && bad && api->host.first_port == 8443);
    CHECK(!gate_rules_credential(&rules, "api.coop.internal", 443));
    CHECK(gate_rules_lookup(&rules, "api.coop.internal").verdict == HOST_ALLOWED);
    CHECK(gate_rules_lookup(&rules, "good.example").verdict == HOST_NO_RULE);
    CHECK(gate_rules_credential_name(&rules, api).verdict == HOST_ALLOWED);
    CHECK(gate_rules_credential_name(&rules, bad).verdict == HOST_DENIED);
    CHECK(gate_rules_credential_answer(&rules, api, public).verdict == HOST_ALLOWED);
    CHECK(gate_rules_credential_answer(&rules, api, private).verdict == HOST_NO_RULE);
    CHECK(gate_rules_credential_answer(&rules, bad, public).verdict == HOST_DENIED);
    CHECK(!read_text("deny api.coop.internal", true));
    CHECK(gate_rules_credential_name(&rules, api).verdict == HOST_DENIED);
    CHECK(read_text("credential other good.example:443", true)); /* not while it runs */
}

TEST(many_rules_are_kept)
{
    begin();
    for (int i = 0; i < 1000; i++)
        CHECK(!read_text("allow a.example:443\ndeny b.example", false));
    CHECK(rules.n_allow == 1000 && rules.n_deny == 1000);
    CHECK(rules.allow_number[999] == 1998 && rules.deny_number[999] == 1999);
}
