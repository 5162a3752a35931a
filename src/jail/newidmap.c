#include "newidmap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "jail/probe.h"
#include "sys/raw.h"

/* The caller's login name from /etc/passwd: libc would load whatever nsswitch.conf names. */
void newidmap_login_name(uid_t uid, char *out, size_t size)
{
    FILE *file = fopen("/etc/passwd", "re");
    char *line = NULL;
    size_t line_size = 0;

    out[0] = '\0';
    while (file && out[0] == '\0' && getline(&line, &line_size, file) > 0) {
        char *password = strchr(line, ':');
        char *id = password ? strchr(password + 1, ':') : NULL;
        if (!id || strtoul(id + 1, NULL, 10) != uid)
            continue;
        *password = '\0';
        (void)snprintf(out, size, "%s", line);
    }
    free(line);
    if (file)
        (void)fclose(file);
}

/* NAME:FIRST:COUNT, where NAME may be the number. */
static bool find_range(const char *path, const char *name, uid_t uid, struct newidmap_range *out)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t size = 0;
    bool is_found = false;
    char number[16];

    (void)snprintf(number, sizeof number, "%u", uid);
    while (file && !is_found && getline(&line, &size, file) > 0) {
        char *colon = strchr(line, ':');
        if (!colon)
            continue;
        *colon = '\0';
        if ((name[0] && strcmp(line, name) == 0) || strcmp(line, number) == 0)
            is_found = sscanf(colon + 1, "%lu:%lu", &out->first, &out->count) == 2;
    }
    free(line);
    if (file)
        (void)fclose(file);
    return is_found;
}

bool newidmap_find(uid_t uid, struct newidmap_range *users, struct newidmap_range *groups)
{
    char name[64];

    newidmap_login_name(uid, name, sizeof name);
    return find_range("/etc/subuid", name, uid, users) &&
           find_range("/etc/subgid", name, uid, groups);
}

struct helper {
    char *argv[12];
    int null_fd;
};

static int exec_child(void *arg)
{
    struct helper *helper = arg;
    char *no_environment[] = { NULL };
    uint64_t none = 0;

    for (int fd = 0; fd < 3; fd++)
        (void)raw(SYS_dup3, helper->null_fd, fd, 0);
    (void)raw(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, 8);
    (void)raw(SYS_execve, helper->argv[0], helper->argv, no_environment);
    return 127;
}

/* Runs `program` to map `id` as `inside`, and the range behind it. */
static long run_helper(const char *program, pid_t pid, unsigned inside, unsigned id,
                       const struct newidmap_range *range)
{
    char texts[6][24];
    struct helper helper = { .argv = { (char *)(uintptr_t)program } };
    const unsigned long numbers[] = { inside, id, 1, inside + 1, range->first, range->count };
    char target[16];

    auto_close int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null_fd < 0)
        return -errno;
    helper.null_fd = null_fd;
    (void)snprintf(target, sizeof target, "%d", (int)pid);
    helper.argv[1] = target;
    for (size_t i = 0; i < COUNT(numbers); i++) {
        (void)snprintf(texts[i], sizeof texts[i], "%lu", numbers[i]);
        helper.argv[2 + i] = texts[i];
    }
    return probe_child(0, exec_child, &helper);
}

long newidmap_run(pid_t pid, uid_t inside, uid_t uid, gid_t gid, const struct newidmap_range *users,
                  const struct newidmap_range *groups)
{
    long r = run_helper(NEWIDMAP_USERS, pid, inside, uid, users);

    return r == 0 ? run_helper(NEWIDMAP_GROUPS, pid, inside, gid, groups) : r;
}
