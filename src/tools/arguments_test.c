#include "arguments.h"

#include <errno.h>

#include "base/cleanup.h"
#include "test/check.h"
#include "tools/tools.h"

static const char schema[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"path\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":4},"
    "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":10},"
    "\"least\":{\"type\":\"integer\",\"minimum\":-2},"
    "\"deep\":{\"type\":\"boolean\"},"
    "\"sort\":{\"type\":\"string\",\"enum\":[\"name\",\"size\"]},"
    "\"edits\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":2,\"items\":{\"type\":\"object\","
    "\"properties\":{\"old\":{\"type\":\"string\"}},\"required\":[\"old\"],"
    "\"additionalProperties\":false}}},"
    "\"required\":[\"path\"],\"additionalProperties\":false}";

/* What is said of these arguments, "" for nothing; lives until the next call. */
static const char *said(const char *text)
{
    static coop_error *err;
    auto_json_document struct json_document rules = { 0 };
    auto_json_document struct json_document arguments = { 0 };

    coop_error_free(err);
    err = NULL;
    CHECK(json_read(schema, strlen(schema), &rules, NULL) == 0);
    CHECK(json_read(text, strlen(text), &arguments, NULL) == 0);
    int r = arguments_check("tool", rules.root, arguments.root, &err);
    CHECK(r == 0 || r == -EINVAL);
    CHECK((r == 0) == (err == NULL));
    return r == 0 ? "" : coop_error_message(err);
}

TEST(what_fits_passes)
{
    CHECK_STR(said("{\"path\":\"a\"}"), "");
    CHECK_STR(said("{\"path\":\"abcd\",\"limit\":10,\"deep\":true,\"sort\":\"size\",\"least\":-2,"
                   "\"edits\":[{\"old\":\"\"},{\"old\":\"x\"}]}"),
              "");
}

TEST(a_whole_number_may_be_written_with_a_point)
{
    CHECK_STR(said("{\"path\":\"a\",\"limit\":5.0}"), "");
    CHECK_STR(said("{\"path\":\"a\",\"limit\":5.5}"),
              "tool: 'limit' is 5.5, and must be a whole number");
    CHECK_STR(said("{\"path\":\"a\",\"limit\":1e400}"),
              "tool: 'limit' is 1e400, and must be a whole number");
    CHECK_STR(said("{\"path\":\"a\",\"limit\":99999999999999999999}"),
              "tool: 'limit' is 99999999999999999999, and must be a whole number");
}

TEST(numbers_have_bounds)
{
    CHECK_STR(said("{\"path\":\"a\",\"limit\":0}"), "tool: 'limit' is 0, and must be from 1 to 10");
    CHECK_STR(said("{\"path\":\"a\",\"limit\":11}"),
              "tool: 'limit' is 11, and must be from 1 to 10");
    CHECK_STR(said("{\"path\":\"a\",\"least\":-3}"),
              "tool: 'least' is -3, and must be at least -2");
}

TEST(text_has_bounds_in_characters)
{
    CHECK_STR(said("{\"path\":\"\"}"), "tool: 'path' is empty");
    CHECK_STR(said("{\"path\":\"\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\"}"), "");
    CHECK_STR(said("{\"path\":\"abcde\"}"), "tool: 'path' has more than 4 characters");
}

TEST(another_type_is_a_mistake)
{
    CHECK_STR(said("{\"path\":7}"), "tool: 'path' is a number, and must be text");
    CHECK_STR(said("{\"path\":\"a\",\"deep\":\"true\"}"),
              "tool: 'deep' is text, and must be true or false");
    CHECK_STR(
        said("{\"path\":\"a\",\"limit\":null}"),
        "tool: 'limit' is null, and must be a whole number; omit arguments that you do not need");
    CHECK_STR(said("{\"path\":\"a\",\"edits\":{}}"),
              "tool: 'edits' is an object, and must be an array");
}

TEST(a_choice_is_one_of_those_named)
{
    CHECK_STR(said("{\"path\":\"a\",\"sort\":\"date\"}"),
              "tool: 'sort' is 'date', and must be one of 'name', 'size'");
}

TEST(unknown_arguments_are_mistakes_and_the_near_one_is_named)
{
    CHECK_STR(said("{\"path\":\"a\",\"limti\":3}"),
              "tool: 'limti' is not an argument of this tool; did you mean 'limit'?");
    CHECK_STR(said("{\"path\":\"a\",\"zzzzz\":3}"),
              "tool: 'zzzzz' is not an argument of this tool");
}

TEST(what_is_missing_is_named_with_its_place)
{
    CHECK_STR(said("{}"), "tool: 'path' is missing");
    CHECK_STR(said("{\"path\":\"a\",\"edits\":[{\"old\":\"x\"},{}]}"),
              "tool: 'edits[1].old' is missing");
    CHECK_STR(said("{\"path\":\"a\",\"edits\":[{\"old\":\"x\",\"new\":1}]}"),
              "tool: 'edits[0].new' is not an argument of this tool");
}

TEST(arrays_have_bounds)
{
    CHECK_STR(said("{\"path\":\"a\",\"edits\":[]}"), "tool: 'edits' needs at least 1 item");
    CHECK_STR(said("{\"path\":\"a\",\"edits\":[{\"old\":\"\"},{\"old\":\"\"},{\"old\":\"\"}]}"),
              "tool: 'edits' has 3 items, and may have 2");
}

TEST(all_mistakes_are_told_but_not_without_end)
{
    CHECK_STR(said("{\"limit\":0,\"deep\":1}"), "tool: 'limit' is 0, and must be from 1 to 10\n"
                                                "'deep' is a number, and must be true or false\n"
                                                "'path' is missing");
    const char *many = said("{\"a\":0,\"b\":0,\"c\":0,\"d\":0,\"e\":0,\"f\":0,\"g\":0,\"h\":0,"
                            "\"i\":0,\"j\":0,\"k\":0,\"path\":\"a\"}");
    CHECK(strstr(many, "\nand 1 more"));
}

TEST(names_of_arguments_are_made_printable)
{
    CHECK_STR(said("{\"path\":\"a\",\"\\u001b[2J\":3}"),
              "tool: '\\x1b[2J' is not an argument of this tool");
}

TEST(the_hint_says_what_the_tool_takes)
{
    auto_json_document struct json_document rules = { 0 };
    auto_json_document struct json_document arguments = { 0 };
    auto_error coop_error *err = NULL;

    CHECK(json_read(schema, strlen(schema), &rules, NULL) == 0);
    CHECK(json_read("{}", 2, &arguments, NULL) == 0);
    CHECK(arguments_check("tool", rules.root, arguments.root, &err) == -EINVAL);
    CHECK_STR(coop_error_hint(err), "tool takes path (required), limit, least, deep, sort, edits");
}

/* ---- the table's own schemas */

static bool is_known_keyword(const char *name)
{
    static const char *const known[] = { "type",      "properties", "required",
                                         "items",     "enum",       "additionalProperties",
                                         "minimum",   "maximum",    "minLength",
                                         "maxLength", "minItems",   "maxItems",
                                         "default",   "description" };

    for (size_t i = 0; i < COUNT(known); i++)
        if (strcmp(known[i], name) == 0)
            return true;
    return false;
}

/* Whether the check knows all of it, and a model is told what each argument is. */
static void check_schema(const struct json_value *rules, bool is_input, bool is_property)
{
    const struct json_value *properties = json_get(rules, "properties");
    const struct json_value *closed = json_get(rules, "additionalProperties");

    CHECK(rules->kind == JSON_OBJECT);
    CHECK(json_get(rules, "type"));
    for (const struct json_value *keyword = rules->first; keyword; keyword = keyword->next)
        CHECK(is_known_keyword(keyword->name));
    if (is_input && strcmp(json_get(rules, "type")->text, "object") == 0)
        CHECK(closed && closed->kind == JSON_BOOL && !closed->truth);
    if (is_input && is_property && strcmp(json_get(rules, "type")->text, "array") != 0)
        CHECK(json_get(rules, "description"));
    for (const struct json_value *p = properties ? properties->first : NULL; p; p = p->next)
        check_schema(p, is_input, true);
    if (json_get(rules, "items"))
        check_schema(json_get(rules, "items"), is_input, false);
    const struct json_value *required = json_get(rules, "required");
    for (const struct json_value *name = required ? required->first : NULL; name; name = name->next)
        CHECK(json_get(properties, name->text));
}

TEST(every_schema_of_the_table_is_one_that_the_check_knows)
{
    for (size_t i = 0; tool_row(i); i++) {
        const coop_tool *face = coop_tool_at(i);
        const char *const texts[] = { face->input_schema, face->output_schema };

        for (size_t k = 0; k < COUNT(texts); k++) {
            auto_json_document struct json_document rules = { 0 };
            auto_error coop_error *err = NULL;

            if (!texts[k])
                continue;
            if (json_read(texts[k], strlen(texts[k]), &rules, &err) < 0)
                printf("# %s: %s\n", face->name, coop_error_message(err));
            CHECK(rules.root);
            check_schema(rules.root, k == 0, false);
        }
    }
}

TEST(every_row_tells_a_model_enough)
{
    CHECK(tool_row(0));
    for (size_t i = 0; tool_row(i); i++) {
        const coop_tool *face = coop_tool_at(i);

        CHECK(face == &tool_row(i)->face);
        CHECK(strlen(face->description) > 20 && strlen(face->title) > 2);
        CHECK(tool_row(i)->run);
        if (tool_row(i)->need == TOOL_READS)
            CHECK(face->flags & COOP_TOOL_READ_ONLY);
        if (face->flags & COOP_TOOL_READ_ONLY)
            CHECK(!(face->flags & COOP_TOOL_DESTRUCTIVE));
        for (size_t k = 0; k < i; k++)
            CHECK(strcmp(face->name, coop_tool_at(k)->name) != 0);
    }
}
