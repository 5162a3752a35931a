/*
 * log.h - entries and spans of a log, for those who have something to tell
 *
 *   struct log_span span;
 *   log_span_begin(&span, options->log, "sandbox_exec");      NULL: nobody wants to know
 *   log_write(&span, COOP_LOG_DEBUG, "step %zu of %zu", i, n);
 *
 * What is told passes through printable.h here. Taking secrets out is the caller's part.
 */
#pragma once

#include <stdbool.h>

#include "coop/log.h"

struct log_span {
    const coop_log *log; /* borrowed; NULL: nobody wants to know */
    const char *name;
    uint64_t id;
};

void log_span_begin(struct log_span *span, const coop_log *log, const char *name);

/* A log for what happens within this span. */
coop_log log_within(const struct log_span *span);

static inline bool log_is_wanted(const struct log_span *span, coop_log_level level)
{
    return span->log && span->log->write && level <= span->log->level;
}

void log_write(const struct log_span *span, coop_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
