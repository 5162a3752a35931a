#include "pids.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include "init/notify/status.h"
#include "sys/raw.h"

struct entry { /* of getdents64 */
    uint64_t number;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
};

static uint64_t limit = RLIM64_INFINITY;

void notify_pids_start(pid_t command)
{
    struct rlimit64 limits;

    if (raw(SYS_prlimit64, command, RLIMIT_NPROC, NULL, &limits) == 0)
        limit = limits.rlim_cur;
}

/* The last number that was given, the last word there: with fewer than the limit, all is said. */
static uint64_t last_number(void)
{
    char text[128];
    uint64_t number = 0;
    long fd = raw(SYS_openat, AT_FDCWD, "/proc/loadavg", O_RDONLY | O_CLOEXEC);
    long n = fd < 0 ? fd : raw(SYS_read, fd, text, sizeof text);

    if (fd >= 0)
        (void)raw(SYS_close, fd);
    for (long i = 0; i < n && text[i] != '\n'; i++)
        number = text[i] >= '0' && text[i] <= '9' ? number * 10 + (uint64_t)(text[i] - '0') : 0;
    return number;
}

static uint64_t threads_of(const char *name)
{
    char text[NOTIFY_STATUS_SIZE];
    unsigned long pid = 0;

    for (; *name >= '0' && *name <= '9'; name++)
        pid = pid * 10 + (unsigned long)(*name - '0');
    return pid && !*name && notify_status_read(pid, text)
               ? notify_status_number(text, "\nThreads:\t", 10, 0)
               : 0;
}

bool notify_pids_are_all(void)
{
    static _Alignas(8) char bytes[4096];
    uint64_t n = 1; /* the command */
    long length;

    if (limit == RLIM64_INFINITY || last_number() < limit)
        return false;
    long fd = raw(SYS_openat, AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (fd >= 0 && (length = raw(SYS_getdents64, fd, bytes, sizeof bytes)) > 0)
        for (long at = 0; at < length; at += ((const struct entry *)(bytes + at))->length)
            n += threads_of(((const struct entry *)(bytes + at))->name);
    if (fd >= 0)
        (void)raw(SYS_close, fd);
    return n >= limit;
}
