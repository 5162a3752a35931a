#include "jail/records.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "test/check.h"

static struct record_note refused(const char *target)
{
    return (struct record_note){
        .op = RECORD_WRITE, .error = EACCES, .nr = -1, .rule = 3, .target = target, .at_ms = 7
    };
}

TEST(what_is_the_same_is_one_record_with_a_count)
{
    struct records records = { 0 };
    struct record_note note = refused("/work/.git/hooks/x");

    CHECK(records_note(&records, &note) == 0);
    note.at_ms = 99;
    CHECK(records_note(&records, &note) == 0);
    CHECK(records.n == 1);
    CHECK(records.items[0].count == 2);
    CHECK(records.items[0].first_ms == 7);
    records_done(&records);
}

TEST(every_field_that_identifies_one_tells_them_apart)
{
    struct records records = { 0 };
    struct record_note notes[7];

    for (int i = 0; i < 7; i++)
        notes[i] = refused("/a");
    notes[1].op = RECORD_CREATE;
    notes[2].error = EROFS;
    notes[3].nr = 2;
    notes[4].rule = 4;
    notes[5].target = "/b";
    notes[6].value = 17;
    for (int i = 0; i < 7; i++)
        CHECK(records_note(&records, &notes[i]) == i);
    for (int i = 0; i < 7; i++)
        CHECK(records_note(&records, &notes[i]) == i);
    CHECK(records.n == 7);
    records_done(&records);
}

TEST(the_gate_gives_words_and_totals)
{
    struct records records = { 0 };
    struct record_note note = { .op = RECORD_DNS,
                                .nr = -1,
                                .rule = RECORD_NO_RULE,
                                .target = "example.org",
                                .rule_text = "network.allow",
                                .origin = "coop.toml:3:1",
                                .why = "no rule names it",
                                .allow = "--allow-host example.org",
                                .count = 4,
                                .is_total = true };

    CHECK(records_note(&records, &note) == 0);
    note.count = 9;
    CHECK(records_note(&records, &note) == 0);
    note.count = 5; /* late */
    CHECK(records_note(&records, &note) == 0);
    CHECK(records.items[0].count == 9);
    CHECK(strcmp(records.items[0].origin, "coop.toml:3:1") == 0);
    CHECK(strcmp(records.items[0].allow, "--allow-host example.org") == 0);
    records_done(&records);
}

TEST(a_flood_is_bounded_and_summed)
{
    struct records records = { 0 };
    char target[32];

    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 100000; i++) {
            (void)snprintf(target, sizeof target, "/work/%d", i);
            struct record_note note = refused(target);

            CHECK(records_note(&records, &note) == (i < RECORDS_MAX ? i : -1));
        }
    CHECK(records.n == RECORDS_MAX);
    CHECK(records.more == 2 * (100000 - RECORDS_MAX));
    CHECK(records.items[RECORDS_MAX - 1].count == 2);
    CHECK(!records.failed);
    records_done(&records);
}

TEST(an_index_that_is_not_there_counts_nothing)
{
    struct records records = { 0 };
    struct record_note note = refused("/a");

    CHECK(records_note(&records, &note) == 0);
    records_count(&records, -1, 9);
    records_count(&records, 1, 9);
    CHECK(records.items[0].count == 1);
    records_count(&records, 0, 9);
    CHECK(records.items[0].count == 9);
    records_done(&records);
}

TEST(every_operation_has_a_name)
{
    for (int i = 0; i < RECORD_OPS; i++)
        CHECK(record_op_names[i] && *record_op_names[i]);
}

TEST(what_nobody_has_words_for_goes)
{
    struct records records = { 0 };
    struct record_note note = refused("/a");

    CHECK(records_note(&records, &note) == 0);
    note.target = "/b";
    note.rule_text = "a rule";
    CHECK(records_note(&records, &note) == 1);
    records_drop_wordless(&records);
    CHECK(records.n == 1);
    CHECK_STR(records.items[0].target, "/b");
    records_done(&records);
}
