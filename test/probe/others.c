/*
 * others.c - does to other processes whatever one of the same user may do
 *
 *   others [-a] FIRST LAST
 *
 * Every act of the table is tried on each process with a number from FIRST to LAST that is not seen in
 * /proc, with -a also on those that are. Prints "ACT PID" for each that the kernel let through, and at
 * the end "tried N", the number of attempts. A signal that was accepted need not have arrived, so
 * those are tried and not told.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* By number: the headers may be older. */
#define NR_PIDFD_SEND_SIGNAL 424
#define NR_PIDFD_OPEN        434
#define NR_PIDFD_GETFD       438
#define NR_PROCESS_MADVISE   440
#define NR_PROCESS_MRELEASE  448

static char page[4096];

static long limit(pid_t pid, int resource, rlim_t value)
{
    const struct rlimit new = { value, value };

    return syscall(SYS_prlimit64, pid, resource, &new, NULL);
}

static long limit_files(pid_t pid)
{
    return limit(pid, RLIMIT_NOFILE, 3);
}

static long limit_cpu(pid_t pid)
{
    return limit(pid, RLIMIT_CPU, 1);
}

static long limit_stack(pid_t pid)
{
    return limit(pid, RLIMIT_STACK, 4096);
}

/* Rubbish in the upper half of the number, which the kernel does not read. */
static long limit_half(pid_t pid)
{
    const struct rlimit new = { 3, 3 };

    return syscall(SYS_prlimit64, 0xdead00000000ul | (unsigned long)(unsigned)pid, RLIMIT_NOFILE,
                   &new, NULL);
}

static long nice_process(pid_t pid)
{
    return syscall(SYS_setpriority, PRIO_PROCESS, pid, 19);
}

static long nice_group(pid_t pid)
{
    return syscall(SYS_setpriority, PRIO_PGRP, pid, 19);
}

static long nice_user(pid_t pid)
{
    (void)pid;
    return syscall(SYS_setpriority, PRIO_USER, 0, 19);
}

static long nice_uid(pid_t pid)
{
    (void)pid;
    return syscall(SYS_setpriority, PRIO_USER, getuid(), 19);
}

static long io_process(pid_t pid)
{
    return syscall(SYS_ioprio_set, 1, pid, 3 << 13);
}

static long io_user(pid_t pid)
{
    (void)pid;
    return syscall(SYS_ioprio_set, 3, getuid(), 3 << 13);
}

static long scheduler(pid_t pid)
{
    const struct sched_param none = { 0 };

    return syscall(SYS_sched_setscheduler, pid, SCHED_IDLE, &none);
}

static long parameter(pid_t pid)
{
    const struct sched_param none = { 0 };

    return syscall(SYS_sched_setparam, pid, &none);
}

static long attributes(pid_t pid)
{
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attributes = { .size = 48, .policy = SCHED_IDLE };

    return syscall(SYS_sched_setattr, pid, &attributes, 0);
}

static long affinity(pid_t pid)
{
    unsigned long first = 1;

    return syscall(SYS_sched_setaffinity, pid, sizeof first, &first);
}

static long compare(pid_t pid)
{
    return syscall(SYS_kcmp, getpid(), pid, 2, 0, 0);
}

static long migrate(pid_t pid)
{
    unsigned long node = 1;

    return syscall(SYS_migrate_pages, pid, 2, &node, &node);
}

static long move(pid_t pid)
{
    void *pages[] = { page };
    int status[1];

    return syscall(SYS_move_pages, pid, 1ul, pages, NULL, status, 0);
}

static long read_memory(pid_t pid)
{
    struct iovec to = { page, 16 };
    struct iovec from = { page, 16 };

    return syscall(SYS_process_vm_readv, pid, &to, 1ul, &from, 1ul, 0ul);
}

static long write_memory(pid_t pid)
{
    struct iovec to = { page, 16 };
    struct iovec from = { page, 16 };

    return syscall(SYS_process_vm_writev, pid, &from, 1ul, &to, 1ul, 0ul);
}

static long trace(pid_t pid)
{
    return ptrace(PTRACE_SEIZE, pid, NULL, NULL);
}

static long robust_list(pid_t pid)
{
    void *head;
    size_t size;

    return syscall(SYS_get_robust_list, pid, &head, &size);
}

/* PR_SCHED_CORE, PR_SCHED_CORE_CREATE: of whole processes. */
static long core(pid_t pid)
{
    return syscall(SYS_prctl, 62, 1, pid, 1, 0);
}

static long group(pid_t pid)
{
    return setpgid(pid, 0);
}

static long advise(pid_t pid)
{
    int fd = (int)syscall(NR_PIDFD_OPEN, pid, 0);
    struct iovec all = { page, sizeof page };
    long r = syscall(NR_PROCESS_MADVISE, fd, &all, 1ul, MADV_COLD, 0);

    (void)close(fd);
    return r;
}

static long release(pid_t pid)
{
    int fd = (int)syscall(NR_PIDFD_OPEN, pid, 0);
    long r = syscall(NR_PROCESS_MRELEASE, fd, 0);

    (void)close(fd);
    return r;
}

static long take_descriptor(pid_t pid)
{
    int fd = (int)syscall(NR_PIDFD_OPEN, pid, 0);
    long r = syscall(NR_PIDFD_GETFD, fd, 3, 0);

    (void)close(fd);
    return r;
}

static long enter(pid_t pid)
{
    int fd = (int)syscall(NR_PIDFD_OPEN, pid, 0);
    long r = syscall(SYS_setns, fd, CLONE_NEWUTS);

    (void)close(fd);
    return r;
}

static long put(pid_t pid, const char *name, const char *text)
{
    char path[64];

    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    long r = write(fd, text, strlen(text));
    (void)close(fd);
    return r;
}

static long out_of_memory(pid_t pid)
{
    return put(pid, "oom_score_adj", "1000");
}

static long timer_slack(pid_t pid)
{
    return put(pid, "timerslack_ns", "1000000000");
}

static long autogroup(pid_t pid)
{
    return put(pid, "autogroup", "19");
}

static long core_filter(pid_t pid)
{
    return put(pid, "coredump_filter", "0");
}

static long name(pid_t pid)
{
    return put(pid, "comm", "other");
}

static long memory_file(pid_t pid)
{
    return put(pid, "mem", "x");
}

static long forget_pages(pid_t pid)
{
    return put(pid, "clear_refs", "1");
}

static long environment(pid_t pid)
{
    char path[64];

    (void)snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* All signals but SIGCONT, by each way there is. */
static long signals(pid_t pid)
{
    static const int numbers[] = { SIGHUP,  SIGINT, SIGTERM, SIGQUIT, SIGSTOP, SIGTSTP, SIGSEGV,
                                   SIGUSR1, SIGIO,  SIGXCPU, SIGPIPE, SIGCHLD, 40,      SIGKILL };
    int pidfd = (int)syscall(NR_PIDFD_OPEN, pid, 0);

    for (size_t i = 0; i < COUNT(numbers); i++) {
        siginfo_t info = { .si_signo = numbers[i], .si_code = SI_QUEUE };

        (void)kill(pid, numbers[i]);
        (void)syscall(SYS_tkill, pid, numbers[i]);
        (void)syscall(SYS_tgkill, 1, pid, numbers[i]);
        (void)syscall(SYS_tgkill, pid, pid, numbers[i]);
        (void)syscall(SYS_rt_sigqueueinfo, pid, numbers[i], &info);
        (void)syscall(NR_PIDFD_SEND_SIGNAL, pidfd, numbers[i], NULL, 0);
    }
    (void)close(pidfd);
    return -1;
}

/* The kernel sends it for us, when there is something to read. */
static long signal_of_pipe(pid_t pid)
{
    static const int numbers[] = { 0, SIGKILL, SIGSTOP, SIGIO, 41 };

    for (size_t i = 0; i < COUNT(numbers); i++) {
        int ends[2];

        if (pipe(ends) < 0)
            return -1;
        (void)fcntl(ends[0], F_SETOWN, pid);
        (void)fcntl(ends[0], F_SETSIG, numbers[i]);
        (void)fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK);
        (void)!write(ends[1], "x", 1);
        (void)close(ends[1]);
        (void)close(ends[0]);
    }
    return -1;
}

static const struct {
    const char *name;
    long (*act)(pid_t pid);
} acts[] = {
    { "limit-files", limit_files },
    { "limit-cpu", limit_cpu },
    { "limit-stack", limit_stack },
    { "limit-half", limit_half },
    { "nice", nice_process },
    { "nice-group", nice_group },
    { "nice-user", nice_user },
    { "nice-uid", nice_uid },
    { "io", io_process },
    { "io-user", io_user },
    { "scheduler", scheduler },
    { "parameter", parameter },
    { "attributes", attributes },
    { "affinity", affinity },
    { "compare", compare },
    { "migrate", migrate },
    { "move", move },
    { "read-memory", read_memory },
    { "write-memory", write_memory },
    { "trace", trace },
    { "robust-list", robust_list },
    { "core", core },
    { "group", group },
    { "advise", advise },
    { "release", release },
    { "take-descriptor", take_descriptor },
    { "enter", enter },
    { "out-of-memory", out_of_memory },
    { "timer-slack", timer_slack },
    { "autogroup", autogroup },
    { "core-filter", core_filter },
    { "name", name },
    { "memory-file", memory_file },
    { "forget-pages", forget_pages },
    { "environment", environment },
    { "signals", signals },
    { "signal-of-pipe", signal_of_pipe },
};

static bool is_seen(pid_t pid)
{
    char path[64];

    (void)snprintf(path, sizeof path, "/proc/%d", (int)pid);
    return access(path, F_OK) == 0;
}

int main(int argc, char **argv)
{
    bool all = argc == 4 && strcmp(argv[1], "-a") == 0;
    long n = 0;

    if (argc != 3 + all)
        return 2;
    for (pid_t pid = atoi(argv[1 + all]); pid <= atoi(argv[2 + all]); pid++) {
        if (pid == getpid() || (!all && is_seen(pid)))
            continue;
        for (size_t i = 0; i < COUNT(acts); i++, n++)
            if (acts[i].act(pid) >= 0)
                printf("%s %d\n", acts[i].name, (int)pid);
    }
    printf("tried %ld\n", n);
    return 0;
}
