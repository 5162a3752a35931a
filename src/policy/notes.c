/*
 * notes.c - who said what of a policy's single values
 *
 * Mounts and rules carry their origins themselves. These are for messages; they allow nothing, and
 * are in no digest.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "policy/policy.h"

int policy_note(coop_policy *policy, enum policy_note what, struct origin origin, coop_error **err)
{
    if (origin.name) {
        origin.name = strdup(origin.name);
        if (!origin.name)
            return fail_no_memory(err);
    }
    free((char *)(uintptr_t)policy->notes[what].name);
    policy->notes[what] = origin;
    return 0;
}

int policy_copy_notes(const coop_policy *from, coop_policy *to, coop_error **err)
{
    int r = 0;

    for (int i = 0; r == 0 && i < POLICY_NOTES; i++)
        if (from->notes[i].name)
            r = policy_note(to, (enum policy_note)i, from->notes[i], err);
    return r;
}

void policy_free_notes(coop_policy *policy)
{
    for (int i = 0; i < POLICY_NOTES; i++)
        free((char *)(uintptr_t)policy->notes[i].name);
}
