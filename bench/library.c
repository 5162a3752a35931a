/*
 * library.c - what a call of libcoop costs, and on what it depends
 *
 *   library latency    -d DIR [-r ROUNDS]   plain, private network, no network
 *   library conditions -d DIR [-r ROUNDS] [-b BYTES] [-m MOUNTS] [-u UID -g GID]
 *                                           the caller's size, the host's mounts
 *   library idle       -d DIR [-r ROUNDS] [-n BOXES]    boxes alive, and the memory of each
 *   library items      -d DIR [-r ROUNDS]   masks and binds, by number
 *   library prepare    -d DIR               only makes the files that these are about
 *   library throughput -d DIR [-t THREADS] [-s SECONDS]
 *
 * DIR is a private directory of the user that everything runs as. `conditions` is the one that root
 * may call: mounts are then made by root, and everything else is done by user UID.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "bench/boxes.h"
#include "bench/measure.h"
#include "bench/memory.h"
#include "bench/worker.h"

struct bench {
    const char *directory;
    size_t rounds, bytes, mounts, boxes, threads, seconds;
    uid_t uid;
    gid_t gid;
};

/* One thing measured: a sort of box, run by one of the workers. */
struct subject {
    const char *name;
    struct worker *worker;
    enum box_sort sort;
    struct samples samples;
};

#define MAX_SUBJECTS 16
#define WARM_UPS     3

static void run_rounds(struct subject *subjects, size_t n, size_t rounds)
{
    size_t order[MAX_SUBJECTS];

    for (size_t i = 0; i < n; i++)
        for (int j = 0; j < WARM_UPS; j++)
            if (worker_run(subjects[i].worker, subjects[i].sort) == 0)
                measure_die("'%s' does not work here", subjects[i].name);
    for (size_t round = 0; round < rounds; round++) {
        measure_shuffle(order, n);
        for (size_t i = 0; i < n; i++) {
            struct subject *subject = &subjects[order[i]];

            samples_add(&subject->samples, worker_run(subject->worker, subject->sort));
        }
    }
}

static void print_subjects(const char *group, struct subject *subjects, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        measure_print_samples(group, subjects[i].name, &subjects[i].samples);
        samples_done(&subjects[i].samples);
    }
}

static void measure_latency(const struct bench *bench)
{
    struct worker worker;
    struct subject subjects[] = {
        { "plain", &worker, SORT_PLAIN, { 0 } },
        { "none", &worker, SORT_NONE, { 0 } },
        { "off", &worker, SORT_OFF, { 0 } },
        { "host", &worker, SORT_HOST, { 0 } },
    };

    worker_start(&worker, &(struct worker_condition){ .directory = bench->directory });
    run_rounds(subjects, COUNT(subjects), bench->rounds);
    print_subjects("library", subjects, COUNT(subjects));
    worker_stop(&worker);
}

static void measure_conditions(const struct bench *bench)
{
    struct worker small, big, few_mounts, many_mounts;
    struct worker_condition condition = { .directory = bench->directory,
                                          .uid = bench->uid,
                                          .gid = bench->gid };
    struct subject subjects[] = {
        { "small", &small, SORT_NONE, { 0 } },
        { "big", &big, SORT_NONE, { 0 } },
        { "few-mounts", &few_mounts, SORT_NONE, { 0 } },
        { "many-mounts", &many_mounts, SORT_NONE, { 0 } },
    };

    worker_start(&small, &condition);
    condition.touched_bytes = bench->bytes;
    worker_start(&big, &condition);
    condition.touched_bytes = 0;
    condition.own_mounts = true;
    worker_start(&few_mounts, &condition);
    condition.n_mounts = bench->mounts;
    worker_start(&many_mounts, &condition);
    run_rounds(subjects, COUNT(subjects), bench->rounds);
    print_subjects("conditions", subjects, COUNT(subjects));
    worker_stop(&small);
    worker_stop(&big);
    worker_stop(&few_mounts);
    worker_stop(&many_mounts);
}

static void add_all(struct samples *to, struct samples *from)
{
    for (size_t i = 0; i < from->n; i++)
        samples_add(to, from->ns[i]);
    to->n_failed += from->n_failed;
    samples_done(from);
}

/* Boxes cannot come and go between two runs, so they do between blocks of runs. */
static void measure_idle_latency(const struct bench *bench)
{
    enum { BLOCKS = 4 };
    struct worker other, holder;
    struct subject subjects[] = {
        { "plain", &other, SORT_PLAIN, { 0 } },
        { "other", &other, SORT_NONE, { 0 } },
        { "holder", &holder, SORT_NONE, { 0 } },
    };
    struct subject without[COUNT(subjects)] = {
        { "plain-0", NULL, SORT_PLAIN, { 0 } },
        { "other-0", NULL, SORT_PLAIN, { 0 } },
        { "holder-0", NULL, SORT_PLAIN, { 0 } },
    };
    struct subject with[COUNT(subjects)] = {
        { "plain-n", NULL, SORT_PLAIN, { 0 } },
        { "other-n", NULL, SORT_PLAIN, { 0 } },
        { "holder-n", NULL, SORT_PLAIN, { 0 } },
    };

    worker_start(&other, &(struct worker_condition){ .directory = bench->directory });
    worker_start(&holder, &(struct worker_condition){ .directory = bench->directory });
    for (size_t block = 0; block < BLOCKS; block++) {
        size_t rounds = (bench->rounds + BLOCKS - 1) / BLOCKS;

        run_rounds(subjects, COUNT(subjects), rounds);
        for (size_t i = 0; i < COUNT(subjects); i++)
            add_all(&without[i].samples, &subjects[i].samples);
        worker_hold(&holder, SORT_NONE, bench->boxes);
        run_rounds(subjects, COUNT(subjects), rounds);
        for (size_t i = 0; i < COUNT(subjects); i++)
            add_all(&with[i].samples, &subjects[i].samples);
        worker_release(&holder);
    }
    print_subjects("idle", without, COUNT(without));
    print_subjects("idle", with, COUNT(with));
    worker_stop(&other);
    worker_stop(&holder);
}

static void measure_idle_memory(const struct bench *bench, enum box_sort sort)
{
    struct memory_costs costs = { .n = 0 };
    struct worker holder;
    char name[64];

    worker_start(&holder, &(struct worker_condition){ .directory = bench->directory });
    for (int i = 0; i < MEMORY_TIMES; i++) {
        struct memory before, now;

        (void)worker_run(&holder, sort);
        memory_settle();
        memory_look(holder.pid, &before);
        worker_hold(&holder, sort, bench->boxes);
        memory_look(holder.pid, &now);
        memory_add(&costs, &before, &now);
        worker_release(&holder);
    }
    (void)snprintf(name, sizeof name, "library-%s", box_sort_name(sort));
    memory_print(name, &costs, bench->boxes);
    worker_stop(&holder);
}

static void measure_idle_boxes(const struct bench *bench)
{
    measure_idle_memory(bench, SORT_PLAIN);
    measure_idle_memory(bench, SORT_NONE);
    measure_idle_memory(bench, SORT_OFF);
    measure_idle_latency(bench);
}

static void prepare(const struct bench *bench)
{
    boxes_prepare(bench->directory);
}

static void measure_items(const struct bench *bench)
{
    struct worker worker;
    struct subject subjects[SORT_COUNT];
    size_t n = 0;

    boxes_prepare(bench->directory);
    worker_start(&worker, &(struct worker_condition){ .directory = bench->directory });
    subjects[n++] = (struct subject){ "none", &worker, SORT_NONE, { 0 } };
    for (enum box_sort sort = SORT_MASKS_100; sort < SORT_COUNT; sort++)
        subjects[n++] = (struct subject){ box_sort_name(sort), &worker, sort, { 0 } };
    run_rounds(subjects, n, bench->rounds);
    print_subjects("items", subjects, n);
    worker_stop(&worker);
}

struct spawner {
    pthread_t thread;
    coop_sandbox *sandbox;
    uint64_t start_ns, end_ns;
    size_t n_late; /* finished in the last tenth of the time */
    struct samples samples;
};

static void *spawn_until_end(void *argument)
{
    struct spawner *spawner = argument;
    uint64_t late = spawner->end_ns - (spawner->end_ns - spawner->start_ns) / 10;

    for (uint64_t now = spawner->start_ns; now < spawner->end_ns; now = measure_now_ns()) {
        samples_add(&spawner->samples, box_run(spawner->sandbox));
        if (now >= late)
            spawner->n_late++;
    }
    return NULL;
}

static void run_spawners(const struct bench *bench, enum box_sort sort, double seconds)
{
    struct spawner *spawners = measure_memory(bench->threads, sizeof *spawners);
    struct samples all = { 0 };
    uint64_t start = measure_now_ns();
    size_t n_late = 0;
    char name[64];

    for (size_t i = 0; i < bench->threads; i++) {
        if (sort != SORT_PLAIN)
            spawners[i].sandbox = box_sandbox(sort, bench->directory);
        spawners[i].start_ns = start;
        spawners[i].end_ns = start + (uint64_t)(seconds * 1e9);
        if (pthread_create(&spawners[i].thread, NULL, spawn_until_end, &spawners[i]) != 0)
            measure_die("cannot start a thread");
    }
    for (size_t i = 0; i < bench->threads; i++) {
        (void)pthread_join(spawners[i].thread, NULL);
        n_late += spawners[i].n_late;
        add_all(&all, &spawners[i].samples);
        coop_sandbox_free(spawners[i].sandbox);
    }
    double elapsed = (double)(measure_now_ns() - start) / 1e9;
    (void)snprintf(name, sizeof name, "%s-%zu", box_sort_name(sort), bench->threads);
    measure_print("throughput", name, "rate", (double)all.n / elapsed);
    measure_print("throughput", name, "late_rate", (double)n_late / (seconds / 10));
    measure_print("throughput", name, "seconds", elapsed);
    measure_print_samples("throughput", name, &all);
    samples_done(&all);
    free(spawners);
}

/* One long stretch, so that what the kernel puts off has to be paid within it. */
static void measure_throughput(const struct bench *bench)
{
    double seconds = (double)bench->seconds;

    run_spawners(bench, SORT_PLAIN, seconds / 10 < 1 ? 1 : seconds / 10);
    run_spawners(bench, SORT_NONE, seconds);
}

static const struct {
    const char *name;
    void (*run)(const struct bench *bench);
} modes[] = {
    { "latency", measure_latency },       { "conditions", measure_conditions },
    { "idle", measure_idle_boxes },       { "items", measure_items },
    { "throughput", measure_throughput }, { "prepare", prepare },
};

static void parse(struct bench *bench, int argc, char **argv)
{
    for (int c; (c = getopt(argc, argv, "b:d:g:m:n:r:s:t:u:")) != -1;) {
        size_t number = c == 'd' || c == '?' ? 0 : strtoul(optarg, NULL, 10);

        switch (c) {
        case 'b':
            bench->bytes = number;
            break;
        case 'd':
            bench->directory = optarg;
            break;
        case 'g':
            bench->gid = (gid_t)number;
            break;
        case 'm':
            bench->mounts = number;
            break;
        case 'n':
            bench->boxes = number;
            break;
        case 'r':
            bench->rounds = number;
            break;
        case 's':
            bench->seconds = number;
            break;
        case 't':
            bench->threads = number;
            break;
        case 'u':
            bench->uid = (uid_t)number;
            break;
        default:
            exit(2);
        }
    }
}

/* A box takes half a dozen descriptors of its holder. */
static void raise_open_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int main(int argc, char **argv)
{
    struct bench bench = {
        .rounds = 300,
        .bytes = 1u << 30,
        .mounts = 1000,
        .boxes = 1000,
        .threads = 2,
        .seconds = 60,
    };

    if (argc == 4 && strcmp(argv[1], "worker") == 0)
        worker_main(argv);
    if (argc > 1)
        parse(&bench, argc - 1, argv + 1);
    raise_open_files();
    for (size_t i = 0; argc > 1 && bench.directory && i < COUNT(modes); i++)
        if (strcmp(argv[1], modes[i].name) == 0) {
            modes[i].run(&bench);
            return 0;
        }
    measure_die("usage: library latency|conditions|idle|items|throughput|prepare -d DIR ...");
}
