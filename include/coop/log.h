/*
 * coop/log.h - what libcoop does, step by step, for whoever wants to read it
 *
 * libcoop prints nothing and keeps nothing: a program that wants a log gives a coop_log in the options
 * of what it calls. Spans tell what belongs together: "sandbox_exec" is one command in its box, and
 * lies in the "tool_execute" of the tool that ran it.
 */
#ifndef COOP_LOG_H
#define COOP_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "coop/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum coop_log_level {
    COOP_LOG_OFF,
    COOP_LOG_ERROR, /* a box could not be set up */
    COOP_LOG_WARN,  /* something is weaker than it was asked for */
    COOP_LOG_INFO,  /* what the host can enforce; that somebody's command runs without a box */
    COOP_LOG_DEBUG  /* each command, each step */
} coop_log_level;

typedef struct coop_log_entry {
    size_t size; /* sizeof(coop_log_entry); later ones may be larger */
    coop_log_level level;
    const char *message; /* one line without control characters and without secrets */
    const char *span;    /* in which it happened; NULL: none */
    uint64_t span_id;    /* which one of that name */
    const char *parent;  /* the span around it; NULL: none */
    uint64_t parent_id;
} coop_log_entry;

/* Any thread that uses the library may call it. The entry is gone afterwards. */
typedef void coop_log_fn(void *context, const coop_log_entry *entry);

typedef struct coop_log {
    size_t size;          /* sizeof(coop_log) */
    coop_log_level level; /* nothing below it is told */
    coop_log_fn *write;
    void *context;
    const char *span; /* the caller's own, around all that follows; NULL: none */
    uint64_t span_id;
} coop_log;

COOP_API const char *coop_log_level_name(coop_log_level level); /* "off", "error" ... "debug" */

#ifdef __cplusplus
}
#endif

#endif
