/*
 * terminal_private.h - what terminal.c (settings, life) and terminal_relay.c (bytes) share
 */
#pragma once

#include <signal.h>
#include <stdint.h>
#include <termios.h>

#include "base/buffer.h"
#include "base/redact.h"
#include "supervise/terminal.h"

#define TERMINAL_CHUNK 4096

/* One end of the caller's: owned. */
struct terminal_end {
    int fd;
    bool is_tty;
    bool is_socket;
    size_t piece; /* may block: poll first, and write no more than this at once; 0: never blocks */
};

struct terminal {
    struct terminal_end in;
    struct terminal_end out;
    int tty_fd; /* the caller's terminal, -1: none */
    int master_fd;
    unsigned state;

    /* Read by terminal_restore() in signal handlers. */
    volatile sig_atomic_t is_active; /* entered, not restored */
    volatile sig_atomic_t is_raw;
    bool has_saved;
    struct termios saved;

    char last_input; /* the last byte sent to the box */
    size_t n_input;
    size_t n_input_done;
    char input[TERMINAL_CHUNK];

    struct redact *redact;  /* borrowed; NULL: none */
    struct buffer redacted; /* what came out of it and is not yet filtered */
    size_t n_redacted_done;
    int64_t flush_ms; /* when to show what is held back; 0: nothing is */

    size_t n_output;
    size_t n_output_done;
    char output[TERM_FILTER_OUT_SIZE(TERMINAL_CHUNK) + TERM_FILTER_UNDO_SIZE];
    struct term_filter filter;
};

bool terminal_is_foreground(const struct terminal *terminal);

/* As read(2) and write(2), but never block. */
ssize_t terminal_read_end(const struct terminal_end *end, char *data, size_t size);
ssize_t terminal_write_end(const struct terminal_end *end, const char *data, size_t n);
