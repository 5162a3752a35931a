/*
 * schema.c - coop config schema: the table of keys as a JSON Schema
 *
 * For editors that complete and check while somebody types; coop itself checks more than a schema
 * can say.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json/write.h"
#include "cli/config/config.h"
#include "config/schema.h"

static void write_pair(struct json_writer *json, const char *key, const char *text)
{
    json_write_key(json, key);
    json_write_text(json, text);
}

static const struct {
    const char *type;
    const char *pattern;
} forms[] = {
    [SCHEMA_TABLE] = { "object", NULL },
    [SCHEMA_TABLES] = { "array", NULL },
    [SCHEMA_BOOL] = { "boolean", NULL },
    [SCHEMA_WORD] = { "string", NULL },
    [SCHEMA_COUNT] = { "integer", NULL },
    [SCHEMA_DECIMAL] = { "number", NULL },
    [SCHEMA_SIZE] = { "string", "^([0-9]+(\\.[0-9]+)?([kKmMgGtT]?([iI]?[bB])?)|none)$" },
    [SCHEMA_DURATION] = { "string", "^(([0-9]+(\\.[0-9]+)?(ms|[smhd])?)+|none)$" },
    [SCHEMA_TEXT] = { "string", NULL },
    [SCHEMA_PATH] = { "string", "." },
    [SCHEMA_TARGET] = { "string", "^/" },
    [SCHEMA_VARIABLE] = { "string", "^[A-Za-z_][A-Za-z0-9_]*$" },
    [SCHEMA_HOST] = { "string", "." },
    [SCHEMA_EXPECTATION] = { "string", "^(read|write|exec|connect|env|--) " },
    [SCHEMA_COMMAND] = { "string", "." },
};

/* One scalar, its type and form. */
static void write_form(struct json_writer *json, const struct schema_row *row)
{
    write_pair(json, "type", forms[row->type].type);
    if (forms[row->type].pattern)
        write_pair(json, "pattern", forms[row->type].pattern);
    if (row->type == SCHEMA_COUNT) {
        json_write_key(json, "minimum");
        json_write_int(json, 1);
    }
    if (row->type == SCHEMA_DECIMAL) {
        json_write_key(json, "exclusiveMinimum");
        json_write_int(json, 0);
    }
    if (row->words) {
        json_write_key(json, "enum");
        json_write_array_begin(json);
        for (size_t i = 0; row->words[i]; i++)
            json_write_text(json, row->words[i]);
        const char *means;
        const char *other = schema_other_word(row, &means);
        if (other)
            json_write_text(json, other);
        json_write_array_end(json);
    }
}

static void write_default(struct json_writer *json, const struct schema_row *row)
{
    if (!row->fallback)
        return;
    json_write_key(json, "default");
    if (row->type == SCHEMA_BOOL)
        json_write_bool(json, strcmp(row->fallback, "true") == 0);
    else if (row->type == SCHEMA_COUNT)
        json_write_int(json, strtoll(row->fallback, NULL, 10));
    else
        json_write_text(json, row->fallback);
}

static void write_list(struct json_writer *json, const struct schema_row *row)
{
    write_pair(json, "type", "array");
    json_write_key(json, "items");
    json_write_object_begin(json);
    write_form(json, row);
    json_write_object_end(json);
}

/* One of two forms: {"anyOf": [{ scalar }, { ... }]}. */
static void write_alternatives(struct json_writer *json, const struct schema_row *row)
{
    json_write_key(json, "anyOf");
    json_write_array_begin(json);
    json_write_object_begin(json);
    write_form(json, row);
    json_write_object_end(json);
    json_write_object_begin(json);
    if (row->type == SCHEMA_COMMAND) {
        write_list(json, row);
    } else if (row->type == SCHEMA_SIZE || row->type == SCHEMA_DURATION) {
        write_pair(json, "type", "integer");
        json_write_key(json, "minimum");
        json_write_int(json, 1);
    } else {
        write_pair(json, "const", "none");
    }
    json_write_object_end(json);
    json_write_array_end(json);
}

static bool has_alternatives(const struct schema_row *row)
{
    return row->type == SCHEMA_COMMAND || row->type == SCHEMA_SIZE ||
           row->type == SCHEMA_DURATION || (row->flags & SCHEMA_NONE && row->type != SCHEMA_TABLE);
}

static void write_table(struct json_writer *json, const struct schema_row *table);

static void write_row(struct json_writer *json, const struct schema_row *row)
{
    json_write_object_begin(json);
    write_pair(json, "description", row->help);
    write_default(json, row);
    if (row->type == SCHEMA_TABLES) {
        write_pair(json, "type", "array");
        json_write_key(json, "items");
        json_write_object_begin(json);
        write_table(json, row);
        json_write_object_end(json);
    } else if (row->type == SCHEMA_TABLE && (row->flags & SCHEMA_NONE || row->short_for)) {
        json_write_key(json, "anyOf");
        json_write_array_begin(json);
        json_write_object_begin(json);
        if (row->short_for)
            write_form(json, schema_child(row, row->short_for, strlen(row->short_for)));
        else
            write_pair(json, "const", "none");
        json_write_object_end(json);
        json_write_object_begin(json);
        write_table(json, row);
        json_write_object_end(json);
        json_write_array_end(json);
    } else if (row->type == SCHEMA_TABLE) {
        write_table(json, row);
    } else if (row->flags & SCHEMA_LIST) {
        write_list(json, row);
    } else if (has_alternatives(row)) {
        write_alternatives(json, row);
    } else {
        write_form(json, row);
    }
    json_write_object_end(json);
}

static void write_required(struct json_writer *json, const struct schema_row *table)
{
    bool is_begun = false;

    for (const struct schema_row *row = NULL; (row = schema_next_child(table, row));) {
        if (!(row->flags & SCHEMA_REQUIRED))
            continue;
        if (!is_begun) {
            json_write_key(json, "required");
            json_write_array_begin(json);
            is_begun = true;
        }
        json_write_text(json, schema_key(row));
    }
    if (is_begun)
        json_write_array_end(json);
}

/* The members of a schema for a table; NULL: the top. */
static void write_table(struct json_writer *json, const struct schema_row *table)
{
    const struct schema_row *any = NULL;

    write_pair(json, "type", "object");
    json_write_key(json, "properties");
    json_write_object_begin(json);
    for (const struct schema_row *row = NULL; (row = schema_next_child(table, row));) {
        if (*schema_key(row) == '*') {
            any = row;
            continue;
        }
        json_write_key(json, schema_key(row));
        write_row(json, row);
    }
    json_write_object_end(json);
    write_required(json, table);
    json_write_key(json, "additionalProperties");
    if (any)
        write_row(json, any);
    else
        json_write_bool(json, false);
}

static int schema_main(int argc, char **argv)
{
    auto_error coop_error *err = NULL;
    auto_buffer struct buffer text = { 0 };
    struct json_writer json;
    int n = command_parse(&config_schema, argc, argv, NULL, &err);

    if (n == -ECANCELED)
        return 0;
    if (n >= 0 && n < argc)
        n = fail_kind(&err, COOP_ERROR_BAD_POLICY, EINVAL, "takes no operand, but '%s' is given",
                      argv[n]);
    if (n < 0) {
        command_complain("config schema", err);
        return 2;
    }
    json_write_init(&json, &text, true);
    json_write_object_begin(&json);
    write_pair(&json, "$schema", "https://json-schema.org/draft/2020-12/schema");
    write_pair(&json, "title", "configuration of coop");
    write_table(&json, NULL);
    json_write_object_end(&json);
    json_write_finish(&json);
    if (config_print(&text, &err) == 0)
        return 0;
    command_complain("config schema", err);
    return 1;
}

static const struct command_option options[] = {
    { "help", 'h', NULL, "show this help", NULL },
    { 0 },
};

const struct command config_schema = {
    .name = "config schema",
    .arguments = "",
    .summary = "print a JSON Schema of configuration files, for editors",
    .options = options,
    .run = schema_main,
};
