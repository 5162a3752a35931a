#include "tier_print.h"

#include <stdio.h>

void tier_print(const coop_probe *probe)
{
    coop_tier tier = coop_probe_tier(probe);

    printf("Tier: %s\n", coop_tier_name(tier));
    if (tier == COOP_TIER_LANDLOCK)
        printf("  The command can change modes, times and extended attributes of your other "
               "files\n  and see other processes;\n  there is no private /tmp, so --tmp-size is "
               "not enforced.\n");
}
