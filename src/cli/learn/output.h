/*
 * output.h - where the policy goes
 *
 * The file may be one of the workspace, where the command makes names: its directory is opened before
 * anything runs, and a new file takes the place of whatever stands there then.
 */
#pragma once

#include "base/buffer.h"
#include "coop/error.h"

struct learn_output {
    int directory_fd; /* -1: standard output */
    char *name;
};
#define LEARN_OUTPUT_NONE  \
    (struct learn_output)  \
    {                      \
        .directory_fd = -1 \
    }
#define auto_learn_output __attribute__((cleanup(learn_output_done)))

/* `path` NULL: standard output. */
int learn_output_open(struct learn_output *output, const char *path, coop_error **err);
int learn_output_write(struct learn_output *output, const struct buffer *text, coop_error **err);
void learn_output_done(struct learn_output *output);
