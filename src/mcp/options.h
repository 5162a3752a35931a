/*
 * options.h - what coop-mcp was started with
 *
 * The words are coop mcp's, which has checked them and explains them: here they are only read.
 */
#pragma once

#include <stdbool.h>

#include "coop/error.h"

struct log_sink;

struct options {
    const char *identity, *group, *workspace, *config_file;
    bool read_only;
    bool whole_home;
    bool filesystem_names; /* tools of the reference filesystem server */
    bool quiet;
    const char *log_format; /* NULL: text */
    struct log_sink *sink;  /* of the program */
    bool http;
    unsigned port;                  /* 0: the kernel chooses */
    const char *token_file;         /* NULL: a token is made up */
    const char *const *directories; /* NULL-ended; what stands behind the options */
};

/* Borrows argv. -EINVAL. */
int options_read(char **argv, struct options *out, coop_error **err);
