/*
 * attack_change.c - a file that exists, other names for it, other ways to its content
 */
#include "attack.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/kernel.h"

static int through_alias(const char *alias)
{
    return attack_write(open(alias, O_WRONLY | O_TRUNC));
}
static int change_write(const char *t)
{
    return attack_write(open(t, O_WRONLY));
}
static int change_append(const char *t)
{
    return attack_write(open(t, O_WRONLY | O_APPEND));
}
static int change_truncate(const char *t)
{
    return truncate(t, 0);
}
static int change_open_truncate(const char *t)
{
    return open(t, O_RDONLY | O_TRUNC);
}
static int change_reopen(const char *t)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", open(t, O_RDONLY));
    return attack_write(open(path, O_WRONLY | O_TRUNC));
}
static int change_reopen_thread(const char *t)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/thread-self/fd/%d", open(t, O_PATH));
    return attack_write(open(path, O_RDWR));
}
static int change_reopen_pid(const char *t)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/fd/%d", getpid(), open(t, O_PATH));
    return attack_write(open(path, O_RDWR));
}
static int change_reopen_dev(const char *t)
{
    char path[64];

    snprintf(path, sizeof path, "/dev/fd/%d", open(t, O_RDONLY));
    return truncate(path, 0);
}
static int change_reopen_linked(const char *t)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", open(t, O_RDONLY));
    (void)!symlink(path, "scratch/l");
    return attack_write(open("scratch/l", O_WRONLY | O_TRUNC));
}
static int change_linked(const char *t)
{
    (void)!symlink(attack_from_scratch(t), "scratch/l");
    return through_alias("scratch/l");
}
static int change_link(const char *t)
{
    return link(t, "scratch/alias") < 0 ? -1 : through_alias("scratch/alias");
}
static int change_linkat(const char *t)
{
    int r = linkat(attack_fd, t, attack_fd, "scratch/alias", AT_SYMLINK_FOLLOW);

    return r < 0 ? -1 : through_alias("scratch/alias");
}
static int change_link_followed(const char *t)
{
    (void)!symlink(attack_from_scratch(t), "scratch/l");
    int r = linkat(attack_fd, "scratch/l", attack_fd, "scratch/alias", AT_SYMLINK_FOLLOW);
    return r < 0 ? -1 : through_alias("scratch/alias");
}
static int change_link_descriptor(const char *t)
{
    int r = linkat(open(t, O_RDONLY), "", attack_fd, "scratch/alias", AT_EMPTY_PATH);

    return r < 0 ? -1 : through_alias("scratch/alias");
}
static int change_link_proc(const char *t)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", open(t, O_RDONLY));
    int r = linkat(AT_FDCWD, path, attack_fd, "scratch/alias", AT_SYMLINK_FOLLOW);
    return r < 0 ? -1 : through_alias("scratch/alias");
}
static int change_link_pid(const char *t)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/fd/%d", getpid(), open(t, O_PATH));
    int r = linkat(AT_FDCWD, path, attack_fd, "scratch/alias", AT_SYMLINK_FOLLOW);
    return r < 0 ? -1 : through_alias("scratch/alias");
}
static int change_rename_away(const char *t)
{
    return rename(t, "scratch/alias");
}
static int change_rename_over(const char *t)
{
    attack_file("scratch/f");
    return rename("scratch/f", t);
}
static int change_exchange(const char *t)
{
    attack_file("scratch/f");
    return (int)syscall(SYS_renameat2, attack_fd, t, attack_fd, "scratch/f", RENAME_EXCHANGE);
}
static int change_parent(const char *t)
{
    char parent[4096];

    snprintf(parent, sizeof parent, "%s", t);
    char *slash = strrchr(parent, '/');
    if (!slash)
        return -1;
    *slash = '\0';
    return rename(parent, "scratch/d");
}
static int change_exchange_parent(const char *t)
{
    char parent[4096];

    snprintf(parent, sizeof parent, "%s", t);
    char *slash = strrchr(parent, '/');
    if (!slash)
        return -1;
    *slash = '\0';
    mkdir("scratch/d", 0755);
    return (int)syscall(SYS_renameat2, attack_fd, "scratch/d", attack_fd, parent, RENAME_EXCHANGE);
}
static int change_top(const char *t)
{
    char top[4096];

    snprintf(top, sizeof top, "%s", t);
    if (!strchr(top, '/'))
        return -1;
    *strchr(top, '/') = '\0';
    return strcmp(top, "sub") == 0 ? rename("sub/.git", "scratch/g") : rename(top, "scratch/g");
}
static int change_mapped(const char *t)
{
    int fd = open(t, O_RDONLY);
    char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (p == MAP_FAILED)
        return -1;
    *p = 'X';
    return 0;
}
static int change_mapped_later(const char *t)
{
    int fd = open(t, O_RDONLY);
    char *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);

    if (p == MAP_FAILED)
        return -1;
    return mprotect(p, 4096, PROT_READ | PROT_WRITE);
}
static int change_sendfile(const char *t)
{
    attack_file("scratch/f");
    return sendfile(open(t, O_RDONLY), open("scratch/f", O_RDONLY), NULL, 4) > 0 ? 0 : -1;
}
static int change_copy_range(const char *t)
{
    attack_file("scratch/f");
    int from = open("scratch/f", O_RDONLY);
    return copy_file_range(from, NULL, open(t, O_RDONLY), NULL, 4, 0) > 0 ? 0 : -1;
}
static int change_clone(const char *t)
{
    attack_file("scratch/f");
    return ioctl(open(t, O_RDONLY), FICLONE, open("scratch/f", O_RDONLY));
}
static int change_allocate(const char *t)
{
    int fd = open(t, O_RDONLY);

    return ftruncate(fd, 0) == 0 || fallocate(fd, 0, 0, 100) == 0 ? 0 : -1;
}
static int change_flags(const char *t)
{
    int fd = open(t, O_RDONLY);

    (void)fcntl(fd, F_SETFL, O_RDWR);
    return write(fd, attack_text, 4) > 0 ? 0 : -1;
}
static int change_openat2(const char *t)
{
    return attack_write((int)attack_openat2(attack_fd, t, O_WRONLY, 0, RESOLVE_BENEATH));
}
static int change_openat2_linked(const char *t)
{
    (void)!symlink(attack_from_scratch(t), "scratch/l");
    return attack_write((int)attack_openat2(attack_fd, "scratch/l", O_WRONLY, 0, RESOLVE_BENEATH));
}
static int change_openat2_in_root(const char *t)
{
    (void)!symlink(attack_joined("/", t), "scratch/l");
    return attack_write((int)attack_openat2(attack_fd, "scratch/l", O_WRONLY, 0, RESOLVE_IN_ROOT));
}
static int change_after_rename(const char *t)
{
    /* An O_PATH descriptor keeps the file, not the name. */
    char path[64];
    int fd = open(t, O_PATH);

    (void)!rename(t, "scratch/elsewhere");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return attack_write(open(path, O_WRONLY | O_TRUNC));
}

const struct way attack_changes[] = {
    { "write", change_write },
    { "append", change_append },
    { "truncate", change_truncate },
    { "O_RDONLY O_TRUNC", change_open_truncate },
    { "/proc/self/fd/N", change_reopen },
    { "/proc/thread-self/fd/N", change_reopen_thread },
    { "/proc/PID/fd/N", change_reopen_pid },
    { "truncate of /dev/fd/N", change_reopen_dev },
    { "a link to /proc/self/fd/N", change_reopen_linked },
    { "a link to it", change_linked },
    { "a hard link", change_link },
    { "linkat AT_SYMLINK_FOLLOW", change_linkat },
    { "linkat of a link, followed", change_link_followed },
    { "linkat AT_EMPTY_PATH", change_link_descriptor },
    { "linkat of /proc/self/fd/N", change_link_proc },
    { "linkat of /proc/PID/fd/N", change_link_pid },
    { "moving it away", change_rename_away },
    { "moving something over it", change_rename_over },
    { "exchanging it", change_exchange },
    { "moving its directory", change_parent },
    { "exchanging its directory", change_exchange_parent },
    { "moving the first directory", change_top },
    { "mmap", change_mapped },
    { "mmap, mprotect", change_mapped_later },
    { "sendfile", change_sendfile },
    { "copy_file_range", change_copy_range },
    { "FICLONE", change_clone },
    { "ftruncate, fallocate", change_allocate },
    { "F_SETFL", change_flags },
    { "openat2 RESOLVE_BENEATH", change_openat2 },
    { "openat2 RESOLVE_BENEATH of a link", change_openat2_linked },
    { "openat2 RESOLVE_IN_ROOT of a link", change_openat2_in_root },
    { "a descriptor, then a rename", change_after_rename },
    { NULL, NULL },
};
