#include "resident.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "gate/lockdown.h"
#include "gate/log.h"

#define RULES_MOST (16u << 20) /* bytes */

static struct nat_resident resident;

void nat_resident_servers(struct nat_resident *at, struct gate_servers *out)
{
    static const uint8_t own[ADDRESS_BYTES] = { [10] = 0xff, 0xff, 127, 0, 0, 1 };
    auto_close int fd = openat(AT_FDCWD, GATE_SERVERS_FILE, O_RDONLY | O_CLOEXEC);
    int kept_fd = at->gate.resolver.servers_fd; /* as it was, where it cannot be opened any more */
    ssize_t n =
        fd < 0 && kept_fd < 0 ? 0 : pread(fd < 0 ? kept_fd : fd, at->gate.scratch, GATE_SCRATCH, 0);

    gate_servers_read(at->gate.scratch, n < 0 ? 0 : (size_t)n, out);
    if (out->n == 0) { /* as the C library has it */
        memcpy(out->addresses[0], own, ADDRESS_BYTES);
        out->n = 1;
    }
}

/* So that a refusal can name its rule. */
static int read_rules(int fd)
{
    off_t size = lseek(fd, 0, SEEK_END);

    if (size < 0 || size > RULES_MOST)
        return size < 0 ? -errno : -EFBIG;
    auto_free char *text = calloc(1, (size_t)size + 1);
    if (!text)
        return -ENOMEM;
    if (pread(fd, text, (size_t)size, 0) != size)
        return -EIO;
    return gate_rules_read(&resident.gate.rules, text, false) ? -EINVAL : 0;
}

static void control_came(struct gate *gate, struct loop_source *source, uint32_t events)
{
    char bytes[64];

    if (recv(source->fd, bytes, sizeof bytes, MSG_DONTWAIT) == 0 || (events & EPOLLHUP))
        gate->loop.is_over = true;
}

static int init(const struct nat_resident_sockets *sockets)
{
    struct gate *gate = &resident.gate;
    uint64_t key[2];

    if (getrandom(key, sizeof key, 0) != sizeof key)
        return -EIO;
    gate_rules_init(&gate->rules);
    gate_names_init(&gate->names, key);
    gate_events_init(&gate->events, sockets->control_fd, key);
    gate->scratch =
        mmap(NULL, GATE_SCRATCH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (gate->scratch == MAP_FAILED)
        return -errno;
    gate->resolver.servers_fd = openat(AT_FDCWD, GATE_SERVERS_FILE, O_RDONLY | O_CLOEXEC);
    gate->control = (struct loop_source){ .happened = control_came, .fd = sockets->control_fd };
    gate->dns.fd = sockets->udp_fd;
    gate->log.fd = sockets->log_fd;
    resident.tcp.fd = sockets->tcp_fd;
    int r = loop_init(&gate->loop);
    return r < 0 ? r : read_rules(sockets->rules_fd);
}

static int serve(void)
{
    struct gate *gate = &resident.gate;
    int r = loop_add(&gate->loop, &gate->control, EPOLLIN);

    if (r == 0)
        r = nat_dns_serve(&resident);
    if (r == 0)
        r = nat_dns_serve_streams(&resident);
    if (r == 0 && gate->log.fd >= 0)
        r = gate_log_serve(gate);
    return r;
}

int nat_resident_run(struct nat_resident_sockets sockets)
{
    const char *step = NULL;

    if (init(&sockets) < 0 || gate_lockdown(&step) < 0 || serve() < 0)
        return 1;
    loop_run(&resident.gate, &resident.gate.loop);
    gate_events_finish(&resident.gate.events);
    return 0;
}
