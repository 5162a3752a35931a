/*
 * The reader, the redactor and the gate, each held against what must be true of any text. Up to the
 * first NUL the input is the old configuration, behind it the new one; without a NUL the new one is
 * the old one redacted, which must pass and come out as the old one, byte for byte.
 */
#include "git_config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "git_config/keys.h"
#include "git_config/redact.h"
#include "git_config/review.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Unlike assert(), also there when NDEBUG is defined. */
#define REQUIRE(claim) \
    do {               \
        if (!(claim))  \
            abort();   \
    } while (0)

static const struct git_config_place place = { .depth = 3, .local_urls = false };

static void check_items(const struct git_config *config, size_t size)
{
    size_t at = 0;

    REQUIRE(config->n <= GIT_CONFIG_ITEMS_MAX);
    for (size_t i = 0; i < config->n; i++) {
        const struct git_config_item *item = &config->items[i];

        REQUIRE(item->begin >= at && item->begin <= item->end && item->end <= size);
        REQUIRE(item->line >= 1 && (i == 0 || item->line >= config->items[i - 1].line));
        REQUIRE((item->kind == GIT_CONFIG_ENTRY) == (*item->name != '\0'));
        REQUIRE(strlen(item->section) <= GIT_CONFIG_SECTION_MAX);
        at = item->end;
    }
}

/* Reads a text that has been read before. */
static struct git_config again(const char *text, size_t size)
{
    struct git_config config;

    REQUIRE(git_config_parse(text, size, &config, NULL) == 0);
    check_items(&config, size);
    return config;
}

static void fuzz_redact(const char *text, size_t size, struct buffer *out)
{
    struct buffer twice = { 0 };
    struct git_config before = again(text, size);
    bool has_redacted = false;

    REQUIRE(git_config_redact(text, size, out, &has_redacted, NULL) == 0);
    REQUIRE(has_redacted || (out->length == size && (size == 0 || !memcmp(out->data, text, size))));
    struct git_config after = again(out->data, out->length);
    REQUIRE(before.n == after.n);
    for (size_t i = 0; i < before.n; i++) {
        REQUIRE(before.items[i].kind == after.items[i].kind);
        REQUIRE(strcmp(before.items[i].name, after.items[i].name) == 0);
        REQUIRE(!before.items[i].value == !after.items[i].value);
    }
    REQUIRE(git_config_redact(out->data, out->length, &twice, &has_redacted, NULL) == 0);
    REQUIRE(!has_redacted);
    buffer_done(&twice);
    git_config_done(&before);
    git_config_done(&after);
}

/* Which of these pass depends on the remotes that are there; the mark is the gate's own. */
static bool is_of_remotes(const char *name)
{
    return strcmp(name, "addedbybox") == 0 || strcmp(name, "pushdefault") == 0 ||
           strcmp(name, "pushremote") == 0;
}

static const struct git_config_item *next_harmful(const struct git_config *config, size_t *i)
{
    for (; *i < config->n; ++*i)
        if (config->items[*i].kind == GIT_CONFIG_ENTRY && !is_of_remotes(config->items[*i].name) &&
            git_config_harm(&config->items[*i], &place))
            return &config->items[(*i)++];
    return NULL;
}

/* What passed has the harmful entries of the old text, all of them, in their order, no others. */
static void check_passed(const char *old, size_t old_size, const struct buffer *out)
{
    struct git_config was = again(old, old_size);
    struct git_config is = again(out->data, out->length);
    const struct git_config_item *a;
    const struct git_config_item *b;
    size_t i = 0;
    size_t j = 0;

    do {
        a = next_harmful(&was, &i);
        b = next_harmful(&is, &j);
        REQUIRE(!a == !b);
        if (!a || !b)
            break;
        REQUIRE(strcmp(a->section, b->section) == 0 && strcmp(a->name, b->name) == 0);
        REQUIRE(!a->value == !b->value && (!a->value || strcmp(a->value, b->value) == 0));
    } while (a);
    git_config_done(&was);
    git_config_done(&is);
}

static void fuzz_gate(const char *old, size_t old_size, const char *new, size_t new_size)
{
    struct buffer out = { 0 };
    coop_error *err = NULL;
    int r = git_config_review(&place, old, old_size, new, new_size, &out, &err);

    REQUIRE((r == 0) == !err);
    if (r < 0)
        REQUIRE((r == -EACCES || r == -EINVAL) && out.length == 0 &&
                strlen(coop_error_message(err)) < 1000);
    else
        check_passed(old, old_size, &out);
    coop_error_free(err);
    buffer_done(&out);
}

/* Nothing was changed, so nothing may be lost. */
static void fuzz_round_trip(const char *text, size_t size)
{
    struct buffer redacted = { 0 };
    struct buffer out = { 0 };

    fuzz_redact(text, size, &redacted);
    int r = git_config_review(&place, text, size, redacted.data, redacted.length, &out, NULL);
    REQUIRE(r == 0 || r == -EACCES); /* control characters */
    if (r == 0)
        REQUIRE(out.length == size && (size == 0 || memcmp(out.data, text, size) == 0));
    buffer_done(&redacted);
    buffer_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    const char *second = size > 0 ? memchr(text, '\0', size) : NULL;
    size_t n = second ? (size_t)(second - text) : size;
    struct git_config config;
    coop_error *err = NULL;
    int r = git_config_parse(text, n, &config, &err);

    REQUIRE((r == 0) == !err && (r == 0 || r == -EINVAL));
    if (r == 0) {
        check_items(&config, n);
        git_config_done(&config);
        fuzz_round_trip(text, n);
    } else {
        REQUIRE(strncmp(coop_error_message(err), "line ", 5) == 0);
    }
    coop_error_free(err);
    if (second)
        fuzz_gate(text, n, second + 1, size - n - 1);
    return 0;
}
