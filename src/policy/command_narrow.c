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
        if (command_shape_covers(program_of(rule), &other, shape))
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
            if (command_shape_meet(program_of(parent), &wanted, &both, &both))
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

/* Flags that allow it stand first: behind another one, a flag may be taken for its value. */
static int counter_example(const struct command_rule *rule, const struct command_shape *shape,
                           const struct command_shape *allowing, char **counter, coop_error **err)
{
    auto_buffer struct buffer text = { 0 };
    struct command_shape first = *shape;
    struct command_shape rest = { .n_words = 0 };
    struct command_shape leading = *allowing;

    if (shape->n_words > 0)
        command_shape_respell(program_of(rule), shape->words[0], &leading);
    first.n_flags = 0;
    for (size_t i = 0; i < shape->n_flags; i++) {
        bool is_first = false;

        for (size_t k = 0; k < leading.n_flags; k++)
            is_first = is_first || (strcmp(shape->flags[i].name, leading.flags[k].name) == 0 &&
                                    shape->flags[i].letter == leading.flags[k].letter);
        if (is_first)
            first.flags[first.n_flags++] = shape->flags[i];
        else
            rest.flags[rest.n_flags++] = shape->flags[i];
    }
    buffer_printf(&text, "%s%s", rule->name, first.n_words + first.n_flags > 0 ? " " : "");
    command_shape_print(&first, &text);
    buffer_append_string(&text, rest.n_flags > 0 ? " " : "");
    command_shape_print(&rest, &text);
    *counter = buffer_take_string(&text);
    return *counter ? 0 : fail_no_memory(err);
}

static bool is_covered(const struct command_rule *rule, const struct command_pattern *patterns,
                       size_t n, const struct command_shape *shape)
{
    for (size_t i = 0; i < n; i++) {
        struct command_shape wide;

        read_shape(rule, &patterns[i], &wide);
        if (command_shape_covers(program_of(rule), &wide, shape))
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
        if (command_shape_meet(program_of(parent), shape, &both, &both) &&
            !is_covered(child, child->blocked, child->n_blocked, &both)) {
            *found = both;
            return 0;
        }
    }
    return 1;
}

/*
 * A sub-command for an example that needs one: any that the child does not block and, where the
 * parent lists what it allows, is not listed. git is asked for something that is surely its own.
 */
static bool add_example_word(const struct command_rule *child, const struct command_rule *parent,
                             struct command_shape *shape)
{
    static const char *const any[] = { "any-sub-command", NULL };
    const struct command_program *known = command_program_find(program_of(child));
    const char *const *names = known && known->commands ? known->commands : any;

    for (; *names; names++) {
        struct command_shape tried = *shape;

        memcpy(tried.words[0], *names, strlen(*names) + 1);
        tried.n_words = 1;
        command_shape_respell(program_of(child), *names, &tried);
        if (is_covered(child, child->blocked, child->n_blocked, &tried) ||
            (parent && parent->has_allowed &&
             is_covered(parent, parent->allowed, parent->n_allowed, &tried)))
            continue;
        *shape = tried;
        return true;
    }
    return false;
}

/* 0: *found is in the child only, by its pattern *allowing. */
static int rule_is_within(const struct command_rule *child, const struct command_rule *parent,
                          struct command_shape *found, struct command_shape *allowing)
{
    struct command_shape shape = { .n_words = 0 };

    if (!child->has_allowed && !parent->has_allowed)
        return shape_is_within(child, parent, &shape, found);
    if (!child->has_allowed) {
        *found = shape;
        return is_covered(child, child->blocked, child->n_blocked, &shape) ? 1 : 0;
    }
    for (size_t i = 0; i < child->n_allowed; i++) {
        read_shape(child, &child->allowed[i], &shape);
        *allowing = shape;
        if (!shape_is_within(child, parent, &shape, found))
            return 0;
    }
    return 1;
}

/* A rule of the child's that the parent lacks: what of it is allowed at all? */
static int rule_is_empty(const struct command_rule *rule, struct command_shape *found)
{
    *found = (struct command_shape){ .n_words = 0 };
    if (!rule->has_allowed)
        return 0;
    for (size_t i = 0; i < rule->n_allowed; i++) {
        read_shape(rule, &rule->allowed[i], found);
        if (!is_covered(rule, rule->blocked, rule->n_blocked, found))
            return 0;
    }
    return 1;
}

int command_rules_is_within(const struct command_rules *child, const struct command_rules *parent,
                            char **counter, coop_error **err)
{
    for (size_t i = 0; i < child->n; i++) {
        const struct command_rule *rule = &child->items[i];
        const struct command_rule *wider = command_rules_find(parent, rule->name);
        struct command_shape found = { .n_words = 0 };
        struct command_shape allowing = { .n_words = 0 };

        if (wider ? rule_is_within(rule, wider, &found, &allowing) : rule_is_empty(rule, &found))
            continue;
        if (found.n_words == 0)
            (void)add_example_word(rule, wider, &found);
        return counter_example(rule, &found, &allowing, counter, err);
    }
    return 1;
}
