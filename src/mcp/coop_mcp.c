/*
 * coop_mcp.c - coop-mcp: a Model Context Protocol server
 *
 * Threads: the main one waits for signals and for the end; one reads standard input (or, with --http,
 * one takes connections and each connection has its own); those of the pool do what takes time.
 * Nothing a client does holds the main thread up, so the end always comes: every call is cancelled,
 * its box is waited for, then the program exits, whether or not somebody still reads.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/log_sink.h"
#include "base/printable.h"
#include "coop/tools.h"
#include "coop/version.h"
#include "mcp/http/http.h"
#include "mcp/progress.h"
#include "mcp/server.h"
#include "mcp/session.h"
#include "mcp/standard.h"
#include "mcp/toolset.h"

#define LAST_WORDS_MS       2000 /* for answers, after the last box has ended */
#define AFTER_INPUT_MS      1000 /* for calls, after the last request */
#define AFTER_INPUT_STEP_MS 20

enum { EXIT_SETUP = 125, EXIT_USAGE = 2 };

static int complain(const coop_error *err)
{
    auto_buffer struct buffer text = { 0 };
    const char *hint = coop_error_hint(err);

    printable_append(&text, coop_error_message(err), strlen(coop_error_message(err)));
    if (hint) {
        buffer_append_string(&text, "\n  hint: ");
        printable_append(&text, hint, strlen(hint));
    }
    (void)fprintf(stderr, "coop mcp: %s\n", text.data ? text.data : "out of memory");
    return coop_error_get_kind(err) == COOP_ERROR_BAD_POLICY ? EXIT_USAGE : EXIT_SETUP;
}

static void greet(const struct options *options, const struct toolset *toolset)
{
    const coop_tools *tools = toolset->tools;
    const char *user = coop_tools_user(tools);
    const char *identity = options->identity ? options->identity : "nobody in particular";
    auto_buffer struct buffer text = { 0 };

    buffer_printf(&text, "coop mcp %s: ", coop_version());
    printable_append(&text, identity, strlen(identity));
    if (user) {
        buffer_append_string(&text, " (");
        printable_append(&text, user, strlen(user));
        buffer_append_char(&text, ')');
    }
    buffer_printf(&text, ", level %s, workspace ", coop_tools_level(tools));
    printable_append(&text, toolset->workspace, strlen(toolset->workspace));
    buffer_printf(&text, "%s\n%s\n", options->read_only ? ", read-only" : "",
                  coop_tools_banner(tools));
    if (!text.failed)
        (void)fputs(text.data, stderr);
}

/* Signals that end it; others keep their meaning. */
static int signals(void)
{
    sigset_t set;

    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN); /* a file that is too large fails, and that is told */
    (void)signal(SIGCHLD, SIG_DFL); /* else the end of a box could not be seen */
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC);
}

/* Returns when it shall end; true: because there is nothing more to read, not because of a signal. */
static bool wait_for_end(struct server *server, int signal_fd)
{
    struct pollfd fds[] = { { .fd = signal_fd, .events = POLLIN },
                            { .fd = server->stop_fd, .events = POLLIN },
                            { .fd = server->tick_fd, .events = POLLIN } };
    int timeout = -1;

    for (;;) {
        int r = poll(fds, COUNT(fds), timeout);

        if (r < 0 && errno != EINTR)
            return false;
        if (r > 0 && (fds[0].revents || fds[1].revents))
            return !fds[0].revents;
        if (r > 0)
            (void)!read(server->tick_fd, &(uint64_t){ 0 }, sizeof(uint64_t));
        timeout = progress_tick(server);
    }
}

/* Whoever pipes requests in and reads the answers gets those that come soon. A client that is gone
 * has closed the other end too. */
static void let_finish(struct server *server, int signal_fd)
{
    for (int waited = 0; waited < AFTER_INPUT_MS; waited += AFTER_INPUT_STEP_MS) {
        struct pollfd fds[] = { { .fd = signal_fd, .events = POLLIN }, { .fd = STDOUT_FILENO } };

        bool is_idle = pool_await_idle(server->pool, AFTER_INPUT_STEP_MS) &&
                       pool_await_idle(server->commands, AFTER_INPUT_STEP_MS);
        if (is_idle || poll(fds, COUNT(fds), 0) != 0)
            return;
    }
}

static int serve(const struct options *options, coop_error **err)
{
    struct server server;
    struct toolset *toolset = NULL;
    struct session *session = NULL;
    struct http *http = NULL;
    auto_close int signal_fd = signals();

    if (signal_fd < 0)
        return fail(err, errno, "watch for signals");
    int r = toolset_new(options, NULL, NULL, &toolset, err);
    if (r == 0)
        r = server_init(&server, options, err);
    if (r < 0)
        return r;
    (void)toolset_ref(toolset);
    r = options->http ? http_start(&server, toolset, &http, err)
                      : standard_start(&server, toolset, &session, err);
    /* Finding out what the sandbox can do takes longer than a first answer. */
    if (r == 0 && !options->quiet)
        greet(options, toolset);
    toolset_unref(toolset);
    if (r < 0)
        return r;
    if (http)
        http_announce(http);
    if (wait_for_end(&server, signal_fd) && session)
        let_finish(&server, signal_fd);
    if (http)
        http_end(http);
    if (session)
        session_end(session);
    server_await_all(&server);
    (void)pool_await_idle(server.pool, LAST_WORDS_MS);
    (void)pool_await_idle(server.commands, LAST_WORDS_MS);
    return 0;
}

int main(int argc, char **argv)
{
    auto_error coop_error *err = NULL;
    struct options options;

    (void)argc;
    if (getauxval(AT_SECURE)) {
        (void)fprintf(stderr,
                      "coop mcp: refusing to run setuid, setgid or with file capabilities\n");
        return EXIT_SETUP;
    }
    struct log_sink sink;
    int r = options_read(argv, &options, &err);
    if (r == 0)
        r = log_sink_init(&sink, COOP_LOG_ERROR, &err);
    if (r == 0 && options.log_format)
        r = log_sink_format(&sink, options.log_format, &err);
    options.sink = &sink;
    if (r == 0)
        r = serve(&options, &err);
    if (r < 0)
        return complain(err);
    /* Nothing is freed: threads may still wait for a client that does not read. */
    _exit(0);
}
