/*
 * coop/run.h - run commands with only what a policy grants
 *
 *   coop_sandbox_new() -> coop_run(), any number of times -> coop_sandbox_free()
 *   or, for event loops: coop_start() -> poll coop_box_fd() -> coop_step() until it says done
 *                        -> coop_wait()
 *
 * A sandbox is used by one thread at a time; different sandboxes are independent. libcoop never
 * exits, prints, installs signal handlers, reaps children it did not make, or leaves descriptors.
 */
#ifndef COOP_RUN_H
#define COOP_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coop/error.h"
#include "coop/log.h"
#include "coop/policy.h"
#include "coop/result.h"

#ifdef __cplusplus
extern "C" {
#endif

struct termios; /* <termios.h> */

typedef struct coop_sandbox coop_sandbox;
typedef struct coop_box coop_box;

/* Called with output as it comes, from within coop_run(), coop_step() or coop_wait(). */
typedef void coop_output_fn(void *context, coop_stream stream, const char *bytes, size_t length);

/* What is looked at so that its refusal can be told: coop_result_watched(). */
typedef enum coop_explain {
    COOP_EXPLAIN_DEFAULT, /* what costs nothing where nothing is refused */
    COOP_EXPLAIN_WRITES,  /* and what writes or makes names, executes, binds or sends */
    COOP_EXPLAIN_ALL,     /* and every look at a path: several times slower */
    COOP_EXPLAIN_NONE,    /* nothing: the kernel refuses by itself, where it can */
    COOP_EXPLAIN_HIDDEN   /* the default, and who wants what is hidden; COOP_EXPLAIN_WRITES too */
} coop_explain;

/* Zero means the default everywhere; `size` lets the struct grow. */
typedef struct coop_run_options {
    size_t size;               /* sizeof(coop_run_options) */
    uint64_t timeout_ms;       /* 0: none */
    uint64_t grace_ms;         /* between SIGTERM and the end of the box; 0: 2000 */
    uint64_t capture_max;      /* bytes kept of each stream; 0: 10 MiB */
    const char *input;         /* given to the command's standard input, borrowed */
    size_t input_length;       /* 0: standard input is at its end from the start */
    coop_output_fn *on_output; /* instead of capturing */
    void *context;
    const int *keep_fds; /* descriptors above 2 that the command gets under the same numbers */
    size_t n_keep_fds;
    const char *const *env_pass; /* NULL-ended: taken from the caller's environment if set */
    bool relay_input; /* the command's standard input is fed from input_fd until its end */
    int input_fd;     /* borrowed; what the command did not take is given back if it can seek */
    bool terminal;    /* a terminal of the box's own instead of pipes: coop_box_terminal() */
    unsigned short terminal_rows, terminal_columns; /* its size; 0: not known */
    const struct termios *terminal_settings;        /* what it starts with; NULL: the usual ones */
    bool can_cancel;       /* the box ends, as by coop_kill(), when cancel_fd becomes readable */
    int cancel_fd;         /* borrowed: an eventfd or a pipe, say; any thread may write to it */
    const char *directory; /* in the box, to start in: instead of the policy's; NULL: that */
    coop_explain explain;
    const coop_log *log; /* borrowed until coop_wait() returns; NULL: nobody wants to know */
} coop_run_options;

/* Copies what it needs from `policy`. *out is the caller's to free. */
COOP_API int coop_sandbox_new(const coop_policy *policy, coop_sandbox **out, coop_error **err);
COOP_API void coop_sandbox_free(coop_sandbox *sandbox); /* NULL is fine */

/* Runs argv[0] (searched in the box's PATH) and waits. Borrows argv and options until it returns.
 * A command that fails or is killed is a result, not an error; an error means nothing was run. */
COOP_API int coop_run(coop_sandbox *sandbox, char *const argv[], const coop_run_options *options,
                      coop_result **out, coop_error **err);

/* The same in pieces. Borrows `options->input` until coop_wait() returns. */
COOP_API int coop_start(coop_sandbox *sandbox, char *const argv[], const coop_run_options *options,
                        coop_box **out, coop_error **err);
/* Readable when coop_step() has something to do. */
COOP_API int coop_box_fd(const coop_box *box);
/* Does what is due without blocking. Returns 1 when the box has ended, 0 when not yet. */
COOP_API int coop_step(coop_box *box, coop_error **err);
/* Waits for the end, frees the box, and gives the result. */
COOP_API int coop_wait(coop_box *box, coop_result **out, coop_error **err);
/* Ends the whole box at once; the result says `cancelled`. Any thread may call it, once coop_start
 * has returned and until coop_wait is called. */
COOP_API int coop_kill(coop_box *box);
/* Nobody wants this stream any more: the command's next write to it fails as into a closed pipe.
 * May be called from within on_output. */
COOP_API void coop_close_output(coop_box *box, coop_stream stream);
/* Sends a signal to the command's process group. */
COOP_API int coop_signal(coop_box *box, int signal);
/* The master side of the box's terminal, to be read and written by the caller; -1 if none. */
COOP_API int coop_box_terminal(const coop_box *box);
/* True while the command is stopped, for example by Ctrl-Z. */
COOP_API bool coop_box_is_stopped(const coop_box *box);
/* What holds a limit of this box, NULL if nothing does; *value is COOP_LIMIT_NONE if none is set. */
COOP_API const char *coop_box_limit(const coop_box *box, coop_limit limit, uint64_t *value);
/* The tier at which this box runs. */
COOP_API coop_tier coop_box_tier(const coop_box *box);
/* A sentence about what the box shows that its caller may not expect, the box's; NULL: there is none.
 * So far: names at the top of a root that are not shown. */
COOP_API const char *coop_box_note(const coop_box *box);

/* How the policy will be enforced for this command, one line per step; the caller's to free(). */
COOP_API int coop_plan_text(coop_sandbox *sandbox, char *const argv[],
                            const coop_run_options *options, char **out, coop_error **err);
COOP_API int coop_plan_json(coop_sandbox *sandbox, char *const argv[],
                            const coop_run_options *options, char **out, coop_error **err);
/* The nearest bubblewrap command line, then comment lines that say what it cannot express. */
COOP_API int coop_plan_bwrap(coop_sandbox *sandbox, char *const argv[],
                             const coop_run_options *options, char **out, coop_error **err);

#ifdef __cplusplus
}
#endif

#endif
