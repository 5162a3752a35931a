#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "test/check.h"

static char *const no_environment[] = { NULL };
static struct spawn child;

static long start(char *const paths[], char *const argv[], int output_fd, bool is_detached)
{
    return spawn_start(&(struct spawn_program){ .paths = paths,
                                                .argv = argv,
                                                .environment = no_environment,
                                                .fds = { -1, output_fd, -1 },
                                                .is_detached = is_detached },
                       &child);
}

#define WORD(text)  ((char *)(uintptr_t)(text))
#define WORDS(...)  ((char *const[]){ __VA_ARGS__, NULL })
#define SHELL(text) WORDS(WORD("/bin/sh")), WORDS(WORD("sh"), WORD("-c"), WORD(text))

TEST(its_end_is_seen)
{
    siginfo_t info = { 0 };

    CHECK(start(SHELL("exit 3"), -1, false) == 0);
    CHECK(spawn_await(&child, clock_now_ms() + 60000) == 0);
    CHECK(spawn_wait(&child, &info) == 0);
    CHECK(info.si_code == CLD_EXITED && info.si_status == 3);
    spawn_done(&child);
    CHECK(child.pidfd == -1);
}

TEST(somebody_else_may_have_waited_for_it)
{
    siginfo_t info = { 0 };

    CHECK(start(SHELL("exit 3"), -1, false) == 0);
    CHECK(waitpid(-1, NULL, 0) == child.pid);
    CHECK(spawn_await(&child, clock_now_ms() + 60000) == 0);
    CHECK(spawn_wait(&child, &info) == -ECHILD);
    spawn_done(&child);
}

TEST(it_can_be_killed)
{
    siginfo_t info = { 0 };

    CHECK(start(SHELL("while :; do :; done"), -1, false) == 0);
    CHECK(spawn_await(&child, clock_now_ms() + 50) == -ETIME || child.pidfd < 0);
    spawn_kill(&child);
    CHECK(spawn_wait(&child, &info) == 0);
    CHECK(info.si_code == CLD_KILLED && info.si_status == SIGKILL);
    spawn_done(&child);
}

TEST(of_paths_the_first_that_runs_is_taken)
{
    siginfo_t info = { 0 };
    char *const argv[] = { WORD("sh"), WORD("-c"), WORD("exit 4"), NULL };

    CHECK(start(WORDS(WORD("/no/such"), WORD("/etc"), WORD("/bin/sh")), argv, -1, false) == 0);
    CHECK(spawn_wait(&child, &info) == 0 && info.si_status == 4);
    spawn_done(&child);
    CHECK(start(WORDS(WORD("/no/such")), argv, -1, false) == -ENOENT);
    CHECK(start(WORDS(WORD("/no/such"), WORD("/etc"), WORD("/none")), argv, -1, false) == -EACCES);
    CHECK(child.pidfd == -1);
}

static const char *says(const char *text, bool is_detached)
{
    static char output[256];
    siginfo_t info;
    int fds[2];

    CHECK(pipe2(fds, O_CLOEXEC) == 0);
    CHECK(start(SHELL(text), fds[1], is_detached) == 0);
    CHECK(close(fds[1]) == 0);
    ssize_t n = read(fds[0], output, sizeof output - 1);
    output[n > 0 ? n : 0] = '\0';
    CHECK(close(fds[0]) == 0);
    CHECK(spawn_wait(&child, &info) == 0);
    spawn_done(&child);
    return output;
}

TEST(it_has_the_descriptors_that_it_was_given)
{
    CHECK_STR(says("echo here", false), "here\n");
    CHECK_STR(says("[ -e /proc/self/fd/0 ] || echo closed", false), "closed\n");
}

TEST(detached_it_has_nothing_else_of_ours)
{
    int leaked = fcntl(STDIN_FILENO, F_DUPFD, 100);
    char text[80];

    CHECK_STR(says("pwd", true), "/\n");
    (void)snprintf(text, sizeof text, "[ -e /proc/$$/fd/%d ] && echo leaked; echo end", leaked);
    CHECK_STR(says(text, true), "end\n");
    CHECK(close(leaked) == 0);
}
