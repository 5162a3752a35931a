/*
 * log_sink.h - a program's log: lines on standard error
 *
 *   struct log_sink sink;
 *   log_sink_init(&sink, COOP_LOG_OFF, &err) -> sink.log, for the options of the library
 *
 * COOP_LOG=error, warn, info or debug chooses the level. A line is written by one write(2), so those
 * of several threads and processes do not mix.
 */
#pragma once

#include <stdbool.h>

#include "coop/log.h"

struct log_sink {
    coop_log log;
    bool is_json;
};

/* `usual` holds where COOP_LOG is not set. -EINVAL: it says something else. */
int log_sink_init(struct log_sink *sink, coop_log_level usual, coop_error **err);

/* The value of --log-format. */
int log_sink_format(struct log_sink *sink, const char *format, coop_error **err);
