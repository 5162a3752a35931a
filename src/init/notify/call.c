#include "call.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "init/notify/watch.h"
#include "init/protocol.h"
#include "sys/raw.h"

#define PAGE 4096u

#ifndef SECCOMP_USER_NOTIF_FLAG_CONTINUE
#define SECCOMP_USER_NOTIF_FLAG_CONTINUE 1u
#endif

void notify_clear(void *memory, size_t n)
{
    volatile char *p = memory; /* volatile: or the compiler would call memset, which is this */

    while (n-- > 0)
        *p++ = 0;
}

char *notify_append(char *to, const char *text)
{
    while (*text)
        *to++ = *text++;
    *to = '\0';
    return to;
}

char *notify_append_number(char *to, unsigned long number)
{
    char digits[24];
    int n = 0;

    do
        digits[n++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (n > 0)
        *to++ = digits[--n];
    *to = '\0';
    return to;
}

void notify_proc_path(const struct seccomp_notif *asked, const char *rest, char out[64])
{
    (void)notify_append(notify_append_number(notify_append(out, "/proc/"), asked->pid), rest);
}

bool notify_is_waiting(uint64_t id)
{
    return raw(SYS_ioctl, PROTOCOL_LISTENER_FD, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

void notify_answer(uint64_t id, long result)
{
    struct seccomp_notif_resp response = { .id = id, .error = (int32_t)result };

    if (result == NOTIFY_CONTINUE) {
        response.error = 0;
        response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    }
    (void)raw(SYS_ioctl, PROTOCOL_LISTENER_FD, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

/*
 * First the descriptor, then, when ours is closed, the answer. With both in one step the caller would
 * run while init still holds the file open for writing: a program that writes another and executes it
 * would now and then be told ETXTBSY, and a reader of a FIFO would wait for a writer that is gone.
 */
void notify_answer_descriptor(const struct seccomp_notif *asked, int fd, bool close_on_exec)
{
    struct seccomp_notif_addfd add = {
        .id = asked->id,
        .srcfd = (uint32_t)fd,
        .newfd_flags = close_on_exec ? O_CLOEXEC : 0,
    };
    long r = raw(SYS_ioctl, PROTOCOL_LISTENER_FD, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
    struct seccomp_notif_resp response = { .id = asked->id,
                                           .val = r < 0 ? 0 : r,
                                           .error = r < 0 ? (int32_t)r : 0 };

    (void)raw(SYS_close, fd);
    if (r == -EMFILE)
        notify_watch_failed(asked, EMFILE);
    (void)raw(SYS_ioctl, PROTOCOL_LISTENER_FD, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

static long read_some(const struct seccomp_notif *asked, uint64_t at, void *out, size_t n)
{
    struct iovec to = { out, n };
    struct iovec from = { (void *)(uintptr_t)at, n };
    long r = raw(SYS_process_vm_readv, asked->pid, &to, 1, &from, 1, 0);

    return r < 0 ? -EFAULT : r;
}

long notify_read_memory(const struct seccomp_notif *asked, uint64_t at, void *out, size_t n)
{
    long r = read_some(asked, at, out, n);

    if (r >= 0 && !notify_is_waiting(asked->id))
        return -ESRCH;
    return r == (long)n ? 0 : -EFAULT;
}

/* Page by page: what lies behind the string's last page may not be there. */
long notify_read_string(const struct seccomp_notif *asked, uint64_t at, char *out, size_t size)
{
    size_t n = 0;

    while (n < size) {
        size_t piece = PAGE - (size_t)((at + n) % PAGE);

        if (n == 0 && piece > 256) /* most are shorter */
            piece = 256;
        if (piece > size - n)
            piece = size - n;
        long got = read_some(asked, at + n, out + n, piece);
        if (got <= 0)
            return -EFAULT;
        for (long i = 0; i < got; i++)
            if (out[n + (size_t)i] == '\0')
                return (long)n + i;
        n += (size_t)got;
    }
    return -ENAMETOOLONG;
}
