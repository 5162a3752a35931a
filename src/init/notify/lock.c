#include "lock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <time.h>

#include "init/notify/request.h"
#include "init/protocol.h"
#include "init/structure_lock.h"
#include "sys/raw.h"

#define PAUSE_NS (100 * 1000)

/* A box that has others wait, by large directories, waits itself: times what they did. */
#define REST     4
#define SHORT_NS (1000 * 1000)

static int lock_fd = -1;
static enum notify_lock_kind wanted, held;
static bool gave_up;
static int64_t alone_since;

/* Opened once more: nobody else has this lock open, whatever became of the descriptor's copies. */
bool notify_lock_open(void)
{
    char path[64];

    notify_own_path(PROTOCOL_LOCK_FD, path);
    lock_fd = (int)raw(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    (void)raw(SYS_close, PROTOCOL_LOCK_FD);
    return lock_fd >= 0;
}

static int64_t now_ns(void)
{
    struct timespec now;

    (void)raw(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Not longer than the supervisor lives; false: it does not. */
static bool pause_for(int64_t ns)
{
    struct pollfd control = { .fd = PROTOCOL_CONTROL_FD };
    struct timespec pause = { ns / 1000000000, ns % 1000000000 };

    long r = raw(SYS_ppoll, &control, 1, &pause, NULL, 0);

    return r == 0 || r == -EINTR; /* each order of the supervisor raises a signal */
}

void notify_lock_want(enum notify_lock_kind kind)
{
    wanted = kind;
}

bool notify_lock_try(void)
{
    int how = wanted == NOTIFY_LOCK_ALONE ? LOCK_EX : LOCK_SH;

    if (held < wanted && raw(SYS_flock, lock_fd, how | LOCK_NB) == 0) {
        held = wanted;
        alone_since = held == NOTIFY_LOCK_ALONE ? now_ns() : 0;
    }
    return held >= wanted;
}

/* Not in the kernel's queue: that has no limit, and the supervisor may die meanwhile. */
long notify_lock_wait(void)
{
    const int64_t last = now_ns() + STRUCTURE_LOCK_WAIT_MS * INT64_C(1000000);

    while (!gave_up && !notify_lock_try())
        gave_up = !pause_for(PAUSE_NS) || now_ns() > last;
    return gave_up ? -EBUSY : 0;
}

bool notify_lock_is_alone(void)
{
    return held == NOTIFY_LOCK_ALONE;
}

bool notify_lock_end(void)
{
    bool has_given_up = gave_up;
    int64_t alone_for = held == NOTIFY_LOCK_ALONE ? now_ns() - alone_since : 0;

    if (held != NOTIFY_LOCK_NONE)
        (void)raw(SYS_flock, lock_fd, LOCK_UN);
    if (alone_for > SHORT_NS)
        (void)pause_for(REST * alone_for);
    wanted = held = NOTIFY_LOCK_NONE;
    gave_up = false;
    return has_given_up;
}
