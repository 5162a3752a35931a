/*
 * spawn.c - what it costs to start a command through a launcher
 *
 * All launchers take their turns in one process, in a fresh random order each round, so that the
 * drift of a busy machine hits all of them alike: the ratio to a plain posix_spawn of the same
 * command means something even where the absolute numbers do not.
 *
 *   spawn latency -f FILE [-f FILE]... [-g GROUP] [-r ROUNDS] [-s FILTER]
 *   spawn memory  -f FILE -l LAUNCHER [-n COUNT] [-s FILTER]
 *
 * A file holds one launcher a line: name, TAB, words. The word @CMD@ stands for the command. Words
 * are split as the shell does it, with variables but without command substitution; a word before
 * them of the form ?NAME leaves the launcher out unless the variable NAME is set. Launchers whose
 * program is not installed are left out. FILTER, a seccomp program, is open at descriptor 9.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

#include "bench/measure.h"
#include "bench/memory.h"

#define MAX_LAUNCHERS 64
#define WARM_UPS      3

struct launcher {
    char *name;
    char **words;
    size_t n_words;
    char **argv; /* with the command in place */
    struct samples wall, cpu;
};

struct bench {
    struct launcher launchers[MAX_LAUNCHERS];
    size_t n;
    size_t rounds, count;
    const char *group, *filter_path, *only;
};

static char *const true_command[] = { (char[]){ "/bin/true" }, NULL };

static char **with_command(const struct launcher *launcher, char *const command[])
{
    size_t n = 0;
    size_t n_command = 0;

    while (command[n_command])
        n_command++;
    char **argv = measure_memory(launcher->n_words + n_command + 1, sizeof *argv);
    for (size_t i = 0; i < launcher->n_words; i++) {
        if (strcmp(launcher->words[i], "@CMD@") != 0)
            argv[n++] = launcher->words[i];
        else
            for (size_t j = 0; j < n_command; j++)
                argv[n++] = command[j];
    }
    return argv;
}

static bool is_installed(const char *program)
{
    const char *path = getenv("PATH");
    char candidate[4096];

    if (strchr(program, '/'))
        return access(program, X_OK) == 0;
    for (; path && *path; path += strspn(path, ":")) {
        size_t n = strcspn(path, ":");

        (void)snprintf(candidate, sizeof candidate, "%.*s/%s", (int)n, path, program);
        if (access(candidate, X_OK) == 0)
            return true;
        path += n;
    }
    return false;
}

static void add_launcher(struct bench *bench, const char *name, const char *text)
{
    wordexp_t words;
    struct launcher *launcher = &bench->launchers[bench->n];

    if (bench->n == MAX_LAUNCHERS)
        measure_die("more than %d launchers", MAX_LAUNCHERS);
    if (*text == '?') {
        char variable[64];
        size_t n = strcspn(++text, " \t");

        (void)snprintf(variable, sizeof variable, "%.*s", (int)n, text);
        text += n + strspn(text + n, " \t");
        const char *value = getenv(variable);
        if (!value || !*value)
            return;
    }
    if (wordexp(text, &words, WRDE_NOCMD) != 0 || words.we_wordc == 0)
        measure_die("cannot split the words of launcher '%s'", name);
    if (strcmp(words.we_wordv[0], "@CMD@") != 0 && !is_installed(words.we_wordv[0]))
        return;
    launcher->name = strdup(name);
    launcher->words = words.we_wordv;
    launcher->n_words = words.we_wordc;
    bench->n++;
}

static void load(struct bench *bench, const char *path)
{
    char *line = NULL;
    size_t capacity = 0;
    FILE *file = fopen(path, "re");

    if (!file)
        measure_die("open '%s': %s", path, strerror(errno));
    while (getline(&line, &capacity, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        char *text = strchr(line, '\t');
        if (!text || *line == '#')
            continue;
        *text++ = '\0';
        text += strspn(text, "\t ");
        if (!bench->only || strcmp(bench->only, line) == 0)
            add_launcher(bench, line, text);
    }
    free(line);
    (void)fclose(file);
}

/* A launcher that cannot start the command here is named and left out. */
static void warm_up(struct bench *bench)
{
    size_t kept = 0;

    for (size_t i = 0; i < bench->n; i++) {
        struct launcher *launcher = &bench->launchers[i];
        bool works = true;

        for (int j = 0; j < WARM_UPS && works; j++)
            works = measure_spawn_wait(launcher->argv, bench->filter_path, NULL) != 0;
        if (works)
            bench->launchers[kept++] = *launcher;
        else
            (void)fprintf(stderr, "bench: '%s' does not work here and is left out\n",
                          launcher->name);
    }
    bench->n = kept;
}

static void measure_latency(struct bench *bench)
{
    size_t order[MAX_LAUNCHERS];

    for (size_t i = 0; i < bench->n; i++)
        bench->launchers[i].argv = with_command(&bench->launchers[i], true_command);
    warm_up(bench);
    for (size_t round = 0; round < bench->rounds; round++) {
        measure_shuffle(order, bench->n);
        for (size_t i = 0; i < bench->n; i++) {
            struct launcher *launcher = &bench->launchers[order[i]];
            uint64_t cpu_ns = 0;

            samples_add(&launcher->wall,
                        measure_spawn_wait(launcher->argv, bench->filter_path, &cpu_ns));
            samples_add(&launcher->cpu, cpu_ns);
        }
    }
    for (size_t i = 0; i < bench->n; i++) {
        struct launcher *launcher = &bench->launchers[i];

        measure_print_samples(bench->group, launcher->name, &launcher->wall);
        measure_print(bench->group, launcher->name, "cpu", samples_us(&launcher->cpu, 0.5));
    }
}

static void start_idle(const struct bench *bench, const struct launcher *launcher, pid_t *pids)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        measure_die("make a pipe: %s", strerror(errno));
    for (size_t i = 0; i < bench->count; i++) {
        pids[i] = measure_spawn(launcher->argv, ends[1], bench->filter_path);
        if (pids[i] < 0)
            measure_die("start number %zu of '%s': %s", i, launcher->name, strerror(-pids[i]));
    }
    (void)close(ends[1]);
    size_t n_running = measure_await_bytes(ends[0], bench->count);
    (void)close(ends[0]);
    if (n_running == bench->count)
        return;
    memory_kill_descendants();
    measure_die("only %zu of %zu started by '%s' run", n_running, bench->count, launcher->name);
}

static void measure_memory_of(struct bench *bench, struct launcher *launcher)
{
    pid_t *pids = measure_memory(bench->count, sizeof *pids);
    struct memory_costs costs = { .n = 0 };

    launcher->argv = with_command(launcher, measure_idle);
    for (int i = 0; i < MEMORY_TIMES; i++) {
        struct memory before, now;

        memory_settle();
        memory_look(getpid(), &before);
        start_idle(bench, launcher, pids);
        memory_look(getpid(), &now);
        memory_add(&costs, &before, &now);
        memory_kill_descendants();
        for (size_t j = 0; j < bench->count; j++)
            (void)waitpid(pids[j], NULL, 0);
    }
    memory_print(launcher->name, &costs, bench->count);
    free(pids);
}

static void parse(struct bench *bench, int argc, char **argv)
{
    const char *files[8];
    size_t n_files = 0;

    for (int c; (c = getopt(argc, argv, "f:g:l:n:r:s:")) != -1;) {
        switch (c) {
        case 'f':
            if (n_files < 8)
                files[n_files++] = optarg;
            break;
        case 'g':
            bench->group = optarg;
            break;
        case 'l':
            bench->only = optarg;
            break;
        case 'n':
            bench->count = strtoul(optarg, NULL, 10);
            break;
        case 'r':
            bench->rounds = strtoul(optarg, NULL, 10);
            break;
        case 's':
            bench->filter_path = *optarg ? optarg : NULL;
            break;
        default:
            exit(2);
        }
    }
    for (size_t i = 0; i < n_files; i++)
        load(bench, files[i]);
}

int main(int argc, char **argv)
{
    static struct bench bench = { .rounds = 300, .count = 100, .group = "latency" };
    const char *mode = argc > 1 ? argv[1] : "";

    if (argc > 1)
        parse(&bench, argc - 1, argv + 1);
    if (strcmp(mode, "latency") == 0)
        measure_latency(&bench);
    else if (strcmp(mode, "memory") == 0 && bench.n == 1)
        measure_memory_of(&bench, &bench.launchers[0]);
    else
        measure_die("usage: spawn latency|memory -f FILE ...; memory needs one launcher");
    return 0;
}
