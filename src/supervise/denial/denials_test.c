#include "supervise/denial/denials.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "test/check.h"

static struct denial_note refused(const char *target)
{
    return (struct denial_note){
        .op = DENIAL_WRITE, .error = EACCES, .nr = -1, .rule = 3, .target = target, .at_ms = 7
    };
}

TEST(what_is_the_same_is_one_record_with_a_count)
{
    struct denials denials = { 0 };
    struct denial_note note = refused("/work/.git/hooks/x");

    CHECK(denials_note(&denials, &note) == 0);
    note.at_ms = 99;
    CHECK(denials_note(&denials, &note) == 0);
    CHECK(denials.n == 1);
    CHECK(denials.items[0].count == 2);
    CHECK(denials.items[0].first_ms == 7);
    denials_done(&denials);
}

TEST(every_field_that_identifies_one_tells_them_apart)
{
    struct denials denials = { 0 };
    struct denial_note notes[7];

    for (int i = 0; i < 7; i++)
        notes[i] = refused("/a");
    notes[1].op = DENIAL_CREATE;
    notes[2].error = EROFS;
    notes[3].nr = 2;
    notes[4].rule = 4;
    notes[5].target = "/b";
    notes[6].value = 17;
    for (int i = 0; i < 7; i++)
        CHECK(denials_note(&denials, &notes[i]) == i);
    for (int i = 0; i < 7; i++)
        CHECK(denials_note(&denials, &notes[i]) == i);
    CHECK(denials.n == 7);
    denials_done(&denials);
}

TEST(the_gate_gives_words_and_totals)
{
    struct denials denials = { 0 };
    struct denial_note note = { .op = DENIAL_DNS,
                                .nr = -1,
                                .rule = DENIAL_NO_RULE,
                                .target = "example.org",
                                .rule_text = "network.allow",
                                .origin = "coop.toml:3:1",
                                .why = "no rule names it",
                                .allow = "--allow-host example.org",
                                .count = 4,
                                .is_total = true };

    CHECK(denials_note(&denials, &note) == 0);
    note.count = 9;
    CHECK(denials_note(&denials, &note) == 0);
    note.count = 5; /* late */
    CHECK(denials_note(&denials, &note) == 0);
    CHECK(denials.items[0].count == 9);
    CHECK(strcmp(denials.items[0].origin, "coop.toml:3:1") == 0);
    CHECK(strcmp(denials.items[0].allow, "--allow-host example.org") == 0);
    denials_done(&denials);
}

TEST(a_flood_is_bounded_and_summed)
{
    struct denials denials = { 0 };
    char target[32];

    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 100000; i++) {
            (void)snprintf(target, sizeof target, "/work/%d", i);
            struct denial_note note = refused(target);

            CHECK(denials_note(&denials, &note) == (i < DENIALS_MAX ? i : -1));
        }
    CHECK(denials.n == DENIALS_MAX);
    CHECK(denials.more == 2 * (100000 - DENIALS_MAX));
    CHECK(denials.items[DENIALS_MAX - 1].count == 2);
    CHECK(!denials.failed);
    denials_done(&denials);
}

TEST(an_index_that_is_not_there_counts_nothing)
{
    struct denials denials = { 0 };
    struct denial_note note = refused("/a");

    CHECK(denials_note(&denials, &note) == 0);
    denials_count(&denials, -1, 9);
    denials_count(&denials, 1, 9);
    CHECK(denials.items[0].count == 1);
    denials_count(&denials, 0, 9);
    CHECK(denials.items[0].count == 9);
    denials_done(&denials);
}

TEST(every_operation_has_a_name)
{
    for (int i = 0; i < DENIAL_OPS; i++)
        CHECK(denial_op_names[i] && *denial_op_names[i]);
}

TEST(what_nobody_has_words_for_goes)
{
    struct denials denials = { 0 };
    struct denial_note note = refused("/a");

    CHECK(denials_note(&denials, &note) == 0);
    note.target = "/b";
    note.rule_text = "a rule";
    CHECK(denials_note(&denials, &note) == 1);
    denials_drop_wordless(&denials);
    CHECK(denials.n == 1);
    CHECK_STR(denials.items[0].target, "/b");
    denials_done(&denials);
}
