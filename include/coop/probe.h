/*
 * coop/probe.h - what this host can enforce, found out by trying
 */
#ifndef COOP_PROBE_H
#define COOP_PROBE_H

#include <stdbool.h>
#include <stddef.h>

#include "coop/error.h"
#include "coop/result.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct coop_probe coop_probe;

typedef struct coop_capability {
    const char *name;  /* "user-namespaces", "landlock", "cgroup-memory" ... */
    const char *title; /* "User namespaces" */
    bool available;
    bool needed;        /* the full tier needs it */
    const char *detail; /* its version or mechanism, or the reason it is missing */
    const char *fix;    /* the exact command that would mend it, or NULL */
} coop_capability;

/* Tries everything once, in children of its own; takes a few milliseconds. */
COOP_API int coop_probe_new(coop_probe **out, coop_error **err);
COOP_API void coop_probe_free(coop_probe *probe); /* NULL is fine */

COOP_API coop_tier coop_probe_tier(const coop_probe *probe);
/* "linux (namespaces + landlock + seccomp)" */
COOP_API const char *coop_probe_summary(const coop_probe *probe);
COOP_API const char *coop_probe_kernel(const coop_probe *probe);
COOP_API int coop_probe_landlock_abi(const coop_probe *probe); /* 0: none */
COOP_API size_t coop_probe_n_capabilities(const coop_probe *probe);
COOP_API const coop_capability *coop_probe_capability(const coop_probe *probe, size_t i);
COOP_API const coop_capability *coop_probe_find(const coop_probe *probe, const char *name);

#ifdef __cplusplus
}
#endif

#endif
