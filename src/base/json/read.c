#include "read.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"

#define BLOCK_SIZE 8192

struct json_block {
    struct json_block *next;
    size_t used, capacity;
    _Alignas(16) char data[];
};

struct reader {
    const char *start, *at, *end;
    struct json_document *out;
    unsigned depth;
    coop_error **err;
};

static int read_value(struct reader *r, struct json_value *out);

/* ---- memory */

static void *allocate(struct reader *r, size_t size)
{
    struct json_block *block = r->out->blocks;

    size = (size + 15) & ~(size_t)15;
    if (!block || block->capacity - block->used < size) {
        size_t capacity = size > BLOCK_SIZE ? size : BLOCK_SIZE;

        block = malloc(sizeof *block + capacity);
        if (!block) {
            (void)fail_no_memory(r->err);
            return NULL;
        }
        *block = (struct json_block){ .next = r->out->blocks, .capacity = capacity };
        r->out->blocks = block;
    }
    void *memory = block->data + block->used;
    block->used += size;
    return memory;
}

void json_document_done(struct json_document *document)
{
    while (document->blocks) {
        struct json_block *next = document->blocks->next;

        free(document->blocks);
        document->blocks = next;
    }
    document->root = NULL;
}

/* ---- places */

static int wrong(struct reader *r, const char *what)
{
    unsigned line = 1;
    unsigned column = 1;

    for (const char *p = r->start; p < r->at; p++) {
        column = *p == '\n' ? 1 : column + (((unsigned char)*p & 0xC0) != 0x80);
        line += *p == '\n';
    }
    return fail_kind(r->err, COOP_ERROR_BAD_POLICY, EINVAL, "line %u, column %u: %s", line, column,
                     what);
}

static void skip_blanks(struct reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'))
        r->at++;
}

static bool take(struct reader *r, char c)
{
    skip_blanks(r);
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

/* ---- texts */

static bool read_hex(struct reader *r, uint32_t *out)
{
    *out = 0;
    if (r->end - r->at < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        char c = *r->at++;
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                                : 16;

        if (digit == 16)
            return false;
        *out = *out << 4 | digit;
    }
    return true;
}

static char *write_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xC0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        *to++ = (char)(0xE0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 0x3F));
        *to++ = (char)(0x80 | (c & 0x3F));
    } else {
        *to++ = (char)(0xF0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 0x3F));
        *to++ = (char)(0x80 | (c >> 6 & 0x3F));
        *to++ = (char)(0x80 | (c & 0x3F));
    }
    return to;
}

static int read_unicode(struct reader *r, char **to)
{
    uint32_t c;
    uint32_t low;

    if (!read_hex(r, &c))
        return wrong(r, "'\\u' needs four hexadecimal digits");
    if (c == 0)
        return wrong(r, "a text holds a NUL");
    if (c >= 0xDC00 && c <= 0xDFFF)
        return wrong(r, "half of a surrogate pair stands alone");
    if (c >= 0xD800 && c <= 0xDBFF) {
        if (r->end - r->at < 2 || r->at[0] != '\\' || r->at[1] != 'u')
            return wrong(r, "half of a surrogate pair stands alone");
        r->at += 2;
        if (!read_hex(r, &low) || low < 0xDC00 || low > 0xDFFF)
            return wrong(r, "half of a surrogate pair stands alone");
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
    }
    *to = write_utf8(*to, c);
    return 0;
}

static int read_escape(struct reader *r, char **to)
{
    static const char escapes[] = "\"\\/bfnrt";
    static const char meanings[] = "\"\\/\b\f\n\r\t";
    char c = r->at < r->end ? *r->at : '\0';
    const char *found = c ? strchr(escapes, c) : NULL;

    if (c == 'u') {
        r->at++;
        return read_unicode(r, to);
    }
    if (!found)
        return wrong(r, "no such escape");
    r->at++;
    *(*to)++ = meanings[found - escapes];
    return 0;
}

/* Behind the opening quote. What is unescaped is never longer than what was written. */
static int read_text(struct reader *r, const char **out)
{
    const char *close = r->at;

    while (close < r->end && *close != '"')
        close += *close == '\\' && close + 1 < r->end ? 2 : 1;
    if (close >= r->end)
        return wrong(r, "a text has no end");
    char *text = allocate(r, (size_t)(close - r->at) + 1);
    char *to = text;
    if (!text)
        return -ENOMEM;
    while (*r->at != '"') {
        int failed = 0;

        if ((unsigned char)*r->at < 0x20)
            return wrong(r, "a control character stands in a text");
        if (*r->at == '\\') {
            r->at++;
            failed = read_escape(r, &to);
        } else {
            *to++ = *r->at++;
        }
        if (failed < 0)
            return failed;
    }
    r->at++;
    *to = '\0';
    *out = text;
    return 0;
}

/* ---- the others */

static void skip_digits(struct reader *r)
{
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
        r->at++;
}

static bool skip_some_digits(struct reader *r)
{
    const char *before = r->at;

    skip_digits(r);
    return r->at > before;
}

static int read_number(struct reader *r, struct json_value *out)
{
    const char *start = r->at;

    r->at += *r->at == '-';
    bool is_good = true;
    if (r->at < r->end && *r->at == '0')
        r->at++;
    else
        is_good = skip_some_digits(r);
    if (is_good && r->at < r->end && *r->at == '.') {
        r->at++;
        is_good = skip_some_digits(r);
    }
    if (is_good && r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
        r->at++;
        if (r->at < r->end && (*r->at == '+' || *r->at == '-'))
            r->at++;
        is_good = skip_some_digits(r);
    }
    if (!is_good)
        return wrong(r, "a number is not complete");
    size_t n = (size_t)(r->at - start);
    char *text = allocate(r, n + 1);
    if (!text)
        return -ENOMEM;
    memcpy(text, start, n);
    text[n] = '\0';
    out->kind = JSON_NUMBER;
    out->text = text;
    return 0;
}

static int read_word(struct reader *r, struct json_value *out)
{
    static const struct {
        const char *word;
        enum json_kind kind;
        bool truth;
    } words[] = { { "null", JSON_NULL, false },
                  { "true", JSON_BOOL, true },
                  { "false", JSON_BOOL, false } };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i].word);

        if ((size_t)(r->end - r->at) < n || memcmp(r->at, words[i].word, n) != 0)
            continue;
        r->at += n;
        out->kind = words[i].kind;
        out->truth = words[i].truth;
        return 0;
    }
    return wrong(r, "a value is expected");
}

static int read_name(struct reader *r, const struct json_value *object, struct json_value *member)
{
    const char *name = "";
    size_t n = 0;

    if (!take(r, '"'))
        return wrong(r, "the name of a member is expected, in quotes");
    int failed = read_text(r, &name);
    if (failed < 0)
        return failed;
    member->name = name;
    for (const struct json_value *other = object->first; other; other = other->next, n++)
        if (strcmp(other->name, name) == 0)
            return wrong(r, "an object has a member twice");
    if (n == JSON_MEMBERS_MAX)
        return wrong(r, "an object has too many members");
    return take(r, ':') ? 0 : wrong(r, "a ':' is expected");
}

static int read_members(struct reader *r, struct json_value *out)
{
    bool is_object = out->kind == JSON_OBJECT;
    char close = is_object ? '}' : ']';
    struct json_value **last = &out->first;

    if (take(r, close))
        return 0;
    do {
        struct json_value *member = allocate(r, sizeof *member);
        if (!member)
            return -ENOMEM;
        *member = (struct json_value){ .kind = JSON_NULL };
        int failed = is_object ? read_name(r, out, member) : 0;
        if (failed == 0)
            failed = read_value(r, member);
        if (failed < 0)
            return failed;
        *last = member;
        last = &member->next;
    } while (take(r, ','));
    return take(r, close)
               ? 0
               : wrong(r, is_object ? "',' or '}' is expected" : "',' or ']' is expected");
}

static int read_value(struct reader *r, struct json_value *out)
{
    skip_blanks(r);
    if (r->at == r->end)
        return wrong(r, "a value is expected");
    switch (*r->at) {
    case '{':
    case '[':
        if (r->depth == JSON_DEPTH_MAX)
            return wrong(r, "it is nested too deeply");
        out->kind = *r->at++ == '{' ? JSON_OBJECT : JSON_ARRAY;
        r->depth++;
        int failed = read_members(r, out);
        r->depth--;
        return failed;
    case '"':
        r->at++;
        out->kind = JSON_TEXT;
        return read_text(r, &out->text);
    default:
        return *r->at == '-' || (*r->at >= '0' && *r->at <= '9') ? read_number(r, out)
                                                                 : read_word(r, out);
    }
}

int json_read(const char *text, size_t n, struct json_document *out, coop_error **err)
{
    struct reader r = { .start = text, .at = text, .end = text + n, .out = out, .err = err };

    *out = (struct json_document){ 0 };
    size_t valid = utf8_valid_prefix(text, n);
    if (valid < n) {
        r.at = text + valid;
        return wrong(&r, "this is no UTF-8");
    }
    out->root = allocate(&r, sizeof *out->root);
    if (!out->root)
        return -ENOMEM;
    *out->root = (struct json_value){ .kind = JSON_NULL };
    int failed = read_value(&r, out->root);
    skip_blanks(&r);
    if (failed == 0 && r.at < r.end)
        failed = wrong(&r, "something follows the value");
    if (failed < 0)
        json_document_done(out);
    return failed;
}

const struct json_value *json_get(const struct json_value *value, const char *name)
{
    if (!value || value->kind != JSON_OBJECT)
        return NULL;
    for (const struct json_value *member = value->first; member; member = member->next)
        if (strcmp(member->name, name) == 0)
            return member;
    return NULL;
}
