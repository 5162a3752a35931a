/*
 * show.c - coop config show: what holds, and who said so
 *
 * The effective values in the schema's order, those that nobody wrote among them; what is not set
 * and has no default is left out. Secrets are never shown.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json/write.h"
#include "base/printable.h"
#include "cli/config/config.h"
#include "config/config.h"

#define SECRET_SHOWN "[secret]"

/* Where values go: one line each, or members of a JSON array. */
struct show {
    const struct config *config;
    bool is_json;
    struct json_writer json;
    struct buffer lines; /* key NUL value NUL origin NUL */
    size_t key_width, value_width;
};

/* ---- one value, as TOML or JSON */

static void write_text(struct show *show, struct buffer *out, const char *text)
{
    if (show->is_json) {
        json_write_text(&show->json, text);
        return;
    }
    buffer_append_char(out, '"');
    printable_append(out, text, strlen(text));
    buffer_append_char(out, '"');
}

static void write_bool(struct show *show, struct buffer *out, bool value)
{
    if (show->is_json)
        json_write_bool(&show->json, value);
    else
        buffer_append_string(out, value ? "true" : "false");
}

static bool is_plain_number(const struct schema_row *row)
{
    return row->type == SCHEMA_COUNT || row->type == SCHEMA_DECIMAL;
}

static void write_number(struct show *show, struct buffer *out, const struct config_value *value)
{
    uint64_t number = 0;

    (void)config_value_number(value, &number);
    if (number == CONFIG_NONE) {
        write_text(show, out, "none");
        return;
    }
    if (value->row->type == SCHEMA_COUNT && show->is_json) {
        json_write_uint(&show->json, number);
        return;
    }
    char text[32];
    if (value->row->type == SCHEMA_COUNT)
        (void)snprintf(text, sizeof text, "%" PRIu64, number);
    else
        (void)snprintf(text, sizeof text, "%.10g", (double)number / 1000);
    if (show->is_json)
        json_write_text(&show->json, text);
    else
        buffer_append_string(out, text);
}

static void write_scalar(struct show *show, struct buffer *out, const struct config_value *value)
{
    if (value->row->flags & SCHEMA_SECRET)
        write_text(show, out, SECRET_SHOWN);
    else if (value->row->type == SCHEMA_BOOL)
        write_bool(show, out, config_value_bool(value));
    else if (is_plain_number(value->row))
        write_number(show, out, value);
    else if (value->node && value->node->kind == NODE_INTEGER) { /* a size or duration */
        char text[32];

        (void)snprintf(text, sizeof text, "%" PRId64, value->node->integer);
        write_text(show, out, text);
    } else
        write_text(show, out, config_value_text(value));
}

static void write_list(struct show *show, struct buffer *out, struct config_items items)
{
    size_t n = 0;

    if (show->is_json)
        json_write_array_begin(&show->json);
    else
        buffer_append_char(out, '[');
    for (struct config_value item; config_items_next(&items, &item); n++) {
        if (!show->is_json && n > 0)
            buffer_append_string(out, ", ");
        write_text(show, out, config_value_text(&item));
    }
    if (show->is_json)
        json_write_array_end(&show->json);
    else
        buffer_append_char(out, ']');
}

/* ---- one line */

static void json_origin(struct show *show, const struct config_value *value)
{
    struct json_writer *json = &show->json;

    json_write_key(json, "layer");
    json_write_text(json, config_layer_names[value->layer]);
    json_write_key(json, "origin");
    if (!config_is_set(value)) {
        json_write_null(json);
        return;
    }
    json_write_object_begin(json);
    json_write_key(json, "name");
    json_write_text(json, value->origin.name);
    json_write_key(json, "line");
    json_write_uint(json, value->origin.line);
    json_write_key(json, "column");
    json_write_uint(json, value->origin.column);
    json_write_object_end(json);
}

static void begin(struct show *show, const char *key)
{
    if (show->is_json) {
        json_write_object_begin(&show->json);
        json_write_key(&show->json, "key");
        json_write_text(&show->json, key);
        json_write_key(&show->json, "value");
    }
}

/* A list of a project is added to the owner's: each of those who wrote a part of it is named. */
static void print_origins(struct buffer *out, const struct config_value *value,
                          struct config_items *items)
{
    const struct layer *last = NULL;

    if (items) {
        for (struct config_value item; config_items_next(items, &item);) {
            if (item.source == last)
                continue;
            if (last)
                buffer_append_string(out, ", ");
            origin_print(out, item.origin);
            last = item.source;
        }
    }
    if (!last)
        origin_print(out, config_is_set(value) ? value->origin : (struct origin){ 0 });
}

static void end(struct show *show, const char *key, const struct buffer *text,
                const struct config_value *value, struct config_items *items)
{
    struct buffer *lines = &show->lines;
    size_t n_key = strlen(key);

    if (show->is_json) {
        json_origin(show, value);
        json_write_object_end(&show->json);
        return;
    }
    show->key_width = n_key > show->key_width ? n_key : show->key_width;
    if (text->length <= 40 && text->length > show->value_width)
        show->value_width = text->length;
    printable_append(lines, key, n_key);
    buffer_append_char(lines, '\0');
    buffer_append(lines, text->data, text->length);
    buffer_append_char(lines, '\0');
    print_origins(lines, value, items);
    buffer_append_char(lines, '\0');
    lines->failed |= text->failed;
}

static void show_list(struct show *show, const char *key, const struct config_value *value,
                      struct config_items items)
{
    auto_buffer struct buffer text = { 0 };

    begin(show, key);
    write_list(show, &text, items);
    end(show, key, &text, value, &items);
}

static void show_scalar(struct show *show, const char *key, const struct config_value *value)
{
    auto_buffer struct buffer text = { 0 };

    begin(show, key);
    write_scalar(show, &text, value);
    end(show, key, &text, value, NULL);
}

/* ---- all of them */

static void show_item_keys(struct show *show, const char *key, const struct config_value *table);

/* A key of a table in a list: users[0].trust. */
static void show_child(struct show *show, const char *key, const struct config_value *value)
{
    bool is_array = value->node->kind == NODE_ARRAY;

    if (value->row->type == SCHEMA_TABLE)
        show_item_keys(show, key, value);
    else if (value->row->type == SCHEMA_TABLES) {
        struct config_items items = config_value_items(value);
        size_t i = 0;

        for (struct config_value item; config_items_next(&items, &item); i++) {
            auto_buffer struct buffer path = { 0 };

            buffer_printf(&path, "%s[%zu]", key, i);
            show_item_keys(show, path.data, &item);
        }
    } else if (is_array && !(value->row->flags & SCHEMA_SECRET))
        show_list(show, key, value, config_value_items(value));
    else
        show_scalar(show, key, value);
}

static void show_item_keys(struct show *show, const char *key, const struct config_value *table)
{
    for (const struct schema_row *row = NULL; (row = schema_next_child(table->row, row));) {
        struct config_value value = config_child(table, schema_key(row));
        auto_buffer struct buffer path = { 0 };

        buffer_printf(&path, "%s.%s", key, schema_key(row));
        if (config_is_set(&value) && path.data)
            show_child(show, path.data, &value);
    }
}

static void show_tables(struct show *show, const struct schema_row *row)
{
    struct config_items items = config_items(show->config, row->path);
    size_t i = 0;

    for (struct config_value item; config_items_next(&items, &item); i++) {
        auto_buffer struct buffer path = { 0 };

        buffer_printf(&path, "%s[%zu]", row->path, i);
        if (path.data)
            show_item_keys(show, path.data, &item);
    }
}

/* allow_network and isolate_network are ways to write it; what they come to is shown. */
static void show_network(struct show *show, const char *key, struct config_value value)
{
    struct origin origin;
    enum config_network network = config_network(show->config, &origin);
    auto_buffer struct buffer text = { 0 };

    begin(show, key);
    write_text(show, &text, value.row->words[network]);
    value.origin = origin;
    end(show, key, &text, &value, NULL);
}

static struct config_value network_value(const struct config *config)
{
    static const char *const keys[] = { "sandbox.network", "sandbox.allow_network",
                                        "sandbox.isolate_network" };
    struct config_value value = config_get(config, keys[0]);
    const struct schema_row *row = value.row;

    for (size_t i = 1; i < COUNT(keys); i++) {
        struct config_value other = config_get(config, keys[i]);

        if (other.layer > value.layer)
            value = other;
    }
    value.row = row;
    return value;
}

static void show_leaf(struct show *show, const struct schema_row *row, const char *key,
                      const char *name)
{
    struct config_value value = config_get_named(show->config, row->path, name);
    bool is_array = value.node && value.node->kind == NODE_ARRAY;

    if (strcmp(row->path, "sandbox.network") == 0)
        show_network(show, key, network_value(show->config));
    else if (row->project == PROJECT_NETWORK && !config_is_set(&value))
        return;
    else if (is_array && !(row->flags & SCHEMA_SECRET))
        show_list(show, key, &value, config_items_named(show->config, row->path, name));
    else if (config_is_set(&value) || (row->fallback && !*name))
        show_scalar(show, key, &value);
}

static void show_table(struct show *show, const struct schema_row *table, const char *key,
                       const char *name);

static void show_row(struct show *show, const struct schema_row *row, const char *key,
                     const char *name)
{
    if (row->same_as)
        return;
    if (row->type == SCHEMA_TABLE)
        show_table(show, row, key, name);
    else if (row->type == SCHEMA_TABLES)
        show_tables(show, row);
    else
        show_leaf(show, row, key, name);
}

static void show_names(struct show *show, const struct schema_row *table,
                       const struct schema_row *row, const char *key)
{
    struct config_names names = config_names(show->config, table->path);

    for (const char *name; (name = config_names_next(&names));) {
        auto_buffer struct buffer path = { 0 };

        buffer_printf(&path, "%s.%s", key, name);
        if (path.data)
            show_row(show, row, path.data, name);
    }
}

static void show_table(struct show *show, const struct schema_row *table, const char *key,
                       const char *name)
{
    for (const struct schema_row *row = NULL; (row = schema_next_child(table, row));) {
        auto_buffer struct buffer path = { 0 };

        buffer_printf(&path, "%s%s%s", key, *key ? "." : "", schema_key(row));
        if (*schema_key(row) == '*')
            show_names(show, table, row, key);
        else if (path.data)
            show_row(show, row, path.data, name);
    }
}

/* ---- the command */

static void align(const struct show *show, struct buffer *out)
{
    const char *at = show->lines.data;
    const char *end_of_lines = at + show->lines.length;

    while (at < end_of_lines) {
        const char *value = at + strlen(at) + 1;
        const char *origin = value + strlen(value) + 1;

        buffer_printf(out, "%-*s  %-*s  %s\n", (int)show->key_width, at, (int)show->value_width,
                      value, origin);
        at = origin + strlen(origin) + 1;
    }
    out->failed |= show->lines.failed;
}

static void write_files(struct show *show)
{
    struct json_writer *json = &show->json;

    json_write_key(json, "files");
    json_write_array_begin(json);
    for (size_t i = 0; i < config_n_files(show->config); i++) {
        struct config_file_info info = config_file_info(show->config, i);

        json_write_object_begin(json);
        json_write_key(json, "path");
        json_write_text(json, info.path);
        json_write_key(json, "layer");
        json_write_text(json, config_layer_names[info.layer]);
        json_write_key(json, "approved");
        json_write_bool(json, info.is_approved);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void show_all(const struct config *config, bool is_json, struct buffer *out)
{
    struct show show = { .config = config, .is_json = is_json };

    if (is_json) {
        json_write_init(&show.json, out, true);
        json_write_object_begin(&show.json);
        json_write_key(&show.json, "version");
        json_write_int(&show.json, 1);
        write_files(&show);
        json_write_key(&show.json, "values");
        json_write_array_begin(&show.json);
    }
    show_table(&show, NULL, "", "");
    if (is_json) {
        json_write_array_end(&show.json);
        json_write_object_end(&show.json);
        json_write_finish(&show.json);
    } else {
        align(&show, out);
    }
    buffer_done(&show.lines);
}

struct arguments {
    struct config_request request;
    bool is_json;
};

static int set_json(void *context, const char *value, coop_error **err)
{
    (void)value;
    (void)err;
    ((struct arguments *)context)->is_json = true;
    return 0;
}

static int set_workspace(void *context, const char *value, coop_error **err)
{
    (void)err;
    ((struct arguments *)context)->request.workspace = value;
    return 0;
}

static int set_file(void *context, const char *value, coop_error **err)
{
    (void)err;
    ((struct arguments *)context)->request.file = value;
    return 0;
}

static int show_main(int argc, char **argv)
{
    struct arguments arguments = { .request = { .workspace = "." } };
    auto_error coop_error *err = NULL;
    auto_config struct config *config = config_new();
    auto_findings struct findings findings = { 0 };
    auto_buffer struct buffer text = { 0 };
    int n = command_parse(&config_show, argc, argv, &arguments, &err);

    if (n == -ECANCELED)
        return 0;
    if (n >= 0 && n < argc)
        n = fail_kind(&err, COOP_ERROR_BAD_POLICY, EINVAL, "takes no operand, but '%s' is given",
                      argv[n]);
    if (n < 0) {
        command_complain("config show", err);
        return 2;
    }
    int r = config ? config_load(config, &arguments.request, &findings) : fail_no_memory(&err);
    config_print_findings(&findings);
    if (r == 0)
        show_all(config, arguments.is_json, &text);
    if (r == 0)
        r = config_print(&text, &err);
    if (err)
        command_complain("config show", err);
    return r < 0;
}

static const struct command_option options[] = {
    { "json", 0, NULL, "print a JSON document", set_json },
    { "workspace", 'w', "DIR",
      "read the project files of this workspace (default: the current directory)", set_workspace },
    { "config", 0, "FILE", "read this file instead of the system's and the user's", set_file },
    { "help", 'h', NULL, "show this help", NULL },
    { 0 },
};

const struct command config_show = {
    .name = "config show",
    .arguments = "[options]",
    .summary = "print the effective configuration and where each value is set",
    .options = options,
    .run = show_main,
};
