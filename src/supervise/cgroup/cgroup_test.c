/* builds: clang asan asan-root */
#include "cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "launch/init_image.h"
#include "test/check.h"

#define MIB       (1024 * 1024ull)
#define NOBODY    65534
#define TRIES     5000 /* of 1 ms each */
#define N_THREADS 8

static int image_fd = -1;

/* A policy with these limits only. */
static coop_policy policy_with(uint64_t memory, uint64_t pids, uint64_t cpus)
{
    coop_policy policy = { 0 };

    for (int i = 0; i < COOP_LIMIT_COUNT; i++)
        policy.limits[i] = COOP_LIMIT_NONE;
    policy.limits[COOP_LIMIT_MEMORY] = memory;
    policy.limits[COOP_LIMIT_PIDS] = pids;
    policy.limits[COOP_LIMIT_CPUS] = cpus;
    return policy;
}

static int make(struct cgroup *cgroup, uint64_t memory, uint64_t pids, uint64_t cpus)
{
    coop_policy policy = policy_with(memory, pids, cpus);

    cgroup_find(cgroup);
    return cgroup_make(cgroup, &policy, image_fd, NULL);
}

/* Every test that makes groups begins here. */
#define NEED_CGROUPS()                                \
    do {                                              \
        struct cgroup found;                          \
        cgroup_find(&found);                          \
        bool is_found = found.version != CGROUP_NONE; \
        cgroup_remove(&found);                        \
        if (!is_found)                                \
            SKIP("no cgroup may be written here");    \
        if (image_fd < 0)                             \
            image_fd = init_image_open(NULL);         \
        CHECK(image_fd >= 0);                         \
    } while (0)

static void nap(void)
{
    (void)poll(NULL, 0, 1);
}

static bool join(const struct cgroup *cgroup)
{
    for (int i = 0; i < CGROUP_CONTROLLERS; i++)
        if (cgroup->procs_fds[i] >= 0 && write(cgroup->procs_fds[i], "0", 1) != 1)
            return false;
    return true;
}

/* Returns when the new process has joined, or could not. */
static pid_t start(const struct cgroup *cgroup, int (*work)(void))
{
    char byte;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        if (!join(cgroup))
            _exit(99);
        (void)close(ends[0]);
        (void)close(ends[1]);
        _exit(work());
    }
    (void)close(ends[1]);
    (void)!read(ends[0], &byte, 1); /* end of file */
    (void)close(ends[0]);
    return pid;
}

static int status_of(pid_t pid)
{
    int status = -1;

    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

static bool was_killed(int status)
{
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

/* Whether one of the directories that groups are made in has an entry that begins like this. */
static bool is_there(const char *prefix)
{
    struct cgroup cgroup;
    bool found = false;

    cgroup_find(&cgroup);
    for (int i = 0; i < CGROUP_CONTROLLERS; i++) {
        if (cgroup.parent_fds[i] < 0)
            continue;
        DIR *dir = fdopendir(openat(cgroup.parent_fds[i], ".", O_RDONLY | O_DIRECTORY));
        for (struct dirent *entry; dir && (entry = readdir(dir));)
            found |= strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
        if (dir)
            (void)closedir(dir);
    }
    cgroup_remove(&cgroup);
    return found;
}

static bool is_gone_soon(const char *prefix)
{
    for (int i = 0; i < TRIES; i++) {
        if (!is_there(prefix))
            return true;
        nap();
    }
    return false;
}

static bool file_is(int dir_fd, const char *name, const char *expected)
{
    char text[128] = "";
    auto_close int fd = openat(dir_fd, name, O_RDONLY);
    bool is_equal = fd >= 0 && read(fd, text, sizeof text - 1) >= 0 && strcmp(text, expected) == 0;

    if (!is_equal)
        printf("# %s: '%s'\n", name, text);
    return is_equal;
}

static int count_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int n = 0;

    while (dir && readdir(dir))
        n++;
    if (dir)
        (void)closedir(dir);
    return n;
}

static int wait_forever(void)
{
    (void)signal(SIGTERM, SIG_IGN);
    (void)setsid();
    while (pause() < 0)
        ;
    return 0;
}

static int touch(volatile char *memory, size_t size)
{
    if (memory == MAP_FAILED)
        return 98;
    for (size_t i = 0; i < size; i += 4096)
        memory[i] = 1;
    return 0;
}

static int use_memory(void)
{
    return touch(mmap(NULL, 128 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                 128 * MIB);
}

static int use_memory_file(void)
{
    int fd = memfd_create("test", 0);

    if (ftruncate(fd, 128 * MIB) < 0)
        return 97;
    return touch(mmap(NULL, 128 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), 128 * MIB);
}

static int use_sysv_memory(void)
{
    int id = shmget(IPC_PRIVATE, 128 * MIB, IPC_CREAT | 0600);
    void *memory = id < 0 ? MAP_FAILED : shmat(id, NULL, 0);

    (void)shmctl(id, IPC_RMID, NULL); /* gone with its last user */
    return touch(memory, 128 * MIB);
}

/* None has too much, all together have. Those that could keep theirs until the end say so. */
static int use_memory_in_eight(void)
{
    int said[2];
    int end[2];
    char byte = 0;
    int n_kept = 0;

    if (pipe(said) < 0 || pipe(end) < 0)
        return 97;
    for (int i = 0; i < 8; i++) {
        if (fork() != 0)
            continue;
        (void)close(end[1]);
        (void)touch(
            mmap(NULL, 16 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            16 * MIB);
        (void)!write(said[1], &byte, 1);
        (void)close(said[1]);
        (void)!read(end[0], &byte, 1);
        _exit(0);
    }
    (void)close(said[1]);
    while (read(said[0], &byte, 1) == 1)
        n_kept++;
    return n_kept < 8 ? 0 : 96;
}

static int use_pids(void)
{
    for (int i = 0; i < 20; i++) {
        pid_t pid = fork();

        if (pid == 0)
            wait_forever();
        if (pid < 0)
            return errno == EAGAIN ? i : 98;
    }
    return 97;
}

static int use_cpu(void)
{
    for (volatile unsigned long i = 1; i; i++)
        ;
    return 0;
}

TEST(finds_nothing_for_a_user_without_rights)
{
    struct cgroup cgroup;

    if (geteuid() != 0)
        SKIP("needs root to become somebody without rights");
    pid_t pid = fork();
    if (pid == 0) {
        if (setgroups(0, NULL) < 0 || setgid(NOBODY) < 0 || setuid(NOBODY) < 0)
            _exit(2);
        int before = count_descriptors();
        cgroup_find(&cgroup);
        _exit(cgroup.version != CGROUP_NONE || cgroup_kind(&cgroup) || cgroup.has[0] ||
              count_descriptors() != before);
    }
    int status = status_of(pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
        SKIP_NEVER("root of this user namespace can become nobody else");
    CHECK(status == 0);
}

TEST(does_nothing_where_nothing_was_found)
{
    struct cgroup cgroup;
    struct cgroup_usage usage = { .oom_kills = 7 };
    coop_policy policy = policy_with(MIB, 1, 1);

    cgroup_find(&cgroup);
    cgroup_remove(&cgroup); /* as found and not used */
    CHECK(cgroup.version == CGROUP_NONE);
    CHECK(cgroup_make(&cgroup, &policy, -1, NULL) == 0);
    CHECK(!cgroup.is_made && cgroup.janitor == 0);
    cgroup_read(&cgroup, &usage);
    CHECK(usage.oom_kills == 0);
}

static void check_memory_limit(int (*work)(void))
{
    struct cgroup cgroup;
    struct cgroup_usage usage;

    CHECK(make(&cgroup, 32 * MIB, COOP_LIMIT_NONE, COOP_LIMIT_NONE) == 0);
    CHECK(cgroup.is_made && cgroup.has[CGROUP_MEMORY]);
    pid_t pid = start(&cgroup, work);
    int status = status_of(pid);
    cgroup_read(&cgroup, &usage);
    cgroup_remove(&cgroup);
    printf("# status %x, %llu killed, peak %llu\n", (unsigned)status,
           (unsigned long long)usage.oom_kills, (unsigned long long)usage.peak_memory);
    CHECK(was_killed(status) || (work == use_memory_in_eight && status == 0));
    CHECK(usage.oom_kills > 0);
    CHECK(usage.peak_memory == 0 ||
          (usage.peak_memory > 16 * MIB && usage.peak_memory <= 32 * MIB));
}

TEST(memory_of_one_process_is_limited)
{
    NEED_CGROUPS();
    check_memory_limit(use_memory);
}

TEST(memory_files_are_limited)
{
    NEED_CGROUPS();
    check_memory_limit(use_memory_file);
}

TEST(sysv_memory_is_limited)
{
    NEED_CGROUPS();
    check_memory_limit(use_sysv_memory);
}

TEST(memory_of_many_processes_is_limited_together)
{
    NEED_CGROUPS();
    check_memory_limit(use_memory_in_eight);
}

TEST(memory_under_the_limit_is_measured)
{
    struct cgroup cgroup;
    struct cgroup_usage usage;

    NEED_CGROUPS();
    CHECK(make(&cgroup, 512 * MIB, COOP_LIMIT_NONE, COOP_LIMIT_NONE) == 0);
    int status = status_of(start(&cgroup, use_memory));
    bool is_measured =
        faccessat(cgroup.fds[0], "memory.peak", R_OK, 0) == 0 || cgroup.version == CGROUP_V1;
    cgroup_read(&cgroup, &usage);
    cgroup_remove(&cgroup);
    CHECK(status == 0);
    CHECK(usage.oom_kills == 0 && usage.pids_refused == 0);
    CHECK(is_measured ? usage.peak_memory > 128 * MIB && usage.peak_memory < 256 * MIB
                      : usage.peak_memory == 0);
}

TEST(processes_are_limited)
{
    struct cgroup cgroup;
    struct cgroup_usage usage;

    NEED_CGROUPS();
    CHECK(make(&cgroup, COOP_LIMIT_NONE, 8, COOP_LIMIT_NONE) == 0);
    CHECK(cgroup.is_made && cgroup.has[CGROUP_PIDS]);
    int status = status_of(start(&cgroup, use_pids));
    cgroup_read(&cgroup, &usage);
    cgroup_remove(&cgroup);                               /* kills the eight */
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 8); /* and init, here the first */
    CHECK(usage.pids_refused == 1 && usage.oom_kills == 0);
}

TEST(cpus_are_set_in_thousandths)
{
    static const struct {
        uint64_t cpus;
        const char *quota, *period, *both;
    } cases[] = {
        { 1500, "150000\n", "100000\n", "150000 100000\n" },
        { 10, "1000\n", "100000\n", "1000 100000\n" },
        { 5, "5000\n", "1000000\n", "5000 1000000\n" },
        { 0, "1000\n", "1000000\n", "1000 1000000\n" },
        { UINT64_MAX - 1, "819200000\n", "100000\n", "819200000 100000\n" },
    };
    struct cgroup cgroup;

    NEED_CGROUPS();
    for (size_t i = 0; i < COUNT(cases); i++) {
        CHECK(make(&cgroup, COOP_LIMIT_NONE, COOP_LIMIT_NONE, cases[i].cpus) == 0);
        CHECK(cgroup.has[CGROUP_CPU]);
        if (cgroup.version == CGROUP_V2) {
            CHECK(file_is(cgroup.fds[0], "cpu.max", cases[i].both));
        } else {
            CHECK(file_is(cgroup.fds[CGROUP_CPU], "cpu.cfs_quota_us", cases[i].quota));
            CHECK(file_is(cgroup.fds[CGROUP_CPU], "cpu.cfs_period_us", cases[i].period));
        }
        cgroup_remove(&cgroup);
    }
}

static bool is_throttled(const struct cgroup *cgroup)
{
    char text[1024] = "";
    int dir_fd = cgroup->fds[cgroup->version == CGROUP_V2 ? 0 : CGROUP_CPU];
    auto_close int fd = openat(dir_fd, "cpu.stat", O_RDONLY);

    if (fd < 0 || read(fd, text, sizeof text - 1) <= 0)
        return false;
    const char *at = strstr(text, "nr_throttled ");
    return at && strtoul(at + strlen("nr_throttled "), NULL, 10) > 0;
}

TEST(cpus_are_limited)
{
    struct cgroup cgroup;
    bool seen = false;

    NEED_CGROUPS();
    CHECK(make(&cgroup, COOP_LIMIT_NONE, COOP_LIMIT_NONE, 50) == 0);
    pid_t pid = start(&cgroup, use_cpu);
    for (int i = 0; i < TRIES && !seen; i++) {
        seen = is_throttled(&cgroup);
        nap();
    }
    cgroup_remove(&cgroup);
    CHECK(was_killed(status_of(pid)));
    CHECK(seen);
}

TEST(removal_kills_what_is_left_and_leaves_nothing)
{
    struct cgroup cgroup;
    char name[sizeof cgroup.name];
    pid_t pids[3];

    NEED_CGROUPS();
    int before = count_descriptors();
    CHECK(make(&cgroup, 64 * MIB, 16, 1000) == 0);
    (void)memcpy(name, cgroup.name, sizeof name);
    pid_t janitor = cgroup.janitor;
    for (size_t i = 0; i < COUNT(pids); i++)
        pids[i] = start(&cgroup, wait_forever);
    CHECK(is_there(name));
    CHECK(kill(janitor, 0) == 0);
    cgroup_remove(&cgroup);
    for (size_t i = 0; i < COUNT(pids); i++)
        CHECK(was_killed(status_of(pids[i])));
    CHECK(!is_there(name));
    CHECK(kill(janitor, 0) < 0 && errno == ESRCH);
    CHECK(cgroup.version == CGROUP_NONE && !cgroup.is_made);
    CHECK(count_descriptors() == before);
}

TEST(another_user_can_join_through_our_descriptor)
{
    struct cgroup cgroup;

    NEED_CGROUPS();
    if (geteuid() != 0)
        SKIP("needs root to become another user");
    CHECK(make(&cgroup, 64 * MIB, 16, 1000) == 0);
    pid_t pid = fork();
    if (pid == 0)
        _exit(setgid(NOBODY) < 0 || setuid(NOBODY) < 0 || !join(&cgroup));
    int status = status_of(pid);
    cgroup_remove(&cgroup);
    CHECK(status == 0);
}

/* We are woken a moment before exec is complete: its first act tells that it is. */
static bool has_begun(pid_t janitor)
{
    char path[64];
    char name[32];

    (void)snprintf(path, sizeof path, "/proc/%d/comm", (int)janitor);
    for (int i = 0; i < TRIES; i++) {
        auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, name, sizeof name - 1);

        if (n > 0 && strncmp(name, "coop-janitor\n", (size_t)n) == 0)
            return true;
        nap();
    }
    return false;
}

static int count_janitor_descriptors(pid_t janitor)
{
    char path[64];
    int n = 0;

    (void)snprintf(path, sizeof path, "/proc/%d/fd", (int)janitor);
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        int fd = atoi(entry->d_name);

        if (entry->d_name[0] == '.')
            continue;
        n += fd >= 3 && fd <= 7 ? 1 : 100;
    }
    if (dir)
        (void)closedir(dir);
    return n;
}

TEST(the_janitor_has_nothing_of_ours)
{
    struct cgroup cgroup;
    char path[64];
    auto_close int leak = dup(0); /* open over exec */
    int n = 0;

    NEED_CGROUPS();
    CHECK(leak >= 0);
    CHECK(setenv("COOP_TEST_SECRET", "1", 1) == 0);
    CHECK(make(&cgroup, 64 * MIB, 16, 1000) == 0);
    for (int i = 0; i < CGROUP_CONTROLLERS; i++)
        n += cgroup.parent_fds[i] >= 0;
    CHECK(has_begun(cgroup.janitor));
    CHECK(getsid(cgroup.janitor) == cgroup.janitor);
    CHECK(kill(cgroup.janitor, SIGTERM) == 0 && kill(cgroup.janitor, SIGHUP) == 0);
    if (geteuid() == 0) { /* nobody else may look */
        (void)snprintf(path, sizeof path, "/proc/%d/environ", (int)cgroup.janitor);
        CHECK(file_is(AT_FDCWD, path, ""));
        CHECK(count_janitor_descriptors(cgroup.janitor) == 2 + n);
    }
    CHECK(waitpid(cgroup.janitor, NULL, WNOHANG) == 0); /* the signals did nothing */
    cgroup_remove(&cgroup);
}

TEST(removal_works_without_the_janitor)
{
    struct cgroup cgroup;
    char name[sizeof cgroup.name];

    NEED_CGROUPS();
    CHECK(make(&cgroup, 64 * MIB, 16, 1000) == 0);
    (void)memcpy(name, cgroup.name, sizeof name);
    CHECK(kill(cgroup.janitor, SIGKILL) == 0);
    CHECK(was_killed(status_of(cgroup.janitor))); /* as a program does that waits for any child */
    cgroup_remove(&cgroup);
    CHECK(!is_there(name));
}

struct supervisor {
    pid_t pid, inside, copy, janitor;
    char name[48];
};

/* A process of its own that makes a group, puts a process into it, and waits to be killed. */
static struct supervisor start_supervisor(bool has_copy)
{
    struct supervisor supervisor = { 0 };
    int ends[2];

    if (pipe(ends) < 0)
        return supervisor;
    pid_t pid = fork();
    if (pid == 0) {
        struct cgroup cgroup;

        if (make(&cgroup, 64 * MIB, 16, 1000) < 0 || !cgroup.is_made)
            _exit(1);
        supervisor.inside = start(&cgroup, wait_forever);
        supervisor.copy = has_copy ? fork() : -1;
        if (supervisor.copy != 0) {
            supervisor.janitor = cgroup.janitor;
            (void)memcpy(supervisor.name, cgroup.name, sizeof supervisor.name);
            (void)!write(ends[1], &supervisor, sizeof supervisor);
        }
        (void)wait_forever();
    }
    (void)close(ends[1]);
    if (read(ends[0], &supervisor, sizeof supervisor) == sizeof supervisor)
        supervisor.pid = pid;
    (void)close(ends[0]);
    return supervisor;
}

static void check_killed_supervisor(bool has_copy)
{
    /* What the supervisor leaves becomes ours, so we see how it ends. */
    CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
    struct supervisor supervisor = start_supervisor(has_copy);
    CHECK(supervisor.pid > 0);
    CHECK(is_there(supervisor.name));
    CHECK(kill(supervisor.pid, SIGKILL) == 0);
    CHECK(was_killed(status_of(supervisor.pid)));
    bool is_gone = is_gone_soon(supervisor.name);
    if (has_copy) {
        CHECK(kill(supervisor.copy, SIGKILL) == 0);
        CHECK(was_killed(status_of(supervisor.copy)));
    }
    CHECK(is_gone);
    CHECK(was_killed(status_of(supervisor.inside)));
    CHECK(status_of(supervisor.janitor) == 0);
    CHECK(prctl(PR_SET_CHILD_SUBREAPER, 0) == 0);
}

TEST(a_killed_supervisor_leaves_nothing)
{
    NEED_CGROUPS();
    check_killed_supervisor(false);
}

TEST(a_killed_supervisor_leaves_nothing_though_a_copy_of_it_lives)
{
    NEED_CGROUPS();
    check_killed_supervisor(true);
}

TEST(a_supervisor_that_becomes_another_program_leaves_nothing)
{
    struct cgroup cgroup = { 0 };
    int told[2];
    int held[2];

    NEED_CGROUPS();
    CHECK(pipe2(told, O_CLOEXEC) == 0 && pipe2(held, O_CLOEXEC) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (dup2(held[0], 0) != 0 || make(&cgroup, 64 * MIB, 16, 1000) < 0 ||
            write(told[1], &cgroup, sizeof cgroup) != sizeof cgroup)
            _exit(1);
        (void)execlp("cat", "cat", (char *)NULL);
        _exit(1);
    }
    (void)close(told[1]);
    (void)close(held[0]);
    bool is_made = read(told[0], &cgroup, sizeof cgroup) == sizeof cgroup && cgroup.is_made;
    bool is_gone = is_gone_soon(cgroup.name);
    (void)close(told[0]);
    (void)close(held[1]); /* only now the other program ends */
    CHECK(status_of(pid) == 0);
    CHECK(is_made && is_gone);
}

TEST(a_supervisor_killed_at_any_instant_leaves_nothing)
{
    unsigned seed = (unsigned)time(NULL);

    NEED_CGROUPS();
    printf("# seed %u\n", seed);
    for (int i = 0; i < 100; i++) {
        struct timespec instant = { 0, rand_r(&seed) % 4000000 };
        char prefix[48];
        pid_t pid = fork();

        if (pid == 0) {
            for (struct cgroup cgroup;;) {
                if (make(&cgroup, 64 * MIB, 16, 1000) < 0)
                    _exit(1);
                if (fork() == 0) /* joins before, amidst or after the removal */
                    _exit(join(&cgroup) ? wait_forever() : 0);
                cgroup_remove(&cgroup);
            }
        }
        (void)nanosleep(&instant, NULL);
        (void)kill(pid, SIGKILL);
        CHECK(was_killed(status_of(pid)));
        (void)snprintf(prefix, sizeof prefix, "coop-%d-", (int)pid);
        CHECK(is_gone_soon(prefix));
    }
}

static void *make_and_remove(void *argument)
{
    bool *is_good = argument;
    struct cgroup cgroup;
    struct cgroup_usage usage;

    *is_good = true;
    for (int i = 0; i < 25; i++) {
        *is_good &= make(&cgroup, 64 * MIB, 16, 1000) == 0 && cgroup.is_made;
        cgroup_read(&cgroup, &usage);
        cgroup_remove(&cgroup);
    }
    return NULL;
}

TEST(threads_do_not_meet)
{
    pthread_t threads[N_THREADS];
    bool good[N_THREADS];
    char prefix[48];

    NEED_CGROUPS();
    int before = count_descriptors();
    for (int i = 0; i < N_THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, make_and_remove, &good[i]) == 0);
    for (int i = 0; i < N_THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    for (int i = 0; i < N_THREADS; i++)
        CHECK(good[i]);
    (void)snprintf(prefix, sizeof prefix, "coop-%d-", (int)getpid());
    CHECK(!is_there(prefix));
    CHECK(count_descriptors() == before);
}

static int make_in(const char *directory, struct cgroup *cgroup, coop_error **err)
{
    coop_policy policy = policy_with(64 * MIB, 16, 1000);

    cgroup_find(cgroup);
    for (int i = 0; i < CGROUP_CONTROLLERS; i++) {
        close_fd(&cgroup->parent_fds[i]);
        cgroup->parent_fds[i] = open(directory, O_PATH | O_CLOEXEC);
    }
    return cgroup_make(cgroup, &policy, image_fd, err);
}

TEST(what_the_host_refuses_is_not_claimed)
{
    const char *base = getenv("TMPDIR");
    char directory[256];
    struct cgroup cgroup;

    NEED_CGROUPS();
    int before = count_descriptors();
    CHECK(make_in("/proc", &cgroup, NULL) == 0); /* no directory can be made */
    CHECK(cgroup.version == CGROUP_NONE && !cgroup.is_made && !cgroup.has[CGROUP_MEMORY]);
    (void)snprintf(directory, sizeof directory, "%.200s/cgroup_test-XXXXXX", base ? base : "/tmp");
    CHECK(mkdtemp(directory));
    int r = make_in(directory, &cgroup, NULL); /* one can, but is no cgroup */
    int is_empty = rmdir(directory);
    CHECK(r == 0 && is_empty == 0);
    CHECK(cgroup.version == CGROUP_NONE && !cgroup.is_made && !cgroup.has[CGROUP_PIDS]);
    CHECK(count_descriptors() == before);
}

TEST(a_janitor_that_cannot_start_is_an_error)
{
    coop_policy policy = policy_with(64 * MIB, 16, 1000);
    auto_close int no_program = open("/dev/null", O_RDONLY | O_CLOEXEC);
    auto_error coop_error *err = NULL;
    struct cgroup cgroup;
    char prefix[48];

    NEED_CGROUPS();
    int before = count_descriptors();
    cgroup_find(&cgroup);
    CHECK(cgroup_make(&cgroup, &policy, no_program, &err) == -EACCES);
    CHECK_STR(coop_error_message(err), "make a cgroup: execute the janitor: Permission denied");
    (void)snprintf(prefix, sizeof prefix, "coop-%d-", (int)getpid());
    CHECK(!is_there(prefix));
    CHECK(cgroup.version == CGROUP_NONE && count_descriptors() == before);
    CHECK(waitpid(-1, NULL, __WALL) < 0 && errno == ECHILD);
}

static int write_file(const char *directory, const char *name, const char *text)
{
    char path[256];

    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    auto_close int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd >= 0 && write(fd, text, strlen(text)) > 0 ? 0 : -1;
}

/* Runs in the leaf. Memory and pids are given out right above it, CPUs only at the root. */
static int look_from_leaf(const char *tree)
{
    struct cgroup cgroup;
    struct stat found;
    struct stat expected;
    coop_policy policy = policy_with(128 * MIB, 1000, COOP_LIMIT_NONE);

    cgroup_find(&cgroup);
    if (cgroup.version != CGROUP_V2 || !cgroup.has[CGROUP_CPU])
        return 1;
    if (fstat(cgroup.parent_fds[0], &found) < 0 || stat(tree, &expected) < 0 ||
        found.st_ino != expected.st_ino)
        return 2;
    if (cgroup_make(&cgroup, &policy, image_fd, NULL) < 0 ||
        !file_is(cgroup.fds[0], "memory.max", "67108864\n") || /* the leaf's, not the policy's */
        !file_is(cgroup.fds[0], "pids.max", "1001\n") ||       /* and the box's init */
        !file_is(cgroup.fds[0], "memory.oom.group", "1\n"))
        return 3;
    cgroup_remove(&cgroup);
    policy.limits[COOP_LIMIT_CPUS] = 500;
    cgroup_find(&cgroup);
    if (cgroup_make(&cgroup, &policy, image_fd, NULL) < 0 || !cgroup.has[CGROUP_CPU] ||
        !file_is(cgroup.fds[0], "cpu.max", "50000 100000\n") ||
        !file_is(cgroup.fds[0], "memory.max", "67108864\n"))
        return 4;
    cgroup_remove(&cgroup);
    return 0;
}

TEST(a_box_beside_us_keeps_within_our_own_limits)
{
    char tree[] = "/sys/fs/cgroup/cgroup_test-XXXXXX";
    char leaf[64];
    struct cgroup cgroup;

    NEED_CGROUPS();
    cgroup_find(&cgroup);
    bool is_v2 = cgroup.version == CGROUP_V2;
    cgroup_remove(&cgroup);
    if (!is_v2 || geteuid() != 0)
        SKIP_NEVER("needs cgroup v2 and root");
    CHECK(mkdtemp(tree));
    (void)snprintf(leaf, sizeof leaf, "%s/leaf", tree);
    CHECK(mkdir(leaf, 0755) == 0);
    CHECK(write_file(tree, "cgroup.subtree_control", "+memory +pids") == 0);
    CHECK(write_file(leaf, "memory.max", "67108864") == 0);
    pid_t pid = fork();
    if (pid == 0)
        _exit(write_file(leaf, "cgroup.procs", "0") < 0 ? 9 : look_from_leaf(tree));
    int status = status_of(pid);
    int removed = rmdir(leaf);
    removed |= rmdir(tree);
    printf("# status %x\n", (unsigned)status);
    CHECK(status == 0 && removed == 0);
}
