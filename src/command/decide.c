/*
 * The decision: each simple command of a text, in order; the first that is not allowed decides.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/printable.h"
#include "command/private.h"

void command_decision_done(struct command_decision *decision)
{
    free(decision->command);
    free(decision->why);
    free(decision->allow);
    *decision = (struct command_decision){ 0 };
}

/* ---- words for people */

static void print_command(const struct shell_command *command, struct buffer *out)
{
    for (size_t i = 0; i < command->n_words; i++) {
        const struct shell_word *word = &command->words[i];
        bool needs_quotes =
            word->is_static && (*word->text == '\0' || strpbrk(word->text, " \t\n"));

        if (out->length > 200) {
            buffer_append_string(out, " ...");
            return;
        }
        buffer_append_string(out, i > 0 ? " " : "");
        buffer_append_string(out, needs_quotes ? "'" : "");
        printable_append(out, word->text, strnlen(word->text, 100));
        buffer_append_string(out, needs_quotes ? "'" : word->is_static ? "" : "...");
    }
}

static __attribute__((format(printf, 6, 0))) int set_decision(struct command_decider *d,
                                                              const struct shell_command *command,
                                                              const struct origin *origin,
                                                              const char *allow, bool is_undecided,
                                                              const char *format, va_list args)
{
    struct command_decision *out = d->out;
    auto_buffer struct buffer raw = { 0 };
    auto_buffer struct buffer why = { 0 };
    auto_buffer struct buffer how = { 0 };
    auto_buffer struct buffer shown = { 0 };

    buffer_vprintf(&raw, format, args);
    printable_append(&why, raw.data ? raw.data : "", raw.length);
    if (allow)
        printable_append(&how, allow, strlen(allow));
    if (command) {
        print_command(command, &shown);
        out->line = command->line;
        out->column = command->column;
    }
    out->is_undecided = is_undecided;
    out->has_origin = origin != NULL;
    if (origin)
        out->origin = *origin;
    bool has_failed = raw.failed || why.failed || how.failed || shown.failed;
    out->why = buffer_take_string(&why);
    out->allow = allow ? buffer_take_string(&how) : NULL;
    out->command = command ? buffer_take_string(&shown) : NULL;
    return has_failed || !out->why ? fail_no_memory(d->err) : 1;
}

int command_deny(struct command_decider *d, const struct shell_command *command,
                 const struct origin *origin, const char *allow, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int r = set_decision(d, command, origin, allow, false, format, args);
    va_end(args);
    return r;
}

int command_undecided(struct command_decider *d, const struct shell_command *command,
                      const struct origin *origin, const char *fix, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int r = set_decision(d, command, origin, fix, true, format, args);
    va_end(args);
    return r;
}

/* ---- which rule */

static bool is_standard(const struct command_context *context, const char *directory, size_t n)
{
    static const char *const usual[] = {
        "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin", NULL
    };
    const char *const *list = context->program_directories ? context->program_directories : usual;

    for (; *list; list++)
        if (strlen(*list) == n && memcmp(*list, directory, n) == 0)
            return true;
    return false;
}

/* The program's name as a rule would have it; NULL: it is some other file. */
static const char *program_name(const struct command_context *context, const char *word)
{
    const char *slash = strrchr(word, '/');

    if (!slash)
        return word;
    return is_standard(context, word, (size_t)(slash - word)) ? slash + 1 : NULL;
}

static const struct command_rule *find_rule(const struct command_decider *d, const char *word)
{
    const struct command_rule *rule = command_rules_find(d->rules, word);
    const char *name = program_name(d->context, word);

    return rule || !name ? rule : command_rules_find(d->rules, name);
}

static int not_listed(struct command_decider *d, const struct shell_command *command)
{
    const char *word = command->words[0].text;
    auto_buffer struct buffer names = { 0 };
    auto_buffer struct buffer allow = { 0 };

    for (size_t i = 0; i < d->rules->n && names.length < 200; i++)
        buffer_printf(&names, "%s%s", i > 0 ? ", " : "", d->rules->items[i].name);
    if (strchr(word, '/') && !program_name(d->context, word))
        return command_deny(d, command, NULL, "name the program without a path",
                            "'%s' is a file of its own, not a program of the allowed ones (%s)",
                            word, names.data ? names.data : "none");
    buffer_printf(&allow, "[commands.%s]", word);
    return command_deny(d, command, NULL, allow.data, "'%s' is not among the allowed commands (%s)",
                        word, names.data ? names.data : "none");
}

/* ---- sub-commands */

static int blocked(struct command_decider *d, const struct shell_command *command,
                   const struct command_rule *rule, const struct command_view *view)
{
    for (size_t i = 0; i < rule->n_blocked; i++) {
        const struct command_pattern *pattern = &rule->blocked[i];
        struct command_shape shape;
        auto_buffer struct buffer allow = { 0 };

        if (command_shape_read(view->program, pattern->text, &shape))
            continue;
        enum command_answer answer = command_shape_match(&shape, view, false);
        if (answer == COMMAND_YES) {
            buffer_printf(&allow, "remove '%s' from 'blocked' of '%s'", pattern->text, rule->name);
            return command_deny(d, command, &pattern->origin, allow.data, "'%s %s' is blocked",
                                rule->name, pattern->text);
        }
        if (answer == COMMAND_MAYBE)
            return command_undecided(d, command, &pattern->origin,
                                     "write every word as it is, flags before '--'",
                                     "it cannot be told whether this is '%s %s', which is blocked",
                                     rule->name, pattern->text);
    }
    return 0;
}

static bool asks_for_help(const struct command_view *view)
{
    static const char flags[] = "--help -h --version -V help version";

    return view->n == 2 && view->words[1].is_static && !view->has_more &&
           command_program_lists(flags, view->words[1].text, strlen(view->words[1].text));
}

static int allowed(struct command_decider *d, const struct shell_command *command,
                   const struct command_rule *rule, const struct command_view *view)
{
    enum command_answer best = COMMAND_NO;
    auto_buffer struct buffer allow = { 0 };

    if (!rule->has_allowed)
        return 0;
    for (size_t i = 0; i < rule->n_allowed && best != COMMAND_YES; i++) {
        struct command_shape shape;

        if (command_shape_read(view->program, rule->allowed[i].text, &shape))
            continue;
        enum command_answer answer = command_shape_match(&shape, view, true);
        if (answer > best)
            best = answer;
    }
    if (best == COMMAND_YES || (rule->n_allowed > 0 && asks_for_help(view)))
        return 0;
    if (best == COMMAND_MAYBE)
        return command_undecided(d, command, &rule->origin,
                                 "write the sub-command first, its flags behind it",
                                 "it cannot be told which sub-command of '%s' this is", rule->name);
    if (!view->command)
        return command_deny(d, command, &rule->origin, NULL,
                            "'%s' without a sub-command is not among those allowed", rule->name);
    buffer_printf(&allow, "add '%s' to 'allowed' of '%s'", view->command, rule->name);
    return command_deny(d, command, &rule->origin, allow.data,
                        "'%s %s' is not among the allowed sub-commands", rule->name, view->command);
}

/* Patterns of ours: what makes a program run commands that stand in its arguments. They yield to a
 * pattern of the owner's that says the same, or more precisely so. */
static int runs_others(struct command_decider *d, const struct shell_command *command,
                       const struct command_rule *rule, const struct command_view *view)
{
    for (const char *const *text = view->known ? view->known->runs_others : NULL; text && *text;
         text++) {
        struct command_shape shape;
        struct command_shape granted;
        bool is_granted = false;

        if (command_shape_read(view->program, *text, &shape))
            continue;
        enum command_answer answer = command_shape_match(&shape, view, false);
        if (answer == COMMAND_NO)
            continue;
        for (size_t i = 0; i < rule->n_allowed && !is_granted; i++)
            is_granted = !command_shape_read(view->program, rule->allowed[i].text, &granted) &&
                         command_shape_covers(view->program, &shape, &granted);
        if (is_granted)
            continue;
        auto_buffer struct buffer allow = { 0 };
        buffer_printf(&allow, "run the command by itself, or list '%s' as allowed", *text);
        if (answer == COMMAND_MAYBE)
            return command_undecided(d, command, &rule->origin, "put '--' before what is no flag",
                                     "it cannot be told whether this is '%s %s', which runs other "
                                     "commands",
                                     rule->name, *text);
        return command_undecided(d, command, &rule->origin, allow.data,
                                 "'%s %s' runs commands that are not looked at", rule->name, *text);
    }
    return 0;
}

static int check_rule(struct command_decider *d, const struct shell_command *command,
                      const struct command_rule *rule, struct command_view *view)
{
    int r = strcmp(view->program, "git") == 0 ? command_git_check(d, command, rule, view) : 0;

    if (r == 0 && strcmp(view->program, "make") == 0)
        r = command_make_check(d, command, rule, view);
    do {
        if (r == 0)
            r = blocked(d, command, rule, view);
        if (r == 0)
            r = runs_others(d, command, rule, view);
        if (r == 0)
            r = allowed(d, command, rule, view);
    } while (r == 0 && command_view_next(view));
    return r;
}

/* ---- one command */

static int command_decide_next(struct command_decider *d, size_t index)
{
    const struct shell_command *command = &d->split->commands[index];
    const char *word = command->n_words > 0 ? command->words[0].text : NULL;
    struct command_view view;

    if (!word || command->is_builtin || command->is_function)
        return command_paths_check(d, index, NULL, NULL);
    if (command->is_wrapper && command->wrapper_is_free && program_name(d->context, word))
        return command_paths_check(d, index, NULL, NULL);
    const struct command_rule *rule = find_rule(d, word);
    if (!rule)
        return not_listed(d, command);
    command_view_init(&view, command_program_name(word), command);
    struct command_view first = view;
    int r = check_rule(d, command, rule, &view);
    if (r == 0)
        r = command_paths_check(d, index, &first, &rule->origin);
    if (r == 0 && !d->out->has_origin) {
        d->out->origin = rule->origin;
        d->out->has_origin = true;
    }
    return r;
}

/* A function with the name of an allowed command would be taken for it. */
static int check_functions(struct command_decider *d)
{
    for (size_t i = 0; i < d->split->n_functions; i++) {
        const struct shell_function *function = &d->split->functions[i];

        if (!command_rules_find(d->rules, function->name))
            continue;
        d->out->line = function->line;
        d->out->column = function->column;
        return command_undecided(d, NULL, NULL, "give the function another name",
                                 "the function '%s' takes the place of the allowed command",
                                 function->name);
    }
    return 0;
}

static int allow_all(struct command_decider *d)
{
    auto_buffer struct buffer why = { 0 };
    const char *only = "";
    size_t n = 0;

    for (size_t i = 0; i < d->split->n_commands; i++) {
        if (d->split->commands[i].n_words == 0)
            continue;
        only = d->split->commands[i].words[0].text;
        n++;
    }
    if (n == 1) {
        buffer_append_char(&why, '\'');
        printable_append(&why, only, strlen(only));
        buffer_append_string(&why, "' is allowed");
    } else {
        buffer_printf(&why, "all %zu commands are allowed", n);
    }
    d->out->why = buffer_take_string(&why);
    d->out->is_allowed = true;
    return d->out->why ? 0 : fail_no_memory(d->err);
}

static int decide(struct command_decider *d)
{
    if (d->split->refusal) {
        d->out->line = d->split->refusal_line;
        d->out->column = d->split->refusal_column;
        return command_undecided(d, NULL, NULL, d->split->fix, "%s", d->split->refusal);
    }
    int r = command_places_start(&d->possible, d->err);
    if (r == 0)
        r = command_places_start(&d->chain, d->err);
    if (r == 0)
        r = check_functions(d);
    if (r == 0)
        r = command_paths_prepare(d);
    for (size_t i = 0; i < d->split->n_commands && r == 0; i++)
        r = command_decide_next(d, i);
    return r == 0 ? allow_all(d) : r;
}

static int run(const struct command_rules *rules, const struct command_context *context,
               const struct shell_split *split, struct command_decision *out, coop_error **err)
{
    static const struct command_context nothing = { 0 };
    struct command_decider d = {
        .rules = rules,
        .context = context ? context : &nothing,
        .split = split,
        .out = out,
        .chain_end = -1,
        .err = err,
    };

    *out = (struct command_decision){ 0 };
    int r = decide(&d);
    command_places_done(&d.possible);
    command_places_done(&d.chain);
    if (r < 0)
        command_decision_done(out);
    return r < 0 ? r : 0;
}

int command_rules_decide_text(const struct command_rules *rules, const char *text, size_t n,
                              const struct command_context *context, struct command_decision *out,
                              coop_error **err)
{
    auto_shell_split struct shell_split split = { 0 };
    int r = shell_split_text(&split, text, n, context ? context->dialect : SHELL_BASH, err);

    return r < 0 ? r : run(rules, context, &split, out, err);
}

int command_rules_decide_argv(const struct command_rules *rules, const char *const argv[],
                              const struct command_context *context, struct command_decision *out,
                              coop_error **err)
{
    auto_shell_split struct shell_split split = { 0 };
    int r = shell_split_argv(&split, argv, err);

    return r < 0 ? r : run(rules, context, &split, out, err);
}
