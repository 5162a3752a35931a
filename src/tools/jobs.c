/*
 * jobs.c - a job in the background: started by bash, then read, fed, stopped and listed
 */
#include "jobs.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json/write.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "plan/command_check.h"
#include "policy/policy.h"
#include "run_config/run_config.h"
#include "tools/job.h"
#include "tools/lifetime.h"
#include "tools/path/place.h"

#define SHOWN_BYTES  50000
#define AGE_MS       (24 * 3600 * (uint64_t)1000) /* of a job at most */
#define WAIT_S       30
#define STOP_MS      2000 /* between SIGTERM and SIGKILL */
#define STOP_LAST_MS 10000

/* ---- the box */

int jobs_box(coop_tools *tools, struct shared_box **out, coop_error **err)
{
    struct tools_shared *shared = tools->shared;
    int r = 0;

    (void)pthread_mutex_lock(&shared->jobs_lock);
    if (shared->jobs && !shared_box_is_alive(shared->jobs)) {
        shared_box_unref(take_ptr(shared->jobs));
    }
    if (!shared->jobs) {
        const struct shared_box_options options = {
            .sandbox = shared->sandbox,
            .start_lock = &shared->lock,
            .env_pass = tools->identity->run.env_pass,
        };

        r = tools->on_host ? fail_kind(err, COOP_ERROR_NOT_AVAILABLE, ENOTSUP,
                                       "these tools act on the host, where nothing would end "
                                       "jobs and shells")
                           : shared_box_new(&options, &shared->jobs, err);
    }
    if (r == 0)
        *out = shared_box_ref(shared->jobs);
    (void)pthread_mutex_unlock(&shared->jobs_lock);
    return r;
}

void jobs_end(coop_tools *tools)
{
    (void)pthread_mutex_lock(&tools->shared->jobs_lock);
    shared_box_unref(take_ptr(tools->shared->jobs));
    (void)pthread_mutex_unlock(&tools->shared->jobs_lock);
}

/* The box and the job that the call names. */
static int find(struct tool_call *call, struct shared_box **box, struct shared_job_state *state,
                coop_error **err)
{
    uint32_t id = (uint32_t)tool_number(call, "job", 0);
    struct tools_shared *shared = call->tools->shared;

    (void)pthread_mutex_lock(&shared->jobs_lock);
    *box = shared->jobs ? shared_box_ref(shared->jobs) : NULL;
    (void)pthread_mutex_unlock(&shared->jobs_lock);
    if (*box && shared_box_look(*box, id, state) == 0)
        return 0;
    int r = fail_kind(err, COOP_ERROR_SYSTEM, ENOENT, "there is no job %" PRIu32, id);
    return fail_hint(err, r,
                     "jobs lists those there are; the oldest that have ended are forgotten");
}

int jobs_admit(const struct tool_call *call, char *const argv[], coop_error **err)
{
    const coop_policy *policy = call->tools->policy;
    const struct plan plan = { .policy = policy, .workspace_view = call->tools->workspace_view };

    for (size_t i = 0; i < policy->commands.rules.n; i++)
        if (policy->commands.strength != COOP_COMMANDS_OFF &&
            policy->commands.rules.items[i].manifest)
            return fail_kind(err, COOP_ERROR_DENIED, EACCES,
                             "jobs are not open to those whose commands have rules of a manifest: "
                             "run it without background");
    return command_check(&plan, argv, err);
}

uint64_t jobs_time(const struct tool_call *call, uint64_t asked_ms)
{
    uint64_t most = lifetime_left_ms(call->tools);

    if (call->tools->timeout_ms && call->tools->timeout_ms < most)
        most = call->tools->timeout_ms;
    return asked_ms < most ? asked_ms : most;
}

/* ---- words */

struct printing {
    struct buffer *out;
};

static void print_denial(void *context, const coop_denial *denial, bool is_known)
{
    struct printing *printing = context;

    job_print_denial(printing->out, denial,
                     is_known ? "" : " (this or another job or shell of this client)");
}

void jobs_print_denials(struct shared_box *box, uint32_t id, size_t from, struct buffer *out)
{
    struct printing printing = { out };
    size_t n = shared_box_denials(box, id, from, print_denial, &printing);

    shared_box_mark_denials(box, id, n);
}

static void begin_line(struct buffer *out)
{
    if (out->length > 0 && out->data[out->length - 1] != '\n')
        buffer_append_char(out, '\n');
}

static void print_state(struct buffer *out, const struct shared_job_state *state)
{
    if (state->is_running)
        buffer_append_string(out, "is running");
    else if (state->status == -1)
        buffer_append_string(out, "was ended with its box");
    else if (WIFSIGNALED(state->status))
        buffer_printf(out, "was killed by signal %d (%s)", WTERMSIG(state->status),
                      strsignal(WTERMSIG(state->status)));
    else
        buffer_printf(out, "has ended: exit code %d", WEXITSTATUS(state->status));
    if (state->timed_out)
        buffer_append_string(out, ", timed out");
}

static void json_state(struct json_writer *json, const struct shared_job_state *state)
{
    bool has_ended = !state->is_running && state->status != -1;

    json_write_key(json, "job");
    json_write_uint(json, state->id);
    if (state->name[0]) {
        json_write_key(json, "shell");
        json_write_text(json, state->name);
    }
    json_write_key(json, "running");
    json_write_bool(json, state->is_running);
    json_write_key(json, "exit_code");
    json_write_int(json, has_ended && WIFEXITED(state->status) ? WEXITSTATUS(state->status) : -1);
    json_write_key(json, "signal");
    json_write_int(json, has_ended && WIFSIGNALED(state->status) ? WTERMSIG(state->status) : 0);
    json_write_key(json, "timed_out");
    json_write_bool(json, state->timed_out);
    json_write_key(json, "duration_ms");
    json_write_int(json,
                   (state->is_running ? clock_now_ms() : state->ended_ms) - state->started_ms);
    json_write_key(json, "bytes");
    json_write_uint(json, state->total);
}

/* ---- bash with background */

int jobs_background(struct tool_call *call, coop_error **err)
{
    const char *text = tool_text(call, "command");
    const char *directory = tool_text(call, "directory");
    auto_free char *place = places_path(call->places, directory ? directory : ".");
    char *const argv[] = { (char *)call->tools->shell, (char *)"-c", (char *)"--", (char *)text,
                           NULL };
    struct shared_job_options options = {
        .argv = argv,
        .label = text,
        .directory = place,
        .is_terminal = tool_flag(call, "pty", false),
        .timeout_ms =
            jobs_time(call, 1000 * (uint64_t)tool_number(call, "timeout_seconds", AGE_MS / 1000)),
    };
    auto_shared_box struct shared_box *box = NULL;
    struct shared_job_state state = { 0 };
    struct json_writer json;

    if (!place)
        return fail_no_memory(err);
    int r = jobs_admit(call, argv, err);
    if (r == 0)
        r = jobs_box(call->tools, &box, err);
    if (r == 0)
        r = shared_box_start(box, &options, &state.id, err);
    if (r < 0)
        return r;
    (void)shared_box_look(box, state.id, &state);
    buffer_printf(&call->reply->text,
                  "job %" PRIu32 " started; read its output with job_output, end it with job_stop. "
                  "To reach a server in it, run a command with shell: plain commands have a "
                  "loopback of their own.\n",
                  state.id);
    json_write_init(&json, &call->reply->structured, false);
    json_write_object_begin(&json);
    json_state(&json, &state);
    json_write_object_end(&json);
    json_write_finish(&json);
    return 0;
}

/* ---- job_output */

static int await_output(struct tool_call *call, struct shared_box *box,
                        const struct shared_job_state *state, uint64_t offset, int *out)
{
    const coop_execute_options *options = call->options;
    const struct shared_job_wait wait = {
        .offset = offset,
        .text = tool_text(call, "wait_for"),
        .timeout_ms = 1000 * tool_number(call, "timeout_seconds", WAIT_S),
        .cancel_fd = options->can_cancel ? options->cancel_fd : -1,
    };

    *out = -1; /* nobody asked */
    if (!wait.text && !tool_flag(call, "wait_exit", false))
        return 0;
    *out = shared_box_wait(box, state->id, &wait);
    return *out == -ECANCELED ? -ECANCELED : 0;
}

/* As far as whole characters go: the next call begins with the rest. */
static void keep_whole(struct buffer *text, uint64_t *offset)
{
    size_t whole = utf8_valid_prefix(text->data ? text->data : "", text->length);

    if (text->length == SHOWN_BYTES && text->length - whole < 4) {
        *offset -= text->length - whole;
        text->length = whole;
    }
}

static void write_output(struct tool_call *call, const struct shared_job_state *state,
                         const struct buffer *text, uint64_t from, uint64_t next, int waited,
                         uint64_t n_lost)
{
    struct buffer *out = &call->reply->text;
    struct json_writer json;

    if (n_lost > 0)
        buffer_printf(out, "[%" PRIu64 " bytes before this are not kept any more]\n", n_lost);
    if (text->length > 0)
        buffer_append(out, text->data, text->length);
    begin_line(out);
    if (waited == 0)
        buffer_append_string(out, "[the time to wait is over]\n");
    buffer_printf(out, "[job %" PRIu32 " ", state->id);
    print_state(out, state);
    buffer_printf(out, "; next offset %" PRIu64 "%s]\n", next,
                  next < state->total ? ", there is more" : "");
    json_write_init(&json, &call->reply->structured, false);
    json_write_object_begin(&json);
    json_state(&json, state);
    json_write_key(&json, "offset");
    json_write_uint(&json, from);
    json_write_key(&json, "next_offset");
    json_write_uint(&json, next);
    json_write_key(&json, "output");
    json_write_string(&json, text->data ? text->data : "", text->length);
    json_write_object_end(&json);
    json_write_finish(&json);
}

int tool_job_output(struct tool_call *call, coop_error **err)
{
    auto_buffer struct buffer text = { 0 };
    auto_shared_box struct shared_box *box = NULL;
    struct shared_job_state state = { 0 };
    int waited = -1;
    int r = find(call, &box, &state, err);

    if (r < 0)
        return r;
    uint64_t asked = (uint64_t)tool_number(call, "offset", (int64_t)state.mark);
    if (await_output(call, box, &state, asked, &waited) < 0)
        return fail_kind(err, COOP_ERROR_CANCELLED, ECANCELED, "the call was cancelled");
    uint64_t next = asked;
    size_t n_denials = state.denial_mark;
    (void)shared_box_look(box, state.id, &state);
    if (shared_box_read(box, state.id, &next, SHOWN_BYTES, &text) < 0)
        return fail_no_memory(err);
    uint64_t from = next - text.length;
    keep_whole(&text, &next);
    shared_box_mark(box, state.id, next);
    write_output(call, &state, &text, from, next, waited, from > asked ? from - asked : 0);
    jobs_print_denials(box, state.id, n_denials, &call->reply->text);
    return 0;
}

/* ---- job_input, job_stop, jobs */

static void answer_state(struct tool_call *call, struct shared_box *box, uint32_t id)
{
    struct shared_job_state state = { .id = id };
    struct json_writer json;

    (void)shared_box_look(box, id, &state);
    buffer_printf(&call->reply->text, "job %" PRIu32 " ", id);
    print_state(&call->reply->text, &state);
    buffer_append_char(&call->reply->text, '\n');
    json_write_init(&json, &call->reply->structured, false);
    json_write_object_begin(&json);
    json_state(&json, &state);
    json_write_object_end(&json);
    json_write_finish(&json);
}

int tool_job_input(struct tool_call *call, coop_error **err)
{
    const char *input = tool_text(call, "input");
    auto_shared_box struct shared_box *box = NULL;
    struct shared_job_state state = { 0 };
    int r = find(call, &box, &state, err);

    if (r < 0)
        return r;
    size_t n = input ? strlen(input) : 0;
    ssize_t written = n > 0 ? shared_box_write(box, state.id, input, n) : 0;
    if (written < 0)
        return fail(err, (int)-written, "write to the input of job %" PRIu32, state.id);
    if (tool_flag(call, "end", false))
        (void)shared_box_close_input(box, state.id);
    buffer_printf(&call->reply->text, "%zd of %zu bytes were taken%s; ", written, n,
                  (size_t)written < n ? ", and then it did not read for two seconds" : "");
    answer_state(call, box, state.id);
    return 0;
}

int tool_job_stop(struct tool_call *call, coop_error **err)
{
    const struct shared_job_wait first = { .offset = UINT64_MAX,
                                           .timeout_ms = STOP_MS,
                                           .cancel_fd = -1 };
    const struct shared_job_wait last = { .offset = UINT64_MAX,
                                          .timeout_ms = STOP_LAST_MS,
                                          .cancel_fd = -1 };
    auto_shared_box struct shared_box *box = NULL;
    struct shared_job_state state = { 0 };
    int r = find(call, &box, &state, err);

    if (r < 0)
        return r;
    if (state.is_running) {
        (void)shared_box_signal(box, state.id, SIGCONT);
        (void)shared_box_signal(box, state.id, SIGTERM);
        if (shared_box_wait(box, state.id, &first) == 0) {
            (void)shared_box_signal(box, state.id, SIGKILL);
            (void)shared_box_wait(box, state.id, &last);
        }
    }
    answer_state(call, box, state.id);
    return 0;
}

static void print_job(struct buffer *out, const struct shared_job_state *state)
{
    buffer_printf(out, "%" PRIu32 " ", state->id);
    print_state(out, state);
    buffer_printf(out, ", %" PRIu64 " bytes, %" PRId64 " s: ", state->total,
                  ((state->is_running ? clock_now_ms() : state->ended_ms) - state->started_ms) /
                      1000);
    if (state->name[0])
        buffer_printf(out, "shell '%s'", state->name);
    else
        printable_append(out, state->label, strlen(state->label));
    buffer_append_char(out, '\n');
}

int tool_jobs(struct tool_call *call, coop_error **err)
{
    auto_free struct shared_job_state *states = NULL;
    struct tools_shared *shared = call->tools->shared;
    struct json_writer json;

    (void)pthread_mutex_lock(&shared->jobs_lock);
    size_t n = shared->jobs ? shared_box_list(shared->jobs, &states) : 0;
    (void)pthread_mutex_unlock(&shared->jobs_lock);
    if (shared->jobs && !states)
        return fail_no_memory(err);
    json_write_init(&json, &call->reply->structured, false);
    json_write_object_begin(&json);
    json_write_key(&json, "jobs");
    json_write_array_begin(&json);
    for (size_t i = 0; i < n; i++) {
        print_job(&call->reply->text, &states[i]);
        json_write_object_begin(&json);
        json_state(&json, &states[i]);
        json_write_key(&json, "command");
        json_write_text(&json, states[i].label);
        json_write_object_end(&json);
    }
    json_write_array_end(&json);
    json_write_object_end(&json);
    json_write_finish(&json);
    if (n == 0)
        buffer_append_string(&call->reply->text, "there are no jobs\n");
    return 0;
}
