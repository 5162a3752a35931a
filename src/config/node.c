#include "node.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/siphash.h"

#define SMALL 8 /* up to this many keys are compared one by one */

static const char *const kind_names[] = {
    [NODE_TABLE] = "a table",
    [NODE_ARRAY] = "an array",
    [NODE_STRING] = "a string",
    [NODE_INTEGER] = "an integer",
    [NODE_FLOAT] = "a float",
    [NODE_BOOLEAN] = "a boolean",
    [NODE_DATETIME] = "a date and time",
    [NODE_LOCAL_DATETIME] = "a local date and time",
    [NODE_LOCAL_DATE] = "a date",
    [NODE_LOCAL_TIME] = "a time of day",
    [NODE_TEXT] = "a text",
};

const char *node_kind_name(enum node_kind kind)
{
    return kind_names[kind];
}

/*
 * The sixteen bytes that the kernel gives every program differ from one to the next and are not
 * told to anybody; they cost no system call. Where they are missing, addresses have to do.
 */
static void make_hash_key(struct document *document)
{
    const void *random = (const void *)(uintptr_t)getauxval(AT_RANDOM);

    document->hash_key[0] = (uintptr_t)document;
    document->hash_key[1] = (uintptr_t)&document;
    if (random)
        memcpy(document->hash_key, random, sizeof document->hash_key);
}

struct document *document_new(const char *name)
{
    struct document *document = calloc(1, sizeof *document);

    if (!document)
        return NULL;
    document->name = name;
    document->root = (struct node){ .kind = NODE_TABLE, .place = { 1, 1 } };
    document->root.table = document_table(document, 0);
    if (!document->root.table) {
        document_free(document);
        return NULL;
    }
    make_hash_key(document);
    return document;
}

void document_free(struct document *document)
{
    if (!document)
        return;
    arena_done(&document->arena);
    free(document);
}

struct node_table *document_table(struct document *document, unsigned level)
{
    struct node_table *table = arena_alloc(&document->arena, sizeof *table);

    if (!table)
        return NULL;
    table->level = level;
    table->hash_key = document->hash_key;
    return table;
}

struct node_array *document_array(struct document *document, unsigned level)
{
    struct node_array *array = arena_alloc(&document->arena, sizeof *array);

    if (array)
        array->level = level;
    return array;
}

static uint32_t hash_of(const struct node_table *table, const char *key, size_t n)
{
    return (uint32_t)siphash(table->hash_key, key, n);
}

static void put_into_slot(struct node_table *table, struct node_entry *entry)
{
    struct node_entry **slot = &table->slots[entry->hash & (table->n_slots - 1)];

    entry->chain = *slot;
    *slot = entry;
}

/* As many slots as entries, at least; doubled, so that all the copying together stays linear. */
static int grow_slots(struct document *document, struct node_table *table)
{
    size_t n_slots = table->n_slots ? table->n_slots * 2 : SMALL * (size_t)4;
    struct node_entry **slots = arena_alloc(&document->arena, n_slots * sizeof(*slots));

    if (!slots)
        return -ENOMEM;
    table->slots = slots;
    table->n_slots = n_slots;
    for (struct node_entry *entry = table->first; entry; entry = entry->next) {
        entry->hash = hash_of(table, entry->key.bytes, entry->key.length);
        put_into_slot(table, entry);
    }
    return 0;
}

int node_table_add(struct document *document, struct node_table *table, struct node_string key,
                   struct position key_place, const struct node *value)
{
    if (document->n_nodes == NODE_COUNT_MAX)
        return -E2BIG;
    if (table->n >= SMALL && table->n >= table->n_slots && grow_slots(document, table) < 0)
        return -ENOMEM;
    struct node_entry *entry = arena_alloc(&document->arena, sizeof *entry);
    if (!entry)
        return -ENOMEM;
    entry->value = *value;
    entry->key = key;
    entry->key_place = key_place;
    if (table->slots) {
        entry->hash = hash_of(table, key.bytes, key.length);
        put_into_slot(table, entry);
    }
    if (table->last)
        table->last->next = entry;
    else
        table->first = entry;
    table->last = entry;
    table->n++;
    document->n_nodes++;
    return 0;
}

int node_array_add(struct document *document, struct node_array *array, const struct node *value)
{
    if (document->n_nodes == NODE_COUNT_MAX)
        return -E2BIG;
    struct node *item = arena_alloc(&document->arena, sizeof *item);
    if (!item)
        return -ENOMEM;
    *item = *value;
    item->next = NULL;
    if (array->last)
        array->last->next = item;
    else
        array->first = item;
    array->last = item;
    array->n++;
    document->n_nodes++;
    return 0;
}

static bool is_key(const struct node_entry *entry, const char *key, size_t n)
{
    return entry->key.length == n && memcmp(entry->key.bytes, key, n) == 0;
}

struct node_entry *node_table_find(const struct node_table *table, const char *key, size_t n)
{
    if (!table->slots) {
        for (struct node_entry *entry = table->first; entry; entry = entry->next)
            if (is_key(entry, key, n))
                return entry;
        return NULL;
    }
    uint32_t hash = hash_of(table, key, n);
    struct node_entry *entry = table->slots[hash & (table->n_slots - 1)];
    while (entry && (entry->hash != hash || !is_key(entry, key, n)))
        entry = entry->chain;
    return entry;
}

const struct node *node_get(const struct node *table, const char *key)
{
    if (table->kind != NODE_TABLE)
        return NULL;
    const struct node_entry *entry = node_table_find(table->table, key, strlen(key));
    return entry ? &entry->value : NULL;
}

struct origin node_origin(const struct document *document, struct position place)
{
    return (struct origin){ document->name, place.line, place.column };
}
