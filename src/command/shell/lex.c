/*
 * Characters to words. Two shells must agree on where each word ends and what it says; where they
 * do not, or where an expansion could run something, the text is refused.
 */
#include <string.h>

#include "base/cleanup.h"
#include "command/shell/private.h"

bool shell_is_name(const char *text, size_t n)
{
    if (n == 0 || !shell_is_name_start(text[0]))
        return false;
    for (size_t i = 1; i < n; i++)
        if (!shell_is_name_char(text[i]))
            return false;
    return true;
}

/* ---- between words */

bool shell_at_word(const struct shell_parser *p)
{
    return p->pos < p->n && !shell_is_word_end(p->text[p->pos]);
}

int shell_continuation(struct shell_parser *p)
{
    /* Shells differ in whether the body begins behind this line or behind the next. */
    if (p->n_here > 0)
        return shell_refuse(p, p->pos, "write the command with the here-document on one line",
                            "a line is continued after a here-document has begun on it");
    p->pos += 2;
    return 0;
}

int shell_skip_blank(struct shell_parser *p)
{
    for (;;) {
        char c = shell_peek(p, 0);

        if (shell_is_blank(c)) {
            p->pos++;
        } else if (c == '\\' && shell_peek(p, 1) == '\n') {
            if (shell_continuation(p) < 0)
                return -1;
        } else if (c == '#') {
            while (p->pos < p->n && p->text[p->pos] != '\n')
                p->pos++;
        } else {
            return 0;
        }
    }
}

int shell_newline(struct shell_parser *p)
{
    p->pos++;
    return shell_here_bodies(p);
}

int shell_skip_newlines(struct shell_parser *p)
{
    for (;;) {
        if (shell_skip_blank(p) < 0)
            return -1;
        if (shell_peek(p, 0) != '\n')
            return 0;
        if (shell_newline(p) < 0)
            return -1;
    }
}

int shell_take_operator(struct shell_parser *p, size_t n)
{
    p->pos += n;
    size_t after = 0;
    while (shell_peek(p, after) == '\\' && shell_peek(p, after + 1) == '\n')
        after += 2;
    if (after > 0 && shell_is_operator(shell_peek(p, after)))
        return shell_refuse(p, p->pos, "write the operator on one line",
                            "an operator is continued on the next line");
    return 0;
}

/* ---- words */

void shell_append(struct shell_parser *p, const struct shell_lexed *out, const char *bytes,
                  size_t n)
{
    if (!out->is_cut)
        buffer_append(&p->scratch, bytes, n);
}

static int refuse_backquote(struct shell_parser *p)
{
    return shell_refuse(p, p->pos, "run the inner command by itself and write its result",
                        "what the command substitution `...` gives is not known before it runs");
}

static int single_quoted(struct shell_parser *p, struct shell_lexed *out)
{
    const char *from = p->text + p->pos + 1;
    const char *end = memchr(from, '\'', p->n - p->pos - 1);

    if (!end)
        return shell_refuse(p, p->pos, "close it", "the quote ' is not closed");
    size_t n = (size_t)(end - from);
    if (p->n_here > 0 && memchr(from, '\n', n))
        return shell_continuation(p);
    shell_append(p, out, from, n);
    out->is_quoted = true;
    p->pos += n + 2;
    return 0;
}

static int double_quoted(struct shell_parser *p, struct shell_lexed *out)
{
    size_t start = p->pos++;

    out->is_quoted = true;
    for (;;) {
        char c = shell_peek(p, 0);
        char next = shell_peek(p, 1);

        if (c == '\0')
            return shell_refuse(p, start, "close it", "the quote \" is not closed");
        if (c == '"') {
            p->pos++;
            return 0;
        }
        if (c == '`')
            return refuse_backquote(p);
        if (c == '$') {
            if (shell_dollar(p, true, out) < 0)
                return -1;
        } else if (c == '\\' && next == '\n') {
            if (shell_continuation(p) < 0)
                return -1;
        } else if (c == '\\' && next != '\0' && strchr("$`\"\\", next)) {
            shell_append(p, out, &next, 1);
            p->pos += 2;
        } else {
            if (c == '\n' && p->n_here > 0)
                return shell_continuation(p);
            shell_append(p, out, &c, 1);
            p->pos++;
        }
    }
}

static int backslash(struct shell_parser *p, struct shell_lexed *out)
{
    char next = shell_peek(p, 1);

    if (next == '\0')
        return shell_refuse(p, p->pos, "remove it", "the text ends with a backslash");
    if (next == '\n') {
        out->is_continued = true;
        return shell_continuation(p);
    }
    shell_append(p, out, &next, 1);
    out->is_quoted = true;
    p->pos += 2;
    return 0;
}

/* What has been seen of the word so far, as long as it decides. */
struct lex_progress {
    bool may_be_name; /* only characters of a name, none quoted */
    bool has_brace;
    bool is_brace;
    char previous; /* the unquoted character before; 0 if quoted or none */
};

/* "name[12]=" and "name[12]+=" at the bracket: the length up to the '='; 0 if it is not that. */
static size_t subscript_length(const struct shell_parser *p)
{
    size_t i = 1;

    while (i < 9 && shell_is_digit(shell_peek(p, i)))
        i++;
    if (i == 1 || shell_peek(p, i) != ']')
        return 0;
    i++;
    if (shell_peek(p, i) == '+')
        i++;
    return shell_peek(p, i) == '=' ? i : 0;
}

static void at_assignment(const struct shell_parser *p, struct shell_lexed *out, bool is_appending)
{
    out->assign_length = p->scratch.length;
    out->is_appending = is_appending;
}

/* Unquoted characters that mean something in a word, besides quotes, '$' and '`'. */
static void note_character(struct shell_parser *p, struct shell_lexed *out,
                           struct lex_progress *so_far, bool is_first)
{
    char c = p->text[p->pos];

    if (c == '~' && (is_first || so_far->previous == '=' || so_far->previous == ':')) {
        bool is_cut = out->is_cut;

        shell_expanded(out, "a tilde", false);
        out->is_cut = is_cut; /* the rest is still told, as it is written */
        out->word.has_tilde = out->word.has_tilde || !is_cut;
    } else if (c == '*' || c == '?' || (c == '[' && !shell_is_word_end(shell_peek(p, 1)))) {
        shell_expanded(out, "a pattern of file names", true);
    } else if (c == '{' && shell_peek(p, 1) != '}') {
        so_far->has_brace = true;
    } else if (so_far->has_brace && (c == ',' || (c == '.' && so_far->previous == '.'))) {
        so_far->is_brace = true;
        shell_expanded(out, "a brace expansion", true);
    }
    if (so_far->may_be_name && out->assign_length == 0 && p->scratch.length > 0) {
        if (c == '=')
            at_assignment(p, out, false);
        else if (c == '+' && shell_peek(p, 1) == '=')
            at_assignment(p, out, true);
        else if (c == '[' && subscript_length(p) > 0)
            at_assignment(p, out, false);
        else if (c == '[')
            out->has_bare_bracket = true;
    }
    if (!shell_is_name_char(c) || (is_first && !shell_is_name_start(c)))
        so_far->may_be_name = false;
    so_far->previous = c;
}

/* A brace expansion begins before it is known to be one: the text is cut back to its '{'. */
static int read_word(struct shell_parser *p, struct shell_lexed *out)
{
    struct lex_progress so_far = { .may_be_name = true };
    size_t brace_at = 0;

    while (!shell_is_word_end(shell_peek(p, 0))) {
        char c = p->text[p->pos];
        bool is_first = p->pos == out->offset;
        int r = 0;

        if (c == '\'' || c == '"' || c == '\\' || c == '$' || c == '`') {
            bool is_continuation = c == '\\' && shell_peek(p, 1) == '\n';

            r = c == '\''   ? single_quoted(p, out)
                : c == '"'  ? double_quoted(p, out)
                : c == '\\' ? backslash(p, out)
                : c == '`'  ? refuse_backquote(p)
                            : shell_dollar(p, false, out);
            if (!is_continuation) {
                so_far.may_be_name = false;
                so_far.previous = 0;
            }
        } else {
            bool had_brace = so_far.has_brace;

            note_character(p, out, &so_far, is_first);
            if (so_far.has_brace && !had_brace)
                brace_at = p->scratch.length;
            shell_append(p, out, &c, 1);
            p->pos++;
        }
        if (r < 0)
            return -1;
    }
    if (so_far.is_brace && p->scratch.length > brace_at) {
        p->scratch.length = brace_at;
        p->scratch.data[brace_at] = '\0';
    }
    return 0;
}

int shell_word(struct shell_parser *p, struct shell_lexed *out)
{
    *out = (struct shell_lexed){ .offset = p->pos, .word.is_static = true };
    p->scratch.length = 0;
    if (read_word(p, out) < 0)
        return -1;
    out->word.text = shell_keep(p->split, p->scratch.data, p->scratch.length);
    if (!out->word.text || p->scratch.failed)
        return shell_out_of_memory(p);
    if (out->assign_length > 0) {
        const char *equals = strchr(out->word.text + out->assign_length, '=');

        out->value_offset = equals ? (size_t)(equals + 1 - out->word.text) : strlen(out->word.text);
    }
    return 0;
}

/* ---- reserved words: plain characters followed by what ends a word */

static const struct {
    const char *name;
    enum shell_reserved word;
} reserved_words[] = {
    { "if", SHELL_IF },
    { "then", SHELL_THEN },
    { "elif", SHELL_ELIF },
    { "else", SHELL_ELSE },
    { "fi", SHELL_FI },
    { "for", SHELL_FOR },
    { "while", SHELL_WHILE },
    { "until", SHELL_UNTIL },
    { "do", SHELL_DO },
    { "done", SHELL_DONE },
    { "case", SHELL_CASE },
    { "esac", SHELL_ESAC },
    { "in", SHELL_IN },
    { "{", SHELL_LBRACE },
    { "}", SHELL_RBRACE },
    { "!", SHELL_BANG },
    { "function", SHELL_FUNCTION },
    { "[[", SHELL_COND },
    { "]]", SHELL_COND_END },
    { "time", SHELL_TIME },
    { "select", SHELL_SELECT },
    { "coproc", SHELL_COPROC },
};

enum shell_reserved shell_peek_reserved(const struct shell_parser *p)
{
    for (size_t i = 0; i < COUNT(reserved_words); i++) {
        size_t n = strlen(reserved_words[i].name);

        if (n <= p->n - p->pos && memcmp(p->text + p->pos, reserved_words[i].name, n) == 0 &&
            shell_is_word_end(shell_peek(p, n)))
            return reserved_words[i].word;
    }
    return SHELL_NOT_RESERVED;
}

const char *shell_reserved_name(enum shell_reserved word)
{
    for (size_t i = 0; i < COUNT(reserved_words); i++)
        if (reserved_words[i].word == word)
            return reserved_words[i].name;
    return "";
}

enum shell_reserved shell_reserved_by_name(const char *text)
{
    for (size_t i = 0; i < COUNT(reserved_words); i++)
        if (strcmp(text, reserved_words[i].name) == 0)
            return reserved_words[i].word;
    return SHELL_NOT_RESERVED;
}
