#include "janitor.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "test/check.h"

static int status_of(pid_t pid)
{
    int status = -1;

    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* A member of the cgroup that waits for its end; it has joined when this returns. */
static pid_t start_member(const char *cgroup)
{
    char path[128];
    char byte = 0;
    int ends[2];

    (void)snprintf(path, sizeof path, "%s/cgroup.procs", cgroup);
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        int fd = open(path, O_WRONLY | O_CLOEXEC);

        if (fd < 0 || write(fd, "0", 1) != 1 || write(ends[1], "j", 1) != 1)
            _exit(9);
        for (;;)
            (void)pause();
    }
    (void)close(ends[1]);
    ssize_t n = read(ends[0], &byte, 1);
    (void)close(ends[0]);
    return n == 1 ? pid : -1;
}

/* From a pid namespace in which the members have no number. */
static int clear_from_elsewhere(const char *name)
{
    pid_t outer = fork();

    if (outer == 0) {
        if (unshare(CLONE_NEWPID) < 0)
            _exit(8);
        pid_t pid = fork();
        if (pid == 0) {
            int parent = open("/sys/fs/cgroup", O_PATH | O_CLOEXEC);

            _exit(parent < 0 ? 7 : (int)-janitor_clear(parent, name));
        }
        int status = status_of(pid);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 6);
    }
    int status = status_of(outer);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 5;
}

/*
 * cgroup.procs shows members of other pid namespaces as 0, who can so not be killed one by one: it
 * takes cgroup.kill, which also knows nothing of a member that forks faster than it is found.
 */
TEST(members_that_cannot_be_named_are_killed)
{
    char cgroup[] = "/sys/fs/cgroup/janitor_test-XXXXXX";
    char path[128];

    if (geteuid() != 0 || access("/sys/fs/cgroup/cgroup.procs", F_OK) < 0)
        SKIP_NEVER("needs cgroup v2 and root");
    CHECK(mkdtemp(cgroup));
    (void)snprintf(path, sizeof path, "%s/cgroup.kill", cgroup);
    bool has_kill = access(path, F_OK) == 0;
    pid_t members[3] = { -1, -1, -1 };
    bool has_started = true;
    for (size_t i = 0; has_kill && i < COUNT(members); i++) {
        members[i] = start_member(cgroup);
        has_started &= members[i] > 0;
    }
    int r = has_kill && has_started ? clear_from_elsewhere(strrchr(cgroup, '/') + 1) : -1;
    bool is_gone = access(cgroup, F_OK) < 0;
    int killed = 0;
    for (size_t i = 0; i < COUNT(members); i++) {
        if (members[i] <= 0)
            continue;
        if (!is_gone)
            (void)kill(members[i], SIGTERM);
        int status = status_of(members[i]);
        killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    }
    (void)rmdir(cgroup);
    if (!has_kill)
        SKIP_NEVER("cgroup.kill was introduced in Linux 5.14");
    CHECK(has_started);
    CHECK(r == 0);
    CHECK(is_gone && killed == COUNT(members));
}

TEST(what_never_was_is_gone)
{
    auto_close int fd = open("/proc", O_PATH | O_CLOEXEC);

    CHECK(janitor_clear(fd, "no-such-group") == 0);
}
