/*
 * outlives.c - does anything outlive a command?
 *
 *   outlives COMMAND [ARG...]              run it to its end
 *   outlives -k ROUNDS COMMAND [ARG...]    run it ROUNDS times, each killed at a random instant
 *
 * It is a subreaper: whatever the command leaves, however often it forked, becomes its child. After
 * the end it waits up to 5 seconds for all of them to end too. Exit status: the command's own (128+N
 * for a signal; 0 with -k), or 99, with the names of the survivors on stderr, which it then kills.
 * With -k it prints the process id of each round.
 *
 * Half of the random instants lie in the first 5 ms, where a box is being built, the others in the
 * first 100 ms.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SURVIVED   99
#define PATIENCE_S 5

extern char **environ;

static pid_t start(char **argv)
{
    pid_t pid;
    int r = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);

    if (r != 0) {
        fprintf(stderr, "outlives: %s: %s\n", argv[0], strerror(r));
        exit(98);
    }
    return pid;
}

static void sleep_us(long us)
{
    struct timespec t = { us / 1000000, us % 1000000 * 1000 };

    while (nanosleep(&t, &t) < 0 && errno == EINTR)
        ;
}

/* The children of ours that still live; their names go to stderr, and they are killed. */
static void name_and_kill(void)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;

    while (proc && (entry = readdir(proc)) != NULL) {
        char path[64], text[512], name[64];
        int parent = 0;
        int pid = atoi(entry->d_name);

        if (pid <= 0)
            continue;
        (void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
        FILE *f = fopen(path, "re");
        if (!f)
            continue;
        if (fgets(text, sizeof text, f) &&
            sscanf(text, "%*d (%63[^)]) %*c %d", name, &parent) == 2 && parent == (int)getpid()) {
            fprintf(stderr, "outlives: %s (%d) survived\n", name, pid);
            (void)kill(pid, SIGKILL);
        }
        (void)fclose(f);
    }
    if (proc)
        (void)closedir(proc);
}

static int await_all(void)
{
    struct timespec now, end;

    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += PATIENCE_S;
    for (;;) {
        pid_t pid = waitpid(-1, NULL, WNOHANG | __WALL);

        if (pid < 0 && errno == ECHILD)
            return 0;
        if (pid != 0)
            continue;
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec > end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec > end.tv_nsec)) {
            name_and_kill();
            return SURVIVED;
        }
        sleep_us(2000);
    }
}

static int to_its_end(char **argv)
{
    pid_t pid = start(argv);
    int status = 0;

    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    int survived = await_all();
    if (survived)
        return survived;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int kill_rounds(long rounds, char **argv)
{
    for (long i = 0; i < rounds; i++) {
        long longest = i % 2 ? 100000 : 5000;
        pid_t pid = start(argv);

        sleep_us(random() % longest);
        (void)kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
        printf("%d\n", (int)pid);
    }
    (void)fflush(stdout);
    return await_all();
}

int main(int argc, char **argv)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    srandom((unsigned)(now.tv_nsec ^ getpid()));
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0) {
        perror("outlives");
        return 98;
    }
    if (argc > 3 && strcmp(argv[1], "-k") == 0)
        return kill_rounds(atol(argv[2]), argv + 3);
    if (argc < 2) {
        fprintf(stderr, "usage: outlives [-k ROUNDS] COMMAND [ARG...]\n");
        return 98;
    }
    return to_its_end(argv + 1);
}
