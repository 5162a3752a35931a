/*
 * rules.h - which commands may be run: the allow-list, decided before the run
 *
 *   struct command_rules rules = { 0 };
 *   command_rules_defaults(&rules, &err);                       fest, camp, just, git
 *   command_rules_add(&rules, "go", origin, &rule, &err);
 *   command_rule_allow(rule, "test", origin, &err);
 *   command_rules_decide_text(&rules, "go test ./... && git push", n, &context, &decision, &err);
 *
 * A program without a rule is not allowed. A rule may name sub-commands: with `allowed`, only those;
 * with `blocked`, all but those. Both are patterns, "push --force" or "remote add": words that follow
 * the program in this order, and flags that stand anywhere. A blocked flag is blocked in every
 * spelling that the program takes for it (-f in a cluster, --forc, and for `git push` also
 * "+main"); where it cannot be told whether a command matches, the answer is no, with the reason.
 *
 * This is the strength `check`: it reads what is asked for. What a program does once it runs, a
 * Makefile's or a script's commands, is the business of the box.
 *
 * Pure, and without globals. Strings of rules are copies; an origin's name is borrowed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/finding.h"
#include "command/shell/split.h"

struct command_pattern {
    char *text;
    struct origin origin;
};

struct command_rule {
    char *name; /* "git": where the standard directories have it; with a '/': that file only */
    char *description;
    bool has_allowed; /* then nothing but what is listed, be the list empty */
    struct command_pattern *allowed;
    size_t n_allowed;
    struct command_pattern *blocked;
    size_t n_blocked;
    struct origin origin;
    bool manifest;  /* the program is asked for its sub-commands; whoever asks adds the patterns */
    bool has_needs; /* some were named: in a request, then, of the parent's no others */
    char **needs;   /* programs and absolute paths that it executes or loads besides itself */
    size_t n_needs;
};

struct command_rules {
    struct command_rule *items;
    size_t n;
};

#define auto_command_rules __attribute__((cleanup(command_rules_done)))
void command_rules_done(struct command_rules *rules);

/* Adds the built-in rules. */
int command_rules_defaults(struct command_rules *rules, coop_error **err);

/* The rule of that name, made if there is none yet. Lent until the next one is added. */
int command_rules_add(struct command_rules *rules, const char *name, struct origin origin,
                      struct command_rule **out, coop_error **err);
/* Without a rule of that name nothing happens. */
void command_rules_remove(struct command_rules *rules, const char *name);
struct command_rule *command_rules_find(const struct command_rules *rules, const char *name);
int command_rule_describe(struct command_rule *rule, const char *description, coop_error **err);
int command_rule_allow(struct command_rule *rule, const char *pattern, struct origin origin,
                       coop_error **err);
int command_rule_block(struct command_rule *rule, const char *pattern, struct origin origin,
                       coop_error **err);
/* `need` is the name of a program, or an absolute path. */
int command_rule_need(struct command_rule *rule, const char *need, coop_error **err);
/* Forgets the patterns: a later file replaces a list. */
void command_rule_clear_allowed(struct command_rule *rule);
void command_rule_clear_blocked(struct command_rule *rule);
int command_rules_copy(const struct command_rules *from, struct command_rules *to,
                       coop_error **err);

/* What makes no sense: allowed and blocked at once, blocked without need, odd names. */
void command_rules_check(const struct command_rules *rules, struct findings *findings);

/* ---- decisions */

struct command_context {
    enum shell_dialect dialect; /* of the shell that a text is for */
    /* Directories where "/usr/bin/git" is the `git` of a rule; ends with NULL. NULL: the usual. */
    const char *const *program_directories;
    /*
     * Whether a path lies inside: 0 it does, 1 it does not, negative: an error. The path stands as it
     * was written, relative to the directory in which the command starts, or with "~"; `may_write`
     * is also true where nobody knows. NULL: paths are not looked at.
     */
    int (*check_path)(void *opaque, const char *path, bool may_write);
    void *opaque;
    bool strict_paths; /* refuse words that might become paths: the kernel's walls hold anyway */
};

struct command_decision {
    bool is_allowed;
    bool is_undecided;    /* not allowed because it cannot be told what would run */
    struct origin origin; /* of the rule or pattern that decided; only if has_origin */
    bool has_origin;
    char *command; /* the simple command that decided, printable; NULL: the text as a whole */
    char *why;     /* one sentence, printable */
    char *allow;   /* what would allow it; NULL: nothing would, or it is allowed */
    unsigned line, column;
};

#define auto_command_decision __attribute__((cleanup(command_decision_done)))
void command_decision_done(struct command_decision *decision);

/* Fill *out, which the caller frees. Borrow everything else. */
int command_rules_decide_text(const struct command_rules *rules, const char *text, size_t n,
                              const struct command_context *context, struct command_decision *out,
                              coop_error **err);
int command_rules_decide_argv(const struct command_rules *rules, const char *const argv[],
                              const struct command_context *context, struct command_decision *out,
                              coop_error **err);

/* ---- narrowing */

/* *out allows what both allow. */
int command_rules_narrow(const struct command_rules *parent, const struct command_rules *request,
                         struct command_rules *out, coop_error **err);

/*
 * 1: whatever `child` allows, `parent` allows. 0: not so, and *counter (the caller's to free) is a
 * command line that only the child allows. Negative: an error.
 */
int command_rules_is_within(const struct command_rules *child, const struct command_rules *parent,
                            char **counter, coop_error **err);
