#include "newidmap.h"

#include <errno.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"

#define USER_PROGRAM  "/usr/bin/newuidmap"
#define GROUP_PROGRAM "/usr/bin/newgidmap"

struct range {
    unsigned long start, count;
};

/* Lines are NAME:START:COUNT or UID:START:COUNT. The name is the caller's login name. */
static bool find_range(const char *file, uid_t uid, struct range *out)
{
    const char *name = getenv("USER");
    char line[256];
    char number[24];
    bool found = false;
    FILE *f = fopen(file, "re");

    if (!f)
        return false;
    (void)snprintf(number, sizeof number, "%u", uid);
    while (!found && fgets(line, sizeof line, f)) {
        char *first = strchr(line, ':');
        char *second = first ? strchr(first + 1, ':') : NULL;

        if (!second)
            continue;
        *first = *second = '\0';
        if (strcmp(line, number) != 0 && (!name || strcmp(line, name) != 0))
            continue;
        out->start = strtoul(first + 1, NULL, 10);
        out->count = strtoul(second + 1, NULL, 10);
        found = out->count > 0;
    }
    (void)fclose(f);
    return found;
}

bool newidmap_available(uid_t uid)
{
    struct range range;

    return access(USER_PROGRAM, X_OK) == 0 && access(GROUP_PROGRAM, X_OK) == 0 &&
           find_range("/etc/subuid", uid, &range) && find_range("/etc/subgid", uid, &range);
}

static int run(const char *program, pid_t pid, unsigned inside, unsigned outside,
               const struct range *range, coop_error **err)
{
    char text[6][24];
    char *no_environment[] = { NULL };
    char *arguments[] = { (char *)(uintptr_t)program, text[0], text[1], text[2], (char *)"1",
                          text[3], text[4], text[5], NULL };
    pid_t child;
    int status = 0;

    (void)snprintf(text[0], sizeof text[0], "%d", (int)pid);
    (void)snprintf(text[1], sizeof text[1], "%u", inside);
    (void)snprintf(text[2], sizeof text[2], "%u", outside);
    (void)snprintf(text[3], sizeof text[3], "%u", inside + 1);
    (void)snprintf(text[4], sizeof text[4], "%lu", range->start);
    (void)snprintf(text[5], sizeof text[5], "%lu", range->count);
    int e = posix_spawn(&child, program, NULL, NULL, arguments, no_environment);
    if (e)
        return fail(err, e, "run '%s'", program);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return fail(err, errno, "wait for '%s'", program);
    if (status != 0)
        return fail_kind(err, COOP_ERROR_SETUP, EPERM, "'%s' refused the range of '%s'", program,
                         program == (const char *)USER_PROGRAM ? "/etc/subuid" : "/etc/subgid");
    return 0;
}

int newidmap_run(pid_t pid, const struct user_namespace_map *map, coop_error **err)
{
    struct range users;
    struct range groups;

    if (!find_range("/etc/subuid", map->outside_uid, &users) ||
        !find_range("/etc/subgid", map->outside_uid, &groups))
        return fail_kind(err, COOP_ERROR_SETUP, ENOENT,
                         "no range for user %u in '/etc/subuid' and '/etc/subgid'",
                         map->outside_uid);
    int r = run(USER_PROGRAM, pid, map->inside_uid, map->outside_uid, &users, err);
    if (r == 0)
        r = run(GROUP_PROGRAM, pid, map->inside_gid, map->outside_gid, &groups, err);
    return r;
}
