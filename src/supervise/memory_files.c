#include "memory_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define FIRST_SLOTS 256

static bool put(ino_t *slots, size_t n_slots, ino_t number)
{
    size_t at = number * 0x9e3779b97f4a7c15ull % n_slots;

    while (slots[at] && slots[at] != number)
        at = (at + 1) % n_slots;
    if (slots[at])
        return false;
    slots[at] = number;
    return true;
}

/* At most half full. */
static bool make_room(struct memory_files *files)
{
    if (2 * files->n_seen < files->n_slots)
        return true;
    size_t n = files->n_slots ? 2 * files->n_slots : FIRST_SLOTS;
    ino_t *slots = calloc(n, sizeof *slots);

    if (!slots)
        return false;
    for (size_t i = 0; i < files->n_slots; i++)
        if (files->seen[i])
            (void)put(slots, n, files->seen[i]);
    free(files->seen);
    files->seen = slots;
    files->n_slots = n;
    return true;
}

static void count(struct memory_files *files, const struct stat *st)
{
    if (!make_room(files)) { /* twice is better than never */
        files->bytes += (uint64_t)st->st_blocks * 512u;
        return;
    }
    if (!put(files->seen, files->n_slots, st->st_ino))
        return;
    files->n_seen++;
    files->bytes += (uint64_t)st->st_blocks * 512u;
}

/* The number that a process of the box has out here: 0 if it has ended, or cannot be found. */
static pid_t number_outside(pid_t init, pid_t inside)
{
    char path[64];
    struct stat own, other;
    pid_t found = 0;
    DIR *dir = opendir("/proc");

    (void)snprintf(path, sizeof path, "/proc/%d/ns/pid", (int)init);
    if (!dir || stat(path, &own) < 0) {
        if (dir)
            (void)closedir(dir);
        return 0;
    }
    for (struct dirent *e; !found && (e = readdir(dir));) {
        char status[4096];
        int outer = 0;

        if (*e->d_name < '0' || *e->d_name > '9')
            continue;
        (void)snprintf(path, sizeof path, "/proc/%.16s/ns/pid", e->d_name);
        if (stat(path, &other) < 0 || other.st_ino != own.st_ino)
            continue;
        (void)snprintf(path, sizeof path, "/proc/%.16s/status", e->d_name);
        auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, status, sizeof status - 1);
        status[n > 0 ? n : 0] = '\0';
        const char *line = strstr(status, "\nNSpid:");
        const char *end = line ? strchr(line + 1, '\n') : NULL;
        while (end && end[-1] >= '0' && end[-1] <= '9')
            end--;
        if (end && sscanf(line, "\nNSpid: %d", &outer) == 1 && atoi(end) == inside)
            found = outer;
    }
    (void)closedir(dir);
    return found;
}

/* Files of the kernel's own file system in memory have no name, and so no path that leads to them. */
static bool is_memory_file(int fd, const struct stat *st)
{
    struct statfs fs;

    return S_ISREG(st->st_mode) && st->st_nlink == 0 && fstatfs(fd, &fs) == 0 &&
           fs.f_type == TMPFS_MAGIC;
}

/* On its way out a process first loses its memory; from then on its descriptors are root's to see, and
 * soon nobody's. */
static bool is_leaving(int dir_fd)
{
    char status[4096];
    auto_close int fd = openat(dir_fd, "status", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, status, sizeof status - 1);

    status[n > 0 ? n : 0] = '\0';
    return !strstr(status, "\nVmSize:");
}

static void take_one_by_one(struct memory_files *files, int dir_fd, pid_t inside, unsigned n_fds)
{
    pid_t pid = inside ? number_outside(files->init, inside) : 0;
    auto_close int pidfd = pid ? (int)raw(NR_PIDFD_OPEN, pid, 0) : -1;

    if (pidfd < 0) {
        files->is_hidden |= !is_leaving(dir_fd);
        return;
    }
    for (unsigned i = 0; i < n_fds; i++) {
        struct stat st;
        auto_close int fd = (int)raw(NR_PIDFD_GETFD, pidfd, i, 0);

        if (fd == -ESRCH)
            return;
        if (fd < 0 && fd != -EBADF)
            files->is_hidden |= !is_leaving(dir_fd);
        if (fd >= 0 && fstat(fd, &st) == 0 && is_memory_file(fd, &st))
            count(files, &st);
    }
}

void memory_files_of(struct memory_files *files, int dir_fd, pid_t pid, unsigned n_fds)
{
    int fd = openat(dir_fd, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    if (!dir) {
        if (errno == EACCES || errno == EPERM)
            take_one_by_one(files, dir_fd, pid, n_fds);
        else
            files->is_hidden |= errno != ENOENT && errno != ESRCH;
        if (fd >= 0)
            (void)close(fd);
        return;
    }
    for (struct dirent *e; (e = readdir(dir));) {
        char target[32];
        struct stat st;
        ssize_t n = readlinkat(fd, e->d_name, target, sizeof target);

        if (n >= 7 && memcmp(target, "/memfd:", 7) == 0 && fstatat(fd, e->d_name, &st, 0) == 0)
            count(files, &st);
    }
    (void)closedir(dir);
}

void memory_files_done(struct memory_files *files)
{
    free(files->seen);
}
