/*
 * packed.c - what nobody inside may write or make, as the box's init reads it
 */
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "glob/pack.h"
#include "plan/plan.h"
#include "plan/rules/known.h"
#include "plan/rules/packed.h"
#include "policy/path/path_set.h"
#include "protect/write_rules.h"

static void append(struct plan *plan, struct plan_write_rule **items, size_t *n, size_t *capacity,
                   const struct plan_write_rule *item)
{
    if (*n == *capacity) {
        size_t wanted = *capacity ? 2 * *capacity : 64;
        struct plan_write_rule *more = plan_memory(plan, wanted * sizeof *more);

        if (!more)
            return;
        if (*n > 0)
            memcpy(more, *items, *n * sizeof *more);
        *items = more;
        *capacity = wanted;
    }
    (*items)[(*n)++] = *item;
}

void plan_write_rule_add(struct plan *plan, const struct plan_write_rule *write_rules)
{
    append(plan, &plan->write_rules, &plan->n_write_rules, &plan->write_rules_capacity,
           write_rules);
}

void plan_lift_add(struct plan *plan, const struct plan_write_rule *exception)
{
    append(plan, &plan->lifts, &plan->n_lifts, &plan->lifts_capacity, exception);
}

void plan_write_root(struct plan *plan, const char *root, int fd)
{
    if (plan->shown.below && *plan->shown.below && strcmp(root, plan->workspace_view) == 0) {
        root = plan->shown.target;
        fd = plan->shown.fd;
    }
    if (plan->policy->read_only) /* nothing is let through a gate there */
        fd = -1;
    for (size_t i = 0; i < plan->n_write_roots; i++)
        if (strcmp(plan->write_roots[i].path, root) == 0)
            return;
    if (plan->n_write_roots < COUNT(plan->write_roots))
        plan->write_roots[plan->n_write_roots++] = (struct plan_write_root){ root, fd };
    else
        plan->failed = true;
}

void plan_alias_add(struct plan *plan, const char *target, const char *canonical)
{
    if (target && canonical && plan->n_aliases < COUNT(plan->aliases))
        plan->aliases[plan->n_aliases++] = (struct plan_alias){ target, canonical };
    else
        plan->failed = true;
}

/* "/my [work]" and ".git/hooks" become "my \[work\]/.git/hooks". */
static void append_pattern(struct buffer *out, const char *root, const char *pattern)
{
    for (const char *p = root + 1; *p; p++) {
        if (strchr("*?[]\\", *p))
            buffer_append_char(out, '\\');
        buffer_append_char(out, *p);
    }
    if (root[1])
        buffer_append_char(out, '/');
    buffer_append_string(out, *pattern == '/' ? pattern + 1 : pattern);
}

/* Most patterns were known when coop was built, and are there as bytes. */
static int pack(struct glob_packing *packing, const struct plan_write_rule *write_rules,
                bool ignore_case, struct buffer *text, coop_error **err)
{
    const struct known_rule *known = NULL;

    text->length = 0;
    append_pattern(text, write_rules->root, write_rules->pattern);
    if (text->failed)
        return fail_no_memory(err);
    if (!ignore_case)
        known = known_rule_find(text->data, text->length);
    if (known) {
        glob_pack_add_record(packing, known->record, known->size);
        return 0;
    }
    auto_findings struct findings findings = { 0 };
    struct glob *glob =
        glob_new(text->data, text->length, ignore_case, write_rules->origin, &findings);
    if (!glob)
        return findings.n_errors ? findings_fail(&findings, err) : fail_no_memory(err);
    glob_pack_add(packing, glob);
    glob_free(glob);
    return 0;
}

static void append_strings(struct buffer *out, const struct plan_strings *strings)
{
    if (strings->length)
        buffer_append(out, strings->text, strings->length);
    buffer_append_char(out, '\0');
}

static void append_roots(const struct plan *plan, struct buffer *out, bool ignore_case,
                         struct packed_rules_header *header)
{
    header->ignore_case = ignore_case;
    header->held_at = (uint32_t)out->length;
    path_set_pack(out, plan->held.text, ignore_case);
    header->n_roots = (uint32_t)plan->n_write_roots;
    header->roots_at = (uint32_t)out->length;
    for (size_t i = 0; i < plan->n_write_roots; i++)
        buffer_append(out, plan->write_roots[i].path, strlen(plan->write_roots[i].path) + 1);
    header->outside_at = (uint32_t)out->length;
    append_strings(out, &plan->outside);
    header->hidden_at = (uint32_t)out->length;
    append_strings(out, &plan->hidden);
    header->aliases_at = (uint32_t)out->length;
    for (size_t i = 0; i < plan->n_aliases; i++) {
        buffer_append(out, plan->aliases[i].target, strlen(plan->aliases[i].target) + 1);
        buffer_append(out, plan->aliases[i].canonical, strlen(plan->aliases[i].canonical) + 1);
    }
    buffer_append_char(out, '\0');
    header->reviewed_at = (uint32_t)out->length;
    for (size_t i = 0; i < plan->n_write_rules; i++)
        buffer_append_char(out, (char)plan->write_rules[i].gate);
}

static void align(struct buffer *out)
{
    while (!out->failed && out->length % 8)
        buffer_append_char(out, '\0');
}

/* Exceptions are packed behind the rules. */
static void append_exceptions(const struct plan *plan, struct buffer *out,
                              struct packed_rules_header *header)
{
    align(out);
    header->n_rules = (uint32_t)plan->n_write_rules;
    header->exceptions_at = plan->n_lifts > 0 ? (uint32_t)out->length : 0;
    for (size_t i = 0; plan->n_lifts > 0 && i < plan->n_write_rules; i++) {
        const struct plan_write_rule *write_rules = &plan->write_rules[i];
        const struct write_rule_exceptions exceptions = {
            (uint32_t)(plan->n_write_rules + write_rules->lifted_from),
            (uint32_t)(plan->n_write_rules + write_rules->lifted_to),
        };

        buffer_append(out, &exceptions, sizeof exceptions);
    }
    align(out);
    header->patterns_at = (uint32_t)out->length;
}

static int keep_texts(struct plan *plan, coop_error **err)
{
    auto_buffer struct buffer texts = { 0 };

    for (size_t i = 0; i < plan->n_write_rules; i++) {
        buffer_append(&texts, plan->write_rules[i].pattern,
                      strlen(plan->write_rules[i].pattern) + 1);
        origin_print(&texts, plan->write_rules[i].origin);
        buffer_append_char(&texts, '\0');
    }
    plan->write_rule_texts = buffer_take_string(&texts);
    return plan->write_rule_texts ? 0 : fail_no_memory(err);
}

bool plan_write_rule_text(const struct plan *plan, int rule, const char **pattern,
                          const char **origin)
{
    const char *text = plan->write_rule_texts;

    if (rule < 0 || (size_t)rule >= plan->n_write_rules || !text)
        return false;
    for (int i = 0; i < 2 * rule; i++)
        text += strlen(text) + 1;
    *pattern = text;
    *origin = text + strlen(text) + 1;
    return true;
}

#define PACKED_SIZE 400 /* of most patterns, at most */

int plan_packed_rules(struct plan *plan, bool ignore_case, coop_error **err)
{
    auto_buffer struct buffer out = { 0 };
    auto_buffer struct buffer text = { 0 };
    struct packed_rules_header header = { 0 };
    struct glob_packing packing;
    int r = 0;

    if (plan->n_write_rules == 0 && !plan->is_root_view)
        return 0;
    if (plan->failed)
        return fail_no_memory(err);
    (void)buffer_reserve(&out, sizeof header + (plan->n_write_rules + plan->n_lifts) * PACKED_SIZE);
    buffer_append(&out, &header, sizeof header);
    append_roots(plan, &out, ignore_case, &header);
    append_exceptions(plan, &out, &header);
    glob_pack_begin(&packing, &out, plan->n_write_rules + plan->n_lifts);
    for (size_t i = 0; r == 0 && i < plan->n_write_rules; i++)
        r = pack(&packing, &plan->write_rules[i], ignore_case, &text, err);
    for (size_t i = 0; r == 0 && i < plan->n_lifts; i++)
        r = pack(&packing, &plan->lifts[i], ignore_case, &text, err);
    if (r < 0)
        return r;
    header.size = (uint32_t)out.length;
    if (out.failed)
        return fail_no_memory(err);
    if (out.length > PACKED_RULES_MAX)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, E2BIG,
                         "%zu patterns of protected paths are too many",
                         plan->n_write_rules + plan->n_lifts);
    memcpy(out.data, &header, sizeof header);
    plan->packed_rules_length = out.length;
    plan->packed_rules = take_ptr(out.data);
    return keep_texts(plan, err);
}
