#include "denials.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/printable.h"

const char *const denial_op_names[DENIAL_OPS] = {
#define DENIAL(op, name, subject) [DENIAL_##op] = name,
    DENIAL_ROWS(DENIAL)
#undef DENIAL
};

const enum denial_subject denial_subjects[DENIAL_OPS] = {
#define DENIAL(op, name, subject) [DENIAL_##op] = subject,
    DENIAL_ROWS(DENIAL)
#undef DENIAL
};

/* FNV-1a: only saves comparing; what a box can make collide costs it a comparison. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;

    while (n-- > 0)
        hash = (hash ^ *p++) * 0x100000001b3ull;
    return hash;
}

static const char *text(const char *string)
{
    return string ? string : "";
}

static uint64_t hash_note(const struct denial_note *note)
{
    const int numbers[] = { (int)note->op, note->error, note->nr, note->rule, note->value };
    uint64_t hash = hash_bytes(0xcbf29ce484222325ull, numbers, sizeof numbers);

    hash = hash_bytes(hash, text(note->target), strlen(text(note->target)) + 1);
    return hash_bytes(hash, text(note->rule_text), strlen(text(note->rule_text)));
}

static bool is_same(const struct denial *denial, const struct denial_note *note)
{
    return denial->op == note->op && denial->error == note->error && denial->nr == note->nr &&
           denial->rule == note->rule && denial->value == note->value &&
           strcmp(denial->target, text(note->target)) == 0 &&
           strcmp(text(denial->rule_text), text(note->rule_text)) == 0;
}

static bool copy_text(char **to, const char *from)
{
    *to = from ? strdup(from) : NULL;
    return !from || *to;
}

static void free_record(struct denial *denial)
{
    free(denial->target);
    free(denial->rule_text);
    free(denial->origin);
    free(denial->why);
    free(denial->allow);
}

/* False: out of memory. */
static bool add(struct denials *denials, const struct denial_note *note, uint64_t hash)
{
    struct denial denial = { .op = note->op,
                             .error = note->error,
                             .nr = note->nr,
                             .rule = note->rule,
                             .value = note->value,
                             .session = note->session,
                             .first_ms = note->at_ms,
                             .hash = hash };

    if (!denials->items)
        denials->items = calloc(DENIALS_MAX, sizeof *denials->items);
    if (!denials->items)
        return false;
    if (!copy_text(&denial.target, text(note->target)) ||
        !copy_text(&denial.rule_text, note->rule_text) ||
        !copy_text(&denial.origin, note->origin) || !copy_text(&denial.why, note->why) ||
        !copy_text(&denial.allow, note->allow)) {
        free_record(&denial);
        return false;
    }
    denials->items[denials->n++] = denial;
    return true;
}

int denials_note(struct denials *denials, const struct denial_note *note)
{
    uint64_t hash = hash_note(note);
    uint64_t count = note->count ? note->count : 1;
    size_t i = 0;

    while (i < denials->n && (denials->items[i].hash != hash || !is_same(&denials->items[i], note)))
        i++;
    if (i == denials->n && (i == DENIALS_MAX || !add(denials, note, hash))) {
        denials->failed = denials->failed || i < DENIALS_MAX;
        denials->more += count;
        return -1;
    }
    struct denial *denial = &denials->items[i];
    if (note->is_total)
        denials_count(denials, (int)i, count);
    else
        denial->count += count;
    return (int)i;
}

void denials_count(struct denials *denials, int index, uint64_t total)
{
    if (index >= 0 && (size_t)index < denials->n && denials->items[index].count < total)
        denials->items[index].count = total;
}

void denials_drop_wordless(struct denials *denials)
{
    size_t kept = 0;

    for (size_t i = 0; i < denials->n; i++)
        if (denials->items[i].rule_text)
            denials->items[kept++] = denials->items[i];
        else
            free_record(&denials->items[i]);
    denials->n = kept;
}

void denials_done(struct denials *denials)
{
    for (size_t i = 0; i < denials->n; i++)
        free_record(&denials->items[i]);
    free(denials->items);
    *denials = (struct denials){ 0 };
}

void denial_print_asked(struct buffer *out, const char *op, const char *target)
{
    bool is_limit = false;

    for (int i = 0; i < DENIAL_OPS; i++)
        if (strcmp(op, denial_op_names[i]) == 0)
            is_limit = denial_subjects[i] == DENIAL_OF_TIME ||
                       (denial_subjects[i] == DENIAL_OF_LIMIT && i != DENIAL_TMP_SIZE);
    if (!is_limit)
        buffer_printf(out, "%s ", op);
    printable_append(out, target, strlen(target));
}
