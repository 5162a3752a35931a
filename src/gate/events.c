#include "events.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/siphash.h"
#include "gate/gate.h"

void gate_events_init(struct gate_events *events, int fd, const uint64_t hash_key[2])
{
    events->fd = fd;
    events->hash_key[0] = hash_key[0];
    events->hash_key[1] = hash_key[1];
}

/* ---- the table */

static void copy_text(char out[256], const char *text)
{
    for (size_t i = 0; i < 255 && text[i]; i++)
        out[i] = text[i] < ' ' || text[i] > '~' ? '?' : text[i];
}

/* An event's identity: all of it but the count. */
static struct gate_event identity(const struct gate_event *event)
{
    struct gate_event key = { .kind = event->kind,
                              .rule = event->rule,
                              .error = event->error,
                              .port = event->port,
                              .is_udp = event->is_udp };

    copy_text(key.name, event->name);
    copy_text(key.detail, event->detail);
    return key;
}

static bool is_same(const struct gate_event *a, const struct gate_event *b)
{
    return a->kind == b->kind && a->rule == b->rule && a->error == b->error && a->port == b->port &&
           a->is_udp == b->is_udp && strcmp(a->name, b->name) == 0 &&
           strcmp(a->detail, b->detail) == 0;
}

/* The entry of `key`, a new one where it has none; `n` where the table is full. */
static unsigned find(struct gate_events *events, const struct gate_event *key)
{
    unsigned slot = (unsigned)siphash(events->hash_key, key->name, strlen(key->name));

    for (;; slot++) {
        uint16_t *at = &events->slots[slot % (2 * GATE_EVENTS_MOST)];

        if (*at && is_same(&events->entries[*at - 1], key))
            return *at - 1;
        if (*at)
            continue;
        if (events->n == GATE_EVENTS_MOST - 1)
            return events->n;
        events->entries[events->n] = *key;
        *at = (uint16_t)++events->n;
        return events->n - 1;
    }
}

/* ---- sending */

/* False: the supervisor has no room for it now. */
static bool send_entry(struct gate_events *events, unsigned i, int flags)
{
    const struct gate_event *event = &events->entries[i];

    if (send(events->fd, event, sizeof *event, flags | MSG_NOSIGNAL) < 0)
        return false;
    events->n_unsent -= events->sent[i] != event->count;
    events->sent[i] = event->count;
    return true;
}

static void send_unsent(struct gate_events *events, int flags)
{
    for (unsigned i = 0; i < GATE_EVENTS_MOST && events->n_unsent > 0; i++)
        if (events->sent[i] != events->entries[i].count && !send_entry(events, i, flags))
            return;
}

static void send_later(struct gate *gate, struct loop_timer *timer)
{
    send_unsent(&gate->events, MSG_DONTWAIT);
    if (gate->events.n_unsent > 0)
        loop_set(&gate->loop, timer, LOOP_DELAY_EVENTS);
}

void gate_events_add(struct gate *gate, const struct gate_event *event)
{
    struct gate_events *events = &gate->events;
    struct gate_event key = identity(event);
    unsigned i = find(events, &key);
    struct gate_event *entry = &events->entries[i];

    if (i == GATE_EVENTS_MOST - 1 && entry->count == 0)
        *entry = (struct gate_event){ .kind = GATE_EVENT_LIMIT,
                                      .rule = -1,
                                      .detail = "more kinds of refusals than are recorded" };
    if (entry->count == UINT32_MAX)
        return;
    events->n_unsent += entry->count == events->sent[i];
    entry->count++;
    if (entry->count == 1 && send_entry(events, i, MSG_DONTWAIT))
        return;
    events->timer.fire = send_later;
    if (!events->timer.next)
        loop_set(&gate->loop, &events->timer, LOOP_DELAY_EVENTS);
}

void gate_events_tell(struct gate_events *events, const struct gate_event *event)
{
    (void)send(events->fd, event, sizeof *event, MSG_NOSIGNAL);
}

void gate_events_finish(struct gate_events *events)
{
    const struct timeval second = { .tv_sec = 1 };

    (void)setsockopt(events->fd, SOL_SOCKET, SO_SNDTIMEO, &second, sizeof second);
    send_unsent(events, 0);
}
