#include "visitors.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

#include "base/clock.h"

enum state { STRANGER, HELD, KNOWN, SENT_AWAY };

struct visitor {
    struct visitor *older, *newer;
    enum state state;
    int fd;
    uint64_t since_ns;
};

void visitors_init(struct visitors *visitors)
{
    pthread_condattr_t attributes;

    (void)pthread_mutex_init(&visitors->lock, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&visitors->changed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

static void lock(struct visitors *visitors)
{
    (void)pthread_mutex_lock(&visitors->lock);
}

static void unlock(struct visitors *visitors)
{
    (void)pthread_mutex_unlock(&visitors->lock);
}

static void set_state(struct visitors *visitors, struct visitor *visitor, enum state state)
{
    bool was_stranger = visitor->state == STRANGER || visitor->state == HELD;
    bool is_stranger = state == STRANGER || state == HELD;

    visitors->n_strangers += (unsigned)is_stranger - (unsigned)was_stranger;
    visitors->n_known += (unsigned)(state == KNOWN) - (unsigned)(visitor->state == KNOWN);
    visitor->state = state;
}

/* Whether something came that its thread has not read yet, which may be the rest of a head. */
static bool has_unread(int fd)
{
    int n = 0;

    return ioctl(fd, FIONREAD, &n) == 0 && n > 0;
}

/* Its thread sees the end of the input, and goes. */
static void send_one_away(struct visitors *visitors)
{
    uint64_t before_ns = clock_now_ns() - VISITORS_MOMENT_MS * UINT64_C(1000000);
    struct visitor *chosen = NULL;

    for (struct visitor *v = visitors->oldest; v && v->since_ns < before_ns; v = v->newer)
        if (v->state == STRANGER && (!chosen || !has_unread(v->fd))) {
            chosen = v;
            if (!has_unread(v->fd))
                break;
        }
    if (!chosen)
        return;
    set_state(visitors, chosen, SENT_AWAY);
    (void)shutdown(chosen->fd, SHUT_RDWR);
}

static bool has_room(const struct visitors *visitors)
{
    return visitors->n < VISITORS_MAX && visitors->n_strangers < VISITORS_STRANGERS_MAX;
}

static void make_room(struct visitors *visitors)
{
    while (!has_room(visitors)) {
        struct timespec until;

        if (visitors->n < VISITORS_MAX)
            send_one_away(visitors);
        if (has_room(visitors))
            return;
        (void)clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += 10 * 1000 * 1000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        (void)pthread_cond_timedwait(&visitors->changed, &visitors->lock, &until);
    }
}

struct visitor *visitors_enter(struct visitors *visitors, int fd)
{
    struct visitor *visitor = malloc(sizeof *visitor);

    if (!visitor)
        return NULL;
    lock(visitors);
    make_room(visitors);
    *visitor = (struct visitor){
        .older = visitors->newest, .state = SENT_AWAY, .fd = fd, .since_ns = clock_now_ns()
    };
    *(visitor->older ? &visitor->older->newer : &visitors->oldest) = visitor;
    visitors->newest = visitor;
    visitors->n++;
    set_state(visitors, visitor, STRANGER);
    unlock(visitors);
    return visitor;
}

void visitors_leave(struct visitors *visitors, struct visitor *visitor)
{
    lock(visitors);
    set_state(visitors, visitor, SENT_AWAY);
    *(visitor->older ? &visitor->older->newer : &visitors->oldest) = visitor->newer;
    *(visitor->newer ? &visitor->newer->older : &visitors->newest) = visitor->older;
    visitors->n--;
    (void)pthread_cond_signal(&visitors->changed);
    unlock(visitors);
    free(visitor);
}

static bool change(struct visitors *visitors, struct visitor *visitor, enum state from,
                   enum state to)
{
    lock(visitors);
    if (visitor->state == from)
        set_state(visitors, visitor, to);
    bool is_known = visitor->state == KNOWN;
    unlock(visitors);
    return is_known;
}

void visitor_hold(struct visitors *visitors, struct visitor *visitor)
{
    (void)change(visitors, visitor, STRANGER, HELD);
}

bool visitor_release(struct visitors *visitors, struct visitor *visitor)
{
    return change(visitors, visitor, HELD, STRANGER);
}

bool visitor_admit(struct visitors *visitors, struct visitor *visitor)
{
    lock(visitors);
    bool is_known = visitor->state == KNOWN;
    if (visitor->state == HELD && visitors->n_known < VISITORS_KNOWN_MAX) {
        set_state(visitors, visitor, KNOWN);
        (void)pthread_cond_signal(&visitors->changed);
        is_known = true;
    }
    unlock(visitors);
    return is_known;
}
