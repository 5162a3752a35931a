/*
 * events.h - what the gate tells its supervisor
 *
 * Code in the box decides how often something is refused, so events are counted, not queued: equal
 * ones share an entry, the first is sent at once, and higher counts ten times a second at most. A
 * supervisor that does not read holds nothing up. Where there are more different ones than entries,
 * the last entry counts the rest.
 */
#pragma once

#include <stdint.h>

#include "net/gate_protocol.h"
#include "net/loop.h"

#define GATE_EVENTS_MOST 256

struct gate_events {
    int fd;
    struct loop_timer timer;
    unsigned n;
    unsigned n_unsent;
    uint64_t hash_key[2];
    uint16_t slots[2 * GATE_EVENTS_MOST]; /* index + 1; 0: free */
    uint32_t sent[GATE_EVENTS_MOST];      /* the count that the supervisor has heard of */
    struct gate_event entries[GATE_EVENTS_MOST];
};

void gate_events_init(struct gate_events *events, int fd, const uint64_t hash_key[2]);

/* `event` without its count. Its name and detail become printable text. */
void gate_events_add(struct gate *gate, const struct gate_event *event);

/* Once, past all counting: that the gate is ready, or why it is not. */
void gate_events_tell(struct gate_events *events, const struct gate_event *event);

/* All that has not been sent; waits a second for the supervisor to read, no longer. */
void gate_events_finish(struct gate_events *events);
