/*
 * Words that look like paths, against what the caller says is inside.
 *
 * Relative paths depend on `cd`. It may fail, so behind `cd x; ...` a command may be in either place,
 * and a path must lie inside from both; behind `cd x && ...` there is only one. In loops and
 * functions a relative `cd` could be repeated: it is refused.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "command/private.h"

/* ---- places */

void command_places_done(struct command_places *places)
{
    for (size_t i = 0; i < places->n; i++)
        free(places->items[i]);
    places->n = 0;
}

/* 1: there are too many. */
static int add_place(struct command_places *places, const char *path, coop_error **err)
{
    for (size_t i = 0; i < places->n; i++)
        if (strcmp(places->items[i], path) == 0)
            return 0;
    if (places->n == COMMAND_PLACES)
        return 1;
    places->items[places->n] = strdup(path);
    if (!places->items[places->n])
        return fail_no_memory(err);
    places->n++;
    return 0;
}

int command_places_start(struct command_places *places, coop_error **err)
{
    places->n = 0;
    return add_place(places, "", err);
}

static char *join(const char *place, const char *path)
{
    char *joined = NULL;

    if (*place == '\0' || *path == '/' || *path == '~')
        return strdup(path);
    return asprintf(&joined, "%s/%s", place, path) < 0 ? NULL : joined;
}

static int copy_places(struct command_places *to, const struct command_places *from,
                       coop_error **err)
{
    int r = 0;

    if (to == from)
        return 0;
    command_places_done(to);
    for (size_t i = 0; i < from->n && r == 0; i++)
        r = add_place(to, from->items[i], err);
    return r;
}

/* Each place, one step further. */
static int enter(struct command_places *places, const char *directory, coop_error **err)
{
    struct command_places entered = { .n = 0 };
    int r = 0;

    for (size_t i = 0; i < places->n && r == 0; i++) {
        char *joined = join(places->items[i], directory);

        r = joined ? add_place(&entered, joined, err) : fail_no_memory(err);
        free(joined);
    }
    command_places_done(places);
    *places = entered;
    return r;
}

static int unite(struct command_places *to, const struct command_places *from, coop_error **err)
{
    int r = 0;

    for (size_t i = 0; i < from->n && r == 0; i++)
        r = add_place(to, from->items[i], err);
    return r;
}

/* ---- one path */

static const char no_path_fix[] = "give the box that path, or use one inside";

struct path_check {
    struct command_decider *d;
    const struct shell_command *command;
    const struct origin *origin;
    const struct command_places *places;
};

static int check_path(const struct path_check *check, const char *path, bool may_write)
{
    const struct command_context *context = check->d->context;

    for (size_t i = 0; i < check->places->n; i++) {
        char *joined = join(check->places->items[i], path);

        if (!joined)
            return fail_no_memory(check->d->err);
        int r = context->check_path(context->opaque, joined, may_write);
        bool is_elsewhere = strcmp(joined, path) != 0;
        free(joined);
        if (r < 0)
            return r;
        if (r > 0 && is_elsewhere)
            return command_deny(check->d, check->command, check->origin, no_path_fix,
                                "'%s', seen from '%s', leads out of what the policy shows", path,
                                check->places->items[i]);
        if (r > 0)
            return command_deny(check->d, check->command, check->origin,
                                check->places->n > 1 ? "write 'cd DIRECTORY && ...': after ';' the "
                                                       "'cd' may have failed"
                                                     : no_path_fix,
                                "'%s' leads out of what the policy shows", path);
    }
    return 0;
}

static bool looks_like_path(const char *text)
{
    return text[0] == '.' || text[0] == '~' || strchr(text, '/') != NULL;
}

/* "https://...": the letters before "://". file:// is a path. */
static const char *without_scheme(const char *text)
{
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-");

    if (n == 0 || strncmp(text + n, "://", 3) != 0)
        return text;
    return n == 4 && strncmp(text, "file", 4) == 0 ? text + 7 : NULL;
}

static int check_text(const struct path_check *check, const char *text)
{
    text = without_scheme(text);
    if (!text || !looks_like_path(text))
        return 0;
    return check_path(check, text, true);
}

/* A word that is not static: what is known of it is a path's beginning, up to its last slash. */
static int check_beginning(const struct path_check *check, const char *text)
{
    const char *slash = strrchr(text, '/');

    if (!slash)
        return 0;
    char *beginning = strndup(text, (size_t)(slash - text) + 1);
    if (!beginning)
        return fail_no_memory(check->d->err);
    int r = check_text(check, beginning);
    free(beginning);
    return r;
}

static int check_word(const struct path_check *check, const struct shell_word *word)
{
    bool is_whole = word->is_static || (word->has_tilde && !word->may_split);
    int (*look)(const struct path_check *, const char *) = is_whole ? check_text : check_beginning;
    const char *text = word->text;
    const char *equals = strchr(text, '=');
    int r = 0;

    if (!word->is_static && !word->has_tilde && check->d->context->strict_paths)
        return command_undecided(check->d, check->command, check->origin, "write the path",
                                 "a word that is not known before it runs may be a path that leads "
                                 "out");
    if (text[0] != '-')
        r = look(check, text);
    else if (text[1] != '-' && text[1] != '\0' && text[2] != '\0' && strchr("/.~", text[2]))
        r = look(check, text + 2); /* -I../include */
    if (r == 0 && equals && equals[1])
        r = look(check, equals + 1);
    if (r == 0 && text[0] == '@' && text[1])
        r = look(check, text + 1); /* a file with arguments or data */
    return r;
}

/* ---- a command's words */

/* Whether the word is, or with its '=' holds, text that is never a path; `next`: so is the next. */
static bool is_text_option(const struct command_view *view, const struct shell_word *word,
                           bool *next)
{
    const char *list = view->known ? view->known->text : "";
    size_t n = strcspn(word->text, "=");

    *next = false;
    if (!word->is_static || word->text[0] != '-')
        return false;
    if (command_program_lists(list, word->text, n)) {
        *next = word->text[n] == '\0';
        return true;
    }
    return word->text[1] != '-' && word->text[1] && command_program_lists(list, word->text, 2);
}

static int check_arguments(struct path_check *check, const struct command_view *view,
                           struct command_places *places)
{
    const char *directory = view->known ? view->known->directory : NULL;
    bool skip = false;

    for (size_t i = 1; i < view->n; i++) {
        const struct shell_word *word = &view->words[i];
        bool is_text = skip;
        int r = 0;

        skip = false;
        if (is_text || is_text_option(view, word, &skip))
            continue;
        if (directory && i < view->at && i + 1 < view->n && word->is_static &&
            strcmp(word->text, directory) == 0) {
            word = &view->words[++i];
            if (!word->is_static)
                return command_undecided(
                    check->d, check->command, check->origin, "write the directory",
                    "the directory behind '%s' is not known before it runs", directory);
            r = check_path(check, word->text, true);
            if (r == 0)
                r = enter(places, word->text, check->d->err);
        } else {
            r = check_word(check, word);
        }
        if (r != 0)
            return r;
    }
    return 0;
}

static bool is_device(const char *path)
{
    static const char *const devices[] = { "/dev/null",   "/dev/stdin",  "/dev/stdout",
                                           "/dev/stderr", "/dev/zero",   "/dev/full",
                                           "/dev/tty",    "/dev/random", "/dev/urandom" };

    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        if (strcmp(path, devices[i]) == 0)
            return true;
    return strncmp(path, "/dev/fd/", 8) == 0;
}

static int check_redirects(const struct path_check *check)
{
    for (size_t i = 0; i < check->command->n_redirects; i++) {
        const struct shell_redirect *redirect = &check->command->redirects[i];
        const struct shell_word *target = &redirect->target;
        bool is_write = redirect->kind == SHELL_REDIRECT_WRITE;
        int r = 0;

        if ((!is_write && redirect->kind != SHELL_REDIRECT_READ) || is_device(target->text))
            continue;
        if (target->is_static || (target->has_tilde && !target->may_split))
            r = check_path(check, target->text, is_write);
        else if (check->d->context->strict_paths)
            r = command_undecided(check->d, check->command, NULL, "write the path",
                                  "the file behind '%s' is not known before it runs", redirect->op);
        else
            r = check_beginning(check, target->text);
        if (r != 0)
            return r;
    }
    return 0;
}

/* ---- cd */

static const char *cd_target(const struct shell_command *command)
{
    const struct shell_word *last = &command->words[command->n_words - 1];

    return command->n_words == 1 || last->text[0] == '-' ? "~" : last->text;
}

static bool is_cd(const struct shell_command *command)
{
    return command->is_builtin && command->n_words > 0 && strcmp(command->words[0].text, "cd") == 0;
}

static bool is_relative(const char *path)
{
    return path[0] != '/' && path[0] != '~';
}

static int too_many(struct command_decider *d, const struct shell_command *command, int r)
{
    if (r <= 0)
        return r;
    return command_undecided(d, command, NULL, "use fewer",
                             "after so many 'cd' it cannot be told where a command runs");
}

int command_paths_prepare(struct command_decider *d)
{
    for (size_t i = 0; d->context->check_path && i < d->split->n_commands; i++) {
        const struct shell_command *command = &d->split->commands[i];

        if (!is_cd(command) || !command->may_repeat)
            continue;
        if (is_relative(cd_target(command)))
            return command_undecided(d, command, NULL, "use a path from '/', or 'git -C'",
                                     "where a repeated 'cd' leads cannot be told");
        int r = too_many(d, command, add_place(&d->possible, cd_target(command), d->err));
        if (r != 0)
            return r;
    }
    return 0;
}

static int change_directory(struct command_decider *d, const struct path_check *check,
                            struct command_places *places)
{
    const char *target = cd_target(check->command);
    int r = check_path(check, target, false);

    if (r != 0)
        return r;
    r = enter(places, target, d->err);
    if (r == 0)
        r = unite(&d->possible, places, d->err);
    return too_many(d, check->command, r);
}

int command_paths_check(struct command_decider *d, size_t index, const struct command_view *view,
                        const struct origin *origin)
{
    const struct shell_command *command = &d->split->commands[index];
    bool is_chained = command->and_after >= 0 && command->and_after == d->chain_end;
    struct command_places here = { .n = 0 };
    struct path_check check = { d, command, origin, &here };

    if (!d->context->check_path)
        return 0;
    int r =
        copy_places(&here, is_chained || !command->is_direct ? &d->chain : &d->possible, d->err);
    if (r == 0 && command->is_direct) {
        r = copy_places(&d->chain, &here, d->err);
        d->chain_end = (int)index;
    }
    if (r == 0)
        r = check_redirects(&check);
    if (r == 0 && is_cd(command)) {
        r = change_directory(d, &check, &here);
        if (r == 0)
            r = copy_places(&d->chain, &here, d->err);
    } else if (r == 0 && view) {
        if (command->directory) {
            r = check_path(&check, command->directory, true);
            if (r == 0)
                r = enter(&here, command->directory, d->err);
        }
        if (r == 0)
            r = check_arguments(&check, view, &here);
    }
    command_places_done(&here);
    return r;
}
