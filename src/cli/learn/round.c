/*
 * round.c - one run of the command, in a box of what is known so far
 */
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/learn/learn.h"
#include "cli/run/audit.h"
#include "cli/run/run.h"

static int policy_file(struct learning *learning, const struct buffer *text, coop_error **err)
{
    auto_close int fd = memfd_create("coop-learn", MFD_CLOEXEC);

    if (fd < 0 || fchmod(fd, 0600) < 0 ||
        write(fd, text->data, text->length) != (ssize_t)text->length)
        return fail(err, errno, "make a file in memory for the policy");
    (void)snprintf(learning->own_config, sizeof learning->own_config, "/proc/self/fd/%d", fd);
    return take_fd(&fd);
}

static int make_arguments(struct learning *learning, struct policy_arguments *arguments,
                          coop_error **err)
{
    char *argv[16] = { (char *)(uintptr_t) "run", (char *)(uintptr_t) "--config",
                       learning->own_config, (char *)(uintptr_t) "--explain=all" };
    int n = 4;

    if (learning->workspace) {
        argv[n++] = (char *)(uintptr_t) "--workspace";
        argv[n++] = (char *)(uintptr_t)learning->workspace;
    }
    if (learning->timeout) {
        argv[n++] = (char *)(uintptr_t) "--timeout";
        argv[n++] = (char *)(uintptr_t)learning->timeout;
    }
    int r = policy_arguments_parse(arguments, &command_run, n, argv, err);
    if (r < 0)
        return r;
    arguments->operands = NULL;
    arguments->quiet = learning->quiet;
    arguments->output_to_stderr = !learning->output;
    arguments->without_input = true;
    /* Runs are recorded where they always are, and nobody is shown that. */
    audit_settings_done(&arguments->audit);
    r = audit_settings_read(learning->usual.identity.config, &arguments->audit, err);
    return r < 0 ? r
                 : audit_hide(&arguments->audit, learning->workspace_path, false, arguments->policy,
                              err);
}

static int add_stand_ins(struct learning *learning, coop_policy *policy, coop_error **err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < learning->needs.n; i++)
        if (learn_is_stand_in(learning, &learning->needs.items[i]))
            r = coop_policy_add_tmpfs(policy, learning->needs.items[i].what, 4096, true, err);
    return r;
}

static int run_box(struct learning *learning, struct policy_arguments *arguments, bool is_trial,
                   coop_error **err)
{
    coop_sandbox *sandbox = NULL;
    coop_result *result = NULL;
    int r = is_trial ? add_stand_ins(learning, arguments->policy, err) : 0;

    if (r == 0)
        r = run_audit_begin(arguments, learning->command, err);
    if (r == 0)
        r = coop_sandbox_new(arguments->policy, &sandbox, err);
    if (r == 0)
        r = run_streaming(sandbox, learning->command, arguments, &result, err);
    if (r == 0) {
        learning->round++;
        learn_take(learning, result);
        learning->is_interrupted |= arguments->is_interrupted;
        if (is_trial)
            learn_take_watched(learning, result);
        run_audit_end(arguments, learning->command, result);
    }
    coop_result_free(result);
    coop_sandbox_free(sandbox);
    return r;
}

/* As coop run ends with, where nothing was run. */
#define EXIT_NOT_RUN 125

/* A program that is not in the box has not run, and says by that what is needed. */
static int take_missing(struct learning *learning, coop_error **err)
{
    struct stat st;
    const char *path = learning->command[0];

    if (!err || !*err || coop_error_get_kind(*err) != COOP_ERROR_EXEC ||
        coop_error_errno(*err) != ENOENT || path[0] != '/' || stat(path, &st) < 0)
        return -1;
    learning->round++;
    learn_take_program(learning, path);
    learning->status = 127;
    if (learning->n_new == 0)
        return -1;
    coop_error_free(*err);
    *err = NULL;
    return 0;
}

int learn_round(struct learning *learning, bool is_trial, coop_error **err)
{
    auto_buffer struct buffer text = { 0 };
    struct policy_arguments arguments;

    if (learn_text(learning, is_trial, NULL, &text) < 0)
        return fail_no_memory(err);
    auto_close int fd = policy_file(learning, &text, err);
    if (fd < 0)
        return fd;
    int r = make_arguments(learning, &arguments, err);
    if (r == 0)
        r = run_box(learning, &arguments, is_trial, err);
    if (r < 0 && err && *err)
        run_audit_failure(&arguments, learning->command, EXIT_NOT_RUN, *err);
    policy_arguments_done(&arguments);
    return r < 0 && take_missing(learning, err) == 0 ? 0 : r;
}
