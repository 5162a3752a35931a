/*
 * watch.h - calls that go on in the kernel, looked at on their way
 *
 * The kernel tells nobody that a call has failed. So init looks, while the caller sleeps in the call,
 * at what it would find: is it there, may it be read, is the mount read-only? What will fail is told
 * to the supervisor, who knows whether it would on the host as well. Nothing is decided here: the call
 * goes on whatever was seen, and the path may be another by then.
 *
 * Part of the init image: no libc.
 */
#pragma once

#include <stdbool.h>

#include "init/denial_op.h"
#include "init/notify/call.h"

/* What a call is about, for whoever else sees it. */
struct notify_watch_path {
    int directory; /* a descriptor of the caller's, or AT_FDCWD */
    uint64_t address;
};
struct notify_watch_call {
    enum denial_op op;
    bool writes;  /* one that is looked at where writes are watched */
    bool is_look; /* nothing was to be opened */
    struct notify_watch_path paths[2];
    unsigned n_paths;
};
bool notify_watch_describe(const struct seccomp_notif *asked, struct notify_watch_call *out);

void notify_watch_start(bool writes, bool lookups, bool has_own_network);

/* True if the call is one of these, and has been answered: it may go on. */
bool notify_watch_serve(const struct seccomp_notif *asked);

/* The same without the answer, for calls that others let through. */
void notify_watch_look(const struct seccomp_notif *asked);

/* A call that init did on behalf, or was to do, will fail with this (positive) errno. */
void notify_watch_failed(const struct seccomp_notif *asked, int error);
