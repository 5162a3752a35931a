/*
 * project.c - a file in the workspace is written by the agent's side: it may narrow, never widen
 *
 * What it says is compared with what the owner's layers say, key by key, by the rule that the
 * schema has for the key. Lists of what is forbidden need no rule: config_items() adds them to the
 * owner's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "config/config.h"
#include "config/layers.h"
#include "config/value.h"

const char *const config_default_commands[] = { "fest", "camp", "just", "git", NULL };

struct narrowing {
    const struct config *owner;
    const struct layer *layer;
    const char *workspace; /* canonical */
    const char *name;      /* that stands for the "*" of a row's path */
};

/* ---- rules: true if the project may have the value, or else `why`, the end of a sentence */

static void add_owner(struct buffer *why, const struct config_value *value)
{
    buffer_append_string(why, ", but the owner's configuration says ");
    if (value->node)
        value_print(why, value->node);
    else
        buffer_printf(why, "'%s'", value->row->fallback ? value->row->fallback : "nothing of it");
    buffer_append_string(why, " (");
    origin_print(why, value->node ? value->origin : (struct origin){ 0 });
    buffer_append_char(why, ')');
}

static void asks(struct buffer *why, const struct node *node, const struct config_value *owner)
{
    buffer_append_string(why, "asks for ");
    value_print(why, node);
    add_owner(why, owner);
}

static struct config_value owners(const struct narrowing *n, const struct schema_row *row)
{
    return config_get_named(n->owner, row->same_as ? row->same_as : row->path, n->name);
}

static bool is_same(const struct config_value *value, const struct node *node)
{
    bool is_true = false;
    const char *text = value_text(node);
    const char *owner_text;

    if (value->row->type == SCHEMA_BOOL)
        return value_bool(node, &is_true) == 0 && is_true == config_value_bool(value);
    if (value->node && !value_text(value->node))
        return false;
    owner_text = config_value_text(value);
    return text && owner_text && strcmp(text, owner_text) == 0;
}

static bool rule_same(const struct narrowing *n, const struct schema_row *row,
                      const struct node *node, struct buffer *why)
{
    if (row->type == SCHEMA_TABLES) {
        buffer_append_string(why, "is for the owner's own files");
        return false;
    }
    struct config_value owner = owners(n, row);
    if (is_same(&owner, node))
        return true;
    asks(why, node, &owner);
    return false;
}

static bool rule_smaller(const struct narrowing *n, const struct schema_row *row,
                         const struct node *node, struct buffer *why)
{
    struct config_value owner = owners(n, row);
    uint64_t most = CONFIG_NONE;
    uint64_t wanted = CONFIG_NONE;

    (void)config_value_number(&owner, &most);
    (void)value_number(row, node, &wanted, NULL);
    if (wanted <= most)
        return true;
    asks(why, node, &owner);
    return false;
}

static bool rule_stricter(const struct narrowing *n, const struct schema_row *row,
                          const struct node *node, struct buffer *why)
{
    struct config_value owner = owners(n, row);
    bool strict = row->flags & SCHEMA_STRICT_TRUE;
    bool wanted = !strict;
    bool is_fine;

    if (row->type == SCHEMA_BOOL) {
        (void)value_bool(node, &wanted);
        is_fine = wanted == strict || config_value_bool(&owner) != strict;
    } else {
        is_fine = schema_word(row, value_text(node)) <= config_value_word(&owner);
    }
    if (!is_fine)
        asks(why, node, &owner);
    return is_fine;
}

static bool rule_network(const struct narrowing *n, const struct schema_row *row,
                         const struct node *node, struct buffer *why)
{
    const struct schema_row *words = schema_find("sandbox.network");
    struct position place = { 0 };
    struct origin origin;
    enum config_network most = config_network(n->owner, &origin);
    enum config_network wanted = layer_network(n->layer, most, &place);
    bool decides = place.line == node->place.line && place.column == node->place.column;

    (void)row;
    if (wanted <= most || !decides)
        return true;
    buffer_append_string(why, "asks for ");
    value_print(why, node);
    buffer_printf(why, ", the network \"%s\", but the owner's configuration gives \"%s\" (",
                  words->words[wanted], words->words[most]);
    origin_print(why, origin);
    buffer_append_char(why, ')');
    return false;
}

static bool has_item(const struct narrowing *n, const char *key, const char *text)
{
    struct config_items items = config_items_named(n->owner, key, n->name);

    for (struct config_value item; config_items_next(&items, &item);)
        if (strcmp(config_value_text(&item), text) == 0)
            return true;
    return false;
}

/* A list that the owner did not write, where that means everything. */
static bool owner_gives_all(const struct narrowing *n, const struct schema_row *row)
{
    struct config_value owner = owners(n, row);

    if (config_is_set(&owner))
        return false;
    return row->flags & SCHEMA_UNSET_ALL || (strcmp(row->path, "network.allow") == 0 &&
                                             config_network(n->owner, NULL) == CONFIG_NETWORK_HOST);
}

static bool rule_fewer(const struct narrowing *n, const struct schema_row *row,
                       const struct node *node, struct buffer *why)
{
    const char *key = row->same_as ? row->same_as : row->path;
    bool is_ro = strcmp(key, "sandbox.extra_ro_paths") == 0;

    if (owner_gives_all(n, row))
        return true;
    for (const struct node *item = node->array->first; item; item = item->next) {
        const char *text = value_text(item);

        if (has_item(n, key, text) || (is_ro && has_item(n, "sandbox.extra_rw_paths", text)))
            continue;
        buffer_append_string(why, "asks for ");
        value_print(why, item);
        buffer_append_string(why, ", which the owner's configuration does not list");
        return false;
    }
    return true;
}

static bool rule_workspace(const struct narrowing *n, const struct schema_row *row,
                           const struct node *node, struct buffer *why)
{
    struct config_value owner = owners(n, row);
    const char *text = value_text(node);
    bool is_workspace =
        strcmp(text, ".") == 0 || strcmp(text, "./") == 0 || strcmp(text, n->workspace) == 0;

    if ((is_workspace && !config_is_set(&owner)) || is_same(&owner, node))
        return true;
    asks(why, node, &owner);
    return false;
}

/* Where a path of the workspace begins, and how long it is without slashes at its ends. */
static const char *trim_path(const char *path, size_t *n)
{
    path += strspn(path, "/");
    *n = strlen(path);
    while (*n > 0 && path[*n - 1] == '/')
        --*n;
    return path;
}

/* The policy itself refuses "..", so the beginning decides. */
static bool rule_within(const struct narrowing *n, const struct schema_row *row,
                        const struct node *node, struct buffer *why)
{
    struct config_value owner = owners(n, row);
    size_t n_part = 0;
    size_t n_whole = 0;

    if (!config_is_set(&owner))
        return true;
    const char *part = trim_path(value_text(node), &n_part);
    const char *whole = trim_path(config_value_text(&owner), &n_whole);
    if (n_whole == 0 || (n_part >= n_whole && memcmp(part, whole, n_whole) == 0 &&
                         (n_part == n_whole || part[n_whole] == '/')))
        return true;
    asks(why, node, &owner);
    return false;
}

static bool text_is(const struct node *table, const char *key, const struct config_value *other)
{
    struct config_value value = config_child(other, key);

    return strcmp(value_text(node_get(table, key)), config_value_text(&value)) == 0;
}

static bool has_mount(const struct narrowing *n, const struct node *mount)
{
    struct config_items items = config_items(n->owner, "sandbox.mounts");
    const struct node *readonly = node_get(mount, "readonly");
    bool is_readonly = false;

    if (readonly)
        (void)value_bool(readonly, &is_readonly);
    for (struct config_value item; config_items_next(&items, &item);) {
        struct config_value owner_readonly = config_child(&item, "readonly");

        if (text_is(mount, "source", &item) && text_is(mount, "target", &item) &&
            (is_readonly || !config_value_bool(&owner_readonly)))
            return true;
    }
    return false;
}

static bool rule_mounts(const struct narrowing *n, const struct schema_row *row,
                        const struct node *node, struct buffer *why)
{
    (void)row;
    for (const struct node *mount = node->array->first; mount; mount = mount->next) {
        if (has_mount(n, mount))
            continue;
        buffer_append_string(why, "asks for ");
        value_print(why, node_get(mount, "source"));
        buffer_append_string(why, " at ");
        value_print(why, node_get(mount, "target"));
        buffer_append_string(why, ", which the owner's configuration does not mount so");
        return false;
    }
    return true;
}

static bool everything_may_run(const struct config *owner)
{
    return strcmp(config_text(owner, "commands.strength"), "off") == 0;
}

static bool rule_commands(const struct narrowing *n, const struct schema_row *row,
                          const struct node *node, struct buffer *why)
{
    struct config_value owner = owners(n, row);
    bool has_defaults = config_bool(n->owner, "commands.defaults");

    (void)node;
    if (config_is_set(&owner) || everything_may_run(n->owner))
        return true;
    for (size_t i = 0; has_defaults && config_default_commands[i]; i++)
        if (strcmp(config_default_commands[i], n->name) == 0)
            return true;
    buffer_append_string(why, "adds a command that the owner's configuration does not allow");
    return false;
}

typedef bool rule(const struct narrowing *n, const struct schema_row *row, const struct node *node,
                  struct buffer *why);

/* NULL: anything may be written. PROJECT_NEVER is told apart before. */
static rule *const rules[] = {
    [PROJECT_NEVER] = NULL,
    [PROJECT_SAME] = rule_same,
    [PROJECT_SMALLER] = rule_smaller,
    [PROJECT_STRICTER] = rule_stricter,
    [PROJECT_NETWORK] = rule_network,
    [PROJECT_FEWER] = rule_fewer,
    [PROJECT_MORE] = NULL,
    [PROJECT_WORKSPACE] = rule_workspace,
    [PROJECT_WITHIN] = rule_within,
    [PROJECT_MOUNTS] = rule_mounts,
    [PROJECT_COMMANDS] = rule_commands,
    [PROJECT_FREE] = NULL,
};

/* ---- all that a file says */

struct walk {
    struct narrowing n;
    enum severity severity;
    struct findings *findings;
};

static void ask(const struct walk *walk, const char *key, struct position place,
                const struct buffer *why)
{
    struct origin origin = layer_origin(walk->n.layer, place);
    auto_buffer struct buffer fix = { 0 };

    buffer_printf(&fix, "the owner approves this file with: coop allow %s", origin.name);
    if (why->failed || fix.failed)
        walk->findings->failed = true;
    else
        findings_add(walk->findings, walk->severity, origin,
                     walk->severity == SEVERITY_ERROR ? fix.data : NULL, "%s %s", key, why->data);
}

static void walk_table(struct walk *walk, const struct schema_row *parent, const char *key,
                       const struct node *table);

static void walk_entry(struct walk *walk, const struct schema_row *parent, const char *key,
                       const struct node_entry *entry)
{
    const struct schema_row *row = schema_child(parent, entry->key.bytes, entry->key.length);
    auto_buffer struct buffer path = { 0 };
    auto_buffer struct buffer why = { 0 };
    bool is_table = row->type == SCHEMA_TABLE;

    buffer_printf(&path, "%s%s%s", key, *key ? "." : "", entry->key.bytes);
    if (path.failed) {
        walk->findings->failed = true;
        return;
    }
    if (*schema_key(row) == '*')
        walk->n.name = entry->key.bytes;
    bool is_ruled = rules[row->project] && !(is_table && row->project == PROJECT_SAME);
    if (is_ruled && !rules[row->project](&walk->n, row, &entry->value, &why))
        ask(walk, path.data, is_table ? entry->key_place : entry->value.place, &why);
    else if (is_table && !(row->project == PROJECT_COMMANDS && everything_may_run(walk->n.owner)))
        walk_table(walk, row, path.data, &entry->value);
}

static void walk_table(struct walk *walk, const struct schema_row *parent, const char *key,
                       const struct node *table)
{
    if (table->kind != NODE_TABLE)
        return;
    for (const struct node_entry *entry = table->table->first; entry; entry = entry->next)
        walk_entry(walk, parent, key, entry);
}

void project_narrow(const struct config *owner, const struct layer *layer, const char *workspace,
                    enum severity severity, struct findings *findings)
{
    struct walk walk = { { owner, layer, workspace, "" }, severity, findings };

    walk_table(&walk, NULL, "", &layer->document->root);
}

static void refuse_within(const struct layer *layer, const struct schema_row *parent,
                          const struct node *table, struct findings *findings)
{
    for (const struct node_entry *entry = table->table->first; entry; entry = entry->next) {
        const struct schema_row *row = schema_child(parent, entry->key.bytes, entry->key.length);

        if (row && row->project == PROJECT_NEVER)
            findings_add(findings, SEVERITY_ERROR, layer_origin(layer, entry->key_place),
                         "write it into the owner's own file",
                         "[%s] has no place in a project's file", row->path);
        else if (row && row->type == SCHEMA_TABLE && entry->value.kind == NODE_TABLE)
            refuse_within(layer, row, &entry->value, findings);
    }
}

/* Tables are no deeper than the schema. */
void project_refuse(const struct layer *layer, struct findings *findings)
{
    refuse_within(layer, NULL, &layer->document->root, findings);
}

/* ---- overrides */

static int hide(struct layer *layer, const struct node *node)
{
    const struct node **hidden = reallocarray(layer->hidden, layer->n_hidden + 1, sizeof(*hidden));

    if (!hidden)
        return -ENOMEM;
    layer->hidden = hidden;
    hidden[layer->n_hidden++] = node;
    return 0;
}

/* What the project says of a key that the overrides have, if it is more than they give. */
static const struct node *excess(const struct config *owner, const struct layer *layer,
                                 const struct schema_row *row)
{
    const struct narrowing n = { owner, layer, "", "" };
    auto_buffer struct buffer why = { 0 };
    const struct node *node = layer_find(layer, row, "");

    if (!node || !rules[row->project] || rules[row->project](&n, row, node, &why))
        return NULL;
    return node;
}

static int outdo(const struct config *owner, struct layer *layer, const struct node *table)
{
    const struct schema_row *sandbox = schema_find("sandbox");
    bool has_network = node_get(table, "network") || node_get(table, "allow_network") ||
                       node_get(table, "isolate_network");

    for (const struct schema_row *row = NULL; (row = schema_next_child(sandbox, row));) {
        bool has_key = row->project == PROJECT_NETWORK ? has_network
                                                       : node_get(table, schema_key(row)) != NULL;
        /* Of the network's keys, the first in the table's order decides; without it, the next. */
        const struct node *node = has_key ? excess(owner, layer, row) : NULL;

        if (node && hide(layer, node) < 0)
            return -ENOMEM;
    }
    return 0;
}

int config_override(struct config *config, const struct config_value *table)
{
    if (!table->node || table->node->kind != NODE_TABLE)
        return 0;
    struct layer *layer = layers_insert(config, CONFIG_OVERRIDE, table->source->document);
    if (!layer)
        return -ENOMEM;
    layer->overrides = table->node;
    struct config owner = layers_of_owner(config);
    for (size_t i = owner.n_layers; i < config->n_layers; i++)
        if (config->layers[i]->kind == CONFIG_PROJECT &&
            outdo(&owner, config->layers[i], table->node) < 0)
            return -ENOMEM;
    return 0;
}
