/*
 * What only bash has: [[ ... ]], and the values of an array. Both evaluate more than they show.
 */
#include <string.h>

#include "base/cleanup.h"
#include "command/shell/private.h"

/* "(a b)" of "name=(a b)", at the bracket. */
int shell_array(struct shell_parser *p)
{
    struct shell_lexed word;
    size_t at = p->pos;

    if (shell_bash_only(p, at, "=(") < 0)
        return -1;
    p->pos++;
    for (;;) {
        if (p->n_here > 0)
            return shell_refuse(p, at, NULL, "a here-document has begun before the array");
        if (shell_skip_newlines(p) < 0)
            return -1;
        if (shell_peek(p, 0) == ')') {
            p->pos++;
            return 0;
        }
        if (!shell_at_word(p))
            return shell_refuse(p, at, NULL, "the array is not closed");
        size_t start = p->pos;
        if (shell_word(p, &word) < 0)
            return -1;
        if (memchr(p->text + start, '[', p->pos - start) || word.assign_length > 0)
            return shell_refuse(p, start, "quote it",
                                "an element with a subscript may run commands that are hidden in "
                                "values");
    }
}

static bool is_number(const struct shell_word *word)
{
    return word->is_static && *word->text && strspn(word->text, "0123456789") == strlen(word->text);
}

/* Words of [[ ]] that make bash evaluate others: as arithmetic, or as the name of a variable. */
static bool evaluates_numbers(const char *text)
{
    static const char *const operators[] = { "-eq", "-ne", "-lt", "-le", "-gt", "-ge" };

    for (size_t i = 0; i < COUNT(operators); i++)
        if (strcmp(text, operators[i]) == 0)
            return true;
    return false;
}

static int condition_word(struct shell_parser *p, struct shell_lexed *previous)
{
    struct shell_lexed word;

    if (shell_word(p, &word) < 0)
        return -1;
    if (word.word.is_static &&
        (strcmp(word.word.text, "-v") == 0 || strcmp(word.word.text, "-R") == 0))
        return shell_refuse(p, word.offset, "use -n \"$NAME\"",
                            "'%s' may run commands that are hidden in values", word.word.text);
    bool is_numeric = word.word.is_static && !word.is_quoted && evaluates_numbers(word.word.text);
    bool was_numeric = previous->word.text && previous->word.is_static && !previous->is_quoted &&
                       evaluates_numbers(previous->word.text);
    if ((is_numeric && previous->word.text && !is_number(&previous->word)) ||
        (was_numeric && !is_number(&word.word)))
        return shell_refuse(p, word.offset, "use [ ... ], which compares numbers only",
                            "a comparison of numbers in [[ ]] evaluates its operands, which may "
                            "run commands that are hidden in values");
    *previous = word;
    return 0;
}

/* Behind "[[": words, and operators that here mean no redirection and no list. */
int shell_condition(struct shell_parser *p)
{
    struct shell_lexed previous = { .word.text = NULL };
    size_t at = p->pos;

    if (shell_bash_only(p, at, "[[") < 0)
        return -1;
    for (;;) {
        if (p->n_here > 0)
            return shell_refuse(p, at, NULL, "a here-document has begun before '[['");
        while (shell_is_blank(shell_peek(p, 0)) || shell_peek(p, 0) == '\n')
            p->pos++;
        if (shell_peek(p, 0) == '#')
            return shell_refuse(p, p->pos, "quote it", "'#' is not expected in [[ ]]");
        char c = shell_peek(p, 0);
        if (c == '\0')
            return shell_refuse(p, at, "close it with ' ]]'", "the '[[' is not closed");
        if (shell_peek_reserved(p) == SHELL_COND_END) {
            p->pos += 2;
            return 0;
        }
        if (shell_at_word(p)) {
            if (condition_word(p, &previous) < 0)
                return -1;
            if (shell_peek(p, 0) == '(')
                return shell_refuse(p, p->pos, "put the pattern into a variable",
                                    "a pattern with brackets in [[ ]] cannot be split");
            continue;
        }
        bool is_double = (c == '&' || c == '|') && shell_peek(p, 1) == c;
        if ((c == '&' || c == '|') && !is_double)
            return shell_refuse(p, p->pos, NULL, "'%c' is not expected in [[ ]]", c);
        if (c == ';' || ((c == '<' || c == '>') && strchr("<>(&|", shell_peek(p, 1))))
            return shell_refuse(p, p->pos, NULL, "'%c' is not expected in [[ ]]", c);
        /* =~ takes brackets for its own */
        if (c == '(' && previous.word.text && strcmp(previous.word.text, "=~") == 0)
            return shell_refuse(p, p->pos, "put the pattern into a variable",
                                "a pattern with brackets in [[ ]] cannot be split");
        if (shell_take_operator(p, is_double ? 2 : 1) < 0)
            return -1;
        previous.word.text = NULL;
    }
}
