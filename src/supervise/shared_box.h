/*
 * shared_box.h - a box that lives on and runs any number of commands, one beside the other
 *
 *   shared_box_new() -> shared_box_start(), shared_box_read() ... -> shared_box_unref()
 *
 * Its command is coop's runner (init/runner.h), which starts others on orders: they share the box, its
 * limits, its /tmp and its loopback. Each has pipes or a terminal of its own, whose other ends are here and
 * nowhere else. A thread of its own serves the box and keeps the end of each output, so that no command
 * waits for somebody to read. When nobody wants it any more, or this process ends in whatever way, all of it ends.
 *
 * Nothing that comes from the box decides anything: a job's output, its status and its pid are data about
 * the job, and a hostile command can make up those of its own box's other jobs at most.
 *
 * Any thread may use it. Jobs are known by numbers; one that is not there any more is -ENOENT.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "coop/error.h"
#include "coop/run.h"

#define SHARED_BOX_RUNNING 16                /* jobs and shells at once */
#define SHARED_BOX_KEPT    32                /* with those that have ended; the oldest of them go */
#define SHARED_BOX_OUTPUT  ((size_t)1 << 20) /* bytes kept of each output */

struct shared_box;

struct shared_box_options {
    coop_sandbox *sandbox;
    pthread_mutex_t *start_lock; /* of the sandbox: it starts one box at a time */
    const char *const *env_pass;
    const coop_log *log;
};

/* Starts the box. Borrows all of the options until shared_box_unref(). -ENOTSUP: without namespaces nothing
 * would end what it started. */
int shared_box_new(const struct shared_box_options *options, struct shared_box **out,
                   coop_error **err);
/* Counted, because calls use it while somebody else finds that it has ended. */
struct shared_box *shared_box_ref(struct shared_box *box);
/* NULL is fine. The last one ends the box and waits for its end. */
void shared_box_unref(struct shared_box *box);
static inline void shared_box_unref_at_exit(struct shared_box **box)
{
    shared_box_unref(*box);
}
#define auto_shared_box __attribute__((cleanup(shared_box_unref_at_exit)))
bool shared_box_is_alive(struct shared_box *box);
coop_tier shared_box_tier(const struct shared_box *box);

struct shared_job_options {
    char *const *argv;
    const char *label;     /* what people call it: the command; copied */
    const char *name;      /* of a shell; NULL: it is none */
    const char *directory; /* in the box; NULL: the workspace */
    bool is_terminal;      /* a terminal instead of pipes */
    uint64_t timeout_ms;   /* then it is ended; 0: never */
};

/* Starts it; *out is its number, from 1. -ENOENT: no such program or directory, the message says which. */
int shared_box_start(struct shared_box *box, const struct shared_job_options *options,
                     uint32_t *out, coop_error **err);

struct shared_job_state {
    uint32_t id;
    bool is_running;
    bool is_terminal;
    bool timed_out;
    int status;         /* as wait gives it, when it has ended; -1: it went with its box */
    uint64_t total;     /* bytes that it has written so far */
    uint64_t kept_from; /* the first of them that is kept */
    int64_t started_ms, ended_ms;
    uint64_t mark;      /* as shared_box_mark() put it */
    size_t denial_mark; /* the same for denials */
    char name[65];      /* of a shell; "": none */
    char label[201];
};

int shared_box_look(struct shared_box *box, uint32_t id, struct shared_job_state *out);
/* All there are, in the order of their start; the caller's to free(). */
size_t shared_box_list(struct shared_box *box, struct shared_job_state **out);
/* The running shell of that name; 0: none. */
uint32_t shared_box_find_shell(struct shared_box *box, const char *name);

/* Appends what it has written from *offset on, `most` bytes at most; *offset moves behind it, or first to
 * where the kept part begins. */
int shared_box_read(struct shared_box *box, uint32_t id, uint64_t *offset, size_t most,
                    struct buffer *out);

/* Where somebody has got to: with its output, with what it was refused. */
void shared_box_mark(struct shared_box *box, uint32_t id, uint64_t offset);
void shared_box_mark_denials(struct shared_box *box, uint32_t id, size_t n);

struct shared_job_wait {
    uint64_t offset;    /* waits for output behind this */
    const char *text;   /* and there for this text; NULL: for its end only, unless any_output */
    bool any_output;    /* for any */
    int64_t timeout_ms; /* at most */
    int cancel_fd;      /* -1: none */
};
/* 1: what was waited for came, or the job has ended; 0: the time is over; -ECANCELED. */
int shared_box_wait(struct shared_box *box, uint32_t id, const struct shared_job_wait *wait);

/* Writes to its input; less than `n` where it does not read for two seconds. -EPIPE: nobody reads it. */
ssize_t shared_box_write(struct shared_box *box, uint32_t id, const char *bytes, size_t n);
int shared_box_close_input(struct shared_box *box, uint32_t id);
/* To all processes of its session. */
int shared_box_signal(struct shared_box *box, uint32_t id, int number);

/*
 * A command for a shell (SHARED_BOX_SHELL as its program): waits until the shell has run it. *status is
 * its exit code. 1: it has run; 0: the time is over, and it still runs; -EPIPE: the shell has ended;
 * -EBUSY: it runs another one.
 */
extern const char SHARED_BOX_SHELL[];
int shared_box_run(struct shared_box *box, uint32_t id, const char *text, int64_t timeout_ms,
                   int cancel_fd, int *status);

/*
 * What the box refused since the `from`th record: those of the job (0: all), and those of which nobody knows
 * whose they are. Returns how many records there are now. The denial is lent for the call.
 */
typedef void shared_box_denial_fn(void *context, const coop_denial *denial, bool is_known);
size_t shared_box_denials(struct shared_box *box, uint32_t id, size_t from,
                          shared_box_denial_fn *fn, void *context);
