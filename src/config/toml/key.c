/*
 * key.c - keys, and which table each leads to
 *
 * TOML lets a table be written in pieces, but not in any order and not by any means:
 *   [a.b]        makes 'a' by implication; a later [a] or dotted key may still define it, once
 *   a.b = 1      makes 'a', and only dotted keys beside it may add to it; a later [a] is refused, a
 *                later [a.c] is not. No dotted key elsewhere leads there: the table that it lies in
 *                has a header, which can neither be repeated nor passed through
 *   a = { }      is complete, and so is a = [ ]
 *   [[a]]        adds one table to 'a', which nothing else made; [a.b] goes to the last of them
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "config/toml/private.h"

/* A key as the file has it, from its first part up to some part, short enough for a sentence. */
#define SHOWN_MAX       60
#define SHOWN(from, to) (int)shown_length(from, to), from

static size_t shown_length(const char *from, const char *to)
{
    size_t n = (size_t)(to - from);

    return n <= SHOWN_MAX ? n : utf8_valid_prefix(from, SHOWN_MAX);
}

static bool is_bare(int c)
{
    return toml_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '-';
}

struct part {
    struct node_string key;
    struct position place;
    const char *path; /* where the first part of the whole key begins */
    const char *end;  /* where this part ends */
};

/* The first part of a key; `path` stays as it is for the others. */
static int read_part(struct toml *toml, struct part *part)
{
    int c = toml_peek(toml);
    const char *start = toml->at;

    part->place = toml_place(toml);
    if (c == '"' || c == '\'') {
        int r = toml_key_string(toml, &part->key);
        part->end = toml->at;
        return r;
    }
    while (is_bare(toml_peek(toml)))
        toml->at++;
    part->end = toml->at;
    if (part->end == start)
        return toml_unexpected(toml, "a key",
                               c >= 0x80 ? "write a key with other characters in quotes" : NULL);
    part->key.length = (size_t)(part->end - start);
    part->key.bytes = arena_copy(&toml->document->arena, start, part->key.length);
    return part->key.bytes ? 0 : toml_fail_storing(toml, part->place, -ENOMEM);
}

/* True after the dot that leads to the next part. */
static bool next_part(struct toml *toml)
{
    toml_skip_blanks(toml);
    if (!toml_take(toml, '.'))
        return false;
    toml_skip_blanks(toml);
    return true;
}

static struct node_entry *find(const struct node_table *table, const struct part *part)
{
    return node_table_find(table, part->key.bytes, part->key.length);
}

/* Adds a new, empty table under the part's name. */
static int add_table(struct toml *toml, struct node_table *table, const struct part *part,
                     enum toml_how how, struct position place, struct node_table **out)
{
    int r = toml_check_level(toml, part->place, table->level + 1);
    if (r < 0)
        return r;
    struct node node = { .kind = NODE_TABLE, .place = place };
    node.table = document_table(toml->document, table->level + 1);
    if (!node.table)
        return toml_fail_storing(toml, part->place, -ENOMEM);
    node.table->how = how;
    r = node_table_add(toml->document, table, part->key, part->place, &node);
    if (r < 0)
        return toml_fail_storing(toml, part->place, r);
    *out = node.table;
    return 0;
}

/* ---- key = value */

/* Why a dotted key cannot pass through what is there. */
static void refuse_dotted(struct toml *toml, const struct part *part,
                          const struct node_entry *entry)
{
    struct position first = entry->key_place;
    const char *from = part->path;
    const char *to = part->end;

    if (entry->value.kind != NODE_TABLE)
        toml_complain(toml, part->place, NULL,
                      "the key '%.*s' is %s and holds no keys (first defined at %u:%u)",
                      SHOWN(from, to), node_kind_name(entry->value.kind), first.line, first.column);
    else if (entry->value.table->how == TOML_INLINE)
        toml_complain(toml, part->place, "write the key inside its braces",
                      "the inline table '%.*s' is complete (first defined at %u:%u)",
                      SHOWN(from, to), first.line, first.column);
    else
        toml_complain(toml, part->place, "write the key under that table's own header",
                      "a dotted key cannot add to the table '%.*s' (first defined at %u:%u)",
                      SHOWN(from, to), first.line, first.column);
}

/* From one table to the next along a dotted key. */
static int step_dotted(struct toml *toml, struct node_table **table, const struct part *part)
{
    if (!*table)
        return 0;
    struct node_entry *entry = find(*table, part);
    if (!entry)
        return add_table(toml, *table, part, TOML_DOTTED, part->place, table);
    struct node_table *next = entry->value.kind == NODE_TABLE ? entry->value.table : NULL;
    if (next && next->how == TOML_IMPLIED) { /* only now it is defined */
        next->how = TOML_DOTTED;
        entry->value.place = part->place;
        entry->key_place = part->place;
    }
    *table = next && next->how == TOML_DOTTED ? next : NULL;
    if (!*table)
        refuse_dotted(toml, part, entry);
    return 0;
}

int toml_key(struct toml *toml, struct node_table *table, struct toml_slot *out)
{
    struct part part = { .path = toml->at };
    int r = read_part(toml, &part);

    while (r == 0 && next_part(toml)) {
        r = step_dotted(toml, &table, &part);
        if (r == 0)
            r = read_part(toml, &part);
    }
    if (r < 0)
        return r;
    const struct node_entry *entry = table ? find(table, &part) : NULL;
    if (entry) {
        toml_complain(toml, part.place, "keep one of the two",
                      "the key '%.*s' is repeated (first defined at %u:%u)",
                      SHOWN(part.path, part.end), entry->key_place.line, entry->key_place.column);
        table = NULL;
    }
    *out = (struct toml_slot){ table, part.key, part.place };
    return 0;
}

/* ---- [table] and [[array of tables]] */

struct header {
    struct position place; /* of the bracket */
    bool is_array;
};

/* The table that an entry on the way stands for; NULL: it stands for none that can grow. */
static struct node_table *passable(const struct node *node)
{
    if (node->kind == NODE_ARRAY && node->array->is_open)
        return node->array->last->table;
    if (node->kind == NODE_TABLE && node->table->how != TOML_INLINE)
        return node->table;
    return NULL;
}

static const char *closed_name(const struct node *node)
{
    if (node->kind == NODE_TABLE)
        return "an inline table, which is complete";
    return node_kind_name(node->kind);
}

static int step_header(struct toml *toml, struct node_table **table, const struct part *part)
{
    if (!*table)
        return 0;
    struct node_entry *entry = find(*table, part);
    if (!entry)
        return add_table(toml, *table, part, TOML_IMPLIED, part->place, table);
    *table = passable(&entry->value);
    if (!*table)
        toml_complain(toml, part->place, NULL,
                      "the key '%.*s' is %s and cannot hold a table (first defined at %u:%u)",
                      SHOWN(part->path, part->end), closed_name(&entry->value),
                      entry->key_place.line, entry->key_place.column);
    return 0;
}

/* Why [a] or [[a]] cannot be, with what is there. */
static void refuse_header(struct toml *toml, const struct part *part,
                          const struct node_entry *entry, bool is_array)
{
    const struct node *node = &entry->value;
    bool is_open_array = node->kind == NODE_ARRAY && node->array->is_open;
    bool is_table = node->kind == NODE_TABLE && node->table->how != TOML_INLINE;
    const char *what = is_open_array ? "an array of tables" : closed_name(node);
    const char *fix = is_open_array ? "write [[...]] to add to it" : NULL;

    if (is_table && !is_array)
        toml_complain(toml, part->place, "write its keys in one place",
                      "the table '%.*s' is repeated (first defined at %u:%u)",
                      SHOWN(part->path, part->end), entry->key_place.line, entry->key_place.column);
    else
        toml_complain(toml, part->place, fix,
                      "the key '%.*s' is already %s (first defined at %u:%u)",
                      SHOWN(part->path, part->end), is_table ? "a table" : what,
                      entry->key_place.line, entry->key_place.column);
}

/* One table more at the end of an array of tables. */
static int append_table(struct toml *toml, struct node_array *array, const struct part *part,
                        struct position place)
{
    int r = toml_check_level(toml, part->place, array->level + 1);
    if (r < 0)
        return r;
    struct node node = { .kind = NODE_TABLE, .place = place };
    node.table = document_table(toml->document, array->level + 1);
    r = node.table ? node_array_add(toml->document, array, &node) : -ENOMEM;
    if (r < 0)
        return toml_fail_storing(toml, part->place, r);
    node.table->how = TOML_HEADER;
    toml->table = node.table;
    return 0;
}

static int new_array(struct toml *toml, struct node_table *table, const struct part *part,
                     struct position place)
{
    struct node node = { .kind = NODE_ARRAY, .place = place };

    node.array = document_array(toml->document, table->level + 1);
    int r =
        node.array ? node_table_add(toml->document, table, part->key, part->place, &node) : -ENOMEM;
    if (r < 0)
        return toml_fail_storing(toml, part->place, r);
    node.array->is_open = true;
    return append_table(toml, node.array, part, place);
}

/* The last part of a header: toml->table becomes the table that it opens. */
static int open_table(struct toml *toml, struct node_table *table, const struct part *part,
                      struct header header)
{
    struct node_entry *entry = find(table, part);

    if (!entry && header.is_array)
        return new_array(toml, table, part, header.place);
    if (!entry)
        return add_table(toml, table, part, TOML_HEADER, header.place, &toml->table);
    struct node *node = &entry->value;
    if (header.is_array && node->kind == NODE_ARRAY && node->array->is_open)
        return append_table(toml, node->array, part, header.place);
    if (!header.is_array && node->kind == NODE_TABLE && node->table->how == TOML_IMPLIED) {
        node->table->how = TOML_HEADER;
        node->place = header.place;
        entry->key_place = part->place;
        toml->table = node->table;
        return 0;
    }
    refuse_header(toml, part, entry, header.is_array);
    return 0;
}

static int close_bracket(struct toml *toml, struct header header)
{
    const char *closing = header.is_array ? "']]' after the name" : "']' after the name";

    toml_skip_blanks(toml);
    if (header.is_array && toml_peek(toml) == ']' && toml_peek_at(toml, 1) != ']') {
        toml->at++; /* the mistake is what stands in place of the second bracket */
        return toml_unexpected(toml, "a second ']'", NULL);
    }
    if (toml_peek(toml) != ']')
        return toml_unexpected(toml, closing, NULL);
    toml->at += header.is_array ? 2 : 1;
    return 0;
}

int toml_header(struct toml *toml)
{
    struct header header = { toml_place(toml), toml_peek_at(toml, 1) == '[' };
    struct node_table *table = toml->document->root.table;
    struct part part = { 0 };

    toml->table = NULL;
    toml->at += header.is_array ? 2 : 1;
    toml_skip_blanks(toml);
    part.path = toml->at;
    int r = read_part(toml, &part);
    while (r == 0 && next_part(toml)) {
        r = step_header(toml, &table, &part);
        if (r == 0)
            r = read_part(toml, &part);
    }
    if (r == 0)
        r = close_bracket(toml, header);
    if (r == 0 && table)
        r = open_table(toml, table, &part, header);
    return r;
}
