/*
 * learn.c - coop learn: runs a command, sees what a box refuses it, and writes the policy it needs
 *
 * Rounds: the command runs in a box that has what is known so far, and every refusal that may be
 * opened is opened for the next round, until nothing new is asked for. So a box never has more than
 * what will be suggested, and what was opened was needed. What may be opened is decided by
 * learn/classify.h and the owner's flags. At the end the suggestion itself is run.
 */
#include "learn.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/printable.h"
#include "cli/command.h"
#include "cli/learn/output.h"

#define USUAL_ROUNDS 10
#define SAID_MAX     10 /* refusals that are named on standard error */

enum { EXIT_PROVEN = 0, EXIT_LEFT = 1, EXIT_SETUP = 125 };

static bool is_stopped(const struct learning *learning)
{
    sigset_t pending;

    return learning->is_interrupted || learning->is_timed_out ||
           (sigpending(&pending) == 0 &&
            (sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM)));
}

static void say_round(const struct learning *learning, bool is_proof)
{
    if (learning->quiet)
        return;
    fprintf(stderr, "coop learn: %s %u: exit status %d, %" PRIu64 " refused, %u new need%s\n",
            is_proof ? "proof, run" : "round", learning->round, learning->status,
            learning->n_refused, learning->n_new, learning->n_new == 1 ? "" : "s");
}

static int observe(struct learning *learning, coop_error **err)
{
    do {
        int r = learn_round(learning, true, err);

        if (r < 0)
            return r;
        say_round(learning, false);
    } while (learning->n_new > 0 && learning->round < learning->max_rounds &&
             !is_stopped(learning));
    return 0;
}

/* Looks until nothing is new, then tries the suggestion; what that shows is looked into again. */
static int learn(struct learning *learning, bool *out_proven, coop_error **err)
{
    for (;;) {
        int r = observe(learning, err);

        if (r < 0 || learning->no_prove || is_stopped(learning))
            return r;
        r = learn_round(learning, false, err);
        if (r < 0)
            return r;
        say_round(learning, true);
        *out_proven = learning->n_new == 0 && !is_stopped(learning);
        if (learning->n_new == 0 || learning->round >= learning->max_rounds || is_stopped(learning))
            return 0;
    }
}

/* ---- the end */

/* Without a gate, names that are not found are no refusals: so it is told in words. */
static bool asks_for_hosts(const struct learning *learning)
{
    for (size_t i = 0; i < learning->needs.n; i++) {
        const struct need *need = &learning->needs.items[i];

        if ((need->kind == NEED_HOST || need->kind == NEED_NAME) && need->verdict != NEED_OPEN)
            return true;
    }
    return false;
}

static void describe(const struct learning *learning, bool is_proven, struct buffer *out)
{
    bool is_partial = learning->is_interrupted || learning->is_timed_out || learning->status != 0 ||
                      (learning->n_new > 0 && !is_proven);

    if (is_partial)
        buffer_append_string(out, "PARTIAL: it may need more than this, because ");
    if (learning->is_interrupted)
        buffer_append_string(out, "it was interrupted.\n");
    else if (learning->is_timed_out)
        buffer_append_string(out, "it did not finish within the timeout.\n");
    else if (learning->has_failed)
        buffer_append_string(out, "its box could not be set up.\n");
    else if (learning->n_new > 0 && !is_proven)
        buffer_append_string(out, "in the last run it still asked for something new.\n");
    else if (learning->status != 0)
        buffer_printf(out, "it ended with exit status %d.\n", learning->status);
    if (is_proven && learning->n_refused == 0)
        buffer_printf(out, "%s the last of %u runs used this policy, and nothing was denied.\n",
                      is_partial ? "But" : "Proven:", learning->round);
    else if (is_proven)
        buffer_printf(
            out, "The last of %u runs used this policy: %" PRIu64 " thing%s still denied.\n",
            learning->round, learning->n_refused, learning->n_refused == 1 ? " was" : "s were");
    else
        buffer_printf(out, "NOT proven: it was not run under this policy (%u run%s before).\n",
                      learning->round, learning->round == 1 ? "" : "s");
    if (learning->status != 0 && learning->n_refused == 0 && !learning->use_home)
        buffer_append_string(
            out, "If it looks for something in your home directory, use --home to see it.\n");
    if (asks_for_hosts(learning))
        buffer_append_string(out,
                             "It asks for hosts that this policy does not allow: see below.\n");
    if (learning->unwatched.length > 0)
        buffer_append_string(out, learning->unwatched.data);
}

/* What is not suggested, as far as anybody reads it. */
static void say_left(const struct learning *learning)
{
    size_t n = 0;
    auto_buffer struct buffer lines = { 0 };

    for (size_t i = 0; i < learning->needs.n; i++) {
        const struct need *need = &learning->needs.items[i];

        bool is_host = need->kind == NEED_HOST || need->kind == NEED_NAME;
        bool is_left = need->last_round == learning->round || is_host;

        if (need->verdict == NEED_OPEN || !is_left || n++ >= SAID_MAX)
            continue;
        buffer_append_string(&lines, "coop learn: not allowed: ");
        printable_append(&lines, need->what, strlen(need->what));
        buffer_printf(&lines, ": %s\n", learn_reason(need->verdict));
    }
    if (n > SAID_MAX)
        buffer_printf(&lines, "coop learn: and %zu more, listed in the policy\n", n - SAID_MAX);
    if (!lines.failed && lines.length > 0)
        (void)fwrite(lines.data, 1, lines.length, stderr);
}

static int finish(struct learning *learning, struct learn_output *output, bool is_proven,
                  coop_error **err)
{
    auto_buffer struct buffer outcome = { 0 };
    auto_buffer struct buffer text = { 0 };

    describe(learning, is_proven, &outcome);
    if (outcome.failed || learn_text(learning, false, outcome.data, &text) < 0)
        return fail_no_memory(err);
    int r = learn_output_write(output, &text, err);
    if (r < 0)
        return r;
    if (!learning->quiet) {
        if (learning->n_refused > 0 || asks_for_hosts(learning))
            say_left(learning);
        for (const char *line = outcome.data; line && *line; line = strchr(line, '\n') + 1)
            fprintf(stderr, "coop learn: %.*s\n", (int)strcspn(line, "\n"), line);
    }
    bool is_whole = learning->n_refused == 0 && !asks_for_hosts(learning) &&
                    learning->status == 0 && learning->n_new == 0 && !learning->is_interrupted &&
                    !learning->is_timed_out;
    return is_whole && (is_proven || learning->no_prove) ? EXIT_PROVEN : EXIT_LEFT;
}

static int prepare(struct learning *learning, int argc, char **argv, coop_error **err)
{
    int first = command_parse(&command_learn, argc, argv, learning, err);

    if (first < 0)
        return first;
    char *usual[] = { (char *)(uintptr_t) "run", (char *)(uintptr_t) "--workspace",
                      (char *)(uintptr_t)learning->workspace, NULL };
    int r = policy_arguments_parse(&learning->usual, &command_run, learning->workspace ? 3 : 1,
                                   usual, err);
    if (r >= 0)
        r = learn_find_places(learning, err);
    if (r < 0)
        return r;
    if (learning->shell_text) {
        learning->shell_argv[0] = (char *)(uintptr_t) "/bin/sh";
        learning->shell_argv[1] = (char *)(uintptr_t) "-c";
        learning->shell_argv[2] = (char *)(uintptr_t)learning->shell_text;
    }
    learning->command = learning->shell_text ? learning->shell_argv : argv + first;
    if ((learning->shell_text != NULL) == (first < argc))
        return fail_hint(err,
                         fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "%s",
                                   first < argc ? "both a shell text and a command are given"
                                                : "the command is missing"),
                         "for example: coop learn -o policy.toml -- make test");
    return 0;
}

static int learn_with(struct learning *learning, coop_error **err)
{
    auto_learn_output struct learn_output output = LEARN_OUTPUT_NONE;
    bool is_proven = false;
    int r = learn_output_open(&output, learning->output, err);

    if (r < 0)
        return r;
    if (!learning->quiet)
        fprintf(stderr,
                "coop learn: the command is run several times, at most %u%s, in this workspace\n",
                learning->max_rounds, learning->no_prove ? "" : " and once more to prove it");
    r = learn(learning, &is_proven, err);
    if (r < 0 && learning->round == 0)
        return r;
    if (r < 0) { /* what was seen before is still of use */
        command_complain("learn", *err);
        coop_error_free(*err);
        *err = NULL;
        learning->has_failed = true;
        learning->n_new = 1;
    }
    return finish(learning, &output, is_proven && !learning->has_failed, err);
}

static int learn_main(int argc, char **argv)
{
    auto_error coop_error *err = NULL;
    struct learning learning = { .max_rounds = USUAL_ROUNDS };
    int r = prepare(&learning, argc, argv, &err);

    if (r == -ECANCELED && !err)
        return 0;
    if (r >= 0)
        r = learn_with(&learning, &err);
    if (r < 0) {
        command_complain("learn", err);
        r = EXIT_SETUP;
    }
    /* Nothing is freed but what holds something: coop ends now. */
    policy_arguments_done(&learning.usual);
    return r;
}

const struct command command_learn = {
    .name = "learn",
    .arguments = "[options] [--] COMMAND [ARG...]",
    .summary = "run a command several times and write the policy that it needs",
    .options = learn_options,
    .run = learn_main,
};
