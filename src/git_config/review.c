#include "review.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/printable.h"
#include "git_config/git_config.h"
#include "git_config/keys.h"
#include "git_config/redact.h"

/* A text with what was made of it. */
struct side {
    const char *text;
    size_t size;
    struct git_config config;
    size_t *fixed; /* items that must stand on both sides */
    size_t n_fixed;
};

struct review_gate {
    const struct git_config_place *place;
    struct side old; /* redacted */
    struct side new;
    struct git_config original; /* the old text, unredacted: item for item the same as old */
    const char *original_text;
    const char **remotes; /* sections of the old text that have a URL, sorted */
    size_t n_remotes;
    const char **added; /* those that a box has added, sorted */
    size_t n_added;
    coop_error **err;
};

static void side_done(struct side *side)
{
    git_config_done(&side->config);
    free(side->fixed);
}

static void gate_done(struct review_gate *gate)
{
    side_done(&gate->old);
    side_done(&gate->new);
    git_config_done(&gate->original);
    free(gate->remotes);
    free(gate->added);
}

/* ---- remotes that are there already */

#define ADDED      "addedbybox" /* as it is read; ADDED_LINE as it is written */
#define ADDED_LINE "\taddedByBox = true\n"

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

static bool is_mark(const struct git_config_item *item)
{
    return item->kind == GIT_CONFIG_ENTRY && strncmp(item->section, "remote.", 7) == 0 &&
           strcmp(item->name, ADDED) == 0;
}

/* The sections of the old text that have such an item, sorted. */
static const char **sections_with(const struct git_config *config, size_t *out_n,
                                  bool (*has)(const struct git_config_item *item))
{
    const char **list = calloc(config->n + 1, sizeof *list);
    size_t n = 0;

    *out_n = 0;
    for (size_t i = 0; list && i < config->n; i++)
        /* Many URLs of one remote stand side by side: the section is one string. */
        if (has(&config->items[i]) && (n == 0 || list[n - 1] != config->items[i].section))
            list[n++] = config->items[i].section;
    if (list)
        qsort(list, n, sizeof *list, by_text);
    *out_n = n;
    return list;
}

static int note_remotes(struct review_gate *gate)
{
    gate->remotes = sections_with(&gate->old.config, &gate->n_remotes, is_address);
    gate->added = sections_with(&gate->old.config, &gate->n_added, is_mark);
    return gate->remotes && gate->added ? 0 : fail_no_memory(gate->err);
}

static bool is_remote(const struct review_gate *gate, const char *section)
{
    return bsearch(&section, gate->remotes, gate->n_remotes, sizeof *gate->remotes, by_text);
}

/* A remote that the owner has made. */
static bool is_owners(const struct review_gate *gate, const char *name)
{
    char section[GIT_CONFIG_SECTION_MAX];
    const char *text = section;

    if (!name || snprintf(section, sizeof section, "remote.%s", name) >= (int)sizeof section)
        return false;
    return is_remote(gate, section) &&
           !bsearch(&text, gate->added, gate->n_added, sizeof *gate->added, by_text);
}

/* ---- which items may not change */

/* A redacted sub-section is held by its header. */
static bool holds_redacted(const struct git_config_item *item)
{
    return item->value && strstr(item->value, GIT_CONFIG_REDACTED);
}

/* Whether a plain push or fetch goes where the item says. */
static bool chooses_remote(const struct git_config_item *item)
{
    if (strcmp(item->section, "remote") == 0)
        return strcmp(item->name, "pushdefault") == 0;
    return strncmp(item->section, "branch.", 7) == 0 &&
           (strcmp(item->name, "remote") == 0 || strcmp(item->name, "pushremote") == 0);
}

/* "." is the repository itself. */
static const char *why_not_chosen(const struct git_config_item *item)
{
    if (item->value && strcmp(item->value, ".") == 0 && strcmp(item->name, "remote") == 0)
        return NULL;
    return "the owner's next push would go to a remote that the owner has not made";
}

static bool is_mirror(const struct git_config_item *item)
{
    return strncmp(item->section, "remote.", 7) == 0 && strcmp(item->name, "mirror") == 0 &&
           item->value && strcmp(item->value, "true") == 0;
}

/* Why an item may not change, as the end of a sentence; NULL: it may. */
static const char *why_fixed(const struct review_gate *gate, const struct git_config_item *item)
{
    if (holds_redacted(item))
        return "it holds a credential that the box does not see";
    if (item->kind != GIT_CONFIG_ENTRY)
        return NULL;
    if (is_address(item) && is_remote(gate, item->section))
        return "that remote already exists, and the owner's next push would go elsewhere";
    if (is_address(item) && !gate->place->is_new &&
        (gate->n_remotes == 0 || strcmp(item->section, "remote.origin") == 0))
        return "the owner's next push would go there unasked";
    if (gate->place->is_new && is_mirror(item)) /* git clone --mirror */
        return NULL;
    if (chooses_remote(item) && !gate->place->is_new)
        return is_owners(gate, item->value) ? NULL : why_not_chosen(item);
    return git_config_harm(item, gate->place);
}

static int note_fixed(struct review_gate *gate, struct side *side)
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
static int refuse(const struct review_gate *gate, const struct git_config_item *item,
                  const char *done)
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

static int refuse_difference(const struct review_gate *gate, size_t at)
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

static int compare(const struct review_gate *gate)
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

static void restore(const struct review_gate *gate, struct buffer *out)
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
static int check_characters(const struct review_gate *gate)
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

static int parse_old(struct review_gate *gate, const char *old, size_t old_size,
                     struct buffer *redacted)
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

static int judge(struct review_gate *gate, struct buffer *out)
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

int git_config_review(const struct git_config_place *place, const char *old, size_t old_size,
                      const char *new, size_t new_size, struct buffer *out, coop_error **err)
{
    __attribute__((cleanup(gate_done))) struct review_gate gate = { .place = place, .err = err };
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

/* ---- which remotes a box has added */

/* Behind the text: a section may be there many times. */
static void mark(const struct review_gate *gate, struct buffer *text)
{
    for (size_t i = 0; i < gate->n_added; i++) {
        if (is_remote(gate, gate->added[i]) ||
            (i > 0 && strcmp(gate->added[i - 1], gate->added[i]) == 0))
            continue;
        if (text->length > 0 && text->data[text->length - 1] != '\n')
            buffer_append_char(text, '\n');
        buffer_printf(text, "[remote \"%s\"]\n" ADDED_LINE, git_config_subsection(gate->added[i]));
    }
}

int git_config_mark_remotes(const char *old, size_t old_size, struct buffer *text, coop_error **err)
{
    __attribute__((cleanup(gate_done))) struct review_gate gate = { .err = err };
    int r = git_config_parse(old, old_size, &gate.old.config, err);

    if (r == 0)
        r = git_config_parse(text->data ? text->data : "", text->length, &gate.new.config, err);
    if (r < 0)
        return r;
    gate.remotes = sections_with(&gate.old.config, &gate.n_remotes, is_address);
    gate.added = sections_with(&gate.new.config, &gate.n_added, is_address);
    if (!gate.remotes || !gate.added)
        return fail_no_memory(err);
    mark(&gate, text);
    return text->failed ? fail_no_memory(err) : 0;
}
