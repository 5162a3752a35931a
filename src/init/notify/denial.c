#include "denial.h"

#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "init/protocol.h"
#include "sys/raw.h"

#define MAX_TOLD 200 /* as many as the supervisor keeps: supervise/denial/denials.h */

static struct {
    uint64_t hash;
    uint64_t count;
} told[MAX_TOLD];
static unsigned n_told;
static uint64_t n_more;
static bool is_child;
static int asker;

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;

    while (n-- > 0)
        hash = (hash ^ *p++) * 0x100000001b3ull;
    return hash;
}

/* Two that collide are counted as one: 64 bits, of which somebody gains nothing. */
static uint64_t hash_of(const struct notify_denial *denial)
{
    const int numbers[] = { (int)denial->op, denial->nr, denial->error, denial->rule,
                            denial->value };
    const char *text = denial->text ? denial->text : "";

    return hash_bytes(hash_bytes(0xcbf29ce484222325ull, numbers, sizeof numbers), text,
                      strlen(text));
}

static uint64_t now_ns(void)
{
    struct {
        int64_t seconds, nanoseconds;
    } now = { 0 };

    (void)raw(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return (uint64_t)now.seconds * 1000000000u + (uint64_t)now.nanoseconds;
}

void notify_denial_of(int pid)
{
    asker = pid;
}

/* It sleeps in its call still, or is gone and nobody knows. */
static int session_of(int pid)
{
    long session = pid > 0 ? raw(SYS_getsid, pid) : 0;

    return session > 0 ? (int)session : 0;
}

/* It waits for a supervisor that is behind: nothing may get lost, and a killed one ends us anyway. */
void notify_send(struct protocol_denied *room, enum protocol_event event,
                 const struct notify_denial *denial, int slot)
{
    size_t n = denial->text ? strlen(denial->text) : 0;

    if (n >= sizeof room->text)
        n = sizeof room->text - 1;
    room->event = event;
    room->op = (uint32_t)denial->op;
    room->nr = denial->nr;
    room->error = denial->error;
    room->rule = denial->rule;
    room->value = denial->value;
    room->session = session_of(denial->pid ? denial->pid : asker);
    room->slot = slot;
    room->count = 1;
    room->at_ns = now_ns();
    if (n > 0)
        memcpy(room->text, denial->text, n);
    room->text[n] = '\0';
    (void)raw(SYS_sendto, PROTOCOL_CONTROL_FD, room, PROTOCOL_DENIED_HEAD + n + 1, MSG_NOSIGNAL,
              NULL, 0);
}

static void send_denied(enum protocol_event event, const struct notify_denial *denial, int slot)
{
    static struct protocol_denied message;

    notify_send(&message, event, denial, slot);
}

void notify_denial_in_child(void)
{
    is_child = true;
}

void notify_note(const struct notify_denial *denial)
{
    uint64_t hash = hash_of(denial);
    unsigned i = 0;

    if (is_child) {
        send_denied(EVENT_DENIED, denial, PROTOCOL_NO_SLOT);
        return;
    }
    while (i < n_told && told[i].hash != hash)
        i++;
    if (i == MAX_TOLD) {
        n_more++;
        return;
    }
    if (i == n_told) {
        n_told++;
        told[i].hash = hash;
        send_denied(EVENT_DENIED, denial, (int)i);
    }
    told[i].count++;
}

void notify_ask(const struct notify_denial *denial)
{
    send_denied(EVENT_MAYBE, denial, PROTOCOL_NO_SLOT);
}

static void send_count(enum protocol_event event, int slot, uint64_t count)
{
    struct protocol_denied message;

    memset(&message, 0, PROTOCOL_DENIED_HEAD + 1);
    message.event = event;
    message.slot = slot;
    message.count = count;
    (void)raw(SYS_sendto, PROTOCOL_CONTROL_FD, &message, PROTOCOL_DENIED_HEAD + 1, MSG_NOSIGNAL,
              NULL, 0);
}

void notify_denial_report(void)
{
    for (unsigned i = 0; i < n_told; i++)
        if (told[i].count > 1)
            send_count(EVENT_COUNT, (int)i, told[i].count);
    if (n_more > 0)
        send_count(EVENT_MORE, PROTOCOL_NO_SLOT, n_more);
}
