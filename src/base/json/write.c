#include "write.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"

void json_write_init(struct json_writer *json, struct buffer *out, bool is_pretty)
{
    *json = (struct json_writer){ .out = out, .is_pretty = is_pretty };
}

void json_write_finish(struct json_writer *json)
{
    assert(json->depth == 0 && json->is_ended);
    if (json->is_pretty)
        buffer_append_char(json->out, '\n');
}

/* The bit of the innermost object or array; there is one. */
static bool innermost(const struct json_writer *json, const uint64_t *bits)
{
    return bits[(json->depth - 1) / 64] >> (json->depth - 1) % 64 & 1;
}

static void set_innermost(const struct json_writer *json, uint64_t *bits, bool value)
{
    uint64_t bit = UINT64_C(1) << (json->depth - 1) % 64;
    uint64_t *word = &bits[(json->depth - 1) / 64];

    *word = value ? *word | bit : *word & ~bit;
}

static bool in_object(const struct json_writer *json)
{
    return json->depth > 0 && innermost(json, json->is_object);
}

static void new_line(struct json_writer *json)
{
    if (!json->is_pretty)
        return;
    buffer_append_char(json->out, '\n');
    for (unsigned i = 0; i < json->depth; i++)
        buffer_append_string(json->out, "  ");
}

static void before_member(struct json_writer *json)
{
    if (innermost(json, json->has_members))
        buffer_append_char(json->out, ',');
    set_innermost(json, json->has_members, true);
    new_line(json);
}

static void before_value(struct json_writer *json)
{
    assert(!json->is_ended);
    if (json->has_key) {
        json->has_key = false;
        return;
    }
    assert(!in_object(json));
    if (json->depth > 0)
        before_member(json);
}

static void after_value(struct json_writer *json)
{
    json->is_ended = json->depth == 0;
}

static void begin(struct json_writer *json, char bracket, bool is_object)
{
    before_value(json);
    assert(json->depth < JSON_WRITE_MAX_DEPTH);
    json->depth++;
    set_innermost(json, json->has_members, false);
    set_innermost(json, json->is_object, is_object);
    buffer_append_char(json->out, bracket);
}

static void end(struct json_writer *json, char bracket)
{
    assert(json->depth > 0 && !json->has_key);
    bool had_members = innermost(json, json->has_members);

    json->depth--;
    if (had_members)
        new_line(json);
    buffer_append_char(json->out, bracket);
    after_value(json);
}

void json_write_object_begin(struct json_writer *json)
{
    begin(json, '{', true);
}

void json_write_object_end(struct json_writer *json)
{
    assert(in_object(json));
    end(json, '}');
}

void json_write_array_begin(struct json_writer *json)
{
    begin(json, '[', false);
}

void json_write_array_end(struct json_writer *json)
{
    assert(!in_object(json));
    end(json, ']');
}

static void append_escape(struct buffer *out, uint32_t cp)
{
    static const char letters[] = { ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f',
                                    ['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\' };

    if (cp < sizeof letters && letters[cp]) {
        const char escape[2] = { '\\', letters[cp] };

        buffer_append(out, escape, sizeof escape);
    } else {
        buffer_printf(out, "\\u%04x", (unsigned)cp);
    }
}

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

static bool has_zero(uint64_t word)
{
    return (word - EACH(1)) & ~word & EACH(0x80);
}

/* Eight bytes that stand for themselves: from 0x20 to 0x7E, no quote and no backslash. */
static bool is_plain_word(const char *bytes)
{
    uint64_t word;

    memcpy(&word, bytes, sizeof word);
    bool has_control = (word - EACH(0x20)) & ~word & EACH(0x80);
    return !(word & EACH(0x80)) && !has_control && !has_zero(word ^ EACH('"')) &&
           !has_zero(word ^ EACH('\\')) && !has_zero(word ^ EACH(0x7F));
}

/*
 * Captured output comes through here by the mebibyte, and nearly all of it is plain: runs of what
 * needs no change are copied whole.
 */
static void append_quoted(struct buffer *out, const char *bytes, size_t n)
{
    size_t run = 0; /* from here to `at` nothing needs a change */
    size_t at = 0;

    buffer_append_char(out, '"');
    while (at < n) {
        uint32_t cp = (unsigned char)bytes[at];
        size_t length = 1;

        if (cp >= 0x20 && cp < 0x7F && cp != '"' && cp != '\\') {
            at++;
            while (n - at >= 8 && is_plain_word(bytes + at))
                at += 8;
            continue;
        }
        if (cp >= 0x80)
            length = utf8_decode((const unsigned char *)bytes + at, n - at, &cp);
        if (cp >= 0xA0 && cp != UTF8_REPLACEMENT) {
            at += length;
            continue;
        }
        buffer_append(out, bytes + run, at - run);
        if (cp == UTF8_REPLACEMENT)
            buffer_append_string(out, "\xEF\xBF\xBD");
        else
            append_escape(out, cp);
        at += length;
        run = at;
    }
    buffer_append(out, bytes + run, n - run);
    buffer_append_char(out, '"');
}

void json_write_key(struct json_writer *json, const char *key)
{
    json_write_key_bytes(json, key, strlen(key));
}

void json_write_key_bytes(struct json_writer *json, const char *key, size_t n)
{
    assert(in_object(json) && !json->has_key);
    before_member(json);
    append_quoted(json->out, key, n);
    buffer_append_string(json->out, json->is_pretty ? ": " : ":");
    json->has_key = true;
}

void json_write_string(struct json_writer *json, const char *bytes, size_t n)
{
    before_value(json);
    append_quoted(json->out, n > 0 ? bytes : "", n);
    after_value(json);
}

void json_write_text(struct json_writer *json, const char *text)
{
    if (text)
        json_write_string(json, text, strlen(text));
    else
        json_write_null(json);
}

void json_write_int(struct json_writer *json, int64_t value)
{
    before_value(json);
    buffer_printf(json->out, "%" PRId64, value);
    after_value(json);
}

void json_write_uint(struct json_writer *json, uint64_t value)
{
    before_value(json);
    buffer_printf(json->out, "%" PRIu64, value);
    after_value(json);
}

void json_write_bool(struct json_writer *json, bool value)
{
    before_value(json);
    buffer_append_string(json->out, value ? "true" : "false");
    after_value(json);
}

void json_write_null(struct json_writer *json)
{
    before_value(json);
    buffer_append_string(json->out, "null");
    after_value(json);
}

void json_write_raw(struct json_writer *json, const char *bytes, size_t n)
{
    before_value(json);
    buffer_append(json->out, bytes, n);
    after_value(json);
}
