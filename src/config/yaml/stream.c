#include "stream.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

#define SHOWN_MAX 60 /* bytes of a key in a sentence */

/* ---- one record, checked in itself */

struct record {
    enum yaml_kind kind;
    struct position place;
    size_t length;
    const char *text;
};

static uint32_t number_at(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

static struct record record_of(const struct yaml_stream *stream)
{
    const unsigned char *header = stream->header;

    return (struct record){
        .kind = header[0],
        .place = { number_at(header + 1), number_at(header + 5) },
        .length = number_at(header + 9),
        .text = stream->text.data ? stream->text.data : "",
    };
}

static bool is_place(struct position place, bool may_be_none)
{
    if (place.line == 0 || place.column == 0)
        return may_be_none && place.line == place.column;
    return place.line <= NODE_TEXT_MAX + 1 && place.column <= NODE_TEXT_MAX + 1;
}

/* Before a byte of the text is stored. */
static bool is_header_sound(const struct yaml_stream *stream, const struct record *record)
{
    switch (record->kind) {
    case YAML_MAP:
    case YAML_LIST:
    case YAML_END:
    case YAML_DONE:
        return record->length == 0 && is_place(record->place, record->kind == YAML_DONE);
    case YAML_KEY:
    case YAML_PLAIN:
    case YAML_QUOTED:
        return record->length <= YAML_TEXT_MAX - stream->n_text && is_place(record->place, false);
    case YAML_ERROR:
        return record->length > 0 && record->length <= YAML_SENTENCE_MAX &&
               is_place(record->place, true);
    }
    return false;
}

/* ---- errors of the file */

static void complain(struct yaml_stream *stream, struct position place, const char *fix,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));
static void complain(struct yaml_stream *stream, struct position place, const char *fix,
                     const char *format, ...)
{
    char message[YAML_SENTENCE_MAX + 1];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    stream->n_errors++;
    findings_add(stream->findings, SEVERITY_ERROR, node_origin(stream->document, place), fix, "%s",
                 message);
}

static int take_error(struct yaml_stream *stream, const struct record *record)
{
    char sentence[YAML_SENTENCE_MAX + 1];

    if (++stream->n_error_records > YAML_ERRORS_MAX || memchr(record->text, '\0', record->length))
        return -EPROTO;
    memcpy(sentence, record->text, record->length);
    sentence[record->length] = '\0';
    char *fix = strchr(sentence, '\n');
    if (fix)
        *fix++ = '\0';
    complain(stream, record->place, fix, "%s", sentence);
    return 0;
}

static int fail_storing(struct yaml_stream *stream, struct position place, int r)
{
    if (r == -E2BIG) {
        complain(stream, place, NULL, "the file holds more than %d values", NODE_COUNT_MAX);
        return -EINVAL;
    }
    stream->findings->failed = true;
    return -ENOMEM;
}

/* ---- keys and values */

static struct yaml_frame *innermost(struct yaml_stream *stream)
{
    return stream->n_frames > 0 ? &stream->frames[stream->n_frames - 1] : NULL;
}

static int take_key(struct yaml_stream *stream, const struct record *record)
{
    const struct yaml_frame *frame = innermost(stream);

    if (!frame || !frame->table || stream->has_key)
        return -EPROTO;
    const struct node_entry *first = node_table_find(frame->table, record->text, record->length);
    if (first) {
        size_t n = record->length <= SHOWN_MAX ? record->length
                                               : utf8_valid_prefix(record->text, SHOWN_MAX);

        complain(stream, record->place, "keep one of the two",
                 "the key '%.*s' is repeated (first defined at %u:%u)", (int)n, record->text,
                 first->key_place.line, first->key_place.column);
    }
    stream->has_key = true;
    stream->is_dropped = first != NULL;
    stream->key_place = record->place;
    stream->key.length = record->length;
    stream->key.bytes = arena_copy(&stream->document->arena, record->text, record->length);
    return stream->key.bytes ? 0 : fail_storing(stream, record->place, -ENOMEM);
}

/* Puts a value where it belongs: behind its key, or at the end of its list. */
static int add_value(struct yaml_stream *stream, const struct node *node)
{
    struct yaml_frame *frame = innermost(stream);
    int r = 0;

    if (!frame || (frame->table && !stream->has_key))
        return -EPROTO;
    if (frame->array)
        r = node_array_add(stream->document, frame->array, node);
    else if (!stream->is_dropped)
        r = node_table_add(stream->document, frame->table, stream->key, stream->key_place, node);
    stream->has_key = false;
    return r < 0 ? fail_storing(stream, node->place, r) : 0;
}

static int take_scalar(struct yaml_stream *stream, const struct record *record)
{
    struct node node = {
        .kind = record->kind == YAML_PLAIN ? NODE_TEXT : NODE_STRING,
        .place = record->place,
    };

    if (!innermost(stream))
        return -EPROTO;
    node.string.length = record->length;
    node.string.bytes = arena_copy(&stream->document->arena, record->text, record->length);
    return node.string.bytes ? add_value(stream, &node)
                             : fail_storing(stream, record->place, -ENOMEM);
}

/* The map outside everything is there already: the document's own. */
static int take_root(struct yaml_stream *stream, const struct record *record)
{
    if (stream->has_root || record->kind != YAML_MAP)
        return -EPROTO;
    stream->has_root = true;
    stream->document->root.place = record->place;
    stream->frames[stream->n_frames++] = (struct yaml_frame){ stream->document->root.table, NULL };
    return 0;
}

static int take_container(struct yaml_stream *stream, const struct record *record)
{
    struct node node = { .kind = NODE_ARRAY, .place = record->place };
    struct yaml_frame frame = { NULL, NULL };

    if (stream->n_frames == 0)
        return take_root(stream, record);
    if (stream->n_frames > NODE_DEPTH_MAX)
        return -EPROTO;
    if (record->kind == YAML_MAP) {
        node.kind = NODE_TABLE;
        node.table = frame.table = document_table(stream->document, stream->n_frames);
    } else {
        node.array = frame.array = document_array(stream->document, stream->n_frames);
    }
    if (!frame.table && !frame.array)
        return fail_storing(stream, record->place, -ENOMEM);
    int r = add_value(stream, &node);
    if (r == 0)
        stream->frames[stream->n_frames++] = frame;
    return r;
}

static int take_end(struct yaml_stream *stream)
{
    if (stream->n_frames == 0 || stream->has_key)
        return -EPROTO;
    stream->n_frames--;
    return 0;
}

/* After errors the rest may be missing. */
static int take_done(struct yaml_stream *stream)
{
    if (stream->n_frames > 0 && stream->n_errors == 0)
        return -EPROTO;
    stream->is_done = true;
    return 0;
}

static int take(struct yaml_stream *stream, const struct record *record)
{
    if (utf8_valid_prefix(record->text, record->length) != record->length)
        return -EPROTO;
    switch (record->kind) {
    case YAML_MAP:
    case YAML_LIST:
        return take_container(stream, record);
    case YAML_END:
        return take_end(stream);
    case YAML_KEY:
        return take_key(stream, record);
    case YAML_PLAIN:
    case YAML_QUOTED:
        return take_scalar(stream, record);
    case YAML_ERROR:
        return take_error(stream, record);
    case YAML_DONE:
        return take_done(stream);
    }
    return -EPROTO;
}

/* ---- bytes */

/* As much of `wanted` as there is. */
static size_t take_bytes(const unsigned char **at, size_t *n, size_t wanted)
{
    size_t taken = *n < wanted ? *n : wanted;

    *at += taken;
    *n -= taken;
    return taken;
}

/* True when the header is whole. */
static bool fill_header(struct yaml_stream *stream, const unsigned char **at, size_t *n)
{
    const unsigned char *from = *at;
    size_t taken = take_bytes(at, n, YAML_HEADER - stream->n_header);

    memcpy(stream->header + stream->n_header, from, taken);
    stream->n_header += taken;
    return stream->n_header == YAML_HEADER;
}

int yaml_stream_feed(struct yaml_stream *stream, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;

    while (n > 0) {
        if (stream->is_done)
            return -EPROTO;
        if (stream->n_header < YAML_HEADER && !fill_header(stream, &at, &n))
            return 0;
        struct record record = record_of(stream);
        if (!is_header_sound(stream, &record))
            return -EPROTO;
        const unsigned char *from = at;
        buffer_append(&stream->text, from,
                      take_bytes(&at, &n, record.length - stream->text.length));
        if (stream->text.failed)
            return fail_storing(stream, record.place, -ENOMEM);
        if (stream->text.length < record.length)
            return 0;
        record.text = stream->text.data ? stream->text.data : "";
        int r = take(stream, &record);
        if (r < 0)
            return r;
        stream->n_text += record.length;
        stream->n_header = 0;
        stream->text.length = 0;
    }
    return 0;
}

void yaml_stream_done(struct yaml_stream *stream)
{
    buffer_done(&stream->text);
}
