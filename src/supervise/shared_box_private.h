/*
 * shared_box_private.h - between the files of shared_box.h
 */
#pragma once

#include <stdatomic.h>

#include "base/capture.h"
#include "init/runner.h"
#include "supervise/box.h"
#include "supervise/shared_box.h"

enum shared_job_phase { JOB_STARTING, JOB_RUNNING, JOB_ENDED, JOB_FAILED };

struct shared_job {
    struct shared_job *next; /* started later */
    struct shared_job_state state;
    enum shared_job_phase phase;
    struct runner_event_message failure;
    int session;           /* of its processes, in the box */
    int input_fd;          /* -1: closed; of a terminal its master, which is the output too */
    int output_fd;         /* -1: at its end */
    int text_fd, reply_fd; /* of a shell: commands to it, exit codes from it; -1: none */
    char reply[16];
    size_t n_reply;
    bool is_busy; /* a shell that runs a command */
    int last_status;
    int64_t deadline_ms, kill_ms; /* 0: none */
    struct capture capture;
    struct redact *redact; /* NULL: there is nothing to take out */
};

/* Whoever waits for a change. */
struct shared_box_waiter {
    struct shared_box_waiter *next;
    int fd;
};

struct shared_box {
    struct shared_box_options options;
    atomic_int references;
    pthread_mutex_t lock; /* of everything below */
    pthread_t thread;
    coop_box *box; /* NULL: it has ended */
    coop_tier tier;
    bool has_owner; /* the box is another user, because this is root */
    uid_t uid;
    gid_t gid;
    int socket_fd, epoll_fd, wake_fd;
    int terminals_fd;  /* /dev/pts of the box */
    bool is_ready;     /* the runner waits for orders */
    bool is_ending;    /* nobody wants it any more */
    bool has_finished; /* the thread is about to end */
    int start_result;
    coop_error *start_error;
    uint32_t last_id;
    struct shared_job *jobs;
    struct shared_box_waiter *waiters;
    struct redact *redact; /* of what was asked for */
};

/* ---- shared_box.c, all with the lock held */

struct shared_job *shared_box_job(struct shared_box *box, uint32_t id);
void shared_box_watch(struct shared_box *box, int fd);
void shared_box_changed(struct shared_box *box);
/* 1: done; 0: the time is over; -ECANCELED. Gives the lock away while it waits. */
int shared_box_await(struct shared_box *box, bool (*is_done)(struct shared_box *, void *),
                     void *context, int64_t deadline_ms, int cancel_fd);
void shared_job_close(struct shared_job *job);
void shared_job_free(struct shared_job *job);
int shared_box_order(struct shared_box *box, const struct runner_order_message *order,
                     const int *fds, size_t n_fds);

/* ---- shared_box_loop.c */

void *shared_box_main(void *box);
