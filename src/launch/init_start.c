#include "init_start.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/fd.h"

/* What is mounted at them has been compared with these numbers, or the box does not start. */
static void append_sockets(const struct plan *plan, struct init_start *start, struct buffer *out)
{
    for (size_t i = 0; i < plan->n_steps; i++) {
        const struct step *step = &plan->steps[i];

        if (step->kind != STEP_BIND || !(step->flags & STEP_SOCKET))
            continue;
        const struct init_socket socket = { step->dev, step->ino };
        buffer_append(out, &socket, sizeof socket);
        start->n_sockets++;
    }
}

_Static_assert(sizeof(struct init_start) % 8 == 0 && sizeof(struct init_socket) % 8 == 0,
               "what follows is aligned: sockets, then rules, which want 8, then text");

static uint32_t take_room(struct init_start *start, size_t length)
{
    uint32_t at = start->size;

    start->size += (uint32_t)length;
    return at;
}

int init_start_open(const struct plan *plan, struct init_start *start, coop_error **err)
{
    const char *nodes = plan->wants_watchfs ? plan->watchfs->text : NULL;
    auto_buffer struct buffer sockets = { 0 };
    auto_close int fd = memfd_create("coop-start", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    *start = (struct init_start){
        .size = sizeof *start,
        .has_own_network = plan->namespaces & CLONE_NEWNET,
        .has_own_tmp = plan->has_own_tmp,
        .watches_writes = plan->watch == PLAN_WATCH_WRITES || plan->watch == PLAN_WATCH_LOOKUPS,
        .watches_lookups = plan->watch == PLAN_WATCH_LOOKUPS,
    };
    if (fd < 0)
        return fail(err, errno, "make a file in memory");
    int r = fd_lift(&fd);
    if (r < 0)
        return fail(err, -r, "keep what init is to read");
    append_sockets(plan, start, &sockets);
    if (sockets.failed)
        return fail_no_memory(err);
    start->sockets_at = take_room(start, sockets.length);
    if (plan->packed_rules)
        start->rules_at = take_room(start, plan->packed_rules_length);
    if (nodes)
        start->nodes_at = take_room(start, strlen(nodes) + 1);
    const struct iovec parts[] = {
        { start, sizeof *start },
        { sockets.data, sockets.length },
        { plan->packed_rules, plan->packed_rules ? plan->packed_rules_length : 0 },
        { (char *)nodes, nodes ? strlen(nodes) + 1 : 0 },
    };
    ssize_t n = writev(fd, parts, COUNT(parts));
    if (n != (ssize_t)start->size)
        return fail(err, n < 0 ? errno : ENOSPC, "write what init is to read");
    return take_fd(&fd);
}
