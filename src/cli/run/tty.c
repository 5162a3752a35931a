/*
 * tty.c - coop run --tty: keys inwards, filtered output outwards
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/redact.h"
#include "cli/run/run.h"
#include "policy/policy.h"
#include "supervise/terminal.h"

static bool locale_is_utf8(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

    for (size_t i = 0; i < COUNT(names); i++) {
        const char *value = getenv(names[i]);

        if (value && *value)
            return strstr(value, "UTF-8") || strstr(value, "utf8");
    }
    return false;
}

static void on_signals(coop_box *box, struct terminal *terminal, int signal_fd, coop_error **err)
{
    struct signalfd_siginfo info;

    while (read(signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        int number = (int)info.ssi_signo;

        if (number == SIGWINCH)
            terminal_resize(terminal);
        else if (number == SIGCONT)
            (void)terminal_continue(terminal, err);
        else if (number == SIGINT || number == SIGQUIT || number == SIGTSTP)
            (void)terminal_signal(terminal, number);
        else
            (void)coop_signal(box, number);
    }
}

#define GRACE_MS 2000 /* as after a timeout */

/* The terminal's end is the command's, be it stopped or not; unless our caller has hang-ups ignored. */
struct hang_up {
    bool is_ignored, has_come;
    int64_t kill_ms; /* when it has had its time */
};

static void follow_hang_up(coop_box *box, const struct terminal *terminal, struct hang_up *hang_up)
{
    if (hang_up->is_ignored)
        return;
    if (!hang_up->has_come && (terminal_state(terminal) & TERMINAL_HUNG_UP)) {
        hang_up->has_come = true;
        hang_up->kill_ms = clock_now_ms() + GRACE_MS;
        (void)coop_signal(box, SIGHUP);
        (void)coop_signal(box, SIGCONT); /* stopped, it could not act on the other */
    }
    if (hang_up->has_come && clock_now_ms() >= hang_up->kill_ms)
        (void)coop_kill(box);
}

static int sooner(int timeout_ms, const struct hang_up *hang_up)
{
    int64_t now = clock_now_ms();
    int left = !hang_up->has_come ? -1 : now < hang_up->kill_ms ? (int)(hang_up->kill_ms - now) : 0;

    return left < 0 || (timeout_ms >= 0 && timeout_ms < left) ? timeout_ms : left;
}

/* The command was stopped: so are we, until somebody continues us, and then it. */
static void follow_stop(coop_box *box, struct terminal *terminal, bool *was_continued)
{
    if (!coop_box_is_stopped(box)) {
        *was_continued = false;
    } else if (!*was_continued && terminal_suspend(terminal, NULL) >= 0) {
        (void)coop_signal(box, SIGCONT);
        *was_continued = true; /* init's word that it runs is still on its way */
    }
}

/* After the end there is still what the command wrote; the terminal says when all of it is out. */
static int relay(coop_box *box, struct terminal *terminal, int signal_fd, coop_error **err)
{
    bool has_ended = false;
    bool was_continued = false;
    struct sigaction on_hang_up = { 0 };
    struct hang_up hang_up = { .is_ignored = sigaction(SIGHUP, NULL, &on_hang_up) == 0 &&
                                             on_hang_up.sa_handler == SIG_IGN };

    while (!has_ended || !(terminal_state(terminal) & TERMINAL_DONE)) {
        struct pollfd fds[2 + TERMINAL_POLL_FDS] = {
            { .fd = has_ended ? -1 : coop_box_fd(box), .events = POLLIN },
            { .fd = signal_fd, .events = POLLIN },
        };

        terminal_poll_fill(terminal, fds + 2);
        int timeout_ms = terminal_poll_timeout_ms(terminal);
        if (!has_ended)
            timeout_ms = sooner(timeout_ms, &hang_up);
        if (poll(fds, COUNT(fds), timeout_ms) < 0 && errno != EINTR)
            return fail(err, errno, "wait for the sandbox");
        if (fds[1].revents)
            on_signals(box, terminal, signal_fd, err);
        terminal_poll_handle(terminal, fds + 2);
        if (has_ended)
            continue;
        int r = coop_step(box, err);
        if (r < 0)
            return r;
        has_ended = r == 1;
        if (!has_ended)
            follow_hang_up(box, terminal, &hang_up);
        if (!has_ended && !hang_up.has_come)
            follow_stop(box, terminal, &was_continued);
    }
    return 0;
}

int run_tty(coop_sandbox *sandbox, char *const argv[], struct policy_arguments *arguments,
            coop_result **out, coop_error **err)
{
    struct terminal *terminal = NULL;
    coop_box *box = NULL;
    auto_close int signal_fd = run_signal_fd();

    struct terminal_options options = { STDIN_FILENO,     STDOUT_FILENO, STDERR_FILENO, -1,
                                        locale_is_utf8(), true,          NULL };
    struct terminal_start start;

    int r = policy_redact(arguments->policy, true, &options.redact, err);
    if (r < 0)
        return r;
    terminal_look(&options, &start);
    arguments->options.terminal = true;
    arguments->options.terminal_rows = start.size.ws_row;
    arguments->options.terminal_columns = start.size.ws_col;
    arguments->options.terminal_settings = start.has_settings ? &start.settings : NULL;
    r = coop_start(sandbox, argv, &arguments->options, &box, err);
    if (r < 0) {
        redact_free(options.redact);
        return r;
    }
    run_say_tier(box, arguments);
    auto_close int master_fd = dup(coop_box_terminal(box));
    options.master_fd = master_fd;
    r = terminal_open(&options, &terminal, err);
    if (r == 0) {
        (void)take_fd(&master_fd);
        r = terminal_enter(terminal, err);
    }
    if (r == 0)
        r = relay(box, terminal, signal_fd, err);
    terminal_close(terminal);
    redact_free(options.redact);
    if (r < 0)
        (void)coop_kill(box);
    int waited = coop_wait(box, out, r < 0 ? NULL : err);
    return r < 0 ? r : waited;
}
