/*
 * decide_path.c - may a path be read, written, executed?
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "policy/decide.h"
#include "policy/path.h"
#include "policy/protect.h"
#include "policy/view_place.h"

/* One question, and what is needed for it. */
struct asked {
    const struct decide_subject *subject;
    enum decide_act act;
    bool is_directory; /* it was written with a slash at its end */
    struct view_index *index;
    struct protect *protect; /* NULL: nothing is protected */
    const char *view;        /* where the workspace is shown; NULL: nobody knows */
};

/* ---- protected names */

static ssize_t first_bytes(const struct asked *asked, const char *below, char *bytes, size_t size)
{
    const struct decide_subject *subject = asked->subject;

    return subject->read_file ? subject->read_file(subject->opaque, below, bytes, size) : -1;
}

/* Whether the conditions of a rule hold for a path; what cannot be looked at is a secret. */
static bool applies(const struct asked *asked, const struct protect_rule *rule, const char *path,
                    bool is_directory)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    if (rule->conditions & PROTECT_FILES_ONLY && is_directory)
        return false;
    if (!protect_name_applies(rule->conditions, name, strlen(name)))
        return false;
    if (!protect_needs_content(rule->conditions))
        return true;
    auto_free char *bytes = malloc(PROTECT_CONTENT_MAX);
    ssize_t n = bytes ? first_bytes(asked, path, bytes, PROTECT_CONTENT_MAX) : -1;
    return n < 0 || protect_content_applies(rule->conditions, bytes, (size_t)n,
                                            (size_t)n < PROTECT_CONTENT_MAX);
}

static const struct protect_rule *hides(const struct asked *asked, const char *path,
                                        bool is_directory, enum protect_scope scope)
{
    const struct protect_rule *rule = protect_hides(asked->protect, path, is_directory, scope);

    if (rule && !applies(asked, rule, path, is_directory)) /* then those that somebody wrote */
        rule = protect_hides(asked->protect, path, is_directory, PROTECT_OWN);
    return rule;
}

/* The rule about `path`, one of the parents or the whole, that forbids what is asked. */
static const struct protect_rule *forbids(const struct asked *asked, const char *path,
                                          bool is_directory, enum protect_scope scope,
                                          const char *in_git)
{
    const struct protect_rule *rule = hides(asked, path, is_directory, scope);

    if (rule || asked->act != DECIDE_WRITE)
        return rule;
    rule = protect_keeps(asked->protect, path, is_directory);
    if (!rule && in_git && *in_git && !protect_shows(asked->protect, path, is_directory))
        rule = protect_keeps_in_git(asked->protect, in_git, is_directory);
    return rule;
}

/*
 * A rule about a directory is about everything in it, so each parent is asked, from the top. Below a
 * dependency tree or a git directory the built-in rules that hide do not hold.
 */
static const struct protect_rule *protected_by(const struct asked *asked, const char *below)
{
    auto_free char *path = strdup(below);
    enum protect_scope scope = PROTECT_ALL;
    size_t in_git = 0; /* where the path in a git directory begins */

    if (!path || !asked->protect)
        return NULL;
    for (size_t start = 0; below[start];) {
        size_t end = start + strcspn(below + start, "/");
        bool is_last = !below[end];
        const struct protect_rule *rule = NULL;

        path[end] = '\0';
        if (!is_last || asked->is_directory || !*below)
            rule = forbids(asked, path, true, scope, in_git ? path + in_git : NULL);
        else if (!(rule = forbids(asked, path, false, scope, in_git ? path + in_git : NULL)))
            rule = forbids(asked, path, true, scope, in_git ? path + in_git : NULL);
        if (rule)
            return rule;
        if (protect_is_dependencies(path + start, end - start))
            scope = PROTECT_OWN;
        if (strcmp(path + start, ".git") == 0) {
            scope = PROTECT_OWN;
            in_git = end + 1;
        }
        path[end] = below[end];
        start = is_last ? end : end + 1;
    }
    return NULL;
}

/* ---- places */

static int say_protected(const struct protect_rule *rule, struct decide_answer *out)
{
    bool is_hidden = rule->action == COOP_PROTECT_HIDE;
    bool is_git = rule->conditions & PROTECT_GIT_CONFIG;

    return decide_say(out, false, &rule->origin, "list it in protect.allow",
                      is_hidden ? "its name is one that is hidden"
                      : is_git  ? "it is git's configuration: only git writes there, and only what "
                                  "cannot execute anything"
                                : "its name is one that cannot be written",
                      "protect.%s '%s'", is_hidden ? "deny" : "no_write", rule->pattern);
}

static int judge_mount(const struct asked *asked, const struct policy_mount *mount,
                       struct decide_answer *out)
{
    const char *from = mount->source ? mount->source : "a file system in memory";

    if (mount->kind == POLICY_BLOCK)
        return decide_say(out, false, &mount->origin, "remove it from blocked_paths",
                          "it is hidden", "blocked_paths '%s'", mount->target);
    if (asked->act == DECIDE_WRITE && mount->read_only)
        return decide_say(out, false, &mount->origin, "list it in extra_rw_paths",
                          "the mount is read-only", "mount '%s' at '%s'", from, mount->target);
    return decide_say(out, true, &mount->origin, "list it in blocked_paths",
                      mount->read_only ? "it is mounted read-only" : "it is mounted",
                      "mount '%s' at '%s'", from, mount->target);
}

static int judge_place(const struct asked *asked, const char *path, struct decide_answer *out)
{
    struct view_place place = view_find(asked->index, path);
    bool is_writing = asked->act == DECIDE_WRITE;
    const struct protect_rule *rule;

    switch (place.what) {
    case VIEW_IS_BIND:
    case VIEW_IS_TMPFS:
    case VIEW_IS_BLOCK:
        return judge_mount(asked, place.mount, out);
    case VIEW_IS_WORKSPACE:
        rule = protected_by(asked, place.below);
        if (!rule && is_writing && asked->subject->policy->root_read_only)
            return decide_say(out, false, NULL, "write readonly = false in [sandbox]",
                              "the root is read-only", "sandbox.readonly");
        return rule ? say_protected(rule, out)
                    : decide_say(out, true, NULL,
                                 is_writing ? "list it in protect.no_write"
                                            : "list it in protect.deny",
                                 "it lies in the workspace", "the workspace");
    case VIEW_IS_TOOLS:
        return is_writing ? decide_say(out, false, NULL, NULL,
                                       "the host's programs and settings are read-only in a box",
                                       "the box's own view")
                          : decide_say(out, true, NULL, "list it in blocked_paths",
                                       "it is one of the host's programs and settings that every "
                                       "box has",
                                       "the box's own view");
    case VIEW_IS_OWN:
        return is_writing && !view_own_is_writable(path)
                   ? decide_say(out, false, NULL, NULL, "the box makes it itself, read-only",
                                "the box's own view")
                   : decide_say(out, true, NULL, NULL,
                                "the box has one of its own, which is not the host's",
                                "the box's own view");
    case VIEW_NOTHING:
        break;
    }
    return decide_say(out, false, NULL,
                      is_writing ? "list it in extra_rw_paths" : "list it in extra_ro_paths",
                      "the box does not have it", "the box's own view");
}

static int judge(const struct asked *asked, const char *path, struct decide_answer *out)
{
    int r = judge_place(asked, path, out);

    if (r == 0)
        out->place = strdup(path);
    return r < 0 || !out->place ? -ENOMEM : 0;
}

/* ---- from the host's names to the box's */

/* Keeps the better of two: what is allowed, or a refusal that somebody wrote. */
static int judge_also(const struct asked *asked, const char *base, const char *below,
                      struct decide_answer *best)
{
    auto_decide_answer struct decide_answer answer = { 0 };
    auto_free char *path = path_join(base, below);
    int r = path ? judge(asked, path, &answer) : -ENOMEM;
    bool is_better = !best->rule || (answer.is_allowed && !best->is_allowed) ||
                     (answer.has_origin && !best->has_origin && !best->is_allowed);

    if (r == 0 && is_better) {
        decide_answer_done(best);
        *best = answer;
        answer = (struct decide_answer){ 0 };
    }
    return r;
}

static const char *rest_of(const char *path, const char *ancestor)
{
    const char *rest = path + (ancestor[1] ? strlen(ancestor) : 0);

    return rest + (*rest == '/');
}

/* The path itself, where what the box has there stands for what the host has, or is written to. */
static bool is_about_box(const struct asked *asked, const char *path)
{
    struct view_place place = view_find(asked->index, path);

    return place.what != VIEW_IS_OWN || asked->act == DECIDE_WRITE || !view_own_is_writable(path) ||
           strncmp(path, "/dev/", 5) == 0;
}

static int judge_host_path(const struct asked *asked, const char *path, struct decide_answer *out)
{
    const coop_policy *policy = asked->subject->policy;
    const char *workspace = asked->subject->workspace;
    int r = 0;

    if (workspace && path_is_within(path, workspace) && asked->view)
        r = judge_also(asked, asked->view, rest_of(path, workspace), out);
    for (size_t i = 0; r == 0 && i < policy->n_mounts; i++) {
        const struct policy_mount *mount = &policy->mounts[i];

        if (mount->kind == POLICY_BIND && path_is_within(path, mount->source))
            r = judge_also(asked, mount->target, rest_of(path, mount->source), out);
    }
    if (r == 0 && is_about_box(asked, path))
        r = judge_also(asked, path, "", out);
    if (r == 0 && !out->rule)
        r = decide_say(out, false, NULL, "list it in extra_ro_paths",
                       "the box has one of its own there; the host's is not in it",
                       "the box's own view");
    return r;
}

static int ask(const struct asked *asked, const char *path, struct decide_answer *out,
               coop_error **err)
{
    auto_free char *expanded = NULL;
    auto_free char *normal = NULL;
    const char *home = asked->subject->home;
    int r = 0;

    if (*path == '~' && !home)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, ENOENT,
                         "nobody knows what '~' is: $HOME is not set");
    if (*path == '~')
        expanded = path_join(home, path + 1 + (path[1] == '/'));
    else if (*path == '/')
        expanded = strdup(path);
    else
        expanded = path_join(asked->view ? asked->view : VIEW_WORKSPACE, path);
    if (!expanded)
        return fail_no_memory(err);
    r = path_resolve("path", expanded, &normal, err);
    if (r == -EACCES) { /* an answer, no mistake */
        if (err) {
            coop_error_free(*err);
            *err = NULL;
        }
        r = decide_say(out, false, NULL, NULL, "its '..' leads above '/'", "the box's own view");
        return r < 0 ? fail_no_memory(err) : 0;
    }
    if (r < 0)
        return r;
    r = *path == '/' || *path == '~' ? judge_host_path(asked, normal, out)
                                     : judge(asked, normal, out);
    return r < 0 ? fail_no_memory(err) : 0;
}

/* With `enforce`, other programs than those of the rules do not exist. */
static int decide_program(const struct decide_subject *subject, const char *path,
                          struct decide_answer *out, coop_error **err)
{
    const char *const argv[] = { path, NULL };
    auto_command_decision struct command_decision decision = { 0 };
    int r = command_rules_decide_argv(&subject->policy->commands.rules, argv,
                                      &(struct command_context){ 0 }, &decision, err);

    if (r < 0 || decision.is_allowed)
        return r;
    r = decide_say(out, false, decision.has_origin ? &decision.origin : NULL, decision.allow,
                   decision.why, "commands '%s'", path);
    return r < 0 ? fail_no_memory(err) : 0;
}

int decide_path(const struct decide_subject *subject, enum decide_act act, const char *path,
                struct decide_answer *out, coop_error **err)
{
    const char *view = view_of_workspace(subject->policy, subject->workspace);
    auto_view_index struct view_index *index = view_index_new(subject->policy, view);
    size_t n = strlen(path);
    struct asked asked = { .subject = subject,
                           .act = act,
                           .is_directory = n > 0 && path[n - 1] == '/',
                           .index = index,
                           .view = view };

    if (!index)
        return fail_no_memory(err);
    int r = protect_new(subject->policy, &asked.protect, err);
    if (r == 0)
        r = ask(&asked, path, out, err);
    protect_free(asked.protect);
    if (r == 0 && act == DECIDE_EXEC && out->is_allowed &&
        subject->policy->commands.strength == COOP_COMMANDS_ENFORCE)
        r = decide_program(subject, path, out, err);
    return r;
}
