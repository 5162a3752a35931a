/*
 * check_protect.c - patterns that contradict each other, or change nothing
 *
 * Whether one pattern covers another cannot be told in general. So each is turned into a path that it
 * matches, and the rules are asked about that path: what they say of it is true, and where the
 * pattern holds no wildcard it is all there is to say.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "glob/glob.h"
#include "policy/check.h"
#include "policy/protect.h"

#define COMPARED_MAX 2000 /* rules: each is asked about each */

/* ---- given twice */

static int by_pattern(const void *a, const void *b)
{
    const struct policy_protect *const *x = a;
    const struct policy_protect *const *y = b;
    int order = strcmp((*x)->pattern, (*y)->pattern);

    return order ? order : (*x > *y) - (*x < *y);
}

static const char *const list_names[] = {
    [COOP_PROTECT_SHOW] = "protect.allow",
    [COOP_PROTECT_HIDE] = "protect.deny",
    [COOP_PROTECT_KEEP] = "protect.no_write",
};

static void check_pair(const struct policy_protect *one, const struct policy_protect *two,
                       struct findings *findings)
{
    if (one->action == two->action)
        findings_add(findings, SEVERITY_WARNING, two->origin, "remove one of them",
                     "'%s' is twice in %s, first on line %u", two->pattern, list_names[two->action],
                     one->origin.line);
    else if (one->action == COOP_PROTECT_SHOW || two->action == COOP_PROTECT_SHOW)
        findings_add(findings, SEVERITY_ERROR, two->origin, "remove one of the two",
                     "'%s' is in %s and, on line %u, in %s", two->pattern, list_names[two->action],
                     one->origin.line, list_names[one->action]);
    else
        findings_add(findings, SEVERITY_WARNING, two->origin, "remove it from protect.no_write",
                     "'%s' is in %s and, on line %u, in %s: what is hidden cannot be written",
                     two->pattern, list_names[two->action], one->origin.line,
                     list_names[one->action]);
}

static void check_twice(const coop_policy *policy, struct findings *findings)
{
    auto_free const struct policy_protect **sorted = calloc(policy->n_protects + 1, sizeof *sorted);

    if (!sorted) {
        findings->failed = true;
        return;
    }
    for (size_t i = 0; i < policy->n_protects; i++)
        sorted[i] = &policy->protects[i];
    qsort(sorted, policy->n_protects, sizeof *sorted, by_pattern);
    for (size_t i = 1; i < policy->n_protects; i++)
        if (strcmp(sorted[i - 1]->pattern, sorted[i]->pattern) == 0)
            check_pair(sorted[i - 1], sorted[i], findings);
}

/* ---- a path that a pattern matches */

/* `out` is as long as the pattern. */
static void write_sample(const char *pattern, char *out)
{
    size_t n = 0;

    for (const char *p = pattern; *p;) {
        if (strncmp(p, "**/", 3) == 0 && (p == pattern || p[-1] == '/')) {
            p += 3;
        } else if (*p == '*') {
            out[n++] = 'x';
            p += strspn(p, "*");
        } else if (*p == '?') {
            out[n++] = 'x';
            p++;
        } else if (*p == '[') {
            out[n++] = p[1] == '!' || p[1] == '^' ? 'x' : p[1];
            p += strcspn(p, "]");
            p += *p == ']';
        } else {
            p += *p == '\\' && p[1];
            out[n++] = *p++;
        }
    }
    while (n > 0 && out[n - 1] == '/')
        n--;
    out[n] = '\0';
}

/* NULL: none was found. */
static char *sample_of(const struct policy_protect *rule, bool ignore_case)
{
    auto_findings struct findings findings = { 0 };
    const char *pattern = rule->pattern + strspn(rule->pattern, "/");
    char *path = malloc(strlen(pattern) + 1);
    struct glob *glob =
        glob_new(rule->pattern, strlen(rule->pattern), ignore_case, rule->origin, &findings);

    if (path && glob) {
        write_sample(pattern, path);
        if (!glob_match(glob, path, false) && !glob_match(glob, path, true)) {
            free(path);
            path = NULL;
        }
    }
    glob_free(glob);
    return path;
}

/* The rule that hides a directory around the path; NULL: none does. */
static const struct protect_rule *hidden_around(struct protect *protect, char *path)
{
    for (char *slash = path; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        const struct protect_rule *rule = protect_hides(protect, path, true, PROTECT_OWN);
        *slash = '/';
        if (rule)
            return rule;
    }
    return NULL;
}

static bool is_said_of(struct protect *protect, const char *path)
{
    for (int is_directory = 0; is_directory < 2; is_directory++) {
        const struct protect_rule *hides = protect_hides(protect, path, is_directory, PROTECT_ALL);

        if (hides && !(hides->conditions & PROTECT_FILES_ONLY && is_directory))
            return true;
    }
    return protect_keeps(protect, path, false) || protect_keeps(protect, path, true);
}

static void check_rule(struct protect *protect, const struct policy_protect *rule, bool ignore_case,
                       struct findings *findings)
{
    auto_free char *path = sample_of(rule, ignore_case);
    const struct protect_rule *outer = path ? hidden_around(protect, path) : NULL;

    if (outer && strcmp(outer->pattern, rule->pattern) != 0)
        findings_add(findings, SEVERITY_WARNING, rule->origin,
                     rule->action == COOP_PROTECT_SHOW
                         ? "deny what is in the directory, as in 'keys/*', not the directory itself"
                         : "remove it",
                     "'%s' in %s changes nothing: '%s' (line %u) hides the directory around it",
                     rule->pattern, list_names[rule->action], outer->pattern, outer->origin.line);
    else if (path && rule->action == COOP_PROTECT_SHOW && is_said_of(protect, path))
        findings_add(
            findings, SEVERITY_WARNING, rule->origin, "write a more specific pattern",
            "'%s' in protect.allow does not help '%s': a more specific pattern protects it",
            rule->pattern, path);
}

void check_protect(const coop_policy *policy, struct findings *findings)
{
    auto_error coop_error *err = NULL;
    struct protect *protect = NULL;

    check_twice(policy, findings);
    if (policy->n_protects > COMPARED_MAX) {
        findings_add(findings, SEVERITY_INFO, policy->protects[0].origin, NULL,
                     "%zu patterns are too many to be compared with each other",
                     policy->n_protects);
        return;
    }
    if (protect_new(policy, &protect, &err) < 0) {
        findings->failed = true;
        return;
    }
    for (size_t i = 0; i < policy->n_protects; i++)
        check_rule(protect, &policy->protects[i], policy->protect_ignore_case, findings);
    protect_free(protect);
}
