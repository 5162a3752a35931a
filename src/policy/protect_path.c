#include "protect_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

static const struct protect_rule no_memory = {
    "anything, without memory to look", COOP_PROTECT_HIDE, 0, { NULL, 0, 0 }
};

/* Whether the conditions of a rule hold for a path; what cannot be looked at is a secret. */
static bool applies(const struct protect_question *question, const struct protect_rule *rule,
                    const char *path, bool is_directory)
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
    ssize_t n = bytes && question->read_file
                    ? question->read_file(question->opaque, path, bytes, PROTECT_CONTENT_MAX)
                    : -1;
    return n < 0 || protect_content_applies(rule->conditions, bytes, (size_t)n,
                                            (size_t)n < PROTECT_CONTENT_MAX);
}

static bool exists(const struct protect_question *question, const char *path)
{
    return !question->exists || question->exists(question->opaque, path);
}

static const struct protect_rule *hides(const struct protect_question *question, const char *path,
                                        bool is_directory, enum protect_scope scope)
{
    const struct protect_rule *rule = protect_hides(question->protect, path, is_directory, scope);

    if (rule && !exists(question, path))
        return NULL;
    if (rule && !applies(question, rule, path, is_directory)) /* then those that somebody wrote */
        rule = protect_hides(question->protect, path, is_directory, PROTECT_OWN);
    return rule;
}

/* A .git below the top that is not there yet. */
static bool is_new_git(const struct protect_question *question, const char *path,
                       const char *in_git)
{
    auto_free char *git = in_git > path ? strndup(path, (size_t)(in_git - path) - 1) : NULL;

    return git && strchr(git, '/') && !exists(question, git);
}

/* Of its hooks the directory may be made, and names that git does not execute. */
static const struct protect_rule *keeps_in_new_git(const struct protect_question *question,
                                                   const char *in_git, bool is_directory)
{
    const char *name = in_git + 6;
    size_t n = strlen(in_git);

    if (strcmp(in_git, "hooks") == 0)
        return NULL;
    if (strncmp(in_git, "hooks/", 6) != 0 || strchr(name, '/'))
        return protect_keeps_in_git(question->protect, in_git, is_directory);
    if (n > 13 && strcmp(in_git + n - 7, ".sample") == 0)
        return NULL;
    return protect_keeps_in_git(question->protect, "hooks", true);
}

/* The rule about `path`, one of the parents or the whole, that forbids what is asked. */
static const struct protect_rule *forbids(const struct protect_question *question, const char *path,
                                          bool is_directory, bool is_last, enum protect_scope scope,
                                          const char *in_git)
{
    const struct protect_rule *rule = NULL;

    if (!is_last || !question->is_absent)
        rule = hides(question, path, is_directory, scope);
    if (rule || !(question->is_writing || question->is_git_config))
        return rule;
    rule = protect_keeps(question->protect, path, is_directory);
    if (!rule && in_git && *in_git && !protect_shows(question->protect, path, is_directory))
        rule = is_new_git(question, path, in_git)
                   ? keeps_in_new_git(question, in_git, is_directory)
                   : protect_keeps_in_git(question->protect, in_git, is_directory);
    if (rule && question->is_git_config && !(rule->conditions & PROTECT_GIT_CONFIG))
        rule = NULL;
    return rule;
}

static const struct protect_rule *last_forbids(const struct protect_question *question,
                                               const char *path, enum protect_scope scope,
                                               const char *in_git)
{
    const struct protect_rule *rule = NULL;

    if (question->kind != PROTECT_A_DIRECTORY)
        rule = forbids(question, path, false, true, scope, in_git);
    if (!rule && question->is_private && scope == PROTECT_ALL &&
        !protect_excepts(question->protect, path) &&
        applies(question, &protect_private, path, false))
        rule = &protect_private;
    if (!rule && question->kind != PROTECT_A_FILE)
        rule = forbids(question, path, true, true, scope, in_git);
    return rule;
}

/* A bare repository, or a .git that is the workspace: known by what is in it. */
static bool is_bare(const struct protect_question *question, const char *directory)
{
    static const char *const names[] = { "HEAD", "objects", "refs" };
    size_t n = strlen(directory);
    bool is_asked = question->exists && (question->is_writing || question->is_git_config);
    auto_free char *path = is_asked ? malloc(n + 16) : NULL;

    for (size_t i = 0; path && i < COUNT(names); i++) {
        (void)snprintf(path, n + 16, "%s%s%s", directory, n > 0 ? "/" : "", names[i]);
        if (!exists(question, path))
            return false;
    }
    return path != NULL;
}

const struct protect_rule *protect_path_rule(const struct protect_question *question,
                                             const char *whole)
{
    auto_free char *path = question->protect ? strdup(whole) : NULL;
    enum protect_scope scope = PROTECT_ALL;
    const char *in_git = NULL; /* where the path in a git directory begins */

    if (!question->protect)
        return NULL;
    if (!path)
        return &no_memory;
    if (is_bare(question, ""))
        in_git = path;
    for (size_t start = 0; whole[start];) {
        size_t end = start + strcspn(whole + start, "/");
        bool is_last = !whole[end];
        const struct protect_rule *rule;

        path[end] = '\0';
        if (is_last)
            rule = last_forbids(question, path, scope, in_git);
        else
            rule = forbids(question, path, true, false, scope, in_git);
        if (rule || is_last)
            return rule;
        if (protect_is_dependencies(path + start, end - start))
            scope = PROTECT_OWN;
        if (strcmp(path + start, ".git") == 0) {
            scope = PROTECT_OWN;
            in_git = path + end + 1;
        } else if (!in_git && is_bare(question, path)) {
            in_git = path + end + 1;
        }
        path[end] = whole[end];
        start = end + 1;
    }
    return NULL;
}
