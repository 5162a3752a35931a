/*
 * gate.c - coop-gate: what leaves a box, and what comes in
 *
 * Started by the supervisor with its socket as descriptor 0 and the rules as 1 (gate_protocol.h).
 * It reads what hostile code has written, so it gives up all that it does not need before the
 * first byte of the box comes. It ends when the supervisor does, or wants it to: at the end of file.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gate/control.h"
#include "gate/gate.h"
#include "gate/lockdown.h"
#include "gate/own.h"
#include "gate/publish.h"
#include "sys/kernel.h"

#define RULES_MOST (16u << 20) /* bytes */

static struct gate gate;

/* What could not be done. What was sent to us is read: else the kernel would tell the supervisor of
 * a broken connection instead. */
static int give_up(int error, const char *step)
{
    struct gate_event event = { .kind = GATE_EVENT_READY, .rule = -1, .error = error };
    char byte;

    (void)strncpy(event.detail, step, sizeof event.detail - 1);
    gate_events_tell(&gate.events, &event);
    (void)shutdown(GATE_CONTROL_FD, SHUT_RD);
    while (recv(GATE_CONTROL_FD, &byte, 1, MSG_DONTWAIT) > 0)
        ;
    return 1;
}

/* Nothing but the two descriptors; and the third, which a socket of ours must not become. */
static int settle_descriptors(void)
{
    struct rlimit files;

    if (fcntl(2, F_GETFD) < 0 && open("/dev/null", O_RDWR | O_CLOEXEC) < 0)
        return -errno;
    (void)syscall(NR_CLOSE_RANGE, 3, ~0u, 0);
    if (getrlimit(RLIMIT_NOFILE, &files) < 0)
        return -errno;
    files.rlim_cur = files.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &files) < 0 ? -errno : 0;
}

static int read_all(char *text, size_t size)
{
    size_t n = 0;

    while (n < size) {
        ssize_t got = pread(GATE_RULES_FD, text + n, size - n, (off_t)n);

        if (got < 0 && errno != EINTR)
            return -errno;
        if (got == 0)
            return 0;
        n += got > 0 ? (size_t)got : 0;
    }
    return 0;
}

static int read_rules(const char **wrong)
{
    off_t size = lseek(GATE_RULES_FD, 0, SEEK_END);

    if (size < 0 || size > RULES_MOST)
        return size < 0 ? -errno : -EFBIG;
    char *text = calloc(1, (size_t)size + 1);
    int r = text ? read_all(text, (size_t)size) : -ENOMEM;
    if (r == 0)
        *wrong = gate_rules_read(&gate.rules, text, false);
    free(text);
    return r < 0 ? r : *wrong ? -EINVAL : gate_control_add_names(&gate);
}

static int init(const char **step)
{
    uint64_t key[2];

    *step = "begin";
    gate_rules_init(&gate.rules);
    gate.control.fd = GATE_CONTROL_FD;
    gate.dns.fd = gate.log.fd = -1;
    int r = settle_descriptors();
    if (r == 0 && getrandom(key, sizeof key, 0) != sizeof key)
        r = -EIO;
    if (r < 0)
        return r;
    gate_names_init(&gate.names, key);
    gate_events_init(&gate.events, GATE_CONTROL_FD, key);
    gate.scratch =
        mmap(NULL, GATE_SCRATCH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (gate.scratch == MAP_FAILED)
        return -errno;
    gate.spare_fd = fcntl(GATE_CONTROL_FD, F_DUPFD_CLOEXEC, 3);
    r = loop_init(&gate.loop);
    if (r == 0)
        r = gate_resolver_init(&gate.resolver);
    if (r == 0)
        r = gate_own_open(&gate);
    if (r == 0) {
        *step = "read the rules";
        r = read_rules(step);
    }
    return r;
}

int main(void)
{
    const char *step = NULL;

    (void)signal(SIGPIPE, SIG_IGN);
    gate.events.fd = GATE_CONTROL_FD;
    int r = init(&step);
    if (r < 0)
        return give_up(-r, step);
    const struct gate_publish_rule *unpublished = gate_publish_bind(&gate);
    if (unpublished) {
        char text[64];
        int error = errno;

        (void)snprintf(text, sizeof text, "publish port %u", unpublished->port);
        return give_up(error, text);
    }
    r = gate_lockdown(&step);
    if (r < 0)
        return give_up(-r, step);
    step = "wait";
    r = gate_control_serve(&gate);
    if (r < 0)
        return give_up(-r, step);
    loop_run(&gate, &gate.loop);
    gate_events_finish(&gate.events);
    (void)shutdown(GATE_CONTROL_FD, SHUT_RDWR); /* that was all: nobody need wait for the rest */
    return 0;
}
