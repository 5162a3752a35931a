/*
 * reaper SECONDS COMMAND [ARGUMENT...] - run a test, then look for processes that it left behind
 *
 * Orphans below the command become children of this process (PR_SET_CHILD_SUBREAPER), however they
 * forked and whoever they run as: whatever is still there when the command has ended is the command's,
 * and nothing of anybody else's ever is. What is just going away has some seconds. The rest is listed
 * and killed.
 *
 * Exit status: the command's; 124 after the deadline; 99 if the command succeeded and left something.
 * Both times are counted in seconds of an idle machine: the more there is to run, the slower they pass.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GRACE       10 /* seconds for what is just going away, and for a command that is asked to end */
#define STATUS_LEFT 99
#define STATUS_LATE 124
#define PROCESSES   4096
#define SLOWEST     20
#define TICK_NS     (200L * 1000 * 1000)

static volatile sig_atomic_t stopped_by;

static void note_signal(int number)
{
    stopped_by = number;
}

/* How many times slower than alone: what wants to run, now or lately, for each processor. */
static double slowness(void)
{
    static long n_processors;
    double lately = 0;
    int now = 0;
    FILE *file = fopen("/proc/loadavg", "re");

    if (n_processors == 0)
        n_processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (file && fscanf(file, "%lf %*f %*f %d", &lately, &now) != 2)
        lately = 0;
    if (file)
        (void)fclose(file);
    double wanting = lately > now ? lately : now;
    double factor = wanting / (double)(n_processors > 0 ? n_processors : 1);
    return factor < 1 ? 1 : factor > SLOWEST ? SLOWEST : factor;
}

struct process {
    pid_t pid, parent;
    char state;
    bool is_below;
};

static bool read_process(const char *name, struct process *out)
{
    char path[64];
    char text[512];

    (void)snprintf(path, sizeof path, "/proc/%.20s/stat", name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        (void)close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    const char *after = strrchr(text, ')'); /* a name may hold anything */
    *out = (struct process){ .pid = (pid_t)strtol(name, NULL, 10) };
    return after && sscanf(after + 1, " %c %d", &out->state, &out->parent) == 2;
}

/* Who is below us and no zombie: their number, at the front of `list`. */
static size_t find_below(struct process *list)
{
    DIR *directory = opendir("/proc");
    size_t n = 0;
    size_t n_below = 0;

    for (struct dirent *entry; directory && n < PROCESSES && (entry = readdir(directory));)
        if (isdigit((unsigned char)entry->d_name[0]) && read_process(entry->d_name, &list[n]))
            n++;
    if (directory)
        (void)closedir(directory);
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (size_t i = 0; i < n; i++) {
            bool is_below = list[i].parent == getpid();

            for (size_t j = 0; !is_below && j < n; j++)
                is_below = list[j].is_below && list[j].pid == list[i].parent;
            has_changed |= is_below && !list[i].is_below;
            list[i].is_below |= is_below;
        }
    }
    for (size_t i = 0; i < n; i++)
        if (list[i].is_below && list[i].state != 'Z')
            list[n_below++] = list[i];
    return n_below;
}

static void print_process(pid_t pid)
{
    char path[64];
    char words[200];

    (void)snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, words, sizeof words);
    if (fd >= 0)
        (void)close(fd);
    for (ssize_t i = 0; i < n; i++)
        if (!isprint((unsigned char)words[i]))
            words[i] = ' ';
    printf("# left behind: process %d, %.*s\n", pid, (int)(n > 0 ? n : 1), n > 0 ? words : "?");
}

struct run {
    pid_t command;
    bool has_ended;
    int status;
};

/* False: nobody is left, for whoever is below us is a child of ours or of one that still lives. */
static bool reap(struct run *run)
{
    int status = 0;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        if (pid == run->command) {
            run->has_ended = true;
            run->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
    return pid == 0;
}

/* Waits until a child ends, or a little while. The seconds that passed, as counted here. */
static double tick(void)
{
    const struct timespec pause = { .tv_nsec = TICK_NS };
    struct timespec from;
    struct timespec to;
    sigset_t child;

    (void)sigemptyset(&child);
    (void)sigaddset(&child, SIGCHLD);
    (void)clock_gettime(CLOCK_MONOTONIC, &from);
    (void)sigtimedwait(&child, NULL, &pause);
    (void)clock_gettime(CLOCK_MONOTONIC, &to);
    return ((double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9) /
           slowness();
}

/* Until the command has ended; false: it did not in time, or we are to stop. */
static bool await_command(struct run *run, double seconds)
{
    for (double passed = 0; (void)reap(run), !run->has_ended; passed += tick())
        if (stopped_by || passed > seconds)
            return false;
    return true;
}

/* Until nobody is left, for so long; false: somebody is. */
static bool await_nobody(struct run *run, double seconds)
{
    for (double passed = 0; reap(run); passed += tick())
        if (stopped_by || passed > seconds)
            return false;
    return true;
}

static void kill_all(struct run *run, struct process *list)
{
    for (; reap(run); (void)tick())
        for (size_t i = 0, n = find_below(list); i < n; i++)
            (void)kill(list[i].pid, SIGKILL);
}

int main(int argc, char **argv)
{
    static struct process list[PROCESSES];
    const struct sigaction stop = { .sa_handler = note_signal };
    struct run run = { 0 };

    if (argc < 3) {
        (void)fprintf(stderr, "usage: reaper SECONDS COMMAND [ARGUMENT...]\n");
        return 2;
    }
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0) {
        perror("reaper: PR_SET_CHILD_SUBREAPER");
        return 2;
    }
    (void)sigaction(SIGTERM, &stop, NULL);
    (void)sigaction(SIGINT, &stop, NULL);
    (void)sigaction(SIGHUP, &stop, NULL);
    sigset_t child;
    (void)sigemptyset(&child);
    (void)sigaddset(&child, SIGCHLD);
    (void)sigprocmask(SIG_BLOCK, &child, NULL);
    run.command = fork();
    if (run.command == 0) {
        (void)sigprocmask(SIG_UNBLOCK, &child, NULL);
        (void)setpgid(0, 0);
        (void)execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    if (!await_command(&run, strtod(argv[1], NULL))) {
        if (!stopped_by)
            printf("# no end after %s seconds\n", argv[1]);
        (void)kill(-run.command, SIGTERM);
        (void)await_command(&run, stopped_by ? 0 : GRACE);
        kill_all(&run, list);
        return stopped_by ? 128 + stopped_by : STATUS_LATE;
    }
    size_t n = await_nobody(&run, GRACE) ? 0 : find_below(list);
    for (size_t i = 0; i < n; i++)
        print_process(list[i].pid);
    kill_all(&run, list);
    return n > 0 && run.status == 0 ? STATUS_LEFT : run.status;
}
