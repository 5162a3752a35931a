/*
 * split.h - shell text taken apart into its simple commands, without running anything
 *
 *   struct shell_split split;
 *   shell_split_text(&split, text, n, SHELL_BASH, &err);
 *   if (split.refusal) ...            what could not be decided, and where
 *   shell_split_done(&split);
 *
 * The promise: whatever a real shell of that dialect executes for this text, be it through
 * branches, loops, functions, subshells or wrappers such as env and timeout, is a command in the
 * list, with the same words. The list may hold more (a branch that is never taken). Where the
 * promise cannot be kept the text is refused with a sentence: command substitution, eval, an
 * expansion in command position, and everything that shells are known to read differently.
 *
 * Words of a command are static, or carry what is known of them: the text before the first
 * expansion, and whether they may become several words or none.
 *
 * Pure: no file is looked at. Time and memory are linear in the text, nesting is limited. Values
 * are kept in the split; `via` and `and_after` are indices into its commands.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "coop/error.h"

#define SHELL_TEXT_MAX     ((size_t)1 << 20)
#define SHELL_DEPTH_MAX    64
#define SHELL_COMMANDS_MAX 10000

/* SHELL_POSIX is `sh`, whichever shell that is: what dash and bash read differently is refused. */
enum shell_dialect { SHELL_BASH, SHELL_POSIX };

struct shell_word {
    const char *text; /* unquoted; of a word that is not static, the part before the expansion */
    bool is_static;
    bool may_split; /* may become several words, or none */
    bool has_tilde; /* a ~ that the shell expands; `text` holds it as it was written */
};

struct shell_assignment {
    const char *name;
    struct shell_word value;
};

enum shell_redirect_kind {
    SHELL_REDIRECT_READ,      /* < */
    SHELL_REDIRECT_WRITE,     /* > >| >> <> &> &>> and >& FILE */
    SHELL_REDIRECT_DUPLICATE, /* <& >& */
    SHELL_REDIRECT_HERE,      /* here-documents and here-strings: data */
};

struct shell_redirect {
    enum shell_redirect_kind kind;
    const char *op;
    int fd; /* -1: not given */
    struct shell_word target;
};

struct shell_command {
    struct shell_word *words; /* n_words 0: assignments and redirections only */
    size_t n_words;
    struct shell_assignment *assignments;
    size_t n_assignments;
    struct shell_redirect *redirects; /* those of a wrapper stay with the wrapper */
    size_t n_redirects;
    unsigned line, column;  /* from 1; of what `sh -c` runs: those of the `sh` */
    int via;                /* the wrapper that runs it, -1: the shell itself */
    int and_after;          /* runs only after this one has succeeded (`a && b`), -1: unknown */
    const char *directory;  /* a wrapper changes to it first (env -C), NULL: none does */
    bool is_direct;         /* stands in a shell's text by itself, not behind a wrapper */
    bool is_builtin;        /* run by the shell itself, and harmless: see builtin.c */
    bool is_function;       /* certainly a call of a function of the same text */
    bool is_wrapper;        /* runs other commands; they are in the list */
    bool wrapper_is_free;   /* does nothing besides, as `nice` does not and `find` does */
    bool may_repeat;        /* in a loop or a function */
    bool has_more;          /* further words follow that are not known (xargs) */
    bool is_separate_shell; /* belongs to the text of a `sh -c` */
};

struct shell_function {
    const char *name;
    unsigned line, column;
    int certain_from; /* private: commands from this one on find it defined; -1: unknown */
};

struct shell_block;

struct shell_split {
    struct shell_command *commands;
    size_t n_commands;
    struct shell_function *functions;
    size_t n_functions;

    /* NULL: the list is complete. Otherwise one sentence without a full stop, made printable, and
     * the list is worth nothing. */
    const char *refusal;
    const char *fix; /* what to write instead; NULL: nothing better to say */
    unsigned refusal_line, refusal_column;

    /* private */
    size_t commands_capacity, functions_capacity;
    struct shell_block *blocks;
};

/*
 * Borrow what they are given. A refusal is no failure: they return 0, and -ENOMEM only. The second
 * is for a command that no shell sees: one static command, its wrappers looked through.
 */
int shell_split_text(struct shell_split *split, const char *text, size_t n,
                     enum shell_dialect dialect, coop_error **err);
int shell_split_argv(struct shell_split *split, const char *const argv[], coop_error **err);
void shell_split_done(struct shell_split *split);
#define auto_shell_split __attribute__((cleanup(shell_split_done)))
