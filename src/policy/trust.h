/*
 * trust.h - who somebody is, and how far they are trusted here
 *
 *   identity ("signal:+15555550101") -> trust_match() -> user or nobody
 *                                    -> trust_decide() with the group, if any -> level
 *   trust_meanings[level]            what that level may do
 *
 * Smaller is more trusted. A level is only ever raised by a ceiling (made less trusted): an owner in
 * a direct message stays owner, because a direct message has no ceiling; in a group the owner is
 * `familiar`, because others write there too.
 *
 * Everything is borrowed: users, patterns and names belong to whoever read the configuration.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/finding.h"
#include "coop/error.h"

enum trust { TRUST_OWNER, TRUST_FULL, TRUST_INNER, TRUST_FAMILIAR, TRUST_PUBLIC };
enum { TRUST_COUNT = TRUST_PUBLIC + 1 };

extern const char *const trust_names[]; /* by enum trust; NULL at the end */

int trust_parse(const char *text, enum trust *out, coop_error **err);

/* The less trusted of the two. */
static inline enum trust trust_resolve(enum trust user, enum trust ceiling)
{
    return user > ceiling ? user : ceiling;
}

enum trust_tools {
    TRUST_TOOLS_NONE,
    TRUST_TOOLS_READ_FILES,     /* the file tools that only read; no commands */
    TRUST_TOOLS_BASH_AND_FILES, /* commands, and the file tools that write too */
    TRUST_TOOLS_ALL
};
extern const char *const trust_tools_names[]; /* by enum trust_tools */

enum trust_store { TRUST_STORE_PRIVATE, TRUST_STORE_SHARED, TRUST_STORE_SOCIAL };
enum { TRUST_STORE_COUNT = TRUST_STORE_SOCIAL + 1 };
extern const char *const trust_store_names[]; /* by enum trust_store */

/* Holds whether or not the sandbox is enabled; with it disabled only the box is missing. */
struct trust_meaning {
    bool is_sandboxed; /* while the sandbox is enabled */
    enum trust_tools tools;
    bool sees[TRUST_STORE_COUNT];
    const char *summary; /* for `whoami` and refusals: "runs directly on the host" */
};
extern const struct trust_meaning trust_meanings[]; /* by enum trust */

static inline bool trust_may_run_commands(enum trust trust)
{
    return trust_meanings[trust].tools >= TRUST_TOOLS_BASH_AND_FILES;
}

/* ---- identities and patterns */

#define TRUST_TERMINAL     "terminal:default"
#define TRUST_IDENTITY_MAX 256 /* bytes */

/* "channel:id", neither empty, UTF-8 without control characters, at most TRUST_IDENTITY_MAX. */
int trust_identity_check(const char *identity, coop_error **err);

/* A whole identity, or the beginning of one with its channel complete and `*` behind it. */
int trust_pattern_check(const char *pattern, coop_error **err);

/* What is wrong with a name, as the end of a sentence ("is empty"); NULL: nothing. */
const char *trust_bad_text(const char *text);

struct trust_pattern {
    const char *text;
    struct origin origin;
};

struct trust_user {
    const char *name;
    enum trust trust;
    const struct trust_pattern *patterns;
    size_t n_patterns;
    struct origin origin;       /* of the entry */
    struct origin trust_origin; /* of its `trust` */
};

enum trust_match_kind { TRUST_MATCH_NONE, TRUST_MATCH_USER, TRUST_MATCH_AMBIGUOUS };

struct trust_match {
    enum trust_match_kind kind;
    const struct trust_user *user;
    const struct trust_pattern *pattern;
    const struct trust_user *other; /* ambiguous: who has the same pattern */
};

/* Exact beats `*`, a longer beginning beats a shorter one; what is still equal is one pattern
 * written twice, which is ambiguous when it belongs to different users. */
struct trust_match trust_match(const struct trust_user *users, size_t n, const char *identity);

/* ---- groups and the decision */

/* One line of [groups]: a group's name, or the beginning of names with `*`; "*" is every group. */
struct trust_group {
    const char *pattern;
    enum trust ceiling;
    struct origin origin;
};
#define TRUST_GROUP_CEILING TRUST_FAMILIAR /* of a group that no line names */

struct trust_rules {
    const struct trust_user *users;
    size_t n_users;
    const struct trust_group *groups;
    size_t n_groups;
    bool sandbox_enabled; /* the terminal is the owner's then, unless somebody else matches it;
                             otherwise `full` if there are no users at all */
};

struct trust_decision {
    const struct trust_user *user;       /* NULL: nobody matched */
    const struct trust_pattern *pattern; /* that matched; NULL: none */
    enum trust user_trust;
    bool has_ceiling;
    enum trust ceiling;              /* where there is one */
    const struct trust_group *group; /* the line that set it; NULL: built in */
    enum trust trust;                /* what holds */
};

/* `group`: NULL in a direct message; "" in a group without a name. An identity that is malformed or
 * matches two users is an error: nothing is decided for it. */
int trust_decide(const struct trust_rules *rules, const char *identity, const char *group,
                 struct trust_decision *out, coop_error **err);

/* ---- the check */

/* Errors: names empty, malformed or used twice; patterns malformed or with two users. Warnings:
 * patterns that change nothing, users that match nothing, several owners, a terminal that is
 * matched by somebody else while nobody is owner. */
void trust_check_users(const struct trust_user *users, size_t n, bool sandbox_enabled,
                       struct findings *findings);
void trust_check_groups(const struct trust_group *groups, size_t n, struct findings *findings);
