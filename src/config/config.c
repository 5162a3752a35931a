#include "config.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/check.h"
#include "config/layers.h"
#include "config/value.h"

const char *const config_layer_names[] = {
    [CONFIG_BUILT_IN] = "built-in", [CONFIG_SYSTEM] = "system",   [CONFIG_USER] = "user",
    [CONFIG_OVERRIDE] = "override", [CONFIG_PROJECT] = "project", [CONFIG_FLAG] = "flag",
};

/* ---- life */

struct config *config_new(void)
{
    return calloc(1, sizeof(struct config));
}

void config_free(struct config *config)
{
    if (!config)
        return;
    for (size_t i = 0; i < config->n_layers; i++) {
        struct layer *layer = config->layers[i];

        if (layer->kind != CONFIG_OVERRIDE)
            document_free(layer->document);
        free(layer->hidden);
        free(layer->flags);
        free(layer->real);
        free(layer);
    }
    for (size_t i = 0; i < config->n_paths; i++)
        free(config->paths[i]);
    free(config);
}

void config_free_at_exit(struct config **config)
{
    config_free(*config);
}

struct layer *layers_insert(struct config *config, enum config_layer kind,
                            struct document *document)
{
    size_t at = config->n_layers;
    struct layer *layer = calloc(1, sizeof *layer);

    assert(config->n_layers < LAYERS_MAX);
    if (!layer)
        return NULL;
    layer->kind = kind;
    layer->document = document;
    for (; at > 0 && config->layers[at - 1]->kind > kind; at--)
        config->layers[at] = config->layers[at - 1];
    config->layers[at] = layer;
    config->n_layers++;
    return layer;
}

struct config layers_of_owner(const struct config *config)
{
    struct config owner = *config;

    for (owner.n_layers = 0; owner.n_layers < config->n_layers; owner.n_layers++)
        if (config->layers[owner.n_layers]->kind >= CONFIG_PROJECT)
            break;
    return owner;
}

/* audit = "required" becomes [audit] with mode = "required". */
static int write_out(struct document *document)
{
    for (const struct schema_row *row = NULL; (row = schema_next_child(NULL, row));) {
        struct node_entry *entry =
            row->short_for ? node_table_find(document->root.table, row->path, strlen(row->path))
                           : NULL;

        if (!entry || (entry->value.kind != NODE_STRING && entry->value.kind != NODE_TEXT))
            continue;
        const struct node_string key = { row->short_for, strlen(row->short_for) };
        struct node table = { .kind = NODE_TABLE,
                              .place = entry->value.place,
                              .table = document_table(document, 1) };
        if (!table.table ||
            node_table_add(document, table.table, key, entry->key_place, &entry->value) < 0)
            return -ENOMEM;
        entry->value = table;
    }
    return 0;
}

int config_add_document(struct config *config, enum config_layer layer, struct document *document,
                        struct findings *findings)
{
    if (!layers_insert(config, layer, document)) {
        findings->failed = true;
        document_free(document);
        return -ENOMEM;
    }
    if (write_out(document) < 0) {
        findings->failed = true;
        return -ENOMEM;
    }
    if (check_document(document, findings) > 0)
        return -EINVAL;
    return findings->failed ? -ENOMEM : 0;
}

size_t config_n_files(const struct config *config)
{
    size_t n = 0;

    for (size_t i = 0; i < config->n_layers; i++)
        n += config->layers[i]->kind != CONFIG_OVERRIDE && config->layers[i]->kind != CONFIG_FLAG;
    return n;
}

struct config_file_info config_file_info(const struct config *config, size_t i)
{
    struct layer *const *at = config->layers;

    while ((*at)->kind == CONFIG_OVERRIDE || i-- > 0)
        at++;
    const struct layer *layer = *at;
    return (struct config_file_info){ layer->document->name, layer->real, layer->kind,
                                      layer->is_approved, layer->digest };
}

/* ---- one key in one layer */

static bool is_hidden(const struct layer *layer, const struct node *node)
{
    for (size_t i = 0; i < layer->n_hidden; i++)
        if (layer->hidden[i] == node)
            return true;
    return false;
}

/* Goes down `path`, with `name` for its "*". */
static const struct node *descend(const struct node *node, const char *path, const char *name)
{
    while (node && *path) {
        size_t n = strcspn(path, ".");
        bool is_name = n == 1 && *path == '*';

        if (node->kind != NODE_TABLE)
            return NULL;
        const struct node_entry *entry =
            node_table_find(node->table, is_name ? name : path, is_name ? strlen(name) : n);
        node = entry ? &entry->value : NULL;
        path += n + (path[n] == '.');
    }
    return node;
}

static const struct node *find_path(const struct layer *layer, const char *path, const char *name)
{
    static const char prefix[] = "sandbox.";

    if (layer->kind != CONFIG_OVERRIDE)
        return descend(&layer->document->root, path, name);
    if (strncmp(path, prefix, sizeof prefix - 1) != 0)
        return NULL;
    return descend(layer->overrides, path + sizeof prefix - 1, name);
}

const struct node *layer_find(const struct layer *layer, const struct schema_row *row,
                              const char *name)
{
    const struct node *node = find_path(layer, row->path, name);

    if (!node && row->also)
        node = find_path(layer, row->also, name);
    return node && !is_hidden(layer, node) ? node : NULL;
}

/* ---- one key in all of them */

/* A flag is in no line of a file: its column is its number. */
struct origin layer_origin(const struct layer *layer, struct position place)
{
    if (layer->kind == CONFIG_FLAG)
        return (struct origin){ layer->flags[place.column], 0, 0 };
    return node_origin(layer->document, place);
}

static const struct schema_row *row_of(const char *key)
{
    const struct schema_row *row = schema_find(key);

    assert(row);
    return row->same_as ? schema_find(row->same_as) : row;
}

static struct config_value value_in(const struct layer *layer, const struct schema_row *row,
                                    const struct node *node)
{
    return (struct config_value){ row, node, layer, layer_origin(layer, node->place), layer->kind };
}

/* `n`: in the lowest n layers. */
static struct config_value find(const struct config *config, size_t n, const struct schema_row *row,
                                const char *name)
{
    while (n-- > 0) {
        const struct node *node = layer_find(config->layers[n], row, name);

        if (node)
            return value_in(config->layers[n], row, node);
    }
    return (struct config_value){ .row = row, .layer = CONFIG_BUILT_IN };
}

struct config_value config_get(const struct config *config, const char *key)
{
    return find(config, config->n_layers, row_of(key), "");
}

struct config_value config_get_named(const struct config *config, const char *key, const char *name)
{
    return find(config, config->n_layers, row_of(key), name);
}

struct config_value config_child(const struct config_value *table, const char *key)
{
    const struct schema_row *row = schema_child(table->row, key, strlen(key));
    const struct node *node = table->node ? node_get(table->node, key) : NULL;
    struct config_value value = *table;

    assert(row);
    value.row = row;
    value.node = node;
    if (node)
        value.origin = layer_origin(table->source, node->place);
    else
        value.layer = CONFIG_BUILT_IN;
    return value;
}

unsigned config_rank(const struct config *config, const struct config_value *value)
{
    for (size_t i = 0; value->node && i < config->n_layers; i++)
        if (config->layers[i] == value->source)
            return (unsigned)i + 1;
    return 0;
}

/* ---- lists */

/* What a project forbids is added to what the owner forbids. */
static bool is_united(const struct schema_row *row)
{
    return row->project == PROJECT_MORE;
}

/* Layers that are not asked one by one: all, or those below the project's. */
static size_t n_replacing(const struct config *config, const struct schema_row *row)
{
    return is_united(row) ? layers_of_owner(config).n_layers : config->n_layers;
}

static void enter_list(struct config_items *items, struct config_value value)
{
    bool is_array = value.node && value.node->kind == NODE_ARRAY;

    items->value = value;
    items->next = is_array ? value.node->array->first : NULL;
}

static struct config_items start(const struct config *config, const struct schema_row *row,
                                 const char *name)
{
    struct config_items items = { .config = config, .name = name };

    items.layer = n_replacing(config, row);
    enter_list(&items, find(config, items.layer, row, name));
    return items;
}

struct config_items config_items(const struct config *config, const char *key)
{
    return start(config, row_of(key), "");
}

struct config_items config_items_named(const struct config *config, const char *key,
                                       const char *name)
{
    return start(config, row_of(key), name);
}

struct config_items config_value_items(const struct config_value *list)
{
    struct config_items items = { 0 };

    enter_list(&items, *list);
    return items;
}

bool config_items_next(struct config_items *items, struct config_value *out)
{
    while (!items->next && items->config && items->layer < items->config->n_layers) {
        const struct layer *layer = items->config->layers[items->layer++];
        const struct node *node = layer_find(layer, items->value.row, items->name);

        if (node)
            enter_list(items, value_in(layer, items->value.row, node));
    }
    if (!items->next)
        return false;
    *out = items->value;
    out->node = items->next;
    out->origin = layer_origin(items->value.source, items->next->place);
    items->next = items->next->next;
    return true;
}

/* ---- names */

static const struct node_entry *first_name(const struct config_names *names)
{
    if (names->layer >= names->config->n_layers)
        return NULL;
    const struct node *table = layer_find(names->config->layers[names->layer], names->row, "");
    return table && table->kind == NODE_TABLE ? table->table->first : NULL;
}

struct config_names config_names(const struct config *config, const char *key)
{
    struct config_names names = { .config = config, .row = row_of(key) };

    names.next = first_name(&names);
    return names;
}

static bool is_new_name(const struct config_names *names, const struct node_entry *entry)
{
    const struct schema_row *row = schema_child(names->row, entry->key.bytes, entry->key.length);

    if (!row || *schema_key(row) != '*')
        return false;
    for (size_t i = 0; i < names->layer; i++) {
        const struct node *table = layer_find(names->config->layers[i], names->row, "");

        if (table && node_get(table, entry->key.bytes))
            return false;
    }
    return true;
}

const char *config_names_next(struct config_names *names)
{
    while (names->layer < names->config->n_layers) {
        const struct node_entry *entry = names->next;

        if (!entry) {
            names->layer++;
            names->next = first_name(names);
            continue;
        }
        names->next = entry->next;
        if (is_new_name(names, entry))
            return entry->key.bytes;
    }
    return NULL;
}

/* ---- types */

const char *config_value_text(const struct config_value *value)
{
    return value->node ? value_text(value->node) : value->row->fallback;
}

int config_value_word(const struct config_value *value)
{
    const char *text = config_value_text(value);

    assert(value->row->type == SCHEMA_WORD);
    return text ? schema_word(value->row, text) : -1;
}

bool config_value_bool(const struct config_value *value)
{
    bool is_true = value->row->fallback && strcmp(value->row->fallback, "true") == 0;

    assert(value->row->type == SCHEMA_BOOL);
    if (value->node)
        (void)value_bool(value->node, &is_true);
    return is_true;
}

bool config_value_number(const struct config_value *value, uint64_t *out)
{
    const struct schema_row *row = value->row;

    assert(row->type == SCHEMA_COUNT || row->type == SCHEMA_DECIMAL || row->type == SCHEMA_SIZE ||
           row->type == SCHEMA_DURATION);
    if (value->node)
        return value_number(row, value->node, out, NULL) == 0;
    return row->fallback && value_number_of_text(row, row->fallback, out, NULL) == 0;
}

const char *config_text(const struct config *config, const char *key)
{
    struct config_value value = config_get(config, key);

    return config_value_text(&value);
}

int config_word(const struct config *config, const char *key)
{
    struct config_value value = config_get(config, key);

    return config_value_word(&value);
}

bool config_bool(const struct config *config, const char *key)
{
    struct config_value value = config_get(config, key);

    return config_value_bool(&value);
}

bool config_number(const struct config *config, const char *key, uint64_t *out)
{
    struct config_value value = config_get(config, key);

    return config_value_number(&value, out);
}

bool config_size(const struct config *config, const char *key, uint64_t *out)
{
    assert(row_of(key)->type == SCHEMA_SIZE);
    return config_number(config, key, out);
}

bool config_duration_ms(const struct config *config, const char *key, uint64_t *out)
{
    assert(row_of(key)->type == SCHEMA_DURATION);
    return config_number(config, key, out);
}
