/* worlds: user */
#include "policy/trust.h"

#include <errno.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "test/check.h"

#define AT(line_number)             \
    {                               \
        "coop.toml", line_number, 1 \
    }
#define MATCH(...)                                             \
    .patterns = (const struct trust_pattern[]){ __VA_ARGS__ }, \
    .n_patterns = COUNT(((const struct trust_pattern[]){ __VA_ARGS__ }))
#define P(text, line)  \
    {                  \
        text, AT(line) \
    }

static const struct trust_user users[] = {
    { "alice", TRUST_OWNER, MATCH(P("terminal:default", 2), P("signal:+15555550100", 3)) },
    { "bob", TRUST_FULL, MATCH(P("signal:+15555550101", 5), P("webhook:ci-*", 6)) },
    { "carol", TRUST_FAMILIAR, MATCH(P("signal:*", 8)) },
    { "dave", TRUST_INNER, MATCH(P("signal:+1666*", 10), P("webhook:ci-main", 11)) },
};

TEST(levels_are_ordered_named_and_read_back)
{
    enum trust trust;

    CHECK(TRUST_OWNER < TRUST_FULL && TRUST_FULL < TRUST_INNER && TRUST_INNER < TRUST_FAMILIAR &&
          TRUST_FAMILIAR < TRUST_PUBLIC);
    CHECK(trust_names[TRUST_COUNT] == NULL);
    for (int i = 0; i < TRUST_COUNT; i++) {
        CHECK(trust_parse(trust_names[i], &trust, NULL) == 0);
        CHECK((int)trust == i);
    }
}

TEST(a_wrong_level_is_told_what_was_meant)
{
    auto_error coop_error *err = NULL;
    enum trust trust = TRUST_INNER;

    CHECK(trust_parse("familar", &trust, &err) == -EINVAL);
    CHECK(trust == TRUST_INNER);
    CHECK_STR(coop_error_message(err),
              "bad trust level 'familar': expected owner, full, inner, familiar or public");
    CHECK_STR(coop_error_hint(err), "did you mean 'familiar'?");
    CHECK(trust_parse("", &trust, NULL) == -EINVAL);
    CHECK(trust_parse("OWNER", &trust, NULL) == -EINVAL);
    CHECK(trust_parse("owner ", &trust, NULL) == -EINVAL);
}

TEST(resolve_takes_the_less_trusted)
{
    for (int a = 0; a < TRUST_COUNT; a++)
        for (int b = 0; b < TRUST_COUNT; b++)
            CHECK((int)trust_resolve((enum trust)a, (enum trust)b) == (a > b ? a : b));
}

TEST(what_each_level_means)
{
    static const struct {
        enum trust trust;
        bool sandboxed;
        bool commands;
        enum trust_tools tools;
        const char *stores;
    } rows[] = {
        { TRUST_OWNER, false, true, TRUST_TOOLS_ALL, "private shared social " },
        { TRUST_FULL, true, true, TRUST_TOOLS_ALL, "private shared social " },
        { TRUST_INNER, true, true, TRUST_TOOLS_BASH_AND_FILES, "shared social " },
        { TRUST_FAMILIAR, true, false, TRUST_TOOLS_READ_FILES, "social " },
        { TRUST_PUBLIC, true, false, TRUST_TOOLS_NONE, "" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char stores[64] = "";

        for (int s = 0; s < TRUST_STORE_COUNT; s++)
            if (trust_meanings[rows[i].trust].sees[s]) {
                (void)strcat(stores, trust_store_names[s]);
                (void)strcat(stores, " ");
            }
        CHECK_STR(stores, rows[i].stores);
        CHECK(trust_meanings[rows[i].trust].is_sandboxed == rows[i].sandboxed);
        CHECK(trust_meanings[rows[i].trust].tools == rows[i].tools);
        CHECK(trust_may_run_commands(rows[i].trust) == rows[i].commands);
    }
}

TEST(identities_have_a_channel_and_an_id)
{
    char longest[TRUST_IDENTITY_MAX + 2];
    static const char *const good[] = { "terminal:default",
                                        "signal:+15555550101",
                                        "webhook:x",
                                        "a:b:c",
                                        "a: ",
                                        "signal:J\u00fcrgen",
                                        "a:*" };
    static const char *const bad[] = { "",        ":",      "signal",     "signal:",
                                       ":x",      "a:b\n",  "a:\x1b[m",   "\ta:b",
                                       "a:b\x7f", "a:\xff", "a:\xc2\x85", "a:\xc3" };

    for (size_t i = 0; i < COUNT(good); i++)
        CHECK(trust_identity_check(good[i], NULL) == 0);
    for (size_t i = 0; i < COUNT(bad); i++) {
        auto_error coop_error *err = NULL;

        CHECK(trust_identity_check(bad[i], &err) == -EINVAL);
        for (const char *p = coop_error_message(err); *p; p++)
            CHECK((unsigned char)*p >= 0x20 && *p != 0x7F);
        CHECK(coop_error_hint(err));
    }
    memset(longest, 'x', sizeof longest);
    longest[1] = ':';
    longest[TRUST_IDENTITY_MAX + 1] = '\0';
    CHECK(trust_identity_check(longest, NULL) == -EINVAL);
    longest[TRUST_IDENTITY_MAX] = '\0';
    CHECK(trust_identity_check(longest, NULL) == 0);
}

TEST(patterns_end_in_a_star_or_have_none)
{
    static const char *const good[] = { "signal:*", "signal:+1*", "terminal:default" };
    static const char *const bad[] = {
        "*", "signal*", "sig*:x", "signal:*1", "signal:**", "", "x:"
    };

    for (size_t i = 0; i < COUNT(good); i++)
        CHECK(trust_pattern_check(good[i], NULL) == 0);
    for (size_t i = 0; i < COUNT(bad); i++)
        CHECK(trust_pattern_check(bad[i], NULL) == -EINVAL);
}

TEST(the_most_specific_pattern_decides)
{
    static const struct {
        const char *identity;
        const char *name; /* NULL: nobody */
    } rows[] = {
        { "terminal:default", "alice" },
        { "terminal:other", NULL },
        { "signal:+15555550100", "alice" },
        { "signal:+155555501000", "carol" },
        { "signal:+1555", "carol" },
        { "signal:+1666", "dave" },
        { "signal:+16667", "dave" },
        { "signal:+166", "carol" },
        { "webhook:ci-main", "dave" },
        { "webhook:ci-mai", "bob" },
        { "webhook:ci-main2", "bob" },
        { "webhook:c", NULL },
        { "Signal:x", NULL },
        { "signal:", "carol" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct trust_match match = trust_match(users, COUNT(users), rows[i].identity);

        CHECK(match.kind == (rows[i].name ? TRUST_MATCH_USER : TRUST_MATCH_NONE));
        if (rows[i].name)
            CHECK_STR(match.user->name, rows[i].name);
        else
            CHECK(!match.user && !match.pattern);
    }
}

TEST(one_pattern_with_two_users_is_ambiguous_unless_something_beats_it)
{
    const struct trust_user two[] = {
        { "a", TRUST_FULL, MATCH(P("x:*", 1), P("x:1", 2), P("x:1", 2)) },
        { "b", TRUST_INNER, MATCH(P("x:*", 3), P("x:2", 4)) },
    };
    auto_error coop_error *err = NULL;
    struct trust_decision decision;
    const struct trust_rules rules = { .users = two, .n_users = 2 };
    struct trust_match match = trust_match(two, 2, "x:3");

    CHECK(match.kind == TRUST_MATCH_AMBIGUOUS);
    CHECK_STR(match.user->name, "a");
    CHECK_STR(match.other->name, "b");
    CHECK(trust_match(two, 2, "x:1").kind == TRUST_MATCH_USER);
    match = trust_match(two, 2, "x:2");
    CHECK(match.kind == TRUST_MATCH_USER && match.user == &two[1] && !match.other);
    CHECK(trust_decide(&rules, "x:3", NULL, &decision, &err) == -EINVAL);
    CHECK_STR(coop_error_message(err),
              "the identity 'x:3' is ambiguous: users 'a' and 'b' both match it with 'x:*'");
}

static enum trust decided(const struct trust_rules *rules, const char *identity, const char *group)
{
    struct trust_decision decision;

    CHECK(trust_decide(rules, identity, group, &decision, NULL) == 0);
    return decision.trust;
}

TEST(the_owner_stays_owner_in_direct_messages_only)
{
    const struct trust_rules rules = { .users = users, .n_users = COUNT(users) };

    CHECK(decided(&rules, "signal:+15555550100", NULL) == TRUST_OWNER);
    CHECK(decided(&rules, "signal:+15555550100", "family") == TRUST_FAMILIAR);
    CHECK(decided(&rules, "signal:+15555550100", "") == TRUST_FAMILIAR);
    CHECK(decided(&rules, "webhook:none", "family") == TRUST_PUBLIC);
}

TEST(the_terminal_is_the_owners_when_enabled_and_unmatched)
{
    struct trust_rules rules = { .users = users + 1, .n_users = COUNT(users) - 1 };

    CHECK(decided(&rules, "terminal:default", NULL) == TRUST_PUBLIC);
    CHECK(decided(&(struct trust_rules){ 0 }, "terminal:default", NULL) == TRUST_FULL);
    CHECK(decided(&(struct trust_rules){ 0 }, "terminal:default", "x") == TRUST_FAMILIAR);
    CHECK(decided(&(struct trust_rules){ 0 }, "terminal:Default", NULL) == TRUST_PUBLIC);
    CHECK(decided(&(struct trust_rules){ 0 }, "signal:unknown", NULL) == TRUST_PUBLIC);
    rules.sandbox_enabled = true;
    CHECK(decided(&rules, "terminal:default", NULL) == TRUST_OWNER);
    CHECK(decided(&rules, "terminal:default", "x") == TRUST_FAMILIAR);
    CHECK(decided(&rules, "terminal:default2", NULL) == TRUST_PUBLIC);
    CHECK(decided(&rules, "webhook:unknown", NULL) == TRUST_PUBLIC);
    const struct trust_user matched = { "eve", TRUST_INNER, MATCH(P("terminal:*", 1)) };
    rules.users = &matched;
    rules.n_users = 1;
    CHECK(decided(&rules, "terminal:default", NULL) == TRUST_INNER);
}

TEST(groups_set_other_ceilings)
{
    const struct trust_group groups[] = {
        { "*", TRUST_PUBLIC, AT(1) },       { "work-*", TRUST_INNER, AT(2) },
        { "work-lead", TRUST_FULL, AT(3) }, { "same", TRUST_FULL, AT(4) },
        { "same", TRUST_FAMILIAR, AT(5) },
    };
    const struct trust_rules rules = { users, COUNT(users), groups, COUNT(groups), true };
    struct trust_decision decision;

    CHECK(decided(&rules, "terminal:default", "work-lead") == TRUST_FULL);
    CHECK(decided(&rules, "terminal:default", "work-x") == TRUST_INNER);
    CHECK(decided(&rules, "terminal:default", "else") == TRUST_PUBLIC);
    CHECK(decided(&rules, "terminal:default", "") == TRUST_PUBLIC);
    CHECK(decided(&rules, "terminal:default", "same") == TRUST_FAMILIAR);
    CHECK(decided(&rules, "signal:+1666", "work-lead") == TRUST_INNER);
    CHECK(trust_decide(&rules, "terminal:default", "work-x", &decision, NULL) == 0);
    CHECK(decision.group == &groups[1] && decision.has_ceiling);
    CHECK(decision.user == &users[0] && decision.user_trust == TRUST_OWNER);
    CHECK(trust_decide(&rules, "terminal:default", "a\nb", &decision, NULL) == -EINVAL);
    CHECK(trust_decide(&rules, "terminal", NULL, &decision, NULL) == -EINVAL);
}

/* ---- the check */

static void check_found(const struct findings *findings, size_t i, enum severity severity,
                        unsigned line, const char *part)
{
    CHECK(i < findings->n);
    CHECK(findings->items[i].severity == severity);
    CHECK(findings->items[i].origin.line == line);
    if (!strstr(findings->items[i].message, part))
        CHECK_STR(findings->items[i].message, part);
}

TEST(a_sound_list_has_no_findings)
{
    auto_findings struct findings findings = { 0 };

    trust_check_users(users, COUNT(users), true, &findings);
    CHECK(findings.n == 0 && !findings.failed);
    trust_check_users(NULL, 0, false, &findings);
    CHECK(findings.n == 0);
}

TEST(every_mistake_is_found_in_one_go)
{
    auto_findings struct findings findings = { 0 };
    const struct trust_user wrong[] = {
        { "a", TRUST_OWNER, MATCH(P("x:1", 11), P("x:*", 12), P("x:1", 13)), AT(1) },
        { "a", TRUST_FULL, MATCH(P("x:*", 21), P("*", 22), P("y:1", 23)), AT(2) },
        { "", TRUST_FULL, MATCH(P("z:1", 31)), AT(3) },
        { "b", TRUST_OWNER, .origin = AT(4), .trust_origin = AT(40) },
    };

    trust_check_users(wrong, COUNT(wrong), true, &findings);
    CHECK(findings.n == 8 && findings.n_errors == 4);
    check_found(&findings, 0, SEVERITY_ERROR, 3, "is empty");
    check_found(&findings, 1, SEVERITY_ERROR, 2, "the user 'a' is defined twice, first on line 1");
    check_found(&findings, 2, SEVERITY_ERROR, 22, "the pattern '*' would match every channel");
    check_found(&findings, 3, SEVERITY_WARNING, 4, "the 'match' of user 'b' is empty");
    check_found(&findings, 4, SEVERITY_ERROR, 21, "'x:*' is in the 'match' of user 'a' and");
    check_found(&findings, 5, SEVERITY_WARNING, 11, "'x:1' changes nothing: 'x:*' of the same");
    check_found(&findings, 6, SEVERITY_WARNING, 13, "'x:1' is twice in the 'match' of user 'a'");
    check_found(&findings, 7, SEVERITY_WARNING, 40, "user 'b' is owner, and so is 'a'");
}

TEST(a_pattern_changes_something_when_another_user_stands_between)
{
    auto_findings struct findings findings = { 0 };
    const struct trust_user between[] = {
        { "a", TRUST_OWNER, MATCH(P("x:*", 1), P("x:123*", 2), P("x:1239", 3), P("x:2", 4)) },
        { "b", TRUST_FULL, MATCH(P("x:1*", 5), P("x:123", 6)) },
    };

    trust_check_users(between, COUNT(between), true, &findings);
    CHECK(findings.n == 2);
    check_found(&findings, 0, SEVERITY_WARNING, 3, "'x:1239' changes nothing: 'x:123*'");
    check_found(&findings, 1, SEVERITY_WARNING, 4, "'x:2' changes nothing: 'x:*'");
}

TEST(without_an_owner_the_terminal_counts)
{
    auto_findings struct findings findings = { 0 };
    const struct trust_user taken = { "bob", TRUST_FULL, MATCH(P("terminal:*", 7)) };

    trust_check_users(&taken, 1, false, &findings);
    CHECK(findings.n == 0);
    trust_check_users(&taken, 1, true, &findings);
    check_found(&findings, 0, SEVERITY_WARNING, 7, "belongs to user 'bob' (full)");
    trust_check_users(users + 1, COUNT(users) - 1, true, &findings);
    CHECK(findings.n == 2);
    check_found(&findings, 1, SEVERITY_INFO, 0, "whoever uses the terminal is");
}

TEST(groups_are_checked_likewise)
{
    auto_findings struct findings findings = { 0 };
    const struct trust_group groups[] = {
        { "x", TRUST_INNER, AT(1) }, { "*", TRUST_PUBLIC, AT(2) }, { "a*b", TRUST_FULL, AT(3) },
        { "y", TRUST_OWNER, AT(4) }, { "x", TRUST_FULL, AT(5) },   { "", TRUST_FULL, AT(6) },
    };

    trust_check_groups(groups, COUNT(groups), &findings);
    CHECK(findings.n == 4);
    check_found(&findings, 0, SEVERITY_ERROR, 3, "has a '*' before its end");
    check_found(&findings, 1, SEVERITY_WARNING, 4, "run on the host");
    check_found(&findings, 2, SEVERITY_ERROR, 6, "is empty");
    check_found(&findings, 3, SEVERITY_ERROR, 5, "two ceilings, the first on line 1");
}
