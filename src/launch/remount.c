#include "remount.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/statfs.h>

#include "sys/kernel.h"
#include "sys/raw.h"

#define LINE_SIZE 8192

/* The bits that statfs tells of a mount, as mount(2) takes them: changing one that is locked fails. */
static const struct {
    long stat_flag;
    unsigned long mount_flag;
} kept[] = {
    { 0x0001, MS_RDONLY },   { 0x0002, MS_NOSUID },  { 0x0004, MS_NODEV },
    { 0x0008, MS_NOEXEC },   { 0x0400, MS_NOATIME }, { 0x0800, MS_NODIRATIME },
    { 0x1000, MS_RELATIME },
};

static const struct {
    uint64_t attribute;
    unsigned long mount_flag;
} added[] = {
    { MOUNT_READ_ONLY, MS_RDONLY },
    { MOUNT_NO_SUID, MS_NOSUID },
    { MOUNT_NO_DEV, MS_NODEV },
    { MOUNT_NO_EXEC, MS_NOEXEC },
};

long remount_exactly(int root_fd, const char *path, uint64_t attributes)
{
    char name[32] = "/proc/self/fd/";
    char digits[12];
    struct statfs st;
    unsigned long flags = MS_REMOUNT | MS_BIND;
    long fd = raw(SYS_openat, root_fd, *path ? path : ".", O_PATH | O_CLOEXEC | O_NOFOLLOW);

    if (fd == -ENOENT) /* a mount of the host's that our root does not show */
        return 0;
    if (fd < 0)
        return fd;
    long r = raw(SYS_fstatfs, fd, &st);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (st.f_flags & kept[i].stat_flag)
            flags |= kept[i].mount_flag;
    for (size_t i = 0; i < sizeof added / sizeof *added; i++)
        if (attributes & added[i].attribute)
            flags |= added[i].mount_flag;
    int n = 0;
    for (long number = fd; n == 0 || number > 0; number /= 10)
        digits[n++] = (char)('0' + number % 10);
    char *end = name + 14;
    while (n > 0)
        *end++ = digits[--n];
    *end = '\0';
    if (r == 0)
        r = raw(SYS_mount, NULL, name, NULL, flags, NULL);
    if (r == -EINVAL) /* not the root of a mount */
        r = 0;
    if (r == 0)
        (void)raw(SYS_mount, NULL, name, NULL, MS_PRIVATE, NULL);
    (void)raw(SYS_close, fd);
    return r;
}

/* The fifth word of a line of mountinfo, unescaped in place; NULL if there is none. */
static char *mount_point(char *line)
{
    char *from = line;

    for (int words = 0; words < 4; from++) {
        if (!*from)
            return NULL;
        words += *from == ' ';
    }
    char *start = from;
    char *to = from;
    while (*from && *from != ' ') {
        if (from[0] == '\\' && from[1] && from[2] && from[3]) {
            *to++ = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
            from += 4;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
    return start;
}

static bool is_below(const char *path, const char *target)
{
    while (*target && *path == *target)
        path++, target++;
    return !*target && (!*path || *path == '/');
}

static long remount_line(int root_fd, char *line, const char *target, uint64_t attributes)
{
    const char *path = mount_point(line);

    if (!path || *path != '/' || (*target && !is_below(path + 1, target)))
        return 0;
    return remount_exactly(root_fd, path + 1, attributes);
}

long remount_below(int root_fd, const char *target, uint64_t attributes)
{
    char buffer[LINE_SIZE];
    size_t used = 0;
    long r = 0;
    long fd = raw(SYS_openat, AT_FDCWD, "/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return fd;
    while (r == 0) {
        long n = raw(SYS_read, fd, buffer + used, sizeof buffer - 1 - used);

        if (n <= 0)
            break;
        used += (size_t)n;
        size_t start = 0;
        for (size_t i = 0; i < used && r == 0; i++)
            if (buffer[i] == '\n') {
                buffer[i] = '\0';
                r = remount_line(root_fd, buffer + start, target, attributes);
                start = i + 1;
            }
        for (size_t i = start; i < used; i++)
            buffer[i - start] = buffer[i];
        used -= start;
    }
    (void)raw(SYS_close, fd);
    return r;
}
