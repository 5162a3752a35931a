/*
 * probe_subid.c - a range of ids for the box, by newuidmap and /etc/subuid
 *
 * The try is the real thing: a child waits in a new user namespace, newuidmap maps a range into it.
 */
#include "jail/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/raw.h"

struct range {
    unsigned long first;
    unsigned long count;
};

/* The caller's login name from /etc/passwd: libc would load whatever nsswitch.conf names. */
static void login_name(uid_t uid, char *out, size_t size)
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
static bool find_range(const char *path, const char *name, uid_t uid, struct range *out)
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

/* Runs `program` to map `id` to itself as 0, and the range behind it. */
static long run_helper(const char *program, pid_t pid, unsigned id, const struct range *range)
{
    char texts[6][24];
    struct helper helper = { .argv = { (char *)program } };
    const unsigned long numbers[] = { 0, id, 1, 1, range->first, range->count };
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

static long try_helpers(const struct coop_probe *probe, const struct range *uids,
                        const struct range *gids)
{
    struct probe_held held;
    long r = probe_hold(&held);

    if (r < 0)
        return r;
    r = run_helper("/usr/bin/newuidmap", held.pid, probe->host.uid, uids);
    if (r == 0)
        r = run_helper("/usr/bin/newgidmap", held.pid, probe->host.gid, gids);
    probe_let_go(&held);
    return r;
}

void probe_newuidmap(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    struct range uids, gids;
    char name[64];

    if (probe->box.clone < 0) {
        verdict_no(verdict, "needs user namespaces");
        return;
    }
    if (access("/usr/bin/newuidmap", X_OK) < 0 || access("/usr/bin/newgidmap", X_OK) < 0) {
        verdict_no(verdict, "newuidmap is not installed");
        verdict_fix(verdict, "sudo apt-get install uidmap");
        return;
    }
    login_name(probe->host.uid, name, sizeof name);
    if (!find_range("/etc/subuid", name, probe->host.uid, &uids) ||
        !find_range("/etc/subgid", name, probe->host.uid, &gids)) {
        verdict_no(verdict, "/etc/subuid and /etc/subgid grant no range to %s",
                   name[0] ? name : "this user");
        verdict_fix(verdict,
                    "sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 %s",
                    name[0] ? name : "NAME");
        return;
    }
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) {
        verdict_no(verdict, "no_new_privs is set on this process: newuidmap cannot be setuid root");
        return;
    }
    long r = try_helpers(probe, &uids, &gids);
    if (r == 0) {
        verdict_yes(verdict, "%lu ids from %lu", uids.count, uids.first);
    } else if (r < 0) {
        verdict_refused(verdict, probe, r, "run newuidmap", NULL);
    } else {
        verdict_no(verdict, "newuidmap exits with status %ld: is it still setuid root?", r);
        verdict_fix(verdict, "sudo apt-get install --reinstall uidmap");
    }
}
