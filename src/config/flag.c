/*
 * flag.c - flags as the highest layer of a configuration
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/finding.h"
#include "config/check.h"
#include "config/config.h"
#include "config/layers.h"

static struct layer *flag_layer(struct config *config)
{
    struct layer *top = config->n_layers ? config->layers[config->n_layers - 1] : NULL;

    if (top && top->kind == CONFIG_FLAG)
        return top;
    struct document *document = document_new(NULL);
    struct layer *layer = document ? layers_insert(config, CONFIG_FLAG, document) : NULL;
    if (!layer)
        document_free(document);
    return layer;
}

/* The number of the flag, with which places name it. */
static int remember_flag(struct layer *layer, const char *flag, unsigned *out)
{
    const char **flags = reallocarray(layer->flags, layer->n_flags + 1, sizeof *flags);

    if (!flags)
        return -ENOMEM;
    layer->flags = flags;
    *out = (unsigned)layer->n_flags;
    flags[layer->n_flags++] = flag;
    return 0;
}

/* The value of `key` in `table`; made, and of this kind, if it was not there. NULL: no memory. */
static struct node *child(struct document *document, struct node *table, const char *key, size_t n,
                          enum node_kind kind)
{
    struct node_entry *entry = node_table_find(table->table, key, n);
    struct node value = { .kind = kind };

    if (entry)
        return &entry->value;
    if (kind == NODE_TABLE)
        value.table = document_table(document, 0);
    if (kind == NODE_ARRAY)
        value.array = document_array(document, 0);
    const char *copy = arena_copy(&document->arena, key, n);
    if (!copy || (kind != NODE_TEXT && !(kind == NODE_TABLE ? (void *)value.table : value.array)))
        return NULL;
    if (node_table_add(document, table->table, (struct node_string){ copy, n }, value.place,
                       &value) < 0)
        return NULL;
    return &node_table_find(table->table, key, n)->value;
}

/* Where the value of the row goes. */
static struct node *make_room(struct document *document, const struct schema_row *row)
{
    struct node *node = &document->root;
    const char *path = row->path;

    for (size_t n; node && (n = strcspn(path, "."), path[n]); path += n + 1)
        node = child(document, node, path, n, NODE_TABLE);
    enum node_kind kind = row->flags & SCHEMA_LIST ? NODE_ARRAY : NODE_TEXT;
    return node ? child(document, node, path, strlen(path), kind) : NULL;
}

static int set(struct document *document, const struct schema_row *row, const struct node *value)
{
    struct node *node = make_room(document, row);

    if (!node)
        return -ENOMEM;
    if (row->flags & SCHEMA_LIST) {
        node->place = value->place;
        return node_array_add(document, node->array, value);
    }
    *node = *value;
    return 0;
}

static void check_flag(struct document *document, const struct schema_row *row, const char *flag,
                       const struct node *value, struct findings *findings)
{
    struct schema_row one = *row;

    one.flags &= ~(unsigned)SCHEMA_LIST;
    document->name = flag;
    config_check_value(document, &one, row->path, value, findings);
    document->name = NULL;
}

int config_add_flag(struct config *config, const char *flag, const char *key, const char *value,
                    struct findings *findings)
{
    const struct schema_row *row = schema_find(key);
    struct layer *layer = flag_layer(config);
    struct node node = { .kind = NODE_TEXT };
    size_t n_errors = findings->n_errors;

    assert(row && !strchr(key, '*') && !strchr(key, '['));
    if (!layer || remember_flag(layer, flag, &node.place.column) < 0)
        goto no_memory;
    node.string.length = strlen(value);
    node.string.bytes = arena_copy(&layer->document->arena, value, node.string.length);
    if (!node.string.bytes)
        goto no_memory;
    check_flag(layer->document, row, flag, &node, findings);
    if (findings->n_errors > n_errors)
        return -EINVAL;
    if (set(layer->document, row->same_as ? schema_find(row->same_as) : row, &node) == 0)
        return 0;
no_memory:
    findings->failed = true;
    return -ENOMEM;
}
