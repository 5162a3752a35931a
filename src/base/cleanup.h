/*
 * cleanup.h - every resource has an owner with a scope
 *
 *   auto_close int fd = open(...);     closed when the scope ends; -1 is fine
 *   auto_free char *text = strdup(...);
 *   auto_error coop_error *err = NULL;
 *   return take_fd(&fd);               hands the descriptor on
 */
#pragma once

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "coop/error.h"

static inline void close_at_exit(int *fd)
{
    int saved = errno; /* the failure that ended the scope is still to be reported */

    if (*fd >= 0)
        (void)close(*fd);
    errno = saved;
}

static inline void free_at_exit(void *pointer)
{
    int saved = errno;

    free(*(void **)pointer);
    errno = saved;
}

static inline void error_free_at_exit(coop_error **err)
{
    coop_error_free(*err);
}

static inline int take_fd(int *fd)
{
    int taken = *fd;

    *fd = -1;
    return taken;
}

static inline void close_fd(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

#define auto_close __attribute__((cleanup(close_at_exit)))
#define auto_free  __attribute__((cleanup(free_at_exit)))
#define auto_error __attribute__((cleanup(error_free_at_exit)))

#define take_ptr(pointer)                             \
    ({                                                \
        __typeof__(pointer) *taken_from = &(pointer); \
        __typeof__(pointer) taken = *taken_from;      \
        *taken_from = NULL;                           \
        taken;                                        \
    })

#define COUNT(array) (sizeof(array) / sizeof *(array))
