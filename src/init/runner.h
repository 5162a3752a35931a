/*
 * runner.h - the command of a box that lives on: starts other commands in it
 *
 * An ordinary process of the box with everything that holds a command, executed from the init image:
 *
 *   coop-runner runner SOCKET IMAGE      descriptors: the second is what it was executed from
 *
 * What it starts inherits the same, so it needs no rights and decides nothing. It cannot be traced or
 * dumped, and its children neither until their exec; these close the socket first. The supervisor's end
 * of the socket closing is the order to end. The supervisor believes none of its numbers: whoever has
 * taken over a process of the box can do no more with it than with any other.
 *
 * One SOCK_SEQPACKET pair. runner.c uses neither libc nor anything else, so that the image can hold it.
 */
#pragma once

#include <stdint.h>

#define RUNNER_WORD "runner" /* the first argument */

#define RUNNER_JOBS      64  /* at once */
#define RUNNER_FDS       5   /* descriptors of a command at most */
#define RUNNER_EXTRA_FD  200 /* the fourth becomes this one, the fifth the next */
#define RUNNER_WORDS_MAX 256
#define RUNNER_TEXT_MAX  (4u << 20)

/* supervisor to runner */
enum runner_order {
    RUNNER_START = 1, /* with a memory file, then the descriptors that become 0, 1, 2, 200, 201 */
    RUNNER_SIGNAL     /* `value` to all that is left of the session that was started with this id */
};
struct runner_order_message {
    uint32_t order;
    uint32_t id;    /* the supervisor's choice */
    int32_t value;  /* RUNNER_START: 1 if the first descriptor becomes the controlling terminal */
    uint32_t size;  /* of the file: a directory, then the words of the command, each with a NUL */
    uint32_t words; /* of the command */
};

/* runner to supervisor */
enum runner_event {
    RUNNER_READY = 1, /* with a descriptor of /dev/pts; nothing else has run in the box before */
    RUNNER_STARTED,   /* `value`: its pid in the box, which is its session's too */
    RUNNER_NO_DIRECTORY,
    RUNNER_NO_PROGRAM, /* these two and the next: `value` is the errno */
    RUNNER_FAILED,
    RUNNER_ENDED /* `value`: as wait gives it */
};
struct runner_event_message {
    uint32_t event;
    uint32_t id;
    int32_t value;
};

_Noreturn void runner_main(int argc, const char *const *argv);
