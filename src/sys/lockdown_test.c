#include "lockdown.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/raw.h"
#include "sys/seccomp_filter.h"
#include "test/check.h"

#define LAST_CALL 600 /* more than there are */

/* Harmless, and not in order: all others are refused before they do anything. */
static const unsigned allowed[] = { SYS_exit_group,  SYS_getuid,  SYS_getpid,
                                    SYS_sched_yield, SYS_getppid, SYS_gettid,
                                    SYS_geteuid,     SYS_getegid, SYS_getgid };
static const struct sock_filter others[] = { FILTER_FAIL(EXDEV) };

static bool is_allowed(unsigned nr, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (allowed[i] == nr)
            return true;
    return false;
}

/* Calls of the kernel's own probes, which no filter is asked about. */
static bool is_probe(unsigned nr)
{
#if defined(__x86_64__)
    return nr == 335 || nr == 336; /* uretprobe, uprobe */
#else
    (void)nr;
    return false;
#endif
}

/* 0: exactly the first n calls are; else the number of one that is wrong, and 1. */
static unsigned first_wrong(size_t n)
{
    for (unsigned nr = 0; nr < LAST_CALL; nr++)
        if (nr != SYS_exit_group && !is_probe(nr) &&
            (raw(nr, 0, 0, 0, 0, 0, 0) != -EXDEV) != is_allowed(nr, n))
            return nr + 1;
    return 0;
}

TEST(a_tree_of_calls_allows_these_and_no_others)
{
    for (size_t n = 1; n <= COUNT(allowed); n++) {
        int status = 0;
        pid_t pid = fork();

        CHECK(pid >= 0);
        if (pid == 0) {
            bool is_set = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                          lockdown_calls(allowed, n, others, COUNT(others)) == 0;

            (void)raw(SYS_exit_group, !is_set || first_wrong(n) ? 1 : 0, 0, 0, 0, 0, 0);
        }
        CHECK(waitpid(pid, &status, 0) == pid);
        CHECK(status == 0);
    }
}

TEST(a_tree_has_calls_and_not_too_many)
{
    static const unsigned many[65];

    CHECK(lockdown_calls(allowed, 0, others, COUNT(others)) == -EINVAL);
    CHECK(lockdown_calls(many, COUNT(many), others, COUNT(others)) == -EINVAL);
}
