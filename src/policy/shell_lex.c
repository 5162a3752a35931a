/*
 * Characters to words. Two shells must agree on where each word ends and what it says; where they
 * do not, or where an expansion could run something, the text is refused.
 *
 * An expansion is taken only in forms that cannot run anything: not $(...) and `...`, nor what bash
 * evaluates as arithmetic (a variable that holds "a[$(rm x)]" runs rm in $((v)), ${a[v]}, ${s:v}
 * and (( v ))), nor ${!v} and ${v@P}.
 */
#include <string.h>

#include "base/cleanup.h"
#include "policy/shell_private.h"

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

static bool is_word_end(char c)
{
    return c == '\0' || c == '\n' || shell_is_blank(c) || shell_is_operator(c);
}

bool shell_at_word(const struct shell_parser *p)
{
    return p->pos < p->n && !is_word_end(p->text[p->pos]);
}

static int continuation(struct shell_parser *p)
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
            if (continuation(p) < 0)
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

/* ---- expansions */

void shell_expanded(struct shell_lexed *out, const char *why, bool may_split)
{
    out->word.is_static = false;
    out->is_cut = true;
    out->word.may_split = out->word.may_split || may_split;
    if (!out->why)
        out->why = why;
}

static int refuse_parameter(struct shell_parser *p)
{
    return shell_refuse(p, p->pos, "use '$NAME' or '${NAME}'",
                        "this form of parameter expansion may run commands that are hidden in "
                        "values, or is read differently by different shells");
}

/* What may stand behind the operator in ${name:-word}: nothing that quotes or expands. */
static size_t skip_plain(const struct shell_parser *p, size_t i)
{
    for (; i < p->n; i++)
        if (!shell_is_name_char(p->text[i]) && !strchr("./:,+%=-#*?@^ ", p->text[i]))
            break;
    return i;
}

static size_t skip_digits(const struct shell_parser *p, size_t i)
{
    while (i < p->n && shell_is_digit(p->text[i]))
        i++;
    return i;
}

/* ":-word", "%%.*", ":1:2" ... Returns the offset behind, 0 if it is none of the harmless forms. */
static size_t skip_parameter_operator(const struct shell_parser *p, size_t i)
{
    char c = p->text[i];
    char next = i + 1 < p->n ? p->text[i + 1] : '\0';

    if (c == '-' || c == '?' || c == '+' || c == '#' || c == '%')
        return skip_plain(p, i + 1);
    if (c == ':' && (next == '-' || next == '?' || next == '+'))
        return skip_plain(p, i + 2);
    if (p->dialect == SHELL_POSIX)
        return 0;
    if (c == '/' || c == '^' || c == ',')
        return skip_plain(p, i + 1);
    if (c == ':' && shell_is_digit(next)) {
        i = skip_digits(p, i + 1);
        if (i < p->n && p->text[i] == ':')
            i = skip_digits(p, i + 1);
        return i;
    }
    return 0;
}

/* [@], [*] or [12]: other subscripts are arithmetic. 0 if it is none of them. */
static size_t skip_subscript(const struct shell_parser *p, size_t i, bool *is_many)
{
    if (p->dialect == SHELL_POSIX || i + 2 >= p->n)
        return 0;
    if (p->text[i + 1] == '@' || p->text[i + 1] == '*') {
        *is_many = true;
        i += 2;
    } else {
        size_t end = skip_digits(p, i + 1);
        if (end == i + 1 || end - i > 9)
            return 0;
        i = end;
    }
    return i < p->n && p->text[i] == ']' ? i + 1 : 0;
}

/* At "${". */
static int braced_parameter(struct shell_parser *p, bool is_quoted, struct shell_lexed *out)
{
    size_t i = p->pos + 2;
    bool is_many = false;
    bool is_length = i + 1 < p->n && p->text[i] == '#' && p->text[i + 1] != '}';

    i += is_length;
    if (i >= p->n)
        return refuse_parameter(p);
    if (shell_is_name_start(p->text[i])) {
        while (i < p->n && shell_is_name_char(p->text[i]))
            i++;
        if (i < p->n && p->text[i] == '[') {
            i = skip_subscript(p, i, &is_many);
            if (i == 0)
                return refuse_parameter(p);
        }
    } else if (shell_is_digit(p->text[i])) {
        i = skip_digits(p, i);
    } else if (strchr("@*", p->text[i])) {
        is_many = true;
        i++;
    } else if (strchr("#?$!", p->text[i]) && i + 1 < p->n && p->text[i + 1] == '}') {
        i++;
    } else {
        return refuse_parameter(p);
    }
    if (!is_length && i < p->n && p->text[i] != '}') {
        i = skip_parameter_operator(p, i);
        if (i == 0)
            return refuse_parameter(p);
    }
    if (i >= p->n || p->text[i] != '}')
        return refuse_parameter(p);
    p->pos = i + 1;
    shell_expanded(out, "a parameter expansion", !is_length && (!is_quoted || is_many));
    return 0;
}

/* Numbers and signs only, because a name could hold a command. */
int shell_arithmetic(struct shell_parser *p, size_t opener_length, struct shell_lexed *out)
{
    unsigned open = 2;
    size_t i = p->pos + opener_length;

    for (; i < p->n && open > 0; i++) {
        if (p->text[i] == '(')
            open++;
        else if (p->text[i] == ')')
            open--;
        else if (!shell_is_digit(p->text[i]) && !strchr("+-*/% ", p->text[i]))
            break;
        if (open == 1 && (i + 1 >= p->n || p->text[i + 1] != ')'))
            break; /* not the "))" that ends it: perhaps a substitution with a subshell */
    }
    if (open > 0)
        return shell_refuse(p, p->pos, "compute it before and write the number",
                            "arithmetic on variables may run commands that are hidden in values");
    p->pos = i;
    shell_expanded(out, "an arithmetic expansion", false);
    return 0;
}

static void append(struct shell_parser *p, const struct shell_lexed *out, const char *bytes,
                   size_t n)
{
    if (!out->is_cut)
        buffer_append(&p->scratch, bytes, n);
}

static int hex_value(char c)
{
    if (shell_is_digit(c))
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One escape of $'...', at the backslash. Those that depend on the locale are refused. */
static int ansi_escape(struct shell_parser *p, const struct shell_lexed *out)
{
    static const char from[] = "abeEfnrtv\\'\"?";
    static const char to[] = "\a\b\033\033\f\n\r\t\v\\'\"?";
    char c = shell_peek(p, 1);
    const char *found = c ? strchr(from, c) : NULL;
    unsigned value = 0;
    size_t n = 0;

    if (found) {
        append(p, out, &to[found - from], 1);
        p->pos += 2;
        return 0;
    }
    if (c == 'x')
        for (; n < 2 && hex_value(shell_peek(p, 2 + n)) >= 0; n++)
            value = value * 16 + (unsigned)hex_value(shell_peek(p, 2 + n));
    else
        for (; n < 3 && shell_peek(p, 1 + n) >= '0' && shell_peek(p, 1 + n) <= '7'; n++)
            value = value * 8 + (unsigned)(shell_peek(p, 1 + n) - '0');
    char byte = (char)value;
    if (n == 0 || (value & 0xFF) == 0 || (value & 0xFF) == 1 || (value & 0xFF) == 0x7F)
        return shell_refuse(p, p->pos, "write the character itself",
                            "this escape in $'...' is read differently by different shells");
    append(p, out, &byte, 1);
    p->pos += n + (c == 'x' ? 2 : 1);
    return 0;
}

/* At "$'". */
static int ansi_quoted(struct shell_parser *p, struct shell_lexed *out)
{
    size_t start = p->pos;

    if (p->dialect == SHELL_POSIX)
        return shell_refuse(p, start, "use '...'",
                            "$'...' is read differently by different shells");
    out->is_quoted = true;
    for (p->pos += 2;;) {
        char c = shell_peek(p, 0);

        if (c == '\0')
            return shell_refuse(p, start, "close it", "the quote $' is not closed");
        if (c == '\n' && p->n_here > 0)
            return continuation(p);
        if (c == '\'') {
            p->pos++;
            return 0;
        }
        if (c == '\\') {
            if (ansi_escape(p, out) < 0)
                return -1;
        } else {
            append(p, out, &c, 1);
            p->pos++;
        }
    }
}

int shell_dollar(struct shell_parser *p, bool is_quoted, struct shell_lexed *out)
{
    char c = shell_peek(p, 1);

    if (c == '(' && shell_peek(p, 2) == '(')
        return shell_arithmetic(p, strlen("$(("), out);
    if (c == '(')
        return shell_refuse(p, p->pos, "run the inner command by itself and write its result",
                            "what the command substitution $(...) gives is not known before it "
                            "runs");
    if (c == '{')
        return braced_parameter(p, is_quoted, out);
    if (c == '\'' && !is_quoted)
        return ansi_quoted(p, out);
    if ((c == '"' && !is_quoted) || c == '[' || (c == '\\' && shell_peek(p, 2) == '\n'))
        return shell_refuse(p, p->pos, NULL,
                            "'$' followed by %s is read differently by different "
                            "shells",
                            c == '"'   ? "a quote"
                            : c == '[' ? "'['"
                                       : "a line's end");
    if (shell_is_name_start(c)) {
        p->pos += 2;
        while (shell_is_name_char(shell_peek(p, 0)))
            p->pos++;
        shell_expanded(out, "a parameter expansion", !is_quoted);
        return 0;
    }
    if (c != '\0' && (shell_is_digit(c) || strchr("@*#?-$!", c))) {
        p->pos += 2;
        shell_expanded(out, "a parameter expansion",
                       c == '@' || (!is_quoted && !strchr("#?$!", c)));
        return 0;
    }
    append(p, out, "$", 1);
    p->pos++;
    return 0;
}

/* ---- words */

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
        return continuation(p);
    append(p, out, from, n);
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
            if (continuation(p) < 0)
                return -1;
        } else if (c == '\\' && next != '\0' && strchr("$`\"\\", next)) {
            append(p, out, &next, 1);
            p->pos += 2;
        } else {
            if (c == '\n' && p->n_here > 0)
                return continuation(p);
            append(p, out, &c, 1);
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
        return continuation(p);
    }
    append(p, out, &next, 1);
    out->is_quoted = true;
    p->pos += 2;
    return 0;
}

/* What has been seen of the word so far, as long as it decides. */
struct progress {
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
static void note_character(struct shell_parser *p, struct shell_lexed *out, struct progress *so_far,
                           bool is_first)
{
    char c = p->text[p->pos];

    if (c == '~' && (is_first || so_far->previous == '=' || so_far->previous == ':')) {
        bool is_cut = out->is_cut;

        shell_expanded(out, "a tilde", false);
        out->is_cut = is_cut; /* the rest is still told, as it is written */
        out->word.has_tilde = out->word.has_tilde || !is_cut;
    } else if (c == '*' || c == '?' || (c == '[' && !is_word_end(shell_peek(p, 1)))) {
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
    struct progress so_far = { .may_be_name = true };
    size_t brace_at = 0;

    while (!is_word_end(shell_peek(p, 0))) {
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
            append(p, out, &c, 1);
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
            is_word_end(shell_peek(p, n)))
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
