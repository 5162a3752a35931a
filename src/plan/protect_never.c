/*
 * protect_never.c - what nobody inside may write or make, whether it is there or not
 *
 * The rules that keep, and for each git directory that the scan found inside the tree the same as for
 * the tree's own: not for any that could be there, or nobody could clone a repository inside.
 */
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "plan/protect_private.h"

static void add(struct plan *plan, const char *root, const char *pattern,
                const struct protect_rule *rule)
{
    plan_never_add(plan, &(struct plan_never){ .root = root,
                                               .pattern = pattern,
                                               .origin = rule->origin,
                                               .has_gate = rule->conditions & PROTECT_GIT_CONFIG });
}

/* A path of the tree as a pattern for itself, and what follows it. */
static const char *literal(struct plan *plan, const char *path, const char *rest)
{
    auto_buffer struct buffer text = { 0 };

    for (; *path; path++) {
        if (strchr("*?[]\\", *path))
            buffer_append_char(&text, '\\');
        buffer_append_char(&text, *path);
    }
    buffer_append_string(&text, rest);
    plan->failed |= text.failed;
    return text.failed ? NULL : plan_copy(plan, text.data);
}

static bool has_wildcard(const char *pattern)
{
    return strpbrk(pattern, "*?[\\") != NULL;
}

/* An exception that somebody made for just this. */
static bool is_excepted(struct protect *rules, const char *pattern)
{
    return protect_has_exceptions(rules) && !has_wildcard(pattern) &&
           !protect_keeps(rules, pattern, false) && !protect_keeps(rules, pattern, true);
}

static void add_git_directory(struct plan *plan, struct protect *rules, const char *root,
                              const char *directory)
{
    for (size_t i = 0; i < protect_n_git_defaults; i++) {
        const struct protect_rule *rule = &protect_git_defaults[i];
        const char *rest = plan_text(plan, "/%s", rule->pattern);
        const char *path = plan_text(plan, "%s/%s", directory, rule->pattern);
        const char *pattern = rest ? literal(plan, directory, rest) : NULL;

        if (pattern && path && !protect_shows(rules, path, true))
            add(plan, root, pattern, rule);
    }
}

void protect_never(struct plan *plan, struct protect *rules, const struct protect_scan *scan,
                   const char *root, int root_fd)
{
    for (size_t i = 0; i < protect_n_rules(rules); i++) {
        const struct protect_rule *rule = protect_rule(rules, i);

        if (rule->action == COOP_PROTECT_KEEP && !is_excepted(rules, rule->pattern))
            add(plan, root, rule->pattern, rule);
    }
    for (size_t i = 0; i < scan->n_git_directories; i++)
        add_git_directory(plan, rules, root, scan->git_directories[i]);
    for (size_t i = 0; i < scan->n_found; i++) {
        const struct protect_found *found = &scan->found[i];
        const char *pattern = found->is_gitfile ? literal(plan, found->path, "") : NULL;

        if (pattern)
            add(plan, root, pattern, found->rule);
    }
    if (plan->n_never > 0)
        plan_never_root(plan, root, root_fd);
}

void protect_never_in_git(struct plan *plan, const char *root, int root_fd)
{
    for (size_t i = 0; i < protect_n_git_defaults; i++)
        add(plan, root, protect_git_defaults[i].pattern, &protect_git_defaults[i]);
    plan_never_root(plan, root, root_fd);
}
