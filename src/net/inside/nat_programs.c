#include "nat_programs.h"

#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"

static const char *const directories[] = { "/usr/bin", "/usr/local/bin", "/bin",
                                           "/run/current-system/sw/bin" };

bool nat_programs_find(const char *name, char out[NAT_PROGRAMS_PATH])
{
    for (size_t i = 0; i < COUNT(directories); i++) {
        (void)snprintf(out, NAT_PROGRAMS_PATH, "%s/%s", directories[i], name);
        if (access(out, X_OK) == 0)
            return true;
    }
    return false;
}
