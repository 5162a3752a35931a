#include "resolver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "gate/gate.h"
#include "gate/question.h"

#define HOSTS_MS   5000 /* that an answer of a file is kept */
#define FAILED_MS  2000
#define ANSWER_MIN 1 /* seconds */
#define ANSWER_MAX 300

static const uint8_t own[2][ADDRESS_BYTES] = {
    { [15] = 1 },
    { [10] = 0xff, 0xff, 127, 0, 0, 1 },
};

/* ---- answers */

static struct gate_answer *new_answer(const struct gate *gate, int64_t keep_ms, int error,
                                      uint8_t (*addresses)[ADDRESS_BYTES], size_t n)
{
    struct gate_answer *answer = malloc(sizeof *answer + n * ADDRESS_BYTES);

    if (!answer)
        return NULL;
    *answer = (struct gate_answer){ .good_until_ms = gate->loop.now_ms + keep_ms,
                                    .error = error,
                                    .n = (unsigned)n };
    if (n > 0)
        memcpy(answer->addresses, addresses, n * ADDRESS_BYTES);
    return answer;
}

static void keep(struct gate_name *name, struct gate_answer *answer)
{
    if (!answer)
        return;
    free(name->answer);
    name->answer = answer;
}

static void answer_with(struct gate *gate, struct gate_name *name, struct gate_waiter *waiter)
{
    static const struct gate_answer none = { .error = ENOMEM };

    waiter->answered(gate, waiter, name->answer ? name->answer : &none);
}

/* ---- files */

int gate_resolver_init(struct gate_resolver *resolver)
{
    *resolver = (struct gate_resolver){
        .hosts_fd = openat(AT_FDCWD, GATE_HOSTS_FILE, O_RDONLY | O_CLOEXEC),
        .servers_fd = openat(AT_FDCWD, GATE_SERVERS_FILE, O_RDONLY | O_CLOEXEC),
    };
    return 0;
}

/* The file as it is now; where the gate may not open it any more, as it was. */
static ssize_t read_file(int fd, int kept_fd, void *out, size_t size, off_t at)
{
    if (fd < 0 && kept_fd < 0)
        return -1;
    return pread(fd < 0 ? kept_fd : fd, out, size, at);
}

/* Whole lines at a time, in the scratch: a list of refused hosts can be long. */
static size_t find_in_hosts(struct gate *gate, const char *name, uint8_t out[][ADDRESS_BYTES],
                            size_t most)
{
    auto_close int fd = openat(AT_FDCWD, GATE_HOSTS_FILE, O_RDONLY | O_CLOEXEC);
    off_t at = 0;
    size_t n_left = 0;
    size_t n = 0;

    for (ssize_t got = 1; got > 0;) {
        got = read_file(fd, gate->resolver.hosts_fd, gate->scratch + n_left, GATE_SCRATCH - n_left,
                        at);
        at += got > 0 ? got : 0;
        size_t length = n_left + (got > 0 ? (size_t)got : 0);
        const char *last = got > 0 ? memrchr(gate->scratch, '\n', length) : NULL;
        size_t whole = last ? (size_t)(last - gate->scratch) + 1 : got > 0 ? 0 : length;

        n = gate_hosts_find(gate->scratch, whole, name, out, n, most);
        n_left = length - whole;
        if (n_left == GATE_SCRATCH) /* no line is as long as that */
            return n;
        memmove(gate->scratch, gate->scratch + whole, n_left);
    }
    return n;
}

static void read_servers(struct gate *gate)
{
    auto_close int fd = openat(AT_FDCWD, GATE_SERVERS_FILE, O_RDONLY | O_CLOEXEC);
    struct gate_servers *servers = &gate->resolver.servers;
    ssize_t n = read_file(fd, gate->resolver.servers_fd, gate->scratch, GATE_SCRATCH, 0);

    gate_servers_read(gate->scratch, n < 0 ? 0 : (size_t)n, servers);
    if (servers->n == 0) { /* as the C library has it */
        memcpy(servers->addresses[0], own[1], ADDRESS_BYTES);
        servers->n = 1;
    }
}

static bool is_localhost(const char *name)
{
    size_t n = strlen(name);

    return strcmp(name, "localhost") == 0 || (n > 10 && strcmp(name + n - 10, ".localhost") == 0);
}

/* Without asking anybody: false if only others know. */
static bool answer_from_files(struct gate *gate, struct gate_name *name)
{
    uint8_t addresses[GATE_ANSWER_MOST][ADDRESS_BYTES];
    size_t n = find_in_hosts(gate, name->text, addresses, GATE_ANSWER_MOST);

    if (n == 0 && is_localhost(name->text)) {
        memcpy(addresses, own, sizeof own);
        n = 2;
    }
    if (n == 0)
        return false;
    keep(name, new_answer(gate, HOSTS_MS, 0, addresses, n));
    return true;
}

/* ---- servers */

/* In turn from both families. */
static size_t collect(const struct gate_question *question, uint8_t out[][ADDRESS_BYTES],
                      uint32_t *ttl)
{
    size_t n = 0;

    *ttl = ANSWER_MAX;
    for (unsigned i = 0; i < DNS_ADDRESSES_MAX; i++)
        for (unsigned j = 0; j < 2; j++) {
            const struct gate_question_part *part = &question->parts[j];

            if (i >= part->n || n == GATE_ANSWER_MOST)
                continue;
            if (part->ttl < *ttl)
                *ttl = part->ttl;
            memcpy(out[n++], part->addresses[i], ADDRESS_BYTES);
        }
    if (*ttl < ANSWER_MIN)
        *ttl = ANSWER_MIN;
    return n;
}

static bool is_answered(const struct gate_question *question)
{
    return question->has_no_name || question->parts[0].is_done || question->parts[1].is_done;
}

void gate_resolver_answered(struct gate *gate, struct gate_question *question)
{
    uint8_t addresses[GATE_ANSWER_MOST][ADDRESS_BYTES];
    struct gate_name *name = question->name;
    uint32_t ttl = 0;
    size_t n = collect(question, addresses, &ttl);
    int error = is_answered(question) ? ENOENT : question->error;

    keep(name, new_answer(gate, n ? ttl * INT64_C(1000) : FAILED_MS, error, addresses, n));
    name->question = NULL;
    gate->resolver.n_questions--;
    while (question->waiters.next != &question->waiters) {
        struct gate_waiter *waiter = question->waiters.next;

        gate_resolver_forget(waiter);
        answer_with(gate, name, waiter);
    }
    loop_free(&gate->loop, &question->dead);
}

/* ---- */

void gate_resolver_forget(struct gate_waiter *waiter)
{
    if (!waiter->next)
        return;
    waiter->previous->next = waiter->next;
    waiter->next->previous = waiter->previous;
    waiter->previous = waiter->next = NULL;
}

static struct gate_question *new_question(struct gate *gate, struct gate_name *name)
{
    struct gate_question *question =
        gate->resolver.n_questions < GATE_QUESTIONS_MOST ? calloc(1, sizeof *question) : NULL;

    if (!question)
        return NULL;
    read_servers(gate);
    question->name = name;
    question->waiters.previous = question->waiters.next = &question->waiters;
    question->source.fd = -1;
    question->servers = gate->resolver.servers;
    gate->resolver.n_questions++;
    name->question = question;
    return question;
}

static void wait_for(struct gate_question *question, struct gate_waiter *waiter)
{
    waiter->previous = question->waiters.previous;
    waiter->next = &question->waiters;
    question->waiters.previous->next = waiter;
    question->waiters.previous = waiter;
}

void gate_resolver_ask(struct gate *gate, struct gate_name *name, struct gate_waiter *waiter)
{
    static const struct gate_answer too_many = { .error = EBUSY };

    if (name->answer && name->answer->good_until_ms > gate->loop.now_ms) {
        answer_with(gate, name, waiter);
    } else if (name->question) {
        wait_for(name->question, waiter);
    } else if (answer_from_files(gate, name)) {
        answer_with(gate, name, waiter);
    } else {
        struct gate_question *question = new_question(gate, name);

        if (!question) {
            waiter->answered(gate, waiter, &too_many);
            return;
        }
        wait_for(question, waiter);
        gate_question_begin(gate, question);
    }
}
