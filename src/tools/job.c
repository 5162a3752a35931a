#include "job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/printable.h"
#include "run_config/run_config.h"
#include "tools/audit.h"
#include "tools/lifetime.h"
#include "tools/path/place.h"
#include "tools/tools.h"

#define GRACE_MS  2000
#define FILE_TRYS 16 /* names that a command has taken itself */

/* Enough for what is shown and the piece that made it too long. */
#define CAPTURE_ROOM ((size_t)1 << 20)

struct running {
    const struct tool_call *call;
    const struct job *job;
    struct job_end *end;
};

/* ---- the whole output */

static unsigned long next_output(coop_tools *tools)
{
    (void)pthread_mutex_lock(&tools->shared->lock);
    unsigned long n = ++tools->shared->n_outputs;
    (void)pthread_mutex_unlock(&tools->shared->lock);
    return n;
}

/* A new file, whatever a command may have put under that name. */
static void open_file(struct running *running)
{
    coop_tools *tools = running->call->tools;
    struct job_file *file = &running->end->file;

    file->is_wanted = true;
    if (tools->tmp_fd < 0) {
        file->error = ENOTSUP;
        return;
    }
    for (int i = 0; i < FILE_TRYS && file->fd < 0; i++) {
        (void)snprintf(file->path, sizeof file->path, "/tmp/output-%lu.txt", next_output(tools));
        file->fd = openat(tools->tmp_fd, file->path + strlen("/tmp/"),
                          O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
        file->error = file->fd < 0 ? errno : 0;
        struct stat top;
        /* Of root's, where the owner of the workspace is somebody else. */
        if (file->fd >= 0 && tools->files_uid && tools->lowers_rights &&
            fstat(tools->tmp_fd, &top) == 0)
            (void)!fchown(file->fd, top.st_uid, top.st_gid);
        if (file->fd < 0 && file->error != EEXIST)
            break;
    }
}

static void append_file(struct job_file *file, const char *bytes, size_t n)
{
    while (n > 0 && file->fd >= 0 && !file->error) {
        ssize_t written = write(file->fd, bytes, n);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            file->error = written < 0 ? errno : ENOSPC;
            return;
        }
        bytes += written;
        n -= (size_t)written;
        file->bytes += (uint64_t)written;
    }
}

static bool is_long(const struct capture *capture)
{
    return capture_total_bytes(capture) > CAPTURE_SHOWN_BYTES ||
           capture_total_lines(capture) > CAPTURE_SHOWN_LINES;
}

static void take_output(void *context, coop_stream stream, const char *bytes, size_t n)
{
    struct running *running = context;
    struct job_end *end = running->end;
    const coop_execute_options *options = running->call->options;
    bool was_wanted = end->file.is_wanted;

    (void)stream;
    capture_append(&end->capture, bytes, n);
    if (!was_wanted && is_long(&end->capture)) {
        const char *all = NULL;
        size_t length = 0;

        open_file(running);
        capture_text(&end->capture, &all, &length);
        append_file(&end->file, all, length);
    } else if (was_wanted) {
        append_file(&end->file, bytes, n);
    }
    if (options->on_progress && !running->job->is_quiet)
        options->on_progress(options->context, bytes, n);
}

/* ---- the run */

static uint64_t choose_timeout(coop_tools *tools, const struct job *job,
                               enum job_timeout_reason *out_reason)
{
    const uint64_t left = lifetime_left_ms(tools);
    uint64_t most = job->timeout_ms;

    *out_reason = JOB_TIMEOUT_ASKED;
    if (tools->timeout_ms && tools->timeout_ms <= most) {
        most = tools->timeout_ms;
        *out_reason = JOB_TIMEOUT_CONFIGURED;
    }
    if (left < most) {
        most = left;
        *out_reason = JOB_TIMEOUT_SESSION;
    }
    return most;
}

/* That of the engine is for somebody who types options. */
static int say_directory(const struct tool_call *call, const struct job *job, int r,
                         coop_error **err)
{
    if (!job->directory || !err || coop_error_get_kind(*err) != COOP_ERROR_SETUP ||
        !strstr(coop_error_message(*err), "change directory"))
        return r;
    auto_buffer struct buffer shown = { 0 };
    printable_append(&shown, job->directory, strlen(job->directory));
    r = fail(err, -r, "start in the directory '%s'", shown.data ? shown.data : "");
    return fail_hint(err, r, "the workspace is at '%s'; relative paths start there",
                     call->tools->workspace_view);
}

int job_run(const struct tool_call *call, const struct job *job, struct job_end *end,
            coop_error **err)
{
    coop_tools *tools = call->tools;
    struct running running = { call, job, end };
    enum job_timeout_reason reason;
    coop_box *box = NULL;
    auto_free char *directory = NULL;
    coop_run_options options = {
        .size = sizeof options,
        .timeout_ms = choose_timeout(tools, job, &reason),
        .grace_ms = GRACE_MS,
        .on_output = take_output,
        .context = &running,
        .env_pass = tools->identity->run.env_pass,
        .can_cancel = call->options->can_cancel,
        .cancel_fd = call->options->cancel_fd,
        .directory = job->directory,
        .explain = COOP_EXPLAIN_HIDDEN,
        .log = call->audit ? &call->audit->log : NULL,
    };

    *end = (struct job_end){ .timeout_ms = options.timeout_ms,
                             .timeout_reason = reason,
                             .file.fd = -1 };
    capture_init(&end->capture, CAPTURE_ROOM);
    if (job->directory && *job->directory == '/') {
        directory = places_path(call->places, job->directory);
        if (!directory)
            return fail_no_memory(err);
        options.directory = directory;
    }
    (void)pthread_mutex_lock(&tools->shared->lock);
    int r = coop_start(tools->shared->sandbox, job->argv, &options, &box, err);
    (void)pthread_mutex_unlock(&tools->shared->lock);
    if (r < 0)
        return say_directory(call, job, r, err);
    r = coop_wait(box, &end->result, err);
    if (r == 0)
        tools_audit_result(call, end->result);
    if (r == 0)
        r = capture_shown(&end->capture, CAPTURE_SHOWN_LINES, CAPTURE_SHOWN_BYTES, &end->shown,
                          &end->cut);
    close_fd(&end->file.fd);
    return r == -ENOMEM ? fail_no_memory(err) : r;
}

void job_done(struct job_end *end)
{
    coop_result_free(end->result);
    capture_done(&end->capture);
    buffer_done(&end->shown);
    close_fd(&end->file.fd);
    end->result = NULL;
}

bool job_succeeded(const struct job_end *end)
{
    return coop_result_exit_code(end->result) == 0 &&
           coop_result_ended_by(end->result) == COOP_ERROR_NONE;
}
