/*
 * library_host_test.c - what libcoop leaves alone in the program that uses it
 *
 * Threads, memory, descriptors, children, signals: of all these the host program has its own, and
 * after any number of runs they are as they were.
 *
 * speed: slow
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "library.h"

static size_t count_entries(const char *path)
{
    DIR *dir = opendir(path);
    size_t n = 0;

    while (dir && readdir(dir))
        n++;
    if (dir)
        (void)closedir(dir);
    return n;
}

static bool has_no_child(void)
{
    return waitpid(-1, NULL, WNOHANG | __WALL) < 0 && errno == ECHILD;
}

/* Everything at once that a run can meet: success, failure, timeout, cancelling, refusals. */
static bool run_all_sorts(void)
{
    static const coop_run_options hurried = { .size = sizeof hurried, .timeout_ms = 20 };
    char absent[] = "no-such-command-anywhere";
    char *const run_absent[] = { absent, NULL };
    coop_sandbox *sandbox = new_sandbox();
    coop_result *result = run_text(sandbox, "echo hello; exit 1", NULL);
    bool ok = result && strcmp(out_of(result), "hello\n") == 0;
    coop_box *box = NULL;

    coop_result_free(result);
    result = run_text(sandbox, "sleep 1000", &hurried);
    ok = ok && result && coop_result_timed_out(result);
    coop_result_free(result);
    result = NULL;
    ok = ok && coop_run(sandbox, run_absent, NULL, &result, NULL) == -ENOENT;
    ok = ok && coop_start(sandbox, shell("sleep 1000"), NULL, &box, NULL) == 0;
    ok = ok && coop_kill(box) == 0 && coop_wait(box, &result, NULL) == 0;
    coop_result_free(result);
    coop_sandbox_free(sandbox);
    return ok;
}

TEST(no_descriptor_is_left_after_200_runs)
{
    CHECK(run_all_sorts()); /* libc may open something of its own the first time */
    size_t before = count_entries("/proc/self/fd");

    for (int i = 0; i < 50; i++)
        CHECK(run_all_sorts());
    CHECK(count_entries("/proc/self/fd") == before);
}

TEST(no_child_and_no_thread_is_left)
{
    size_t before = count_entries("/proc/self/task");

    CHECK(run_all_sorts());
    CHECK(has_no_child());
    CHECK(count_entries("/proc/self/task") == before);
}

TEST(a_plan_that_fails_leaves_nothing)
{
    coop_policy *policy = new_policy();
    coop_sandbox *sandbox = NULL;
    coop_result *result = NULL;

    CHECK(coop_policy_set_workspace(policy, "/no/such/place", NULL) == 0);
    CHECK(coop_sandbox_new(policy, &sandbox, NULL) == 0);
    CHECK(coop_run(sandbox, shell(":"), NULL, &result, NULL) == -ENOENT);
    size_t before = count_entries("/proc/self/fd");
    for (int i = 0; i < 20; i++)
        CHECK(coop_run(sandbox, shell(":"), NULL, &result, NULL) == -ENOENT);
    CHECK(count_entries("/proc/self/fd") == before);
    CHECK(has_no_child());
    CHECK(prctl(PR_GET_DUMPABLE) == 1);
    coop_sandbox_free(sandbox);
    coop_policy_free(policy);
}

TEST(children_of_the_host_are_not_reaped)
{
    pid_t pid = fork();
    siginfo_t info = { 0 };
    int status = 0;

    CHECK(pid >= 0);
    if (pid == 0)
        _exit(5);
    /* Dead already, and still there for its parent. */
    CHECK(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0);
    CHECK(run_all_sorts());
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5);
    CHECK(has_no_child());
}

/* What many programs do: take whatever has ended. It may be a box's first process. */
static void reap_all(int number)
{
    int saved = errno;

    (void)number;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
    errno = saved;
}

/* The exit code of `exit 9`, run with this disposition of SIGCHLD; -1 when it was not told. */
static int exit_code_under(void (*handler)(int), coop_mode mode)
{
    struct sigaction old;
    const struct sigaction ours = { .sa_handler = handler, .sa_flags = SA_RESTART };
    coop_policy *policy = new_policy();
    coop_sandbox *sandbox = NULL;
    coop_result *result = NULL;
    int code = -1;

    (void)coop_policy_set_mode(policy, mode, NULL);
    (void)coop_sandbox_new(policy, &sandbox, NULL);
    (void)sigaction(SIGCHLD, &ours, &old);
    if (coop_run(sandbox, shell("exit 9"), NULL, &result, NULL) == 0)
        code = coop_result_exit_code(result);
    (void)sigaction(SIGCHLD, &old, NULL);
    coop_result_free(result);
    coop_sandbox_free(sandbox);
    coop_policy_free(policy);
    return code;
}

TEST(works_in_a_host_that_ignores_its_children)
{
    NEED_NAMESPACES();
    for (int i = 0; i < 10; i++)
        CHECK(exit_code_under(SIG_IGN, COOP_MODE_PREFERRED) == 9);
}

TEST(works_in_a_host_that_reaps_whatever_it_finds)
{
    NEED_NAMESPACES();
    for (int i = 0; i < 10; i++)
        CHECK(exit_code_under(reap_all, COOP_MODE_PREFERRED) == 9);
}

/* Without a box there is nobody who could still know; a wrong answer would be worse than none. */
TEST(a_status_that_the_host_took_is_not_made_up)
{
    int code = exit_code_under(SIG_IGN, COOP_MODE_DISABLED);

    CHECK(code == 9 || code == -1);
}

struct signal_state {
    struct sigaction actions[65];
    sigset_t mask;
};

static void read_signal_state(struct signal_state *state)
{
    memset(state, 0, sizeof *state);
    for (int i = 1; i < 65; i++)
        (void)sigaction(i, NULL, &state->actions[i]);
    (void)pthread_sigmask(SIG_SETMASK, NULL, &state->mask);
}

TEST(signal_mask_and_handlers_stay_as_they_were)
{
    static struct signal_state before;
    static struct signal_state after;
    const struct sigaction ours = { .sa_handler = reap_all, .sa_flags = SA_RESTART };
    const struct sigaction by_default = { .sa_handler = SIG_DFL };
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGUSR2);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    CHECK(sigaction(SIGUSR1, &ours, NULL) == 0);
    read_signal_state(&before);
    bool ok = run_all_sorts();
    read_signal_state(&after);
    CHECK(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
    CHECK(sigaction(SIGUSR1, &by_default, NULL) == 0);
    CHECK(ok);
    for (int i = 1; i < 65; i++) {
        CHECK(before.actions[i].sa_handler == after.actions[i].sa_handler);
        CHECK(before.actions[i].sa_flags == after.actions[i].sa_flags);
        CHECK(sigismember(&before.mask, i) == sigismember(&after.mask, i));
    }
}

/* Nothing of the host's signals is handed down: a command begins as a shell would start it. */
TEST(a_command_starts_with_default_signals)
{
    struct sigaction old;
    const struct sigaction ignore = { .sa_handler = SIG_IGN };
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    CHECK(sigaction(SIGHUP, &ignore, &old) == 0);
    coop_sandbox *sandbox = new_sandbox();
    coop_result *result =
        run_text(sandbox, "grep -E '^Sig(Blk|Ign):' /proc/self/status | cut -f2", NULL);
    CHECK(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
    CHECK(sigaction(SIGHUP, &old, NULL) == 0);
    CHECK(result);
    CHECK_STR(out_of(result), "0000000000000000\n0000000000000000\n");
    coop_result_free(result);
    coop_sandbox_free(sandbox);
}

/* SIGPIPE is at its default in the child that calls this: an unlucky write would end it. */
static int exit_code_without_reader(bool is_closed_before_the_first_write)
{
    static const char input[1 << 20];
    coop_sandbox *sandbox = new_sandbox();
    coop_box *box = NULL;
    coop_result *result = NULL;
    int pipe_fds[2];
    char byte;

    if (pipe2(pipe_fds, O_CLOEXEC) < 0 || dup3(pipe_fds[1], 9, O_CLOEXEC) != 9)
        return 99;
    const int kept = 9;
    const coop_run_options options = { .size = sizeof options,
                                       .input = input,
                                       .input_length = sizeof input,
                                       .keep_fds = &kept,
                                       .n_keep_fds = 1 };
    if (coop_start(sandbox, shell("exec <&-; echo >&9; sleep 0.2; exit 3"), &options, &box, NULL) <
        0)
        return 98;
    /* Nothing is written before the first step. */
    if (is_closed_before_the_first_write && read(pipe_fds[0], &byte, 1) != 1)
        return 97;
    return coop_wait(box, &result, NULL) < 0 ? 96 : coop_result_exit_code(result);
}

TEST(input_that_nobody_reads_does_not_hurt_the_host)
{
    for (int i = 0; i < 2; i++) {
        int status = 0;

        (void)workspace(); /* the parent's to remove */
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0)
            _exit(exit_code_without_reader(i == 1));
        CHECK(waitpid(pid, &status, 0) == pid);
        CHECK(WIFEXITED(status));
        CHECK(WEXITSTATUS(status) == 3);
    }
}

TEST(directory_umask_and_dumpability_stay_as_they_were)
{
    char before[PATH_MAX];
    char after[PATH_MAX];
    int dumpable = prctl(PR_GET_DUMPABLE);
    mode_t old = umask(027);

    CHECK(getcwd(before, sizeof before));
    bool ok = run_all_sorts();
    mode_t mode = umask(old);
    CHECK(ok);
    CHECK(getcwd(after, sizeof after));
    CHECK_STR(after, before);
    CHECK(mode == 027);
    CHECK(prctl(PR_GET_DUMPABLE) == dumpable);
}

static atomic_bool is_done;

static void *guard_errno(void *argument)
{
    (void)argument;
    errno = 4242;
    while (!atomic_load(&is_done)) {
        if (errno != 4242)
            return argument;
        (void)sched_yield();
    }
    return NULL;
}

TEST(errno_of_other_threads_is_theirs)
{
    static char changed;
    void *outcome = NULL;
    pthread_t thread;

    atomic_store(&is_done, false);
    CHECK(pthread_create(&thread, NULL, guard_errno, &changed) == 0);
    bool ok = true;
    for (int i = 0; ok && i < 10; i++)
        ok = run_all_sorts();
    atomic_store(&is_done, true);
    CHECK(pthread_join(thread, &outcome) == 0);
    CHECK(ok);
    CHECK(!outcome);
}

TEST(an_error_and_the_returned_number_agree)
{
    char absent[] = "no-such-command-anywhere";
    char *const argv[] = { absent, NULL };
    coop_sandbox *sandbox = new_sandbox();
    coop_result *result = NULL;
    coop_error *err = NULL;

    errno = 0;
    int r = coop_run(sandbox, argv, NULL, &result, &err);
    CHECK(r < 0 && r == -coop_error_errno(err));
    errno = 4242; /* the failure that a caller reports is often in errno while it cleans up */
    coop_error_free(err);
    coop_sandbox_free(sandbox);
    coop_result_free(NULL);
    CHECK(errno == 4242);
}

/* Runs `test` in a process of its own; 0 when it returned true. */
static int in_child(bool (*test)(void))
{
    int status = 0;

    (void)fflush(stdout);
    (void)workspace(); /* the parent's to remove */
    pid_t pid = fork();
    if (pid == 0)
        _exit(test() ? 0 : 1);
    return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

/* Several times: what a sandbox keeps between runs must not take the free numbers either. */
static bool run_without_stdio(void)
{
    coop_sandbox *sandbox = new_sandbox();
    bool ok = true;

    for (int i = 0; i < 3; i++)
        (void)close(i);
    for (int i = 0; i < 3; i++) {
        coop_result *result = NULL;

        ok = ok &&
             coop_run(sandbox, shell("cat; echo out; echo err >&2"), NULL, &result, NULL) == 0 &&
             strcmp(out_of(result), "out\n") == 0 &&
             strcmp(coop_result_output(result, COOP_STREAM_STDERR, NULL), "err\n") == 0;
        coop_result_free(result);
    }
    coop_sandbox_free(sandbox);
    for (int i = 0; i < 3; i++)
        ok = ok && fcntl(i, F_GETFD) < 0; /* closed still */
    return ok;
}

TEST(works_in_a_host_with_closed_standard_descriptors)
{
    CHECK(in_child(run_without_stdio) == 0);
}

static bool run_without_stdin(void)
{
    coop_sandbox *sandbox = new_sandbox();

    (void)close(0);
    coop_result *result = run_text(sandbox, "cat; echo out", NULL);
    bool ok = result && strcmp(out_of(result), "out\n") == 0 && fcntl(0, F_GETFD) < 0;
    coop_result_free(result);
    coop_sandbox_free(sandbox);
    return ok;
}

TEST(works_in_a_host_with_closed_standard_input)
{
    CHECK(in_child(run_without_stdin) == 0);
}

/* With few descriptors a run fails or succeeds, but never leaves any behind. */
static bool run_short_of_descriptors(void)
{
    size_t before = count_entries("/proc/self/fd");
    struct rlimit limit;
    bool has_failed = false;
    bool has_run = false;

    (void)getrlimit(RLIMIT_NOFILE, &limit);
    for (rlim_t n = (rlim_t)before; n < (rlim_t)before + 60; n++) {
        coop_sandbox *sandbox = NULL;
        coop_result *result = NULL;
        coop_error *err = NULL;
        coop_policy *policy = new_policy();

        limit.rlim_cur = n;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
        int r = coop_sandbox_new(policy, &sandbox, &err);
        if (r == 0)
            r = coop_run(sandbox, shell("exit 2"), NULL, &result, &err);
        limit.rlim_cur = 1024;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
        bool is_understood = r == 0 ? coop_result_exit_code(result) == 2
                                    : r == -EMFILE && coop_error_errno(err) == EMFILE;
        if (!is_understood)
            printf("# with %d descriptors: %d, %s\n", (int)n, r, coop_error_message(err));
        has_failed |= r < 0;
        has_run |= r == 0;
        coop_error_free(err);
        coop_result_free(result);
        coop_sandbox_free(sandbox);
        coop_policy_free(policy);
        if (!is_understood || count_entries("/proc/self/fd") != before || !has_no_child())
            return false;
    }
    return has_failed && has_run;
}

TEST(running_out_of_descriptors_is_an_error_that_leaves_nothing)
{
    CHECK(in_child(run_short_of_descriptors) == 0);
}

#if defined(__x86_64__)
#define AUDIT_ARCH_HERE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define AUDIT_ARCH_HERE AUDIT_ARCH_AARCH64
#endif

/* From here on new user namespaces are refused, as in many a container. */
static bool refuse_user_namespaces(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_HERE, 0, 7),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 6, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x10000000 /* CLONE_NEWUSER */, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
    };
    struct sock_fprog program = { COUNT(code), code };

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static bool refuses_where_the_walls_cannot_stand(void)
{
    coop_policy *policy = new_policy();
    coop_sandbox *sandbox = NULL;
    coop_result *result = NULL;
    coop_error *err = NULL;

    if (!refuse_user_namespaces())
        return false;
    (void)coop_policy_set_mode(policy, COOP_MODE_REQUIRED, NULL);
    (void)coop_sandbox_new(policy, &sandbox, NULL);
    int r = coop_run(sandbox, shell("touch ran"), NULL, &result, &err);
    bool ok = r < 0 && !result && coop_error_get_kind(err) == COOP_ERROR_NOT_AVAILABLE &&
              coop_error_hint(err);
    if (!ok)
        printf("# %d, kind %s: %s\n", r, coop_error_kind_name(coop_error_get_kind(err)),
               coop_error_message(err));
    return ok;
}

TEST(not_available_is_told_by_its_kind)
{
    CHECK(in_child(refuses_where_the_walls_cannot_stand) == 0);
}

static bool prefers_what_there_is(void)
{
    coop_sandbox *sandbox = new_sandbox();

    if (!refuse_user_namespaces())
        return false;
    coop_result *result = run_text(sandbox, "exit 8", NULL);
    return result && coop_result_exit_code(result) == 8 &&
           coop_result_tier(result) < COOP_TIER_NAMESPACES;
}

TEST(preferred_runs_at_a_lower_tier_and_says_which)
{
    CHECK(in_child(prefers_what_there_is) == 0);
}

#define N_THREADS 16
#define GIB       ((size_t)1 << 30)

struct worker {
    pthread_t thread;
    pthread_barrier_t *start;
    int number;
    bool ok;
};

/* No CHECK here: it may jump only within the thread that runs the tests. */
static void *work(void *argument)
{
    struct worker *worker = argument;
    char text[128];
    char expected[64];

    coop_sandbox *sandbox = new_sandbox();
    (void)snprintf(text, sizeof text, "echo %d; cat; exit %d", worker->number, worker->number);
    (void)snprintf(expected, sizeof expected, "%d\ninput of %d", worker->number, worker->number);
    const coop_run_options options = { .size = sizeof options,
                                       .input = strchr(expected, '\n') + 1,
                                       .input_length = strlen(strchr(expected, '\n') + 1) };
    (void)pthread_barrier_wait(worker->start);
    worker->ok = true;
    for (int i = 0; i < 10; i++) {
        coop_result *result = run_text(sandbox, text, &options);

        worker->ok = worker->ok && result && coop_result_exit_code(result) == worker->number &&
                     strcmp(out_of(result), expected) == 0;
        coop_result_free(result);
    }
    coop_sandbox_free(sandbox);
    return NULL;
}

static bool is_untouched(const unsigned char *memory)
{
    for (size_t i = 0; i < GIB; i += 4096)
        if (memory[i] != (unsigned char)(i >> 12))
            return false;
    return true;
}

TEST(sixteen_threads_run_boxes_at_once_in_a_process_of_1_gib)
{
    size_t fds_before = count_entries("/proc/self/fd");
    struct worker workers[N_THREADS] = { 0 };
    pthread_attr_t small_stack;
    pthread_barrier_t start;
    unsigned char *memory =
        mmap(NULL, GIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(memory != MAP_FAILED);
    for (size_t i = 0; i < GIB; i += 4096)
        memory[i] = (unsigned char)(i >> 12);
    CHECK(pthread_barrier_init(&start, NULL, N_THREADS) == 0);
    CHECK(pthread_attr_init(&small_stack) == 0);
#ifndef __SANITIZE_ADDRESS__
    CHECK(pthread_attr_setstacksize(&small_stack, 128 * 1024) == 0); /* what musl gives a thread */
#endif
    for (int i = 0; i < N_THREADS; i++) {
        workers[i].number = i + 1;
        workers[i].start = &start;
        CHECK(pthread_create(&workers[i].thread, &small_stack, work, &workers[i]) == 0);
    }
    for (int i = 0; i < N_THREADS; i++)
        CHECK(pthread_join(workers[i].thread, NULL) == 0);
    for (int i = 0; i < N_THREADS; i++)
        CHECK(workers[i].ok);
    CHECK(is_untouched(memory));
    CHECK(has_no_child());
    CHECK(count_entries("/proc/self/fd") == fds_before);
    (void)pthread_attr_destroy(&small_stack);
    (void)pthread_barrier_destroy(&start);
    (void)munmap(memory, GIB);
}

static void *run_and_leave(void *argument)
{
    coop_box **box = argument;
    coop_sandbox *sandbox = new_sandbox();

    (void)coop_start(sandbox, shell("sleep 0.2; exit 4"), NULL, box, NULL);
    return sandbox;
}

/* A parent-death signal would go off when the thread ends that made the box. */
TEST(a_box_outlives_the_thread_that_started_it)
{
    coop_box *box = NULL;
    coop_result *result = NULL;
    void *sandbox = NULL;
    pthread_t thread;

    NEED_NAMESPACES();
    CHECK(pthread_create(&thread, NULL, run_and_leave, &box) == 0);
    CHECK(pthread_join(thread, &sandbox) == 0);
    CHECK(box);
    CHECK(coop_wait(box, &result, NULL) == 0);
    CHECK(coop_result_exit_code(result) == 4);
    coop_result_free(result);
    coop_sandbox_free(sandbox);
}
