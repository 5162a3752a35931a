/*
 * private.h - talking to coop-yaml, among the reader's own files
 */
#pragma once

#include "config/yaml/stream.h"

#define YAML_TIMEOUT_MS 20000

struct yaml_program {
    const char *path;
    int timeout_ms;
};

/* How it went when the answer is not whole. */
enum yaml_ending {
    YAML_ENDED_WELL,  /* the answer is whole, or broken in a way that feeding told */
    YAML_NOT_STARTED, /* `number`: the errno */
    YAML_TOO_LATE,
    YAML_EXITED,       /* `number`: the exit status */
    YAML_KILLED,       /* `number`: the signal */
    YAML_ENDED_UNSEEN, /* somebody else waited for it */
    YAML_FAILED,       /* `number`: the errno of a system call */
};

struct yaml_outcome {
    enum yaml_ending ending;
    int number;
    int fed; /* what yaml_stream_feed() returned last */
};

/* Starts the program, gives it the text, feeds its answer to the stream; none of it outlives this. */
struct yaml_outcome yaml_converse(const struct yaml_program *program, const char *text, size_t n,
                                  struct yaml_stream *stream);

/* yaml_read() with a program that is known. */
int yaml_read_with(const struct yaml_program *program, const char *name, const char *text, size_t n,
                   struct document **out, struct findings *findings);
