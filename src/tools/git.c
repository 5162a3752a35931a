/*
 * git.c - the git tools: real git, where commands of these tools run
 *
 * Nothing passes a shell. Paths stand behind `--` and are literal, revisions and remotes may not look
 * like options. What a repository's own configuration makes git run, it runs in the box. Rules for
 * commands hold for these words as for any others, so none is used that they refuse.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "tools/job.h"
#include "tools/tools.h"

#define WORDS_MAX (64 + 1000) /* the paths of a call among them */

struct git {
    struct tool_call *call;
    char *words[WORDS_MAX + 1];
    size_t n;
};

static void add(struct git *git, const char *word)
{
    if (git->n < WORDS_MAX)
        git->words[git->n++] = (char *)word;
}

/* `git` and what it is told in every call. */
static void begin(struct git *git, struct tool_call *call, const char *verb)
{
    static const char *const settings[] = { "color.ui=false", "core.quotePath=false",
                                            "user.useConfigOnly=true",
                                            "advice.detachedHead=false" };

    *git = (struct git){ .call = call };
    add(git, "git");
    add(git, "--no-pager");
    add(git, "--no-optional-locks");
    add(git, "--literal-pathspecs");
    for (size_t i = 0; i < COUNT(settings); i++) {
        add(git, "-c");
        add(git, settings[i]);
    }
    if (verb)
        add(git, verb);
}

/* A revision, a remote, a branch: git would take it for an option. */
static int add_name(struct git *git, const char *argument, coop_error **err)
{
    const char *text = tool_text(git->call, argument);

    if (!text)
        return 0;
    if (text[0] == '-')
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "'%s' must not begin with '-': it is a name, not an option", argument);
    add(git, text);
    return 0;
}

static void add_paths(struct git *git)
{
    const struct json_value *paths = tool_argument(git->call, "paths");

    add(git, "--");
    for (const struct json_value *path = paths ? paths->first : NULL; path; path = path->next)
        add(git, path->text);
}

static int run(struct git *git, struct job_end *end, coop_error **err)
{
    struct job job = {
        .argv = git->words,
        .directory = tool_text(git->call, "directory"),
        .timeout_ms = 1000 * JOB_TIMEOUT_S,
    };

    git->words[git->n] = NULL;
    return job_run(git->call, &job, end, err);
}

static bool said(const struct job_end *end, const char *words)
{
    return end->shown.data && strstr(end->shown.data, words);
}

/* What git says to somebody at a keyboard, in words for a model. */
static const struct {
    const char *said, *advice;
} explained[] = {
    { "not a git repository", "There is no git repository here: name one with directory, or create "
                              "one with 'git init' in bash." },
    { "tell me who you are",
      "git does not know who commits: give author as 'Name <mail@example.org>', or set user.name "
      "and user.email with 'git config' in bash." },
    { "auto-detection is disabled",
      "git does not know who commits: give author as 'Name <mail@example.org>', or set user.name "
      "and user.email with 'git config' in bash." },
    { "nothing to commit", "Nothing is staged: use git_stage first." },
    { "no changes added to commit", "Nothing is staged: use git_stage first." },
    { "nothing added to commit", "Nothing is staged: use git_stage first." },
    { "could not read Username", "The remote asks for a password, which cannot be entered here: "
                                 "the owner can grant a secret in the configuration." },
    { "dubious ownership",
      "The repository belongs to another user, so git does not trust it; its owner can use it." },
    { "has no upstream branch", "This branch has no upstream branch: name remote and branch." },
};

static void explain(const struct job_end *end, struct buffer *out)
{
    for (size_t i = 0; i < COUNT(explained); i++)
        if (said(end, explained[i].said)) {
            buffer_printf(out, "%s\n", explained[i].advice);
            return;
        }
}

/* The reply of most: what git printed. */
static void answer(struct git *git, const struct job_end *end, const char *nothing)
{
    struct tool_reply *reply = git->call->reply;
    struct json_writer json;

    reply->is_error = !job_succeeded(end);
    if (reply->is_error)
        explain(end, &reply->text);
    if (!reply->is_error && end->shown.length == 0)
        buffer_append_string(&reply->text, nothing);
    else
        job_print(git->call, end, &reply->text);
    json_write_init(&json, &reply->structured, false);
    json_write_object_begin(&json);
    job_json(end, &json);
    json_write_object_end(&json);
    json_write_finish(&json);
}

static int run_and_answer(struct git *git, const char *nothing, coop_error **err)
{
    auto_job_end struct job_end end = { .file.fd = -1 };
    int r = run(git, &end, err);

    if (r == 0)
        answer(git, &end, nothing);
    return r;
}

int tool_git_status(struct tool_call *call, coop_error **err)
{
    struct git git;

    begin(&git, call, "status");
    add(&git, "--short");
    add(&git, "--branch");
    add(&git, "--untracked-files=all");
    return run_and_answer(&git, "no changes", err);
}

int tool_git_diff(struct tool_call *call, coop_error **err)
{
    char context[32];
    struct git git;

    begin(&git, call, "diff");
    add(&git, "--no-ext-diff");
    add(&git, "--no-textconv");
    if (tool_flag(call, "staged", false))
        add(&git, "--cached");
    if (tool_flag(call, "stat", false))
        add(&git, "--stat");
    (void)snprintf(context, sizeof context, "--unified=%d", (int)tool_number(call, "context", 3));
    if (tool_argument(call, "context"))
        add(&git, context);
    int r = add_name(&git, "revision", err);
    if (r < 0)
        return r;
    add_paths(&git);
    return run_and_answer(&git, "no differences", err);
}

int tool_git_stage(struct tool_call *call, coop_error **err)
{
    struct git git;

    begin(&git, call, "add");
    add(&git, "--all"); /* what is gone is staged as gone */
    add(&git, "--verbose");
    add_paths(&git);
    return run_and_answer(&git, "nothing to stage: these paths have not changed", err);
}

int tool_git_log(struct tool_call *call, coop_error **err)
{
    char limit[32];
    struct git git;

    begin(&git, call, "log");
    (void)snprintf(limit, sizeof limit, "--max-count=%d", (int)tool_number(call, "limit", 20));
    add(&git, limit);
    add(&git, "--date=iso-strict");
    add(&git, "--no-ext-diff");
    add(&git, "--no-textconv");
    if (tool_flag(call, "stat", false))
        add(&git, "--stat");
    int r = add_name(&git, "revision", err);
    if (r < 0)
        return r;
    add_paths(&git);
    return run_and_answer(&git, "no commits", err);
}

/* "Name <mail>" as the one who commits too, where the configuration names nobody. */
static int add_committer(struct git *git, const char *author, char **name, char **mail,
                         coop_error **err)
{
    const char *open = strchr(author, '<');
    size_t n_name = open ? (size_t)(open - author) : 0;
    size_t n_mail = open ? strcspn(open + 1, ">") : 0;

    while (n_name > 0 && author[n_name - 1] == ' ')
        n_name--;
    if (asprintf(name, "user.name=%.*s", (int)n_name, author) < 0 ||
        asprintf(mail, "user.email=%.*s", (int)n_mail, open ? open + 1 : "") < 0)
        return fail_no_memory(err);
    add(git, "-c");
    add(git, *name);
    add(git, "-c");
    add(git, *mail);
    return 0;
}

static bool is_author(const char *author)
{
    const char *open = strchr(author, '<');

    return open && open > author && strchr(open, '>') && !strpbrk(author, "\n\r");
}

static int commit(struct tool_call *call, bool as_author, struct job_end *end, struct git *git,
                  coop_error **err)
{
    const char *author = tool_text(call, "author");
    auto_free char *name = NULL;
    auto_free char *mail = NULL;
    auto_free char *by = NULL;
    auto_free char *message = NULL;

    begin(git, call, NULL);
    int r = as_author ? add_committer(git, author, &name, &mail, err) : 0;
    if (r < 0)
        return r;
    if (asprintf(&message, "--message=%s", tool_text(call, "message")) < 0)
        return fail_no_memory(err);
    add(git, "commit");
    add(git, message);
    if (author && asprintf(&by, "--author=%s", author) < 0)
        return fail_no_memory(err);
    if (by)
        add(git, by);
    return run(git, end, err);
}

int tool_git_commit(struct tool_call *call, coop_error **err)
{
    const char *author = tool_text(call, "author");
    auto_job_end struct job_end end = { .file.fd = -1 };
    struct git git;

    if (author && !is_author(author))
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "write the author as 'Name <mail@example.org>'");
    int r = commit(call, false, &end, &git, err);
    if (r == 0 && author && !job_succeeded(&end) &&
        (said(&end, "tell me who you are") || said(&end, "auto-detection is disabled"))) {
        job_done(&end);
        r = commit(call, true, &end, &git, err);
    }
    if (r == 0)
        answer(&git, &end, "committed");
    return r;
}

int tool_git_push(struct tool_call *call, coop_error **err)
{
    struct git git;

    begin(&git, call, "push");
    if (tool_flag(call, "set_upstream", false))
        add(&git, "--set-upstream");
    if (tool_text(call, "branch") && !tool_text(call, "remote"))
        add(&git, "origin");
    int r = add_name(&git, "remote", err);
    if (r == 0)
        r = add_name(&git, "branch", err);
    if (r == 0 && tool_text(call, "branch") && strchr("+:", tool_text(call, "branch")[0]))
        r = fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                      "'branch' must not begin with '%c': this tool never overwrites or deletes "
                      "branches of the remote",
                      tool_text(call, "branch")[0]);
    return r < 0 ? r : run_and_answer(&git, "pushed", err);
}
