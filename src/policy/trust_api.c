/*
 * trust_api.c - the levels of trust, for programs
 */
#include "coop/trust.h"

#include <errno.h>

#include "base/error.h"
#include "policy/trust.h"

_Static_assert((int)COOP_TRUST_OWNER == (int)TRUST_OWNER &&
                   (int)COOP_TRUST_FULL == (int)TRUST_FULL &&
                   (int)COOP_TRUST_INNER == (int)TRUST_INNER &&
                   (int)COOP_TRUST_FAMILIAR == (int)TRUST_FAMILIAR &&
                   (int)COOP_TRUST_PUBLIC == (int)TRUST_PUBLIC &&
                   (int)COOP_TRUST_COUNT == (int)TRUST_COUNT,
               "levels have one order");

/* A number that is no level is nobody's: the least trusted. */
static enum trust level(coop_trust trust)
{
    return (unsigned)trust < COOP_TRUST_COUNT ? (enum trust)trust : TRUST_PUBLIC;
}

const char *coop_trust_name(coop_trust trust)
{
    return (unsigned)trust < COOP_TRUST_COUNT ? trust_names[trust] : NULL;
}

int coop_trust_parse(const char *name, coop_trust *out, coop_error **err)
{
    enum trust found;

    if (!name || !out)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "coop_trust_parse needs a name");
    int r = trust_parse(name, &found, err);
    if (r == 0)
        *out = (coop_trust)found;
    return r;
}

coop_trust coop_trust_resolve(coop_trust user, coop_trust ceiling)
{
    return (coop_trust)trust_resolve(level(user), level(ceiling));
}

bool coop_trust_may_run(coop_trust trust)
{
    return trust_may_run_commands(level(trust));
}

bool coop_trust_is_sandboxed(coop_trust trust)
{
    return trust_meanings[level(trust)].is_sandboxed;
}

const char *coop_trust_store(coop_trust trust, size_t i)
{
    for (int store = 0; store < TRUST_STORE_COUNT; store++)
        if (trust_meanings[level(trust)].sees[store] && i-- == 0)
            return trust_store_names[store];
    return NULL;
}
