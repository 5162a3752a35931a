/*
 * protect.h - names in a workspace that a command may not read, or may not write
 *
 *   protect_new() -> the sets below, asked by whoever walks a tree or resolves a path -> protect_free()
 *
 * Two questions that do not meddle with each other: may it be read (rules that hide), may it be
 * written (rules that keep)? For each, the most specific rule that matches decides, the later one of
 * equals; a rule that shows is an exception to both. A rule that hides a directory, or keeps one, is
 * about everything in it.
 *
 * The built-in rules are made for names that usually hold secrets, and projects have files with such
 * names that hold none. So they have conditions, and they hold neither in dependency trees, which are
 * other people's files and must stay removable, nor in git directories, where a branch may be called
 * anything. A rule that somebody wrote has no conditions and holds everywhere. Where the condition of
 * a built-in rule fails, the rules that somebody wrote decide.
 *
 * Pure: content is handed in, never read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/finding.h"
#include "coop/error.h"
#include "coop/policy.h"
#include "policy/glob_set.h"

/* Conditions. A rule with several needs all of them. */
#define PROTECT_FILES_ONLY  1u /* regular files: `.env` is often the directory of an environment */
#define PROTECT_NOT_SOURCE  2u /* not for source text, assets, programs and what is built of them */
#define PROTECT_PRIVATE_KEY 4u /* only where a private key is inside: certificates stay */
#define PROTECT_NOT_PUBLIC  8u /* not where nothing but a public key or a certificate is inside */
#define PROTECT_GIT_CONFIG  16u /* a git configuration: commands read it, without its credentials */

/* How much of a file the conditions look at. Of what is larger, the rest counts as secret. */
#define PROTECT_CONTENT_MAX ((size_t)1 << 20)

struct protect_rule {
    const char *pattern;
    coop_protect action;
    unsigned conditions;
    struct origin origin;
};

struct protect {
    struct protect_rule *rules; /* glob_rule.action is an index into them */
    size_t n_rules;
    bool ignore_case;
    struct glob_set *hide;     /* rules that hide or show */
    struct glob_set *hide_own; /* of those, the ones that are not built in; NULL: none */
    struct glob_set *keep;     /* rules that keep or show */
    struct glob_set *git;      /* in a git directory, what is kept; NULL: the defaults are lifted */
    const struct protect_rule *git_rules;
};

/* *out is NULL where the policy protects nothing. */
int protect_new(const coop_policy *policy, struct protect **out, coop_error **err);
void protect_free(struct protect *protect); /* NULL is fine */

/* What the rule says, by index as the sets give it. */
static inline const struct protect_rule *protect_rule_of(const struct protect *protect,
                                                         const struct glob_rule *rule)
{
    return rule ? &protect->rules[rule->action] : NULL;
}

/* Checks a pattern without keeping it. */
int protect_check_pattern(const char *pattern, coop_error **err);

/* Directories of other people's files, by name: node_modules, site-packages ... */
bool protect_is_dependencies(const char *name, size_t length);

/* Whether the conditions hold as far as the name tells. */
bool protect_name_applies(unsigned conditions, const char *name, size_t length);
/* Whether the content matters; if not, it need not be read. */
bool protect_needs_content(unsigned conditions);
/* Whether they hold for this content; `is_whole`: there is no more of it. */
bool protect_content_applies(unsigned conditions, const char *bytes, size_t n, bool is_whole);

/* The built-in rules, and those for a git directory, relative to it. */
extern const struct protect_rule protect_defaults[];
extern const size_t protect_n_defaults;
extern const struct protect_rule protect_git_defaults[];
extern const size_t protect_n_git_defaults;
