/*
 * path.c - may a path be read, written, executed?
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "policy/decide/private.h"

/* ---- from the host's names to the box's */

/* Keeps the better of two: what is allowed, or a refusal that somebody wrote. */
static int judge_also(const struct decide_asked *asked, const char *base, const char *below,
                      struct decide_answer *best)
{
    auto_decide_answer struct decide_answer answer = { 0 };
    auto_free char *path = path_join(base, below);
    int r = path ? decide_place(asked, path, &answer) : -ENOMEM;
    bool is_better = !best->rule || (answer.is_allowed && !best->is_allowed) ||
                     (answer.has_origin && !best->has_origin && !best->is_allowed);

    if (r == 0 && is_better) {
        decide_answer_done(best);
        *best = answer;
        answer = (struct decide_answer){ 0 };
    }
    return r;
}

/* The path itself, where what the box has there stands for what the host has, or is written to. */
static bool is_about_box(const struct decide_asked *asked, const char *path)
{
    struct view_place place = view_find(asked->index, path);

    return place.what != VIEW_IS_OWN || asked->act == DECIDE_WRITE ||
           !view_own_is_writable(asked->subject->policy, path) || strncmp(path, "/dev/", 5) == 0;
}

static int judge_host_path(const struct decide_asked *asked, const char *path,
                           struct decide_answer *out)
{
    const coop_policy *policy = asked->subject->policy;
    const char *workspace = asked->subject->workspace;
    int r = 0;

    if (workspace && path_is_within(path, workspace) && asked->view)
        r = judge_also(asked, asked->view, decide_rest(path, workspace), out);
    for (size_t i = 0; r == 0 && i < policy->n_mounts; i++) {
        const struct policy_mount *mount = &policy->mounts[i];

        if (mount->kind == POLICY_BIND && path_is_within(path, mount->source))
            r = judge_also(asked, mount->target, decide_rest(path, mount->source), out);
    }
    if (r == 0 && is_about_box(asked, path))
        r = judge_also(asked, path, "", out);
    if (r == 0 && !out->rule)
        r = decide_say(out, false, NULL, "list it in extra_ro_paths",
                       "the box has its own; the host's is not visible", "the box's own view");
    if (r == 0 && !out->is_allowed && !out->flag && !out->has_origin && !out->place)
        r = decide_flag(out, "--ro", path);
    return r;
}

static int ask(const struct decide_asked *asked, const char *path, struct decide_answer *out,
               coop_error **err)
{
    auto_free char *expanded = NULL;
    auto_free char *normal = NULL;
    const char *home = asked->subject->home;
    int r = 0;

    if (*path == '~' && !home)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, ENOENT, "cannot expand '~': $HOME is not set");
    if (*path == '~')
        expanded = path_join(home, path + 1 + (path[1] == '/'));
    else if (*path == '/')
        expanded = strdup(path);
    else
        expanded = path_join(asked->view ? asked->view : VIEW_WORKSPACE, path);
    if (!expanded)
        return fail_no_memory(err);
    r = path_resolve_in_box("path", expanded, &normal, err);
    if (r < 0)
        return r;
    r = *path == '/' || *path == '~' ? judge_host_path(asked, normal, out)
                                     : decide_place(asked, normal, out);
    return r < 0 ? fail_no_memory(err) : 0;
}

/* With `enforce`, other programs than those of the rules, and what they need, do not exist. */
static int decide_program(const struct decide_subject *subject, enum decide_act act,
                          const char *path, struct decide_answer *out, coop_error **err)
{
    const char *const argv[] = { out->place ? out->place : path, NULL };
    auto_command_decision struct command_decision decision = { 0 };
    auto_free char *place = NULL;
    bool is_executing = act == DECIDE_EXEC;
    int r = subject->has_program ? subject->has_program(subject, argv[0], is_executing, err)
                                 : !is_executing;

    if (r != 0)
        return r < 0 ? r : 0;
    r = command_rules_decide_argv(&subject->policy->commands.rules, argv,
                                  &(struct command_context){ 0 }, &decision, err);
    if (r < 0 || (decision.is_allowed && !subject->has_program))
        return r;
    place = out->place;
    out->place = NULL;
    r = decision.is_allowed
            ? decide_say(out, false, &subject->commands_origin, NULL,
                         "nobody can execute it: the box does not have it as a program",
                         "commands.strength 'enforce'")
            : decide_say(out, false,
                         decision.has_origin ? &decision.origin : &subject->commands_origin,
                         decision.allow, decision.why, "commands '%s'", path);
    out->place = place;
    place = NULL;
    return r < 0 ? fail_no_memory(err) : 0;
}

int decide_path(const struct decide_subject *subject, enum decide_act act, const char *path,
                struct decide_answer *out, coop_error **err)
{
    const char *view = view_of_workspace(subject->policy, subject->workspace);
    auto_view_index struct view_index *index = view_index_new(subject->policy, view);
    size_t n = strlen(path);
    struct decide_asked asked = { .subject = subject,
                                  .act = act,
                                  .is_directory = n > 0 && path[n - 1] == '/',
                                  .is_strict = act != DECIDE_WRITE,
                                  .index = index,
                                  .view = view };

    if (!index)
        return fail_no_memory(err);
    int r = protect_new(subject->policy, &asked.protect, err);
    if (r == 0)
        r = ask(&asked, path, out, err);
    protect_free(asked.protect);
    if (r == 0 && act != DECIDE_WRITE && out->is_allowed &&
        subject->policy->commands.strength == COOP_COMMANDS_ENFORCE)
        r = decide_program(subject, act, path, out, err);
    return r;
}

/* ---- many of the box */

struct decide_paths {
    const struct decide_subject *subject;
    const char *view;
    struct view_index *index;
    struct protect *protect;
};

int decide_paths_new(const struct decide_subject *subject, struct decide_paths **out,
                     coop_error **err)
{
    struct decide_paths *paths = calloc(1, sizeof *paths);

    if (!paths)
        return fail_no_memory(err);
    paths->subject = subject;
    paths->view = view_of_workspace(subject->policy, subject->workspace);
    paths->index = view_index_new(subject->policy, paths->view);
    int r = paths->index ? protect_new(subject->policy, &paths->protect, err) : fail_no_memory(err);
    if (r < 0) {
        decide_paths_free(paths);
        return r;
    }
    *out = paths;
    return 0;
}

void decide_paths_free(struct decide_paths *paths)
{
    if (!paths)
        return;
    view_index_free(paths->index);
    protect_free(paths->protect);
    free(paths);
}

int decide_box_path(struct decide_paths *paths, enum decide_act act, const char *path,
                    struct decide_answer *out, coop_error **err)
{
    const struct decide_asked asked = { .subject = paths->subject,
                                        .act = act,
                                        .is_strict = act != DECIDE_WRITE,
                                        .index = paths->index,
                                        .protect = paths->protect,
                                        .view = paths->view };
    int r = decide_place(&asked, path, out);

    if (r < 0)
        return fail_no_memory(err);
    if (act != DECIDE_WRITE && out->is_allowed &&
        paths->subject->policy->commands.strength == COOP_COMMANDS_ENFORCE)
        r = decide_program(paths->subject, act, path, out, err);
    return r;
}
