/*
 * mcp.c - what the tools cost through the Model Context Protocol
 *
 *   mcp -c COOP -d DIR [-n SERVER.js] [-r ROUNDS]
 *
 * Three things, each interleaved within itself in a fresh random order each round:
 *
 *   mcp-start  from the start of a server to its first answer
 *   mcp-read   reading a file, of 4 KiB and of 400 KiB
 *   mcp-bash   'bash true' through the server against the same call of the library
 *
 * SERVER.js is the reference filesystem server for node; without it only coop is measured. DIR is a
 * private directory of the user.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "bench/measure.h"
#include "coop/tools.h"

#define WARM_UPS  20
#define STARTS    20 /* a start takes as long as a hundred reads */
#define MAX_WORDS 8

extern char **environ;

struct server {
    pid_t pid;
    int to_fd, from_fd;
    struct buffer read;
};

/* ---- a server and its messages */

static void server_start(struct server *server, const char *const *words)
{
    posix_spawn_file_actions_t actions;
    int to[2];
    int from[2];

    if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
        measure_die("make a pipe: %s", strerror(errno));
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_adddup2(&actions, to[0], 0);
    (void)posix_spawn_file_actions_adddup2(&actions, from[1], 1);
    (void)posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    int r = posix_spawnp(&server->pid, words[0], &actions, NULL, (char *const *)words, environ);
    if (r != 0)
        measure_die("start '%s': %s", words[0], strerror(r));
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(to[0]);
    (void)close(from[1]);
    server->to_fd = to[1];
    server->from_fd = from[0];
    server->read = (struct buffer){ 0 };
}

static void server_end(struct server *server)
{
    (void)close(server->to_fd);
    (void)close(server->from_fd);
    (void)kill(server->pid, SIGTERM);
    while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    buffer_done(&server->read);
}

/* Sends a line, waits for the next one, which is the answer. */
static const char *ask(struct server *server, const char *line)
{
    size_t n = strlen(line);

    if (write(server->to_fd, line, n) != (ssize_t)n)
        measure_die("the server does not listen");
    server->read.length = 0;
    while (server->read.length == 0 || server->read.data[server->read.length - 1] != '\n') {
        if (!buffer_reserve(&server->read, 65536))
            measure_die("out of memory");
        ssize_t got = read(server->from_fd, server->read.data + server->read.length, 65536);
        if (got <= 0)
            measure_die("the server does not answer");
        server->read.length += (size_t)got;
    }
    server->read.data[server->read.length] = '\0';
    return server->read.data;
}

static void say(struct server *server, const char *line)
{
    if (write(server->to_fd, line, strlen(line)) != (ssize_t)strlen(line))
        measure_die("the server does not listen");
}

static const char initialize[] =
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
    "\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}}}\n";

static void greet(struct server *server)
{
    if (!strstr(ask(server, initialize), "serverInfo"))
        measure_die("'initialize' was not understood: %s", server->read.data);
    say(server, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
}

/* ---- subjects: something to do, and how long it took each time */

struct subject {
    const char *group, *name;
    uint64_t (*run)(struct subject *subject); /* nanoseconds */
    const char *words[MAX_WORDS];             /* of the server */
    struct server server;
    char line[1024];      /* what is asked */
    const char *expected; /* what the answer has in it */
    coop_tools *tools;    /* without a server */
    struct samples samples;
};

static uint64_t run_start(struct subject *subject)
{
    struct server server;
    uint64_t begin = measure_now_ns();

    server_start(&server, subject->words);
    if (!strstr(ask(&server, initialize), "serverInfo"))
        measure_die("'initialize' was not understood");
    uint64_t end = measure_now_ns();
    server_end(&server);
    return end - begin;
}

static uint64_t run_ask(struct subject *subject)
{
    uint64_t begin = measure_now_ns();
    const char *answer = ask(&subject->server, subject->line);
    uint64_t end = measure_now_ns();

    if (!strstr(answer, subject->expected))
        measure_die("%s: %.300s", subject->name, answer);
    return end - begin;
}

static uint64_t run_library(struct subject *subject)
{
    static const char arguments[] = "{\"command\":\"true\"}";
    coop_tool_result *result = NULL;
    auto_error coop_error *err = NULL;
    uint64_t begin = measure_now_ns();

    if (coop_execute(subject->tools, "bash", arguments, sizeof arguments - 1, NULL, &result, &err) <
            0 ||
        coop_tool_result_is_error(result))
        measure_die("library: %s", err ? coop_error_message(err) : "the tool failed");
    uint64_t end = measure_now_ns();
    coop_tool_result_free(result);
    return end - begin;
}

static void run_rounds(struct subject *subjects, size_t n, size_t warm_ups, size_t rounds)
{
    size_t order[16];

    for (size_t i = 0; i < n; i++) {
        if (subjects[i].run == run_ask) {
            server_start(&subjects[i].server, subjects[i].words);
            greet(&subjects[i].server);
        }
        for (size_t j = 0; j < warm_ups; j++)
            (void)subjects[i].run(&subjects[i]);
    }
    for (size_t round = 0; round < rounds; round++) {
        measure_shuffle(order, n);
        for (size_t i = 0; i < n; i++)
            samples_add(&subjects[order[i]].samples, subjects[order[i]].run(&subjects[order[i]]));
    }
    for (size_t i = 0; i < n; i++) {
        measure_print_samples(subjects[i].group, subjects[i].name, &subjects[i].samples);
        samples_done(&subjects[i].samples);
        if (subjects[i].run == run_ask)
            server_end(&subjects[i].server);
    }
}

/* ---- what is measured */

struct bench {
    const char *coop, *directory, *node_server;
    size_t rounds;
};

static void measure_starts(const struct bench *bench)
{
    struct subject subjects[] = {
        { .group = "mcp-start",
          .name = "coop",
          .run = run_start,
          .words = { bench->coop, "mcp", "--workspace", bench->directory } },
        { .group = "mcp-start",
          .name = "node",
          .run = run_start,
          .words = { "node", bench->node_server, bench->directory } },
    };

    run_rounds(subjects, bench->node_server ? 2 : 1, 2, bench->rounds / STARTS + 3);
}

static void make_file(const char *path, size_t n)
{
    FILE *file = fopen(path, "we");

    if (!file)
        measure_die("make '%s': %s", path, strerror(errno));
    for (size_t i = 0; i < n / 64; i++)
        (void)fprintf(file, "%06zu the quick brown fox jumps over the lazy dog, and again.\n", i);
    if (fclose(file) != 0)
        measure_die("write '%s'", path);
}

/* The same call of the same tool, and coop's own. */
static void measure_reads(const struct bench *bench, const char *size, size_t n)
{
    char path[512];
    char names[3][32];
    struct subject subjects[] = {
        { .words = { bench->coop, "mcp", "--filesystem-names", bench->directory } },
        { .words = { bench->coop, "mcp", "--workspace", bench->directory } },
        { .words = { "node", bench->node_server, bench->directory } },
    };
    static const char *const prefixes[] = { "coop", "coop-own", "node" };

    (void)snprintf(path, sizeof path, "%s/read-%s", bench->directory, size);
    make_file(path, n);
    for (size_t i = 0; i < COUNT(subjects); i++) {
        bool is_own = i == 1;

        (void)snprintf(names[i], sizeof names[i], "%s-%s", prefixes[i], size);
        subjects[i].group = "mcp-read";
        subjects[i].name = names[i];
        subjects[i].run = run_ask;
        subjects[i].expected = "quick brown fox";
        (void)snprintf(subjects[i].line, sizeof subjects[i].line,
                       "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
                       "{\"name\":\"%s\",\"arguments\":{\"path\":\"%s%s\"}}}\n",
                       is_own ? "read_file" : "read_text_file", is_own ? "read-" : path,
                       is_own ? size : "");
    }
    run_rounds(subjects, bench->node_server ? 3 : 2, WARM_UPS, bench->rounds);
}

static void measure_bash(const struct bench *bench)
{
    const coop_tools_context context = { .size = sizeof context, .workspace = bench->directory };
    auto_error coop_error *err = NULL;
    struct subject subjects[] = {
        { .group = "mcp-bash", .name = "library", .run = run_library },
        { .group = "mcp-bash",
          .name = "mcp",
          .run = run_ask,
          .words = { bench->coop, "mcp", "--workspace", bench->directory },
          .line = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                  "\"bash\",\"arguments\":{\"command\":\"true\"}}}\n",
          .expected = "\"exit_code\":0" },
    };

    if (coop_tools_new(&context, &subjects[0].tools, &err) < 0)
        measure_die("%s", coop_error_message(err));
    run_rounds(subjects, COUNT(subjects), WARM_UPS, bench->rounds);
    coop_tools_free(subjects[0].tools);
}

int main(int argc, char **argv)
{
    struct bench bench = { .rounds = 400 };
    int option;

    while ((option = getopt(argc, argv, "c:d:n:r:")) != -1)
        switch (option) {
        case 'c':
            bench.coop = optarg;
            break;
        case 'd':
            bench.directory = optarg;
            break;
        case 'n':
            bench.node_server = *optarg ? optarg : NULL;
            break;
        case 'r':
            bench.rounds = strtoul(optarg, NULL, 10);
            break;
        default:
            return 2;
        }
    if (!bench.coop || !bench.directory)
        measure_die("usage: mcp -c COOP -d DIR [-n SERVER.js] [-r ROUNDS]");
    (void)signal(SIGPIPE, SIG_IGN);
    measure_starts(&bench);
    measure_reads(&bench, "4k", 4096);
    measure_reads(&bench, "400k", 409600);
    measure_bash(&bench);
    return 0;
}
