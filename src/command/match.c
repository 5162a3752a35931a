/*
 * A command against a pattern, in three values. The doubt is always about the same things: a word
 * that is not static, an option that may or may not take the next word as its value.
 */
#include <string.h>

#include "command/pattern.h"

static bool is_option(const struct shell_word *word)
{
    return word->text[0] == '-' && word->text[1] != '\0';
}

/* May expand to a word that begins with any character. */
static bool is_open(const struct shell_word *word)
{
    return !word->is_static && (word->text[0] == '\0' || word->may_split);
}

/* Whether the option's value may be the next word. */
static bool may_take_next(const struct command_view *view, const char *option)
{
    const char *valued = command_program_valued_letters(view->program, view->command);

    if (strchr(option, '='))
        return false;
    if (!valued || option[1] == '-')
        return true;
    for (const char *c = option + 1; *c; c++)
        if (strchr(valued, *c))
            return c[1] == '\0';
    return false;
}

/* ---- the sub-command */

static void set_unknown(struct command_view *view, size_t at, const char *why)
{
    view->at = view->n;
    view->names = (struct command_names){ .n = 0 };
    view->command = NULL;
    view->unknown = why;
    view->unknown_at = at;
}

/* An option before the sub-command: how many words it takes; 0: nobody knows. */
static size_t option_length(const struct command_view *view, const struct shell_word *word)
{
    size_t n = strcspn(word->text, "=");
    bool has_value = word->text[n] == '=';

    if (!view->known)
        return has_value && strncmp(word->text, "--", 2) == 0 ? 1 : 0;
    if (command_program_lists(view->known->valued, word->text, n))
        return has_value ? 1 : 2;
    if (command_program_lists(view->known->flags, word->text, n))
        return 1;
    /* "-Cdir", "-j4" */
    if (word->text[1] != '-' && strlen(word->text) > 2 &&
        (command_program_lists(view->known->valued, word->text, 2) ||
         strncmp(word->text, "-j", 2) == 0) &&
        !view->known->has_long_single_dash && strcmp(view->program, "git") != 0)
        return 1;
    return 0;
}

static bool is_number(const struct shell_word *word)
{
    return word->is_static && *word->text && strspn(word->text, "0123456789") == strlen(word->text);
}

/* The word behind the sub-command's first; NULL: there is none, or it cannot be told. */
static const char *word_behind(const struct command_view *view, size_t at)
{
    const struct shell_word *word = &view->words[at + 1];

    return at + 1 < view->n && word->is_static && !is_option(word) ? word->text : NULL;
}

static void set_command(struct command_view *view, size_t at)
{
    const char *word = view->words[at].text;

    if (view->known && view->known->abbreviates_commands &&
        strpbrk(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")) {
        set_unknown(view, at, "is another spelling"); /* runScript */
        return;
    }
    view->at = at;
    view->names = command_alias_names(view->program, word, word_behind(view, at));
    const struct command_names *names = &view->names;
    if (names->n == 1 && (at + 1 < view->n || view->has_more) &&
        command_alias_elsewhere(view->program, names->names[0], 0).n > 0) {
        set_unknown(view, at + 1, "may take the next word as its value");
        return;
    }
    view->command =
        names->names[names->n > 1 && command_alias_is_group(view->program, names->names[0])];
}

static void find_command(struct command_view *view, size_t i)
{
    bool are_options_over = false;

    view->at = view->n;
    view->names = (struct command_names){ .n = 0 };
    view->command = NULL;
    while (i < view->n) {
        const struct shell_word *word = &view->words[i];

        if (!word->is_static) {
            set_unknown(view, i, "is not known before it runs");
            return;
        }
        if (!are_options_over && strcmp(word->text, "--") == 0) {
            are_options_over = true;
            i++;
        } else if (!are_options_over && is_option(word)) {
            size_t n = option_length(view, word);

            if (n == 0) {
                set_unknown(view, i, "may take the next word as its value");
                return;
            }
            /* make -j 4 */
            if (view->known && view->known->takes_many && strcmp(word->text, "-j") == 0 &&
                i + 1 < view->n && is_number(&view->words[i + 1]))
                n = 2;
            if (n == 2 && i + 1 < view->n && view->words[i + 1].may_split) {
                set_unknown(view, i + 1, "may become several words");
                return;
            }
            i += n;
        } else if (view->known && ((view->known->skips_plus && word->text[0] == '+') ||
                                   (view->known->takes_many && strchr(word->text, '=')))) {
            i++;
        } else {
            set_command(view, i);
            return;
        }
    }
    if (view->has_more)
        set_unknown(view, view->n, "is not known before it runs");
}

void command_view_init(struct command_view *view, const char *program,
                       const struct shell_command *command)
{
    *view = (struct command_view){
        .program = program,
        .known = command_program_find(program),
        .words = command->words,
        .n = command->n_words,
        .has_more = command->has_more,
    };
    find_command(view, 1);
}

bool command_view_next(struct command_view *view)
{
    if (!view->known || !view->known->takes_many || view->unknown || view->at >= view->n)
        return false;
    find_command(view, view->at + 1);
    return view->at < view->n || view->unknown;
}

/* ---- words */

/* Whether it is the pattern's k-th word; the first ones have been compared. */
static bool is_word(const struct command_shape *shape, size_t k, const struct command_view *view,
                    size_t i)
{
    const char *text = view->words[i].text;

    if (k == 1)
        text = command_alias_behind(view->program, shape->words[0], text);
    return strcmp(text, shape->words[k]) == 0;
}

/* Whether the pattern's words from k on stand among the command's from i on, in this order. */
static enum command_answer may_follow(const struct command_shape *shape, size_t k,
                                      const struct command_view *view, size_t i)
{
    for (; i < view->n && k < shape->n_words; i++) {
        if (is_open(&view->words[i]))
            return COMMAND_MAYBE;
        if (!view->words[i].is_static) {
            /* The second word may have another spelling, which begins differently. */
            if (k == 1 ||
                strncmp(view->words[i].text, shape->words[k], strlen(view->words[i].text)) == 0)
                return COMMAND_MAYBE;
            continue;
        }
        if (is_word(shape, k, view, i))
            k++;
    }
    return k == shape->n_words || view->has_more ? COMMAND_MAYBE : COMMAND_NO;
}

/* The command begins with these names. */
static enum command_answer match_names(const struct command_shape *shape,
                                       const struct command_view *view,
                                       const struct command_names *names)
{
    size_t k = 0;
    bool after_option = false;
    bool are_options_over = false;

    for (; k < names->n && k < shape->n_words; k++)
        if (strcmp(names->names[k], shape->words[k]) != 0)
            return COMMAND_NO;
    for (size_t i = view->at + names->n_taken; i < view->n && k < shape->n_words; i++) {
        const struct shell_word *word = &view->words[i];

        if (!word->is_static)
            return may_follow(shape, k, view, i);
        if (!are_options_over && strcmp(word->text, "--") == 0) {
            are_options_over = true;
            after_option = false;
        } else if (!are_options_over && is_option(word)) {
            after_option = may_take_next(view, word->text);
        } else if (after_option) {
            return may_follow(shape, k, view, i); /* it may be the option's value */
        } else if (is_word(shape, k, view, i)) {
            k++;
        } else {
            return COMMAND_NO;
        }
    }
    if (k == shape->n_words)
        return COMMAND_YES;
    return view->has_more ? COMMAND_MAYBE : COMMAND_NO;
}

/* As the beginning of a longer word: npm publ. */
static enum command_answer match_begun(const struct command_shape *shape,
                                       const struct command_view *view)
{
    const char *word = view->words[view->at].text;
    enum command_answer best = COMMAND_NO;
    struct command_names names;

    if (command_alias_is_spelling(view->program, word))
        return COMMAND_NO;
    if (strncmp(word, shape->words[0], strlen(word)) == 0) {
        names = command_alias_names(view->program, shape->words[0], word_behind(view, view->at));
        best = match_names(shape, view, &names);
    }
    for (size_t i = 0; best != COMMAND_YES; i++) {
        names = command_alias_begun(view->program, word, i);
        if (names.n == 0)
            break;
        enum command_answer answer = match_names(shape, view, &names);
        best = answer > best ? answer : best;
    }
    return best;
}

static enum command_answer match_words(const struct command_shape *shape,
                                       const struct command_view *view, bool must)
{
    if (shape->n_words == 0)
        return COMMAND_YES;
    if (view->unknown)
        return COMMAND_MAYBE;
    if (!view->command)
        return COMMAND_NO;
    enum command_answer answer = match_names(shape, view, &view->names);
    if (answer == COMMAND_NO && !must && view->known && view->known->abbreviates_commands)
        answer = match_begun(shape, view);
    return answer;
}

/* ---- flags */

static bool is_long_form(const struct command_view *view, const char *text, const char *name,
                         bool must)
{
    size_t dashes = text[1] == '-' ? 2 : 1;
    size_t n = strcspn(text + dashes, "=");

    if (dashes == 1 && strlen(name) > 1 && n != strlen(name))
        return false;
    if (n == strlen(name))
        return memcmp(text + dashes, name, n) == 0;
    /* An abbreviation, as getopt and git take it. */
    return !must && n > 0 && n < strlen(name) && memcmp(text + dashes, name, n) == 0 &&
           !(view->known && view->known->takes_whole_options);
}

static bool has_letter(const struct command_view *view, const char *text, char letter, bool must)
{
    const char *valued = command_program_valued_letters(view->program, view->command);

    if (text[1] == '-' || (view->known && view->known->has_long_single_dash))
        return text[1] == letter && text[2] == '\0';
    if (must)
        return text[1] == letter && text[2] == '\0';
    for (const char *c = text + 1; *c && *c != '='; c++) {
        if (*c == letter)
            return true;
        if (valued && strchr(valued, *c))
            return false;
    }
    return false;
}

static bool is_flag(const struct command_view *view, const struct command_flag *flag,
                    const char *text, bool must)
{
    return (flag->name[0] && is_long_form(view, text, flag->name, must)) ||
           (flag->letter && has_letter(view, text, flag->letter, must));
}

/* "--no-force", and its abbreviations. */
static bool is_negation(const struct command_flag *flag, const char *text)
{
    size_t n = strlen(text);

    return strncmp(text, "--no-", 5) == 0 && n > 5 && flag->name[0] &&
           strncmp(text + 5, flag->name, n - 5) == 0;
}

/* What a word that is not static could still become. */
static bool may_be_flag(const struct command_view *view, const struct command_flag *flag,
                        const struct shell_word *word, bool are_options_over)
{
    bool may_be_plus = command_program_has_plus(view->program, view->command, flag->name) &&
                       (word->text[0] == '\0' || word->text[0] == '+');

    if (word->has_tilde && !word->may_split && (word->text[0] == '~' || strchr(word->text, '=')))
        return false;
    if (word->may_split || may_be_plus)
        return word->may_split ? !are_options_over || may_be_plus : true;
    if (are_options_over)
        return false;
    return word->text[0] == '\0' || (word->text[0] == '-' && !strchr(word->text, '='));
}

/* The value of an option before the sub-command, of which that is known: the dir in `-C dir`. */
static bool is_global_value(const struct command_view *view, size_t i)
{
    const char *before = view->words[i - 1].text;

    return view->known && i > 1 && i < view->at && view->words[i - 1].is_static &&
           command_program_lists(view->known->valued, before, strlen(before));
}

/* Whether a word that is no option does what the flag does, and is not the value of one. */
static bool is_operand_for(const struct command_view *view, const char *flag, size_t i,
                           bool are_options_over, bool after_option)
{
    const struct shell_word *word = &view->words[i];
    /* Of letters it is known which take a value. */
    bool is_value = after_option && word[-1].is_static && word[-1].text[1] != '-';

    return i > view->at && !is_value && (are_options_over || !is_option(word)) &&
           command_program_has_operand(view->program, view->command, flag);
}

/* Whoever names a flag in a pattern means one without a value. */
static bool is_of_pattern(const struct command_shape *shape, const struct command_view *view,
                          const char *text)
{
    for (size_t i = 0; i < shape->n_flags; i++)
        if (is_flag(view, &shape->flags[i], text, true))
            return true;
    return false;
}

static enum command_answer match_flag(const struct command_shape *shape,
                                      const struct command_flag *flag,
                                      const struct command_view *view, bool must)
{
    enum command_answer answer = view->has_more ? COMMAND_MAYBE : COMMAND_NO;
    const char letter[] = { flag->letter, '\0' };
    const char *name = flag->name[0] ? flag->name : letter;
    bool are_options_over = false;
    bool after_option = false; /* the word may be the value of the one before */
    bool is_negated = false;

    for (size_t i = 1; i < view->n; i++) {
        const struct shell_word *word = &view->words[i];
        bool is_found = false;

        if (is_global_value(view, i))
            continue;
        if (!word->is_static) {
            if (may_be_flag(view, flag, word, are_options_over) ||
                (!must && is_operand_for(view, name, i, are_options_over, after_option)))
                answer = answer == COMMAND_YES ? answer : COMMAND_MAYBE;
            after_option = true; /* it may have been one */
            continue;
        }
        if (!are_options_over && strcmp(word->text, "--") == 0) {
            /* As the value of an option it ends nothing. */
            are_options_over = must || !after_option;
            after_option = false;
            continue;
        }
        if (!must && command_program_implies(view->program, view->command, name, word->text))
            is_found = i > view->at || (is_option(word) && !are_options_over);
        if (!must && is_operand_for(view, name, i, are_options_over, after_option))
            is_found = true;
        if (!are_options_over && is_option(word)) {
            is_found = is_found || is_flag(view, flag, word->text, must);
            is_negated = is_negated || is_negation(flag, word->text);
            if (is_found && must && after_option) {
                answer = COMMAND_MAYBE;
                is_found = false;
            }
            after_option = may_take_next(view, word->text) &&
                           !(must && is_of_pattern(shape, view, word->text));
        } else {
            after_option = false;
        }
        if (is_found)
            answer = COMMAND_YES;
    }
    return answer == COMMAND_YES && must && is_negated ? COMMAND_MAYBE : answer;
}

enum command_answer command_shape_match(const struct command_shape *shape,
                                        const struct command_view *view, bool must)
{
    enum command_answer answer = match_words(shape, view, must);
    struct command_shape respelt = *shape;

    if (view->command && !command_shape_command(view->program, shape))
        command_shape_respell(view->program, view->command, &respelt);
    for (size_t i = 0; i < respelt.n_flags && answer != COMMAND_NO; i++) {
        enum command_answer flag = match_flag(&respelt, &respelt.flags[i], view, must);

        if (flag < answer)
            answer = flag;
    }
    return answer;
}
