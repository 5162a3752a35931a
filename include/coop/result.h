/*
 * coop/result.h - what a command did, what held it, and what it was refused
 *
 * A result is immutable and the caller's to free; what the functions return lives as long as it.
 */
#ifndef COOP_RESULT_H
#define COOP_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coop/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coop_result coop_result;

typedef enum coop_tier {
    COOP_TIER_NONE,       /* nothing: the command ran on the host */
    COOP_TIER_LANDLOCK,   /* Landlock + seccomp, no namespaces */
    COOP_TIER_NAMESPACES, /* namespaces + seccomp, no Landlock */
    COOP_TIER_FULL        /* namespaces + Landlock + seccomp */
} coop_tier;

typedef enum coop_wall {
    COOP_WALL_FILES,
    COOP_WALL_PROCESSES,
    COOP_WALL_NETWORK,
    COOP_WALL_SYSCALLS,
    COOP_WALL_PRIVILEGES,
    COOP_WALL_PROTECTED, /* names in the workspace that may not be read or written */
    COOP_WALL_COMMANDS   /* programs that may be executed */
} coop_wall;
/* Old: a later library may have more. Not in the next release. */
#define COOP_WALL_COUNT (COOP_WALL_COMMANDS + 1)

typedef enum coop_stream { COOP_STREAM_STDOUT, COOP_STREAM_STDERR } coop_stream;

COOP_API void coop_result_free(coop_result *result); /* NULL is fine */

/* The command's exit status, or -1 when a signal ended it. */
COOP_API int coop_result_exit_code(const coop_result *result);
COOP_API int coop_result_signal(const coop_result *result); /* 0 when it exited */
/* As a shell would say it: the exit code, 128+N for signal N, 124 for a timeout. */
COOP_API int coop_result_status(const coop_result *result);
/* COOP_ERROR_TIMEOUT, COOP_ERROR_CANCELLED or COOP_ERROR_NONE */
COOP_API coop_error_kind coop_result_ended_by(const coop_result *result);

COOP_API bool coop_result_timed_out(const coop_result *result);
COOP_API bool coop_result_out_of_memory(const coop_result *result);
COOP_API bool coop_result_pids_hit(const coop_result *result);
COOP_API uint64_t coop_result_duration_us(const coop_result *result);
COOP_API uint64_t coop_result_cpu_us(const coop_result *result);
COOP_API uint64_t coop_result_peak_memory(const coop_result *result);   /* bytes */
COOP_API uint64_t coop_result_bytes_written(const coop_result *result); /* to storage */

/* Captured output: the bytes kept, and how many came before them and were dropped. */
COOP_API const char *coop_result_output(const coop_result *result, coop_stream stream,
                                        size_t *length);
COOP_API uint64_t coop_result_output_dropped(const coop_result *result, coop_stream stream);
/* The same for showing: at most the last 2000 lines or 50,000 bytes, always whole characters. */
COOP_API const char *coop_result_shown(const coop_result *result, coop_stream stream,
                                       size_t *length);
/* A sentence that says what was cut, or NULL. */
COOP_API const char *coop_result_cut_note(const coop_result *result, coop_stream stream);

COOP_API coop_tier coop_result_tier(const coop_result *result);
COOP_API const char *coop_tier_name(coop_tier tier);
/* What holds the wall, for example "network namespace + seccomp"; NULL when nothing does. */
COOP_API const char *coop_result_wall(const coop_result *result, coop_wall wall);
COOP_API const char *coop_wall_name(coop_wall wall);

typedef struct coop_denial {
    const char *operation; /* "read", "syscall", "connect", "memory" ... */
    const char *target;    /* what was asked for */
    const char *rule;      /* which rule refused it */
    const char *origin; /* where the rule stands: "coop.toml:3:9", "--flag", "built-in default" */
    const char *fix;    /* what would allow it, a flag where there is one; NULL: nothing would */
    uint64_t count;     /* how often */
    int error;          /* the errno that was answered; 0: none was */
    const char *why;    /* a sentence without its beginning: "the mount is read-only" */
    uint64_t first_ms;  /* since the command was started */
} coop_denial;
/* At most 200 that differ. */
COOP_API size_t coop_result_n_denials(const coop_result *result);
COOP_API const coop_denial *coop_result_denial(const coop_result *result, size_t i);
/* How often something else was refused: there was no more room. */
COOP_API uint64_t coop_result_more_denials(const coop_result *result);

/* A kind of refusal, and whether it would have been noticed: where it would not, none is listed. */
typedef struct coop_watched {
    const char *kind; /* "hidden", "connect" ... */
    bool is_watched;
    const char *note; /* why not; where it is watched, what of it, or NULL: all */
} coop_watched;
COOP_API size_t coop_result_n_watched(const coop_result *result);
COOP_API const coop_watched *coop_result_watched(const coop_result *result, size_t i);

/* What the rules for commands refused (COOP_ERROR_DENIED): as it would stand in a result. NULL: the
 * error is another. It lives as long as the error. */
COOP_API const coop_denial *coop_error_denial(const coop_error *err);

/* What coop_box_note() said of the box; NULL: nothing. */
COOP_API const char *coop_result_note(const coop_result *result);
COOP_API const char *coop_result_policy_digest(const coop_result *result);
/* The whole as a JSON document (schema in coop-result(5)); NULL when out of memory. */
COOP_API const char *coop_result_json(coop_result *result);

#ifdef __cplusplus
}
#endif

#endif
