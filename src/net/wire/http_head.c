#include "net/wire/http_head.h"

#include <string.h>
#include <strings.h>

#include "base/cleanup.h"

#define DIGITS_MAX 18 /* of a length: more would not fit into 64 bits */

/* ---- characters */

enum kind {
    TOKEN,  /* of methods and names of fields */
    TARGET, /* visible ASCII */
    VALUE   /* that, blanks, and bytes above ASCII as they come */
};

static bool is_of(unsigned char c, enum kind kind)
{
    /* Letters, digits and !#$%&'*+-.^_`|~ */
    static const uint64_t tokens[4] = { 0x03FF6CFA00000000, 0x57FFFFFFC7FFFFFE };

    switch (kind) {
    case TOKEN:
        return tokens[c >> 6] >> (c & 63) & 1;
    case TARGET:
        return c > ' ' && c < 0x7F;
    case VALUE:
        return (c >= ' ' && c != 0x7F) || c == '\t';
    }
    return false;
}

static size_t span_of(const char *at, size_t n, enum kind kind)
{
    size_t i = 0;

    while (i < n && is_of((unsigned char)at[i], kind))
        i++;
    return i;
}

static struct http_span trimmed(const char *at, size_t n)
{
    while (n > 0 && (*at == ' ' || *at == '\t')) {
        at++;
        n--;
    }
    while (n > 0 && (at[n - 1] == ' ' || at[n - 1] == '\t'))
        n--;
    return (struct http_span){ at, n };
}

bool http_span_is(struct http_span span, const char *text)
{
    return strlen(text) == span.n && strncasecmp(span.at, text, span.n) == 0;
}

bool http_span_has_word(struct http_span list, const char *word)
{
    for (size_t i = 0; i <= list.n;) {
        const char *comma = memchr(list.at + i, ',', list.n - i);
        size_t n = comma ? (size_t)(comma - list.at) - i : list.n - i;

        if (http_span_is(trimmed(list.at + i, n), word))
            return true;
        i += n + 1;
    }
    return false;
}

/* ---- lines */

/*
 * The next line, without its end; 1: there is one, 0: it has not come whole, -1: it ends with
 * something else than CR LF, or has a control character in it.
 */
static int next_line(const char *bytes, size_t n, size_t *at, struct http_span *out)
{
    const char *line = bytes + *at;
    size_t length = span_of(line, n - *at, VALUE);
    size_t left = n - *at - length;

    if ((left > 0 && line[length] != '\r') || (left > 1 && line[length + 1] != '\n'))
        return -1;
    if (left < 2)
        return 0;
    *out = (struct http_span){ line, length };
    *at += length + 2;
    return 1;
}

/* ---- the first line */

static const char *parse_absolute(struct http_request *out)
{
    const char *at = out->target.at + strlen("http://");
    size_t n = out->target.n - strlen("http://");
    size_t length = 0;

    while (length < n && at[length] != '/' && at[length] != '?' && at[length] != '#')
        length++;
    out->form = HTTP_ABSOLUTE;
    if (host_name_parse_authority(at, length, &out->host, &out->port))
        return "the target names no host";
    out->path = (struct http_span){ at + length, n - length };
    if (n == length)
        out->path = (struct http_span){ "/", 1 };
    return *out->path.at == '/' ? NULL : "the target has no path";
}

static const char *parse_target(struct http_request *out)
{
    struct http_span target = out->target;

    /* The names of methods know their case, but a server that does not care would see a CONNECT. */
    if (http_span_is(out->method, "CONNECT")) {
        out->form = HTTP_AUTHORITY;
        if (host_name_parse_authority(target.at, target.n, &out->host, &out->port) ||
            out->port == 0)
            return "the target of CONNECT is no host with a port";
        return NULL;
    }
    if (memchr(target.at, '#', target.n))
        return "the target has a fragment";
    if (*target.at == '/') {
        out->form = HTTP_ORIGIN;
        out->path = target;
        return NULL;
    }
    if (target.n > 7 && strncasecmp(target.at, "http://", 7) == 0)
        return parse_absolute(out);
    if (http_span_is(target, "*") && http_span_is(out->method, "OPTIONS")) {
        out->form = HTTP_ASTERISK;
        return NULL;
    }
    return "the target is no path, and no address of the web";
}

static const char *parse_first_line(struct http_span line, struct http_request *out)
{
    size_t n_method = span_of(line.at, line.n, TOKEN);
    const char *target = line.at + n_method + 1;
    size_t left = line.n > n_method ? line.n - n_method - 1 : 0;
    size_t n_target = span_of(target, left, TARGET);

    if (n_method == 0 || line.n == n_method || line.at[n_method] != ' ' || n_target == 0 ||
        n_target == left || target[n_target] != ' ')
        return "the first line is not that of a request";
    struct http_span version = { target + n_target + 1, left - n_target - 1 };
    out->method = (struct http_span){ line.at, n_method };
    out->target = (struct http_span){ target, n_target };
    if (version.n != 8 || memcmp(version.at, "HTTP/1.", 7) != 0 || (version.at[7] | 1) != '1') {
        out->status = version.n >= 5 && memcmp(version.at, "HTTP/", 5) == 0 ? 505 : 400;
        return "the first line names no HTTP/1.0 and no HTTP/1.1";
    }
    out->is_old = version.at[7] == '0';
    return parse_target(out);
}

/* ---- fields */

/* What must stand there once, or is put together when all fields are known. */
struct seen {
    bool host;
    bool encoding;
    bool upgrade;
    bool close;
    bool keep_alive;
    bool has_target; /* the target has named the host */
};

static const char *take_host(struct http_span value, struct seen *seen, struct http_request *out)
{
    struct host_name host;
    uint16_t port = 0;

    if (seen->host)
        return "Host is given twice";
    seen->host = true;
    if (host_name_parse_authority(value.at, value.n, &host, &port))
        return "Host names no host";
    if (!seen->has_target) {
        out->host = host;
        out->port = port;
        return NULL;
    }
    /* With CONNECT, many leave the port out. */
    if (!host_name_equal(&host, &out->host) ||
        (out->form == HTTP_ABSOLUTE && (port ? port : 80) != (out->port ? out->port : 80)) ||
        (out->form == HTTP_AUTHORITY && port && port != out->port))
        return "Host and the target name different hosts";
    return NULL;
}

static const char *take_length(struct http_span value, struct seen *seen, struct http_request *out)
{
    uint64_t length = 0;

    (void)seen;
    if (out->has_length)
        return "Content-Length is given twice";
    out->has_length = true;
    if (value.n == 0 || value.n > DIGITS_MAX)
        return "Content-Length is no length";
    for (size_t i = 0; i < value.n; i++) {
        if (value.at[i] < '0' || value.at[i] > '9')
            return "Content-Length is no length";
        length = length * 10 + (uint64_t)(value.at[i] - '0');
    }
    out->content_length = length;
    return NULL;
}

static const char *take_encoding(struct http_span value, struct seen *seen,
                                 struct http_request *out)
{
    if (seen->encoding)
        return "Transfer-Encoding is given twice";
    seen->encoding = true;
    out->is_chunked = true;
    if (http_span_is(value, "chunked"))
        return NULL;
    out->status = 501;
    return "Transfer-Encoding is not 'chunked'";
}

static const char *take_connection(struct http_span value, struct seen *seen,
                                   struct http_request *out)
{
    /* A proxy in front of the server would do so, and the server would see another request. */
    static const char *const kept[] = { "host", "content-length", "transfer-encoding" };

    (void)out;
    for (size_t i = 0; i < COUNT(kept); i++)
        if (http_span_has_word(value, kept[i]))
            return "Connection takes away a field that says whom the request is for, or how long "
                   "it is";
    seen->close = seen->close || http_span_has_word(value, "close");
    seen->keep_alive = seen->keep_alive || http_span_has_word(value, "keep-alive");
    return NULL;
}

static const char *take_upgrade(struct http_span value, struct seen *seen, struct http_request *out)
{
    if (seen->upgrade)
        return "Upgrade is given twice";
    seen->upgrade = true;
    out->upgrade = value;
    return NULL;
}

static const char *take_expect(struct http_span value, struct seen *seen, struct http_request *out)
{
    (void)seen;
    out->expects_continue = http_span_is(value, "100-continue");
    return NULL;
}

static const struct {
    const char *name;
    const char *(*take)(struct http_span value, struct seen *seen, struct http_request *out);
} fields[] = {
    { "host", take_host },
    { "content-length", take_length },
    { "transfer-encoding", take_encoding },
    { "connection", take_connection },
    { "upgrade", take_upgrade },
    { "expect", take_expect },
};

/* 1: the same; -1: the same but for '_' in place of '-', which some servers do not tell apart. */
static int compare_name(struct http_span name, const char *known)
{
    int same = 1;

    for (size_t i = 0; i < name.n; i++) {
        char c = (char)(name.at[i] >= 'A' && name.at[i] <= 'Z' ? name.at[i] | 0x20 : name.at[i]);

        if (c == '_' && known[i] == '-')
            same = -1;
        else if (c != known[i])
            return 0;
    }
    return known[name.n] ? 0 : same;
}

static bool split_field(struct http_span line, struct http_header *out)
{
    size_t n = span_of(line.at, line.n, TOKEN);

    if (n == 0 || n == line.n || line.at[n] != ':')
        return false;
    out->name = (struct http_span){ line.at, n };
    out->value = trimmed(line.at + n + 1, line.n - n - 1);
    return true;
}

static const char *parse_field(struct http_span line, struct seen *seen, struct http_request *out)
{
    struct http_header field;

    if (*line.at == ' ' || *line.at == '\t')
        return "a field goes over two lines";
    if (!split_field(line, &field))
        return "a field has no name with a colon behind it";
    for (size_t i = 0; i < COUNT(fields); i++) {
        int same = compare_name(field.name, fields[i].name);

        if (same < 0)
            return "a field has '_' where '-' belongs";
        if (same > 0)
            return fields[i].take(field.value, seen, out);
    }
    return NULL;
}

/* What the fields say together. */
static const char *conclude(const struct seen *seen, struct http_request *out)
{
    if (!seen->host && out->form != HTTP_AUTHORITY)
        return "Host is missing";
    if (out->is_chunked && out->has_length)
        return "Content-Length and Transfer-Encoding are both given";
    if (out->is_chunked && out->is_old)
        return "HTTP/1.0 has no Transfer-Encoding";
    out->is_last = seen->close || (out->is_old && !seen->keep_alive);
    out->is_upgrade = seen->upgrade;
    return NULL;
}

static enum http_state refuse(struct http_request *out, const char *why)
{
    out->why = why;
    return HTTP_BAD;
}

/* All is unset but for the texts, of which only the length says whether they are there. */
static void clear(struct http_request *out)
{
    struct http_span none = { "", 0 };

    out->why = NULL;
    out->status = 400;
    out->length = 0;
    out->method = out->target = out->path = out->upgrade = none;
    out->form = HTTP_ORIGIN;
    out->is_old = out->has_length = out->is_chunked = out->is_last = out->is_upgrade =
        out->expects_continue = false;
    out->host.is_address = false;
    out->host.length = 0;
    out->host.name[0] = '\0';
    out->port = 0;
    out->content_length = 0;
}

/* What has come of a first line that is not complete. */
static const char *judge_beginning(const char *bytes, size_t n)
{
    size_t method = span_of(bytes, n, TOKEN);

    return method < n && (method == 0 || bytes[method] != ' ')
               ? "the first line is not that of a request"
               : NULL;
}

enum http_state http_request_parse(const char *bytes, size_t n, struct http_request *out)
{
    size_t all = n < HTTP_REQUEST_MAX ? n : HTTP_REQUEST_MAX;
    struct seen seen = { 0 };
    struct http_span line;
    size_t at = 0;
    bool is_first = true;
    int r;

    clear(out);
    while ((r = next_line(bytes, all, &at, &line)) > 0 && (is_first || line.n > 0)) {
        const char *why = is_first ? parse_first_line(line, out) : parse_field(line, &seen, out);

        if (why)
            return refuse(out, why);
        seen.has_target = out->form == HTTP_ABSOLUTE || out->form == HTTP_AUTHORITY;
        is_first = false;
    }
    const char *why = is_first ? judge_beginning(bytes, all) : NULL;
    if (why)
        return refuse(out, why);
    if (r < 0)
        return refuse(out, "a line has a control character in it or does not end with CR LF");
    if (r == 0 && n < HTTP_REQUEST_MAX)
        return HTTP_MORE;
    if (r == 0) {
        out->status = 431;
        return refuse(out, "the head is longer than 16 KiB");
    }
    out->length = at;
    why = conclude(&seen, out);
    return why ? refuse(out, why) : HTTP_COMPLETE;
}

bool http_request_next_field(const char *bytes, const struct http_request *request, size_t *at,
                             struct http_header *out)
{
    struct http_span line;

    if (*at == 0 && next_line(bytes, request->length, at, &line) <= 0)
        return false;
    return next_line(bytes, request->length, at, &line) > 0 && line.n > 0 && split_field(line, out);
}
