/*
 * paths.c - what a path of the tools is on the host, and what they may do with it
 *
 * The answers are those that the file tools themselves would get.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "tools/path/place.h"
#include "tools/rights.h"
#include "tools/tools.h"

/* Whether the tool is open to them, and the path to it. */
static int find(coop_tools *tools, const char *tool, const char *path, enum place_use use,
                struct place *out, coop_error **err)
{
    const char *why = NULL;

    if (!tools || !path)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "a set of tools and a path are needed");
    if (!coop_tools_may(tools, tool, &why))
        return fail_kind(err, COOP_ERROR_DENIED, EACCES, "%s", why);
    return place_find(tools->places, path, use, out, err);
}

int coop_tools_resolve(coop_tools *tools, const char *path, char **out, coop_error **err)
{
    auto_place struct place place = { .fd = -1 };
    auto_rights struct rights rights = { 0 };

    if (!out)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "a place for the path is needed");
    int r = tools ? rights_lower_for(&rights, tools, err) : 0;
    if (r == 0)
        r = find(tools, "stat", path, PLACE_READ, &place, err);
    if (r < 0)
        return r;
    char *host = place_host(&place);
    if (!host)
        return place_fail(err, ENXIO, place.path, "is not in a directory of the host");
    *out = host;
    return 0;
}

/* As the user that the tools act as; what cannot be found or told may not be used. */
static bool can(coop_tools *tools, const char *tool, const char *path, enum place_use use, int mode)
{
    auto_place struct place place = { .fd = -1 };
    auto_rights struct rights rights = { 0 };
    char link[64];

    if (!tools || rights_lower_for(&rights, tools, NULL) < 0 ||
        find(tools, tool, path, use, &place, NULL) < 0)
        return false;
    if (!place.exists)
        return use == PLACE_CHANGE && place_may_make(&place, PLACE_NEW_FILE, NULL) == 0;
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", place.fd);
    return faccessat(AT_FDCWD, link, mode, AT_EACCESS) == 0;
}

bool coop_tools_can_read(coop_tools *tools, const char *path)
{
    return can(tools, "read_file", path, PLACE_READ, R_OK);
}

bool coop_tools_can_write(coop_tools *tools, const char *path)
{
    return can(tools, "write_file", path, PLACE_CHANGE, W_OK);
}
