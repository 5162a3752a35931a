#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/cleanup.h"
#include "supervise/terminal_private.h"

/* How often a job in the background looks whether it has come to the foreground: nothing tells it. */
#define BACKGROUND_POLL_MS 250

/* How long the beginning of a secret is held back when nothing follows. */
#define FLUSH_MS 100

/* Chunks carried by one call before others in the loop have their turn. */
#define MAX_CHUNKS 16

enum slot { SLOT_IN, SLOT_MASTER, SLOT_OUT, SLOT_TTY };

/* Errors and hang-ups count as ready: then the call itself says so at once. */
static bool is_ready(const struct terminal_end *end, short events)
{
    struct pollfd fd = { .fd = end->fd, .events = events };

    if (end->piece == 0 || poll(&fd, 1, 0) > 0)
        return true;
    errno = EAGAIN;
    return false;
}

ssize_t terminal_read_end(const struct terminal_end *end, char *data, size_t size)
{
    return is_ready(end, POLLIN) ? read(end->fd, data, size) : -1;
}

ssize_t terminal_write_end(const struct terminal_end *end, const char *data, size_t n)
{
    if (end->is_socket)
        return send(end->fd, data, n, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (!is_ready(end, POLLOUT))
        return -1;
    return write(end->fd, data, end->piece > 0 && n > end->piece ? end->piece : n);
}

static bool is_temporary(int error)
{
    return error == EAGAIN || error == EINTR;
}

static bool has_input(const struct terminal *terminal)
{
    return terminal->n_input_done < terminal->n_input;
}

static bool has_output(const struct terminal *terminal)
{
    return terminal->n_output_done < terminal->n_output;
}

/* Keys are read in raw mode only: before, and in the background, they are the shell's. */
static bool wants_input(const struct terminal *terminal)
{
    const unsigned over = TERMINAL_INPUT_ENDED | TERMINAL_BOX_CLOSED | TERMINAL_CALLER_GONE;

    return !(terminal->state & over) && !has_input(terminal) &&
           (!terminal->in.is_tty || terminal->is_raw);
}

static void set_caller_gone(struct terminal *terminal)
{
    terminal->state |= TERMINAL_CALLER_GONE;
    terminal->n_output = terminal->n_output_done = 0;
}

/* Where the box does not read at the moment, the rest waits for POLLOUT. */
static void send_input(struct terminal *terminal)
{
    while (has_input(terminal)) {
        ssize_t n = write(terminal->master_fd, terminal->input + terminal->n_input_done,
                          terminal->n_input - terminal->n_input_done);

        if (n < 0 && is_temporary(errno))
            return;
        if (n < 0) { /* nobody there to read it */
            terminal->n_input_done = terminal->n_input;
            return;
        }
        terminal->n_input_done += (size_t)n;
    }
}

/*
 * A terminal has no end, only a key that a line-wise reader takes for one. Behind half a line the
 * first press hands over the half line, the second is the end.
 */
static void queue_end_of_input(struct terminal *terminal)
{
    struct termios settings;

    terminal->state |= TERMINAL_INPUT_ENDED;
    if (tcgetattr(terminal->master_fd, &settings) < 0 || !(settings.c_lflag & ICANON))
        return;
    terminal->n_input_done = 0;
    terminal->n_input = terminal->last_input == '\n' ? 1 : 2;
    memset(terminal->input, settings.c_cc[VEOF], terminal->n_input);
}

static void fetch_input(struct terminal *terminal)
{
    ssize_t n = 0;

    if (terminal->in.fd >= 0)
        n = terminal_read_end(&terminal->in, terminal->input, sizeof terminal->input);
    if (n < 0 && is_temporary(errno))
        return;
    if (n > 0) {
        terminal->n_input_done = 0;
        terminal->n_input = (size_t)n;
        terminal->last_input = terminal->input[n - 1];
        terminal->filter.modes.has_asked = false; /* this may be the answer */
    } else if (terminal->in.is_tty) {
        terminal->state |= TERMINAL_INPUT_ENDED;
        set_caller_gone(terminal); /* raw terminals end only by hanging up */
    } else {
        queue_end_of_input(terminal);
    }
}

void terminal_read_input(struct terminal *terminal)
{
    send_input(terminal);
    if (!wants_input(terminal))
        return;
    if (terminal->in.is_tty && !terminal_is_foreground(terminal)) {
        terminal->is_raw = 0; /* stopped by others and put into the background */
        return;
    }
    fetch_input(terminal);
    send_input(terminal);
}

/* False: the caller does not take more at the moment. */
static bool send_output(struct terminal *terminal)
{
    while (has_output(terminal)) {
        ssize_t n = terminal_write_end(&terminal->out, terminal->output + terminal->n_output_done,
                                       terminal->n_output - terminal->n_output_done);

        if (n < 0 && is_temporary(errno))
            return false;
        if (n < 0) {
            set_caller_gone(terminal);
            return true;
        }
        terminal->n_output_done += (size_t)n;
    }
    terminal->n_output = terminal->n_output_done = 0;
    return true;
}

/* The last of the output takes the terminal back to what it was. */
static void queue_undo(struct terminal *terminal)
{
    terminal->n_output +=
        term_filter_undo(&terminal->filter, terminal->output + terminal->n_output);
    terminal->filter.modes.changed = 0;
}

/* ---- secrets */

static void keep_redacted(void *context, const char *bytes, size_t n)
{
    buffer_append(context, bytes, n);
}

static bool has_redacted(const struct terminal *terminal)
{
    return terminal->n_redacted_done < terminal->redacted.length;
}

/* A piece of it through the filter; what it grew by has its turn when that has gone out. */
static void filter_redacted(struct terminal *terminal)
{
    struct buffer *text = &terminal->redacted;
    size_t left = text->length - terminal->n_redacted_done;
    size_t n = left < TERMINAL_CHUNK ? left : TERMINAL_CHUNK;

    terminal->n_output = term_filter_run(&terminal->filter, text->data + terminal->n_redacted_done,
                                         n, terminal->output);
    terminal->n_redacted_done += n;
    if (has_redacted(terminal))
        return;
    text->length = terminal->n_redacted_done = 0;
    if (terminal->state & TERMINAL_BOX_CLOSED)
        queue_undo(terminal);
}

static int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Where memory runs out, output is lost, never a secret let through. */
static void redact_chunk(struct terminal *terminal, char *chunk, size_t n)
{
    redact_run(terminal->redact, chunk, n, keep_redacted, &terminal->redacted);
    explicit_bzero(chunk, n);
    terminal->flush_ms = redact_is_holding(terminal->redact) ? now_ms() + FLUSH_MS : 0;
}

static void flush_when_idle(struct terminal *terminal)
{
    if (terminal->flush_ms == 0 || now_ms() < terminal->flush_ms)
        return;
    terminal->flush_ms = 0;
    redact_flush(terminal->redact, keep_redacted, &terminal->redacted);
    terminal_write_output(terminal);
}

/* ---- output */

/* EIO: the last descriptor of the other side was closed. */
static void end_output(struct terminal *terminal)
{
    terminal->state |= TERMINAL_BOX_CLOSED;
    terminal->flush_ms = 0;
    if (terminal->redact)
        redact_end(terminal->redact, keep_redacted, &terminal->redacted);
    if (has_redacted(terminal))
        filter_redacted(terminal);
    else
        queue_undo(terminal);
}

/* False: nothing more to read at the moment, or ever. */
static bool fetch_output(struct terminal *terminal)
{
    char chunk[TERMINAL_CHUNK];

    if (has_redacted(terminal)) {
        filter_redacted(terminal);
    } else {
        if (terminal->state & TERMINAL_BOX_CLOSED)
            return false;
        ssize_t n = read(terminal->master_fd, chunk, sizeof chunk);
        if (n < 0 && is_temporary(errno))
            return false;
        if (n <= 0)
            end_output(terminal);
        else if (terminal->redact)
            redact_chunk(terminal, chunk, (size_t)n);
        else
            terminal->n_output =
                term_filter_run(&terminal->filter, chunk, (size_t)n, terminal->output);
    }
    if (terminal->out.fd < 0 || terminal->state & TERMINAL_CALLER_GONE)
        terminal->n_output = 0;
    return true;
}

void terminal_write_output(struct terminal *terminal)
{
    for (int i = 0; i < MAX_CHUNKS; i++)
        if (!send_output(terminal) || !fetch_output(terminal))
            return;
    (void)send_output(terminal);
}

unsigned terminal_state(const struct terminal *terminal)
{
    bool is_done =
        terminal->state & TERMINAL_BOX_CLOSED && !has_output(terminal) && !has_redacted(terminal);

    return terminal->state | (is_done ? TERMINAL_DONE : 0);
}

/*
 * A descriptor from which nothing is wanted is left out altogether: poll reports a hang-up whether
 * asked or not, and again and again. stdout is the exception, to learn that it has gone.
 */
void terminal_poll_fill(const struct terminal *terminal, struct pollfd *fds)
{
    bool is_gone = terminal->state & TERMINAL_CALLER_GONE;
    short master_events = 0;

    if (has_input(terminal))
        master_events |= POLLOUT;
    if (!has_output(terminal) && !(terminal->state & TERMINAL_BOX_CLOSED))
        master_events |= POLLIN;
    fds[SLOT_IN] =
        (struct pollfd){ .fd = wants_input(terminal) ? terminal->in.fd : -1, .events = POLLIN };
    fds[SLOT_MASTER] =
        (struct pollfd){ .fd = master_events ? terminal->master_fd : -1, .events = master_events };
    fds[SLOT_OUT] = (struct pollfd){ .fd = is_gone ? -1 : terminal->out.fd,
                                     .events = has_output(terminal) ? POLLOUT : 0 };
    /* An end of ours may fail before the terminal goes (EIO in the background, without a shell). */
    fds[SLOT_TTY] = (struct pollfd){
        .fd = terminal->state & TERMINAL_HUNG_UP ? -1 : terminal->tty_fd,
    };
}

static bool is_waiting_for_foreground(const struct terminal *terminal)
{
    return terminal->is_active && !terminal->is_raw && terminal->tty_fd >= 0 &&
           !(terminal->state & TERMINAL_CALLER_GONE);
}

int terminal_poll_timeout_ms(const struct terminal *terminal)
{
    if (terminal->in.fd < 0 && wants_input(terminal))
        return 0; /* an end-of-file to be sent */
    int timeout = is_waiting_for_foreground(terminal) ? BACKGROUND_POLL_MS : -1;
    if (has_redacted(terminal) && !has_output(terminal))
        return 0;
    if (terminal->flush_ms) {
        int64_t left = terminal->flush_ms - now_ms();

        return left < 0 ? 0 : (int)left;
    }
    return timeout;
}

void terminal_poll_handle(struct terminal *terminal, const struct pollfd *fds)
{
    short in = fds[SLOT_IN].revents;
    short master = fds[SLOT_MASTER].revents;
    short out = fds[SLOT_OUT].revents;

    if (fds[SLOT_TTY].revents)
        terminal->state |= TERMINAL_HUNG_UP;
    if (is_waiting_for_foreground(terminal))
        (void)terminal_enter(terminal, NULL); /* if it fails, the next time */
    if (out & (POLLHUP | POLLERR | POLLNVAL))
        set_caller_gone(terminal);
    if (in || master || terminal->in.fd < 0)
        terminal_read_input(terminal);
    if (out || master || has_redacted(terminal))
        terminal_write_output(terminal);
    flush_when_idle(terminal);
}
