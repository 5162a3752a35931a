/*
 * protocol.h - what the supervisor and a box's init say to each other
 *
 * One SOCK_SEQPACKET pair. The supervisor's end closing is the order to end: init exits, and the
 * kernel kills everything else in the pid namespace. Nothing that the command can reach speaks here.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define PROTOCOL_CONTROL_FD  3 /* in init */
#define PROTOCOL_LISTENER_FD 4 /* seccomp notifications, where there are any */
#define PROTOCOL_START_FD    5 /* how the box was made (init/start.h) */
#define PROTOCOL_ROOT_VIEW_FD \
    6 /* where a directory of the host is the root (init/notify/root_view.h) */
#define PROTOCOL_SKELETON_FD 7
#define PROTOCOL_WATCH_FD    8 /* inotify on it */
#define PROTOCOL_NAMES_FD    9 /* questions about names, where there is no network */

#define PROTOCOL_WATCHFS_FD \
    10 /* FUSE, where hidden directories are watched (init/watchfs/serve.h) */

#define PROTOCOL_LATE_FD 11 /* then: a pipe with requests that nobody has answered yet */

#define PROTOCOL_SUPERVISOR_FD \
    12 /* a pidfd of the supervisor: others may hold copies of its sockets */

#define PROTOCOL_LOCK_FD 13 /* where there are protected paths (structure_lock.h) */

#define PROTOCOL_GO 'g' /* one byte, written before the box is made: without it nothing starts */

/* supervisor to init */
enum protocol_order {
    ORDER_SIGNAL = 1,
    ORDER_COUNT_SEGMENTS,
    ORDER_REVIEWED,
    ORDER_WHOSE, /* did the box make this? */
    ORDER_HIDE,  /* a name of a project that is the root: it may not be read any more */
    ORDER_HOLD   /* something was hidden since: directories with mounts in them stay */
};
struct protocol_order_message {
    uint32_t order;
    int32_t value;
    uint32_t
        slot; /* ORDER_REVIEWED: which question the value answers; ORDER_WHOSE: which this is */
    uint64_t dev, ino, birth; /* ORDER_WHOSE: init/notify/made.h */
    char text[256];           /* ORDER_HIDE */
};

/* In place of a rule's number: a directory that holds something hidden. */
#define PROTOCOL_RULE_HELD (-2)
/* The same for what came while the box ran, and was hidden then. */
#define PROTOCOL_RULE_LATE (-3)
/* What git would take for a repository's, git_shape.h. */
#define PROTOCOL_RULE_GIT (-5)
/* The lock of all boxes could not be had. */
#define PROTOCOL_RULE_BUSY (-4)

/* init to supervisor */
enum protocol_event {
    EVENT_ENDED = 1,
    EVENT_STOPPED,
    EVENT_CONTINUED,
    EVENT_TERMINAL,
    EVENT_DENIED, /* these four: struct protocol_denied */
    EVENT_MAYBE,  /* it fails in the box; whether it would on the host, the supervisor knows */
    EVENT_COUNT,  /* how often so far, of what was told with this slot */
    EVENT_MORE,   /* how many were not told one by one */
    EVENT_SEGMENTS,
    EVENT_WHOSE, /* status: 1 if the box made it; count: which question */
    EVENT_REVIEW /* may the file that comes along take the place of the one named? */
};
struct protocol_event_message {
    uint32_t event;
    int32_t status; /* as wait4 gives it; EVENT_REVIEW: 1 if the box made the repository */
    uint64_t
        count;    /* EVENT_SEGMENTS: bytes; EVENT_REVIEW: which question; EVENT_ENDED: all pids? */
    int32_t rule; /* EVENT_REVIEW: which protected path; EVENT_ENDED: processes that were left */
    char text[1024]; /* EVENT_REVIEW: its name */
};

#define PROTOCOL_TEXT_MAX 4096
#define PROTOCOL_NO_SLOT  (-1)

/* One refusal, or perhaps one. Sent as far as the text goes. */
struct protocol_denied {
    uint32_t event;
    uint32_t op;     /* enum denial_op */
    int32_t nr;      /* the system call's number */
    int32_t error;   /* the errno it was answered with */
    int32_t rule;    /* which protected path, -1 for other refusals */
    int32_t value;   /* DENIAL_SOCKET: family and type; EVENT_MAYBE: PROTOCOL_LOOKED */
    int32_t session; /* of whom it was refused, a pid of the box; 0: not known */
    int32_t slot;    /* by which init knows it; PROTOCOL_NO_SLOT: it was told by somebody else */
    uint64_t count;
    uint64_t at_ns;               /* CLOCK_MONOTONIC */
    char text[PROTOCOL_TEXT_MAX]; /* what was asked for, where that is known */
};
#define PROTOCOL_DENIED_HEAD ((size_t)offsetof(struct protocol_denied, text))

/* Of a socket that was refused: family, type, protocol. */
#define PROTOCOL_SOCKET(family, type, protocol)                          \
    ((int32_t)(((uint32_t)(family)&0xff) | ((uint32_t)(type)&0xf) << 8 | \
               ((uint32_t)(protocol)&0xff) << 16))

/* Nothing was to be opened: it was only asked about. */
#define PROTOCOL_LOOKED 1
