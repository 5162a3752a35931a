/* builds: clang asan asan-root */
#include "coop/probe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "survey/probe/probe.h"
#include "sys/raw.h"
#include "test/check.h"

#define ROUNDS  100
#define THREADS 4

static coop_probe *probe_or_fail(void)
{
    coop_probe *probe = NULL;
    coop_error *err = NULL;

    if (coop_probe_new(&probe, &err) < 0) {
        printf("# %s\n", coop_error_message(err));
        coop_error_free(err);
        return NULL;
    }
    return probe;
}

static bool has(const coop_probe *probe, const char *name)
{
    const coop_capability *capability = coop_probe_find(probe, name);

    return capability && capability->available;
}

static int count_entries(const char *path)
{
    DIR *directory = opendir(path);
    int n = 0;

    while (directory && readdir(directory))
        n++;
    if (directory)
        (void)closedir(directory);
    return n;
}

static int count_lines(const char *path)
{
    FILE *file = fopen(path, "re");
    int n = 0;

    for (int c; file && (c = fgetc(file)) != EOF;)
        n += c == '\n';
    if (file)
        (void)fclose(file);
    return n;
}

/* How many cgroups of a probe lie in the directory. */
/* Ours have our number in their names; other programs on the machine may probe as well. */
static int count_leftovers(const char *path)
{
    DIR *directory = *path ? opendir(path) : NULL;
    char own[32];
    int n = 0;

    int length = snprintf(own, sizeof own, "coop-probe.%ld", (long)getpid());
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        n += strncmp(entry->d_name, own, (size_t)length) == 0;
    if (directory)
        (void)closedir(directory);
    return n;
}

static bool has_child(void)
{
    return waitpid(-1, NULL, WNOHANG | __WALL) != -1 || errno != ECHILD;
}

TEST(every_capability_has_words)
{
    coop_probe *probe = probe_or_fail();

    CHECK(probe);
    CHECK(coop_probe_n_capabilities(probe) >= 30);
    for (size_t i = 0; i < coop_probe_n_capabilities(probe); i++) {
        const coop_capability *capability = coop_probe_capability(probe, i);
        CHECK(capability->name && *capability->name);
        CHECK(capability->title && *capability->title);
        CHECK(capability->detail && *capability->detail);
        CHECK(!capability->available || !capability->fix);
        CHECK(coop_probe_find(probe, capability->name) == capability);
    }
    CHECK(!coop_probe_capability(probe, coop_probe_n_capabilities(probe)));
    CHECK(!coop_probe_find(probe, "no-such-capability"));
    CHECK(strlen(coop_probe_kernel(probe)) > 0);
    coop_probe_free(probe);
}

TEST(tier_follows_from_what_is_needed)
{
    coop_probe *probe = probe_or_fail();
    bool all_needed = true;

    CHECK(probe);
    for (size_t i = 0; i < coop_probe_n_capabilities(probe); i++) {
        const coop_capability *capability = coop_probe_capability(probe, i);
        all_needed = all_needed && (capability->available || !capability->needed);
    }
    coop_tier tier = coop_probe_tier(probe);
    CHECK((tier == COOP_TIER_FULL) == all_needed);
    CHECK(has(probe, "landlock") == (coop_probe_landlock_abi(probe) > 0));
    if (tier == COOP_TIER_FULL || tier == COOP_TIER_LANDLOCK)
        CHECK(has(probe, "landlock") && has(probe, "seccomp"));
    if (tier == COOP_TIER_FULL || tier == COOP_TIER_NAMESPACES)
        CHECK(has(probe, "user-namespaces") && has(probe, "fresh-proc") && has(probe, "mount-api"));
    if (tier == COOP_TIER_FULL)
        CHECK_STR(coop_probe_summary(probe), "linux (namespaces + landlock + seccomp)");
    coop_probe_free(probe);
}

TEST(leaves_no_descriptor_and_no_child)
{
    coop_probe *probe = probe_or_fail(); /* what libc opens once is open now */

    CHECK(probe);
    coop_probe_free(probe);
    int before = count_entries("/proc/self/fd");
    probe = probe_or_fail();
    CHECK(probe);
    coop_probe_free(probe);
    CHECK(count_entries("/proc/self/fd") == before);
    CHECK(!has_child());
}

TEST(leaves_the_children_of_others_alone)
{
    pid_t child = fork();
    int status = 0;

    if (child == 0)
        _exit(7);
    CHECK(child > 0);
    coop_probe *probe = probe_or_fail();
    CHECK(probe);
    coop_probe_free(probe);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

TEST(works_where_children_are_not_waited_for)
{
    void (*before)(int) = signal(SIGCHLD, SIG_IGN);
    coop_probe *probe = probe_or_fail();

    (void)signal(SIGCHLD, before);
    CHECK(probe);
    CHECK(has(probe, "seccomp"));
    coop_probe_free(probe);
}

TEST(keeps_signals_privileges_and_directory_as_they_were)
{
    const uint64_t none = 0;
    uint64_t after = 1;
    char directory[2][512];
    char status[2][8192];

    CHECK(raw(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none) == 0);
    CHECK(getcwd(directory[0], sizeof directory[0]));
    CHECK(probe_read("/proc/self/status", status[0], sizeof status[0]) > 0);
    coop_probe *probe = probe_or_fail();
    CHECK(probe);
    coop_probe_free(probe);
    CHECK(raw(SYS_rt_sigprocmask, SIG_SETMASK, NULL, &after, sizeof after) == 0);
    CHECK(after == none);
    CHECK(getcwd(directory[1], sizeof directory[1]));
    CHECK_STR(directory[1], directory[0]);
    CHECK(probe_read("/proc/self/status", status[1], sizeof status[1]) > 0);
    for (int i = 0; i < 2; i++) { /* credentials, capabilities, no_new_privs, seccomp */
        char *start = strstr(status[i], "\nCapInh:");
        char *end = strstr(status[i], "\nSpeculation");
        CHECK(start && end);
        *end = '\0';
        memmove(status[i], start, strlen(start) + 1);
    }
    CHECK_STR(status[1], status[0]);
}

static void *probe_often(void *arg)
{
    int *failures = arg;

    for (int i = 0; i < ROUNDS / THREADS; i++) {
        coop_probe *probe = NULL;
        if (coop_probe_new(&probe, NULL) < 0)
            ++*failures;
        coop_probe_free(probe);
    }
    return NULL;
}

TEST(works_from_four_threads_at_once)
{
    pthread_t threads[THREADS];
    int failures[THREADS] = { 0 };
    int before = count_entries("/proc/self/fd");

    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, probe_often, &failures[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(failures[i] == 0);
    CHECK(count_entries("/proc/self/fd") == before);
    CHECK(!has_child());
}

static void *probe_tier_again(void *arg)
{
    coop_probe *probe = probe_or_fail();
    coop_tier *tier = arg;

    *tier = coop_probe_tier(probe);
    coop_probe_free(probe);
    return NULL;
}

TEST(threads_find_the_same)
{
    pthread_t threads[THREADS];
    coop_tier tiers[THREADS] = { 0 };
    coop_probe *probe = probe_or_fail();

    CHECK(probe);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, probe_tier_again, &tiers[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(tiers[i] == coop_probe_tier(probe));
    coop_probe_free(probe);
}

TEST(a_hundred_probes_leave_no_mounts_and_no_cgroups)
{
    int mounts = count_lines("/proc/self/mountinfo");
    coop_probe *probe = NULL;

    CHECK(mounts > 0);
    for (int i = 0; i < ROUNDS; i++) {
        coop_probe_free(probe);
        probe = probe_or_fail();
        CHECK(probe);
    }
    CHECK(count_lines("/proc/self/mountinfo") == mounts);
    CHECK(count_leftovers(probe->cgroup.v2_directory) == 0);
    for (int i = 0; i < PROBE_CONTROLLERS; i++)
        CHECK(count_leftovers(probe->cgroup.v1_directory[i]) == 0);
    coop_probe_free(probe);
}

/* In a child of its own, whose user namespace may then make no other. */
static int tier_without_namespaces(void)
{
    auto_close int fd = -1;

    if (unshare(CLONE_NEWUSER) < 0)
        return 77;
    fd = open("/proc/sys/user/max_user_namespaces", O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, "0", 1) != 1)
        return 78;
    coop_probe *probe = probe_or_fail();
    const coop_capability *capability = coop_probe_find(probe, "user-namespaces");
    if (!probe || !capability || capability->available)
        return 1;
    if (!strstr(capability->detail, "user.max_user_namespaces is 0"))
        return 2;
    if (!capability->fix || !strstr(capability->fix, "sudo sysctl user.max_user_namespaces="))
        return 3;
    if (coop_probe_tier(probe) != (has(probe, "landlock") ? COOP_TIER_LANDLOCK : COOP_TIER_NONE))
        return 4;
    coop_probe_free(probe);
    return 0;
}

TEST(names_the_limit_that_refuses_user_namespaces)
{
    int status = 0;

    (void)fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(tier_without_namespaces());
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        SKIP("user namespaces are refused here");
    if (WEXITSTATUS(status) == 78)
        SKIP("user.max_user_namespaces cannot be written here");
    CHECK(WEXITSTATUS(status) == 0);
}

static void verdict_done(struct probe_verdict *verdict)
{
    free(verdict->detail);
    free(verdict->fix);
}

/* As Ubuntu 24.04 does it: the namespace is made, its capabilities are not given. */
TEST(names_apparmor_when_the_capabilities_are_taken)
{
    struct coop_probe probe = { .box.write_uid_map = -EPERM,
                                .box.label = "unprivileged_userns (enforce)" };
    struct probe_verdict verdict = { 0 };

    probe_user_namespaces(&probe, &verdict);
    CHECK(!verdict.available);
    CHECK(strstr(verdict.detail, "kernel.apparmor_restrict_unprivileged_userns"));
    CHECK(strstr(verdict.fix, "packaging/apparmor/coop"));
    verdict_done(&verdict);
}

TEST(names_the_filter_of_a_container)
{
    struct coop_probe probe = { .box.clone = -EPERM,
                                .host.namespace_filter = EPERM,
                                .host.container = "podman" };
    struct probe_verdict verdict = { 0 };

    probe_user_namespaces(&probe, &verdict);
    CHECK(!verdict.available);
    CHECK(strstr(verdict.detail, "seccomp filter"));
    CHECK(strstr(verdict.fix, "podman run --security-opt seccomp=unconfined"));
    verdict_done(&verdict);
}

TEST(names_a_kernel_without_landlock)
{
    struct coop_probe probe = { .landlock = -EOPNOTSUPP,
                                .host.kernel = "6.1.0",
                                .host.lsm = "yama,apparmor" };
    struct probe_verdict verdict = { 0 };

    probe_landlock(&probe, &verdict);
    CHECK(!verdict.available);
    CHECK(strstr(verdict.detail, "not enabled"));
    CHECK(strstr(verdict.fix, "lsm=landlock,yama,apparmor"));
    verdict_done(&verdict);
}

TEST(reads_mountinfo)
{
    char text[] =
        "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
        "nonsense\n"
        "32 31 0:29 /a\\040b /x\\134y rw shared:1 master:2 - cgroup none rw,cpu,cpuacct\n";
    char *cursor = text;
    struct probe_mount mount;

    CHECK(probe_mounts_next(&cursor, &mount));
    CHECK_STR(mount.root, "/");
    CHECK_STR(mount.target, "/sys/fs/cgroup");
    CHECK_STR(mount.type, "tmpfs");
    CHECK(probe_mounts_next(&cursor, &mount));
    CHECK_STR(mount.root, "/a b");
    CHECK_STR(mount.target, "/x\\y");
    CHECK_STR(mount.type, "cgroup");
    CHECK_STR(mount.options, "rw,cpu,cpuacct");
    CHECK(!probe_mounts_next(&cursor, &mount));
}
