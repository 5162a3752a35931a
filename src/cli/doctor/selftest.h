/*
 * selftest.h - a box that attempts what it must not be able to do
 *
 *   selftest_run()      outside: sets a scene, shows that each act works there, runs the box, judges
 *   selftest_inside()   inside: attempts each act and prints one line for it
 *
 * An act that is refused in the box counts only if its twin, the same act outside, works: a test
 * that cannot fail proves nothing. Nothing of the scene is left behind.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "coop/error.h"
#include "coop/result.h"

#define SELFTEST_TOKEN 17 /* sixteen digits and the NUL */

/* What the acts aim at. Relative paths begin in the workspace, where every act starts. */
struct selftest_scene {
    char token[SELFTEST_TOKEN]; /* content of the canary, name of the rest */
    pid_t pid;                  /* of the doctor, outside */
    int port;                   /* it listens there, on the host's loopback */
    char directory[512];        /* outside of the workspace: canary, work/ */
    bool is_inside;
};

struct selftest_act {
    const char *name;
    const char *title;
    int (*attempt)(const struct selftest_scene *scene); /* 0: it worked; else an errno */
    bool by_signal; /* whether it worked shows in the doctor's pending signals */
};
extern const struct selftest_act selftest_acts[];
extern const size_t selftest_n_acts;

enum selftest_outcome {
    SELFTEST_HELD,
    SELFTEST_NOT_HELD,
    SELFTEST_NOT_COUNTED, /* refused outside too */
    SELFTEST_NO_ANSWER,   /* the box said nothing about it */
};

struct selftest_report {
    const struct selftest_act *act;
    enum selftest_outcome outcome;
    int inside; /* errno, 0 when it worked */
    int outside;
};

/* Fills one report per act. Fails when the box cannot be run at all. */
int selftest_run(coop_tier tier, struct selftest_report *reports, coop_error **err);
/* The name under which the doctor shows in /proc. */
void selftest_process_name(const struct selftest_scene *scene, char out[16]);
/* argv: TOKEN PID PORT DIRECTORY */
int selftest_inside(int argc, char **argv);
