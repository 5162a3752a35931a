/*
 * coop/trust.h - how far somebody is trusted, and what that means
 *
 * The smaller, the more trusted. In a group nobody is trusted more than its ceiling. Who somebody is says
 * the configuration: coop_tools_new() finds it out for an identity.
 */
#ifndef COOP_TRUST_H
#define COOP_TRUST_H

#include <stdbool.h>
#include <stddef.h>

#include "coop/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum coop_trust {
    COOP_TRUST_OWNER,    /* all tools, on the host */
    COOP_TRUST_FULL,     /* all tools, in a box */
    COOP_TRUST_INNER,    /* commands and files, in a box */
    COOP_TRUST_FAMILIAR, /* reads files */
    COOP_TRUST_PUBLIC    /* nothing */
} coop_trust;
/* Old: a later library may have more. Not in the next release. */
#define COOP_TRUST_COUNT (COOP_TRUST_PUBLIC + 1)

COOP_API const char *coop_trust_name(coop_trust trust); /* "owner" ...; NULL: there is none such */
COOP_API int coop_trust_parse(const char *name, coop_trust *out, coop_error **err);

/* The less trusted of the two: a user in a group with that ceiling. */
COOP_API coop_trust coop_trust_resolve(coop_trust user, coop_trust ceiling);

COOP_API bool coop_trust_may_run(coop_trust trust);      /* commands */
COOP_API bool coop_trust_is_sandboxed(coop_trust trust); /* while the sandbox is enabled */
/* The memory stores that the level may see: "private", "shared", "social"; NULL behind the last. */
COOP_API const char *coop_trust_store(coop_trust trust, size_t i);

#ifdef __cplusplus
}
#endif

#endif
