/*
 * box.h - one live sandbox, as its supervisor holds it
 */
#pragma once

#include <sys/types.h>

#include "base/capture.h"
#include "base/log.h"
#include "coop/run.h"
#include "init/root_mark.h"
#include "launch/child.h"
#include "launch/shared_tmp.h"
#include "launch/template.h"
#include "plan/plan.h"
#include "supervise/cgroup/cgroup.h"
#include "supervise/denial/denial_host.h"
#include "supervise/denial/denials.h"
#include "supervise/idle.h"
#include "supervise/network/gate.h"
#include "survey/neighbours.h"

struct coop_sandbox {
    coop_policy *policy;
    struct host host;
    int init_fd;               /* the init image, -1 until first used */
    void *stacks;              /* of the children of a launch */
    struct template *template; /* from the second box on, where one is possible */
    bool has_run, template_failed, has_no_cgroup;
    struct shared_tmp *tmp; /* NULL: each box has a /tmp of its own */
};

/*
 * From now on all boxes share one /tmp, shared_tmp.h, of the size that the policy gives. Returns a
 * descriptor of its root, the sandbox's. -ENOTSUP: they cannot, and *why says it, as the end of a
 * sentence.
 */
int sandbox_share_tmp(coop_sandbox *sandbox, const char **why, coop_error **err);

#define BOX_STATUS_UNKNOWN 0x7f /* what wait gives for a stopped process: no end of any sort */

/* A directory whose names are protected. */
struct box_root {
    char *path; /* in the box */
    int fd;     /* on the host */
};

enum box_state { BOX_RUNNING, BOX_STOPPED, BOX_ENDED };

/* Whether it is told when somebody wants what is masked. */
enum box_masks {
    BOX_MASKS_UNWATCHED,
    BOX_MASKS_SOME, /* there are too many */
    BOX_MASKS_ALL   /* that there were at the start */
};

struct coop_box {
    coop_sandbox *sandbox;
    coop_run_options options;
    struct log_span span; /* "sandbox_exec" */
    struct plan plan;
    char digest[65]; /* of the policy */
    char session[33];
    char created[21];          /* in UTC, ISO 8601 */
    struct redact *redacts[2]; /* of both outputs; NULL: there is nothing to take out */
    bool on_template;
    bool is_runner;    /* its command is init/runner.h */
    bool tree_changed; /* what the plan protects was not what it saw */
    struct cgroup cgroup;
    pid_t pid; /* init, or the command itself where there are no namespaces */
    int pidfd;
    int control_fd;
    int input_fd;      /* write end of the command's standard input, -1 when closed */
    int unread_fd;     /* read end of the input pipe, held where what is unread is given back */
    int output_fds[2]; /* read ends */
    int terminal_fd;   /* master */
    int epoll_fd;
    int timer_fd;
    size_t input_at;
    bool input_waits; /* the relayed input has something, the pipe is full */
    struct capture captures[2];
    enum box_state state;
    bool has_status; /* init told how the command ended */
    int status;      /* as wait gives it */
    unsigned n_left; /* processes that the command left, as far as init could count */
    bool timed_out;
    bool is_killing; /* the grace is running */
    bool memory_killed;
    bool pids_reached; /* as many as it may have, where no cgroup counts them */
    volatile bool cancelled;
    uint64_t started_ns, ended_ns, deadline_ns, next_sample_ns;
    uint64_t cpu_us, max_rss, bytes_written;
    uint64_t peak_sampled, segments;
    bool is_asleep;   /* nothing ran when the last sample was taken */
    struct idle idle; /* who there was at the last sample */
    unsigned n_idle;  /* how often in a row none of them had run since */
    uint64_t ran_ns;  /* when that was not so, the last time */
    struct cgroup_usage usage;
    struct box_root *roots;
    size_t n_roots;
    struct guard *guard; /* NULL: nothing is guarded */
    struct network_gate gate;
    struct denials denials;
    short slots[DENIALS_MAX]; /* by init's own number of a refusal: which record, from 1 */
    struct denial_host denial_host;
    char *watchfs; /* hidden directories of the root that are watched, watchfs.h; NULL: none */
    bool watches_places; /* and those that the box makes to hold others */
    bool watches_tmp;
    enum box_masks masks;
    char *workspace; /* on the host; NULL: not known */
    struct neighbours neighbours;
    struct root_marks marks;
};

/* Makes the box and starts the command in it. */
int launch(struct coop_box *box, coop_error **err);

/* Checks the caller's options and copies those it knew of. */
int box_take_options(coop_run_options *to, const coop_run_options *from, const coop_policy *policy,
                     coop_error **err);

/* Starts a box whose command starts others: init/runner.h. It gets `socket_fd`, which is
 * above 2. Rules for commands are for whoever sends orders to apply. */
int box_start_runner(coop_sandbox *sandbox, const coop_run_options *options, int socket_fd,
                     coop_box **out, coop_error **err);

/* Ends everything in the box, now. */
void box_kill(struct coop_box *box);
void box_free(struct coop_box *box);
/* coop_wait() in a program that ends then: what ends with it is not undone one by one. */
int box_wait_and_end(struct coop_box *box, coop_result **out, coop_error **err);

int box_result(struct coop_box *box, coop_result **out, coop_error **err);
