/*
 * write_rules.h - names that nobody may make: which pattern forbids a path, or a move
 *
 * `.git` may be made and moved to, hooks inside it may not be made: so nobody may prepare a directory
 * with hooks under another name and move it there either. Where a directory's new place is stricter
 * than its old one, it is looked through.
 *
 * A rule is about a path and all that is below it. Of each path above, and of the path itself, the most
 * specific pattern decides: an exception lifts a rule for the very path that it names. Below that, the
 * rule may match again.
 *
 * Decided here once, for the notify part of init and for the file tools; each of them looks at the files in
 * its own way. Rules are told by their number.
 *
 * Pure: allocates nothing, and needs no libc but memcpy() and strlen().
 */
#pragma once

#include "glob/reach.h"

#define WRITE_RULE_NONE (-1)

/* The exceptions that say more than a rule, or as much and later: patterns with these numbers. */
struct write_rule_exceptions {
    uint32_t from, to;
};

struct write_rules {
    /* glob/pack.h, unpacked: the rules', then those of exceptions. They all mind case, or none
     * does. */
    const void *patterns;
    size_t n;                                       /* rules */
    const struct write_rule_exceptions *exceptions; /* for each rule; NULL: there are none */
    size_t n_root_names;                            /* of a path, that no rule has words for */
};

/* What is at a path, for patterns that are about directories only. */
enum write_rule_kind {
    WRITE_RULE_KIND_UNKNOWN, /* nothing yet, or nobody has looked: whatever is stricter */
    WRITE_RULE_KIND_FILE,    /* whatever is no directory */
    WRITE_RULE_KIND_DIRECTORY
};

/* A path's names, made ready once for all patterns. */
struct write_rule_path {
    struct glob_path names;
    bool is_too_long; /* to be looked at: every rule's business */
    enum write_rule_kind kind;
};

/* Whether it matters what is at a path. */
bool write_rule_minds_kind(const struct write_rules *rules);

/* Borrows `path`; nobody has looked what is there. */
void write_rule_path_init(struct write_rule_path *out, const struct write_rules *rules,
                          const char *path);

enum write_rule_act {
    WRITE_RULE_THIS, /* written or made: this, or something above it */
    WRITE_RULE_ON_THE_WAY, /* made, not as a directory; or moved away. Of patterns with wildcards only their
                       * literal beginning counts: else no file could be made anywhere. */
    WRITE_RULE_LINK /* made as a link, which could lead to what was made elsewhere: here the words
                       * behind a wildcard count as well */
};

/* The rule that forbids it. */
int write_rule_find(const struct write_rules *rules, const struct write_rule_path *path,
                    enum write_rule_act act);

/* The first rule that the path itself is under. */
int write_rule_of(const struct write_rules *rules, const char *path);

/* ---- a directory that moves */

#define WRITE_RULE_PATH_MAX   8192
#define WRITE_RULE_LOOK_BELOW (-2)

/* What is looked through, as if it stood at `path`, and not at `other`. */
struct write_rule_move {
    const struct write_rules *rules;
    struct write_rule_path here, there;
    char path[WRITE_RULE_PATH_MAX];
    char other[WRITE_RULE_PATH_MAX];
    unsigned n_entries;
    int unclear; /* the rule to name where it cannot be looked through */
};

/* A directory that is being looked through. */
struct write_rule_place {
    size_t end, other_end; /* of both paths */
    unsigned depth;
};

enum write_rule_type { WRITE_RULE_FILE, WRITE_RULE_DIRECTORY, WRITE_RULE_SYMLINK };

/*
 * WRITE_RULE_LOOK_BELOW: something in the directory may be forbidden at `path` that is not at `other`. Who
 * asked goes through it, from *out on, or says `move->unclear` if that cannot be done.
 */
int write_rule_move_begin(struct write_rule_move *move, const struct write_rules *rules,
                          const char *path, const char *other, struct write_rule_place *out);

/* A name in `place`: the rule about it; or WRITE_RULE_LOOK_BELOW, and it is *out. */
int write_rule_move_look(struct write_rule_move *move, const struct write_rule_place *place,
                         const char *name, enum write_rule_type type, struct write_rule_place *out);

/* Whether anything below the one path is forbidden that would not be below the other. */
bool write_rule_is_stricter(struct write_rule_move *move, const struct write_rules *rules,
                            const char *path, const char *other);
