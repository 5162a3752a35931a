/*
 * Narrowing and its proof. Allowed lists are sets of patterns: the meet of two is the meets of their
 * pairs, each of which is again a pattern. Blocked lists unite.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "policy/command_pattern.h"
#include "policy/command_rules.h"

static const char *program_of(const struct command_rule *rule)
{
    const char *slash = strrchr(rule->name, '/');

    return slash ? slash + 1 : rule->name;
}

/* Patterns of a rule were checked when they were added. */
static void read_shape(const struct command_rule *rule, const struct command_pattern *pattern,
                       struct command_shape *out)
{
    (void)command_shape_read(program_of(rule), pattern->text, out);
}

/* ---- narrow */

static int copy_blocked(const struct command_rule *from, struct command_rule *to, coop_error **err)
{
    int r = 0;

    for (size_t i = 0; i < from->n_blocked && r == 0; i++) {
        bool is_there = false;

        for (size_t k = 0; k < to->n_blocked; k++)
            is_there = is_there || strcmp(to->blocked[k].text, from->blocked[i].text) == 0;
        if (!is_there)
            r = command_rule_block(to, from->blocked[i].text, from->blocked[i].origin, err);
    }
    return r;
}

/* Adds a pattern unless one that is there already covers it. */
static int allow_shape(struct command_rule *rule, const struct command_shape *shape,
                       struct origin origin, coop_error **err)
{
    auto_buffer struct buffer text = { 0 };

    for (size_t i = 0; i < rule->n_allowed; i++) {
        struct command_shape other;

        read_shape(rule, &rule->allowed[i], &other);
        if (command_shape_covers(&other, shape))
            return 0;
    }
    command_shape_print(shape, &text);
    if (text.failed)
        return fail_no_memory(err);
    return command_rule_allow(rule, text.data, origin, err);
}

static int meet_allowed(const struct command_rule *parent, const struct command_rule *request,
                        struct command_rule *out, coop_error **err)
{
    int r = 0;

    for (size_t i = 0; i < request->n_allowed && r == 0; i++) {
        struct command_shape wanted;

        read_shape(request, &request->allowed[i], &wanted);
        for (size_t k = 0; k < parent->n_allowed && r == 0; k++) {
            struct command_shape both;

            read_shape(parent, &parent->allowed[k], &both);
            if (command_shape_meet(&wanted, &both, &both))
                r = allow_shape(out, &both, request->allowed[i].origin, err);
        }
    }
    return r;
}

static int copy_allowed(const struct command_rule *from, struct command_rule *to, coop_error **err)
{
    int r = 0;

    for (size_t i = 0; i < from->n_allowed && r == 0; i++)
        r = command_rule_allow(to, from->allowed[i].text, from->allowed[i].origin, err);
    return r;
}

static int narrow_rule(const struct command_rule *parent, const struct command_rule *request,
                       struct command_rules *out, coop_error **err)
{
    struct command_rule *rule;
    const char *description = request->description ? request->description : parent->description;
    int r = command_rules_add(out, parent->name, request->origin, &rule, err);

    if (r == 0 && description)
        r = command_rule_describe(rule, description, err);
    if (r == 0)
        r = parent->has_allowed && request->has_allowed
                ? meet_allowed(parent, request, rule, err)
                : copy_allowed(parent->has_allowed ? parent : request, rule, err);
    if (r == 0)
        r = copy_blocked(parent, rule, err);
    if (r == 0)
        r = copy_blocked(request, rule, err);
    if (r < 0)
        return r;
    rule->has_allowed = parent->has_allowed || request->has_allowed;
    rule->manifest = parent->manifest || request->manifest;
    return 0;
}

int command_rules_narrow(const struct command_rules *parent, const struct command_rules *request,
                         struct command_rules *out, coop_error **err)
{
    auto_command_rules struct command_rules narrowed = { 0 };

    for (size_t i = 0; i < request->n; i++) {
        const struct command_rule *rule = command_rules_find(parent, request->items[i].name);
        int r = rule ? narrow_rule(rule, &request->items[i], &narrowed, err) : 0;

        if (r < 0)
            return r;
    }
    *out = narrowed;
    narrowed = (struct command_rules){ 0 };
    return 0;
}

/* ---- is within */

static int counter_example(const struct command_rule *rule, const struct command_shape *shape,
                           char **counter, coop_error **err)
{
    auto_buffer struct buffer text = { 0 };

    buffer_append_string(&text, rule->name);
    if (shape && (shape->n_words > 0 || shape->n_flags > 0)) {
        buffer_append_char(&text, ' ');
        command_shape_print(shape, &text);
    }
    *counter = buffer_take_string(&text);
    return *counter ? 0 : fail_no_memory(err);
}

static bool is_covered(const struct command_rule *rule, const struct command_pattern *patterns,
                       size_t n, const struct command_shape *shape)
{
    for (size_t i = 0; i < n; i++) {
        struct command_shape wide;

        read_shape(rule, &patterns[i], &wide);
        if (command_shape_covers(&wide, shape))
            return true;
    }
    return false;
}

/* What the child allows by `shape`, but for what it blocks itself, against the parent's lists.
 * 1: all within; 0: *found is in the child only. */
static int shape_is_within(const struct command_rule *child, const struct command_rule *parent,
                           const struct command_shape *shape, struct command_shape *found)
{
    if (is_covered(child, child->blocked, child->n_blocked, shape))
        return 1;
    if (parent->has_allowed && !is_covered(parent, parent->allowed, parent->n_allowed, shape)) {
        *found = *shape;
        return 0;
    }
    for (size_t i = 0; i < parent->n_blocked; i++) {
        struct command_shape both;

        read_shape(parent, &parent->blocked[i], &both);
        if (command_shape_meet(shape, &both, &both) &&
            !is_covered(child, child->blocked, child->n_blocked, &both)) {
            *found = both;
            return 0;
        }
    }
    return 1;
}

/* A sub-command that no list names: where the child has no list, it allows this. */
static void set_unnamed(struct command_shape *shape)
{
    *shape = (struct command_shape){ .words = { "any-sub-command" }, .n_words = 1 };
}

static int rule_is_within(const struct command_rule *child, const struct command_rule *parent,
                          struct command_shape *found)
{
    struct command_shape shape = { .n_words = 0 };

    if (child->has_allowed) {
        for (size_t i = 0; i < child->n_allowed; i++) {
            read_shape(child, &child->allowed[i], &shape);
            if (!shape_is_within(child, parent, &shape, found))
                return 0;
        }
        return 1;
    }
    if (parent->has_allowed) {
        set_unnamed(found);
        return 0;
    }
    return shape_is_within(child, parent, &shape, found);
}

int command_rules_is_within(const struct command_rules *child, const struct command_rules *parent,
                            char **counter, coop_error **err)
{
    for (size_t i = 0; i < child->n; i++) {
        const struct command_rule *rule = &child->items[i];
        const struct command_rule *allowing = command_rules_find(parent, rule->name);
        struct command_shape found = { .n_words = 0 };

        if (allowing ? rule_is_within(rule, allowing, &found)
                     : rule->has_allowed && rule->n_allowed == 0)
            continue;
        if (!allowing && rule->n_allowed > 0)
            read_shape(rule, &rule->allowed[0], &found);
        int r = counter_example(rule, &found, counter, err);
        return r < 0 ? r : 0;
    }
    return 1;
}
