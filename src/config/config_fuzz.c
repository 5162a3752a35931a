/*
 * Two texts, the owner's and a project's, with a line "%%" between them. Whatever they are: what is
 * wrong is said in safe lines, what is right can be asked for by every key, and a project that asks
 * for nothing more gets nothing more, whichever user's overrides hold.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "config/layers.h"
#include "config/toml/toml.h"
#include "test/fuzz.h"

static void check_findings(const struct findings *findings)
{
    for (size_t i = 0; i < findings->n; i++) {
        auto_buffer struct buffer line = { 0 };

        finding_print(&line, &findings->items[i]);
        REQUIRE(line.failed || memchr(line.data, '\n', line.length) == line.data + line.length - 1);
        REQUIRE(line.failed || !memchr(line.data, '\033', line.length));
    }
}

static bool add(struct config *config, enum config_layer layer, const char *text, size_t n,
                struct findings *findings)
{
    struct document *document = NULL;

    if (toml_parse("f", text, n, &document, findings) < 0)
        return false;
    return config_add_document(config, layer, document, findings) == 0;
}

/* ---- every question has an answer of its type */

static void ask(const struct config_value *value)
{
    const struct schema_row *row = value->row;
    uint64_t number = 0;

    if (row->type == SCHEMA_BOOL)
        (void)config_value_bool(value);
    else if (row->type == SCHEMA_WORD)
        REQUIRE(!value->node || config_value_word(value) >= 0);
    else if (row->type == SCHEMA_COUNT || row->type == SCHEMA_DECIMAL || row->type == SCHEMA_SIZE ||
             row->type == SCHEMA_DURATION)
        REQUIRE(!value->node || (config_value_number(value, &number) && number > 0));
    else if (row->type != SCHEMA_TABLE && row->type != SCHEMA_TABLES && value->node &&
             value->node->kind != NODE_ARRAY)
        REQUIRE(config_value_text(value));
}

static void ask_items(struct config_items items)
{
    for (struct config_value item; config_items_next(&items, &item);) {
        if (item.row->type != SCHEMA_TABLES) {
            REQUIRE(config_value_text(&item));
            continue;
        }
        for (const struct schema_row *row = NULL; (row = schema_next_child(item.row, row));) {
            struct config_value child = config_child(&item, schema_key(row));

            ask(&child);
        }
    }
}

static void ask_all(const struct config *config)
{
    for (const struct schema_row *row = schema_rows; row->path; row++) {
        const char *star = strchr(row->path, '*');

        if (strchr(row->path, '['))
            continue;
        if (!star) {
            struct config_value value = config_get(config, row->path);

            ask(&value);
            ask_items(config_items(config, row->path));
            continue;
        }
        char table[64];
        (void)snprintf(table, sizeof table, "%.*s", (int)(star - row->path - 1), row->path);
        struct config_names names = config_names(config, table);
        for (const char *name; (name = config_names_next(&names));) {
            struct config_value value = config_get_named(config, row->path, name);

            ask(&value);
            ask_items(config_items_named(config, row->path, name));
        }
    }
}

/* ---- a project gets nothing more */

static void check_number(const struct config *owner, const struct config *config,
                         const struct schema_row *row)
{
    uint64_t most = CONFIG_NONE;
    uint64_t given = CONFIG_NONE;

    (void)config_number(owner, row->path, &most);
    (void)config_number(config, row->path, &given);
    REQUIRE(given <= most);
}

static void check_stricter(const struct config *owner, const struct config *config,
                           const struct schema_row *row)
{
    bool strict = row->flags & SCHEMA_STRICT_TRUE;

    if (row->type == SCHEMA_WORD)
        REQUIRE(config_word(config, row->path) <= config_word(owner, row->path));
    else
        REQUIRE(config_bool(config, row->path) == strict ||
                config_bool(owner, row->path) != strict);
}

static bool has(struct config_items items, const char *text)
{
    for (struct config_value item; config_items_next(&items, &item);)
        if (strcmp(config_value_text(&item), text) == 0)
            return true;
    return false;
}

/* Every item of one list is in another. */
static void check_part(struct config_items part, struct config_items whole)
{
    for (struct config_value item; config_items_next(&part, &item);)
        REQUIRE(has(whole, config_value_text(&item)));
}

static void check_narrower(const struct config *owner, const struct config *config)
{
    REQUIRE(config_network(config, NULL) <= config_network(owner, NULL));
    for (const struct schema_row *row = schema_rows; row->path; row++) {
        if (strpbrk(row->path, "*["))
            continue;
        if (row->project == PROJECT_SMALLER)
            check_number(owner, config, row);
        if (row->project == PROJECT_STRICTER)
            check_stricter(owner, config, row);
        if (row->project == PROJECT_MORE && row->type != SCHEMA_TABLES)
            check_part(config_items(owner, row->path), config_items(config, row->path));
    }
    check_part(config_items(config, "sandbox.env_passthrough"),
               config_items(owner, "sandbox.env_passthrough"));
    check_part(config_items(config, "sandbox.extra_rw_paths"),
               config_items(owner, "sandbox.extra_rw_paths"));
}

static void check_overrides(struct config *config)
{
    struct config_items users = config_items(config, "users");
    struct config_value user;

    if (!config_items_next(&users, &user))
        return;
    struct config_value sandbox = config_child(&user, "sandbox");
    if (config_override(config, &sandbox) < 0)
        return;
    struct config owner = layers_of_owner(config);
    check_narrower(&owner, config);
    ask_all(config);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    const char *line = size ? memmem(text, size, "%%\n", 3) : NULL;
    size_t n_owner = line ? (size_t)(line - text) : size;
    auto_config struct config *config = config_new();
    auto_findings struct findings findings = { 0 };

    if (!config)
        return 0;
    bool is_good = add(config, CONFIG_USER, text, n_owner, &findings);
    REQUIRE(is_good == (findings.n_errors == 0) || findings.failed);
    if (is_good && line)
        is_good = add(config, CONFIG_PROJECT, line + 3, size - n_owner - 3, &findings);
    if (is_good) {
        struct config owner = layers_of_owner(config);

        ask_all(config);
        if (line)
            project_narrow(&owner, config->layers[1], "/w", SEVERITY_ERROR, &findings);
        if (findings.n == 0) {
            check_narrower(&owner, config);
            check_overrides(config);
        }
    }
    check_findings(&findings);
    return 0;
}
