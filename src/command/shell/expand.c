/*
 * Expansions, which are taken only in forms that cannot run anything: not $(...) and `...`, nor what
 * bash evaluates as arithmetic (a variable that holds "a[$(rm x)]" runs rm in $((v)), ${a[v]}, ${s:v}
 * and (( v ))), nor ${!v} and ${v@P}. And $'...', which is a quote.
 */
#include <string.h>

#include "base/hex.h"
#include "command/shell/private.h"

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
        shell_append(p, out, &to[found - from], 1);
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
    shell_append(p, out, &byte, 1);
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
            return shell_continuation(p);
        if (c == '\'') {
            p->pos++;
            return 0;
        }
        if (c == '\\') {
            if (ansi_escape(p, out) < 0)
                return -1;
        } else {
            shell_append(p, out, &c, 1);
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
        /* $#, $? and $$ are never empty, so they stay one word */
        shell_expanded(out, "a parameter expansion", c == '@' || (!is_quoted && !strchr("#?$", c)));
        return 0;
    }
    shell_append(p, out, "$", 1);
    p->pos++;
    return 0;
}
