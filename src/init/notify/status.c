#include "status.h"

#include <fcntl.h>
#include <string.h>

#include "init/notify/call.h"
#include "sys/raw.h"

bool notify_status_read(unsigned long pid, char text[NOTIFY_STATUS_SIZE])
{
    char path[64];

    (void)notify_append(notify_append_number(notify_append(path, "/proc/"), pid), "/status");
    long fd = raw(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    long n = fd < 0 ? fd : raw(SYS_read, fd, text, NOTIFY_STATUS_SIZE - 1);
    if (fd >= 0)
        (void)raw(SYS_close, fd);
    text[n < 0 ? 0 : n] = '\0';
    return n > 0;
}

static unsigned digit_of(char c)
{
    return c >= '0' && c <= '9'   ? (unsigned)(c - '0')
           : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                  : 16;
}

uint64_t notify_status_number(const char *text, const char *line, unsigned base, uint64_t otherwise)
{
    size_t n = strlen(line);
    uint64_t value = 0;

    while (*text && strncmp(text, line, n) != 0)
        text++;
    if (!*text)
        return otherwise;
    for (text += n; digit_of(*text) < base; text++)
        value = value * base + digit_of(*text);
    return value;
}

bool notify_status_is_ours(unsigned long pid)
{
    char text[NOTIFY_STATUS_SIZE];

    return pid == 1 || (notify_status_read(pid, text) &&
                        (notify_status_number(text, "\nTgid:\t", 10, 1) == 1 ||
                         notify_status_number(text, "\nCapPrm:\t", 16, 1) != 0));
}
