/*
 * private.h - what the files of the shell splitter share
 *
 *   command/shell/split.c      entry, memory, refusals, positions
 *   command/shell/lex.c        characters to words: quoting
 *   command/shell/expand.c     what stands behind a '$'
 *   command/shell/redirect.c   redirections and here-documents
 *   command/shell/parse.c      lists, pipelines, simple commands
 *   command/shell/condition.c  [[ ]] and arrays
 *   command/shell/compound.c   if, for, case, functions ...
 *   command/shell/builtin.c    what the shell runs itself
 *   command/shell/variable.c   variables that change what is run
 *   command/shell/wrapper.c    programs that run other programs
 *
 * A function that can refuse returns 0, or -1 once the parser holds a refusal (or has run out of
 * memory); everything unwinds from there.
 */
#pragma once

#include <stdarg.h>

#include "base/buffer.h"
#include "command/shell/split.h"

struct shell_here {
    char *delimiter;
    bool is_quoted;
    bool strips_tabs;
    size_t offset; /* of its operator, for messages */
};

/* A word as read, with what decides its role. */
struct shell_lexed {
    struct shell_word word;
    size_t offset;
    const char *why;       /* what makes it not static: "a parameter expansion" */
    size_t assign_length;  /* of the name before an assignment's '='; 0: it is none */
    size_t value_offset;   /* in word.text, behind the '=' */
    bool is_quoted;        /* in part or whole */
    bool is_cut;           /* word.text ends before an expansion */
    bool is_continued;     /* a backslash-newline inside */
    bool is_appending;     /* += */
    bool has_bare_bracket; /* name[: bash reads on to the ], over blanks */
};

/* One text being read: the whole, or what a `sh -c` is given. */
struct shell_parser {
    struct shell_split *split;
    const char *text;
    size_t n;
    size_t pos;
    enum shell_dialect dialect;
    unsigned depth, base_depth;
    bool is_out_of_memory;

    /* The `sh` that is given this text, where it is nested; NULL: this is the outer one. */
    const struct shell_command *outer;
    int via;
    size_t first_command, first_function; /* in the split */

    /* position of an offset: a cursor that moves forward */
    size_t line_offset;
    unsigned line;
    unsigned column;

    struct buffer scratch; /* the word being read */
    struct shell_here here[16];
    unsigned n_here;
    unsigned n_repeating; /* loops and functions around here */
    int single;           /* the pipeline just read was this one simple command; -1: it was not */
    int and_previous;     /* what the next command runs after */
    bool may_define;      /* a function defined now is there for all that follows */
    int defined;          /* the function so defined, -1: none */
    struct shell_lexed function; /* the name of the one whose definition begins */
    size_t n_words;              /* of the command being read, in `words` */
    size_t words_capacity;
    struct shell_word *words;
};

enum shell_reserved {
    SHELL_NOT_RESERVED,
    SHELL_IF,
    SHELL_THEN,
    SHELL_ELIF,
    SHELL_ELSE,
    SHELL_FI,
    SHELL_FOR,
    SHELL_WHILE,
    SHELL_UNTIL,
    SHELL_DO,
    SHELL_DONE,
    SHELL_CASE,
    SHELL_ESAC,
    SHELL_IN,
    SHELL_LBRACE,
    SHELL_RBRACE,
    SHELL_BANG,
    SHELL_FUNCTION,
    SHELL_COND,
    SHELL_COND_END,
    SHELL_TIME,
    SHELL_SELECT,
    SHELL_COPROC,
};

/* ---- command/shell/split.c */

void *shell_allocate(struct shell_split *split, size_t size); /* NULL: no memory */
const char *shell_keep(struct shell_split *split, const char *bytes, size_t n);
int shell_out_of_memory(struct shell_parser *p);
void shell_locate(struct shell_parser *p, size_t offset, unsigned *line, unsigned *column);

/* Always -1. The first refusal stays. `fix` is a constant or NULL. */
int shell_refuse(struct shell_parser *p, size_t offset, const char *fix, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
int shell_refuse_command(struct shell_split *split, const struct shell_command *command,
                         const char *fix, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Copies *command to the end of the list. Its index, or -1. */
int shell_add(struct shell_split *split, const struct shell_command *command);

/* Reads what command number `sh`, a `sh -c`, is given: adds its commands. */
int shell_split_nested(struct shell_split *split, const char *text, enum shell_dialect dialect,
                       size_t sh, unsigned depth);

/* ---- command/shell/lex.c */

static inline bool shell_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static inline bool shell_is_operator(char c)
{
    return c == ';' || c == '&' || c == '|' || c == '(' || c == ')' || c == '<' || c == '>';
}

static inline bool shell_is_word_end(char c)
{
    return c == '\0' || c == '\n' || shell_is_blank(c) || shell_is_operator(c);
}

static inline bool shell_is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static inline bool shell_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool shell_is_name_char(char c)
{
    return shell_is_name_start(c) || shell_is_digit(c);
}

bool shell_is_name(const char *text, size_t n);

/* The character at `pos + ahead`; NUL at the end (the text holds none). */
static inline char shell_peek(const struct shell_parser *p, size_t ahead)
{
    return ahead < p->n - p->pos ? p->text[p->pos + ahead] : '\0';
}

int shell_skip_blank(struct shell_parser *p);    /* blanks, continuations, comments */
int shell_skip_newlines(struct shell_parser *p); /* and newlines, with here-documents */
int shell_newline(struct shell_parser *p);       /* at a newline: takes it */
bool shell_at_word(const struct shell_parser *p);
int shell_word(struct shell_parser *p, struct shell_lexed *out);
/* Moves behind an operator of n characters, which no continuation may lengthen. */
int shell_take_operator(struct shell_parser *p, size_t n);

enum shell_reserved shell_peek_reserved(const struct shell_parser *p);
const char *shell_reserved_name(enum shell_reserved word);
enum shell_reserved shell_reserved_by_name(const char *text);
int shell_continuation(struct shell_parser *p); /* at a backslash-newline: takes it */
/* Adds to the word being read, unless its known part has ended. */
void shell_append(struct shell_parser *p, const struct shell_lexed *out, const char *bytes,
                  size_t n);

/* ---- command/shell/expand.c */

/* A `$` in a word, a double-quoted string or a here-document. Expansions that cannot run anything
 * are taken, and told to `out`; others are refused. */
int shell_dollar(struct shell_parser *p, bool is_quoted, struct shell_lexed *out);
int shell_arithmetic(struct shell_parser *p, size_t opener_length, struct shell_lexed *out);
void shell_expanded(struct shell_lexed *out, const char *why, bool may_split);

/* ---- command/shell/redirect.c */

bool shell_at_redirect(const struct shell_parser *p);
/* At the operator. Adds to the list of redirections that is being collected. */
struct shell_redirects {
    struct shell_redirect items[32];
    size_t n;
};
int shell_redirect(struct shell_parser *p, int fd, struct shell_redirects *out);
int shell_here_bodies(struct shell_parser *p);

/* ---- command/shell/parse.c, command/shell/compound.c */

int shell_list(struct shell_parser *p, bool may_be_empty); /* up to what cannot continue it */
int shell_command(struct shell_parser *p);
int shell_compound(struct shell_parser *p, enum shell_reserved word);
int shell_subshell(struct shell_parser *p);
/* At the '(' behind the name p->function. */
int shell_function_body(struct shell_parser *p, bool is_certain);
int shell_enter(struct shell_parser *p);
void shell_leave(struct shell_parser *p);
int shell_expect(struct shell_parser *p, enum shell_reserved word, const char *opener);

int shell_bash_only(struct shell_parser *p, size_t offset, const char *what);

/* ---- command/shell/condition.c */

int shell_condition(struct shell_parser *p); /* behind "[[" */
int shell_array(struct shell_parser *p);     /* at the '(' behind "name=" */

/* ---- command/shell/variable.c, command/shell/builtin.c */

/* A variable that decides what is run, or how it is run: PATH, LD_PRELOAD, GIT_SSH_COMMAND ... */
bool shell_variable_is_dangerous(const char *name, size_t n, const struct shell_word *value);
/* -1: refused. Marks harmless built-in commands. */
int shell_builtin(struct shell_split *split, struct shell_command *command,
                  enum shell_dialect dialect);
bool shell_is_builtin_name(const char *name);

/* ---- command/shell/wrapper.c */

/* Adds what command number `index` runs, if it is a wrapper. */
int shell_wrapper(struct shell_split *split, size_t index, enum shell_dialect dialect,
                  bool by_shell, unsigned depth);
bool shell_is_wrapper_name(const char *name);
