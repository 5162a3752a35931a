/*
 * private.h - the mounts that paths lead to, between the files of place.h
 */
#pragma once

#include <pthread.h>
#include <stdint.h>

#include "init/root_mark.h"
#include "plan/plan.h"
#include "policy/protect.h"
#include "policy/view/place.h"
#include "protect/scan/scan.h"
#include "protect/write_rules.h"
#include "tools/path/place.h"

/* What is searched for protected names: the workspace, or a directory that is mounted beside it. */
struct place_tree {
    int fd; /* borrowed */
    bool is_beside;
    struct place_search *search; /* NULL: nobody has looked yet */
};

/* A mount of the view, as the tools reach it. */
struct place_root {
    int fd; /* O_PATH */
    bool is_directory;
    bool is_writable;
    bool
        is_protected; /* rules hold there: all of it or a part is the workspace's, or it has a tree */
    struct place_tree *tree; /* of a mount beside the workspace, for what is not the workspace's */
    bool has_inner;          /* other mounts lie in it */
    char *host;              /* its place on the host; NULL: it has none */
    const struct policy_mount *mount; /* of a bind */
};

struct places {
    const coop_policy *policy;
    bool on_host;
    struct view_index *index; /* NULL on the host */
    char *view;               /* where the workspace is shown */
    char *directory;          /* of relative paths */
    bool takes_own_path;      /* place.h */
    char *link;               /* a path of the box that leads to the workspace too; NULL: none */
    struct place_root workspace, tools, tmp;
    struct place_root *binds;
    size_t n_binds;
    struct place_tree *trees; /* the workspace's is the first */
    size_t n_trees;
    char **roots; /* of the host; NULL: no limit */
    size_t n_roots;
    struct root_marks marks; /* on what is writable, for other boxes */

    pthread_mutex_t lock; /* of what follows: patterns are compiled when first needed */
    bool has_lock;
    struct protect *rules; /* NULL: nothing is protected */
};

/* ---- tools/path/roots.c */

int place_roots_open(struct places *places, const struct places_options *options, coop_error **err);
void place_roots_done(struct places *places);

/* The mount that `path` (normal) lies in, and the rest of it in *below; NULL: the tools cannot reach
 * it, and place_roots_refuse() says why. */
const struct place_root *place_roots_find(const struct places *places, const char *path,
                                          const char **below);
int place_roots_refuse(const struct places *places, const char *path, coop_error **err);
/* Whether it is, or holds, one of the directories that the tools are limited to: it can be passed, but
 * what else is in it is not theirs to move or remove. */
bool place_roots_holds_limit(const struct places *places, const struct place_root *root,
                             const char *below);
/* Whether the policy has no word on the path: it may still lead to a mount. */
bool place_roots_is_nothing(const struct places *places, const char *path);
/* What the box has a link for at `path`; NULL: none. */
const char *place_roots_link(const struct places *places, const char *path);
/* Whether a mount lies at or below `path`, other than the one that holds it. */
bool place_roots_holds(const struct places *places, const char *path);
bool place_roots_is_target(const struct places *places, const char *path);

/* openat2() beneath the mount, through no link: the descriptor or -errno. */
int place_roots_open_at(const struct place_root *root, const char *below, int flags, mode_t mode);

/* ---- tools/path/judge.c */

/* What the rules say about what was found: 0, or refused in words. */
int place_judge(const struct place *place, coop_error **err);
/* The same for a name on the way: `below` of `root`. */
int place_judge_way(struct places *places, const struct place_root *root, const char *path,
                    const char *below, bool is_directory, coop_error **err);
/* The path that the rules know it by, in `space` or in `below`, and the tree that it is relative to; NULL:
 * the rules say nothing there. */
#define PLACE_SPACE (2 * 4096)
const char *place_judge_path(const struct places *places, const struct place_root *root,
                             const char *below, char space[PLACE_SPACE], struct place_tree **tree);
int place_judge_refuse(const char *path, const char *pattern, struct origin origin, bool is_hidden,
                       bool is_git_config, coop_error **err);

/* ---- tools/path/search.c: what a look through a tree has found; all with the lock held */

struct place_found {
    bool is_hidden; /* else it is kept */
    const struct protect_rule *rule;
};

void place_search_free(struct place_search *search);
/* `path` in the tree; `st` of what is there, NULL: nobody looked. 0; 1 and *out: it is, or lies
 * in, something protected, or is another name of it. */
int place_search_find(struct places *places, struct place_tree *tree, const char *path,
                      const struct stat *st, struct place_found *out, coop_error **err);
/* Looks again, whatever is remembered. */
int place_search_again(struct places *places, struct place_tree *tree, coop_error **err);
/* Of what is remembered: something in the directory that keeps it from being moved, or removed. */
const struct protect_found *place_search_held(const struct place_tree *tree, const char *path,
                                              bool is_removing);
/* The rules about what nobody may make, wherever a git directory was found, and their words. */
int place_search_write_rules(struct places *places, struct place_tree *tree,
                             const struct write_rules **rules, const struct plan **plan,
                             coop_error **err);

/* ---- tools/path/write_rules.c: what nobody may make; all with the lock held. The rule's number, WRITE_RULE_NONE, or
 * -ENOMEM. */

int place_write_rule(const struct write_rules *rules, const char *path, enum write_rule_act act,
                     enum write_rule_kind kind);
/* What may not come along when the directory (or what else `fd` is) moves. */
int place_write_rule_moved(const struct write_rules *rules, const char *from, const char *to,
                           int fd);
