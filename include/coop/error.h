/*
 * coop/error.h - what went wrong, for people and for programs
 *
 * Functions that can fail return 0 (or a useful positive number), and -errno on failure. The last
 * argument, coop_error **err, may be NULL; on failure *err is the caller's to free.
 */
#ifndef COOP_ERROR_H
#define COOP_ERROR_H

#if defined(__GNUC__)
#define COOP_API __attribute__((visibility("default")))
#else
#define COOP_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coop_error coop_error;

typedef enum coop_error_kind {
    COOP_ERROR_NONE = 0,
    COOP_ERROR_SYSTEM,        /* a system call failed outside set-up */
    COOP_ERROR_NOT_AVAILABLE, /* this host cannot hold the walls that the policy asks for */
    COOP_ERROR_BAD_POLICY,    /* the policy or an argument makes no sense */
    COOP_ERROR_SETUP,         /* a step of building the box failed; nothing was run */
    COOP_ERROR_EXEC,          /* the box stands, but the command cannot be executed in it */
    COOP_ERROR_TIMEOUT,       /* the command was ended by its timeout */
    COOP_ERROR_CANCELLED,     /* the command was ended by coop_kill() */
    COOP_ERROR_DENIED         /* the policy does not let this command run */
} coop_error_kind;

COOP_API coop_error_kind coop_error_get_kind(const coop_error *err);
COOP_API int coop_error_errno(const coop_error *err);           /* positive, 0 if none */
COOP_API const char *coop_error_message(const coop_error *err); /* one sentence, no full stop */
COOP_API const char *coop_error_hint(const coop_error *err);    /* what to do; NULL if unknown */
COOP_API void coop_error_free(coop_error *err);                 /* NULL is fine */
COOP_API const char *coop_error_kind_name(coop_error_kind kind);

#ifdef __cplusplus
}
#endif

#endif
