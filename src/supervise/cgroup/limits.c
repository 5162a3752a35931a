/*
 * limits.c - a limit into the kernel's files, and what came of it out of them
 */
#include "private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

#define MAX_CPUS (8192 * 1000ull) /* more than any machine has; keeps the kernel's products small */

int cgroup_write(int dir_fd, const char *name, const char *text)
{
    auto_close int fd = openat(dir_fd, name, O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    return write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

static int write_number(int dir_fd, const char *name, uint64_t number)
{
    char text[24];

    (void)snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    return cgroup_write(dir_fd, name, text);
}

/*
 * One command, one fate: a box that ran out of memory dies whole, not by its largest process. The
 * files about swap are absent where swap is not counted.
 */
static int set_memory_v2(int fd, uint64_t limit)
{
    int r = write_number(fd, "memory.max", limit);

    if (r < 0)
        return r;
    r = cgroup_write(fd, "memory.oom.group", "1");
    if (r == 0 || r == -ENOENT)
        r = cgroup_write(fd, "memory.swap.max", "0");
    return r == -ENOENT ? 0 : r;
}

static int set_memory_v1(int fd, uint64_t limit)
{
    int r = write_number(fd, "memory.limit_in_bytes", limit);

    if (r < 0)
        return r;
    r = write_number(fd, "memory.memsw.limit_in_bytes", limit); /* memory and swap together */
    return r == -ENOENT ? 0 : r;
}

/* One more than the command may have: the box's init is counted too. */
static int set_pids(int fd, uint64_t limit)
{
    limit++;
    return write_number(fd, "pids.max", limit < INT32_MAX ? limit : INT32_MAX);
}

struct bandwidth {
    unsigned long long quota_us, period_us;
};

/* The kernel wants a quota of at least 1 ms, and a period of at most 1 s. */
static struct bandwidth bandwidth_of(uint64_t cpus)
{
    uint64_t period_us = cpus < 10 ? 1000000 : 100000;

    cpus = cpus < 1 ? 1 : cpus > MAX_CPUS ? MAX_CPUS : cpus;
    return (struct bandwidth){ cpus * (period_us / 1000), period_us };
}

static int set_cpu_v2(int fd, uint64_t cpus)
{
    struct bandwidth bandwidth = bandwidth_of(cpus);
    char text[48];

    (void)snprintf(text, sizeof text, "%llu %llu", bandwidth.quota_us, bandwidth.period_us);
    return cgroup_write(fd, "cpu.max", text);
}

static int set_cpu_v1(int fd, uint64_t cpus)
{
    struct bandwidth bandwidth = bandwidth_of(cpus);
    int r = write_number(fd, "cpu.cfs_period_us", bandwidth.period_us);

    if (r == 0)
        r = write_number(fd, "cpu.cfs_quota_us", bandwidth.quota_us);
    return r == -EINVAL ? 0 : r; /* more than a group above has: that one holds */
}

static int (*const setters[][CGROUP_CONTROLLERS])(int fd, uint64_t limit) = {
    [CGROUP_V1] = { set_memory_v1, set_pids, set_cpu_v1 },
    [CGROUP_V2] = { set_memory_v2, set_pids, set_cpu_v2 },
};

int cgroup_set_limit(enum cgroup_version version, enum cgroup_controller controller, int fd,
                     uint64_t limit)
{
    return setters[version][controller](fd, limit);
}

/* The number after `key` in lines of the form "key number", or alone in the file; 0 if not there. */
static uint64_t read_number(int dir_fd, const char *file, const char *key)
{
    char text[1024];
    auto_close int fd = openat(dir_fd, file, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

    if (n <= 0)
        return 0;
    text[n] = '\0';
    if (!key)
        return strtoull(text, NULL, 10);
    size_t length = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) == 0 && line[length] == ' ')
            return strtoull(line + length, NULL, 10);
    }
    return 0;
}

/* memory.peak: Linux 5.19. */
static void read_v2(const struct cgroup *cgroup, struct cgroup_usage *usage)
{
    int fd = cgroup->fds[0];

    usage->peak_memory = read_number(fd, "memory.peak", NULL);
    usage->oom_kills = read_number(fd, "memory.events", "oom_kill");
    usage->pids_refused = read_number(fd, "pids.events", "max");
}

static void read_v1(const struct cgroup *cgroup, struct cgroup_usage *usage)
{
    int fd = cgroup->fds[CGROUP_MEMORY];

    if (fd >= 0) {
        usage->peak_memory = read_number(fd, "memory.max_usage_in_bytes", NULL);
        usage->oom_kills = read_number(fd, "memory.oom_control", "oom_kill");
    }
    if (cgroup->fds[CGROUP_PIDS] >= 0)
        usage->pids_refused = read_number(cgroup->fds[CGROUP_PIDS], "pids.events", "max");
}

void cgroup_read(const struct cgroup *cgroup, struct cgroup_usage *usage)
{
    *usage = (struct cgroup_usage){ 0 };
    if (!cgroup->is_made)
        return;
    if (cgroup->version == CGROUP_V2)
        read_v2(cgroup, usage);
    else
        read_v1(cgroup, usage);
}
