/*
 * http_head_fuzz.c - any bytes as what a client sends
 *
 * Rules: what was said of the first bytes stays true when more come; a complete head ends at the
 * first empty line, has one Host and no stray control character; in what pieces requests come
 * changes nothing.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "net/wire/http_stream.h"

#define REQUIRE(condition) \
    do {                   \
        if (!(condition))  \
            abort();       \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Looked for in the plainest way: lines that begin with the name. */
static size_t count_lines(const char *bytes, size_t n, const char *begin)
{
    size_t length = strlen(begin);
    size_t count = 0;

    for (size_t i = 1; i + length <= n; i++)
        count += bytes[i - 1] == '\n' && strncasecmp(bytes + i, begin, length) == 0;
    return count;
}

static bool lies_in(struct http_span span, const char *bytes, size_t n)
{
    return span.n == 0 || (span.at >= bytes && span.at + span.n <= bytes + n);
}

static void check_head(const char *bytes, const struct http_request *request)
{
    size_t n = request->length;
    const char *end = memmem(bytes, n, "\r\n\r\n", 4);
    struct http_header field;
    size_t at = 0;
    size_t n_fields = 0;

    REQUIRE(end && end + 4 == bytes + n && n <= HTTP_REQUEST_MAX);
    for (size_t i = 0; i < n; i++) {
        REQUIRE((unsigned char)bytes[i] >= ' ' || strchr("\r\n\t", bytes[i]));
        REQUIRE(bytes[i] && bytes[i] != 0x7F &&
                (bytes[i] == '\r') == (bytes[i + 1] == '\n' && i + 1 < n));
    }
    REQUIRE(count_lines(bytes, n, "host:") == (request->form != HTTP_AUTHORITY) ||
            request->form == HTTP_AUTHORITY);
    REQUIRE(count_lines(bytes, n, "content-length:") == request->has_length);
    REQUIRE(count_lines(bytes, n, "transfer-encoding:") == request->is_chunked);
    REQUIRE(count_lines(bytes, n, " ") + count_lines(bytes, n, "\t") == 0);
    REQUIRE(!(request->has_length && request->is_chunked));
    REQUIRE(lies_in(request->method, bytes, n) && lies_in(request->target, bytes, n));
    REQUIRE(lies_in(request->upgrade, bytes, n));
    REQUIRE(request->host.is_address || request->host.length > 0);
    while (http_request_next_field(bytes, request, &at, &field)) {
        REQUIRE(lies_in(field.name, bytes, n) && lies_in(field.value, bytes, n));
        n_fields++;
    }
    REQUIRE(n_fields + 2 == count_lines(bytes, n, "")); /* the first and the empty line */
}

static void fuzz_head(const char *bytes, size_t size)
{
    struct http_request request;
    enum http_state last = HTTP_MORE;
    size_t step = size / 64 + 1;

    for (size_t n = 0; n <= size; n += n + step > size && n < size ? size - n : step) {
        enum http_state state = http_request_parse(bytes, n, &request);

        REQUIRE(last == HTTP_MORE || state == last);
        REQUIRE((state == HTTP_BAD) == (request.why != NULL));
        last = state;
    }
    if (last == HTTP_COMPLETE)
        check_head(bytes, &request);
}

struct outcome {
    size_t n_heads;
    size_t n_passed;
    size_t heads; /* where they were, as a sum that minds the order */
    enum http_stream_step last;
};

static struct outcome run(const char *bytes, size_t size, size_t piece)
{
    struct http_stream stream = { 0 };
    struct outcome out = { 0 };
    size_t have = 0;

    for (;;) {
        struct http_request request;
        size_t n_passed = 0;
        uint64_t body = http_stream_body(&stream);

        out.last = http_stream_take(&stream, bytes + out.n_passed, have - out.n_passed, &n_passed,
                                    &request);
        REQUIRE(n_passed <= have - out.n_passed);
        REQUIRE(body == 0 || out.last != HTTP_STREAM_PASS || n_passed >= 1);
        if (out.last == HTTP_STREAM_HEAD) {
            check_head(bytes + out.n_passed, &request);
            out.heads = out.heads * 31 + out.n_passed;
            out.n_heads++;
        }
        out.n_passed += n_passed;
        if (out.last == HTTP_STREAM_ASKED)
            http_stream_answered(&stream, out.n_heads % 2);
        if (out.last == HTTP_STREAM_BAD || (out.last == HTTP_STREAM_MORE && have == size))
            return out;
        if (out.last == HTTP_STREAM_MORE)
            have = size - have < piece ? size : have + piece;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = malloc(size + 1); /* of the exact size but for one, which is never read */
    bool is_switched;

    if (!bytes || size > 8192) {
        free(bytes);
        return 0;
    }
    if (size > 0)
        memcpy(bytes, data, size);
    bytes[size] = '\n';
    fuzz_head(bytes, size);
    struct outcome whole = run(bytes, size, size + 1);
    struct outcome pieces = run(bytes, size, 7);
    REQUIRE(whole.n_heads == pieces.n_heads && whole.heads == pieces.heads);
    REQUIRE(whole.last == pieces.last);
    REQUIRE(whole.last == HTTP_STREAM_BAD || whole.n_passed == pieces.n_passed);
    (void)http_stream_read_answer(bytes, size, &is_switched);
    free(bytes);
    return 0;
}
