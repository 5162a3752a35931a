#include "memory_watch.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "supervise/memory_files.h"

/* A text file of /proc. False: the process is gone, or it is not for us. */
static bool read_text(int dir_fd, const char *name, char *text, size_t size)
{
    auto_close int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

static uint64_t number_of(const char *text, const char *key)
{
    const char *at = strstr(text, key);

    return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

static uint64_t kib_of(const char *text, const char *const *keys)
{
    uint64_t sum = 0;

    for (; *keys; keys++)
        sum += number_of(text, *keys);
    return sum * 1024u;
}

/* What one process says of itself. Private and shared pages. */
struct size {
    uint64_t own, shared;
};

static struct size quick_size(const char *status)
{
    static const char *const own[] = { "\nRssAnon:", "\nVmSwap:", NULL };
    static const char *const shared[] = { "\nRssShmem:", NULL };

    return (struct size){ kib_of(status, own), kib_of(status, shared) };
}

/* Pages shared by several processes count once, divided among them. */
static struct size exact_size(int dir_fd, const char *status)
{
    static const char *const own[] = { "\nPss_Anon:", "\nSwapPss:", NULL };
    static const char *const shared[] = { "\nPss_Shmem:", NULL };
    char text[8192];

    if (!read_text(dir_fd, "smaps_rollup", text, sizeof text))
        return quick_size(status);
    return (struct size){ kib_of(text, own), kib_of(text, shared) };
}

struct sums {
    struct size size;
    uint64_t tasks;
    size_t n_processes;
    bool is_awake;
};

static char state_of(const char *status)
{
    const char *state = strstr(status, "\nState:\t");

    return state ? state[8] : 'X';
}

static bool has_ended(const char *status)
{
    return state_of(status) == 'Z' || state_of(status) == 'X';
}

/*
 * The first thread of a process may end before the others. It then has neither memory nor descriptors,
 * and the process looks as if it had ended: the others have them. Returns a live thread's directory, -1
 * if there is none.
 */
static int open_live_thread(int process_fd, char *status, size_t size)
{
    int list_fd = openat(process_fd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = list_fd < 0 ? NULL : fdopendir(list_fd);
    int found = -1;

    if (!dir) {
        if (list_fd >= 0)
            (void)close(list_fd);
        return -1;
    }
    for (struct dirent *e; found < 0 && (e = readdir(dir));) {
        if (*e->d_name == '.')
            continue;
        auto_close int fd = openat(list_fd, e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd >= 0 && read_text(fd, "status", status, size) && !has_ended(status))
            found = take_fd(&fd);
    }
    (void)closedir(dir);
    return found;
}

/* Without `files` the sizes are the exact ones. */
static void add_process(struct sums *sums, int proc_fd, const char *number,
                        struct memory_files *files)
{
    char status[8192];
    pid_t pid = (pid_t)atoi(number);
    auto_close int fd = openat(proc_fd, number, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0 || !read_text(fd, "status", status, sizeof status))
        return;
    if (has_ended(status)) {
        if (number_of(status, "\nThreads:") < 2)
            return;
        int thread_fd = open_live_thread(fd, status, sizeof status);
        if (thread_fd < 0)
            return;
        (void)close(fd);
        fd = thread_fd;
        pid = 0; /* by its number nobody gets at descriptors */
    }
    struct size size = files ? quick_size(status) : exact_size(fd, status);
    sums->size.own += size.own;
    sums->size.shared += size.shared;
    sums->tasks += number_of(status, "\nThreads:");
    sums->is_awake |= state_of(status) == 'R' || state_of(status) == 'D';
    if (files && strcmp(number, "1") != 0) /* init has none */
        memory_files_of(files, fd, pid, (unsigned)number_of(status, "\nFDSize:"));
}

/* The box's own /proc shows exactly its processes. */
static struct sums sum_of_processes(const char *path, struct memory_files *files)
{
    struct sums sums = { 0 };
    DIR *dir = opendir(path);

    if (!dir)
        return sums;
    for (struct dirent *e; (e = readdir(dir));) {
        if (*e->d_name < '0' || *e->d_name > '9')
            continue;
        sums.n_processes++;
        add_process(&sums, dirfd(dir), e->d_name, files);
    }
    (void)closedir(dir);
    return sums;
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

struct memory_sample memory_watch_sample(pid_t pid, uint64_t limit, uint64_t segments)
{
    struct memory_files files = { .init = pid };
    char path[64];

    (void)snprintf(path, sizeof path, "/proc/%d/root/proc", (int)pid);
    uint64_t held = private_places(pid) + segments;
    struct sums sums = sum_of_processes(path, &files);
    struct memory_sample sample = { .tasks = sums.tasks,
                                    .n_processes = sums.n_processes,
                                    .is_asleep = !sums.is_awake,
                                    .is_hidden = files.is_hidden };
    held += files.bytes;
    sample.bytes = sums.size.own + sums.size.shared + held;
    if (sample.bytes > limit) {
        struct size exact = sum_of_processes(path, NULL).size;

        /* What is mapped and what is held are the same pages in part: the larger is the sure part. */
        sample.bytes = exact.own + (exact.shared > held ? exact.shared : held);
    }
    memory_files_done(&files);
    return sample;
}
