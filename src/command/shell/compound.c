/*
 * Compound commands: their bodies' commands are listed like all others, whether or not a run would
 * reach them. Loop lists, case words and patterns are data.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "command/shell/private.h"

int shell_bash_only(struct shell_parser *p, size_t offset, const char *what)
{
    if (p->dialect == SHELL_BASH)
        return 0;
    return shell_refuse(p, offset, "use what POSIX has",
                        "'%s' is read differently by different shells", what);
}

int shell_expect(struct shell_parser *p, enum shell_reserved word, const char *opener)
{
    if (shell_skip_newlines(p) < 0)
        return -1;
    if (shell_peek_reserved(p) != word)
        return shell_refuse(p, p->pos, NULL, "'%s' is expected here, to go with '%s'",
                            shell_reserved_name(word), opener);
    p->pos += strlen(shell_reserved_name(word));
    return 0;
}

static void take_reserved(struct shell_parser *p, enum shell_reserved word)
{
    p->pos += strlen(shell_reserved_name(word));
}

/* A word that is only data. */
static int data_word(struct shell_parser *p, struct shell_lexed *out, const char *after)
{
    if (shell_skip_blank(p) < 0)
        return -1;
    if (!shell_at_word(p))
        return shell_refuse(p, p->pos, NULL, "a word is expected after '%s'", after);
    return shell_word(p, out);
}

int shell_subshell(struct shell_parser *p)
{
    size_t at = p->pos;

    if (shell_peek(p, 1) == '(') {
        /* Numbers and signs only, as in $((...)); anything else may be a subshell in a subshell. */
        struct shell_lexed ignored = { .word.is_static = true, .is_cut = true };

        if (shell_bash_only(p, at, "((") < 0)
            return -1;
        return shell_arithmetic(p, strlen("(("), &ignored);
    }
    if (shell_take_operator(p, 1) < 0 || shell_list(p, false) < 0)
        return -1;
    if (shell_peek(p, 0) != ')')
        return shell_refuse(p, at, "close it", "the '(' is not closed");
    return shell_take_operator(p, 1);
}

static int group(struct shell_parser *p)
{
    return shell_list(p, false) < 0 ? -1 : shell_expect(p, SHELL_RBRACE, "{");
}

static int if_command(struct shell_parser *p)
{
    for (;;) {
        if (shell_list(p, false) < 0 || shell_expect(p, SHELL_THEN, "if") < 0 ||
            shell_list(p, false) < 0)
            return -1;
        if (shell_peek_reserved(p) != SHELL_ELIF)
            break;
        take_reserved(p, SHELL_ELIF);
    }
    if (shell_peek_reserved(p) == SHELL_ELSE) {
        take_reserved(p, SHELL_ELSE);
        if (shell_list(p, false) < 0)
            return -1;
    }
    return shell_expect(p, SHELL_FI, "if");
}

static int do_group(struct shell_parser *p, const char *opener)
{
    if (shell_expect(p, SHELL_DO, opener) < 0 || shell_list(p, false) < 0)
        return -1;
    return shell_expect(p, SHELL_DONE, opener);
}

static int while_command(struct shell_parser *p, const char *name)
{
    p->n_repeating++;
    int r = shell_list(p, false) < 0 ? -1 : do_group(p, name);
    p->n_repeating--;
    return r;
}

static int for_words(struct shell_parser *p)
{
    struct shell_lexed word;

    take_reserved(p, SHELL_IN);
    for (;;) {
        if (shell_skip_blank(p) < 0)
            return -1;
        if (!shell_at_word(p))
            break;
        if (shell_word(p, &word) < 0)
            return -1;
    }
    if (shell_peek(p, 0) == '\n')
        return 0;
    if (shell_peek(p, 0) != ';')
        return shell_refuse(p, p->pos, "put ';' before 'do'",
                            "the list of 'for' ends with ';' or a newline");
    return shell_take_operator(p, 1);
}

static int for_command(struct shell_parser *p)
{
    struct shell_lexed name = { .offset = 0 };

    if (shell_skip_blank(p) < 0)
        return -1;
    if (shell_peek(p, 0) == '(')
        return shell_refuse(p, p->pos, "loop over words: 'for i in 1 2 3'",
                            "arithmetic on variables may run commands that are hidden in values");
    if (data_word(p, &name, "for") < 0)
        return -1;
    if (name.is_quoted || name.is_continued || !name.word.is_static ||
        !shell_is_name(name.word.text, strlen(name.word.text)))
        return shell_refuse(p, name.offset, NULL, "'for' wants the name of a variable");
    if (shell_variable_is_dangerous(name.word.text, strlen(name.word.text), NULL))
        return shell_refuse(p, name.offset, "use another name",
                            "the variable '%s' changes what is run", name.word.text);
    if (shell_skip_blank(p) < 0)
        return -1;
    if (shell_peek(p, 0) == ';') {
        if (shell_take_operator(p, 1) < 0)
            return -1;
    } else {
        if (shell_skip_newlines(p) < 0)
            return -1;
        if (shell_peek_reserved(p) == SHELL_IN && for_words(p) < 0)
            return -1;
    }
    p->n_repeating++;
    int r = do_group(p, "for");
    p->n_repeating--;
    return r;
}

/* ---- case */

static int case_patterns(struct shell_parser *p)
{
    struct shell_lexed pattern = { .offset = 0 };

    if (shell_peek(p, 0) == '(' && shell_take_operator(p, 1) < 0)
        return -1;
    for (;;) {
        if (data_word(p, &pattern, "case") < 0)
            return -1;
        if (!pattern.is_quoted && pattern.word.is_static &&
            shell_reserved_by_name(pattern.word.text) != SHELL_NOT_RESERVED)
            return shell_refuse(p, pattern.offset, "quote it",
                                "the reserved word '%s' as a pattern is read differently by "
                                "different shells",
                                pattern.word.text);
        if (shell_skip_blank(p) < 0)
            return -1;
        char c = shell_peek(p, 0);
        if (c != '|' && c != ')')
            return shell_refuse(p, p->pos, "quote what belongs to the pattern",
                                "'|' or ')' is expected after a pattern of 'case'");
        if (shell_take_operator(p, 1) < 0)
            return -1;
        if (c == ')')
            return 0;
    }
}

/* Behind the body: ";;", in bash also ";&" and ";;&". 1: there is one, 0: none. */
static int case_separator(struct shell_parser *p)
{
    bool is_double = shell_peek(p, 0) == ';' && shell_peek(p, 1) == ';';
    bool falls = shell_peek(p, is_double ? 2 : 1) == '&';

    if (shell_peek(p, 0) != ';' || (!is_double && !falls))
        return 0;
    if (falls && shell_bash_only(p, p->pos, is_double ? ";;&" : ";&") < 0)
        return -1;
    return shell_take_operator(p, (is_double ? 2 : 1) + (falls ? 1 : 0)) < 0 ? -1 : 1;
}

static int case_command(struct shell_parser *p)
{
    struct shell_lexed word;

    if (data_word(p, &word, "case") < 0 || shell_expect(p, SHELL_IN, "case") < 0)
        return -1;
    for (;;) {
        if (shell_skip_newlines(p) < 0)
            return -1;
        if (shell_peek_reserved(p) == SHELL_ESAC)
            break;
        if (case_patterns(p) < 0 || shell_list(p, true) < 0)
            return -1;
        int r = case_separator(p);
        if (r < 0)
            return -1;
        if (r == 0)
            break;
    }
    return shell_expect(p, SHELL_ESAC, "case");
}

/* ---- functions */

static int add_function(struct shell_parser *p, const struct shell_lexed *name)
{
    struct shell_split *split = p->split;

    if (split->n_functions == 256)
        return shell_refuse(p, name->offset, NULL, "too many functions");
    if (split->n_functions == split->functions_capacity) {
        size_t capacity = split->functions_capacity ? 2 * split->functions_capacity : 8;
        struct shell_function *more = realloc(split->functions, capacity * sizeof *more);

        if (!more)
            return shell_out_of_memory(p);
        split->functions = more;
        split->functions_capacity = capacity;
    }
    struct shell_function *function = &split->functions[split->n_functions++];
    *function = (struct shell_function){ .name = name->word.text, .certain_from = -1 };
    shell_locate(p, name->offset, &function->line, &function->column);
    return 0;
}

static int check_function_name(struct shell_parser *p, const struct shell_lexed *name)
{
    const char *text = name->word.text;

    if (name->is_quoted || name->is_continued || !name->word.is_static ||
        !shell_is_name(text, strlen(text)))
        return shell_refuse(p, name->offset, "use letters, digits and '_'",
                            "'%s' is no name for a function in every shell", text);
    if (shell_is_builtin_name(text) || shell_is_wrapper_name(text) ||
        shell_reserved_by_name(text) != SHELL_NOT_RESERVED)
        return shell_refuse(p, name->offset, "use another name",
                            "the function '%s' takes the place of the command of that name", text);
    return 0;
}

static int function_compound(struct shell_parser *p, const struct shell_lexed *name,
                             bool is_certain)
{
    if (check_function_name(p, name) < 0 || shell_skip_newlines(p) < 0)
        return -1;
    if (p->n_here > 0)
        return shell_refuse(p, p->pos, NULL, "a here-document has begun before the function");
    enum shell_reserved word = shell_peek_reserved(p);
    if (word != SHELL_LBRACE && shell_peek(p, 0) != '(')
        return shell_refuse(p, p->pos, "write '{ ...; }'",
                            "the body of a function is expected in '{ }' or '( )'");
    int index = (int)p->split->n_functions;
    if (add_function(p, name) < 0)
        return -1;
    p->n_repeating++;
    int r = -1;
    if (word == SHELL_LBRACE) {
        take_reserved(p, word);
        r = group(p);
    } else {
        r = shell_subshell(p);
    }
    p->n_repeating--;
    if (is_certain)
        p->defined = index;
    return r;
}

int shell_function_body(struct shell_parser *p, bool is_certain)
{
    struct shell_lexed name = p->function;

    p->pos++; /* the '(' */
    while (shell_is_blank(shell_peek(p, 0)))
        p->pos++;
    if (shell_peek(p, 0) != ')')
        return shell_refuse(p, p->pos, "quote the '('", "')' is expected after '%s('",
                            name.word.text);
    p->pos++;
    return function_compound(p, &name, is_certain);
}

static int function_keyword(struct shell_parser *p)
{
    struct shell_lexed name;

    if (shell_bash_only(p, p->pos, "function") < 0 || data_word(p, &name, "function") < 0 ||
        shell_skip_blank(p) < 0)
        return -1;
    if (shell_peek(p, 0) == '(') {
        p->pos++;
        while (shell_is_blank(shell_peek(p, 0)))
            p->pos++;
        if (shell_peek(p, 0) != ')')
            return shell_refuse(p, p->pos, NULL, "')' is expected here");
        p->pos++;
    }
    return function_compound(p, &name, false);
}

/* ---- all of them */

static int while_loop(struct shell_parser *p)
{
    return while_command(p, "while");
}

static int until_loop(struct shell_parser *p)
{
    return while_command(p, "until");
}

static const struct {
    enum shell_reserved word;
    int (*read)(struct shell_parser *p);
} compounds[] = {
    { SHELL_LBRACE, group },
    { SHELL_IF, if_command },
    { SHELL_WHILE, while_loop },
    { SHELL_UNTIL, until_loop },
    { SHELL_FOR, for_command },
    { SHELL_CASE, case_command },
    { SHELL_FUNCTION, function_keyword },
    { SHELL_COND, shell_condition },
};

int shell_compound(struct shell_parser *p, enum shell_reserved word)
{
    size_t at = p->pos;
    const char *name = shell_reserved_name(word);

    take_reserved(p, word);
    for (size_t i = 0; i < COUNT(compounds); i++)
        if (compounds[i].word == word)
            return compounds[i].read(p);
    if (word == SHELL_SELECT || word == SHELL_COPROC)
        return shell_refuse(p, at, "do without it", "'%s' cannot be decided", name);
    return shell_refuse(p, at, "quote it if it is meant as a name",
                        "the reserved word '%s' is not expected here", name);
}
