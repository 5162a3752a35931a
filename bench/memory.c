#include "bench/memory.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure.h"

struct process {
    pid_t pid, parent;
};

struct processes {
    struct process *all; /* sorted by pid */
    size_t n, capacity;
};

static long number_after(const char *path, const char *key)
{
    char line[256];
    long value = -1;
    FILE *file = fopen(path, "re");

    if (!file)
        return -1;
    while (value < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0)
            value = strtol(line + strlen(key), NULL, 10);
    (void)fclose(file);
    return value;
}

static long meminfo(const char *key)
{
    long value = number_after("/proc/meminfo", key);

    return value < 0 ? 0 : value;
}

static pid_t parent_of(pid_t pid)
{
    char path[64];
    char text[512];
    int parent = 0;

    (void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    size_t n = fread(text, 1, sizeof text - 1, file);
    (void)fclose(file);
    text[n] = '\0';
    const char *after_name = strrchr(text, ')'); /* the name may hold anything */
    if (!after_name || sscanf(after_name + 1, " %*c %d", &parent) != 1)
        return 0;
    return parent;
}

static int compare_processes(const void *a, const void *b)
{
    const struct process *x = a;
    const struct process *y = b;

    return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static void list_processes(struct processes *out)
{
    DIR *dir = opendir("/proc");

    *out = (struct processes){ 0 };
    if (!dir)
        measure_die("cannot read /proc");
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        if (out->n == out->capacity) {
            out->capacity = out->capacity ? 2 * out->capacity : 1024;
            out->all = reallocarray(out->all, out->capacity, sizeof *out->all);
            if (!out->all)
                measure_die("out of memory");
        }
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        out->all[out->n++] = (struct process){ pid, parent_of(pid) };
    }
    (void)closedir(dir);
    qsort(out->all, out->n, sizeof *out->all, compare_processes);
}

static bool is_below(const struct processes *processes, const struct process *process, pid_t root)
{
    for (int depth = 0; process && depth < 64; depth++) {
        struct process parent = { process->parent, 0 };

        if (process->parent == root)
            return true;
        process = bsearch(&parent, processes->all, processes->n, sizeof parent, compare_processes);
    }
    return false;
}

/* A process that cannot be traced, as a box's init, shows its resident size only. */
static void add_process(pid_t pid, struct memory *out)
{
    char path[64];

    (void)snprintf(path, sizeof path, "/proc/%d/smaps_rollup", pid);
    long pss = number_after(path, "Pss:");
    if (pss < 0) {
        (void)snprintf(path, sizeof path, "/proc/%d/status", pid);
        pss = number_after(path, "VmRSS:");
        if (pss < 0)
            return; /* it has ended meanwhile */
        out->n_estimated++;
    }
    out->pss += pss;
    out->n_processes++;
}

void memory_look(pid_t root, struct memory *out)
{
    struct processes processes;

    *out = (struct memory){
        .slab = meminfo("Slab:"),
        .stacks = meminfo("KernelStack:"),
        .page_tables = meminfo("PageTables:"),
        .percpu = meminfo("Percpu:"),
        .available = meminfo("MemAvailable:"),
    };
    list_processes(&processes);
    for (size_t i = 0; i < processes.n; i++)
        if (processes.all[i].pid == root || is_below(&processes, &processes.all[i], root))
            add_process(processes.all[i].pid, out);
    free(processes.all);
}

/* Namespaces are torn down behind our backs, and nothing tells when: so look until it stands still. */
void memory_settle(void)
{
    long last = meminfo("Slab:");

    for (int i = 0, n_still = 0; i < 50 && n_still < 3; i++) {
        (void)usleep(100000);
        long now = meminfo("Slab:");

        n_still = labs(now - last) < last / 500 ? n_still + 1 : 0;
        last = now;
    }
}

void memory_kill_descendants(void)
{
    struct processes processes;

    list_processes(&processes);
    for (size_t i = 0; i < processes.n; i++)
        if (is_below(&processes, &processes.all[i], getpid()))
            (void)kill(processes.all[i].pid, SIGKILL);
    free(processes.all);
}

static long sum_of(const struct memory *memory)
{
    return memory->pss + memory->slab + memory->stacks + memory->page_tables;
}

static int compare_sums(const void *a, const void *b)
{
    long x = sum_of(a);
    long y = sum_of(b);

    return x < y ? -1 : x > y;
}

void memory_add(struct memory_costs *costs, const struct memory *before, const struct memory *now)
{
    if (costs->n == MEMORY_TIMES)
        return;
    costs->all[costs->n++] = (struct memory){
        .pss = now->pss - before->pss,
        .slab = now->slab - before->slab,
        .stacks = now->stacks - before->stacks,
        .page_tables = now->page_tables - before->page_tables,
        .percpu = now->percpu - before->percpu,
        .available = now->available - before->available,
        .n_processes = now->n_processes - before->n_processes,
        .n_estimated = now->n_estimated,
    };
}

void memory_print(const char *name, struct memory_costs *costs, size_t n)
{
    double each = n ? (double)n : 1;

    qsort(costs->all, costs->n, sizeof *costs->all, compare_sums);
    const struct memory *cost = &costs->all[costs->n / 2];
    measure_print("memory", name, "sum", (double)sum_of(cost) / each);
    measure_print("memory", name, "pss", (double)cost->pss / each);
    measure_print("memory", name, "slab", (double)cost->slab / each);
    measure_print("memory", name, "stacks", (double)cost->stacks / each);
    measure_print("memory", name, "page_tables", (double)cost->page_tables / each);
    measure_print("memory", name, "percpu", (double)cost->percpu / each);
    measure_print("memory", name, "available_drop", (double)-cost->available / each);
    measure_print("memory", name, "processes", (double)cost->n_processes / each);
    measure_print("memory", name, "estimated", (double)cost->n_estimated / each);
}
