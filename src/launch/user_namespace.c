#include "user_namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "survey/newidmap.h"
#include "sys/clone.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define HOLDER_STACK 16384

/*
 * Lives only so that there is a /proc/PID to write to, until it is killed. It waits for no pipe: the
 * holders of other threads would hold copies of its other end.
 */
static int holder_main(void *argument)
{
    const pid_t *parent = argument;

    (void)raw(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    while (raw(SYS_getppid) == *parent)
        (void)raw(SYS_ppoll, NULL, 0, NULL, NULL, 0);
    return 0;
}

static int write_map(pid_t pid, const char *file, unsigned inside, unsigned outside,
                     coop_error **err)
{
    char path[64];
    char text[64];

    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    int n = snprintf(text, sizeof text, "%u %u 1", inside, outside);
    auto_close int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, text, (size_t)n) != n)
        return fail(err, errno, "write '%s' into '%s' of a new user namespace", text, file);
    return 0;
}

static int fill_range(pid_t pid, const struct user_namespace_map *map, coop_error **err)
{
    struct newidmap_range users;
    struct newidmap_range groups;

    if (!newidmap_find(map->outside_uid, &users, &groups))
        return fail_kind(err, COOP_ERROR_SETUP, ENOENT, "'/etc/subuid' grants no range");
    long r =
        newidmap_run(pid, map->inside_uid, map->outside_uid, map->outside_gid, &users, &groups);
    if (r < 0)
        return fail(err, (int)-r, "run '%s'", NEWIDMAP_USERS);
    if (r > 0)
        return fail_kind(err, COOP_ERROR_SETUP, EPERM, "'%s' refused the range of '/etc/subuid'",
                         NEWIDMAP_USERS);
    return 0;
}

static int fill(pid_t pid, const struct user_namespace_map *map, coop_error **err)
{
    char path[64];
    int r;

    if (map->with_range) {
        r = fill_range(pid, map, err);
    } else {
        r = write_map(pid, "uid_map", map->inside_uid, map->outside_uid, err);
        if (r == 0)
            r = write_map(pid, "gid_map", map->inside_gid, map->outside_gid, err);
    }
    if (r < 0)
        return r;
    (void)snprintf(path, sizeof path, "/proc/%d/ns/user", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? fail(err, errno, "open the new user namespace") : fd;
}

int user_namespace_new(const struct user_namespace_map *map, coop_error **err)
{
    const pid_t self = getpid();
    char *stack = mmap(NULL, HOLDER_STACK, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

    if (stack == MAP_FAILED)
        return fail_no_memory(err);
    struct sys_clone how = { .flags = CLONE_VM | CLONE_NEWUSER,
                             .stack = stack,
                             .stack_size = HOLDER_STACK };
    uint64_t all = UINT64_MAX; /* no handler of ours may run in the holder */
    uint64_t old = 0;
    (void)raw(SYS_rt_sigprocmask, SIG_SETMASK, &all, &old, sizeof all);
    long pid = sys_clone(&how, holder_main, (void *)(uintptr_t)&self);
    (void)raw(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, sizeof old);
    int r = pid < 0 ? fail(err, (int)-pid, "make a user namespace") : fill((pid_t)pid, map, err);
    if (pid > 0) {
        (void)kill((pid_t)pid, SIGKILL);
        while (waitpid((pid_t)pid, NULL, __WALL) < 0 && errno == EINTR)
            ;
    }
    (void)munmap(stack, HOLDER_STACK);
    return r;
}

long user_namespace_become(uid_t uid, gid_t gid)
{
    struct {
        uint32_t version;
        int pid;
    } header = { 0x20080522, 0 };
    uint32_t data[6] = { 0 };
    long r = raw(SYS_prctl, PR_SET_KEEPCAPS, 1, 0, 0, 0);

    if (r == 0)
        r = raw(SYS_setgroups, 0, NULL);
    if (r == 0)
        r = raw(SYS_setresgid, gid, gid, gid);
    if (r == 0)
        r = raw(SYS_setresuid, uid, uid, uid);
    if (r == 0) /* KEEPCAPS kept the permitted set only */
        r = raw(SYS_capget, &header, data);
    data[0] = data[1];
    data[3] = data[4];
    return r < 0 ? r : raw(SYS_capset, &header, data);
}
