/*
 * calls.c - what one system call costs where this runs, by kind
 *
 *   calls [ROUNDS [KIND...]]     run it plainly, and in a box: coop run -- build/bench/calls
 *
 * One line for each kind: its name, the tenth percentile and the median of one call, in microseconds. Files
 * are made in the current directory and in /tmp, and removed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Each returns how long its call took, and leaves things as they were. */
static uint64_t open_to_read(void)
{
    uint64_t start = now_ns();
    int fd = open("calls.file", O_RDONLY | O_CLOEXEC);

    start = now_ns() - start;
    (void)close(fd);
    return start;
}

static uint64_t open_to_write_at(const char *path)
{
    uint64_t start = now_ns();
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    start = now_ns() - start;
    (void)close(fd);
    return start;
}

static uint64_t open_in_workspace(void)
{
    return open_to_write_at("calls.file");
}

static uint64_t open_in_tmp(void)
{
    return open_to_write_at("/tmp/calls.file");
}

static uint64_t open_null(void)
{
    return open_to_write_at("/dev/null");
}

static uint64_t create(void)
{
    uint64_t start = now_ns();
    int fd = open("calls.new", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

    start = now_ns() - start;
    (void)close(fd);
    (void)unlink("calls.new");
    return start;
}

static uint64_t rename_file(void)
{
    uint64_t start = now_ns();

    (void)rename("calls.file", "calls.other");
    start = now_ns() - start;
    (void)rename("calls.other", "calls.file");
    return start;
}

static uint64_t make_directory(void)
{
    uint64_t start = now_ns();

    (void)mkdir("calls.directory", 0755);
    start = now_ns() - start;
    (void)rmdir("calls.directory");
    return start;
}

static uint64_t remove_file(void)
{
    int fd = open("calls.new", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

    (void)close(fd);
    uint64_t start = now_ns();
    (void)unlink("calls.new");
    return now_ns() - start;
}

static uint64_t connect_to_nobody(void)
{
    const struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "/run/no/such.socket" };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    uint64_t start = now_ns();

    (void)connect(fd, (const struct sockaddr *)&address, sizeof address);
    start = now_ns() - start;
    (void)close(fd);
    return start;
}

static const struct {
    const char *name;
    uint64_t (*run)(void);
} kinds[] = {
    { "open-read", open_to_read },
    { "open-write", open_in_workspace },
    { "open-write-tmp", open_in_tmp },
    { "open-write-null", open_null },
    { "create", create },
    { "unlink", remove_file },
    { "rename", rename_file },
    { "mkdir", make_directory },
    { "connect-unix-missing", connect_to_nobody },
};

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

static int is_wanted(const char *name, int argc, char **argv)
{
    for (int i = 2; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return 1;
    return argc <= 2;
}

int main(int argc, char **argv)
{
    size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 2000;
    uint64_t *times = calloc(rounds ? rounds : 1, sizeof *times);

    if (!times || rounds == 0)
        return 1;
    if (close(open("calls.file", O_WRONLY | O_CREAT | O_CLOEXEC, 0644)) < 0 ||
        close(open("/tmp/calls.file", O_WRONLY | O_CREAT | O_CLOEXEC, 0644)) < 0) {
        perror("calls: make a file");
        return 1;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!is_wanted(kinds[i].name, argc, argv))
            continue;
        for (size_t n = 0; n < rounds; n++)
            times[n] = kinds[i].run();
        qsort(times, rounds, sizeof *times, compare);
        printf("%-22s %7.1f %7.1f\n", kinds[i].name, (double)times[rounds / 10] / 1000,
               (double)times[rounds / 2] / 1000);
    }
    (void)unlink("calls.file");
    (void)unlink("/tmp/calls.file");
    free(times);
    return 0;
}
