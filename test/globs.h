/*
 * globs.h - what the tests of patterns share
 */
#pragma once

#include <stdint.h>

#include "base/cleanup.h"
#include "policy/glob.h"
#include "policy/glob_set.h"
#include "test/check.h"

/* NULL, after a diagnostic line, if the pattern is wrong. */
static inline struct glob *compile(const char *pattern, bool ignore_case)
{
    auto_findings struct findings findings = { 0 };
    struct glob *glob =
        glob_new(pattern, strlen(pattern), ignore_case, (struct origin){ "t", 1, 1 }, &findings);

    if (!glob)
        printf("# '%s': %s\n", pattern, findings.n ? findings.items[0].message : "no memory");
    return glob;
}

#define MAX_RULES 16

/* From a list that ends with NULL; the action of a rule is its place in it. */
static inline struct glob_set *make_set(const char *const *patterns, bool ignore_case)
{
    auto_findings struct findings findings = { 0 };
    struct glob_rule rules[MAX_RULES];
    size_t n = 0;

    for (; patterns[n]; n++)
        rules[n] = (struct glob_rule){
            patterns[n], strlen(patterns[n]), (int)n, { "coop.toml", (unsigned)n + 1, 1 }
        };
    return glob_set_new(rules, n, ignore_case, &findings);
}

/* Walks down to `path` by names, as somebody reading directories does. */
static inline const struct glob_rule *walk_to(const struct glob_set *set, const char *path,
                                              bool is_directory)
{
    size_t n_words = glob_set_words(set);
    auto_free uint64_t *state = calloc(n_words, sizeof *state);
    auto_free uint64_t *child = calloc(n_words, sizeof *child);
    bool may_match = true;

    if (!state || !child)
        abort();
    glob_set_start(set, state);
    for (;;) {
        path += strspn(path, "/");
        size_t n = strcspn(path, "/");
        const char *rest = path + n + strspn(path + n, "/");
        if (*rest == '\0') {
            const struct glob_rule *rule = glob_set_decide_name(set, state, path, n, is_directory);

            if (rule && !may_match) {
                printf("# pruned, and '%s' matches\n", rule->pattern);
                abort();
            }
            return rule;
        }
        may_match = glob_set_enter(set, state, path, n, child);
        memcpy(state, child, n_words * sizeof *state);
        path = rest;
    }
}
