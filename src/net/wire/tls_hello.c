/*
 * tls_hello.c - RFC 8446, sections 4.1.2 and 5.1; RFC 6066, section 3
 *
 * Every length is checked against the one around it, and each must be used up to its last byte: a
 * hello that two readers could take apart differently is refused.
 */
#include "net/wire/tls_hello.h"

#include <string.h>

#define RECORD_HEADER    5
#define HANDSHAKE_HEADER 4
#define TYPE_HANDSHAKE   22
#define TYPE_HELLO       1

#define EXTENSION_NAME     0
#define EXTENSION_ECH      0xFE0D
#define EXTENSION_OLD_ESNI 0xFFCE

const uint8_t tls_hello_denied[7] = { 0x15, 3, 3, 0, 2, 2, 49 };

static enum tls_hello_state refuse(struct tls_hello *out, const char *why)
{
    out->why = why;
    return TLS_HELLO_BAD;
}

/* ---- what is still to be read of something that has a length */

struct reader {
    const uint8_t *at;
    size_t left;
};

static bool skip(struct reader *from, size_t n)
{
    if (n > from->left)
        return false;
    from->at += n;
    from->left -= n;
    return true;
}

static bool get(struct reader *from, unsigned n_bytes, size_t *out)
{
    size_t value = 0;

    if (n_bytes > from->left)
        return false;
    for (unsigned i = 0; i < n_bytes; i++)
        value = value << 8 | from->at[i];
    *out = value;
    return skip(from, n_bytes);
}

/* A length of so many bytes, and what has it. */
static bool get_block(struct reader *from, unsigned n_bytes, struct reader *out)
{
    size_t n = 0;

    if (!get(from, n_bytes, &n) || n > from->left)
        return false;
    *out = (struct reader){ from->at, n };
    return skip(from, n);
}

/* ---- the hello, whole */

static const char *parse_server_name(struct reader body, struct tls_hello *out)
{
    struct reader list;
    struct reader name;
    size_t type = 0;
    size_t length = 0;

    if (!get_block(&body, 2, &list) || body.left > 0 || !get(&list, 1, &type) ||
        !get_block(&list, 2, &name))
        return "has a server name that cannot be read";
    if (type != 0 || list.left > 0)
        return "names its server more than once";
    if (host_name_normalise((const char *)name.at, name.left, out->name, &length)) {
        out->name[0] = '\0';
        return "names a server that is no host name";
    }
    out->has_name = true;
    out->name_length = (uint8_t)length;
    return NULL;
}

static const char *parse_extensions(struct reader all, struct tls_hello *out)
{
    bool has_seen_name = false;

    while (all.left > 0) {
        struct reader body;
        size_t type = 0;
        const char *why = NULL;

        if (!get(&all, 2, &type) || !get_block(&all, 2, &body))
            return "has an extension that cannot be read";
        if (type == EXTENSION_ECH || type == EXTENSION_OLD_ESNI)
            out->has_ech = true;
        if (type != EXTENSION_NAME)
            continue;
        if (has_seen_name)
            return "names its server more than once";
        has_seen_name = true;
        if ((why = parse_server_name(body, out)))
            return why;
    }
    return NULL;
}

static const char *parse_hello(struct reader hello, struct tls_hello *out)
{
    struct reader session;
    struct reader ciphers;
    struct reader compressions;
    struct reader extensions;
    size_t version = 0;

    if (!get(&hello, 2, &version) || version >> 8 != 3 || !skip(&hello, 32) ||
        !get_block(&hello, 1, &session) || session.left > 32 || !get_block(&hello, 2, &ciphers) ||
        ciphers.left < 2 || ciphers.left % 2 != 0 || !get_block(&hello, 1, &compressions) ||
        compressions.left == 0)
        return "cannot be read";
    if (hello.left == 0)
        return NULL; /* before TLS 1.2 there need be no extensions */
    if (!get_block(&hello, 2, &extensions) || hello.left > 0)
        return "cannot be read";
    return parse_extensions(extensions, out);
}

/* ---- its records */

static enum tls_hello_state want(struct tls_hello *out, size_t n)
{
    out->wanted = n;
    return n > TLS_HELLO_MAX ? refuse(out, "is longer than 16 KiB") : TLS_HELLO_MORE;
}

/* Enough is there to see it, or nothing speaks against it yet. */
static bool looks_like_record(const uint8_t *bytes, size_t n)
{
    return (n < 1 || bytes[0] == TYPE_HANDSHAKE) && (n < 2 || bytes[1] == 3) &&
           (n < 3 || bytes[2] <= 4);
}

/* The hello's length with its own header; 0: not known. */
static size_t hello_length(const uint8_t *header, size_t n)
{
    if (n < HANDSHAKE_HEADER)
        return 0;
    return HANDSHAKE_HEADER + ((size_t)header[1] << 16 | (size_t)header[2] << 8 | header[3]);
}

/* A hello that comes in several records. */
struct joined {
    size_t have;
    size_t total; /* 0: not known */
    uint8_t bytes[TLS_HELLO_MAX];
};

static const char *append(struct joined *to, const uint8_t *bytes, size_t n)
{
    if (n > TLS_HELLO_MAX - to->have)
        return "is longer than 16 KiB";
    memcpy(to->bytes + to->have, bytes, n);
    to->have += n;
    to->total = hello_length(to->bytes, to->have);
    if (to->total > TLS_HELLO_MAX)
        return "is longer than 16 KiB";
    return to->total > 0 && to->have > to->total ? "has another message behind it in its record"
                                                 : NULL;
}

/* Follows the records. The usual hello is alone in one, and is read where it lies. */
static enum tls_hello_state find_hello(const uint8_t *bytes, size_t n, struct joined *joined,
                                       struct reader *hello, struct tls_hello *out)
{
    for (size_t at = 0;;) {
        if (!looks_like_record(bytes + at, n - at))
            return refuse(out, "is followed by something else before it ends");
        if (n - at < RECORD_HEADER)
            return want(out, at + RECORD_HEADER);
        const uint8_t *body = bytes + at + RECORD_HEADER;
        size_t length = (size_t)bytes[at + 3] << 8 | bytes[at + 4];
        size_t here = n - at - RECORD_HEADER;

        if (length == 0 || length > TLS_HELLO_MAX)
            return refuse(out, "is in a record whose length cannot be");
        if (at == 0 && here > 0 && body[0] != TYPE_HELLO)
            return refuse(out, "is another message");
        if (at == 0 && hello_length(body, here) == length) {
            *hello = (struct reader){ body, length };
            out->length = RECORD_HEADER + length;
            return here >= length ? TLS_HELLO_COMPLETE : want(out, RECORD_HEADER + length);
        }
        const char *why = append(joined, body, here < length ? here : length);
        if (why)
            return refuse(out, why);
        if (here < length)
            return want(out, at + RECORD_HEADER + length);
        if (joined->have == joined->total) {
            *hello = (struct reader){ joined->bytes, joined->total };
            out->length = at + RECORD_HEADER + length;
            return TLS_HELLO_COMPLETE;
        }
        at += RECORD_HEADER + length;
    }
}

enum tls_hello_state tls_hello_parse(const uint8_t *bytes, size_t n, struct tls_hello *out)
{
    struct joined joined;
    struct reader hello;

    joined.have = joined.total = 0; /* and not all its bytes each time */
    out->why = NULL;
    out->length = 0;
    out->wanted = 0;
    out->has_name = false;
    out->has_ech = false;
    out->name_length = 0;
    out->name[0] = '\0';
    if (n == 0)
        return want(out, 1);
    if (n > TLS_HELLO_MAX)
        n = TLS_HELLO_MAX;
    if (!looks_like_record(bytes, n))
        return TLS_HELLO_NOT_TLS;
    enum tls_hello_state state = find_hello(bytes, n, &joined, &hello, out);
    if (state != TLS_HELLO_COMPLETE)
        return state;
    (void)skip(&hello, HANDSHAKE_HEADER);
    const char *why = parse_hello(hello, out);
    return why ? refuse(out, why) : TLS_HELLO_COMPLETE;
}
