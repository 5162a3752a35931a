#include "bench/boxes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/measure.h"

static char *const command[] = { (char[]){ "/bin/true" }, NULL };

static const struct {
    const char *name;
    coop_network network;
    size_t n_masks, n_binds;
} sorts[SORT_COUNT] = {
    [SORT_PLAIN] = { "plain", COOP_NETWORK_HOST, 0, 0 },
    [SORT_NONE] = { "none", COOP_NETWORK_NONE, 0, 0 },
    [SORT_OFF] = { "off", COOP_NETWORK_OFF, 0, 0 },
    [SORT_HOST] = { "host", COOP_NETWORK_HOST, 0, 0 },
    [SORT_MASKS_100] = { "masks-100", COOP_NETWORK_NONE, 100, 0 },
    [SORT_MASKS_250] = { "masks-250", COOP_NETWORK_NONE, 250, 0 },
    [SORT_MASKS_500] = { "masks-500", COOP_NETWORK_NONE, 500, 0 },
    [SORT_BINDS_100] = { "binds-100", COOP_NETWORK_NONE, 0, 100 },
    [SORT_BINDS_250] = { "binds-250", COOP_NETWORK_NONE, 0, 250 },
    [SORT_BINDS_500] = { "binds-500", COOP_NETWORK_NONE, 0, 500 },
};

const char *box_sort_name(enum box_sort sort)
{
    return sorts[sort].name;
}

static void must(int r, const coop_error *err)
{
    if (r < 0)
        measure_die("%s", coop_error_message(err));
}

static void make_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

    if (fd < 0)
        measure_die("make '%s': %s", path, strerror(errno));
    (void)close(fd);
}

static void make_directory(const char *path)
{
    if (mkdir(path, 0755) < 0 && errno != EEXIST)
        measure_die("make '%s': %s", path, strerror(errno));
}

void boxes_prepare(const char *directory)
{
    char path[4096];

    (void)snprintf(path, sizeof path, "%s/work", directory);
    make_directory(path);
    (void)snprintf(path, sizeof path, "%s/bind", directory);
    make_directory(path);
    for (size_t i = 0; i < BOXES_MOST_ITEMS; i++) {
        (void)snprintf(path, sizeof path, "%s/work/mask-%zu", directory, i);
        make_file(path);
        (void)snprintf(path, sizeof path, "%s/bind/%zu", directory, i);
        make_file(path);
    }
}

static void add_items(coop_policy *policy, enum box_sort sort, const char *directory)
{
    coop_error *err = NULL;
    char path[4096];
    char target[64];

    for (size_t i = 0; i < sorts[sort].n_masks; i++) {
        (void)snprintf(path, sizeof path, "mask-%zu", i);
        must(coop_policy_add_block(policy, path, &err), err);
    }
    for (size_t i = 0; i < sorts[sort].n_binds; i++) {
        (void)snprintf(path, sizeof path, "%s/bind/%zu", directory, i);
        (void)snprintf(target, sizeof target, "/data/%zu", i);
        must(coop_policy_add_bind(policy, path, target, true, &err), err);
    }
}

coop_sandbox *box_sandbox(enum box_sort sort, const char *directory)
{
    coop_policy *policy = NULL;
    coop_sandbox *sandbox = NULL;
    coop_error *err = NULL;
    char workspace[4096];

    (void)snprintf(workspace, sizeof workspace, "%s/work", directory);
    must(coop_policy_new(&policy, &err), err);
    must(coop_policy_set_workspace(policy, workspace, &err), err);
    must(coop_policy_set_network(policy, sorts[sort].network, &err), err);
    add_items(policy, sort, directory);
    must(coop_sandbox_new(policy, &sandbox, &err), err);
    coop_policy_free(policy);
    return sandbox;
}

uint64_t box_run(coop_sandbox *sandbox)
{
    coop_result *result = NULL;
    coop_error *err = NULL;

    if (!sandbox)
        return measure_spawn_wait(command, NULL, NULL);
    uint64_t start = measure_now_ns();
    int r = coop_run(sandbox, command, NULL, &result, &err);
    uint64_t end = measure_now_ns();
    if (r < 0) {
        (void)fprintf(stderr, "bench: %s\n", coop_error_message(err));
        coop_error_free(err);
        return 0;
    }
    bool is_good = coop_result_status(result) == 0 && coop_result_tier(result) == COOP_TIER_FULL;
    coop_result_free(result);
    return is_good ? end - start : 0;
}

static void note_output(void *context, coop_stream stream, const char *bytes, size_t n)
{
    (void)bytes;
    if (stream == COOP_STREAM_STDOUT)
        *(size_t *)context += n;
}

static void start_box(struct idle_boxes *idle, coop_sandbox *sandbox)
{
    static size_t n_said; /* boxes keep a pointer to it */
    const coop_run_options options = { .size = sizeof options,
                                       .on_output = note_output,
                                       .context = &n_said };
    coop_error *err = NULL;
    coop_box *box = NULL;
    size_t before = n_said;

    must(coop_start(sandbox, measure_idle, &options, &box, &err), err);
    while (n_said == before) {
        struct pollfd due = { .fd = coop_box_fd(box), .events = POLLIN };

        (void)poll(&due, 1, -1);
        int r = coop_step(box, &err);
        must(r, err);
        if (r > 0)
            measure_die("an idle command ended at once");
    }
    idle->boxes[idle->n++] = box;
}

static void start_plain(struct idle_boxes *idle, size_t n)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        measure_die("make a pipe: %s", strerror(errno));
    while (idle->n < n) {
        pid_t pid = measure_spawn(measure_idle, ends[1], NULL);

        if (pid < 0)
            measure_die("start an idle command: %s", strerror(-pid));
        idle->pids[idle->n++] = pid;
    }
    if (measure_await_bytes(ends[0], n) < n)
        measure_die("not all idle commands run");
    (void)close(ends[0]);
    (void)close(ends[1]);
}

void idle_start(struct idle_boxes *idle, coop_sandbox *sandbox, size_t n)
{
    *idle = (struct idle_boxes){ 0 };
    if (!sandbox) {
        idle->pids = measure_memory(n, sizeof *idle->pids);
        start_plain(idle, n);
        return;
    }
    idle->boxes = measure_memory(n, sizeof *idle->boxes);
    while (idle->n < n)
        start_box(idle, sandbox);
}

void idle_stop(struct idle_boxes *idle)
{
    for (size_t i = 0; i < idle->n; i++) {
        coop_result *result = NULL;

        if (idle->pids) {
            (void)kill(idle->pids[i], SIGKILL);
            (void)waitpid(idle->pids[i], NULL, 0);
        } else {
            (void)coop_kill(idle->boxes[i]);
            if (coop_wait(idle->boxes[i], &result, NULL) == 0)
                coop_result_free(result);
        }
    }
    free(idle->pids);
    free(idle->boxes);
    *idle = (struct idle_boxes){ 0 };
}
