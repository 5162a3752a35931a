#include "answer.h"

#include <string.h>

#include "base/cleanup.h"

#define SWITCHED 101

/* ---- lines */

/* The next line of a complete head, without its end; false: the empty one. */
static bool next_line(const char *bytes, size_t *at, struct http_span *out)
{
    const char *end = strstr(bytes + *at, "\r\n");

    *out = (struct http_span){ bytes + *at, (size_t)(end - bytes) - *at };
    *at += out->n + 2;
    return out->n > 0;
}

static struct http_span name_of(struct http_span line)
{
    const char *colon = memchr(line.at, ':', line.n);
    size_t n = colon ? (size_t)(colon - line.at) : 0;

    while (n > 0 && (line.at[n - 1] == ' ' || line.at[n - 1] == '\t'))
        n--;
    return (struct http_span){ line.at, n };
}

static bool is_continued(struct http_span line)
{
    return *line.at == ' ' || *line.at == '\t';
}

/* ---- reading */

static bool has_body(unsigned status)
{
    return status >= 200 && status != 204 && status != 304;
}

/* "HTTP/1.1 200 OK": what has come of it can become that. */
static bool is_beginning(const char *bytes, size_t n)
{
    static const char pattern[] = "HTTP/1.x ddd"; /* d: a digit; x: 0 or 1 */

    for (size_t i = 0; i < n && pattern[i]; i++) {
        bool is_right = pattern[i] == 'd'   ? bytes[i] >= '0' && bytes[i] <= '9'
                        : pattern[i] == 'x' ? bytes[i] == '0' || bytes[i] == '1'
                                            : bytes[i] == pattern[i];

        if (!is_right)
            return false;
    }
    return n < sizeof pattern || bytes[sizeof pattern - 1] == ' ' ||
           bytes[sizeof pattern - 1] == '\r';
}

/* Lines end with CR LF: what we take for one line the box would else take for two. */
static bool is_clean(const char *bytes, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (!bytes[i] || (bytes[i - 1] == '\r') != (bytes[i] == '\n'))
            return false;
    return true;
}

enum http_state credential_answer_parse(const char *bytes, size_t n, struct credential_answer *out)
{
    if (!is_beginning(bytes, n))
        return HTTP_BAD;
    const char *end = memmem(bytes, n, "\r\n\r\n", 4);
    if (!end)
        return n >= CREDENTIAL_ANSWER_MAX ? HTTP_BAD : HTTP_MORE;
    *out = (struct credential_answer){ .length = (size_t)(end + 4 - bytes) };
    if (!is_clean(bytes, out->length))
        return HTTP_BAD;
    for (size_t i = 9; i < 12; i++)
        out->status = out->status * 10 + (unsigned)(bytes[i] - '0');
    out->is_framed = !has_body(out->status);
    size_t at = 0;
    for (struct http_span line; next_line(bytes, &at, &line);)
        out->is_framed = out->is_framed || http_span_is(name_of(line), "Content-Length") ||
                         http_span_is(name_of(line), "Transfer-Encoding");
    return HTTP_COMPLETE;
}

bool credential_answer_is_interim(const struct credential_answer *answer)
{
    return answer->status < 200 && answer->status != SWITCHED;
}

/* ---- writing */

static void put(void *context, const char *bytes, size_t n)
{
    buffer_append(context, bytes, n);
}

static void write_line(struct http_span line, struct redact *redact, struct buffer *out)
{
    if (redact) {
        redact_run(redact, line.at, line.n, put, out);
        redact_end(redact, put, out);
    } else {
        buffer_append(out, line.at, line.n);
    }
    buffer_append_string(out, "\r\n");
}

static bool is_of_connection(struct http_span name)
{
    static const char *const names[] = { "Connection", "Keep-Alive", "Proxy-Connection" };

    for (size_t i = 0; i < COUNT(names); i++)
        if (http_span_is(name, names[i]))
            return true;
    return false;
}

void credential_answer_write(const char *bytes, const struct credential_answer *answer,
                             struct redact *redact, struct buffer *out)
{
    bool is_last = answer->status >= 200;
    bool is_left_out = false;
    size_t at = 0;

    for (struct http_span line; next_line(bytes, &at, &line);) {
        if (!is_continued(line))
            is_left_out = is_last && is_of_connection(name_of(line));
        if (!is_left_out)
            write_line(line, redact, out);
    }
    buffer_append_string(out, is_last ? "Connection: close\r\n\r\n" : "\r\n");
}
