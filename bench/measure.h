/*
 * measure.h - what every benchmark program needs: a clock, samples, a plain spawn, a line of output
 *
 * Benchmarks are programs, not parts of the library: what goes wrong ends them with a sentence.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct samples {
    uint64_t *ns;
    size_t n, capacity;
    size_t n_failed;
};

uint64_t measure_now_ns(void);
_Noreturn void measure_die(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Memory that is there: zeroed, or the program ends. */
void *measure_memory(size_t n, size_t size);

/* A duration of 0 counts as a failure. */
void samples_add(struct samples *samples, uint64_t ns);
/* Sorts; 0 when there are none. */
double samples_us(struct samples *samples, double quantile);
void samples_done(struct samples *samples);

/* order[0..n) becomes the numbers 0 to n-1, shuffled. */
void measure_shuffle(size_t *order, size_t n);

/* A command that says with one byte that it runs, and idles from then on. */
extern char *const measure_idle[];

/*
 * posix_spawn with standard input at /dev/null, standard output at output_fd (-1: /dev/null) and, if
 * filter_path is set, that file at descriptor 9. The pid, or -errno.
 */
pid_t measure_spawn(char *const argv[], int output_fd, const char *filter_path);
/* Waits until n bytes came from fd; how many did, if none comes for ten seconds. */
size_t measure_await_bytes(int fd, size_t n);
/* Spawns and waits: nanoseconds of wall clock, 0 when it failed or exited other than 0. */
uint64_t measure_spawn_wait(char *const argv[], const char *filter_path, uint64_t *out_cpu_ns);

/* One line of the form group TAB name TAB field TAB value. */
void measure_print(const char *group, const char *name, const char *field, double value);
/* count, p10, median, p95, p99 and failed. */
void measure_print_samples(const char *group, const char *name, struct samples *samples);
