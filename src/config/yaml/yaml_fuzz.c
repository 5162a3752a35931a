/*
 * Whatever coop-yaml answers: either a sound document or a refusal. How the answer is cut on its
 * way makes no difference. What it says about the file comes out as one safe line, and nothing is
 * stored that was not sent.
 */
#include "stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "config/decode.h"
#include "test/fuzz.h"

struct result {
    struct document *document;
    struct findings findings;
    struct yaml_stream stream;
    int r;
};

/* In pieces of memory of their exact size: a sanitizer sees a byte too many. */
static void feed(struct result *result, const uint8_t *data, size_t size, size_t piece)
{
    memset(result, 0, sizeof *result);
    result->document = document_new("fuzz");
    REQUIRE(result->document);
    result->stream.document = result->document;
    result->stream.findings = &result->findings;
    for (size_t i = 0; i < size && result->r == 0; i += piece) {
        size_t n = size - i < piece ? size - i : piece;
        uint8_t *exact = malloc(n);

        REQUIRE(exact);
        memcpy(exact, data + i, n);
        result->r = yaml_stream_feed(&result->stream, exact, n);
        free(exact);
    }
}

static void done(struct result *result)
{
    yaml_stream_done(&result->stream);
    document_free(result->document);
    findings_done(&result->findings);
}

/* ---- the tree */

static void check_text(const struct node_string *string)
{
    REQUIRE(utf8_valid_prefix(string->bytes, string->length) == string->length);
    REQUIRE(string->bytes[string->length] == '\0');
}

static size_t check_tree(const struct node *node, unsigned depth)
{
    size_t n = 1;

    REQUIRE(node->place.line >= 1 && node->place.column >= 1);
    if (node->kind == NODE_TABLE) {
        size_t n_entries = 0;

        REQUIRE(depth <= NODE_DEPTH_MAX && node->table->level == depth);
        for (const struct node_entry *e = node->table->first; e; e = e->next, n_entries++) {
            REQUIRE(node_table_find(node->table, e->key.bytes, e->key.length) == e);
            REQUIRE(e->key_place.line >= 1 && e->key_place.column >= 1);
            check_text(&e->key);
            n += check_tree(&e->value, depth + 1);
        }
        REQUIRE(n_entries == node->table->n);
    } else if (node->kind == NODE_ARRAY) {
        size_t n_items = 0;

        REQUIRE(depth <= NODE_DEPTH_MAX && node->array->level == depth);
        for (const struct node *item = node->array->first; item; item = item->next, n_items++)
            n += check_tree(item, depth + 1);
        REQUIRE(n_items == node->array->n);
    } else {
        REQUIRE(node->kind == NODE_TEXT || node->kind == NODE_STRING);
        check_text(&node->string);
    }
    return n;
}

/* ---- */

static void check_findings(const struct findings *findings)
{
    REQUIRE(!findings->failed && findings->n_errors == findings->n + findings->n_dropped);
    for (size_t i = 0; i < findings->n; i++) {
        auto_buffer struct buffer line = { 0 };

        finding_print(&line, &findings->items[i]);
        REQUIRE(!line.failed && line.length < 4 * YAML_SENTENCE_MAX + 100);
        REQUIRE(utf8_valid_prefix(line.data, line.length) == line.length);
        for (size_t j = 0; j + 1 < line.length; j++)
            REQUIRE((unsigned char)line.data[j] >= 0x20 && line.data[j] != 0x7F);
    }
}

static void check(const struct result *result, size_t size)
{
    const struct yaml_stream *stream = &result->stream;

    REQUIRE(result->r == 0 || result->r == -EPROTO);
    REQUIRE(stream->n_text <= size && stream->text.length <= size);
    REQUIRE(stream->n_errors == result->findings.n_errors);
    REQUIRE(stream->n_frames <= NODE_DEPTH_MAX + 1);
    check_findings(&result->findings);
    size_t n = check_tree(&result->document->root, 0);
    /* What a repeated key held hangs nowhere, but was counted. */
    REQUIRE(stream->n_errors > 0 ? n <= result->document->n_nodes + 1
                                 : n == result->document->n_nodes + 1);
    REQUIRE(result->document->n_nodes <= size / YAML_HEADER);
    REQUIRE(!stream->is_done || stream->n_errors > 0 || stream->n_frames == 0);
}

static void check_same(const struct result *a, const struct result *b)
{
    auto_buffer struct buffer before = { 0 };
    auto_buffer struct buffer after = { 0 };

    REQUIRE(a->r == b->r && a->stream.is_done == b->stream.is_done);
    REQUIRE(a->stream.n_errors == b->stream.n_errors);
    decode_print(&before, a->document);
    decode_print(&after, b->document);
    REQUIRE(!before.failed && !after.failed && before.length == after.length);
    REQUIRE(memcmp(before.data, after.data, before.length) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t pieces[] = { 1, 5, 64 };
    struct result whole;

    feed(&whole, data, size, size ? size : 1);
    check(&whole, size);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct result cut;

        feed(&cut, data, size, pieces[i]);
        check(&cut, size);
        check_same(&whole, &cut);
        done(&cut);
    }
    done(&whole);
    return 0;
}
