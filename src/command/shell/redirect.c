/*
 * Redirections and here-documents. The body of a here-document begins behind the line's newline,
 * wherever on the line the operator stands; its words decide nothing, but what it expands is run.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "command/shell/private.h"

static const struct operator
{
    const char *text; /* longer ones first */
    enum shell_redirect_kind kind;
    bool is_bash;
}
operators[] = {
    { "<<<", SHELL_REDIRECT_HERE, true },  { "<<-", SHELL_REDIRECT_HERE, false },
    { "<<", SHELL_REDIRECT_HERE, false },  { "<&", SHELL_REDIRECT_DUPLICATE, false },
    { "<>", SHELL_REDIRECT_WRITE, false }, { "<", SHELL_REDIRECT_READ, false },
    { ">>", SHELL_REDIRECT_WRITE, false }, { ">&", SHELL_REDIRECT_DUPLICATE, false },
    { ">|", SHELL_REDIRECT_WRITE, false }, { ">", SHELL_REDIRECT_WRITE, false },
    { "&>>", SHELL_REDIRECT_WRITE, true }, { "&>", SHELL_REDIRECT_WRITE, true },
};

bool shell_at_redirect(const struct shell_parser *p)
{
    char c = shell_peek(p, 0);

    return c == '<' || c == '>' || (c == '&' && shell_peek(p, 1) == '>');
}

static const struct operator* find_operator(const struct shell_parser *p)
{
    for (size_t i = 0; i < COUNT(operators); i++) {
        size_t n = strlen(operators[i].text);

        if (n <= p->n - p->pos && memcmp(p->text + p->pos, operators[i].text, n) == 0)
            return &operators[i];
    }
    return NULL;
}

static int begin_here(struct shell_parser *p, const struct shell_lexed *delimiter, bool strips_tabs)
{
    const char *text = delimiter->word.text;

    if (p->n_here == COUNT(p->here))
        return shell_refuse(p, delimiter->offset, NULL, "too many here-documents on one line");
    if (!delimiter->word.is_static || delimiter->is_continued || *text == '\0' ||
        strchr(text, '\n'))
        return shell_refuse(p, delimiter->offset, "use a plain word such as 'EOF'",
                            "this end of a here-document is read differently by different shells");
    p->here[p->n_here++] = (struct shell_here){
        .delimiter = (char *)text,
        .is_quoted = delimiter->is_quoted,
        .strips_tabs = strips_tabs,
        .offset = delimiter->offset,
    };
    return 0;
}

/* The target of >& and <&: "1", "-", "1-", or (of >&, in bash) a file. */
static int check_duplicate(struct shell_parser *p, const struct shell_lexed *target,
                           struct shell_redirect *redirect)
{
    const char *text = redirect->target.text;
    size_t n = strspn(text, "0123456789");

    if (redirect->target.is_static && (n > 0 || *text == '-') &&
        strcmp(text + n, *text == '-'     ? "-"
                         : text[n] == '-' ? "-"
                                          : "") == 0)
        return 0;
    if (p->dialect == SHELL_POSIX || redirect->op[0] == '<' || !redirect->target.is_static)
        return shell_refuse(p, target->offset, "write '>FILE 2>&1'",
                            "'%s' wants the number of a descriptor", redirect->op);
    redirect->kind = SHELL_REDIRECT_WRITE;
    return 0;
}

/* bash opens connections for these names, whether such files exist or not. */
static bool is_network(const struct shell_word *target)
{
    return strncmp(target->text, "/dev/tcp", 8) == 0 || strncmp(target->text, "/dev/udp", 8) == 0;
}

int shell_redirect(struct shell_parser *p, int fd, struct shell_redirects *out)
{
    size_t at = p->pos;
    const struct operator* found = find_operator(p);
    struct shell_lexed target;

    if (!found)
        return shell_refuse(p, at, NULL, "'%c' is not expected here", p->text[at]);
    if (found->is_bash && p->dialect == SHELL_POSIX)
        return shell_refuse(p, at, "use what POSIX has",
                            "'%s' is read differently by different shells", found->text);
    if (out->n == COUNT(out->items))
        return shell_refuse(p, at, NULL, "too many redirections on one command");
    if (shell_take_operator(p, strlen(found->text)) < 0)
        return -1;
    if (shell_peek(p, 0) == '(')
        return shell_refuse(p, at, "use a file",
                            "a process substitution runs a command whose place is not decided");
    /* ">&-" is one operator in bash, and what follows another word */
    if (found->kind == SHELL_REDIRECT_DUPLICATE && shell_peek(p, 0) == '-' &&
        !shell_is_word_end(shell_peek(p, 1)))
        return shell_refuse(p, at, "put a blank behind it",
                            "what follows '%s-' is read differently by different shells",
                            found->text);
    if (shell_skip_blank(p) < 0)
        return -1;
    if (!shell_at_word(p))
        return shell_refuse(p, at, NULL, "'%s' has no target", found->text);
    if (shell_word(p, &target) < 0)
        return -1;
    struct shell_redirect *redirect = &out->items[out->n++];
    *redirect = (struct shell_redirect){ found->kind, found->text, fd, target.word };
    if (is_network(&target.word))
        return shell_refuse(p, target.offset, NULL, "'%s' opens a network connection in bash",
                            target.word.text);
    if (found->kind == SHELL_REDIRECT_DUPLICATE)
        return check_duplicate(p, &target, redirect);
    if (found->kind == SHELL_REDIRECT_HERE && strcmp(found->text, "<<<") != 0)
        return begin_here(p, &target, found->text[2] == '-');
    return 0;
}

/* ---- bodies */

/* One line of a body whose end is not quoted: it is expanded. */
static int expand_line(struct shell_parser *p, size_t end)
{
    struct shell_lexed ignored = { .word.is_static = true, .is_cut = true };

    while (p->pos < end) {
        char c = p->text[p->pos];

        if (c == '\\' && p->pos + 1 == end)
            return shell_refuse(p, p->pos, "quote the end: <<'EOF'",
                                "a line that is continued in a here-document is read differently "
                                "by different shells");
        if (c == '`')
            return shell_refuse(p, p->pos, "quote the end: <<'EOF'",
                                "a here-document with a command substitution runs it");
        if (c == '\\') {
            p->pos += 2;
        } else if (c == '$') {
            if (shell_dollar(p, true, &ignored) < 0)
                return -1;
            if (p->pos > end)
                return shell_refuse(p, end, "quote the end: <<'EOF'",
                                    "an expansion goes over several lines of a here-document");
        } else {
            p->pos++;
        }
    }
    return 0;
}

static int here_body(struct shell_parser *p, const struct shell_here *here)
{
    size_t n = strlen(here->delimiter);

    while (p->pos < p->n) {
        const char *newline = memchr(p->text + p->pos, '\n', p->n - p->pos);
        size_t end = newline ? (size_t)(newline - p->text) : p->n;
        size_t start = p->pos;

        while (here->strips_tabs && start < end && p->text[start] == '\t')
            start++;
        bool is_end = end - start == n && memcmp(p->text + start, here->delimiter, n) == 0;
        if (!is_end && !here->is_quoted && expand_line(p, end) < 0)
            return -1;
        p->pos = newline ? end + 1 : end;
        if (is_end)
            return 0;
    }
    return shell_refuse(p, here->offset, "write its end on a line of its own",
                        "the here-document '%s' does not end", here->delimiter);
}

int shell_here_bodies(struct shell_parser *p)
{
    unsigned n = p->n_here;

    p->n_here = 0;
    for (unsigned i = 0; i < n; i++)
        if (here_body(p, &p->here[i]) < 0)
            return -1;
    return 0;
}
