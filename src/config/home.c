#include "home.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "config/config.h"

static int copy(const char *path, char **out, coop_error **err)
{
    char *text = strdup(path);

    if (!text)
        return fail_no_memory(err);
    *out = text;
    return 0;
}

static int join(const char *base, const char *below, char **out, coop_error **err)
{
    char *text;

    if (asprintf(&text, "%s/%s", base[1] ? base : "", below) < 0)
        return fail_no_memory(err);
    *out = text;
    return 0;
}

static const char *absolute_variable(const char *name)
{
    const char *value = getenv(name);

    return value && *value == '/' ? value : NULL;
}

int home_directory(const char *given, const char *variable, const char *below, char **out,
                   coop_error **err)
{
    const char *home = absolute_variable("HOME");

    if (!given)
        given = absolute_variable(variable);
    if (given)
        return copy(given, out, err);
    if (home)
        return join(home, below, out, err);
    *out = NULL;
    return 0;
}

int config_expand_path(const char *path, const char *base, char **out, coop_error **err)
{
    const char *home = absolute_variable("HOME");

    if (*path == '/')
        return copy(path, out, err);
    if (*path != '~')
        return join(base, path, out, err);
    if (!home)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "the path '%s' begins with '~', and $HOME is not set", path);
    return path[1] == '\0' ? copy(home, out, err) : join(home, path + 2, out, err);
}
