/*
 * shell.c - bash with a shell that stays: its directory, variables and functions are there the next time
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json/write.h"
#include "policy/policy.h"
#include "tools/job.h"
#include "tools/jobs.h"
#include "tools/path/place.h"

#define SHOWN_BYTES 50000
#define AGE_MS      (24 * 3600 * (uint64_t)1000)
#define END_MS      5000

struct shell_call {
    struct shared_box *box;
    uint32_t id;
    const char *name;
    bool is_new;
    struct shared_job_state before, after;
    int result; /* of shared_box_run() */
    int status;
    uint64_t timeout_ms;
    int64_t began_ms;
};

/* What a command means depends on what earlier ones left in the shell, and rules see the text alone. */
static int check(struct tool_call *call, const char *name, coop_error **err)
{
    if (call->tools->policy->commands.strength != COOP_COMMANDS_OFF)
        return fail_kind(err, COOP_ERROR_DENIED, EACCES,
                         "shells that stay are not open to those whose commands have rules: run it "
                         "without shell");
    if (strcmp(call->tools->shell, "bash") != 0)
        return fail_kind(err, COOP_ERROR_NOT_AVAILABLE, ENOTSUP,
                         "a shell that stays needs bash, which this host does not have: run it "
                         "without shell");
    if (name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")])
        return fail_kind(err, COOP_ERROR_SYSTEM, EINVAL,
                         "the name of a shell has letters, digits, '.', '_' and '-' only");
    return 0;
}

static int find_shell(struct tool_call *call, struct shell_call *shell, coop_error **err)
{
    const char *directory = tool_text(call, "directory");
    auto_free char *place = places_path(call->places, directory ? directory : ".");
    char *const argv[] = { (char *)"bash", (char *)"--norc",         (char *)"--noprofile",
                           (char *)"-c",   (char *)SHARED_BOX_SHELL, NULL };
    const struct shared_job_options options = {
        .argv = argv,
        .label = "bash",
        .name = shell->name,
        .directory = place,
        .is_terminal = tool_flag(call, "pty", false),
        .timeout_ms = jobs_time(call, AGE_MS),
    };

    if (!place)
        return fail_no_memory(err);
    shell->id = shared_box_find_shell(shell->box, shell->name);
    if (shell->id && directory)
        return fail_kind(err, COOP_ERROR_SYSTEM, EINVAL,
                         "the shell '%s' is in a directory already: change it with cd",
                         shell->name);
    if (shell->id)
        return 0;
    shell->is_new = true;
    return shared_box_start(shell->box, &options, &shell->id, err);
}

static void print_end(const struct shell_call *shell, struct buffer *out)
{
    const struct shared_job_state *after = &shell->after;

    if (shell->result == 0)
        buffer_printf(out,
                      "timed out after %" PRIu64 " s: the shell '%s' was ended with what it ran; a "
                      "larger timeout_seconds gives it longer, background does not wait\n",
                      shell->timeout_ms / 1000, shell->name);
    else if (shell->result == -ECANCELED)
        buffer_printf(out, "cancelled: the shell '%s' was ended with what it ran\n", shell->name);
    else if (shell->result < 0 && after->status != -1 && WIFSIGNALED(after->status))
        buffer_printf(out, "the shell '%s' was killed by signal %d (%s)\n", shell->name,
                      WTERMSIG(after->status), strsignal(WTERMSIG(after->status)));
    else if (shell->result < 0)
        buffer_printf(out,
                      "the shell '%s' has ended: exit code %d; the next call begins a new one\n",
                      shell->name, after->status == -1 ? -1 : WEXITSTATUS(after->status));
    else if (shell->status != 0)
        buffer_printf(out, "exit code %d\n", shell->status);
}

static void print_output(const struct shell_call *shell, struct buffer *text, struct buffer *out)
{
    uint64_t total = shell->after.total;
    uint64_t offset = total > SHOWN_BYTES && total - SHOWN_BYTES > shell->before.total
                          ? total - SHOWN_BYTES
                          : shell->before.total;

    uint64_t first = offset;
    (void)shared_box_read(shell->box, shell->id, &offset, (size_t)(total - first), text);
    if (first > shell->before.total)
        buffer_printf(out,
                      "[cut: the first %" PRIu64
                      " bytes are not shown; job_output with job %" PRIu32 " and offset %" PRIu64
                      " shows them as long as they are kept]\n",
                      first - shell->before.total, shell->id, shell->before.total);
    if (text->length > 0)
        buffer_append(out, text->data, text->length);
}

static void write_facts(struct tool_call *call, const struct shell_call *shell,
                        const struct buffer *text)
{
    struct json_writer json;
    bool has_run = shell->result == 1;
    int status = shell->after.status;

    json_write_init(&json, &call->reply->structured, false);
    json_write_object_begin(&json);
    json_write_key(&json, "job");
    json_write_uint(&json, shell->id);
    json_write_key(&json, "shell");
    json_write_text(&json, shell->name);
    json_write_key(&json, "running");
    json_write_bool(&json, shell->after.is_running);
    json_write_key(&json, "exit_code");
    json_write_int(&json, has_run ? shell->status
                          : status != -1 && WIFEXITED(status) && !shell->after.is_running
                              ? WEXITSTATUS(status)
                              : -1);
    json_write_key(&json, "signal");
    json_write_int(&json,
                   !has_run && !shell->after.is_running && status != -1 && WIFSIGNALED(status)
                       ? WTERMSIG(status)
                       : 0);
    json_write_key(&json, "timed_out");
    json_write_bool(&json, shell->result == 0);
    json_write_key(&json, "cancelled");
    json_write_bool(&json, shell->result == -ECANCELED);
    json_write_key(&json, "duration_ms");
    json_write_int(&json, clock_now_ms() - shell->began_ms);
    json_write_key(&json, "output");
    json_write_string(&json, text->data ? text->data : "", text->length);
    json_write_key(&json, "tier");
    json_write_text(&json, coop_tier_name(shared_box_tier(shell->box)));
    json_write_object_end(&json);
    json_write_finish(&json);
}

/* A shell whose command is not waited for any more is of no use: nobody knows what it does. */
static void end_shell(const struct shell_call *shell)
{
    const struct shared_job_wait wait = { .offset = UINT64_MAX,
                                          .timeout_ms = END_MS,
                                          .cancel_fd = -1 };

    (void)shared_box_signal(shell->box, shell->id, SIGKILL);
    (void)shared_box_wait(shell->box, shell->id, &wait);
}

int jobs_shell(struct tool_call *call, coop_error **err)
{
    const coop_execute_options *options = call->options;
    auto_buffer struct buffer text = { 0 };
    struct shell_call shell = {
        .name = tool_text(call, "shell"),
        .timeout_ms =
            jobs_time(call, 1000 * (uint64_t)tool_number(call, "timeout_seconds", JOB_TIMEOUT_S)),
        .began_ms = clock_now_ms(),
    };
    struct buffer *out = &call->reply->text;
    auto_shared_box struct shared_box *box = NULL;
    int r = check(call, shell.name, err);

    if (r == 0)
        r = jobs_box(call->tools, &box, err);
    shell.box = box;
    if (r == 0)
        r = find_shell(call, &shell, err);
    if (r < 0)
        return r;
    (void)shared_box_look(shell.box, shell.id, &shell.before);
    shell.result =
        shared_box_run(shell.box, shell.id, tool_text(call, "command"), (int64_t)shell.timeout_ms,
                       options->can_cancel ? options->cancel_fd : -1, &shell.status);
    if (shell.result == -EBUSY)
        return fail_kind(err, COOP_ERROR_SYSTEM, EBUSY,
                         "the shell '%s' runs another command: use another shell, or stop it with "
                         "job_stop (job %" PRIu32 ")",
                         shell.name, shell.id);
    if (shell.result == 0 || shell.result == -ECANCELED)
        end_shell(&shell);
    else if (shell.result == -EPIPE) /* how it ended comes a moment later */
        (void)shared_box_wait(shell.box, shell.id,
                              &(struct shared_job_wait){
                                  .offset = UINT64_MAX, .timeout_ms = END_MS, .cancel_fd = -1 });
    (void)shared_box_look(shell.box, shell.id, &shell.after);
    print_end(&shell, out);
    print_output(&shell, &text, out);
    shared_box_mark(shell.box, shell.id, shell.after.total);
    jobs_print_denials(shell.box, shell.id, shell.before.denial_mark, out);
    if (out->length == 0)
        buffer_append_string(out, "(no output)");
    write_facts(call, &shell, &text);
    call->reply->is_error = shell.result != 1 || shell.status != 0;
    return 0;
}
