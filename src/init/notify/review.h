/*
 * review.h - git writes its configuration through a gate
 *
 * git makes `config.lock`, writes it, and renames it to `config`. Where `config` is protected, that
 * one rename asks the supervisor: init hands it the new text, the supervisor compares it with the old
 * one (git_config/review.h) and writes what passes itself, from outside. Then the lock goes, and
 * the caller's rename has succeeded.
 *
 * Part of the init image: no libc.
 */
#pragma once

#include "init/notify/request.h"

/* What happens to the file `at` when the supervisor has decided. */
enum notify_review_end {
    NOTIFY_GATE_REMOVE_IF_PASSED, /* a lock */
    NOTIFY_GATE_REMOVE_IF_NOT,    /* a new configuration */
    NOTIFY_GATE_GO_ON             /* nothing: the call has succeeded already */
};

struct notify_review_question {
    const struct target *at;
    const char *path; /* of the configuration */
    int rule;
    bool is_new; /* the box made the repository */
    enum notify_review_end end;
    int fd; /* the new text */
};

/* 0: the answer will come later. -errno: refused. */
long notify_review_ask_about(const struct notify_request *request,
                             const struct notify_review_question *asked);

/* A lock that becomes the configuration. */
long notify_review_ask(const struct notify_request *request, const struct target *from,
                       const struct target *to, int rule);

/* Another name for a configuration is a copy of it, so that no file has both. -EINPROGRESS, or -errno. */
long notify_review_link(struct notify_request *request, const struct target *from,
                        const struct target *to, int rule);

/* The configuration was written when nobody asked: it becomes an empty one, and the supervisor writes what
 * passes. The call has succeeded already. -EINPROGRESS, or -errno. */
long notify_review_renew(const struct notify_request *request, const struct target *place,
                         int rule);

/*
 * cp, tar and others write a file that was not there. They get one without a name instead, and the
 * configuration is empty until they have closed it and the supervisor has looked at it. The descriptor,
 * or -errno.
 */
long notify_review_open(const struct notify_request *request, const struct target *place, int rule,
                        int flags);
bool notify_review_is_waiting(void); /* for somebody to close one */
/* Whether somebody has; at the end it does not matter. */
void notify_review_look(bool is_end);

/* The supervisor has decided about question `slot`: 0 or -errno. */
void notify_review_decided(unsigned slot, long result);
