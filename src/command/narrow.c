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
#include "command/pattern.h"
#include "command/rules.h"

/* A rule whose patterns have been read. */
struct prepared {
    const struct command_rule *rule;
    const char *program;
    struct command_shape *allowed; /* the rule's n_allowed */
    struct command_shape *blocked; /* its n_blocked */
};

static void prepared_done(struct prepared *prepared)
{
    free(prepared->allowed);
    free(prepared->blocked);
}
#define auto_prepared __attribute__((cleanup(prepared_done)))

/* Patterns of a rule were checked when they were added. */
static struct command_shape *read_all(const char *program, const struct command_pattern *patterns,
                                      size_t n)
{
    struct command_shape *shapes = calloc(n > 0 ? n : 1, sizeof *shapes);

    for (size_t i = 0; shapes && i < n; i++)
        (void)command_shape_read(program, patterns[i].text, &shapes[i]);
    return shapes;
}

static int prepare(const struct command_rule *rule, struct prepared *out, coop_error **err)
{
    *out = (struct prepared){ .rule = rule, .program = command_program_name(rule->name) };
    out->allowed = read_all(out->program, rule->allowed, rule->n_allowed);
    out->blocked = read_all(out->program, rule->blocked, rule->n_blocked);
    return out->allowed && out->blocked ? 0 : fail_no_memory(err);
}

static bool is_covered(const char *program, const struct command_shape *shapes, size_t n,
                       const struct command_shape *shape)
{
    for (size_t i = 0; i < n; i++)
        if (command_shape_covers(program, &shapes[i], shape))
            return true;
    return false;
}

static bool is_blocked(const struct prepared *rule, const struct command_shape *shape)
{
    return is_covered(rule->program, rule->blocked, rule->rule->n_blocked, shape);
}

static bool is_allowed(const struct prepared *rule, const struct command_shape *shape)
{
    return !rule->rule->has_allowed ||
           is_covered(rule->program, rule->allowed, rule->rule->n_allowed, shape);
}

/* ---- narrow */

static int copy_blocked(const struct command_rule *from, struct command_rule *to, coop_error **err)
{
    int r = 0;

    for (size_t i = 0; i < from->n_blocked && r == 0; i++)
        r = command_rule_block(to, from->blocked[i].text, from->blocked[i].origin, err);
    return r;
}

/* What is met so far: a pattern that one of them covers adds nothing. */
struct met {
    struct command_shape *shapes;
    size_t n, capacity;
};

static int add_met(struct met *met, const char *program, const struct command_shape *shape,
                   struct origin origin, struct command_rule *out, coop_error **err)
{
    auto_buffer struct buffer text = { 0 };

    if (is_covered(program, met->shapes, met->n, shape))
        return 0;
    if (met->n == met->capacity) {
        size_t capacity = met->capacity ? 2 * met->capacity : 8;
        struct command_shape *more = realloc(met->shapes, capacity * sizeof *more);

        if (!more)
            return fail_no_memory(err);
        met->shapes = more;
        met->capacity = capacity;
    }
    met->shapes[met->n++] = *shape;
    command_shape_print(shape, &text);
    return text.failed ? fail_no_memory(err) : command_rule_allow(out, text.data, origin, err);
}

static int meet_allowed(const struct command_rule *parent, const struct command_rule *request,
                        struct command_rule *out, coop_error **err)
{
    auto_prepared struct prepared a = { 0 };
    auto_prepared struct prepared b = { 0 };
    struct met met = { 0 };
    int r = prepare(parent, &a, err);

    if (r == 0)
        r = prepare(request, &b, err);
    for (size_t i = 0; r == 0 && i < request->n_allowed; i++) {
        for (size_t k = 0; r == 0 && k < parent->n_allowed; k++) {
            struct command_shape both;

            if (command_shape_meet(a.program, &a.allowed[k], &b.allowed[i], &both))
                r = add_met(&met, a.program, &both, request->allowed[i].origin, out, err);
        }
    }
    free(met.shapes);
    return r;
}

static int copy_allowed(const struct command_rule *from, struct command_rule *to, coop_error **err)
{
    int r = 0;

    for (size_t i = 0; i < from->n_allowed && r == 0; i++)
        r = command_rule_allow(to, from->allowed[i].text, from->allowed[i].origin, err);
    return r;
}

static bool has_need(const struct command_rule *rule, const char *need)
{
    for (size_t i = 0; i < rule->n_needs; i++)
        if (strcmp(rule->needs[i], need) == 0)
            return true;
    return false;
}

/* Those that both name; where one of them names none, the other's. Whether that is more than a parent
 * has is for the proof to say: the parent may be a request itself. */
static int meet_needs(const struct command_rule *parent, const struct command_rule *request,
                      struct command_rule *out, coop_error **err)
{
    const struct command_rule *from = parent->has_needs ? parent : request;
    const struct command_rule *other = parent->has_needs && request->has_needs ? request : NULL;
    int r = 0;

    for (size_t i = 0; i < from->n_needs && r == 0; i++)
        if (!other || has_need(other, from->needs[i]))
            r = command_rule_need(out, from->needs[i], err);
    return r;
}

static int narrow_rule(const struct command_rule *parent, const struct command_rule *request,
                       struct command_rules *out, coop_error **err)
{
    struct command_rule *rule = NULL;
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
    if (r == 0)
        r = meet_needs(parent, request, rule, err);
    if (r < 0)
        return r;
    rule->has_allowed = parent->has_allowed || request->has_allowed;
    rule->has_needs = parent->has_needs || request->has_needs;
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

/* A command that only the child allows, and the child's pattern that allows it. */
struct example {
    struct command_shape shape;
    struct command_shape allowing;
};

/* What the child allows by `shape`, but for what it blocks itself, against the parent's lists. */
static bool shape_is_within(const struct prepared *child, const struct prepared *parent,
                            const struct command_shape *shape, struct example *out)
{
    out->allowing = *shape;
    out->shape = *shape;
    if (is_blocked(child, shape))
        return true;
    if (!is_allowed(parent, shape))
        return false;
    for (size_t i = 0; i < parent->rule->n_blocked; i++)
        if (command_shape_meet(child->program, shape, &parent->blocked[i], &out->shape) &&
            !is_blocked(child, &out->shape))
            return false;
    return true;
}

/* Without a parent nothing is. */
static bool rule_is_within(const struct prepared *child, const struct prepared *parent,
                           struct example *out)
{
    const struct command_shape everything = { .n_words = 0 };

    if (!child->rule->has_allowed) {
        out->shape = out->allowing = everything;
        return parent && shape_is_within(child, parent, &everything, out);
    }
    for (size_t i = 0; i < child->rule->n_allowed; i++) {
        out->shape = out->allowing = child->allowed[i];
        if (parent ? !shape_is_within(child, parent, &child->allowed[i], out)
                   : !is_blocked(child, &child->allowed[i]))
            return false;
    }
    return true;
}

/*
 * A sub-command for an example that has none, or only the group of one: any that the child does not
 * block and the parent does not allow. git is asked for something that is surely its own.
 */
static void add_example_word(const struct prepared *child, const struct prepared *parent,
                             struct command_shape *shape)
{
    static const char *const any[] = { "any-sub-command", NULL };
    const struct command_program *known = command_program_find(child->program);
    const char *const *names =
        known && known->commands && shape->n_words == 0 ? known->commands : any;

    for (; *names; names++) {
        struct command_shape tried = *shape;

        memcpy(tried.words[tried.n_words++], *names, strlen(*names) + 1);
        command_shape_respell(child->program, *names, &tried);
        if (is_blocked(child, &tried) ||
            (parent && is_allowed(parent, &tried) && !is_blocked(parent, &tried)))
            continue;
        *shape = tried;
        return;
    }
}

/* Flags that allow it stand first: behind another one, a flag may be taken for its value. */
static int print_example(const struct prepared *child, struct example *example, char **out,
                         coop_error **err)
{
    auto_buffer struct buffer text = { 0 };
    const struct command_shape *shape = &example->shape;
    struct command_shape first = *shape;
    struct command_shape rest = { .n_words = 0 };

    const char *command = command_shape_command(child->program, shape);
    if (command)
        command_shape_respell(child->program, command, &example->allowing);
    first.n_flags = 0;
    for (size_t i = 0; i < shape->n_flags; i++) {
        const struct command_flag *flag = &shape->flags[i];
        bool is_first = false;

        for (size_t k = 0; k < example->allowing.n_flags; k++)
            is_first = is_first || (strcmp(flag->name, example->allowing.flags[k].name) == 0 &&
                                    flag->letter == example->allowing.flags[k].letter);
        if (is_first)
            first.flags[first.n_flags++] = *flag;
        else
            rest.flags[rest.n_flags++] = *flag;
    }
    buffer_printf(&text, "%s%s", child->rule->name, first.n_words + first.n_flags > 0 ? " " : "");
    command_shape_print(&first, &text);
    buffer_append_string(&text, rest.n_flags > 0 ? " " : "");
    command_shape_print(&rest, &text);
    *out = buffer_take_string(&text);
    return *out ? 0 : fail_no_memory(err);
}

int command_rules_is_within(const struct command_rules *child, const struct command_rules *parent,
                            char **counter, coop_error **err)
{
    for (size_t i = 0; i < child->n; i++) {
        const struct command_rule *wider = command_rules_find(parent, child->items[i].name);
        auto_prepared struct prepared a = { 0 };
        auto_prepared struct prepared b = { 0 };
        struct example example;
        int r = prepare(&child->items[i], &a, err);

        if (r == 0 && wider)
            r = prepare(wider, &b, err);
        if (r < 0)
            return r;
        if (rule_is_within(&a, wider ? &b : NULL, &example))
            continue;
        if (!command_shape_command(a.program, &example.shape))
            add_example_word(&a, wider ? &b : NULL, &example.shape);
        return print_example(&a, &example, counter, err);
    }
    return 1;
}
