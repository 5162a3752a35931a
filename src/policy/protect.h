/*
 * protect.h - names in a workspace that a command may not read, or may not write
 *
 *   protect_new() -> protect_hides(), protect_keeps() ... by whoever walks a tree -> protect_free()
 *
 * Two questions that do not meddle with each other: may it be read (rules that hide), may it be
 * written (rules that keep)? For each, the most specific rule that matches decides, the later one of
 * equals; a rule that shows is an exception to both, a built-in one only to rules that hide. A rule that
 * hides a directory, or keeps one, is about everything in it, and no exception inside undoes that.
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

/* Conditions. A rule with several needs all of them. */
#define PROTECT_FILES_ONLY    1u /* regular files: `.env` is often the directory of an environment */
#define PROTECT_NOT_SOURCE    2u /* not for source text, assets, programs and what is built of them */
#define PROTECT_PRIVATE_KEY   4u /* only where a private key is inside: certificates stay */
#define PROTECT_NOT_PUBLIC    8u /* not where nothing but a public key or a certificate is inside */
#define PROTECT_GIT_COMMONDIR 32u /* of a linked worktree: it says "../.." and nothing else */
#define PROTECT_CREDENTIAL    64u /* only where a key or a token is recognised: secret_content.h */
#define PROTECT_GIT_CONFIG    16u /* a git configuration: commands read it, without its credentials */

/* How much of a file the conditions look at. Of what is larger, the rest counts as secret. */
#define PROTECT_CONTENT_MAX ((size_t)1 << 20)

struct protect_rule {
    const char *pattern;
    coop_protect action;
    unsigned conditions;
    struct origin origin;
};

struct protect;

/* *out is NULL where the policy protects nothing. Borrows the policy's texts. */
int protect_new(const coop_policy *policy, struct protect **out, coop_error **err);
void protect_free(struct protect *protect); /* NULL is fine */

/* Whether the policy protects anything. */
bool protect_is_wanted(const coop_policy *policy);

/* Checks a pattern without keeping it. */
int protect_check_pattern(const char *pattern, bool ignore_case, coop_error **err);

size_t protect_n_rules(const struct protect *protect);
const struct protect_rule *protect_rule(const struct protect *protect, size_t i);
bool protect_ignores_case(const struct protect *protect);
/* The file system does, so the rules must. Before anything else is asked. */
void protect_ignore_case(struct protect *protect);
bool protect_has_defaults(const struct protect *protect);
bool protect_has_exceptions(const struct protect *protect); /* that somebody made */

/* Exceptions that somebody made, by growing weight; and how many of them the rule `i` outweighs. */
size_t protect_n_exceptions(struct protect *protect);
const struct protect_rule *protect_exception(struct protect *protect, size_t i);
size_t protect_n_outweighed(struct protect *protect, size_t i);

/* What the policy blocks in the workspace, which the box sees at `view`: rules that hide, whose patterns
 * are the very paths there. No name is decided by them, but other names of the same files are. */
int protect_take_blocks(struct protect *protect, const coop_policy *policy, const char *view,
                        coop_error **err);
size_t protect_n_blocks(const struct protect *protect);
const struct protect_rule *protect_block(const struct protect *protect, size_t i);

/*
 * For those who walk. A name is looked at first: a few comparisons tell that no rule is about it,
 * whatever the directory, and most names end here. Patterns are compiled when first needed, so
 * whoever asks must be the only one.
 */
bool protect_concerns_name(const struct protect *protect, const char *name, size_t length);

/* Which rules to ask. */
enum protect_scope {
    PROTECT_ALL,
    PROTECT_OWN /* those that are not built in: dependency trees, git directories */
};

/* The rule that hides `path`, the rule that keeps it; NULL: none does. As for glob_match(). */
const struct protect_rule *protect_hides(struct protect *protect, const char *path,
                                         bool is_directory, enum protect_scope scope);
const struct protect_rule *protect_keeps(struct protect *protect, const char *path,
                                         bool is_directory);
/* Whether an exception stands for it: not even what is found in a git directory is kept there. */
bool protect_shows(struct protect *protect, const char *path, bool is_directory);

/* Whether a rule may be about something below the directory. */
bool protect_may_apply_below(struct protect *protect, const char *directory,
                             enum protect_scope scope);

/* The built-in rule that keeps `path` of a git directory, relative to it. */
const struct protect_rule *protect_keeps_in_git(struct protect *protect, const char *path,
                                                bool is_directory);
bool protect_may_keep_below_in_git(struct protect *protect, const char *directory);

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
extern const struct protect_rule protect_git_names[];
extern const size_t protect_n_git_names;
extern const struct protect_rule protect_git_anywhere[];
extern const size_t protect_n_git_anywhere;
/*
 * Files that only their owner may read, whatever they are called, where a key or a token is recognised in
 * them. Looked for where a look at every file's mode is not too dear: in mounts beside the workspace, and
 * in directories whose names begin with a dot.
 */
extern const struct protect_rule protect_private;
/* For the file at a path from the root of the tree. */
bool protect_looks_at_modes(const struct protect *protect, const char *path, bool is_beside);
/* Whether an exception, built in or not, is for the path of a file. */
bool protect_excepts(struct protect *protect, const char *path);

/* In a repository that nobody knows yet: git executes no file with such a name. */
#define PROTECT_GIT_SAMPLES "**/.git/hooks/*.sample"
