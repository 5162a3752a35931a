#include "git_config_gate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/printable.h"
#include "policy/git_config.h"
#include "policy/git_config_keys.h"
#include "policy/git_config_redact.h"

/* A text with what was made of it. */
struct side {
    const char *text;
    size_t size;
    struct git_config config;
    size_t *fixed; /* items that must stand on both sides */
    size_t n_fixed;
};

struct gate {
    const struct git_config_place *place;
    struct side old; /* redacted */
    struct side new;
    struct git_config original; /* the old text, unredacted: item for item the same as old */
    const char *original_text;
    const char **remotes; /* sections of the old text that have a URL, sorted */
    size_t n_remotes;
    coop_error **err;
};

static void side_done(struct side *side)
{
    git_config_done(&side->config);
    free(side->fixed);
}

static void gate_done(struct gate *gate)
{
    side_done(&gate->old);
    side_done(&gate->new);
    git_config_done(&gate->original);
    free(gate->remotes);
}

/* ---- remotes that are there already */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_address(const struct git_config_item *item)
{
    return item->kind == GIT_CONFIG_ENTRY && strncmp(item->section, "remote.", 7) == 0 &&
           (strcmp(item->name, "url") == 0 || strcmp(item->name, "pushurl") == 0 ||
            strcmp(item->name, "vcs") == 0);
}

static int note_remotes(struct gate *gate)
{
    const struct git_config *config = &gate->old.config;

    gate->remotes = calloc(config->n + 1, sizeof *gate->remotes);
    if (!gate->remotes)
        return fail_no_memory(gate->err);
    for (size_t i = 0; i < config->n; i++)
        /* Many URLs of one remote stand side by side: the section is one string. */
        if (is_address(&config->items[i]) &&
            (gate->n_remotes == 0 ||
             gate->remotes[gate->n_remotes - 1] != config->items[i].section))
            gate->remotes[gate->n_remotes++] = config->items[i].section;
    qsort(gate->remotes, gate->n_remotes, sizeof *gate->remotes, by_text);
    return 0;
}

/* ---- which items may not change */

/* A redacted sub-section is held by its header. */
static bool holds_redacted(const struct git_config_item *item)
{
    return item->value && strstr(item->value, GIT_CONFIG_REDACTED);
}

/* Why an item may not change, as the end of a sentence; NULL: it may. */
static const char *why_fixed(const struct gate *gate, const struct git_config_item *item)
{
    if (holds_redacted(item))
        return "it holds a credential that the box does not see";
    if (item->kind != GIT_CONFIG_ENTRY)
        return NULL;
    if (is_address(item) &&
        bsearch(&item->section, gate->remotes, gate->n_remotes, sizeof *gate->remotes, by_text))
        return "that remote is there already, and the owner's next push would go elsewhere";
    return git_config_harm(item, gate->place);
}

static int note_fixed(struct gate *gate, struct side *side)
{
    side->fixed = calloc(side->config.n + 1, sizeof *side->fixed);
    if (!side->fixed)
        return fail_no_memory(gate->err);
    for (size_t i = 0; i < side->config.n; i++)
        if (why_fixed(gate, &side->config.items[i]))
            side->fixed[side->n_fixed++] = i;
    return 0;
}

/* ---- comparing */

static bool is_same(const struct git_config_item *a, const struct git_config_item *b)
{
    if (a->kind != b->kind || strcmp(a->name, b->name) != 0 || !a->value != !b->value ||
        (a->value && strcmp(a->value, b->value) != 0))
        return false;
    /* A comment is the same in any section. */
    return a->kind == GIT_CONFIG_COMMENT || strcmp(a->section, b->section) == 0;
}

static const struct git_config_item *fixed_item(const struct side *side, size_t i)
{
    return i < side->n_fixed ? &side->config.items[side->fixed[i]] : NULL;
}

/* Names the key, shortened and fit for a terminal; never the value. */
static int refuse(const struct gate *gate, const struct git_config_item *item, const char *done)
{
    auto_buffer struct buffer key = { 0 };
    const char *section = item->section;

    switch (item->kind) {
    case GIT_CONFIG_COMMENT:
        buffer_append_string(&key, "a comment");
        break;
    case GIT_CONFIG_HEADER:
    case GIT_CONFIG_ENTRY:
        buffer_append_char(&key, '\'');
        printable_append(&key, section, strnlen(section, 100));
        if (strlen(section) > 100)
            buffer_append_string(&key, "...");
        if (*section && *item->name)
            buffer_append_char(&key, '.');
        printable_append(&key, item->name, strnlen(item->name, 100));
        buffer_append_char(&key, '\'');
        break;
    }
    if (key.failed)
        return fail_no_memory(gate->err);
    int r = fail_kind(gate->err, COOP_ERROR_BAD_POLICY, EACCES,
                      "line %u: %s may not be %s from inside a box: %s", item->line, key.data, done,
                      why_fixed(gate, item));
    return fail_hint(gate->err, r, "make this change on the host");
}

static int refuse_difference(const struct gate *gate, size_t at)
{
    const struct git_config_item *old = fixed_item(&gate->old, at);
    const struct git_config_item *new = fixed_item(&gate->new, at);

    if (!new)
        return refuse(gate, old, "removed");
    if (!old)
        return refuse(gate, new, "set");
    /* Either something came in before `old`, or `old` itself is gone. */
    for (size_t i = at + 1; i < gate->old.n_fixed; i++)
        if (is_same(new, fixed_item(&gate->old, i)))
            return refuse(gate, old, "removed or moved");
    return refuse(gate, new, "set");
}

static int compare(const struct gate *gate)
{
    const struct side *old = &gate->old;
    const struct side *new = &gate->new;

    for (size_t i = 0; i < old->n_fixed || i < new->n_fixed; i++)
        if (i >= old->n_fixed || i >= new->n_fixed ||
            !is_same(fixed_item(old, i), fixed_item(new, i)))
            return refuse_difference(gate, i);
    return 0;
}

/* ---- putting the credentials back */

static void restore(const struct gate *gate, struct buffer *out)
{
    size_t at = 0;

    for (size_t i = 0; i < gate->old.n_fixed; i++) {
        const struct git_config_item *new = &gate->new.config.items[gate->new.fixed[i]];
        const struct git_config_item *was = &gate->original.items[gate->old.fixed[i]];

        if (!new->value || strcmp(new->value, was->value) == 0)
            continue;
        buffer_append(out, gate->new.text + at, new->begin - at);
        buffer_append(out, gate->original_text + was->begin, was->end - was->begin);
        at = new->end;
    }
    buffer_append(out, gate->new.text + at, gate->new.size - at);
}

/* ---- all of it */

/* git writes no others, and other readers of the file may take them for ends of lines. */
static int check_characters(const struct gate *gate)
{
    const char *text = gate->new.text;

    for (size_t i = 0; i < gate->new.size; i++) {
        unsigned char c = (unsigned char)text[i];
        bool is_line_end = c == '\r' && i + 1 < gate->new.size &&text[i + 1] == '\n';

        if ((c < 0x20 && c != '\n' && c != '\t' && !is_line_end) || c == 0x7F)
            return fail_kind(gate->err, COOP_ERROR_BAD_POLICY, EACCES,
                             "the new configuration has a control character in it");
    }
    return 0;
}

static int parse_old(struct gate *gate, const char *old, size_t old_size, struct buffer *redacted)
{
    bool has_redacted;
    int r = git_config_parse(old, old_size, &gate->original, gate->err);

    if (r < 0)
        return r;
    r = git_config_redact(old, old_size, redacted, &has_redacted, gate->err);
    if (r < 0)
        return r;
    gate->original_text = old;
    gate->old.text = redacted->data;
    gate->old.size = redacted->length;
    r = git_config_parse(redacted->data, redacted->length, &gate->old.config, gate->err);
    if (r < 0)
        return r;
    if (gate->old.config.n != gate->original.n)
        return fail_kind(gate->err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "its credentials cannot be told from the rest");
    return 0;
}

static int judge(struct gate *gate, struct buffer *out)
{
    int r = check_characters(gate);

    if (r == 0)
        r = note_remotes(gate);
    if (r == 0)
        r = note_fixed(gate, &gate->old);
    if (r == 0)
        r = note_fixed(gate, &gate->new);
    if (r == 0)
        r = compare(gate);
    if (r < 0)
        return r;
    restore(gate, out);
    return out->failed ? fail_no_memory(gate->err) : 0;
}

int git_config_gate(const struct git_config_place *place, const char *old, size_t old_size,
                    const char *new, size_t new_size, struct buffer *out, coop_error **err)
{
    __attribute__((cleanup(gate_done))) struct gate gate = { .place = place, .err = err };
    auto_buffer struct buffer redacted = { 0 };
    int r = parse_old(&gate, old, old_size, &redacted);

    if (r < 0)
        return fail_within(err, r, "read the configuration that is there");
    gate.new.text = new_size > 0 ? new : "";
    gate.new.size = new_size;
    r = git_config_parse(new, new_size, &gate.new.config, err);
    if (r < 0)
        return fail_within(err, r, "read the new configuration");
    return judge(&gate, out);
}
