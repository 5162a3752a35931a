#include "supervise/terminal.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "supervise/terminal_private.h"

/* What POLLOUT promises room for: of a pipe this much, of a terminal only one byte; but whoever shows
 * it takes more, so that a piece of this size does not wait long. */
#define PIPE_PIECE 4096
#define TTY_PIECE  64

int terminal_make_pty(int *out_master, int *out_slave, coop_error **err)
{
    auto_close int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    int unlock = 0;

    if (master < 0)
        return fail(err, errno, "open a pseudo-terminal");
    if (ioctl(master, TIOCSPTLCK, &unlock) < 0)
        return fail(err, errno, "unlock a pseudo-terminal");
    /* TIOCGPTPEER: Linux 4.13 */
    int slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (slave < 0)
        return fail(err, errno, "open the other side of a pseudo-terminal");
    *out_slave = slave;
    *out_master = take_fd(&master);
    return 0;
}

/*
 * A description of our own for the same terminal or pipe, so that O_NONBLOCK does not reach the
 * caller's shell and whoever else shares the old one. Refused where the terminal belongs to another
 * user (after su); -1 then.
 */
static int reopen(int fd, int access)
{
    char path[32];
    struct stat before;
    struct stat after;

    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    auto_close int fresh = open(path, access | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fresh < 0 || fstat(fd, &before) < 0 || fstat(fresh, &after) < 0)
        return -1;
    if (before.st_dev != after.st_dev || before.st_ino != after.st_ino)
        return -1;
    return take_fd(&fresh);
}

static int open_end(int fd, int access, struct terminal_end *end, coop_error **err)
{
    struct stat status;

    end->fd = -1;
    if (fd < 0)
        return 0;
    if (fstat(fd, &status) < 0)
        return fail(err, errno, "look at descriptor %d", fd);
    end->is_tty = isatty(fd);
    end->is_socket = S_ISSOCK(status.st_mode);
    if (end->is_tty || S_ISFIFO(status.st_mode)) {
        end->fd = reopen(fd, access);
        if (end->fd >= 0)
            return 0;
    }
    if (!S_ISREG(status.st_mode))
        end->piece = end->is_tty ? TTY_PIECE : PIPE_PIECE;
    end->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (end->fd < 0)
        return fail(err, errno, "duplicate descriptor %d", fd);
    return 0;
}

static int find_tty(const struct terminal_options *options, int *out, coop_error **err)
{
    const int fds[] = { options->in_fd, options->out_fd, options->err_fd };

    for (size_t i = 0; i < COUNT(fds); i++) {
        if (fds[i] < 0 || !isatty(fds[i]))
            continue;
        *out = fcntl(fds[i], F_DUPFD_CLOEXEC, 3);
        return *out < 0 ? fail(err, errno, "duplicate descriptor %d", fds[i]) : 0;
    }
    return 0;
}

/* Not our controlling terminal: no job control, nobody minds. */
static bool is_foreground(int tty_fd)
{
    pid_t group = tty_fd < 0 ? -1 : tcgetpgrp(tty_fd);

    return group < 0 || group == getpgrp();
}

bool terminal_is_foreground(const struct terminal *terminal)
{
    return is_foreground(terminal->tty_fd);
}

static struct winsize size_of(int tty_fd)
{
    struct winsize size = { 0 };

    if (tty_fd < 0 || ioctl(tty_fd, TIOCGWINSZ, &size) < 0 || size.ws_row == 0)
        size.ws_row = 24;
    if (size.ws_col == 0)
        size.ws_col = 80;
    return size;
}

void terminal_resize(struct terminal *terminal)
{
    const struct winsize size = size_of(terminal->tty_fd);

    (void)ioctl(terminal->master_fd, TIOCSWINSZ, &size); /* fails only if the box is gone */
}

static bool is_utf8(int tty_fd, bool locale_is_utf8)
{
    struct termios settings;

    return tty_fd < 0 || tcgetattr(tty_fd, &settings) < 0 || locale_is_utf8 ||
           settings.c_iflag & IUTF8;
}

static void look(int tty_fd, bool locale_is_utf8, struct terminal_start *out)
{
    *out = (struct terminal_start){ .size = size_of(tty_fd) };
    out->has_settings =
        tty_fd >= 0 && is_foreground(tty_fd) && tcgetattr(tty_fd, &out->settings) == 0;
    if (out->has_settings && is_utf8(tty_fd, locale_is_utf8))
        out->settings.c_iflag |= IUTF8;
}

void terminal_look(const struct terminal_options *options, struct terminal_start *out)
{
    auto_close int tty_fd = -1;

    (void)find_tty(options, &tty_fd, NULL);
    look(tty_fd, options->locale_is_utf8, out);
}

/* Requests on the master reach the slave's settings. */
static int set_up_pty(const struct terminal *terminal, bool locale_is_utf8, coop_error **err)
{
    struct terminal_start start;

    look(terminal->tty_fd, locale_is_utf8, &start);
    if (!start.has_settings) {
        if (tcgetattr(terminal->master_fd, &start.settings) < 0)
            return fail(err, errno, "read the settings of the box's terminal");
        if (is_utf8(terminal->tty_fd, locale_is_utf8))
            start.settings.c_iflag |= IUTF8;
    }
    if (tcsetattr(terminal->master_fd, TCSANOW, &start.settings) < 0)
        return fail(err, errno, "set up the box's terminal");
    return 0;
}

static int adopt_master(int fd, coop_error **err)
{
    unsigned number;
    int flags = fcntl(fd, F_GETFL);

    if (ioctl(fd, TIOCGPTN, &number) < 0)
        return fail(err, errno, "use descriptor %d as a pseudo-terminal", fd);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
        return fail(err, errno, "make the box's terminal non-blocking");
    return 0;
}

static void free_terminal(struct terminal *terminal)
{
    close_fd(&terminal->in.fd);
    close_fd(&terminal->out.fd);
    close_fd(&terminal->tty_fd);
    buffer_wipe(&terminal->redacted);
    free(terminal);
}

int terminal_open(const struct terminal_options *options, struct terminal **out, coop_error **err)
{
    struct terminal *terminal = calloc(1, sizeof *terminal);

    if (!terminal)
        return fail_no_memory(err);
    terminal->in.fd = terminal->out.fd = terminal->tty_fd = -1;
    terminal->master_fd = options->master_fd;
    terminal->redact = options->redact;
    terminal->last_input = '\n';
    int r = adopt_master(options->master_fd, err);
    if (r == 0)
        r = open_end(options->in_fd, O_RDONLY, &terminal->in, err);
    if (r == 0)
        r = open_end(options->out_fd, O_WRONLY, &terminal->out, err);
    if (r == 0)
        r = find_tty(options, &terminal->tty_fd, err);
    if (r == 0 && !options->is_running)
        r = set_up_pty(terminal, options->locale_is_utf8, err);
    if (r < 0) {
        free_terminal(terminal);
        return fail_within(err, r, "open the terminal");
    }
    if (is_utf8(terminal->tty_fd, options->locale_is_utf8))
        term_filter_init(&terminal->filter);
    else
        term_filter_init_8bit(&terminal->filter);
    terminal_resize(terminal);
    *out = terminal;
    return 0;
}

/* Only in the foreground: should we lose it this very moment, the change is still ours to make and
 * must not stop us half-way. */
static int set_settings(const struct terminal *terminal, const struct termios *settings,
                        bool must_flush)
{
    sigset_t block;
    sigset_t before;

    (void)sigemptyset(&block);
    (void)sigaddset(&block, SIGTTOU);
    (void)sigprocmask(SIG_BLOCK, &block, &before);
    if (must_flush)
        (void)tcflush(terminal->tty_fd, TCIFLUSH);
    int r = tcsetattr(terminal->tty_fd, TCSANOW, settings); /* the others may wait for output */
    int saved = errno;
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    errno = saved;
    return r;
}

static int enter_raw(struct terminal *terminal, coop_error **err)
{
    if (terminal->tty_fd < 0 || terminal->is_raw || !terminal_is_foreground(terminal))
        return 0;
    /* Once only: later a shell may have put our own raw mode back before continuing us. */
    if (!terminal->has_saved && tcgetattr(terminal->tty_fd, &terminal->saved) < 0)
        return fail(err, errno, "read the terminal's settings");
    terminal->has_saved = true;
    struct termios raw = terminal->saved;
    if (terminal->in.is_tty) {
        cfmakeraw(&raw);
        raw.c_cc[VMIN] = 1;
        raw.c_cc[VTIME] = 0;
    } else {
        raw.c_oflag &= ~(tcflag_t)OPOST; /* the pty has done it */
    }
    terminal->is_raw = 1; /* first: a signal in between then restores what is still there */
    if (set_settings(terminal, &raw, false) < 0) {
        terminal->is_raw = 0;
        return fail(err, errno, "put the terminal into raw mode");
    }
    return 0;
}

int terminal_enter(struct terminal *terminal, coop_error **err)
{
    terminal->is_active = 1;
    return enter_raw(terminal, err);
}

/* As far as it goes without blocking. */
static void write_now(const struct terminal_end *end, const char *text, size_t n)
{
    ssize_t written;

    for (; n > 0; text += written, n -= (size_t)written) {
        written = terminal_write_end(end, text, n);
        if (written <= 0)
            return;
    }
}

static void write_undo(struct terminal *terminal)
{
    char text[2 + TERM_FILTER_UNDO_SIZE] = "\033\\"; /* ends a sequence of which only half is out */
    size_t n = term_filter_undo(&terminal->filter, text + 2);
    size_t skip = terminal->n_output > 0 ? 0 : 2;

    if (terminal->state & TERMINAL_CALLER_GONE || terminal->out.fd < 0)
        return;
    write_now(&terminal->out, text + skip, n + 2 - skip);
}

void terminal_restore(struct terminal *terminal)
{
    int saved_errno = errno;

    if (terminal->is_active) {
        terminal->is_active = 0;
        write_undo(terminal);
    }
    /* An answer of the terminal that the command did not wait for is not for the shell. */
    if (terminal->is_raw && terminal_is_foreground(terminal))
        (void)set_settings(terminal, &terminal->saved, terminal->filter.modes.has_asked);
    terminal->is_raw = 0;
    errno = saved_errno;
}

void terminal_close(struct terminal *terminal)
{
    if (!terminal)
        return;
    terminal_restore(terminal);
    close_fd(&terminal->master_fd);
    free_terminal(terminal);
}

int terminal_signal(struct terminal *terminal, int signal)
{
    return ioctl(terminal->master_fd, TIOCSIG, signal) < 0 ? -errno : 0;
}

/* The whole group, as the suspend key would: the other members of a pipeline belong to the job. The
 * kernel does not stop a group that no shell could continue. */
static void stop_job(void)
{
    struct sigaction action = { .sa_handler = SIG_DFL };
    struct sigaction action_before;
    sigset_t unblock;
    sigset_t before;

    (void)sigemptyset(&unblock);
    (void)sigaddset(&unblock, SIGTSTP);
    (void)sigaction(SIGTSTP, &action, &action_before);
    (void)sigprocmask(SIG_UNBLOCK, &unblock, &before);
    (void)kill(0, SIGTSTP); /* returns when we have been continued */
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    (void)sigaction(SIGTSTP, &action_before, NULL);
}

int terminal_suspend(struct terminal *terminal, coop_error **err)
{
    char redo[TERM_FILTER_UNDO_SIZE];

    if (terminal->tty_fd < 0)
        return 0;
    terminal_restore(terminal);
    stop_job();
    int r = terminal_enter(terminal, err);
    if (r < 0)
        return fail_within(err, r, "continue");
    terminal_resize(terminal);
    if (terminal->out.fd >= 0 && !(terminal->state & TERMINAL_CALLER_GONE))
        write_now(&terminal->out, redo, term_filter_redo(&terminal->filter, redo));
    return 1;
}

int terminal_continue(struct terminal *terminal, coop_error **err)
{
    if (!terminal->is_active)
        return 0;
    terminal->is_raw = 0;
    terminal_resize(terminal);
    return enter_raw(terminal, err);
}

const struct term_filter *terminal_filter(const struct terminal *terminal)
{
    return &terminal->filter;
}
