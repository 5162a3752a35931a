/*
 * dns.c - questions by UDP: to the host's name servers and back
 *
 * Each question goes out from a fresh port with a fresh number, so whoever wants to forge an answer
 * must guess both. A server that does not answer is followed by the next, all are asked twice, and
 * then the answer is that there is none.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "nat/resident.h"
#include "net/socket.h"

#define DNS_PORT   53
#define HEADER     12
#define MESSAGE    65535
#define QUERY_MOST 4096
#define AT_ONCE    64 /* then others are served */
#define MOST       256
#define TIMES      2    /* that each server is asked */
#define RESPONSE   0x80 /* in the third byte */
#define FAILURE    2    /* in the fourth: the server could not find out */

struct question {
    struct loop_dead dead;
    struct loop_source source;
    struct loop_timer timer;
    struct sockaddr_in from;
    struct gate_servers servers;
    unsigned attempt;
    uint8_t number[2];     /* the box's */
    uint8_t own_number[2]; /* ours */
    size_t n;
    uint8_t packet[];
};

static void ask(struct gate *gate, struct question *question);

static void end(struct gate *gate, struct question *question)
{
    loop_close(&question->source);
    loop_stop(&question->timer);
    nat_resident_of(gate)->n_questions--;
    loop_free(&gate->loop, &question->dead);
}

static void answer(struct gate *gate, struct question *question, uint8_t *packet, size_t n)
{
    memcpy(packet, question->number, sizeof question->number);
    (void)sendto(gate->dns.fd, packet, n, MSG_DONTWAIT | MSG_NOSIGNAL,
                 (const struct sockaddr *)&question->from, sizeof question->from);
    end(gate, question);
}

static void ask_next(struct gate *gate, struct question *question)
{
    loop_close(&question->source);
    question->attempt++;
    if (question->attempt < TIMES * question->servers.n) {
        ask(gate, question);
        return;
    }
    question->packet[2] |= RESPONSE;
    question->packet[3] = FAILURE;
    answer(gate, question, question->packet, question->n);
}

static void is_late(struct gate *gate, struct loop_timer *timer)
{
    ask_next(gate, LOOP_CONTAINER(timer, struct question, timer));
}

static void answer_came(struct gate *gate, struct loop_source *source, uint32_t events)
{
    struct question *question = LOOP_CONTAINER(source, struct question, source);
    uint8_t *packet = (uint8_t *)gate->scratch;
    ssize_t n = recv(source->fd, packet, MESSAGE, MSG_DONTWAIT);

    (void)events;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n < 0) /* nobody is there */
        ask_next(gate, question);
    else if (n >= HEADER && (packet[2] & RESPONSE) &&
             memcmp(packet, question->own_number, sizeof question->own_number) == 0)
        answer(gate, question, packet, (size_t)n);
}

static int send_question(struct gate *gate, struct question *question)
{
    const uint8_t *server = question->servers.addresses[question->attempt % question->servers.n];
    struct sockaddr_storage name;
    socklen_t size = gate_socket_write(server, DNS_PORT, &name);

    if (getrandom(question->own_number, sizeof question->own_number, 0) !=
        sizeof question->own_number)
        return -EIO;
    memcpy(question->packet, question->own_number, sizeof question->own_number);
    question->source.fd =
        socket(name.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_UDP);
    if (question->source.fd < 0 ||
        connect(question->source.fd, (const struct sockaddr *)&name, size) < 0 ||
        send(question->source.fd, question->packet, question->n, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        return -errno;
    return loop_add(&gate->loop, &question->source, EPOLLIN);
}

/* Also a failure waits for the timer: an answer at once would be asked for again at once. */
static void ask(struct gate *gate, struct question *question)
{
    if (send_question(gate, question) < 0)
        loop_close(&question->source);
    loop_set(&gate->loop, &question->timer, LOOP_DELAY_ANSWER);
}

/* What is no question, and what are too many, is as lost as any packet may be. */
static void take(struct gate *gate, const struct sockaddr_in *from, const uint8_t *packet, size_t n)
{
    struct nat_resident *resident = nat_resident_of(gate);

    if (n < HEADER || (packet[2] & RESPONSE) || resident->n_questions == MOST)
        return;
    struct question *question = calloc(1, sizeof *question + n);
    if (!question)
        return;
    resident->n_questions++;
    question->source = (struct loop_source){ .happened = answer_came, .fd = -1 };
    question->timer.fire = is_late;
    question->from = *from;
    question->n = n;
    memcpy(question->packet, packet, n);
    memcpy(question->number, packet, sizeof question->number);
    nat_resident_servers(resident, &question->servers);
    ask(gate, question);
}

static void question_came(struct gate *gate, struct loop_source *source, uint32_t events)
{
    uint8_t packet[QUERY_MOST];
    struct sockaddr_in from;

    (void)events;
    for (int i = 0; i < AT_ONCE; i++) {
        socklen_t size = sizeof from;
        ssize_t n = recvfrom(source->fd, packet, sizeof packet, MSG_DONTWAIT,
                             (struct sockaddr *)&from, &size);

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n >= 0 && size == sizeof from && from.sin_family == AF_INET)
            take(gate, &from, packet, (size_t)n);
    }
}

int nat_dns_serve(struct nat_resident *resident)
{
    resident->gate.dns.happened = question_came;
    return loop_add(&resident->gate.loop, &resident->gate.dns, EPOLLIN);
}
