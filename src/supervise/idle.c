#include "idle.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

/* Of a whole process: how the kernel names it since 2.6.12, clock_getcpuclockid(3). */
static bool read_clock(pid_t pid, uint64_t *ns)
{
    const clockid_t clock = (clockid_t)(~(unsigned)pid << 3 | 2u);
    struct timespec time;

    if (clock_gettime(clock, &time) < 0)
        return false;
    *ns = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
    return true;
}

/* Its clock first, who it has made then: what it makes in between moves the clock. */
static bool note(struct idle *idle, pid_t pid)
{
    struct idle_process process = { .pid = pid };

    if (idle->n == idle->capacity) {
        size_t capacity = idle->capacity ? 2 * idle->capacity : 8;
        void *more = realloc(idle->processes, capacity * sizeof *idle->processes);

        if (!more)
            return false;
        idle->processes = more;
        idle->capacity = capacity;
    }
    if (!read_clock(pid, &process.ns))
        return false;
    idle->processes[idle->n++] = process;
    return true;
}

static bool note_children(struct idle *idle, int dir_fd, const char *thread)
{
    char name[64], text[4096];
    pid_t pid = 0;
    ssize_t n;

    (void)snprintf(name, sizeof name, "%.16s/children", thread);
    auto_close int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    while ((n = read(fd, text, sizeof text)) > 0)
        for (ssize_t i = 0; i < n; i++) /* a blank after each number */
            if (text[i] >= '0' && text[i] <= '9') {
                pid = 10 * pid + (text[i] - '0');
            } else {
                if (pid && !note(idle, pid))
                    return false;
                pid = 0;
            }
    return n == 0 && pid == 0;
}

static bool note_children_of(struct idle *idle, pid_t pid)
{
    char path[64];
    bool is_whole = true;

    (void)snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    if (!dir)
        return false;
    for (struct dirent *e; is_whole && (e = readdir(dir));)
        is_whole = *e->d_name == '.' || note_children(idle, dirfd(dir), e->d_name);
    (void)closedir(dir);
    return is_whole;
}

bool idle_note(struct idle *idle, pid_t pid)
{
    idle->n = 0;
    bool is_whole = note(idle, pid);
    for (size_t i = 0; is_whole && i < idle->n; i++)
        is_whole = note_children_of(idle, idle->processes[i].pid);
    if (!is_whole)
        idle->n = 0;
    return is_whole;
}

bool idle_is(const struct idle *idle)
{
    for (size_t i = 1; i < idle->n; i++) {
        uint64_t ns;

        if (!read_clock(idle->processes[i].pid, &ns) || ns != idle->processes[i].ns)
            return false;
    }
    return idle->n > 1;
}

void idle_forget(struct idle *idle)
{
    idle->n = 0;
}

void idle_free(struct idle *idle)
{
    free(idle->processes);
    *idle = (struct idle){ 0 };
}
