/*
 * node.h - what a configuration file says, as one tree for TOML and YAML
 *
 *   struct document *document;
 *   toml_parse(path, text, n, &document, &findings);
 *   const struct node *memory = node_get(&document->root, "memory");
 *   for (const struct node_entry *e = table->table->first; e; e = e->next) ... e->key, e->value
 *   for (const struct node *item = array->array->first; item; item = item->next) ...
 *   document_free(document);
 *
 * Every node knows where its value is written, every entry of a table where its key is. All of it
 * lives in the document's arena and dies with it. Tables keep the order of the file and find a key
 * in constant time. No node lies deeper than NODE_DEPTH_MAX, so walking by recursion is safe.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/finding.h"
#include "config/arena.h"

#define NODE_DEPTH_MAX 512     /* tables and arrays within each other, without the root */
#define NODE_COUNT_MAX 2000000 /* values in a document: 100 bytes each, more or less */
#define NODE_TEXT_MAX  ((size_t)16 << 20) /* bytes of a file */

enum node_kind {
    NODE_TABLE,
    NODE_ARRAY,
    NODE_STRING,
    NODE_INTEGER,
    NODE_FLOAT,
    NODE_BOOLEAN,
    NODE_DATETIME, /* with an offset from UTC; the three below are local */
    NODE_LOCAL_DATETIME,
    NODE_LOCAL_DATE,
    NODE_LOCAL_TIME,
    NODE_TEXT, /* a scalar whose kind only a schema can tell, as in YAML */
};

/* In the file, both from 1; the column counts characters. */
struct position {
    unsigned line;
    unsigned column;
};

/* Any bytes, NULs too; one NUL more follows that is not counted. */
struct node_string {
    const char *bytes;
    size_t length;
};

/* Of a local date or time only a part is meaningful. */
struct node_datetime {
    uint16_t year;
    uint8_t month, day;
    uint8_t hour, minute, second; /* the second may be 60 */
    uint32_t nanosecond;          /* what is finer is cut off */
    int16_t offset_minutes;       /* east of UTC */
};

struct node {
    enum node_kind kind;
    struct position place;
    struct node *next; /* of an array's item: the one after it */
    union {
        struct node_table *table;
        struct node_array *array;
        struct node_string string; /* NODE_STRING and NODE_TEXT */
        int64_t integer;
        double number;
        bool boolean;
        struct node_datetime datetime; /* all four kinds */
    };
};

struct node_entry {
    struct node value;
    struct node_string key;
    struct position key_place;
    uint32_t hash;
    struct node_entry *next;  /* in the file's order */
    struct node_entry *chain; /* in the same slot */
};

struct node_table {
    struct node_entry *first, *last;
    struct node_entry **slots; /* NULL while the table is small */
    size_t n_slots;
    size_t n;
    const uint64_t *hash_key; /* the document's */
    /* Notes of the reader that builds the table. */
    unsigned level; /* how deep it lies; the root 0 */
    unsigned how;   /* by which form it came to be */
};

struct node_array {
    struct node *first, *last;
    size_t n;
    unsigned level;
    bool is_open; /* more may come: a TOML array of tables */
};

struct document {
    struct node root; /* a table */
    const char *name; /* the file's; borrowed */
    struct arena arena;
    size_t n_nodes; /* without the root */
    uint64_t hash_key[2];
};

/* Borrows the name, for itself and for findings about it: it must outlive both. */
struct document *document_new(const char *name); /* NULL: out of memory */
void document_free(struct document *document);   /* NULL is fine */

/* For readers: empty containers of the document; NULL: out of memory. */
struct node_table *document_table(struct document *document, unsigned level);
struct node_array *document_array(struct document *document, unsigned level);

/*
 * Adds a copy of the node; of a key only the pointer, it must live as long as the document. The
 * caller has looked that the key is new. -ENOMEM, or -E2BIG: more than NODE_COUNT_MAX.
 */
int node_table_add(struct document *document, struct node_table *table, struct node_string key,
                   struct position key_place, const struct node *value);
int node_array_add(struct document *document, struct node_array *array, const struct node *value);

/* NULL: there is none. */
struct node_entry *node_table_find(const struct node_table *table, const char *key, size_t n);
const struct node *node_get(const struct node *table, const char *key);

struct origin node_origin(const struct document *document, struct position place);

/* With its article, for sentences: "a table", "an integer". */
const char *node_kind_name(enum node_kind kind);
