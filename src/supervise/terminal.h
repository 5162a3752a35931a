/*
 * terminal.h - the caller's side of a box that has a terminal of its own
 *
 *   terminal_make_pty() -> terminal_open() -> terminal_enter() -> poll loop -> terminal_close()
 *
 * The command gets a pty, the caller's terminal is put into raw mode and bytes are carried between
 * the two: keys inwards as they are, so that Ctrl-C and Ctrl-Z act inside, through the box's own line
 * discipline and job control; output outwards through a term_filter, always, since a pipe or a file
 * mostly ends at a terminal too. Nothing inside ever holds a descriptor of the caller's terminal.
 *
 * The poll loop (one thread, nothing here blocks):
 *
 *   struct pollfd fds[n + TERMINAL_POLL_FDS];
 *   while (!(terminal_state(t) & TERMINAL_DONE)) {
 *       terminal_poll_fill(t, fds + n);            at most terminal_poll_timeout_ms(t), if not -1
 *       ppoll(...);
 *       terminal_poll_handle(t, fds + n);          also after a timeout or EINTR (zero revents)
 *   }
 *
 * Signals are the program's: it installs handlers or a signalfd, and on SIGWINCH calls
 * terminal_resize(), on SIGCONT terminal_continue(), before dying by a signal terminal_restore().
 * It ignores SIGPIPE, or a closed stdout kills it before its terminal is restored.
 *
 * What may be the beginning of a secret is held back for a moment, and shown if nothing follows: a
 * secret that is printed slowly, or with colours in it, is seen.
 *
 * In the background (started with &, or continued with bg) the caller's terminal is left alone:
 * output is relayed, input waits, and once the job comes to the foreground raw mode is entered.
 */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "base/error.h"
#include "base/term/filter.h"

#define TERMINAL_POLL_FDS 4

struct terminal;

struct terminal_options {
    int in_fd;           /* borrowed for the call: the caller's stdin; -1: none, as /dev/null */
    int out_fd;          /* likewise: the caller's stdout; -1: none, output is thrown away */
    int err_fd;          /* likewise: only asked whether it is a terminal; -1: none */
    int master_fd;       /* taken if terminal_open() succeeds: the master of the box's pty */
    bool locale_is_utf8; /* the caller's locale says so; asked if the terminal's IUTF8 does not */
    bool is_running;     /* the command runs: size and settings were given to it, and are its own */
    struct redact *redact; /* borrowed: takes secrets out of the output; NULL: there are none */
};

/* What the box's pty is to start with. */
struct terminal_start {
    struct winsize size;
    struct termios settings;
    bool has_settings; /* false: there is no terminal, or it is not ours at the moment */
};

/* Bits of terminal_state(). All but DONE stay set once they are. */
enum terminal_state {
    TERMINAL_INPUT_ENDED = 1, /* stdin is at its end; the command has been sent an end-of-file */
    TERMINAL_BOX_CLOSED = 2,  /* nobody inside has the terminal open any more, and all was read */
    TERMINAL_CALLER_GONE = 4, /* the caller's terminal or stdout is gone; output is thrown away */
    TERMINAL_DONE = 8,        /* BOX_CLOSED, and all output has been written (or thrown away) */
    TERMINAL_HUNG_UP = 16, /* the caller's terminal is gone: nobody will ever read or type there */
};

/* A new pty. No path is used for the slave, so nobody can have put another one there. */
int terminal_make_pty(int *out_master, int *out_slave, coop_error **err);

/* Size, settings and erase keys of the caller's terminal: the first of in, out, err that is one. In
 * the background the settings are not his: the shell is editing a line with them. */
void terminal_look(const struct terminal_options *options, struct terminal_start *out);

/*
 * Gives the pty what terminal_look() finds, unless the command runs already: what it has changed
 * since is its own. Does not change the caller's terminal. stdin and stdout, if terminals or pipes, are reopened, so that the caller's own
 * descriptors stay blocking; where that is refused, they are polled before each small piece.
 */
int terminal_open(const struct terminal_options *options, struct terminal **out, coop_error **err);

/* Raw mode, if in the foreground. Where stdin is no terminal, keys are not ours to read: then only
 * output processing is switched off, and Ctrl-C still signals the caller's process group. */
int terminal_enter(struct terminal *terminal, coop_error **err);

/*
 * Ends what terminal_enter() began: the settings as they were, and whatever the command left changed
 * (mouse reports, alternate screen, hidden cursor ...) undone. Async-signal-safe, never blocks, may
 * be called any number of times; terminal_enter() starts anew.
 */
void terminal_restore(struct terminal *terminal);

/* Restores, closes the master (which hangs up whoever is left inside) and frees. NULL is fine. */
void terminal_close(struct terminal *terminal);

/* Gives the pty the size of the caller's terminal; the kernel signals the command if it changed. */
void terminal_resize(struct terminal *terminal);

/* Sends SIGINT, SIGQUIT or SIGTSTP to the pty's foreground process group, as its keys would: for a
 * signal that reached the caller while its stdin is no terminal. -EINVAL for others. */
int terminal_signal(struct terminal *terminal, int signal);

/*
 * The command inside was stopped: restores the terminal and stops the caller's process group in turn
 * (SIGTSTP with its default action, for the time of this call), so that the caller's shell sees a
 * stopped job. Returns after it was continued, with raw mode, modes and size set again.
 *   1  continue the command now (SIGCONT inside); also if the shell cannot do job control
 *   0  there is no terminal, nothing was done
 */
int terminal_suspend(struct terminal *terminal, coop_error **err);

/* SIGCONT arrived: somebody else had stopped us, and a shell may have changed the settings. */
int terminal_continue(struct terminal *terminal, coop_error **err);

/* The poll loop, see above. fds has TERMINAL_POLL_FDS elements; unused ones get fd -1. */
void terminal_poll_fill(const struct terminal *terminal, struct pollfd *fds);
int terminal_poll_timeout_ms(const struct terminal *terminal);
void terminal_poll_handle(struct terminal *terminal, const struct pollfd *fds);

/* What terminal_poll_handle() is made of. Each carries on as far as it can without blocking. */
void terminal_read_input(struct terminal *terminal);   /* stdin -> box */
void terminal_write_output(struct terminal *terminal); /* box -> filter -> stdout */

unsigned terminal_state(const struct terminal *terminal);

/* Borrowed: counts of what was dropped. */
const struct term_filter *terminal_filter(const struct terminal *terminal);
