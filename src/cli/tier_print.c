#include "tier_print.h"

#include <stdio.h>

void tier_print(const coop_probe *probe)
{
    coop_tier tier = coop_probe_tier(probe);

    printf("Tier: %s\n", coop_tier_name(tier));
    if (tier == COOP_TIER_LANDLOCK)
        printf("  It does not keep the command from changing modes, times and extended attributes\n"
               "  of your other files, from seeing other processes, and from slowing yours down;\n"
               "  there is no private /tmp, so --tmp-size does not hold.\n");
}
