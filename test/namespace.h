/* namespace.h - a part of a test in a network namespace of its own, as root or anybody */
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/check.h"

static inline bool namespace_enter(void)
{
    char map[64];
    int n = snprintf(map, sizeof map, "0 %u 1", getuid());

    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
        return false;
    int fd = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
    bool is_mapped = fd >= 0 && write(fd, map, (size_t)n) == n;
    if (fd >= 0)
        (void)close(fd);
    return is_mapped;
}

/* In a child, since a namespace cannot be left again; a check that fails there fails here. */
static inline void in_namespace(void (*what)(void))
{
    (void)fflush(stdout);
    pid_t pid = fork();
    int status = 0;

    if (pid == 0) {
        if (!namespace_enter())
            _exit(77);
        if (setjmp(check_leave) == 0) /* it is told by the parent */
            what();
        (void)fflush(stdout);
        _exit(check_failed ? 1 : 0);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        SKIP("no user or network namespace here");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
