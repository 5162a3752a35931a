#include "rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/printable.h"
#include "command/pattern.h"

enum { PATTERNS_MAX = 256, RULES_MAX = 10000, NAME_MAX_LENGTH = 255 };

/* ---- life */

static void clear_patterns(struct command_pattern **patterns, size_t *n)
{
    for (size_t i = 0; i < *n; i++)
        free((*patterns)[i].text);
    free(*patterns);
    *patterns = NULL;
    *n = 0;
}

void command_rule_clear_allowed(struct command_rule *rule)
{
    clear_patterns(&rule->allowed, &rule->n_allowed);
    rule->has_allowed = false;
}

void command_rule_clear_blocked(struct command_rule *rule)
{
    clear_patterns(&rule->blocked, &rule->n_blocked);
}

static void rule_done(struct command_rule *rule)
{
    command_rule_clear_allowed(rule);
    command_rule_clear_blocked(rule);
    for (size_t i = 0; i < rule->n_needs; i++)
        free(rule->needs[i]);
    free(rule->needs);
    free(rule->name);
    free(rule->description);
}

void command_rules_done(struct command_rules *rules)
{
    for (size_t i = 0; i < rules->n; i++)
        rule_done(&rules->items[i]);
    free(rules->items);
    *rules = (struct command_rules){ 0 };
}

/* ---- rules */

static int bad(coop_error **err, const char *what, const char *text, const char *why)
{
    auto_buffer struct buffer shown = { 0 };

    printable_append(&shown, text, strnlen(text, 80));
    return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "the %s '%s' %s", what,
                     shown.data ? shown.data : "", why);
}

static const char *name_fault(const char *name)
{
    size_t n = strlen(name);

    if (n == 0)
        return "is empty";
    if (n > NAME_MAX_LENGTH)
        return "is too long";
    if (name[0] == '-')
        return "begins with '-'";
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7F || strchr("\"'$`\\;&|<>()*?", *c))
            return "is no name of a program: it holds a blank or a character of the shell's";
    return NULL;
}

struct command_rule *command_rules_find(const struct command_rules *rules, const char *name)
{
    for (size_t i = 0; i < rules->n; i++)
        if (strcmp(rules->items[i].name, name) == 0)
            return &rules->items[i];
    return NULL;
}

void command_rules_remove(struct command_rules *rules, const char *name)
{
    struct command_rule *rule = command_rules_find(rules, name);

    if (!rule)
        return;
    rule_done(rule);
    *rule = rules->items[--rules->n];
}

int command_rules_add(struct command_rules *rules, const char *name, struct origin origin,
                      struct command_rule **out, coop_error **err)
{
    struct command_rule *rule = command_rules_find(rules, name);
    const char *fault = name_fault(name);

    if (fault)
        return bad(err, "command", name, fault);
    if (!rule) {
        if (rules->n == RULES_MAX)
            return bad(err, "command", name, "is one too many");
        struct command_rule *more = realloc(rules->items, (rules->n + 1) * sizeof *more);
        if (!more)
            return fail_no_memory(err);
        rules->items = more;
        rule = &more[rules->n];
        *rule = (struct command_rule){ .name = strdup(name) };
        if (!rule->name)
            return fail_no_memory(err);
        rules->n++;
    }
    rule->origin = origin;
    *out = rule;
    return 0;
}

int command_rule_describe(struct command_rule *rule, const char *description, coop_error **err)
{
    char *copy = strdup(description);

    if (!copy)
        return fail_no_memory(err);
    free(rule->description);
    rule->description = copy;
    return 0;
}

/* One that is there already is there. */
static int append_pattern(struct command_pattern **patterns, size_t *n, const char *text,
                          struct origin origin, coop_error **err)
{
    for (size_t i = 0; i < *n; i++)
        if (strcmp((*patterns)[i].text, text) == 0)
            return 0;
    if (*n == PATTERNS_MAX)
        return bad(err, "sub-command", text, "is one too many");
    struct command_pattern *more = realloc(*patterns, (*n + 1) * sizeof *more);
    if (!more)
        return fail_no_memory(err);
    *patterns = more;
    more[*n] = (struct command_pattern){ .text = strdup(text), .origin = origin };
    if (!more[*n].text)
        return fail_no_memory(err);
    (*n)++;
    return 0;
}

/* The pattern, and what it holds that is kept elsewhere: with "image" of docker "buildx build". */
static int add_pattern(const char *name, struct command_pattern **patterns, size_t *n,
                       const char *text, struct origin origin, coop_error **err)
{
    const char *program = command_program_name(name);
    struct command_shape shape;
    struct command_shape other;
    const char *fault = command_shape_read(program, text, &shape);

    if (fault)
        return bad(err, "sub-command", text, fault);
    int r = append_pattern(patterns, n, text, origin, err);
    for (size_t i = 0; r == 0 && command_shape_elsewhere(program, &shape, i, &other); i++) {
        auto_buffer struct buffer moved = { 0 };

        command_shape_print(&other, &moved);
        r = moved.failed ? fail_no_memory(err)
                         : append_pattern(patterns, n, moved.data, origin, err);
    }
    return r;
}

int command_rule_allow(struct command_rule *rule, const char *pattern, struct origin origin,
                       coop_error **err)
{
    int r = add_pattern(rule->name, &rule->allowed, &rule->n_allowed, pattern, origin, err);

    if (r == 0)
        rule->has_allowed = true;
    return r;
}

int command_rule_block(struct command_rule *rule, const char *pattern, struct origin origin,
                       coop_error **err)
{
    return add_pattern(rule->name, &rule->blocked, &rule->n_blocked, pattern, origin, err);
}

int command_rule_need(struct command_rule *rule, const char *need, coop_error **err)
{
    const char *fault = *need == '/' ? NULL : name_fault(need);

    if (*need != '/' && strchr(need, '/'))
        fault = "is a relative path: name a program, or an absolute path";
    if (fault)
        return bad(err, "need", need, fault);
    if (rule->n_needs == PATTERNS_MAX)
        return bad(err, "need", need, "is one too many");
    for (size_t i = 0; i < rule->n_needs; i++)
        if (strcmp(rule->needs[i], need) == 0)
            return 0;
    char **more = realloc(rule->needs, (rule->n_needs + 1) * sizeof *more);
    if (!more)
        return fail_no_memory(err);
    rule->needs = more;
    more[rule->n_needs] = strdup(need);
    if (!more[rule->n_needs])
        return fail_no_memory(err);
    rule->n_needs++;
    rule->has_needs = true;
    return 0;
}

static int copy_rule(const struct command_rule *from, struct command_rules *to, coop_error **err)
{
    struct command_rule *rule = NULL;
    int r = command_rules_add(to, from->name, from->origin, &rule, err);

    if (r == 0 && from->description)
        r = command_rule_describe(rule, from->description, err);
    for (size_t i = 0; i < from->n_allowed && r == 0; i++)
        r = command_rule_allow(rule, from->allowed[i].text, from->allowed[i].origin, err);
    for (size_t i = 0; i < from->n_blocked && r == 0; i++)
        r = command_rule_block(rule, from->blocked[i].text, from->blocked[i].origin, err);
    for (size_t i = 0; i < from->n_needs && r == 0; i++)
        r = command_rule_need(rule, from->needs[i], err);
    if (r < 0)
        return r;
    rule->has_allowed = from->has_allowed;
    rule->has_needs = from->has_needs;
    rule->manifest = from->manifest;
    return 0;
}

int command_rules_copy(const struct command_rules *from, struct command_rules *to, coop_error **err)
{
    auto_command_rules struct command_rules copy = { 0 };

    for (size_t i = 0; i < from->n; i++) {
        int r = copy_rule(&from->items[i], &copy, err);
        if (r < 0)
            return r;
    }
    *to = copy;
    copy = (struct command_rules){ 0 };
    return 0;
}

/* ---- what is built in */

static const struct {
    const char *name;
    const char *description;
    const char *blocked[3];
} defaults[] = {
    { "fest", "Festival CLI", { NULL } },
    { "camp", "Campaign CLI", { NULL } },
    { "just", "Task runner", { NULL } },
    { "git", "Version control", { "push --force", "reset --hard", "clean -fd" } },
};

int command_rules_defaults(struct command_rules *rules, coop_error **err)
{
    const struct origin built_in = { NULL, 0, 0 };

    for (size_t i = 0; i < COUNT(defaults); i++) {
        struct command_rule *rule = NULL;
        int r = command_rules_add(rules, defaults[i].name, built_in, &rule, err);

        if (r == 0)
            r = command_rule_describe(rule, defaults[i].description, err);
        for (size_t k = 0; k < COUNT(defaults[i].blocked) && defaults[i].blocked[k] && r == 0; k++)
            r = command_rule_block(rule, defaults[i].blocked[k], built_in, err);
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- check */

static void check_blocked(const struct command_rule *rule, const struct command_pattern *blocked,
                          struct findings *findings)
{
    const char *program = command_program_name(rule->name);
    struct command_shape shape;
    struct command_shape other;
    bool is_reached = !rule->has_allowed;

    if (command_shape_read(program, blocked->text, &shape))
        return;
    for (size_t i = 0; i < rule->n_allowed; i++) {
        if (command_shape_read(program, rule->allowed[i].text, &other))
            continue;
        if (command_shape_covers(program, &shape, &other))
            findings_add(findings, SEVERITY_ERROR, rule->allowed[i].origin, "remove one of the two",
                         "'%s %s' is allowed and, as '%s', blocked", rule->name,
                         rule->allowed[i].text, blocked->text);
        is_reached = is_reached || command_shape_meet(program, &shape, &other, &other);
    }
    if (!is_reached)
        findings_add(findings, SEVERITY_INFO, blocked->origin, "remove it",
                     "'%s %s' need not be blocked: it is not among the allowed sub-commands",
                     rule->name, blocked->text);
}

void command_rules_check(const struct command_rules *rules, struct findings *findings)
{
    for (size_t i = 0; i < rules->n; i++) {
        const struct command_rule *rule = &rules->items[i];

        if (rule->has_allowed && rule->n_allowed == 0)
            findings_add(findings, SEVERITY_WARNING, rule->origin,
                         "list what is allowed, or remove the command",
                         "the command '%s' is listed, but none of its sub-commands is allowed",
                         rule->name);
        for (size_t k = 0; k < rule->n_blocked; k++)
            check_blocked(rule, &rule->blocked[k], findings);
    }
}
