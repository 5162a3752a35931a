#include "net/wire/tls_hello.h"

#include "base/cleanup.h"
#include "test/check.h"

/* ---- making hellos */

struct hello {
    uint8_t bytes[TLS_HELLO_MAX * 3];
    size_t n;
};

static void add(struct hello *hello, const void *bytes, size_t n)
{
    memcpy(hello->bytes + hello->n, bytes, n);
    hello->n += n;
}
#define ADD(hello, literal) add(hello, literal, sizeof(literal) - 1)

static void add_number(struct hello *hello, size_t value, unsigned n_bytes)
{
    while (n_bytes-- > 0)
        hello->bytes[hello->n++] = (uint8_t)(value >> 8 * n_bytes);
}

static void add_name(struct hello *hello, const char *name)
{
    size_t n = strlen(name);

    add_number(hello, 0, 2);
    add_number(hello, n + 5, 2);
    add_number(hello, n + 3, 2);
    add_number(hello, 0, 1);
    add_number(hello, n, 2);
    add(hello, name, n);
}

/* The handshake message with these extensions, without a record around it. */
static struct hello message_with(const struct hello *extensions)
{
    struct hello hello = { .n = 0 };

    ADD(&hello, "\1\0\0\0\3\3");
    for (unsigned i = 0; i < 32; i++)
        add_number(&hello, i, 1);
    ADD(&hello, "\4sess\0\4\x13\1\x13\2\1\0");
    if (extensions) {
        add_number(&hello, extensions->n, 2);
        add(&hello, extensions->bytes, extensions->n);
    }
    hello.bytes[2] = (uint8_t)((hello.n - 4) >> 8);
    hello.bytes[3] = (uint8_t)(hello.n - 4);
    return hello;
}

/* In records of at most so many bytes. */
static struct hello in_records(const struct hello *message, size_t size)
{
    struct hello out = { .n = 0 };

    for (size_t at = 0; at < message->n; at += size) {
        size_t n = message->n - at < size ? message->n - at : size;

        ADD(&out, "\x16\3\1");
        add_number(&out, n, 2);
        add(&out, message->bytes + at, n);
    }
    return out;
}

static struct hello usual(const char *name)
{
    struct hello extensions = { .n = 0 };

    ADD(&extensions, "\0\x17\0\0");
    add_name(&extensions, name);
    ADD(&extensions, "\0\x10\0\5\0\3\2h2");
    struct hello message = message_with(&extensions);
    return in_records(&message, TLS_HELLO_MAX);
}

static enum tls_hello_state parse(const struct hello *hello, struct tls_hello *out)
{
    return tls_hello_parse(hello->bytes, hello->n, out);
}

static const char *why_not(const struct hello *hello)
{
    struct tls_hello out;

    return parse(hello, &out) == TLS_HELLO_BAD ? out.why : "(not refused)";
}

/* ---- */

TEST(finds_the_name)
{
    struct hello hello = usual("GitHub.com");
    struct tls_hello out;

    CHECK(parse(&hello, &out) == TLS_HELLO_COMPLETE);
    CHECK(out.has_name && !out.has_ech && out.name_length == 10);
    CHECK_STR(out.name, "github.com");
    ADD(&hello, "\x14\3\3\0\1\1"); /* what follows is another record's business */
    CHECK(parse(&hello, &out) == TLS_HELLO_COMPLETE);
}

TEST(every_byte_is_needed_and_asked_for)
{
    const struct hello hello = usual("github.com");
    struct tls_hello out;

    for (size_t n = 0; n < hello.n; n++) {
        CHECK(tls_hello_parse(hello.bytes, n, &out) == TLS_HELLO_MORE);
        CHECK(out.wanted > n && out.wanted <= hello.n);
        if (n >= 5)
            CHECK(out.wanted == hello.n);
    }
}

TEST(joins_records)
{
    struct hello extensions = { .n = 0 };
    struct tls_hello out;

    add_name(&extensions, "github.com");
    struct hello message = message_with(&extensions);
    for (size_t size = 1; size <= message.n; size++) {
        struct hello hello = in_records(&message, size);

        CHECK(parse(&hello, &out) == TLS_HELLO_COMPLETE);
        CHECK_STR(out.name, "github.com");
        for (size_t n = 0; n < hello.n; n++) {
            CHECK(tls_hello_parse(hello.bytes, n, &out) == TLS_HELLO_MORE);
            CHECK(out.wanted > n && out.wanted <= hello.n);
        }
    }
}

TEST(tells_other_protocols_from_the_first_byte)
{
    struct tls_hello out;

    CHECK(tls_hello_parse((const uint8_t *)"", 0, &out) == TLS_HELLO_MORE && out.wanted == 1);
    CHECK(tls_hello_parse((const uint8_t *)"G", 1, &out) == TLS_HELLO_NOT_TLS);
    CHECK(tls_hello_parse((const uint8_t *)"\x80\x2e", 2, &out) == TLS_HELLO_NOT_TLS);
    CHECK(tls_hello_parse((const uint8_t *)"\x16", 1, &out) == TLS_HELLO_MORE);
    CHECK(tls_hello_parse((const uint8_t *)"\x16\2", 2, &out) == TLS_HELLO_NOT_TLS);
    CHECK(tls_hello_parse((const uint8_t *)"\x16\3\7", 3, &out) == TLS_HELLO_NOT_TLS);
}

TEST(a_name_may_be_missing)
{
    struct hello extensions = { .n = 0 };
    struct tls_hello out;
    struct hello message = message_with(NULL);
    struct hello hello = in_records(&message, TLS_HELLO_MAX);

    CHECK(parse(&hello, &out) == TLS_HELLO_COMPLETE && !out.has_name);
    CHECK_STR(out.name, "");
    message = message_with(&extensions);
    hello = in_records(&message, TLS_HELLO_MAX);
    CHECK(parse(&hello, &out) == TLS_HELLO_COMPLETE && !out.has_name);
}

TEST(sees_that_another_name_may_be_hidden)
{
    static const uint8_t types[][4] = { { 0xFE, 0x0D }, { 0xFF, 0xCE } };

    for (size_t i = 0; i < COUNT(types); i++) {
        struct hello extensions = { .n = 0 };
        struct tls_hello out;

        add(&extensions, types[i], 4);
        add_name(&extensions, "outer.example");
        struct hello message = message_with(&extensions);
        struct hello hello = in_records(&message, 100);
        CHECK(parse(&hello, &out) == TLS_HELLO_COMPLETE && out.has_ech && out.has_name);
    }
}

static const char *why_not_extension(const char *bytes, size_t n)
{
    struct hello extensions = { .n = 0 };

    add(&extensions, bytes, n);
    struct hello message = message_with(&extensions);
    struct hello hello = in_records(&message, TLS_HELLO_MAX);
    return why_not(&hello);
}
#define WHY(literal) why_not_extension(literal, sizeof(literal) - 1)

TEST(refuses_names_that_cannot_be_read)
{
    const char *const more = "names its server more than once";
    const char *const unreadable = "has a server name that cannot be read";

    CHECK_STR(WHY("\0\0\0\6\0\4\0\0\1a\0\0\0\6\0\4\0\0\1b"), more);
    CHECK_STR(WHY("\0\0\0\x0a\0\x08\0\0\1a\0\0\1b"), more);
    CHECK_STR(WHY("\0\0\0\6\0\4\1\0\1a"), more);
    CHECK_STR(WHY("\0\0\0\0"), unreadable);
    CHECK_STR(WHY("\0\0\0\2\0\0"), unreadable);
    CHECK_STR(WHY("\0\0\0\7\0\4\0\0\1a_"), unreadable);
    CHECK_STR(WHY("\0\0\0\6\0\4\0\0\2a"), unreadable);
    CHECK_STR(WHY("\0\0\0\6\0\5\0\0\1a"), unreadable);
    CHECK_STR(WHY("\0\0\0\5\0\3\0\0\0"), "names a server that is no host name");
    CHECK_STR(WHY("\0\0\0\7\0\5\0\0\2a\0"), "names a server that is no host name");
    CHECK_STR(WHY("\0\0\0\x0c\0\x0a\0\0\7"
                  "1.2.3.4"),
              "names a server that is no host name");
    CHECK_STR(WHY("\0\x17\0"), "has an extension that cannot be read");
    CHECK_STR(WHY("\0\x17\0\1"), "has an extension that cannot be read");
}

TEST(refuses_what_is_no_hello)
{
    struct hello hello = usual("github.com");

    hello.bytes[5] = 2;
    CHECK_STR(why_not(&hello), "is another message");
    hello = usual("github.com");
    hello.bytes[9] = 2; /* the version */
    CHECK_STR(why_not(&hello), "cannot be read");
    hello = usual("github.com");
    hello.bytes[9 + 34] = 33; /* the session's length */
    CHECK_STR(why_not(&hello), "cannot be read");
    hello = usual("github.com");
    hello.bytes[9 + 34 + 6] = 3; /* the ciphers' length */
    CHECK_STR(why_not(&hello), "cannot be read");
    hello = usual("github.com");
    hello.bytes[9 + 34 + 5 + 6] = 0; /* that of compression */
    CHECK_STR(why_not(&hello), "cannot be read");
    hello = usual("github.com");
    hello.bytes[9 + 34 + 5 + 6 + 3]--; /* that of all extensions */
    CHECK_STR(why_not(&hello), "cannot be read");
    hello = usual("github.com");
    hello.bytes[8]--; /* that of the hello: something follows it */
    CHECK_STR(why_not(&hello), "has another message behind it in its record");
    hello = usual("github.com");
    hello.bytes[3] = 0;
    hello.bytes[4] = 0;
    CHECK_STR(why_not(&hello), "is in a record whose length cannot be");
    hello.bytes[3] = 0x41;
    CHECK_STR(why_not(&hello), "is in a record whose length cannot be");
}

TEST(refuses_other_records_between)
{
    struct hello extensions = { .n = 0 };

    add_name(&extensions, "github.com");
    struct hello message = message_with(&extensions);
    struct hello hello = in_records(&message, 40);
    hello.bytes[45] = 0x17;
    CHECK_STR(why_not(&hello), "is followed by something else before it ends");
}

TEST(refuses_more_than_16_kib)
{
    static struct hello hello;
    struct hello extensions = { .n = 0 };
    struct tls_hello out;

    hello.n = 0;
    ADD(&hello, "\x16\3\1\0\4\1\1\0\0"); /* 64 KiB, says the first record */
    CHECK_STR(why_not(&hello), "is longer than 16 KiB");
    hello.n = 0;
    ADD(&hello, "\x16\3\1\x40\0\1\0\x3f\xfc");
    CHECK_STR(why_not(&hello), "is longer than 16 KiB");
    /* 4,000 bytes in records of one byte each are more too, when all are counted */
    for (unsigned i = 0; i < 4; i++) {
        ADD(&extensions, "\x5a\x5a\3\xe4");
        extensions.n += 996;
    }
    struct hello message = message_with(&extensions);
    hello = in_records(&message, 1);
    CHECK_STR(why_not(&hello), "is longer than 16 KiB");
    hello = in_records(&message, 50);
    CHECK(parse(&hello, &out) == TLS_HELLO_COMPLETE);
}
