/*
 * job.h - a command of the tools: in a box, or on the host for those whose tools act there
 *
 *   job_run() -> job_print(), job_json() -> job_done()
 *
 * Standard output and standard error come together, as a terminal would show them. Of long output the
 * end is shown, and the whole is kept in a file of the boxes' own /tmp, where there is one.
 */
#pragma once

#include "base/buffer.h"
#include "base/capture.h"
#include "base/json/write.h"
#include "coop/result.h"
#include "tools/tool.h"

#define JOB_TIMEOUT_S 120

struct job {
    char *const *argv;
    const char *directory; /* as the tools see it; NULL: the workspace */
    uint64_t timeout_ms;
    bool is_quiet; /* nobody is shown its output as it comes */
};

/* Where the whole of long output is. */
struct job_file {
    int fd;         /* -1: there is none */
    bool is_wanted; /* the output is longer than what is shown */
    char path[48];  /* as the tools see it */
    uint64_t bytes; /* in it */
    int error;      /* why it is not whole, or not there; 0: nothing of the sort */
};

/* Whose word the time limit is. */
enum job_timeout_reason { JOB_TIMEOUT_ASKED, JOB_TIMEOUT_CONFIGURED, JOB_TIMEOUT_SESSION };

struct job_end {
    coop_result *result;
    uint64_t timeout_ms; /* that held */
    enum job_timeout_reason timeout_reason;
    struct capture capture;
    struct buffer shown;
    struct capture_cut cut;
    struct job_file file;
};

/* Runs it to its end. An error means that nothing was run. Empty `end` in any case. */
int job_run(const struct tool_call *call, const struct job *job, struct job_end *end,
            coop_error **err);
void job_done(struct job_end *end);
#define auto_job_end __attribute__((cleanup(job_done)))

/* Ran to its end and gave 0. */
bool job_succeeded(const struct job_end *end);

/* What a model reads: how it ended where that is not well, its output, what was cut, what was
 * refused. */
void job_print(const struct tool_call *call, const struct job_end *end, struct buffer *out);

/* A line for one refusal; `whose` stands behind its beginning. */
void job_print_denial(struct buffer *out, const coop_denial *denial, const char *whose);

/* The same as members of an object that is open. */
void job_json(const struct job_end *end, struct json_writer *json);
