#include "directories.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/error.h"

int directories_make(const char *path, coop_error **err)
{
    auto_free char *part = strdup(path);

    if (!part)
        return fail_no_memory(err);
    for (char *slash = part + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        if (mkdir(part, 0700) < 0 && errno != EEXIST)
            return fail(err, errno, "create '%s'", part);
        *slash = '/';
    }
    return mkdir(part, 0700) < 0 && errno != EEXIST ? fail(err, errno, "create '%s'", part) : 0;
}
