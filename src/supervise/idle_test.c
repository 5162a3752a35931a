#include "idle.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "test/check.h"

static int orders[2], answers[2];

/* Obeys one byte after the other: 'f' makes a child that obeys too, 'e' ends. */
static _Noreturn void obey(void)
{
    char byte;

    while (read(orders[0], &byte, 1) == 1) {
        if (byte == 'f' && fork() == 0)
            continue;
        if (byte == 'e')
            _exit(0);
        (void)!write(answers[1], &byte, 1);
    }
    _exit(0);
}

/* As a box's: a first process whose only work is to wait for others. */
static pid_t start(unsigned n_children)
{
    if (pipe2(orders, O_CLOEXEC) < 0 || pipe2(answers, O_CLOEXEC) < 0)
        return -1;
    pid_t pid = fork();
    if (pid != 0) {
        (void)close(orders[0]);
        return pid;
    }
    (void)close(orders[1]);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (unsigned i = 0; i < n_children; i++)
        if (fork() == 0)
            obey();
    (void)!write(answers[1], "u", 1);
    while (wait(NULL) > 0)
        ;
    _exit(0);
}

static void end(pid_t pid)
{
    (void)close(orders[1]);
    (void)close(answers[0]);
    (void)close(answers[1]);
    (void)waitpid(pid, NULL, 0);
}

static bool tell(char byte)
{
    return write(orders[1], &byte, 1) == 1;
}

static bool hears(char expected)
{
    char byte;

    return read(answers[0], &byte, 1) == 1 && byte == expected;
}

/* Nothing runs once all are where they wait. */
static bool settles(struct idle *idle, pid_t pid, size_t n)
{
    for (unsigned i = 0; i < 100000; i++) {
        const struct timespec some = { 0, 5000000 };

        if (idle_note(idle, pid) && idle->n == n && nanosleep(&some, NULL) == 0 && idle_is(idle))
            return true;
    }
    return false;
}

TEST(what_was_never_noted_is_not_idle)
{
    struct idle idle = { 0 };

    CHECK(!idle_is(&idle));
}

TEST(one_that_runs_is_seen)
{
    struct idle idle = { 0 };
    pid_t pid = start(1);

    CHECK(pid > 0 && hears('u'));
    CHECK(settles(&idle, pid, 2));
    CHECK(idle_is(&idle));
    CHECK(tell('r') && hears('r'));
    CHECK(!idle_is(&idle));
    end(pid);
    idle_free(&idle);
}

TEST(one_that_makes_another_is_seen)
{
    struct idle idle = { 0 };
    pid_t pid = start(1);

    CHECK(pid > 0 && hears('u'));
    CHECK(settles(&idle, pid, 2));
    CHECK(tell('f') && hears('f'));
    CHECK(!idle_is(&idle));
    CHECK(settles(&idle, pid, 3)); /* a child's child is found */
    end(pid);
    idle_free(&idle);
}

TEST(one_that_ends_is_seen)
{
    struct idle idle = { 0 };
    pid_t pid = start(2);

    CHECK(pid > 0 && hears('u'));
    CHECK(settles(&idle, pid, 3));
    CHECK(tell('e'));
    CHECK(settles(&idle, pid, 2));
    end(pid);
    CHECK(!idle_is(&idle)); /* nor are there any */
    idle_free(&idle);
}

TEST(a_list_of_children_longer_than_a_page_is_whole)
{
    struct idle idle = { 0 };
    pid_t pid = start(1200);

    CHECK(pid > 0 && hears('u'));
    CHECK(settles(&idle, pid, 1201));
    end(pid);
    CHECK(!idle_note(&idle, pid));
    idle_free(&idle);
}
