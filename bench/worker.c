#include "bench/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/measure.h"

#define ORDERS_FD 3

enum order_kind { ORDER_RUN, ORDER_HOLD, ORDER_RELEASE };

struct order {
    enum order_kind kind;
    enum box_sort sort;
    size_t n;
};

static void write_text(const char *path, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void write_text(const char *path, const char *format, ...)
{
    va_list args;
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    va_start(args, format);
    if (fd < 0 || vdprintf(fd, format, args) < 0)
        measure_die("write '%s': %s", path, strerror(errno));
    va_end(args);
    (void)close(fd);
}

static void enter_namespaces(void)
{
    uid_t uid = geteuid();
    gid_t gid = getegid();

    if (unshare(uid == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) < 0)
        measure_die("make a mount namespace: %s", strerror(errno));
    if (uid != 0) { /* the same ids again: coop is to take the way of an ordinary user */
        write_text("/proc/self/setgroups", "deny");
        write_text("/proc/self/uid_map", "%u %u 1", uid, uid);
        write_text("/proc/self/gid_map", "%u %u 1", gid, gid);
    }
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        measure_die("make the mounts private: %s", strerror(errno));
}

static void add_mounts(const struct worker_condition *condition)
{
    char place[4096];

    (void)snprintf(place, sizeof place, "%s/mounts", condition->directory);
    if ((mkdir(place, 0755) < 0 && errno != EEXIST) ||
        mount("bench", place, "tmpfs", MS_NOSUID | MS_NODEV, NULL) < 0 || chdir(place) < 0)
        measure_die("mount a tmpfs at '%s': %s", place, strerror(errno));
    for (size_t i = 0; i < condition->n_mounts; i++) {
        char name[32];

        (void)snprintf(name, sizeof name, "%zu", i);
        if (mkdir(name, 0755) < 0 || mount(name, name, NULL, MS_BIND, NULL) < 0)
            measure_die("mount number %zu: %s", i, strerror(errno));
    }
    if (chdir("/") < 0)
        measure_die("change directory: %s", strerror(errno));
}

static void drop_privilege(const struct worker_condition *condition)
{
    if (geteuid() != 0 || condition->uid == 0)
        return;
    if (setgroups(0, NULL) < 0 || setresgid(condition->gid, condition->gid, condition->gid) < 0 ||
        setresuid(condition->uid, condition->uid, condition->uid) < 0)
        measure_die("become user %u: %s", condition->uid, strerror(errno));
}

/* Executing ourselves anew gives up capabilities, shared pages and the mark of changed ids. */
static _Noreturn void become_worker(const struct worker_condition *condition, int fd)
{
    char bytes[32];
    char directory[4096];

    if (condition->own_mounts) {
        enter_namespaces();
        add_mounts(condition);
    }
    drop_privilege(condition);
    (void)snprintf(bytes, sizeof bytes, "%zu", condition->touched_bytes);
    (void)snprintf(directory, sizeof directory, "%s", condition->directory);
    char *argv[] = { (char[]){ "library" }, (char[]){ "worker" }, directory, bytes, NULL };
    if (fd == ORDERS_FD ? fcntl(fd, F_SETFD, 0) < 0 : dup2(fd, ORDERS_FD) < 0)
        measure_die("pass a descriptor on: %s", strerror(errno));
    (void)execv("/proc/self/exe", argv);
    measure_die("start a worker: %s", strerror(errno));
}

static uint64_t await_answer(const struct worker *worker)
{
    uint64_t answer = 0;

    if (recv(worker->fd, &answer, sizeof answer, 0) != (ssize_t)sizeof answer)
        measure_die("a worker has ended");
    return answer;
}

void worker_start(struct worker *worker, const struct worker_condition *condition)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        measure_die("make a socket: %s", strerror(errno));
    worker->pid = fork();
    if (worker->pid < 0)
        measure_die("fork: %s", strerror(errno));
    if (worker->pid == 0)
        become_worker(condition, ends[1]);
    (void)close(ends[1]);
    worker->fd = ends[0];
    (void)await_answer(worker); /* it stands in its condition */
}

void worker_stop(struct worker *worker)
{
    (void)close(worker->fd);
    (void)waitpid(worker->pid, NULL, 0);
}

static uint64_t ask(struct worker *worker, const struct order *order)
{
    if (send(worker->fd, order, sizeof *order, MSG_NOSIGNAL) < 0)
        measure_die("a worker has ended");
    return await_answer(worker);
}

uint64_t worker_run(struct worker *worker, enum box_sort sort)
{
    return ask(worker, &(struct order){ ORDER_RUN, sort, 1 });
}

void worker_hold(struct worker *worker, enum box_sort sort, size_t n)
{
    (void)ask(worker, &(struct order){ ORDER_HOLD, sort, n });
}

void worker_release(struct worker *worker)
{
    (void)ask(worker, &(struct order){ ORDER_RELEASE, SORT_PLAIN, 0 });
}

/* In small pages: the dearest for whoever copies page tables. */
static void touch_memory(size_t n)
{
    if (n == 0)
        return;
    char *memory = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        measure_die("out of memory");
    (void)madvise(memory, n, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < n; i += 4096)
        memory[i] = 1;
}

static void answer(uint64_t value)
{
    if (send(ORDERS_FD, &value, sizeof value, MSG_NOSIGNAL) < 0)
        exit(0);
}

static coop_sandbox *sandbox_for(enum box_sort sort, const char *directory)
{
    static coop_sandbox *sandboxes[SORT_COUNT];

    if (sort != SORT_PLAIN && !sandboxes[sort])
        sandboxes[sort] = box_sandbox(sort, directory);
    return sandboxes[sort];
}

void worker_main(char *const argv[])
{
    const char *directory = argv[2];
    struct idle_boxes idle = { 0 };
    struct order order;

    (void)fcntl(ORDERS_FD, F_SETFD, FD_CLOEXEC);
    touch_memory(strtoul(argv[3], NULL, 10));
    answer(1);
    while (recv(ORDERS_FD, &order, sizeof order, 0) == (ssize_t)sizeof order) {
        coop_sandbox *sandbox = sandbox_for(order.sort, directory);

        switch (order.kind) {
        case ORDER_RUN:
            answer(box_run(sandbox));
            break;
        case ORDER_HOLD:
            idle_start(&idle, sandbox, order.n);
            answer(1);
            break;
        case ORDER_RELEASE:
            idle_stop(&idle);
            answer(1);
            break;
        }
    }
    exit(0);
}
