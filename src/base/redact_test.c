/* worlds: user */
#include "redact.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "test/check.h"

static void collect(void *context, const char *bytes, size_t n)
{
    buffer_append(context, bytes, n);
}

static struct redact *make(const struct redact_secret *secrets, size_t n)
{
    struct redact *redact = NULL;

    CHECK(redact_new(secrets, n, false, &redact) == 0 && redact);
    return redact;
}

#define SECRET(name, value)            \
    {                                  \
        name, value, sizeof(value) - 1 \
    }

/* The input in pieces of the given sizes; the last one takes the rest. */
static char *redacted(struct redact *redact, const char *text, size_t n, size_t first,
                      size_t second)
{
    struct buffer out = { 0 };
    size_t a = first < n ? first : n;
    size_t b = a + second < n ? a + second : n;

    buffer_append_string(&out, "");
    redact_run(redact, text, a, collect, &out);
    redact_run(redact, text + a, b - a, collect, &out);
    redact_run(redact, text + b, n - b, collect, &out);
    redact_end(redact, collect, &out);
    CHECK(!out.failed && !redact_is_holding(redact));
    buffer_append_char(&out, '\0');
    return out.data;
}

static void check_at_every_split(const struct redact_secret *secrets, size_t n_secrets,
                                 const char *text, const char *expected)
{
    struct redact *redact = make(secrets, n_secrets);
    size_t n = strlen(text);

    for (size_t a = 0; a <= n; a++)
        for (size_t b = 0; a + b <= n; b++) {
            auto_free char *out = redacted(redact, text, n, a, b);

            CHECK_STR(out, expected);
        }
    redact_free(redact);
}

TEST(a_value_is_found_however_it_is_cut)
{
    static const struct redact_secret secrets[] = { SECRET("key", "hunter2") };
    static const struct {
        const char *text, *expected;
    } rows[] = {
        { "", "" },
        { "nothing here", "nothing here" },
        { "hunter2", "[secret key]" },
        { "a hunter2 b", "a [secret key] b" },
        { "at the end: hunter2", "at the end: [secret key]" },
        { "hunter2hunter2", "[secret key][secret key]" },
        { "hunter", "hunter" },
        { "hunhunter2ter2", "hun[secret key]ter2" },
        { "hhhunter2", "hh[secret key]" },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        check_at_every_split(secrets, COUNT(secrets), rows[i].text, rows[i].expected);
}

TEST(of_overlapping_values_nothing_is_left)
{
    static const struct redact_secret secrets[] = {
        SECRET("a", "abcdef"),          SECRET("b", "defghi"),   SECRET("inner", "bcde"),
        SECRET("long", "abcdefghijkl"), SECRET("self", "xyxyx"),
    };
    static const struct {
        const char *text, *expected;
    } rows[] = {
        { "abcdefghi", "[secret a][secret b]" },
        { "abcdef", "[secret a]" },
        { "-bcde-", "-[secret inner]-" },
        { "abcdeX", "a[secret inner]X" },
        { "abcdefghijkl", "[secret long]" },
        { "abcdefghijk", "[secret a][secret b]jk" },
        { "xyxyxyx!", "[secret self][secret self]!" },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        check_at_every_split(secrets, COUNT(secrets), rows[i].text, rows[i].expected);
}

TEST(any_bytes_can_be_a_value)
{
    static const struct redact_secret secrets[] = { SECRET("bin", "\0\xff\n\0\x80"),
                                                    SECRET("lines", "one\ntwo\n") };
    static const char text[] = "\0\0\xff\n\0\x80\xff one\ntwo\n\0";
    static const char expected[] = "\0[secret bin]\xff [secret lines]\0";
    struct redact *redact = make(secrets, COUNT(secrets));

    for (size_t a = 0; a < sizeof text; a++) {
        auto_free char *out = redacted(redact, text, sizeof text - 1, a, 1);

        CHECK(memcmp(out, expected, sizeof expected) == 0);
    }
    redact_free(redact);
}

TEST(short_values_are_left_alone)
{
    static const struct redact_secret secrets[] = { SECRET("x", "abc"), SECRET("none", "") };
    static const struct redact_secret mixed[] = { SECRET("x", "abc"), SECRET("y", "abcd") };
    struct redact *redact = NULL;

    CHECK(redact_new(secrets, COUNT(secrets), false, &redact) == 0 && !redact);
    CHECK(redact_new(NULL, 0, false, &redact) == 0 && !redact);
    check_at_every_split(mixed, COUNT(mixed), "abc abcd", "abc [secret y]");
}

TEST(a_terminal_turns_newlines_into_two_characters)
{
    static const struct redact_secret secrets[] = { SECRET("pem", "-- A\nB\n--") };
    static const char text[] = "x -- A\r\nB\r\n-- y -- A\nB\n--";
    struct redact *redact = NULL;

    CHECK(redact_new(secrets, 1, true, &redact) == 0 && redact);
    for (size_t a = 0; a < sizeof text; a++) {
        auto_free char *out = redacted(redact, text, sizeof text - 1, a, 2);

        CHECK_STR(out, "x [secret pem] y [secret pem]");
    }
    redact_free(redact);
}

TEST(no_more_is_held_back_than_a_value_may_need)
{
    static const struct redact_secret secrets[] = { SECRET("key", "hunter2") };
    struct redact *redact = make(secrets, 1);
    struct buffer out = { 0 };

    redact_run(redact, "prompt: ", 8, collect, &out);
    CHECK_STR(out.data, "prompt: ");
    CHECK(!redact_is_holding(redact));
    redact_run(redact, "hunt", 4, collect, &out);
    CHECK_STR(out.data, "prompt: ");
    CHECK(redact_is_holding(redact));
    redact_flush(redact, collect, &out);
    CHECK_STR(out.data, "prompt: hunt");
    CHECK(!redact_is_holding(redact));
    redact_flush(redact, collect, &out);
    redact_run(redact, "er2 hunting", 11, collect, &out);
    CHECK_STR(out.data, "prompt: hunt[secret key] hunting");
    redact_end(redact, collect, &out);
    CHECK_STR(out.data, "prompt: hunt[secret key] hunting");
    buffer_done(&out);
    redact_free(redact);
}

TEST(an_end_forgets_what_was_before)
{
    static const struct redact_secret secrets[] = { SECRET("key", "hunter2") };
    struct redact *redact = make(secrets, 1);
    auto_free char *first = redacted(redact, "hunt", 4, 4, 0);
    auto_free char *second = redacted(redact, "er2 hunter2", 11, 2, 4);

    CHECK_STR(first, "hunt");
    CHECK_STR(second, "er2 [secret key]");
    redact_free(redact);
}

/* ---- against the definition, tried on every place */

#define MAX_TEXT 200

static size_t longest_at(const struct redact_secret *secrets, size_t n_secrets, const char *text,
                         size_t n, size_t at, size_t *out_index)
{
    size_t longest = 0;

    for (size_t i = 0; i < n_secrets; i++)
        if (secrets[i].length >= REDACT_MIN && secrets[i].length <= n - at &&
            secrets[i].length > longest &&
            memcmp(text + at, secrets[i].value, secrets[i].length) == 0) {
            longest = secrets[i].length;
            *out_index = i;
        }
    return longest;
}

static void by_definition(const struct redact_secret *secrets, size_t n_secrets, const char *text,
                          size_t n, struct buffer *out)
{
    size_t covered = 0;
    size_t index = 0;

    for (size_t i = 0; i < n; i++) {
        size_t length = longest_at(secrets, n_secrets, text, n, i, &index);

        if (i + length > covered && length > 0) {
            buffer_printf(out, "[secret %s]", secrets[index].name);
            covered = i + length;
        }
        if (i >= covered)
            buffer_append_char(out, text[i]);
    }
    buffer_append_char(out, '\0');
}

static uint64_t seed = 88172645463325252u;

static size_t chance(size_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (size_t)(seed % n);
}

TEST(it_does_what_the_definition_says)
{
    static const char *const names[] = { "a", "b", "c", "d", "e", "f" };

    for (int round = 0; round < 20000; round++) {
        struct redact_secret secrets[COUNT(names)];
        char values[COUNT(names)][12];
        char text[MAX_TEXT];
        size_t n_letters = 1 + chance(3);
        size_t n_secrets = 1 + chance(COUNT(names));
        size_t n = chance(MAX_TEXT);
        struct redact *redact = NULL;
        auto_buffer struct buffer expected = { 0 };

        for (size_t i = 0; i < n_secrets; i++) {
            secrets[i] = (struct redact_secret){ names[i], values[i], 2 + chance(10) };
            for (size_t j = 0; j < secrets[i].length; j++)
                values[i][j] = (char)('x' + chance(n_letters));
        }
        for (size_t i = 0; i < n; i++)
            text[i] = (char)('x' + chance(n_letters));
        by_definition(secrets, n_secrets, text, n, &expected);
        CHECK(redact_new(secrets, n_secrets, false, &redact) == 0);
        if (!redact)
            continue;
        auto_free char *out = redacted(redact, text, n, chance(n + 1), chance(n + 1));
        CHECK_STR(out, expected.data);
        redact_free(redact);
    }
}

TEST(large_values_and_large_input_are_no_trouble)
{
    enum { SIZE = 65536, N = 4 << 20 };
    auto_free char *value = malloc(SIZE);
    auto_free char *text = malloc(N);
    struct redact_secret secret = { "big", value, SIZE };
    auto_buffer struct buffer out = { 0 };

    CHECK(value && text);
    memset(value, 'a', SIZE); /* the worst: every place may be the beginning */
    value[SIZE - 1] = 'b';
    memset(text, 'a', N);
    text[N - 1] = 'b';
    struct redact *redact = make(&secret, 1);
    for (size_t i = 0; i < N; i += 4096)
        redact_run(redact, text + i, 4096, collect, &out);
    redact_end(redact, collect, &out);
    CHECK(out.length == N - SIZE + strlen("[secret big]"));
    CHECK_STR(out.data + N - SIZE, "[secret big]");
    redact_free(redact);
}
