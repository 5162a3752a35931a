/*
 * Lists, pipelines and simple commands. Recursive descent; shell_enter() bounds the depth.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "command/shell/private.h"

int shell_enter(struct shell_parser *p)
{
    if (p->depth == SHELL_DEPTH_MAX)
        return shell_refuse(p, p->pos, NULL, "the text is nested more than %d deep",
                            SHELL_DEPTH_MAX);
    p->depth++;
    return 0;
}

void shell_leave(struct shell_parser *p)
{
    p->depth--;
}

/* ---- simple commands */

static int refuse_not_static(struct shell_parser *p, const struct shell_lexed *lexed)
{
    return shell_refuse(p, lexed->offset, "write the command's name",
                        "which command runs is not known before: %s stands in command position",
                        lexed->why);
}

static int add_word(struct shell_parser *p, const struct shell_word *word)
{
    if (p->n_words == p->words_capacity) {
        size_t capacity = p->words_capacity ? 2 * p->words_capacity : 32;
        struct shell_word *more = realloc(p->words, capacity * sizeof *more);

        if (!more)
            return shell_out_of_memory(p);
        p->words = more;
        p->words_capacity = capacity;
    }
    p->words[p->n_words++] = *word;
    return 0;
}

struct assignments {
    struct shell_assignment items[32];
    size_t n;
};

static int assignment(struct shell_parser *p, const struct shell_lexed *lexed,
                      struct assignments *out)
{
    const char *text = lexed->word.text;
    size_t n = lexed->assign_length;
    struct shell_word value = lexed->word;

    if (lexed->is_continued)
        return shell_refuse(p, lexed->offset, "write it on one line",
                            "an assignment is continued on the next line");
    if (p->dialect == SHELL_POSIX && (lexed->is_appending || text[n] == '['))
        return shell_refuse(p, lexed->offset, "use NAME=VALUE",
                            "this assignment is read differently by different shells");
    if (out->n == COUNT(out->items))
        return shell_refuse(p, lexed->offset, NULL, "too many assignments before one command");
    value.text = text + lexed->value_offset;
    if (shell_variable_is_dangerous(text, n,
                                    lexed->is_appending || shell_peek(p, 0) == '(' ? NULL : &value))
        return shell_refuse(p, lexed->offset, "set it in the policy's environment",
                            "the variable '%.*s' changes what is run", (int)n, text);
    if (shell_peek(p, 0) == '(') {
        if (text[lexed->value_offset] != '\0' || !lexed->word.is_static)
            return shell_refuse(p, p->pos, NULL, "'(' is not expected here");
        if (shell_array(p) < 0)
            return -1;
        value.is_static = false;
    }
    const char *name = shell_keep(p->split, text, n);
    if (!name)
        return shell_out_of_memory(p);
    out->items[out->n++] = (struct shell_assignment){ name, value };
    return 0;
}

/* "2>" and "{name}>": digits are a descriptor, but only one in dash. -1: refused, 1: it is one. */
static int descriptor(struct shell_parser *p, const struct shell_lexed *lexed, int *fd)
{
    const char *text = lexed->word.text;
    size_t n = strlen(text);
    char next = shell_peek(p, 0);

    if ((next != '<' && next != '>') || !lexed->word.is_static || lexed->is_quoted || n == 0)
        return 0;
    if (text[0] == '{' && text[n - 1] == '}')
        return shell_refuse(p, lexed->offset, "use a number",
                            "'%s' before a redirection sets a variable in bash", text);
    if (strspn(text, "0123456789") != n)
        return 0;
    if (n > 3 || lexed->is_continued || (n > 1 && p->dialect == SHELL_POSIX))
        return shell_refuse(p, lexed->offset, "put a blank behind it, or use a smaller number",
                            "'%s' before a redirection is read differently by different shells",
                            text);
    *fd = atoi(text);
    return 1;
}

static int add_command(struct shell_parser *p, struct shell_command *command, size_t offset,
                       const struct assignments *assignments,
                       const struct shell_redirects *redirects)
{
    struct shell_split *split = p->split;

    shell_locate(p, offset, &command->line, &command->column);
    command->via = p->via;
    command->is_direct = true;
    command->directory = p->outer ? p->outer->directory : NULL;
    command->may_repeat = p->n_repeating > 0;
    command->n_words = p->n_words;
    command->n_assignments = assignments ? assignments->n : 0;
    command->n_redirects = redirects->n;
    command->words = shell_allocate(split, p->n_words * sizeof *command->words);
    command->assignments =
        shell_allocate(split, command->n_assignments * sizeof *command->assignments);
    command->redirects = shell_allocate(split, redirects->n * sizeof *command->redirects);
    if (!command->words || !command->assignments || !command->redirects)
        return shell_out_of_memory(p);
    if (p->n_words > 0)
        memcpy(command->words, p->words, p->n_words * sizeof *command->words);
    if (command->n_assignments > 0)
        memcpy(command->assignments, assignments->items,
               command->n_assignments * sizeof *command->assignments);
    if (redirects->n > 0)
        memcpy(command->redirects, redirects->items, redirects->n * sizeof *command->redirects);
    p->n_words = 0;
    if (command->n_words > 0 && shell_builtin(split, command, p->dialect) < 0)
        return -1;
    int index = shell_add(split, command);
    if (index < 0)
        return split->refusal ? -1 : shell_out_of_memory(p);
    return index;
}

/* The first word of a command that is neither assignment nor redirection. */
static int check_name(struct shell_parser *p, const struct shell_lexed *lexed, bool is_first)
{
    if (lexed->has_bare_bracket)
        return shell_refuse(p, lexed->offset, "quote it",
                            "'%s' begins like an assignment to an array", lexed->word.text);
    if (!lexed->word.is_static)
        return refuse_not_static(p, lexed);
    if (!lexed->is_quoted && shell_reserved_by_name(lexed->word.text) != SHELL_NOT_RESERVED &&
        !(is_first && !lexed->is_continued && strcmp(lexed->word.text, "time") == 0) &&
        strcmp(lexed->word.text, "in") != 0)
        return shell_refuse(p, lexed->offset, "quote it if it is meant as a name",
                            "the reserved word '%s' is not expected here", lexed->word.text);
    return 0;
}

struct simple {
    struct shell_redirects redirects;
    struct assignments assignments;
    size_t offset;
};

/* One word at its place. 1: it is the name of a function that is being defined. */
static int simple_word(struct shell_parser *p, struct simple *simple)
{
    struct shell_lexed lexed;
    int fd = -1;

    if (shell_word(p, &lexed) < 0)
        return -1;
    int r = descriptor(p, &lexed, &fd);
    if (r < 0)
        return -1;
    if (r > 0)
        return shell_redirect(p, fd, &simple->redirects);
    if (p->n_words == 0) {
        if (lexed.assign_length > 0)
            return assignment(p, &lexed, &simple->assignments);
        if (check_name(p, &lexed, lexed.offset == simple->offset) < 0)
            return -1;
        if (lexed.offset == simple->offset) {
            if (shell_skip_blank(p) < 0)
                return -1;
            if (shell_peek(p, 0) == '(') {
                p->function = lexed;
                return 1;
            }
        }
    }
    return add_word(p, &lexed.word);
}

/* 1: it is the definition of a function; its body is still to be read, and may be nested deeply, so
 * what is on the stack here must be gone by then. */
static __attribute__((noinline)) int simple_command(struct shell_parser *p)
{
    struct simple simple = { .offset = p->pos };
    int and_after = p->and_previous;

    p->and_previous = -1;
    p->n_words = 0;
    for (;;) {
        int r = 0;

        if (shell_skip_blank(p) < 0)
            return -1;
        if (shell_at_redirect(p))
            r = shell_redirect(p, -1, &simple.redirects);
        else if (shell_at_word(p))
            r = simple_word(p, &simple);
        else if (shell_peek(p, 0) == '(')
            return shell_refuse(p, p->pos, "quote it", "'(' is not expected here");
        else
            break;
        if (r != 0)
            return r;
    }
    if (p->pos == simple.offset)
        return shell_refuse(p, p->pos, NULL, "a command is expected here");
    struct shell_command command = { .and_after = and_after };
    int index = add_command(p, &command, simple.offset, &simple.assignments, &simple.redirects);
    if (index < 0)
        return -1;
    p->single = index;
    if (shell_wrapper(p->split, (size_t)index, p->dialect, true, p->depth) < 0)
        return p->split->refusal ? -1 : shell_out_of_memory(p);
    return 0;
}

/* ---- commands and pipelines */

static __attribute__((noinline)) int redirects_of_compound(struct shell_parser *p)
{
    struct shell_redirects redirects = { .n = 0 };
    size_t offset = p->pos;

    for (;;) {
        int fd = -1;

        if (shell_skip_blank(p) < 0)
            return -1;
        if (shell_is_digit(shell_peek(p, 0))) {
            struct shell_lexed lexed;
            if (shell_word(p, &lexed) < 0)
                return -1;
            int r = descriptor(p, &lexed, &fd);
            if (r <= 0)
                return r < 0 ? -1
                             : shell_refuse(p, lexed.offset, NULL, "'%s' is not expected here",
                                            lexed.word.text);
        } else if (!shell_at_redirect(p)) {
            break;
        }
        if (shell_redirect(p, fd, &redirects) < 0)
            return -1;
    }
    if (redirects.n == 0)
        return 0;
    if (shell_at_word(p))
        return shell_refuse(p, p->pos, "put ';' before it", "a word is not expected here");
    struct shell_command command = { .and_after = -1 };
    p->n_words = 0;
    return add_command(p, &command, offset, NULL, &redirects) < 0 ? -1 : 0;
}

int shell_command(struct shell_parser *p)
{
    enum shell_reserved word = shell_peek_reserved(p);
    bool is_plain = word == SHELL_NOT_RESERVED || word == SHELL_IN ||
                    (word == SHELL_TIME && (p->dialect == SHELL_POSIX || p->single == -2));

    bool is_certain = p->may_define;
    int r = 0;

    p->may_define = false;
    if (shell_peek(p, 0) != '(' && is_plain) {
        r = simple_command(p);
        if (r <= 0)
            return r;
    }
    p->and_previous = -1;
    if (shell_enter(p) < 0)
        return -1;
    r = r == 1                       ? shell_function_body(p, is_certain)
        : word == SHELL_NOT_RESERVED ? shell_subshell(p)
                                     : shell_compound(p, word);
    shell_leave(p);
    p->single = -1;
    return r < 0 ? -1 : redirects_of_compound(p);
}

static int time_options(struct shell_parser *p)
{
    static const char *const options[] = { "-p", "--" };

    for (size_t i = 0; i < 2; i++) {
        char after = shell_peek(p, 2);

        if (strncmp(p->text + p->pos, options[i], p->n - p->pos < 2 ? p->n - p->pos : 2) != 0 ||
            (!shell_is_blank(after) && after != '\n' && after != '\0') || p->n - p->pos < 2)
            continue;
        p->pos += 2;
        if (shell_skip_blank(p) < 0)
            return -1;
    }
    if (shell_peek(p, 0) == '-')
        return shell_refuse(p, p->pos, "use 'time COMMAND'", "this option of 'time' is not known");
    return 0;
}

/* "!" and, in bash, "time [-p] [--]" before a pipeline. */
static int pipeline_prefix(struct shell_parser *p, bool *is_prefixed, bool *may_be_empty)
{
    for (;;) {
        enum shell_reserved word = shell_peek_reserved(p);

        if (word != SHELL_BANG && (word != SHELL_TIME || p->dialect == SHELL_POSIX))
            return 0;
        *is_prefixed = true;
        *may_be_empty = word == SHELL_TIME;
        p->pos += strlen(shell_reserved_name(word));
        if (word == SHELL_BANG && shell_peek(p, 0) == '(')
            return shell_refuse(p, p->pos, "put a blank behind '!'",
                                "'!(' may be a pattern of file names");
        if (shell_skip_blank(p) < 0)
            return -1;
        if (word == SHELL_TIME && time_options(p) < 0)
            return -1;
    }
}

static bool at_list_end(const struct shell_parser *p)
{
    char c = shell_peek(p, 0);

    return c == '\0' || c == '\n' || c == ';' || c == ')' || (c == '&' && shell_peek(p, 1) != '>');
}

static int pipeline(struct shell_parser *p)
{
    bool is_prefixed = false;
    bool may_be_empty = false;
    int defined = p->defined;

    if (pipeline_prefix(p, &is_prefixed, &may_be_empty) < 0)
        return -1;
    p->single = -1;
    if (may_be_empty && at_list_end(p))
        return 0;
    if (is_prefixed)
        p->and_previous = -1;
    if (shell_command(p) < 0)
        return -1;
    bool is_one = !is_prefixed;
    for (;;) {
        if (shell_skip_blank(p) < 0)
            return -1;
        bool is_both = shell_peek(p, 1) == '&';
        if (shell_peek(p, 0) != '|' || shell_peek(p, 1) == '|')
            break;
        if (is_both && p->dialect == SHELL_POSIX)
            return shell_refuse(p, p->pos, "write '2>&1 |'",
                                "'|&' is read differently by different shells");
        if (shell_take_operator(p, is_both ? 2 : 1) < 0 || shell_skip_newlines(p) < 0)
            return -1;
        is_one = false;
        p->defined = defined; /* a definition in a pipeline is gone behind it */
        p->single = -2;       /* here `time` is an ordinary command */
        if (shell_command(p) < 0)
            return -1;
    }
    if (!is_one)
        p->single = -1;
    return 0;
}

/* ---- lists */

static int and_or(struct shell_parser *p)
{
    for (;;) {
        if (pipeline(p) < 0)
            return -1;
        char c = shell_peek(p, 0);
        if ((c != '&' && c != '|') || shell_peek(p, 1) != c)
            return 0;
        if (shell_take_operator(p, 2) < 0 || shell_skip_newlines(p) < 0)
            return -1;
        p->and_previous = c == '&' ? p->single : -1;
    }
}

/* What ends a list: it is left to whoever reads the construct around it. */
static bool at_terminator(const struct shell_parser *p)
{
    static const enum shell_reserved closing[] = {
        SHELL_THEN, SHELL_ELIF, SHELL_ELSE, SHELL_FI, SHELL_DO, SHELL_DONE, SHELL_ESAC, SHELL_RBRACE
    };
    enum shell_reserved word = shell_peek_reserved(p);

    for (size_t i = 0; i < COUNT(closing); i++)
        if (closing[i] == word)
            return true;
    char c = shell_peek(p, 0);
    return c == '\0' || c == ')' ||
           (c == ';' && strchr(";&", shell_peek(p, 1)) && shell_peek(p, 1));
}

int shell_list(struct shell_parser *p, bool may_be_empty)
{
    size_t start = p->pos;
    bool is_top = p->depth == p->base_depth;

    if (shell_skip_newlines(p) < 0)
        return -1;
    for (bool is_empty = true;; is_empty = false) {
        if (at_terminator(p)) {
            if (is_empty && !may_be_empty)
                return shell_refuse(p, start, NULL, "a command is expected here");
            return 0;
        }
        size_t first_command = p->split->n_commands;
        p->and_previous = -1;
        p->may_define = is_top;
        if (is_top)
            p->defined = -1;
        if (and_or(p) < 0)
            return -1;
        char c = shell_peek(p, 0);
        if (is_top && p->defined >= 0 && c != '&')
            p->split->functions[p->defined].certain_from = (int)first_command;
        if (c == ';' && (shell_peek(p, 1) == ';' || shell_peek(p, 1) == '&'))
            return 0;
        if (c != ';' && c != '&' && c != '\n')
            return 0;
        if (c != '\n' && shell_take_operator(p, 1) < 0)
            return -1;
        if (shell_skip_newlines(p) < 0)
            return -1;
    }
}
