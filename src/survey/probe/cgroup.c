/*
 * cgroup.c - which limits a cgroup could hold for us
 *
 * In v2 a box's cgroup is made in our own cgroup or in one above it: the kernel lets a cgroup give
 * controllers to its children only while it has no processes of its own, and ours has us.
 * Controllers that are on there already are tried (the limit's file can be opened for writing);
 * those that are not are never switched on just to see, because switching them off again would take
 * limits away from a box started in between: for these the kernel's conditions are looked at.
 *
 * What is made is one empty cgroup, in v2 with one child in it for an instant. Both are the work of
 * a child that goes on when we are killed, so that nothing is left all the same.
 */
#include "survey/probe/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "sys/clone.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define V1 0x27e0eb /* the file systems' magic numbers */
#define V2 0x63677270

#define REMOVE_TRIES 200 /* a dead process may count for a moment longer */

static const struct {
    const char *name;    /* as the kernel calls it */
    const char *v2_file; /* that holds the limit */
    const char *v1_file;
} controllers[PROBE_CONTROLLERS] = {
    [PROBE_MEMORY] = { "memory", "memory.max", "memory.limit_in_bytes" },
    [PROBE_PIDS] = { "pids", "pids.max", "pids.max" },
    [PROBE_CPU] = { "cpu", "cpu.max", "cpu.cfs_quota_us" },
};

struct trial {
    const char *directory;
    bool is_v2;
    char path[600]; /* of the cgroup that is made */
    const char *files[PROBE_CONTROLLERS];
    char stack[16 * 1024] __attribute__((aligned(16)));
    long make, enter, remove;
    long open[PROBE_CONTROLLERS];
};

static int nothing_child(void *arg)
{
    (void)arg;
    return 0;
}

/* v2: a process is born in the new cgroup, which needs rights above it too. */
static long enter_v2_from_child(struct trial *trial, int directory_fd)
{
    int pidfd = -1;
    struct sys_clone how = { .flags = CLONE_VM | CLONE_VFORK,
                             .stack = trial->stack,
                             .stack_size = sizeof trial->stack,
                             .out_pidfd = &pidfd,
                             .cgroup_fd = &directory_fd };
    siginfo_t info = { 0 };
    long pid = sys_clone(&how, nothing_child, NULL);

    if (pid < 0)
        return pid;
    (void)raw(SYS_waitid, P_PID, pid, &info, WEXITED | __WALL, NULL);
    if (pidfd >= 0)
        (void)raw(SYS_close, pidfd);
    return 0;
}

/* v1: who may open the list may move itself. A move would wait 10 ms for all CPUs. */
static long enter_v1_from_child(int directory_fd)
{
    long fd = raw(SYS_openat, directory_fd, "cgroup.procs", O_WRONLY | O_CLOEXEC, 0);

    if (fd < 0)
        return fd;
    return raw(SYS_close, fd);
}

static long remove_from_child(const char *path)
{
    const struct timespec moment = { .tv_nsec = 1000 * 1000 };
    long r = raw(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);

    for (int i = 0; r == -EBUSY && i < REMOVE_TRIES; i++) {
        struct timespec left = moment;
        (void)raw(SYS_ppoll, NULL, 0, &left, NULL, 0);
        r = raw(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
    }
    return r;
}

static int trial_child(void *arg)
{
    struct trial *trial = arg;

    trial->make = raw(SYS_mkdirat, AT_FDCWD, trial->path, 0700);
    if (trial->make < 0)
        return 0;
    long fd = raw(SYS_openat, AT_FDCWD, trial->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    for (int i = 0; i < PROBE_CONTROLLERS; i++) {
        if (!trial->files[i])
            continue;
        long file = raw(SYS_openat, fd, trial->files[i], O_WRONLY | O_CLOEXEC, 0);
        trial->open[i] = file < 0 ? file : 0;
        if (file >= 0)
            (void)raw(SYS_close, file);
    }
    if (fd < 0)
        trial->enter = fd;
    else if (trial->is_v2)
        trial->enter = enter_v2_from_child(trial, (int)fd);
    else
        trial->enter = enter_v1_from_child((int)fd);
    trial->remove = remove_from_child(trial->path);
    return 0;
}

static void try_directory(struct trial *trial)
{
    static atomic_uint counter;
    struct timespec now = { 0 };

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    (void)snprintf(trial->path, sizeof trial->path, "%s/coop-probe.%d.%u.%lx", trial->directory,
                   (int)getpid(), atomic_fetch_add(&counter, 1), (unsigned long)now.tv_nsec);
    trial->make = trial->enter = trial->remove = PROBE_NOT_TRIED;
    for (int i = 0; i < PROBE_CONTROLLERS; i++)
        trial->open[i] = PROBE_NOT_TRIED;
    long r = probe_child(0, trial_child, trial);
    if (r < 0)
        trial->make = r;
    else if (trial->make == 0 && trial->remove < 0)
        (void)rmdir(trial->path);
}

/* Whether `word` stands in a list with the given separators. */
static bool has_word(const char *list, const char *word, const char *separators)
{
    size_t n = strlen(word);

    for (const char *at = list; *at; at += strspn(at, separators)) {
        size_t length = strcspn(at, separators);
        if (length == n && strncmp(at, word, n) == 0)
            return true;
        at += length;
    }
    return false;
}

/* Our path in a hierarchy: "0::/path", or "4:cpu,cpuacct:/path". */
static bool own_path(char *text, const char *controller, char **out)
{
    char *save = NULL;

    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *names = strchr(line, ':');
        char *path = names ? strchr(names + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = '\0';
        names++;
        if (controller ? has_word(names, controller, ",") : *names == '\0') {
            *out = path;
            return true;
        }
    }
    return false;
}

/* The directory that shows `path` through this mount; false when the mount shows another part. */
static bool directory_of(const struct probe_mount *mount, const char *path, char *out, size_t size)
{
    size_t n = strcmp(mount->root, "/") == 0 ? 0 : strlen(mount->root);

    if (strncmp(path, mount->root, n) != 0 || (path[n] != '/' && path[n] != '\0') ||
        strncmp(path, "/..", 3) == 0)
        return false;
    const char *rest = strcmp(path + n, "/") == 0 ? "" : path + n;
    int length = snprintf(out, size, "%s%s", mount->target, rest);
    return length > 0 && (size_t)length < size;
}

/* Something else may be mounted over the mount. */
static bool is_on(const char *directory, long magic)
{
    struct statfs fs;

    return statfs(directory, &fs) == 0 && (long)fs.f_type == magic;
}

/* The directory of our cgroup for a v1 controller, or (NULL) in v2, and where that is mounted. */
static bool find_own(const char *controller, char *out, size_t size, char *out_mount,
                     size_t mount_size)
{
    auto_free char *mounts = probe_mounts_read();
    char *cursor = mounts;
    struct probe_mount mount;
    char text[4096];
    char *path;

    if (!mounts || probe_read("/proc/self/cgroup", text, sizeof text) <= 0 ||
        !own_path(text, controller, &path))
        return false;
    while (probe_mounts_next(&cursor, &mount)) {
        if (strcmp(mount.type, controller ? "cgroup" : "cgroup2") != 0)
            continue;
        if (controller && !has_word(mount.options, controller, ","))
            continue;
        if (!directory_of(&mount, path, out, size) || !is_on(out, controller ? V1 : V2))
            continue;
        (void)snprintf(out_mount, mount_size, "%s", mount.target);
        return true;
    }
    return false;
}

static unsigned controllers_in(const char *directory, const char *file)
{
    char path[600];
    char text[256];
    unsigned found = 0;

    (void)snprintf(path, sizeof path, "%s/%s", directory, file);
    if (probe_read(path, text, sizeof text) <= 0)
        return 0;
    for (unsigned i = 0; i < PROBE_CONTROLLERS; i++) {
        if (has_word(text, controllers[i].name, " "))
            found |= 1u << i;
    }
    return found;
}

/* Only the root of the whole tree may have processes and controllers for children at once. */
static bool has_processes(const char *directory)
{
    char path[600];
    char text[16];

    (void)snprintf(path, sizeof path, "%s/cgroup.type", directory);
    if (access(path, F_OK) < 0)
        return false;
    (void)snprintf(path, sizeof path, "%s/cgroup.procs", directory);
    return probe_read(path, text, sizeof text) > 0;
}

static bool can_switch_on(const char *directory)
{
    char path[600];

    (void)snprintf(path, sizeof path, "%s/cgroup.subtree_control", directory);
    auto_close int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd >= 0;
}

static void try_v2_in(struct probe_cgroup *out, const char *directory)
{
    struct trial trial = { .directory = directory, .is_v2 = true };

    (void)snprintf(out->v2_directory, sizeof out->v2_directory, "%s", directory);
    for (int i = 0; i < PROBE_CONTROLLERS; i++)
        trial.files[i] = controllers[i].v2_file;
    try_directory(&trial);
    out->v2_mkdir = trial.make;
    out->v2_enter = trial.enter;
    out->v2_present = controllers_in(directory, "cgroup.controllers");
    out->v2_has_processes = has_processes(directory);
    if (out->v2_mkdir < 0 || out->v2_enter < 0)
        return;
    for (unsigned i = 0; i < PROBE_CONTROLLERS; i++) {
        if (trial.open[i] == 0)
            out->v2_usable |= 1u << i;
    }
    if (!out->v2_has_processes && can_switch_on(directory))
        out->v2_usable |= out->v2_present;
}

static void try_v2(struct probe_cgroup *out)
{
    char directory[512];
    char mount[512];

    out->v2_mkdir = out->v2_enter = PROBE_NOT_TRIED;
    out->v2_mounted = find_own(NULL, directory, sizeof directory, mount, sizeof mount);
    if (!out->v2_mounted)
        return;
    try_v2_in(out, directory);
    (void)snprintf(out->v2_mount, sizeof out->v2_mount, "%s", mount);
    while (__builtin_popcount(out->v2_usable) < PROBE_CONTROLLERS &&
           strcmp(directory, mount) != 0) {
        struct probe_cgroup above = { .v2_mounted = true };
        char *slash = strrchr(directory, '/');

        if (!slash)
            return;
        *slash = '\0';
        try_v2_in(&above, directory);
        if (__builtin_popcount(above.v2_usable) > __builtin_popcount(out->v2_usable))
            *out = above;
    }
}

static void try_v1(struct probe_cgroup *out, unsigned i)
{
    struct trial trial = { .directory = out->v1_directory[i] };
    char mount[512];

    out->v1[i] = PROBE_NOT_TRIED;
    if (!find_own(controllers[i].name, out->v1_directory[i], sizeof out->v1_directory[i], mount,
                  sizeof mount))
        return;
    trial.files[i] = controllers[i].v1_file;
    try_directory(&trial);
    out->v1[i] = trial.make < 0 ? trial.make : trial.open[i] < 0 ? trial.open[i] : trial.enter;
}

void probe_cgroup_try(struct coop_probe *probe)
{
    try_v2(&probe->cgroup);
    for (unsigned i = 0; i < PROBE_CONTROLLERS; i++)
        try_v1(&probe->cgroup, i);
}

static void append_names(struct buffer *out, unsigned set)
{
    for (unsigned i = 0; i < PROBE_CONTROLLERS; i++) {
        if (set & (1u << i))
            buffer_printf(out, "%s%s", out->length ? " " : "", controllers[i].name);
    }
    buffer_append_string(out, "");
}

/*
 * Where systemd runs it gives us a subtree; elsewhere root makes one and puts our shell into it. At
 * the root of all, because no other cgroup that has processes can give controllers to its children.
 */
static void fix_delegate(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    if (access("/run/systemd/system", F_OK) == 0)
        verdict_fix(verdict, "systemd-run --user --scope -p Delegate=yes coop run ...");
    else
        verdict_fix(verdict,
                    "sudo sh -c \"cd '%s' && echo '+memory +pids +cpu' >cgroup.subtree_control && "
                    "mkdir -p coop/shell && chown -R $(id -u) coop && "
                    "echo $$ >coop/shell/cgroup.procs\"",
                    probe->cgroup.v2_mount);
}

void probe_cgroup_v2(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    const struct probe_cgroup *cgroup = &probe->cgroup;
    auto_buffer struct buffer names = { 0 };

    append_names(&names, cgroup->v2_usable);
    if (!cgroup->v2_mounted) {
        verdict_no(verdict, "no cgroup2 file system is mounted that shows our cgroup");
        verdict_fix(verdict, "sudo mount -t cgroup2 none /sys/fs/cgroup");
    } else if (cgroup->v2_usable) {
        verdict_yes(verdict, "%s in '%s'", names.data ? names.data : "", cgroup->v2_directory);
    } else if (!cgroup->v2_present) {
        verdict_no(verdict, "'%s' has neither memory, pids nor cpu", cgroup->v2_directory);
        probe_fix_boot(probe, verdict,
                       access("/run/systemd/system", F_OK) == 0
                           ? "cgroup_no_v1=all systemd.unified_cgroup_hierarchy=1"
                           : "cgroup_no_v1=all");
    } else if (cgroup->v2_mkdir < 0) {
        verdict_no(verdict, "no write access to '%s': %s", cgroup->v2_directory,
                   strerror((int)-cgroup->v2_mkdir));
        fix_delegate(probe, verdict);
    } else if (cgroup->v2_enter < 0) {
        verdict_no(verdict, "no process can be put into '%s': %s", cgroup->v2_directory,
                   strerror((int)-cgroup->v2_enter));
        fix_delegate(probe, verdict);
    } else {
        verdict_no(verdict, "'%s' %s, so it cannot give controllers to children",
                   cgroup->v2_directory,
                   cgroup->v2_has_processes ? "has processes of its own" : "is not ours to change");
        fix_delegate(probe, verdict);
    }
}

void probe_cgroup_v1(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    const struct probe_cgroup *cgroup = &probe->cgroup;
    auto_buffer struct buffer names = { 0 };
    auto_buffer struct buffer closed = { 0 };
    unsigned usable = 0;
    long refused = 0;

    for (unsigned i = 0; i < PROBE_CONTROLLERS; i++) {
        if (cgroup->v1[i] == 0)
            usable |= 1u << i;
        if (cgroup->v1[i] >= 0)
            continue;
        refused = cgroup->v1[i];
        buffer_printf(&closed, "%s'%s'", closed.length ? " " : "", cgroup->v1_directory[i]);
    }
    append_names(&names, usable);
    if (usable) {
        verdict_yes(verdict, "%s", names.data ? names.data : "");
    } else if (refused == 0) {
        verdict_no(verdict, "not mounted");
    } else {
        verdict_no(verdict, "no write access to %s: %s", closed.data ? closed.data : "them",
                   strerror((int)-refused));
        verdict_fix(verdict,
                    "sudo sh -c \"for d in %s; do mkdir -p \\$d/coop && chown -R $(id -u) "
                    "\\$d/coop && echo $$ >\\$d/coop/cgroup.procs; done\"",
                    closed.data ? closed.data : "");
    }
}

/* A box has cgroups of one version: of the one that can hold more, as cgroup_find() chooses. */
static void judge_limit(const struct coop_probe *probe, unsigned i, const char *otherwise,
                        struct probe_verdict *verdict)
{
    const struct probe_cgroup *cgroup = &probe->cgroup;
    unsigned v1 = 0;

    for (unsigned n = 0; n < PROBE_CONTROLLERS; n++)
        v1 |= cgroup->v1[n] == 0 ? 1u << n : 0;
    bool is_v1 = __builtin_popcount(v1) > __builtin_popcount(cgroup->v2_usable);
    if ((is_v1 ? v1 : cgroup->v2_usable) & (1u << i))
        verdict_yes(verdict, is_v1 ? "cgroup v1" : "cgroup v2");
    else
        verdict_no(verdict, "no cgroup to write to; %s", otherwise);
}

void probe_limit_memory(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    judge_limit(probe, PROBE_MEMORY, "the supervisor watches instead", verdict);
}

void probe_limit_pids(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    judge_limit(probe, PROBE_PIDS, "RLIMIT_NPROC holds instead", verdict);
}

void probe_limit_cpu(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    judge_limit(probe, PROBE_CPU, "CPU shares cannot be enforced", verdict);
}
