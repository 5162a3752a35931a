#include "summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/printable.h"
#include "base/redact.h"
#include "base/scrub.h"
#include "base/shell_word.h"
#include "base/utf8.h"
#include "policy/policy.h"

#define LEAST_VALUE 6   /* bytes of a value that is only thought to be a secret */
#define MOST_VALUES 256 /* of such */

struct summary {
    struct redact *redact; /* NULL: nothing is known */
};

/* ---- what is known */

struct values {
    struct redact_secret *items;
    size_t n, room;
};

static void add(struct values *values, const char *name, const char *value)
{
    if (values->n < values->room)
        values->items[values->n++] = (struct redact_secret){ name, value, strlen(value) };
}

static void add_variable(struct values *values, const char *name, size_t n, const char *value)
{
    if (strlen(value) >= LEAST_VALUE && scrub_is_secret_name(name, n))
        add(values, "hidden", value);
}

static void add_all(struct values *values, const coop_policy *policy)
{
    for (size_t i = 0; policy && i < policy->n_secrets; i++)
        add(values, policy->secrets[i].name,
            policy->secrets[i].entry + policy->secrets[i].n_variable + 1);
    for (size_t i = 0; policy && i < policy->n_credentials; i++)
        add(values, policy->credentials[i].secret, policy->credentials[i].value);
    for (size_t i = 0; policy && i < policy->n_variables; i++)
        add_variable(values, policy->variables[i].name, strlen(policy->variables[i].name),
                     policy->variables[i].value);
    for (char **variable = environ; variable && *variable; variable++) {
        const char *equals = strchr(*variable, '=');

        if (equals)
            add_variable(values, *variable, (size_t)(equals - *variable), equals + 1);
    }
}

int summary_new(const coop_policy *policy, struct summary **out, coop_error **err)
{
    struct values values = { .room = MOST_VALUES + (policy ? policy->n_secrets : 0) +
                                     (policy ? policy->n_credentials : 0) };
    struct summary *summary = calloc(1, sizeof *summary);

    values.items = calloc(values.room, sizeof *values.items);
    if (!summary || !values.items) {
        free(summary);
        free(values.items);
        return fail_no_memory(err);
    }
    add_all(&values, policy);
    int r = values.n ? redact_new(values.items, values.n, false, &summary->redact) : 0;
    free(values.items);
    if (r < 0) {
        free(summary);
        return fail_no_memory(err);
    }
    *out = summary;
    return 0;
}

void summary_free(struct summary *summary)
{
    if (!summary)
        return;
    redact_free(summary->redact);
    free(summary);
}

void summary_free_at_exit(struct summary **summary)
{
    summary_free(*summary);
}

/* ---- texts */

static void put(void *context, const char *bytes, size_t n)
{
    buffer_append(context, bytes, n);
}

static void redacted(struct summary *summary, const char *text, size_t n, struct buffer *out)
{
    if (!summary->redact) {
        buffer_append(out, text, n);
        return;
    }
    redact_run(summary->redact, text, n, put, out);
    redact_end(summary->redact, put, out);
}

/* The first `max` bytes, whole characters. */
static void cut(const char *text, size_t n, size_t max, struct buffer *out)
{
    if (n > max) {
        n = max - 3;
        while (n > 0 && utf8_is_continuation((unsigned char)text[n]))
            n--;
        buffer_append(out, text, n);
        buffer_append_string(out, "\xe2\x80\xa6");
        return;
    }
    buffer_append(out, text, n);
}

/* What is hidden is hidden in the whole, so that nothing is left over where it is cut. */
static void finish(struct buffer *text, size_t max, struct buffer *out)
{
    auto_buffer struct buffer masked = { 0 };
    auto_buffer struct buffer shown = { 0 };

    scrub_append(&masked, text->data ? text->data : "", text->length);
    printable_append(&shown, masked.data ? masked.data : "",
                     masked.length < 2 * max ? masked.length : 2 * max);
    if (text->failed || masked.failed || shown.failed)
        out->failed = true;
    else
        cut(shown.data ? shown.data : "", shown.length, max, out);
    buffer_wipe(&masked);
}

void summary_text(struct summary *summary, const char *text, size_t n, size_t max,
                  struct buffer *out)
{
    struct buffer all = { 0 };

    redacted(summary, text, n, &all);
    finish(&all, max, out);
    buffer_wipe(&all);
}

void summary_words(struct summary *summary, char *const *argv, size_t max, struct buffer *out)
{
    struct buffer all = { 0 };

    for (size_t i = 0; argv && argv[i] && all.length < 4 * max; i++) {
        struct buffer word = { 0 };

        redacted(summary, argv[i], strlen(argv[i]), &word);
        if (i)
            buffer_append_char(&all, ' ');
        if (word.failed)
            all.failed = true;
        else
            shell_word_append(&all, word.data ? word.data : "");
        buffer_wipe(&word);
    }
    finish(&all, max, out);
    buffer_wipe(&all);
}
