/*
 * failat.c - make one system call of a program and its children fail
 *
 *   failat LOG COMMAND [ARG...]                    fail nothing; write all calls to LOG
 *   failat LOG -f WHO:CALL:NTH COMMAND [ARG...]    the NTH call CALL of process WHO fails; 0: each;
 *                                                  LOG gets COMMAND's process id and "ran" or "never",
 *                                                  whether the box's command began
 *
 * Traces everything that COMMAND (process 1) starts; the processes and threads that 1 makes are 1.1,
 * 1.2 and so on, those of 1.2 are 1.2.1 ..., so that it does not matter who is quicker. LOG gets one
 * line per call, "WHO:CALL:NTH ERRNO before|after WHAT", where ERRNO is what the call would be made to
 * fail with, before or after tells whether the box's command runs already, and WHAT is a path or number
 * among its arguments that tells it from others. The box's command itself (the first program executed by a child that is not coop's
 * own init image) is let go when it begins. Calls that cannot fail, or that are not in the table
 * below, are left alone; the latter are in the log with errno 0, so that a test can complain.
 *
 * Exit status: that of COMMAND (128+N for signal N); 97 when the call to fail was never made; 99 when
 * traced processes lived on for 5 seconds after COMMAND.
 */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/ptrace.h>

#ifndef SYS_faccessat2
#define SYS_faccessat2 439 /* Linux 5.8 */
#endif
#ifndef SYS_process_mrelease
#define SYS_process_mrelease 448 /* Linux 5.15 */
#endif

#define MAX_PROCESSES 32
#define CALL(name, error)        \
    {                            \
        SYS_##name, #name, error \
    }

struct call {
    long number;
    const char *name;
    int error; /* 0: cannot fail, or its failure means nothing */
};

static const struct call calls[] = {
    CALL(read, EIO),
    CALL(write, ENOSPC),
    CALL(openat, EMFILE),
    CALL(close, 0),
    CALL(fstat, ENOMEM),
    CALL(newfstatat, ENOMEM),
    CALL(utimensat, ENOMEM),
    CALL(statx, ENOMEM),
    CALL(lseek, 0),
    CALL(mmap, ENOMEM),
    CALL(mprotect, ENOMEM),
    CALL(munmap, 0),
    CALL(brk, 0),
    CALL(rt_sigaction, 0),
    CALL(rt_sigprocmask, 0),
    CALL(ioctl, EIO),
    CALL(writev, 0),
    CALL(pipe2, EMFILE),
    CALL(dup3, EMFILE),
    CALL(dup, EMFILE),
    CALL(getpid, 0),
    CALL(gettid, 0),
    CALL(socket, EMFILE),
    CALL(socketpair, EMFILE),
    CALL(sendto, ENOBUFS),
    CALL(recvfrom, EIO),
    CALL(sendmsg, ENOBUFS),
    CALL(recvmsg, EIO),
    CALL(clone, EAGAIN),
    CALL(clone3, EAGAIN),
    CALL(execve, ENOMEM),
    CALL(execveat, ENOMEM),
    CALL(wait4, 0),
    CALL(waitid, 0),
    CALL(fcntl, EMFILE),
    CALL(flock, ENOLCK),
    CALL(ftruncate, ENOSPC),
    CALL(fchdir, EACCES),
    CALL(chdir, EACCES),
    CALL(mkdirat, ENOSPC),
    CALL(mknodat, ENOSPC),
    CALL(symlinkat, ENOSPC),
    CALL(unlinkat, 0),
    CALL(readlinkat, ENOMEM),
    CALL(faccessat, ENOMEM),
    CALL(faccessat2, ENOMEM),
    CALL(umask, 0),
    CALL(getuid, 0),
    CALL(geteuid, 0),
    CALL(getgid, 0),
    CALL(getegid, 0),
    CALL(getppid, 0),
    CALL(getpgid, 0),
    CALL(getsid, 0),
    CALL(setsid, EPERM),
    CALL(setpgid, EPERM),
    CALL(setgroups, EPERM),
    CALL(setresuid, EAGAIN),
    CALL(setresgid, EPERM),
    CALL(capget, EPERM),
    CALL(capset, EPERM),
    CALL(prctl, EPERM),
    CALL(setrlimit, EPERM),
    CALL(prlimit64, EINVAL),
    CALL(sethostname, EPERM),
    CALL(umount2, EBUSY),
    CALL(pivot_root, EBUSY),
    CALL(mount, ENOMEM),
    CALL(unshare, ENOSPC),
    CALL(setns, EPERM),
    CALL(keyctl, ENOMEM),
    CALL(seccomp, ENOMEM),
    CALL(futex, 0),
    CALL(set_tid_address, 0),
    CALL(exit, 0),
    CALL(exit_group, 0),
    CALL(kill, 0),
    CALL(signalfd4, EMFILE),
    CALL(epoll_create1, EMFILE),
    CALL(epoll_ctl, ENOMEM),
    CALL(epoll_pwait, 0),
    CALL(ppoll, 0),
    CALL(timerfd_create, EMFILE),
    CALL(timerfd_settime, 0),
    CALL(memfd_create, EMFILE),
    CALL(getrandom, 0),
    CALL(clock_gettime, 0),
    CALL(statfs, EIO),
    CALL(fstatfs, EIO),
    CALL(getdents64, EIO),
    CALL(inotify_init1, EMFILE),
    CALL(inotify_add_watch, ENOSPC),
    CALL(fchown, EPERM),
    CALL(fchmod, EPERM),
    CALL(uname, 0),
    CALL(open_tree, ENOMEM),
    CALL(move_mount, ENOMEM),
    CALL(fsopen, EMFILE),
    CALL(fsconfig, ENOMEM),
    CALL(fsmount, EMFILE),
    CALL(mount_setattr, EPERM),
    CALL(openat2, EMFILE),
    CALL(close_range, ENOMEM),
    CALL(pidfd_open, EMFILE),
    CALL(pidfd_send_signal, 0),
    CALL(pread64, EIO),
    CALL(pwrite64, ENOSPC),
    CALL(bind, EADDRINUSE),
    CALL(getcwd, ENOMEM),
    CALL(madvise, 0),
    CALL(process_vm_readv, EPERM),
    CALL(pidfd_getfd, EMFILE),
    CALL(getsockopt, ENOMEM),
    CALL(process_mrelease, 0),
    CALL(landlock_create_ruleset, EMFILE),
    CALL(landlock_add_rule, ENOMEM),
    CALL(landlock_restrict_self, E2BIG),
    CALL(sched_yield, 0),
    CALL(restart_syscall, 0),
    CALL(rt_sigreturn, 0),
#ifdef __x86_64__
    CALL(open, EMFILE),
    CALL(stat, ENOMEM),
    CALL(lstat, ENOMEM),
    CALL(poll, 0),
    CALL(readlink, ENOMEM),
    CALL(access, ENOMEM),
    CALL(mkdir, ENOSPC),
    CALL(rmdir, 0),
    CALL(unlink, 0),
    CALL(dup2, EMFILE),
    CALL(pipe, EMFILE),
    CALL(fork, EAGAIN),
    CALL(vfork, EAGAIN),
    CALL(arch_prctl, 0),
    CALL(epoll_wait, 0),
    CALL(getpgrp, 0),
    CALL(time, 0),
    CALL(chown, EPERM),
#endif
};

struct process {
    pid_t pid;
    char name[32]; /* empty until its maker has told of it; then it waits */
    int n_children;
    bool is_waiting;
    bool in_call;
    bool is_failing;
    unsigned counts[sizeof calls / sizeof *calls];
};

static struct process processes[MAX_PROCESSES];
static int n_processes;
static FILE *log_file;
static bool command_runs;

static unsigned fail_nth;
static char fail_who[32], fail_name[32];
static bool has_failed;
static int fail_error;

static struct process *find(pid_t pid)
{
    for (int i = 0; i < n_processes; i++)
        if (processes[i].pid == pid)
            return &processes[i];
    if (n_processes == MAX_PROCESSES) {
        fprintf(stderr, "failat: too many processes\n");
        exit(98);
    }
    processes[n_processes].pid = pid;
    return &processes[n_processes++];
}

/* The call is replaced by one that does not exist; at its end the result is replaced too. */
static void skip_call(pid_t pid)
{
#ifdef __x86_64__
    (void)ptrace(PTRACE_POKEUSER, pid, offsetof(struct user_regs_struct, orig_rax), -1L);
#else
    int none = -1;
    struct iovec io = { &none, sizeof none };

    (void)ptrace(PTRACE_SETREGSET, pid, NT_ARM_SYSTEM_CALL, &io);
#endif
}

static void set_result(pid_t pid, long result)
{
#ifdef __x86_64__
    (void)ptrace(PTRACE_POKEUSER, pid, offsetof(struct user_regs_struct, rax), result);
#else
    struct user_regs_struct regs;
    struct iovec io = { &regs, sizeof regs };

    (void)ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &io);
    regs.regs[0] = (unsigned long)result;
    (void)ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &io);
#endif
}

/* Which argument says what the call is about: a text, or a number. */
static const struct subject {
    const char *name;
    int argument;
    bool is_number;
} subjects[] = {
    { "openat", 1, false },     { "openat2", 1, false },   { "newfstatat", 1, false },
    { "mkdirat", 1, false },    { "mknodat", 1, false },   { "readlinkat", 1, false },
    { "open_tree", 1, false },  { "faccessat", 1, false }, { "symlinkat", 2, false },
    { "move_mount", 3, false }, { "fsopen", 0, false },    { "fsconfig", 2, false },
    { "chdir", 0, false },      { "open", 0, false },      { "stat", 0, false },
    { "lstat", 0, false },      { "readlink", 0, false },  { "access", 0, false },
    { "ioctl", 1, true },       { "prctl", 0, true },      { "prlimit64", 1, true },
};

static void write_subject(const struct process *process, const char *name, const __u64 *arguments)
{
    char text[128] = "";

    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        if (strcmp(subjects[i].name, name) != 0)
            continue;
        __u64 argument = arguments[subjects[i].argument];
        struct iovec here = { text, sizeof text - 1 };
        struct iovec there = { (void *)(uintptr_t)argument, sizeof text - 1 };
        size_t to_page_end = 4096 - argument % 4096; /* the next page may not be there */

        if (there.iov_len > to_page_end)
            there.iov_len = to_page_end;
        if (subjects[i].is_number)
            (void)snprintf(text, sizeof text, "%llx", (unsigned long long)argument);
        else if (process_vm_readv(process->pid, &here, 1, &there, 1, 0) < 0)
            text[0] = '\0';
    }
    for (char *p = text; *p; p++)
        if (*p <= ' ' || *p == 0x7f)
            *p = '?';
    fprintf(log_file, " %s\n", text);
}

static void on_entry(struct process *process, long number, const __u64 *arguments)
{
    const char *who = process->name;
    size_t i = 0;

    while (i < sizeof calls / sizeof *calls && calls[i].number != number)
        i++;
    if (i == sizeof calls / sizeof *calls) {
        fprintf(log_file, "%s:%ld:0 0 unknown\n", who, number);
        return;
    }
    unsigned nth = ++process->counts[i];
    if (calls[i].error) {
        fprintf(log_file, "%s:%s:%u %d %s", who, calls[i].name, nth, calls[i].error,
                command_runs ? "after" : "before");
        write_subject(process, calls[i].name, arguments);
    }
    if (strcmp(who, fail_who) == 0 && (nth == fail_nth || fail_nth == 0) &&
        strcmp(calls[i].name, fail_name) == 0) {
        has_failed = true;
        process->is_failing = true;
        fail_error = calls[i].error;
        skip_call(process->pid);
    }
}

static void on_syscall(struct process *process)
{
    struct ptrace_syscall_info info;

    /* By number: glibc and musl do not agree on the type of the first argument. */
    if (syscall(SYS_ptrace, PTRACE_GET_SYSCALL_INFO, process->pid, sizeof info, &info) <= 0)
        return;
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
        on_entry(process, (long)info.entry.nr, info.entry.args);
    else if (info.op == PTRACE_SYSCALL_INFO_EXIT && process->is_failing) {
        process->is_failing = false;
        set_result(process->pid, -fail_error);
    }
}

/* True when this is the box's command, which is none of our business any more. */
static bool is_command(struct process *process)
{
    char link[64], path[256];

    if (process == processes)
        return false;
    (void)snprintf(link, sizeof link, "/proc/%d/exe", (int)process->pid);
    ssize_t n = readlink(link, path, sizeof path - 1);
    path[n < 0 ? 0 : n] = '\0';
    return !strstr(path, "coop-init");
}

/* Nothing is asked any more, or not of this one: then it stops for births and programs only, which is faster. */
static bool is_of_interest(const struct process *process)
{
    return !fail_who[0] || (strcmp(process->name, fail_who) == 0 &&
                            (!has_failed || process->is_failing || !fail_nth));
}

static void resume(const struct process *process, int signal)
{
    (void)ptrace(is_of_interest(process) ? PTRACE_SYSCALL : PTRACE_CONT, process->pid, 0,
                 (long)signal);
}

static void on_birth(struct process *maker)
{
    unsigned long pid = 0;

    (void)ptrace(PTRACE_GETEVENTMSG, maker->pid, 0, &pid);
    struct process *process = find((pid_t)pid);
    (void)snprintf(process->name, sizeof process->name, "%.16s.%d", maker->name,
                   ++maker->n_children);
    if (process->is_waiting)
        resume(process, 0);
}

static void on_stop(pid_t pid, int status)
{
    struct process *process = find(pid);
    int number = WSTOPSIG(status);
    int event = status >> 16;

    if (!process->name[0]) { /* its first stop, seen before its maker's word for it */
        process->is_waiting = true;
        return;
    }
    if (event == PTRACE_EVENT_CLONE || event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK)
        on_birth(process);
    if (event == PTRACE_EVENT_EXEC && is_command(process)) {
        command_runs = true;
        (void)ptrace(PTRACE_DETACH, pid, 0, 0);
        return;
    }
    if (number == (SIGTRAP | 0x80))
        on_syscall(process);
    if (number == (SIGTRAP | 0x80) || event || number == SIGSTOP || number == SIGTRAP)
        number = 0;
    resume(process, number);
}

static pid_t start(char **argv)
{
    pid_t pid = fork();

    if (pid == 0) {
        (void)ptrace(PTRACE_TRACEME, 0, 0, 0);
        (void)raise(SIGSTOP);
        (void)execvp(argv[0], argv);
        perror(argv[0]);
        _exit(98);
    }
    int status;
    if (pid < 0 || waitpid(pid, &status, 0) < 0) {
        perror("failat");
        exit(98);
    }
    (void)ptrace(PTRACE_SETOPTIONS, pid, 0,
                 (long)(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                        PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL));
    struct process *process = find(pid);
    (void)strcpy(process->name, "1");
    resume(process, 0);
    return pid;
}

static int trace(pid_t first)
{
    time_t end = 0;
    int result = 98;

    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, __WALL | (end ? WNOHANG : 0));

        if (pid < 0 && errno == ECHILD)
            return result;
        if (pid == 0) {
            struct timespec wait = { 0, 1000000 };

            if (time(NULL) > end)
                return 99;
            (void)nanosleep(&wait, NULL);
        } else if (pid > 0 && WIFSTOPPED(status)) {
            on_stop(pid, status);
        } else if (pid == first) {
            result = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
            end = time(NULL) + 5;
        }
    }
}

int main(int argc, char **argv)
{
    int at = 2;

    if (argc > 4 && strcmp(argv[2], "-f") == 0) {
        if (sscanf(argv[3], "%31[^:]:%31[^:]:%u", fail_who, fail_name, &fail_nth) != 3)
            return 98;
        at = 4;
    }
    if (argc <= at || !(log_file = fopen(argv[1], "we"))) {
        fprintf(stderr, "usage: failat LOG [-f WHO:CALL:NTH] COMMAND [ARG...]\n");
        return 98;
    }
    pid_t pid = start(argv + at);
    int result = trace(pid);
    (void)fclose(log_file);
    if (fail_who[0]) { /* the log of a run with a failure: the process id, and what became of it */
        log_file = fopen(argv[1], "we");
        fprintf(log_file, "%d %s\n", (int)pid, command_runs ? "ran" : "never");
        (void)fclose(log_file);
    }
    return fail_who[0] && !has_failed ? 97 : result;
}
