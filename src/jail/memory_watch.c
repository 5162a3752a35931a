#include "memory_watch.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"

/* Numbers of a text file of /proc: the sum of the values (in KiB) behind the given keys. */
static uint64_t sum_of_keys(int dir_fd, const char *name, const char *const *keys)
{
    char text[8192];
    uint64_t sum = 0;
    auto_close int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    for (; *keys; keys++) {
        const char *at = strstr(text, *keys);

        if (at)
            sum += strtoull(at + strlen(*keys), NULL, 10);
    }
    return sum * 1024u;
}

static uint64_t quick_size(int dir_fd)
{
    static const char *const keys[] = { "\nRssAnon:", "\nRssShmem:", "\nVmSwap:", NULL };

    return sum_of_keys(dir_fd, "status", keys);
}

/* Pages shared by several processes count once, divided among them. */
static uint64_t exact_private(int dir_fd)
{
    static const char *const keys[] = { "\nPss_Anon:", "\nSwapPss:", NULL };

    return sum_of_keys(dir_fd, "smaps_rollup", keys);
}

static uint64_t exact_shared(int dir_fd)
{
    static const char *const keys[] = { "\nPss_Shmem:", NULL };

    return sum_of_keys(dir_fd, "smaps_rollup", keys);
}

#define MAX_SEEN 256

/* Memory files held open: counted once each, also where nobody has them mapped. */
static uint64_t memory_files(int dir_fd, ino_t *seen, size_t *n_seen)
{
    uint64_t sum = 0;
    int fd = openat(dir_fd, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);

    if (!dir) {
        if (fd >= 0)
            (void)close(fd);
        return 0;
    }
    for (struct dirent *e; (e = readdir(dir)) && *n_seen < MAX_SEEN;) {
        char target[32];
        struct stat st;
        bool known = false;
        ssize_t n = readlinkat(fd, e->d_name, target, sizeof target);

        if (n < 7 || memcmp(target, "/memfd:", 7) != 0 || fstatat(fd, e->d_name, &st, 0) < 0)
            continue;
        for (size_t i = 0; i < *n_seen; i++)
            known |= seen[i] == st.st_ino;
        if (known)
            continue;
        seen[(*n_seen)++] = st.st_ino;
        sum += (uint64_t)st.st_blocks * 512u;
    }
    (void)closedir(dir);
    return sum;
}

static uint64_t no_size(int dir_fd)
{
    (void)dir_fd;
    return 0;
}

/* The box's own /proc shows exactly its processes. */
static uint64_t sum_of_processes(const char *path, uint64_t (*size_of)(int), bool with_files)
{
    ino_t seen[MAX_SEEN];
    size_t n_seen = 0;
    uint64_t sum = 0;
    DIR *dir = opendir(path);

    if (!dir)
        return 0;
    for (struct dirent *e; (e = readdir(dir));) {
        if (*e->d_name < '0' || *e->d_name > '9')
            continue;
        auto_close int fd = openat(dirfd(dir), e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
            continue;
        sum += size_of(fd);
        if (with_files)
            sum += memory_files(fd, seen, &n_seen);
    }
    (void)closedir(dir);
    return sum;
}

static uint64_t private_places(pid_t pid)
{
    char path[64];
    struct statfs st;

    (void)snprintf(path, sizeof path, "/proc/%d/root/tmp", (int)pid);
    if (statfs(path, &st) < 0 ||
        st.f_type != TMPFS_MAGIC) /* a directory of the host is no memory */
        return 0;
    return (uint64_t)(st.f_blocks - st.f_bfree) * (uint64_t)st.f_frsize;
}

uint64_t memory_watch_sample(pid_t pid, uint64_t limit, uint64_t segments)
{
    char path[64];

    (void)snprintf(path, sizeof path, "/proc/%d/root/proc", (int)pid);
    uint64_t held = private_places(pid) + segments;
    uint64_t quick = sum_of_processes(path, quick_size, true) + held;
    if (quick <= limit)
        return quick;
    /* What is mapped and what is held are the same pages in part: the larger is the sure part. */
    uint64_t mapped = sum_of_processes(path, exact_shared, false);
    held += sum_of_processes(path, no_size, true);
    return sum_of_processes(path, exact_private, false) + (mapped > held ? mapped : held);
}
