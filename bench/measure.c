#include "bench/measure.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FILTER_FD 9

uint64_t measure_now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void measure_die(const char *format, ...)
{
    va_list args;

    (void)fputs("bench: ", stderr);
    va_start(args, format);
    (void)vfprintf(stderr, format, args);
    va_end(args);
    (void)fputc('\n', stderr);
    exit(2);
}

void *measure_memory(size_t n, size_t size)
{
    void *memory = calloc(n, size);

    if (!memory)
        measure_die("out of memory");
    return memory;
}

void samples_add(struct samples *samples, uint64_t ns)
{
    if (ns == 0) {
        samples->n_failed++;
        return;
    }
    if (samples->n == samples->capacity) {
        size_t capacity = samples->capacity ? 2 * samples->capacity : 512;
        uint64_t *grown = reallocarray(samples->ns, capacity, sizeof *grown);

        if (!grown)
            measure_die("out of memory");
        samples->ns = grown;
        samples->capacity = capacity;
    }
    samples->ns[samples->n++] = ns;
}

static int compare_numbers(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

double samples_us(struct samples *samples, double quantile)
{
    if (samples->n == 0)
        return 0;
    qsort(samples->ns, samples->n, sizeof *samples->ns, compare_numbers);
    return (double)samples->ns[(size_t)(quantile * (double)(samples->n - 1) + 0.5)] / 1000.0;
}

void samples_done(struct samples *samples)
{
    free(samples->ns);
    *samples = (struct samples){ 0 };
}

void measure_shuffle(size_t *order, size_t n)
{
    static unsigned seed;

    if (seed == 0)
        seed = (unsigned)measure_now_ns() | 1u;
    for (size_t i = 0; i < n; i++) {
        size_t j = (size_t)rand_r(&seed) % (i + 1);

        order[i] = order[j];
        order[j] = i;
    }
}

char *const measure_idle[] = { (char[]){ "/bin/sh" }, (char[]){ "-c" },
                               (char[]){ "printf .; exec /bin/sleep 1000000" }, NULL };

pid_t measure_spawn(char *const argv[], int output_fd, const char *filter_path)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    pid_t pid = -1;

    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (output_fd >= 0)
        (void)posix_spawn_file_actions_adddup2(&actions, output_fd, 1);
    else
        (void)posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (filter_path)
        (void)posix_spawn_file_actions_addopen(&actions, FILTER_FD, filter_path, O_RDONLY, 0);
    (void)sigemptyset(&none);
    (void)posix_spawnattr_init(&attributes);
    (void)posix_spawnattr_setsigmask(&attributes, &none);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    int error = posix_spawnp(&pid, argv[0], &actions, &attributes, argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)posix_spawnattr_destroy(&attributes);
    return error ? -error : pid;
}

size_t measure_await_bytes(int fd, size_t n)
{
    struct pollfd readable = { .fd = fd, .events = POLLIN };
    char bytes[256];
    size_t got = 0;

    while (got < n && poll(&readable, 1, 10000) > 0) {
        ssize_t r = read(fd, bytes, n - got < sizeof bytes ? n - got : sizeof bytes);

        if (r <= 0)
            break;
        got += (size_t)r;
    }
    return got;
}

static uint64_t nanoseconds(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_usec * 1000u;
}

uint64_t measure_spawn_wait(char *const argv[], const char *filter_path, uint64_t *out_cpu_ns)
{
    struct rusage usage = { 0 };
    int status = -1;
    uint64_t start = measure_now_ns();
    pid_t pid = measure_spawn(argv, -1, filter_path);

    if (pid < 0)
        return 0;
    while (wait4(pid, &status, 0, &usage) < 0)
        if (errno != EINTR)
            return 0;
    uint64_t end = measure_now_ns();
    if (out_cpu_ns)
        *out_cpu_ns = nanoseconds(&usage.ru_utime) + nanoseconds(&usage.ru_stime);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? end - start : 0;
}

void measure_print(const char *group, const char *name, const char *field, double value)
{
    (void)printf("%s\t%s\t%s\t%.4f\n", group, name, field, value);
    (void)fflush(stdout);
}

void measure_print_samples(const char *group, const char *name, struct samples *samples)
{
    measure_print(group, name, "count", (double)samples->n);
    measure_print(group, name, "p10", samples_us(samples, 0.10));
    measure_print(group, name, "median", samples_us(samples, 0.50));
    measure_print(group, name, "p95", samples_us(samples, 0.95));
    measure_print(group, name, "p99", samples_us(samples, 0.99));
    measure_print(group, name, "failed", (double)samples->n_failed);
}
