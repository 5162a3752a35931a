/*
 * Whatever the text is: either a document or findings, never both. What is found lies within the
 * text and is said in one safe line. A document is a sound tree with places in the text, and
 * written down again in another form (inline tables, quoted keys, escapes), it is read as the same.
 */
#include "toml.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "config/decode.h"
#include "config/node_walk.h"
#include "test/fuzz.h"

/* ---- places */

/* How many characters each line has; a line's end may be named too. */
struct lines {
    unsigned *lengths;
    size_t n;
};

static struct lines measure(const char *text, size_t size)
{
    struct lines lines = { calloc(size + 2, sizeof *lines.lengths), 1 };

    REQUIRE(lines.lengths);
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\n')
            lines.n++;
        else
            lines.lengths[lines.n] += !utf8_is_continuation((unsigned char)text[i]);
    }
    return lines;
}

static void check_place(const struct lines *lines, unsigned line, unsigned column)
{
    REQUIRE(line >= 1 && line <= lines->n);
    REQUIRE(column >= 1 && column <= lines->lengths[line] + 1);
}

/* ---- the tree */

static void check_tree(const struct lines *lines, const struct node *node, unsigned depth,
                       size_t *n_nodes);

static void check_table(const struct lines *lines, const struct node_table *table, unsigned depth,
                        size_t *n_nodes)
{
    size_t n = 0;

    REQUIRE(depth <= NODE_DEPTH_MAX && table->level == depth);
    for (const struct node_entry *entry = table->first; entry; entry = entry->next, n++) {
        REQUIRE(node_table_find(table, entry->key.bytes, entry->key.length) == entry);
        REQUIRE(utf8_valid_prefix(entry->key.bytes, entry->key.length) == entry->key.length);
        REQUIRE(entry->key.bytes[entry->key.length] == '\0');
        check_place(lines, entry->key_place.line, entry->key_place.column);
        check_tree(lines, &entry->value, depth + 1, n_nodes);
    }
    REQUIRE(n == table->n);
    *n_nodes += n;
}

static void check_array(const struct lines *lines, const struct node_array *array, unsigned depth,
                        size_t *n_nodes)
{
    size_t n = 0;

    REQUIRE(depth <= NODE_DEPTH_MAX && array->level == depth);
    for (const struct node *item = array->first; item; item = item->next, n++)
        check_tree(lines, item, depth + 1, n_nodes);
    REQUIRE(n == array->n);
    *n_nodes += n;
}

static void check_tree(const struct lines *lines, const struct node *node, unsigned depth,
                       size_t *n_nodes)
{
    check_place(lines, node->place.line, node->place.column);
    if (node->kind == NODE_TABLE)
        check_table(lines, node->table, depth, n_nodes);
    else if (node->kind == NODE_ARRAY)
        check_array(lines, node->array, depth, n_nodes);
    else if (node->kind == NODE_STRING)
        REQUIRE(utf8_valid_prefix(node->string.bytes, node->string.length) == node->string.length);
    REQUIRE(node->kind != NODE_TEXT);
}

/* ---- the same in another form */

static void write_string(struct buffer *out, const struct node_string *string)
{
    const unsigned char *bytes = (const unsigned char *)string->bytes;

    buffer_append_char(out, '"');
    for (size_t i = 0; i < string->length;) {
        uint32_t cp;

        i += utf8_decode(bytes + i, string->length - i, &cp);
        buffer_printf(out, cp % 2 && cp < 0x10000 ? "\\u%04X" : "\\U%08X", (unsigned)cp);
    }
    buffer_append_char(out, '"');
}

static void write_float(struct buffer *out, double number)
{
    char text[40];

    if (isnan(number) || isinf(number)) {
        buffer_append_string(out, isnan(number) ? "-nan" : number > 0 ? "+inf" : "-inf");
        return;
    }
    (void)snprintf(text, sizeof text, "%+.20e", number);
    buffer_append_string(out, text);
}

static void write_datetime(struct buffer *out, const struct node *node)
{
    const struct node_datetime *d = &node->datetime;
    int offset = abs(d->offset_minutes);

    if (node->kind != NODE_LOCAL_TIME)
        buffer_printf(out, "%04u-%02u-%02u", d->year, d->month, d->day);
    if (node->kind == NODE_LOCAL_DATE)
        return;
    if (node->kind != NODE_LOCAL_TIME)
        buffer_append_char(out, ' ');
    buffer_printf(out, "%02u:%02u:%02u.%09u", d->hour, d->minute, d->second,
                  (unsigned)d->nanosecond);
    if (node->kind == NODE_DATETIME)
        buffer_printf(out, "%c%02d:%02d", d->offset_minutes < 0 ? '-' : '+', offset / 60,
                      offset % 60);
}

struct writing {
    struct buffer *out;
    unsigned depth; /* the root has no braces */
};

static void write_scalar(void *context, const struct node *node)
{
    struct buffer *out = ((struct writing *)context)->out;

    if (node->kind == NODE_STRING)
        write_string(out, &node->string);
    else if (node->kind == NODE_INTEGER)
        buffer_printf(out, "%+" PRId64, node->integer);
    else if (node->kind == NODE_FLOAT)
        write_float(out, node->number);
    else if (node->kind == NODE_BOOLEAN)
        buffer_append_string(out, node->boolean ? "true" : "false");
    else
        write_datetime(out, node);
}

static void write_begin(void *context, const struct node *node)
{
    struct writing *writing = context;

    if (writing->depth++ > 0)
        buffer_append_string(writing->out, node->kind == NODE_TABLE ? "{" : "[ # array\r\n");
}

static void write_end(void *context, const struct node *node)
{
    struct writing *writing = context;

    if (--writing->depth > 0)
        buffer_append_char(writing->out, node->kind == NODE_TABLE ? '}' : ']');
}

static void write_key(void *context, const struct node_entry *entry)
{
    struct buffer *out = ((struct writing *)context)->out;

    write_string(out, &entry->key);
    buffer_append_char(out, '=');
}

static void write_between(void *context, const struct node *parent, bool is_last)
{
    struct writing *writing = context;

    if (parent->kind == NODE_ARRAY)
        buffer_append_string(writing->out, "\n,");
    else if (!is_last)
        buffer_append_string(writing->out, writing->depth > 1 ? "\t, " : "\n");
}

static void check_same(const struct document *document)
{
    static const struct node_visitor visitor = { write_begin, write_key, write_scalar,
                                                 write_between, write_end };
    auto_buffer struct buffer text = { 0 };
    auto_buffer struct buffer before = { 0 };
    auto_buffer struct buffer after = { 0 };
    struct document *again = NULL;
    struct findings findings = { 0 };

    decode_print(&before, document);
    node_walk(&document->root, &visitor, &(struct writing){ .out = &text });
    REQUIRE(!text.failed && !before.failed);
    if (text.length > NODE_TEXT_MAX)
        return;
    REQUIRE(toml_parse("again", text.data, text.length, &again, &findings) == 0);
    decode_print(&after, again);
    REQUIRE(!after.failed && before.length == after.length);
    REQUIRE(memcmp(before.data, after.data, before.length) == 0);
    document_free(again);
}

/* ---- */

static void check_findings(const struct lines *lines, const struct findings *findings)
{
    REQUIRE(findings->n > 0 && findings->n_errors == findings->n + findings->n_dropped);
    for (size_t i = 0; i < findings->n; i++) {
        auto_buffer struct buffer line = { 0 };

        check_place(lines, findings->items[i].origin.line, findings->items[i].origin.column);
        finding_print(&line, &findings->items[i]);
        REQUIRE(!line.failed && line.length < 1000);
        REQUIRE(utf8_valid_prefix(line.data, line.length) == line.length);
        for (size_t j = 0; j + 1 < line.length; j++)
            REQUIRE((unsigned char)line.data[j] >= 0x20 && line.data[j] != 0x7F);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct document *document = NULL;
    struct findings findings = { 0 };
    char *text = malloc(size + 1); /* not a byte more may be read */

    REQUIRE(text);
    if (size > 0)
        memcpy(text, data, size);
    struct lines lines = measure(text, size);
    char *exact = realloc(text, size ? size : 1);
    int r = toml_parse("fuzz", exact, size, &document, &findings);

    if (r == 0) {
        size_t n_nodes = 0;

        REQUIRE(document && findings.n == 0);
        check_tree(&lines, &document->root, 0, &n_nodes);
        REQUIRE(n_nodes == document->n_nodes);
        check_same(document);
    } else {
        REQUIRE(r == -EINVAL && !document);
        check_findings(&lines, &findings);
    }
    document_free(document);
    findings_done(&findings);
    free(lines.lengths);
    free(exact);
    return 0;
}
