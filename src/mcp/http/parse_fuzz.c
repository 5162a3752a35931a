/*
 * parse_fuzz.c - any bytes as a request
 *
 * Rules: what the head names lies in the bytes, and a body that comes in pieces is the body that
 * comes at once.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/http/parse.h"

#define REQUIRE(condition) \
    do {                   \
        if (!(condition))  \
            abort();       \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool lies_in(const char *text, const char *bytes, size_t n)
{
    return text >= bytes && text + strlen(text) < bytes + n;
}

static void fuzz_head(char *bytes, size_t n)
{
    struct http_head head;
    int status = http_head_parse(bytes, n, &head);

    REQUIRE(status == 0 || status == 400 || status == 431 || status == 501 || status == 505);
    if (status != 0)
        return;
    REQUIRE(lies_in(head.method, bytes, n) && lies_in(head.target, bytes, n));
    REQUIRE(head.target[0] == '/' && head.n_fields <= HTTP_FIELDS_MAX);
    REQUIRE(!(head.is_chunked && head.length > 0));
    for (size_t i = 0; i < head.n_fields; i++) {
        REQUIRE(lies_in(head.fields[i].name, bytes, n) && lies_in(head.fields[i].value, bytes, n));
        REQUIRE(!strpbrk(head.fields[i].value, "\r\n"));
        (void)http_head_field(&head, head.fields[i].name);
        (void)http_accepts(head.fields[i].value, "application/json");
    }
}

static int take(const char *bytes, size_t n, size_t piece, struct buffer *body, size_t *used)
{
    struct http_chunks chunks = { 0 };
    int r = 0;

    for (*used = 0; r == 0 && *used < n;) {
        size_t taken = 0;
        size_t now = n - *used < piece ? n - *used : piece;

        r = http_chunks_take(&chunks, bytes + *used, now, &taken, body, 1000);
        *used += r > 1 ? 0 : taken;
    }
    return r;
}

static void fuzz_chunks(const char *bytes, size_t n)
{
    struct buffer whole = { 0 };
    struct buffer pieces = { 0 };
    size_t used_whole;
    size_t used_pieces;
    int r = take(bytes, n, n ? n : 1, &whole, &used_whole);
    int s = take(bytes, n, 3, &pieces, &used_pieces);

    REQUIRE(whole.length <= 1000 && pieces.length <= 1000);
    REQUIRE(r == s);
    if (r == 1) {
        REQUIRE(used_whole == used_pieces && whole.length == pieces.length);
        REQUIRE(whole.length == 0 || memcmp(whole.data, pieces.data, whole.length) == 0);
    }
    buffer_done(&whole);
    buffer_done(&pieces);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = malloc(size + 1);

    if (!bytes)
        return 0;
    if (size > 0)
        memcpy(bytes, data, size);
    bytes[size] = 'x';
    fuzz_chunks(bytes, size);
    size_t n = http_head_length(bytes, size);
    if (n > 0)
        fuzz_head(bytes, n);
    free(bytes);
    return 0;
}
