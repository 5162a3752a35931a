#include "structure_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"

#define PAUSE_NS (200 * 1000)

int structure_lock_open(coop_error **err)
{
    int fd = open(STRUCTURE_LOCK_FILE, O_RDONLY | O_CLOEXEC);
    int r = fd < 0 ? -errno : fd_lift(&fd);

    if (r < 0)
        close_fd(&fd);
    return r < 0 ? fail(err, -r, "open '%s', for the lock shared by all boxes", STRUCTURE_LOCK_FILE)
                 : fd;
}

int structure_lock_take(bool is_alone, coop_error **err)
{
    auto_close int fd = structure_lock_open(err);
    uint64_t give_up = clock_now_ns() + STRUCTURE_LOCK_WAIT_MS * UINT64_C(1000000);

    if (fd < 0)
        return fd;
    while (flock(fd, (is_alone ? LOCK_EX : LOCK_SH) | LOCK_NB) < 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return fail(err, errno, "lock '%s'", STRUCTURE_LOCK_FILE);
        if (clock_now_ns() > give_up)
            return fail(err, EBUSY,
                        "wait for other boxes to finish what they do in their directories: try "
                        "again");
        (void)nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
    }
    return take_fd(&fd);
}

/* Unlocked first: a child that another thread has just made may share the descriptor. */
void structure_lock_release(int *lock)
{
    if (*lock >= 0)
        (void)flock(*lock, LOCK_UN);
    close_fd(lock);
}
