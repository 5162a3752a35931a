#include "write_rules.h"

#include <string.h>

#include "glob/pack.h"

#define MAX_DEPTH   64
#define MAX_ENTRIES 200000u

static const struct glob *pattern_at(const struct write_rules *rules, size_t i)
{
    return glob_packed(rules->patterns, i);
}

void write_rule_path_init(struct write_rule_path *out, const struct write_rules *rules,
                          const char *path)
{
    out->kind = WRITE_RULE_KIND_UNKNOWN;
    out->is_too_long =
        !glob_path_init(&out->names, path, rules->n > 0 && pattern_at(rules, 0)->ignore_case);
}

/* ---- one path */

bool write_rule_minds_kind(const struct write_rules *rules)
{
    size_t n = rules->exceptions ? glob_n_packed(rules->patterns) : rules->n;

    for (size_t i = 0; i < n; i++)
        if (pattern_at(rules, i)->only_directories)
            return true;
    return false;
}

/* Whether a pattern for directories only is one for the first `n` names; all but the last are. */
static bool is_for(const struct glob *glob, const struct write_rule_path *path, size_t n,
                   bool otherwise)
{
    if (!glob->only_directories || n < path->names.n)
        return true;
    return path->kind == WRITE_RULE_KIND_UNKNOWN ? otherwise
                                                 : path->kind == WRITE_RULE_KIND_DIRECTORY;
}

static bool is_lifted(const struct write_rules *rules, size_t i, const struct write_rule_path *path,
                      size_t n)
{
    struct glob_reach reach;

    for (size_t k = rules->exceptions[i].from; k < rules->exceptions[i].to; k++) {
        const struct glob *exception = pattern_at(rules, k);

        if (is_for(exception, path, n, false) &&
            glob_reach_exactly(exception, &path->names, n, &reach))
            return true;
    }
    return false;
}

static bool forbids(const struct write_rules *rules, size_t i, const struct write_rule_path *path,
                    struct glob_reach *reach)
{
    const struct glob *glob = pattern_at(rules, i);
    size_t n = 0;

    glob_reach_start(glob, reach);
    while (glob_reach_next(glob, &path->names, &n, reach))
        if (is_for(glob, path, n, true) && (!rules->exceptions || !is_lifted(rules, i, path, n)))
            return true;
    return false;
}

static bool is_meant(const struct write_rules *rules, size_t i, const struct glob_reach *reach)
{
    return glob_reach_is_meant(pattern_at(rules, i), reach, rules->n_root_names);
}

static bool concerns(const struct write_rules *rules, size_t i, const struct write_rule_path *path,
                     enum write_rule_act act)
{
    struct glob_reach reach;

    if (act == WRITE_RULE_ON_THE_WAY)
        return glob_path_is_literal_ancestor(pattern_at(rules, i), &path->names);
    bool is_forbidden = forbids(rules, i, path, &reach);
    return act == WRITE_RULE_LINK ? !is_forbidden && is_meant(rules, i, &reach) : is_forbidden;
}

int write_rule_find(const struct write_rules *rules, const struct write_rule_path *path,
                    enum write_rule_act act)
{
    for (size_t i = 0; i < rules->n; i++)
        if (path->is_too_long || concerns(rules, i, path, act))
            return (int)i;
    return WRITE_RULE_NONE;
}

static bool is_shown(const struct write_rules *rules, size_t i, const char *path)
{
    if (!rules->exceptions)
        return false;
    for (size_t k = rules->exceptions[i].from; k < rules->exceptions[i].to; k++)
        if (glob_match(pattern_at(rules, k), path, false))
            return true;
    return false;
}

int write_rule_of(const struct write_rules *rules, const char *path)
{
    for (size_t i = 0; i < rules->n; i++)
        if (glob_match(pattern_at(rules, i), path, true) && !is_shown(rules, i, path))
            return (int)i;
    return WRITE_RULE_NONE;
}

/* ---- two places */

/* Whether an exception may lift the rule below `there`, and would not below `here`. */
static bool loses_exception(const struct write_rule_move *move, size_t i)
{
    const struct write_rules *rules = move->rules;
    const struct glob_path *here = &move->here.names;
    const struct glob_path *there = &move->there.names;
    struct glob_reach from;
    struct glob_reach to;

    if (!rules->exceptions)
        return false;
    for (size_t k = rules->exceptions[i].from; k < rules->exceptions[i].to; k++) {
        const struct glob *exception = pattern_at(rules, k);

        (void)glob_reach_exactly(exception, there, there->n, &from);
        (void)glob_reach_exactly(exception, here, here->n, &to);
        if (!glob_reach_is_within(exception, &from, &to))
            return true;
    }
    return false;
}

static bool is_stricter(const struct write_rule_move *move, size_t i)
{
    const struct glob *glob = pattern_at(move->rules, i);
    struct glob_reach from;
    struct glob_reach to;

    if (forbids(move->rules, i, &move->here, &to))
        return true;
    if (forbids(move->rules, i, &move->there, &from))
        return false;
    return !glob_reach_is_within(glob, &to, &from) ||
           (glob_reach_goes_on(glob, &to) && loses_exception(move, i));
}

static bool prepare(struct write_rule_move *move)
{
    write_rule_path_init(&move->here, move->rules, move->path);
    write_rule_path_init(&move->there, move->rules, move->other);
    return !move->here.is_too_long && !move->there.is_too_long;
}

/* A pattern that may be about something below the one path and not below the other. */
static int first_stricter(struct write_rule_move *move)
{
    bool is_clear = prepare(move);

    for (size_t i = 0; i < move->rules->n; i++)
        if (!is_clear || is_stricter(move, i))
            return (int)i;
    return WRITE_RULE_NONE;
}

/* The rule about what would stand at `path`, but says nothing about `other`. */
static int judge(struct write_rule_move *move, bool is_link)
{
    struct glob_reach reach;

    if (!prepare(move))
        return move->unclear;
    for (size_t i = 0; i < move->rules->n; i++) {
        bool is_concerned = forbids(move->rules, i, &move->here, &reach) ||
                            (is_link && is_meant(move->rules, i, &reach));

        if (is_concerned && !forbids(move->rules, i, &move->there, &reach) &&
            !(is_link && is_meant(move->rules, i, &reach)))
            return (int)i;
    }
    return WRITE_RULE_NONE;
}

static bool set_paths(struct write_rule_move *move, const struct write_rules *rules,
                      const char *path, const char *other)
{
    size_t n = strlen(path);
    size_t other_n = strlen(other);

    move->rules = rules;
    move->n_entries = 0;
    if (n >= sizeof move->path || other_n >= sizeof move->other)
        return false;
    memcpy(move->path, path, n + 1);
    memcpy(move->other, other, other_n + 1);
    return true;
}

bool write_rule_is_stricter(struct write_rule_move *move, const struct write_rules *rules,
                            const char *path, const char *other)
{
    if (!set_paths(move, rules, path, other))
        return rules->n > 0;
    return first_stricter(move) != WRITE_RULE_NONE;
}

int write_rule_move_begin(struct write_rule_move *move, const struct write_rules *rules,
                          const char *path, const char *other, struct write_rule_place *out)
{
    if (!set_paths(move, rules, path, other))
        return rules->n > 0 ? 0 : WRITE_RULE_NONE;
    move->unclear = first_stricter(move);
    *out = (struct write_rule_place){ strlen(path), strlen(other), 0 };
    return move->unclear == WRITE_RULE_NONE ? WRITE_RULE_NONE : WRITE_RULE_LOOK_BELOW;
}

int write_rule_move_look(struct write_rule_move *move, const struct write_rule_place *place,
                         const char *name, enum write_rule_type type, struct write_rule_place *out)
{
    size_t n = strlen(name) + 1; /* with a slash, or a NUL */

    if (place->end + n + 1 > sizeof move->path || place->other_end + n + 1 > sizeof move->other ||
        ++move->n_entries > MAX_ENTRIES)
        return move->unclear;
    move->path[place->end] = move->other[place->other_end] = '/';
    memcpy(move->path + place->end + 1, name, n);
    memcpy(move->other + place->other_end + 1, name, n);
    int rule = judge(move, type == WRITE_RULE_SYMLINK);
    if (rule != WRITE_RULE_NONE || type != WRITE_RULE_DIRECTORY ||
        first_stricter(move) == WRITE_RULE_NONE)
        return rule;
    if (place->depth == MAX_DEPTH)
        return move->unclear;
    *out = (struct write_rule_place){ place->end + n, place->other_end + n, place->depth + 1 };
    return WRITE_RULE_LOOK_BELOW;
}
