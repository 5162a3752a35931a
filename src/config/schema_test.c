/* worlds: user */
#include "config/schema.h"

#include "base/cleanup.h"
#include "config/value.h"
#include "test/check.h"

TEST(every_row_can_be_found_and_has_a_sentence)
{
    for (const struct schema_row *row = schema_rows; row->path; row++) {
        CHECK(schema_find(row->path) == row); /* also: no path twice */
        CHECK(row->help && *row->help && row->help[strlen(row->help) - 1] != '.');
    }
    CHECK(!schema_find("sandbox.nonsense"));
}

TEST(every_row_lies_in_a_table_that_has_a_row)
{
    for (const struct schema_row *row = schema_rows; row->path; row++) {
        char parent[128];

        (void)snprintf(parent, sizeof parent, "%s", row->path);
        char *dot = strrchr(parent, '.');
        if (!dot)
            continue;
        *dot = '\0';
        bool in_list = dot - parent > 2 && strcmp(dot - 2, "[]") == 0;
        if (in_list)
            dot[-2] = '\0';
        const struct schema_row *table = schema_find(parent);
        CHECK(table);
        CHECK(table->type == (in_list ? SCHEMA_TABLES : SCHEMA_TABLE));
        CHECK(schema_child(table, schema_key(row), strlen(schema_key(row))) == row);
    }
}

TEST(defaults_are_values_of_their_type)
{
    for (const struct schema_row *row = schema_rows; row->path; row++) {
        uint64_t number = 0;

        if (!row->fallback)
            continue;
        CHECK(!(row->flags & SCHEMA_LIST));
        switch (row->type) {
        case SCHEMA_BOOL:
            CHECK(strcmp(row->fallback, "true") == 0 || strcmp(row->fallback, "false") == 0);
            break;
        case SCHEMA_WORD:
            CHECK(schema_word(row, row->fallback) >= 0);
            break;
        case SCHEMA_COUNT:
        case SCHEMA_DECIMAL:
        case SCHEMA_SIZE:
        case SCHEMA_DURATION:
            CHECK(value_number_of_text(row, row->fallback, &number, NULL) == 0 && number > 0);
            break;
        case SCHEMA_TABLE:
        case SCHEMA_TABLES:
        case SCHEMA_TEXT:
        case SCHEMA_PATH:
        case SCHEMA_TARGET:
        case SCHEMA_VARIABLE:
        case SCHEMA_HOST:
        case SCHEMA_EXPECTATION:
        case SCHEMA_COMMAND:
            CHECK(!"a default of this type is not thought of");
        }
    }
}

TEST(words_belong_to_words_alone)
{
    for (const struct schema_row *row = schema_rows; row->path; row++)
        CHECK((row->type == SCHEMA_WORD) == (row->words != NULL));
}

TEST(two_spellings_point_at_each_other_and_say_the_same)
{
    size_t n = 0;

    for (const struct schema_row *row = schema_rows; row->path; row++) {
        if (row->also) {
            const struct schema_row *other = schema_find(row->also);

            CHECK(other && other->same_as && strcmp(other->same_as, row->path) == 0);
            CHECK(other->type == row->type && other->flags == row->flags);
            CHECK(other->project == row->project && other->words == row->words);
            n++;
        }
        if (row->same_as)
            CHECK(strcmp(schema_find(row->same_as)->also, row->path) == 0);
    }
    CHECK(n == 4);
}

TEST(rules_fit_the_types)
{
    for (const struct schema_row *row = schema_rows; row->path; row++) {
        bool is_number = row->type == SCHEMA_COUNT || row->type == SCHEMA_DECIMAL ||
                         row->type == SCHEMA_SIZE || row->type == SCHEMA_DURATION;

        if (row->project == PROJECT_SMALLER)
            CHECK(is_number);
        if (row->project == PROJECT_STRICTER)
            CHECK((row->type == SCHEMA_BOOL || row->type == SCHEMA_WORD) && row->fallback);
        if (row->project == PROJECT_FEWER)
            CHECK(row->flags & SCHEMA_LIST);
        if (row->project == PROJECT_MORE)
            CHECK(row->flags & SCHEMA_LIST || row->type == SCHEMA_TABLES);
        /* A log that is removed sooner is no stricter one. */
        if (is_number)
            CHECK(row->project == PROJECT_SMALLER || strncmp(row->path, "audit.", 6) == 0);
    }
}

TEST(an_override_has_the_keys_of_the_sandbox_but_two)
{
    const struct schema_row *override = schema_find("users[].sandbox");

    CHECK(schema_child(override, "memory", 6) == schema_find("sandbox.memory"));
    CHECK(!schema_child(override, "enabled", 7));
    CHECK(!schema_child(override, "workspace", 9));
}

TEST(names_give_way_to_keys)
{
    const struct schema_row *commands = schema_find("commands");

    CHECK(schema_child(commands, "strength", 8) == schema_find("commands.strength"));
    CHECK(schema_child(commands, "git", 3) == schema_find("commands.*"));
    CHECK(schema_child(commands, "*", 1) == schema_find("commands.*"));
    CHECK(schema_child(NULL, "commands", 8) == commands);
    CHECK(!schema_child(NULL, "command", 7));
    CHECK(!schema_child(NULL, "commands\0", 9));
}
