/*
 * judge.c - protected names, for the tools as for the box
 *
 * Names are asked about each time, of the rules themselves: a file that is there since a moment ago is
 * hidden from its first moment on. What no name tells (another name of a hidden file, a file that a
 * link called `.env` leads to, git directories of other names) comes from a search of the workspace,
 * the same as before every box: tools/path/search.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/fd.h"
#include "plan/secret_hide.h"
#include "policy/path/path.h"
#include "policy/protect_path.h"
#include "tools/path/private.h"

const char *place_judge_path(const struct places *places, const struct place_root *root,
                             const char *below, char space[PLACE_SPACE], struct place_tree **tree)
{
    const char *workspace = places->workspace.host;

    if (places->on_host || !places->rules || !root->is_protected)
        return NULL;
    *tree = &places->trees[0];
    if (root == &places->workspace)
        return below;
    (void)snprintf(space, PLACE_SPACE, "%s%s%s", root->host[1] || !*below ? root->host : "",
                   *below ? "/" : "", below);
    if (!path_is_within(space, workspace)) {
        *tree = root->tree;
        return root->tree ? below : NULL;
    }
    space += strlen(workspace);
    return space + (*space == '/');
}

/* Whether any rule may be about the path or something above it: a few comparisons, no lock. */
static bool is_concerned(const struct places *places, const char *path)
{
    for (const char *p = path; *p;) {
        size_t n = strcspn(p, "/");

        if (protect_concerns_name(places->rules, p, n))
            return true;
        p += n + (p[n] == '/');
    }
    return false;
}

/* ---- content */

/* The beginning of what an O_PATH descriptor is of. */
static ssize_t read_object(int object, char *bytes, size_t size)
{
    char link[64];

    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", object);
    auto_close int fd = open(link, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return fd < 0 ? -1 : fd_read_start(fd, bytes, size);
}

/* Of the object that was found. */
static ssize_t read_found(void *opaque, const char *path, char *bytes, size_t size)
{
    const struct place *place = opaque;

    (void)path;
    if (!place->exists || !S_ISREG(place->st.st_mode))
        return -1;
    return read_object(place->fd, bytes, size);
}

/* Of a name in a directory. */
struct entry {
    int directory_fd;
    const char *name;
};

static ssize_t read_entry(void *opaque, const char *path, char *bytes, size_t size)
{
    const struct entry *entry = opaque;
    struct stat st;

    (void)path;
    auto_close int found =
        openat(entry->directory_fd, entry->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (found < 0 || fstat(found, &st) < 0 || !S_ISREG(st.st_mode))
        return -1;
    return read_object(found, bytes, size);
}

/* ---- words */

int place_judge_refuse(const char *path, const char *pattern, struct origin origin, bool is_hidden,
                       bool is_git_config, coop_error **err)
{
    auto_buffer struct buffer where = { 0 };

    buffer_printf(&where, "rule '%s'", pattern);
    if (origin.name) {
        buffer_append_string(&where, ", ");
        origin_print(&where, origin);
    }
    if (where.failed)
        return fail_no_memory(err);
    if (is_git_config)
        return place_fail(err, EACCES, path,
                          "is git's configuration, which file tools neither read nor write (%s): "
                          "use git itself, for example 'git config --list'",
                          where.data);
    if (is_hidden)
        return place_fail(err, EACCES, path,
                          "is hidden because it may contain secrets (%s): do without it, or ask "
                          "the user for what you need from it",
                          where.data);
    return place_fail(err, EACCES, path,
                      "is write-protected: it may be read but not created, changed, moved or "
                      "removed (%s); ask the user if you need to",
                      where.data);
}

static int refuse(const char *path, const struct protect_rule *rule, bool is_hidden,
                  coop_error **err)
{
    return place_judge_refuse(path, rule->pattern, rule->origin, is_hidden,
                              rule->conditions & PROTECT_GIT_CONFIG, err);
}

/* ---- names */

static enum protect_kind kind_of(const struct place *place)
{
    if (!place->exists)
        return place->use == PLACE_CHANGE ? PROTECT_A_FILE : PROTECT_EITHER;
    return S_ISDIR(place->st.st_mode) ? PROTECT_A_DIRECTORY : PROTECT_A_FILE;
}

/* With the lock held. */
static const struct protect_rule *ask_rules(const struct place *place, const char *path)
{
    bool is_change = place->use == PLACE_CHANGE || place->use == PLACE_NAME;
    struct protect_question question = {
        .protect = place->places->rules,
        .kind = kind_of(place),
        .is_writing = is_change,
        .is_absent = !place->exists,
        .read_file = read_found,
        .opaque = (void *)(uintptr_t)place,
    };
    const struct protect_rule *rule = protect_path_rule(&question, path);

    if (rule || is_change || !place->exists || S_ISDIR(place->st.st_mode))
        return rule;
    question.is_git_config = true;
    return protect_path_rule(&question, path);
}

static int refuse_by_write_rule(const struct place *place, const struct plan *plan, int rule,
                                coop_error **err)
{
    if (rule == -ENOMEM || rule < 0)
        return fail_no_memory(err);
    enum notify_review_kind gate = plan->write_rules[rule].gate;
    return place_judge_refuse(place->path, plan->write_rules[rule].pattern,
                              plan->write_rules[rule].origin, false, gate == NOTIFY_GATE_CONFIG,
                              err);
}

/* With the lock held. */
static int ask_write_rules(const struct place *place, struct place_tree *tree, const char *path,
                           enum write_rule_act act, coop_error **err)
{
    const struct write_rules *rules = NULL;
    const struct plan *plan = NULL;
    int r = place_search_write_rules(place->places, tree, &rules, &plan, err);

    if (r < 0)
        return r;
    enum write_rule_kind kind = !place->exists               ? WRITE_RULE_KIND_UNKNOWN
                                : S_ISDIR(place->st.st_mode) ? WRITE_RULE_KIND_DIRECTORY
                                                             : WRITE_RULE_KIND_FILE;
    int rule = place_write_rule(rules, path, act, kind);
    if (rule == WRITE_RULE_NONE)
        return 0;
    if (act == WRITE_RULE_THIS || rule < 0)
        return refuse_by_write_rule(place, plan, rule, err);
    return place_fail(
        err, EACCES, place->path,
        "must be a directory and stay where it is: it leads to a protected path (rule '%s')",
        plan->write_rules[rule].pattern);
}

/* With the lock held. */
static int judge_locked(const struct place *place, struct place_tree *tree, const char *path,
                        coop_error **err)
{
    struct places *places = place->places;
    bool is_change = place->use == PLACE_CHANGE || place->use == PLACE_NAME;
    const struct protect_rule *rule = is_concerned(places, path) ? ask_rules(place, path) : NULL;
    struct place_found found;

    if (rule)
        return refuse(place->path, rule, rule->action == COOP_PROTECT_HIDE, err);
    int r = place_search_find(places, tree, path, place->exists ? &place->st : NULL, &found, err);
    if (r > 0 && (found.is_hidden || is_change))
        return refuse(place->path, found.rule, found.is_hidden, err);
    return r < 0 || !is_change ? (r < 0 ? r : 0)
                               : ask_write_rules(place, tree, path, WRITE_RULE_THIS, err);
}

/* Of a home that a mount beside the workspace shows. */
static int judge_home(const struct place *place, coop_error **err)
{
    struct places *places = place->places;
    const struct place_root *root = place->root;
    char host[PLACE_SPACE];

    if (places->on_host || !places->rules || !root->mount || !root->is_writable ||
        (place->use != PLACE_CHANGE && place->use != PLACE_NAME))
        return 0;
    (void)snprintf(host, sizeof host, "%s%s%s", root->host[1] || !*place->below ? root->host : "",
                   *place->below ? "/" : "", place->below);
    const char *path = secret_below_home(host);
    if (!path || !*path)
        return 0;
    (void)pthread_mutex_lock(&places->lock);
    const struct protect_rule *rule = protect_keeps(places->rules, path, false);
    if (!rule)
        rule = protect_keeps(places->rules, path, true);
    (void)pthread_mutex_unlock(&places->lock);
    return rule ? refuse(place->path, rule, false, err) : 0;
}

int place_judge(const struct place *place, coop_error **err)
{
    struct places *places = place->places;
    char space[PLACE_SPACE];
    struct place_tree *tree = NULL;
    const char *path = place_judge_path(places, place->root, place->below, space, &tree);

    if (!path)
        return judge_home(place, err);
    (void)pthread_mutex_lock(&places->lock);
    int r = judge_locked(place, tree, path, err);
    (void)pthread_mutex_unlock(&places->lock);
    if (r == 0 && (place->use == PLACE_CHANGE || place->use == PLACE_NAME))
        r = place_git_changed(place, err);
    return r < 0 ? r : judge_home(place, err);
}

int place_judge_way(struct places *places, const struct place_root *root, const char *path,
                    const char *below, bool is_directory, coop_error **err)
{
    char space[PLACE_SPACE];
    struct place_tree *tree = NULL;
    const char *inner = place_judge_path(places, root, below, space, &tree);
    struct protect_question question = {
        .protect = places->rules,
        .kind = is_directory ? PROTECT_A_DIRECTORY : PROTECT_A_FILE,
    };

    if (!inner || !is_concerned(places, inner))
        return 0;
    (void)pthread_mutex_lock(&places->lock);
    const struct protect_rule *rule = protect_path_rule(&question, inner);
    (void)pthread_mutex_unlock(&places->lock);
    return rule ? refuse(path, rule, true, err) : 0;
}

/* ---- listing */

/* With the lock held. */
static bool is_shown_by_rules(struct places *places, const char *path, const struct entry *entry,
                              bool is_directory)
{
    struct protect_question question = {
        .protect = places->rules,
        .kind = is_directory ? PROTECT_A_DIRECTORY : PROTECT_A_FILE,
        .read_file = read_entry,
        .opaque = (void *)(uintptr_t)entry,
    };

    if (protect_path_rule(&question, path))
        return false;
    question.is_git_config = true;
    return is_directory || !protect_path_rule(&question, path);
}

static bool is_of_mount(const struct place *place, const char *below)
{
    char path[PLACE_SPACE];
    const char *there = NULL;
    size_t n = (size_t)(place->below - place->path);

    (void)snprintf(path, sizeof path, "%.*s%s%s", (int)n, place->path,
                   n > 0 && place->path[n - 1] == '/' ? "" : "/", below);
    return place_roots_find(place->places, path, &there) == place->root &&
           !place_roots_is_target(place->places, path);
}

bool place_shows(const struct place *place, const char *below, int directory_fd, const char *name,
                 bool is_directory)
{
    struct places *places = place->places;
    const struct entry entry = { directory_fd, name };
    struct place_found found;
    char space[PLACE_SPACE];
    struct place_tree *tree = NULL;

    if ((place->root->has_inner || places->roots) && !is_of_mount(place, below))
        return false;
    const char *path = place_judge_path(places, place->root, below, space, &tree);
    if (!path)
        return true;
    bool is_asked = is_concerned(places, path);
    (void)pthread_mutex_lock(&places->lock);
    int r = place_search_find(places, tree, path, NULL, &found, NULL);
    bool shows = (r == 0 || (r > 0 && !found.is_hidden)) &&
                 (!is_asked || is_shown_by_rules(places, path, &entry, is_directory));
    (void)pthread_mutex_unlock(&places->lock);
    return shows;
}

/* ---- what is about to be done */

int place_may_make(const struct place *place, enum place_new kind, coop_error **err)
{
    static const enum write_rule_act asks[] = { [PLACE_NEW_FILE] = WRITE_RULE_ON_THE_WAY,
                                                [PLACE_NEW_DIRECTORY] = WRITE_RULE_THIS,
                                                [PLACE_NEW_LINK] = WRITE_RULE_LINK };
    static const enum git_shape_kind shapes[] = { [PLACE_NEW_FILE] = GIT_SHAPE_OTHER,
                                                  [PLACE_NEW_DIRECTORY] = GIT_SHAPE_DIRECTORY,
                                                  [PLACE_NEW_LINK] = GIT_SHAPE_LINK };
    struct places *places = place->places;
    char space[PLACE_SPACE];
    struct place_tree *tree = NULL;
    const char *path = place_judge_path(places, place->root, place->below, space, &tree);

    if (!path)
        return 0;
    (void)pthread_mutex_lock(&places->lock);
    int r = ask_write_rules(place, tree, path, asks[kind], err);
    (void)pthread_mutex_unlock(&places->lock);
    return r < 0 ? r : place_git_new(place, shapes[kind], -1, err);
}

/* With the lock held. */
static int held(const struct place *place, const struct place_tree *tree, const char *path,
                bool is_removing, coop_error **err)
{
    const struct protect_found *found = place_search_held(tree, path, is_removing);

    if (!found)
        return 0;
    return place_fail(err, EBUSY, place->path,
                      "cannot be %s, because '%s' in it is protected (rule '%s'): leave it, and "
                      "handle the other entries one by one",
                      is_removing ? "removed" : "moved", found->path, found->rule->pattern);
}

/* What a whole directory must not be, or have in it, to be moved or removed. */
static int may_leave(const struct place *place, const char *verb, coop_error **err)
{
    if (place_roots_holds(place->places, place->path))
        return place_fail(err, EBUSY, place->path,
                          "cannot be %s: something is mounted there in the sandbox's view", verb);
    if (place_roots_holds_limit(place->places, place->root, place->below))
        return place_fail(
            err, EBUSY, place->path,
            "cannot be %s: it is or contains one of the directories these tools are limited to",
            verb);
    return 0;
}

int place_may_remove(const struct place *place, coop_error **err)
{
    struct places *places = place->places;
    char space[PLACE_SPACE];
    struct place_tree *tree = NULL;
    const char *path = place_judge_path(places, place->root, place->below, space, &tree);

    int r = may_leave(place, "removed", err);
    if (r < 0 || !path || !S_ISDIR(place->st.st_mode))
        return r;
    (void)pthread_mutex_lock(&places->lock);
    r = place_search_again(places, tree, err);
    if (r == 0)
        r = held(place, tree, path, true, err);
    (void)pthread_mutex_unlock(&places->lock);
    return r;
}

/* An end of a move, as the rules know it. */
struct end {
    const struct place *place;
    struct place_tree *tree;
    const char *path; /* NULL: no rules there */
    char space[PLACE_SPACE];
};

static void find_end(struct end *end, const struct place *place)
{
    end->place = place;
    end->tree = NULL;
    end->path = place_judge_path(place->places, place->root, place->below, end->space, &end->tree);
}

/* What leaves the tree, or comes into it, is compared with a place of no rules. */
static int ask_moved_in(struct place_tree *tree, const struct end *from, const struct end *to,
                        coop_error **err)
{
    const struct write_rules *rules = NULL;
    const struct plan *plan = NULL;
    int r = place_search_write_rules(from->place->places, tree, &rules, &plan, err);

    if (r < 0)
        return r;
    int rule = place_write_rule_moved(rules, from->tree == tree ? from->path : "\001",
                                      to->tree == tree ? to->path : "\001", from->place->fd);
    return rule == WRITE_RULE_NONE ? 0 : refuse_by_write_rule(to->place, plan, rule, err);
}

/* With the lock held. */
static int ask_moved(const struct end *from, const struct end *to, coop_error **err)
{
    int r = from->path ? ask_moved_in(from->tree, from, to, err) : 0;

    return r < 0 || !to->path || to->tree == from->tree ? r : ask_moved_in(to->tree, from, to, err);
}

/* Likewise. */
static int may_move_locked(const struct end *from, const struct end *to, coop_error **err)
{
    struct places *places = from->place->places;
    bool is_directory = S_ISDIR(from->place->st.st_mode);
    int r = is_directory && from->path ? place_search_again(places, from->tree, err) : 0;

    if (r == 0 && is_directory && to->path && to->tree != from->tree)
        r = place_search_again(places, to->tree, err);
    if (r == 0 && from->path && is_directory)
        r = held(from->place, from->tree, from->path, false, err);
    if (r == 0 && from->path)
        r = ask_write_rules(from->place, from->tree, from->path, WRITE_RULE_ON_THE_WAY, err);
    return r < 0 ? r : ask_moved(from, to, err);
}

static int may_be_in_git(const struct place *from, const struct place *to, coop_error **err)
{
    bool is_directory = S_ISDIR(from->st.st_mode);
    return place_git_new(to,
                         is_directory                ? GIT_SHAPE_DIRECTORY
                         : S_ISLNK(from->st.st_mode) ? GIT_SHAPE_LINK
                                                     : GIT_SHAPE_OTHER,
                         is_directory ? from->fd : -1, err);
}

int place_may_move(const struct place *from, const struct place *to, coop_error **err)
{
    struct places *places = from->places;
    struct end source;
    struct end target;

    find_end(&source, from);
    find_end(&target, to);
    int r = may_leave(from, "moved", err);
    if (r == 0 && to->exists)
        r = may_leave(to, "replaced", err);
    if (r < 0 || (!source.path && !target.path))
        return r;
    (void)pthread_mutex_lock(&places->lock);
    r = may_move_locked(&source, &target, err);
    (void)pthread_mutex_unlock(&places->lock);
    if (r < 0)
        return r;
    return may_be_in_git(from, to, err);
}

int place_may_still_move(const struct place *from, const struct place *to, coop_error **err)
{
    struct places *places = from->places;
    struct end source;
    struct end target;

    find_end(&source, from);
    find_end(&target, to);
    (void)pthread_mutex_lock(&places->lock);
    int r = ask_moved(&source, &target, err);
    (void)pthread_mutex_unlock(&places->lock);
    return r < 0 ? r : may_be_in_git(from, to, err);
}
