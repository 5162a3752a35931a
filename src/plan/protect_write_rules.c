/*
 * protect_write_rules.c - what nobody inside may write or make, whether it is there or not
 *
 * The rules that keep, for each git directory that the scan found inside the tree the same as for
 * the tree's own, and for any .git that could be made as well: its configuration goes through the gate,
 * so repositories can be made and cloned inside.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "plan/protect_private.h"
#include "plan/root_view.h"
#include "policy/path/path.h"

/* Where rules are added: a tree, and which of the plan's exceptions hold there. */
struct tree {
    struct plan *plan;
    const char *root;
    size_t lifted_from, lifted_to;
};

static enum notify_review_kind gate_of(const struct protect_rule *rule)
{
    return rule->conditions & PROTECT_GIT_CONFIG      ? NOTIFY_GATE_CONFIG
           : rule->conditions & PROTECT_GIT_COMMONDIR ? NOTIFY_GATE_COMMONDIR
                                                      : NOTIFY_GATE_NONE;
}

/* `outweighs` as many of the exceptions. */
static void add(const struct tree *tree, const char *pattern, const struct protect_rule *rule,
                size_t outweighs)
{
    plan_write_rule_add(tree->plan,
                        &(struct plan_write_rule){ .root = tree->root,
                                                   .pattern = pattern,
                                                   .origin = rule->origin,
                                                   .gate = gate_of(rule),
                                                   .lifted_from = tree->lifted_from + outweighs,
                                                   .lifted_to = tree->lifted_to });
}

static void add_exceptions(struct tree *tree, struct protect *rules)
{
    size_t n = protect_n_exceptions(rules);

    tree->lifted_from = tree->plan->n_lifts;
    for (size_t i = 0; i < n; i++) {
        const struct protect_rule *rule = protect_exception(rules, i);

        plan_lift_add(tree->plan, &(struct plan_write_rule){ .root = tree->root,
                                                             .pattern = rule->pattern,
                                                             .origin = rule->origin });
    }
    tree->lifted_to = tree->plan->n_lifts;
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

/* A later rule takes the whole pattern back, word for word. */
static bool is_taken_back(const struct protect *rules, size_t i)
{
    for (size_t k = i + 1; k < protect_n_rules(rules); k++)
        if (protect_rule(rules, k)->action == COOP_PROTECT_SHOW &&
            strcmp(protect_rule(rules, k)->pattern, protect_rule(rules, i)->pattern) == 0)
            return true;
    return false;
}

/* An exception that somebody made for just this: then nothing is on the way to it either. */
static bool is_excepted(struct protect *rules, size_t i)
{
    const char *pattern = protect_rule(rules, i)->pattern;

    if (!protect_has_exceptions(rules))
        return false;
    if (has_wildcard(pattern))
        return is_taken_back(rules, i);
    return !protect_keeps(rules, pattern, false) && !protect_keeps(rules, pattern, true);
}

static void add_rules(const struct tree *tree, const char *before, const struct protect_rule *rules,
                      size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *pattern = plan_text(tree->plan, "%s%s", before, rules[i].pattern);

        if (pattern)
            add(tree, pattern, &rules[i], 0);
    }
}

/* There, any exception outweighs the rules. */
static void add_git_directory(const struct tree *tree, struct protect *rules, const char *directory)
{
    struct plan *plan = tree->plan;

    for (size_t i = 0; i < protect_n_git_defaults; i++) {
        const struct protect_rule *rule = &protect_git_defaults[i];
        const char *slash = *directory ? "/" : "";
        const char *rest = plan_text(plan, "%s%s", slash, rule->pattern);
        const char *path = plan_text(plan, "%s%s%s", directory, slash, rule->pattern);
        const char *pattern = rest ? literal(plan, directory, rest) : NULL;

        if (pattern && path && !protect_shows(rules, path, true))
            add(tree, pattern, rule, 0);
    }
    const char *before = *directory ? literal(plan, directory, "/") : "";
    if (before)
        add_rules(tree, before, protect_git_names, protect_n_git_names);
}

/* Git directories that nobody has made yet. Any exception outweighs these as well. */
static void add_any_git(struct tree *tree)
{
    plan_lift_add(tree->plan,
                  &(struct plan_write_rule){ .root = tree->root, .pattern = PROTECT_GIT_SAMPLES });
    tree->lifted_to++;
    add_rules(tree, "", protect_git_anywhere, protect_n_git_anywhere);
}

void protect_write_rules(struct plan *plan, struct protect *rules, const struct protect_scan *scan,
                         const char *root, int root_fd)
{
    struct tree tree = { plan, root, 0, 0 };

    add_exceptions(&tree, rules);
    for (size_t i = 0; i < protect_n_rules(rules); i++) {
        const struct protect_rule *rule = protect_rule(rules, i);

        if (rule->action == COOP_PROTECT_KEEP && !is_excepted(rules, i))
            add(&tree, rule->pattern, rule, protect_n_outweighed(rules, i));
    }
    for (size_t i = 0; i < scan->n_git_directories; i++)
        add_git_directory(&tree, rules, scan->git_directories[i]);
    for (size_t i = 0; i < scan->n_found; i++) {
        const struct protect_found *found = &scan->found[i];
        bool is_led_to = found->kind == FOUND_KEEP && strcmp(found->path, found->named) != 0;
        const char *pattern =
            found->is_gitfile || is_led_to ? literal(plan, found->path, "") : NULL;

        if (pattern)
            add(&tree, pattern, found->rule, is_led_to ? 0 : tree.lifted_to - tree.lifted_from);
    }
    for (size_t i = 0; i < scan->n_absent; i++) {
        static const struct protect_rule led = {
            "what git's configuration or hooks lead to", COOP_PROTECT_KEEP, 0, { NULL, 0, 0 }
        };
        const char *pattern = literal(plan, scan->absent[i], "");

        if (pattern)
            add(&tree, pattern, &led, 0);
    }
    if (protect_has_defaults(rules))
        add_any_git(&tree);
    if (plan->n_write_rules > 0)
        plan_write_root(plan, root, root_fd);
}

/* Where the box sees the mount, below the workspace's root; NULL: it is elsewhere. */
static const char *below_workspace(const struct plan *plan, const struct policy_mount *mount)
{
    const char *view = plan->workspace_view;
    size_t n = view[1] ? strlen(view) : 0;

    if (*mount->target != '/')
        return mount->target;
    return strncmp(mount->target, view, n) == 0 && mount->target[n] == '/' ? mount->target + n + 1
                                                                           : NULL;
}

/* Directories above: moved away, they would take what stands there along. */
static void hold_above(struct plan *plan, const char *path)
{
    for (const char *p = path + 1; (p = strchr(p, '/')); p++)
        plan_strings_add(plan, &plan->held, path, (size_t)(p - path));
}

void protect_write_rules_mounts(struct plan *plan)
{
    const char *view = plan->workspace_view;

    for (size_t i = 0; i < plan->policy->n_mounts; i++) {
        const struct policy_mount *mount = &plan->policy->mounts[i];
        const char *below = below_workspace(plan, mount);
        const char *pattern = below && *below ? literal(plan, below, "") : NULL;
        const char *path = pattern ? plan_text(plan, "%s/%s", view[1] ? view : "", below) : NULL;

        /* What a block names but is not there is nobody's secret: the box may make it. What coop
         * itself would obey is another matter. */
        if (!path ||
            (!mount->is_own && faccessat(plan->workspace_fd, below, F_OK, AT_SYMLINK_NOFOLLOW) < 0))
            continue;
        hold_above(plan, path);
        if (mount->kind != POLICY_BLOCK)
            continue;
        plan_write_rule_add(plan, &(struct plan_write_rule){
                                      .root = view, .pattern = pattern, .origin = mount->origin });
        plan_write_root(plan, view, plan->workspace_fd);
    }
}

bool protect_write_rules_own(struct plan *plan, const struct policy_mount *mount)
{
    size_t n = mount->target[1] ? strlen(mount->target) : 0;
    bool is_any = false;

    for (size_t i = 0; i < plan->policy->n_mounts; i++) {
        const struct policy_mount *block = &plan->policy->mounts[i];

        if (!block->is_own || !path_is_within(block->target, mount->target) || !block->target[n])
            continue;
        const char *pattern = literal(plan, block->target + n + 1, "");
        if (!pattern)
            return true;
        plan_write_rule_add(plan, &(struct plan_write_rule){ .root = mount->target,
                                                             .pattern = pattern,
                                                             .origin = block->origin });
        is_any = true;
    }
    return is_any;
}

void protect_write_rules_in_git(struct plan *plan, const char *root, int root_fd)
{
    struct tree tree = { plan, root, plan->n_lifts, plan->n_lifts };

    add_rules(&tree, "", protect_git_defaults, protect_n_git_defaults);
    add_rules(&tree, "", protect_git_names, protect_n_git_names);
    add_any_git(&tree);
    plan_write_root(plan, root, root_fd);
}
