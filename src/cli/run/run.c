/*
 * run.c - coop run: one command in a fresh box
 *
 * Three ways to connect it: captured (--json), streaming (the ordinary one), or with a terminal of
 * its own (--tty, in cli/run/tty.c).
 */
#include "run.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/printable.h"
#include "cli/command.h"
#include "cli/option/policy_options.h"
#include "cli/run/audit.h"
#include "supervise/box.h"
#include "supervise/denial/denials.h"
#include "survey/probe/log.h"

#define GRACE_MS 2000

/* Exit status of coop itself, where the command has none: as env(1) and timeout(1) do. */
enum { EXIT_SETUP = 125, EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

static int status_of_error(const coop_error *err)
{
    if (coop_error_get_kind(err) == COOP_ERROR_DENIED)
        return EXIT_NOT_EXECUTABLE;
    if (coop_error_get_kind(err) != COOP_ERROR_EXEC)
        return EXIT_SETUP;
    return coop_error_errno(err) == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

static bool write_all(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t written = write(fd, bytes, n);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && errno == EAGAIN) { /* the caller made it non-blocking: wait ourselves */
            struct pollfd room = { .fd = fd, .events = POLLOUT };

            (void)poll(&room, 1, -1);
            continue;
        }
        if (written <= 0)
            return false;
        bytes += written;
        n -= (size_t)written;
    }
    return true;
}

int run_signal_fd(void)
{
    static const int passed_on[] = { SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1,
                                     SIGUSR2, SIGTSTP, SIGCONT, SIGWINCH };
    sigset_t set;

    (void)sigemptyset(&set);
    for (size_t i = 0; i < COUNT(passed_on); i++) {
        struct sigaction now;

        /* What our caller ignores (nohup) is not for the command either. */
        if (sigaction(passed_on[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            (void)sigaddset(&set, passed_on[i]);
    }
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN); /* a write that is too large fails, and that is told */
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Signals for coop are meant for the command. The third interrupt means it. */
static void on_signal(coop_box *box, int signal_fd, unsigned *n_interrupts,
                      struct policy_arguments *arguments)
{
    struct signalfd_siginfo info;

    while (read(signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        int number = (int)info.ssi_signo;

        if (number == SIGWINCH)
            continue;
        if (number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT)
            arguments->is_interrupted = true;
        if (number == SIGINT && ++*n_interrupts >= 3) {
            (void)coop_kill(box);
            continue;
        }
        if (number == SIGTSTP) { /* stop with it, as one job */
            (void)coop_signal(box, SIGSTOP);
            (void)raise(SIGSTOP);
            (void)coop_signal(box, SIGCONT);
            continue;
        }
        (void)coop_signal(box, number);
    }
}

static int watch(coop_box *box, int signal_fd, struct policy_arguments *arguments, coop_error **err)
{
    struct pollfd fds[] = { { .fd = coop_box_fd(box), .events = POLLIN },
                            { .fd = signal_fd, .events = POLLIN } };
    unsigned n_interrupts = 0;
    int r;

    do {
        if (poll(fds, COUNT(fds), -1) < 0 && errno != EINTR)
            return fail(err, errno, "wait for the sandbox");
        if (fds[1].revents)
            on_signal(box, signal_fd, &n_interrupts, arguments);
        r = coop_step(box, err);
    } while (r == 0);
    return r < 0 ? r : 0;
}

/* Output goes out as it comes. Somebody who does not read it must not hold the box alive. */
struct streaming {
    coop_box *box;
    struct policy_arguments *arguments;
    int signal_fd;
    unsigned n_interrupts;
    uint64_t deadline_ms; /* 0: none */
    bool is_terminated;
    int error; /* why nothing can be written any more, 0 or an errno */
};

static uint64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

/* The library's own timer waits for us, and we wait for a reader: so the time is kept here too. */
static int keep_time(struct streaming *streaming)
{
    uint64_t now = now_ms();

    if (!streaming->deadline_ms)
        return -1;
    if (now < streaming->deadline_ms)
        return (int)(streaming->deadline_ms - now > 60000 ? 60000 : streaming->deadline_ms - now);
    if (streaming->is_terminated) {
        (void)coop_signal(streaming->box, SIGKILL);
        streaming->deadline_ms = 0;
        return -1;
    }
    (void)coop_signal(streaming->box, SIGTERM);
    streaming->is_terminated = true;
    streaming->deadline_ms = now + GRACE_MS;
    return GRACE_MS;
}

static bool wait_for_room(struct streaming *streaming, int fd)
{
    struct pollfd now = { .fd = fd, .events = POLLOUT };

    if (poll(&now, 1, 0) == 1) /* nobody is waited for: the library keeps the time */
        return true;
    for (;;) {
        struct pollfd fds[] = { { .fd = fd, .events = POLLOUT },
                                { .fd = streaming->signal_fd, .events = POLLIN } };
        int timeout = keep_time(streaming);

        if (poll(fds, COUNT(fds), timeout) < 0 && errno != EINTR)
            return false;
        if (fds[1].revents)
            on_signal(streaming->box, streaming->signal_fd, &streaming->n_interrupts,
                      streaming->arguments);
        if (fds[0].revents)
            return true;
    }
}

static void pass_on(void *context, coop_stream stream, const char *bytes, size_t n)
{
    struct streaming *streaming = context;
    int fd = stream == COOP_STREAM_STDERR || streaming->arguments->output_to_stderr ? STDERR_FILENO
                                                                                    : STDOUT_FILENO;

    while (n > 0) {
        /* A pipe with room takes this much without blocking. */
        size_t piece = n < PIPE_BUF ? n : PIPE_BUF;
        ssize_t written = wait_for_room(streaming, fd) ? write(fd, bytes, piece) : -1;

        if (written < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (written <= 0) {
            if (errno != EPIPE) /* a closed pipe is the command's own affair */
                streaming->error = errno;
            coop_close_output(streaming->box, stream);
            return;
        }
        bytes += written;
        n -= (size_t)written;
    }
}

int run_streaming(coop_sandbox *sandbox, char *const argv[], struct policy_arguments *arguments,
                  coop_result **out, coop_error **err)
{
    coop_box *box = NULL;
    auto_close int signal_fd = run_signal_fd();
    struct streaming streaming = { .arguments = arguments, .signal_fd = signal_fd };

    arguments->options.on_output = pass_on;
    arguments->options.context = &streaming;
    arguments->options.relay_input = !arguments->without_input;
    arguments->options.input_fd = STDIN_FILENO;
    if (arguments->options.timeout_ms)
        streaming.deadline_ms = now_ms() + arguments->options.timeout_ms;
    int r = coop_start(sandbox, argv, &arguments->options, &box, err);
    if (r < 0)
        return r;
    streaming.box = box;
    run_say_tier(box, arguments);
    run_audit_prepare(arguments, argv);
    r = watch(box, signal_fd, arguments, err);
    if (r < 0)
        (void)coop_kill(box);
    int waited = box_wait_and_end(box, out, r < 0 ? NULL : err);
    if (r == 0 && waited == 0 && streaming.error) {
        coop_result_free(*out);
        return fail(err, streaming.error, "write the command's output");
    }
    return r < 0 ? r : waited;
}

static int run_captured(coop_sandbox *sandbox, char *const argv[],
                        struct policy_arguments *arguments, coop_result **out, coop_error **err)
{
    coop_box *box = NULL;
    auto_close int signal_fd = run_signal_fd();

    arguments->options.relay_input = true;
    arguments->options.input_fd = STDIN_FILENO;
    int r = coop_start(sandbox, argv, &arguments->options, &box, err);
    if (r < 0)
        return r;
    run_say_tier(box, arguments);
    run_audit_prepare(arguments, argv);
    r = watch(box, signal_fd, arguments, err);
    if (r < 0)
        (void)coop_kill(box);
    int waited = box_wait_and_end(box, out, r < 0 ? NULL : err);
    return r < 0 ? r : waited;
}

/* Limits that were asked for, or are on by default, and that nothing on this host can hold. */
static void list_limits(const coop_box *box, struct buffer *out)
{
    static const char *const names[COOP_LIMIT_COUNT] = { "memory",      "pids",      "cpus",
                                                         "cpu-seconds", "file-size", "open-files",
                                                         "tmp-size" };

    for (int i = 0; i < COOP_LIMIT_COUNT; i++) {
        uint64_t value = COOP_LIMIT_NONE;

        if (!coop_box_limit(box, (coop_limit)i, &value) && value != COOP_LIMIT_NONE)
            buffer_printf(out, "%s--%s", out->length ? ", " : "", names[i]);
    }
}

static bool has_said_note; /* before the command began */

static void say_none(struct buffer *out, const struct policy_arguments *arguments)
{
    auto_buffer struct buffer missing = { 0 };

    buffer_printf(out, "NOT sandboxed: the command runs on the host%s",
                  arguments->json ? "" : " with your own rights");
    if (arguments->policy->mode == COOP_MODE_DISABLED)
        return;
    probe_print_missing(&missing);
    if (missing.length)
        buffer_printf(out, " (%s)", missing.data);
}

/* One line for all that is not as it was asked for. */
void run_say_tier(const coop_box *box, const struct policy_arguments *arguments)
{
    coop_tier tier = coop_box_tier(box);
    auto_buffer struct buffer limits = { 0 };
    auto_buffer struct buffer line = { 0 };
    bool is_disabled = arguments->policy->mode == COOP_MODE_DISABLED;

    has_said_note = coop_box_note(box) != NULL;
    if (has_said_note && !arguments->quiet)
        fprintf(stderr, "coop run: %s\n", coop_box_note(box));
    if (tier > COOP_TIER_NONE)
        list_limits(box, &limits);
    if (tier == COOP_TIER_NONE)
        say_none(&line, arguments);
    else if (tier < COOP_TIER_FULL)
        buffer_printf(&line, "weaker sandbox, tier '%s' instead of 'full'", coop_tier_name(tier));
    if (limits.length)
        buffer_printf(&line, "%sNOT enforced on this host: %s", line.length ? "; " : "",
                      limits.data);
    if (line.length)
        fprintf(stderr, "coop run: %s%s\n", line.data,
                tier == COOP_TIER_NONE && is_disabled ? "" : "; 'coop doctor' says why");
}

/* One line each, for people: what was refused, by whom, and what would permit it. */
static void explain(const coop_result *result)
{
    struct buffer lines = { 0 };

    if (coop_result_note(result) && !has_said_note) {
        buffer_append_string(&lines, "coop run: ");
        printable_append(&lines, coop_result_note(result), strlen(coop_result_note(result)));
        buffer_append_char(&lines, '\n');
    }
    for (size_t i = 0; i < coop_result_n_denials(result); i++) {
        const coop_denial *denial = coop_result_denial(result, i);

        buffer_append_string(&lines, "coop run: refused: ");
        denial_print_asked(&lines, denial->operation, denial->target);
        if (denial->count > 1)
            buffer_printf(&lines, " (%" PRIu64 " times)", denial->count);
        buffer_append_string(&lines, ": ");
        printable_append(&lines, denial->why, strlen(denial->why));
        buffer_append_string(&lines, " (");
        printable_append(&lines, denial->rule, strlen(denial->rule));
        buffer_printf(&lines, ", %s)", denial->origin);
        if (denial->fix)
            buffer_printf(&lines, "; allow it with %s", denial->fix);
        buffer_append_char(&lines, '\n');
    }
    if (coop_result_more_denials(result) > 0)
        buffer_printf(&lines, "coop run: refused: %" PRIu64 " more, of other kinds\n",
                      coop_result_more_denials(result));
    if (!lines.failed && lines.length > 0)
        (void)fwrite(lines.data, 1, lines.length, stderr);
    buffer_done(&lines);
}

/* A program that cannot be executed, or the whole command that the rules do not let run. */
static void asked_for(const struct policy_arguments *arguments, char *const *command,
                      const coop_error *err, struct buffer *out)
{
    bool is_denied = coop_error_get_kind(err) == COOP_ERROR_DENIED;

    buffer_append_string(out, "");
    if (arguments->shell_text && is_denied)
        buffer_append_string(out, arguments->shell_text);
    else
        for (size_t i = 0; command && command[i] && (i == 0 || is_denied); i++)
            buffer_printf(out, "%s%s", i ? " " : "", command[i]);
}

static void print_json_error(const coop_error *err, int status, const char *asked)
{
    struct buffer text = { 0 };

    run_json_error(&text, err, status, asked);
    if (!text.failed)
        (void)write_all(STDOUT_FILENO, text.data, text.length);
    buffer_done(&text);
}

static int finish(const struct policy_arguments *arguments, coop_result *result)
{
    int status = coop_result_status(result);

    if (arguments->json) {
        const char *json = coop_result_json(result);

        if (!json || !write_all(STDOUT_FILENO, json, strlen(json)))
            return EXIT_SETUP;
    } else if (!arguments->quiet) {
        explain(result);
    }
    return status;
}

static int run_with(struct policy_arguments *arguments, char *const argv[], coop_error **err)
{
    coop_sandbox *sandbox = NULL;
    coop_result *result = NULL;
    int r = run_audit_begin(arguments, argv, err);

    if (r == 0)
        r = coop_sandbox_new(arguments->policy, &sandbox, err);
    if (r < 0)
        return r;
    if (arguments->tty && arguments->json)
        r = fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                      "--tty and --json exclude each other: a terminal's output is not captured");
    else if (arguments->tty)
        r = run_tty(sandbox, argv, arguments, &result, err);
    else if (arguments->json)
        r = run_captured(sandbox, argv, arguments, &result, err);
    else
        r = run_streaming(sandbox, argv, arguments, &result, err);
    /* Nothing is freed: coop ends now, and the kernel is quicker at it. */
    if (r < 0)
        return r;
    int status = finish(arguments, result);
    run_audit_end(arguments, argv, result);
    return status;
}

static int run_main(int argc, char **argv)
{
    auto_error coop_error *err = NULL;
    struct policy_arguments arguments;
    auto_buffer struct buffer asked = { 0 };
    char *const *command = NULL;
    int r = policy_arguments_parse(&arguments, &command_run, argc, argv, &err);

    if (r == -ECANCELED && !err) {
        policy_arguments_done(&arguments);
        return 0;
    }
    if (r >= 0)
        r = policy_arguments_command(&arguments, argc, argv, r, &command, &err);
    if (r >= 0)
        r = run_with(&arguments, command, &err);
    if (r < 0 && err)
        asked_for(&arguments, command, err, &asked);
    if (r < 0 && err)
        run_audit_failure(&arguments, command, status_of_error(err), err);
    policy_arguments_done(&arguments);
    if (r >= 0)
        return r;
    int status = status_of_error(err);
    command_complain("run", err);
    if (arguments.json)
        print_json_error(err, status, asked.data);
    return status;
}

const struct command command_run = {
    .name = "run",
    .arguments = "[options] [--] COMMAND [ARG...]",
    .summary = "run one command in a fresh box",
    .options = policy_options_run,
    .run = run_main,
};
