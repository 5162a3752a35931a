#include "question.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gate/gate.h"
#include "net/socket.h"

#define DNS_PORT   53
#define TIMES      2 /* that each server is asked */
#define STREAM_MAX (2 + 65535)
#define N_PARTS    2

static const uint16_t types[N_PARTS] = { DNS_TYPE_AAAA, DNS_TYPE_A };

static void ask_by_udp(struct gate *gate, struct gate_question *question);
static void ask_by_tcp(struct gate *gate, struct gate_question *question);

/* ---- the end */

static void end(struct gate *gate, struct gate_question *question)
{
    loop_close(&question->source);
    loop_stop(&question->timer);
    free(question->stream);
    question->stream = NULL;
    gate_resolver_answered(gate, question);
}

static void ask_next(struct gate *gate, struct gate_question *question, int error)
{
    question->error = error;
    question->attempt++;
    for (unsigned i = 0; i < N_PARTS; i++)
        question->parts[i].needs_tcp = false;
    ask_by_udp(gate, question);
}

static void is_late(struct gate *gate, struct loop_timer *timer)
{
    struct gate_question *question = LOOP_CONTAINER(timer, struct gate_question, timer);

    for (unsigned i = 0; i < N_PARTS; i++)
        if (question->parts[i].is_done && question->parts[i].n > 0) {
            end(gate, question); /* one family is better than none */
            return;
        }
    ask_next(gate, question, ETIMEDOUT);
}

/* ---- what a server says */

/* False: the server is of no use. */
static bool take_reply(struct gate_question *question, struct gate_question_part *part,
                       const struct dns_reply *reply)
{
    if (reply->is_truncated) {
        part->needs_tcp = true;
        return true;
    }
    if (reply->rcode == DNS_NXDOMAIN)
        question->has_no_name = true;
    else if (reply->rcode != DNS_NOERROR)
        return false;
    part->is_done = true;
    part->needs_tcp = false;
    part->n = (uint8_t)reply->n_addresses;
    part->ttl = reply->ttl;
    memcpy(part->addresses, reply->addresses, sizeof part->addresses);
    return true;
}

/* What is left to do after a reply. */
static void go_on(struct gate *gate, struct gate_question *question)
{
    bool is_waiting = false;
    bool has_addresses = false;
    bool needs_tcp = false;

    for (unsigned i = 0; i < N_PARTS; i++) {
        is_waiting |= !question->parts[i].is_done && !question->parts[i].needs_tcp;
        needs_tcp |= question->parts[i].needs_tcp;
        has_addresses |= question->parts[i].n > 0;
    }
    if (question->has_no_name || (!is_waiting && !needs_tcp)) {
        end(gate, question);
    } else if (!is_waiting) {
        ask_by_tcp(gate, question);
    } else if (has_addresses) {
        /* Some servers never answer for one family. */
        loop_set(&gate->loop, &question->timer, LOOP_DELAY_NEXT);
    }
}

/* ---- over UDP */

static void udp_happened(struct gate *gate, struct loop_source *source, uint32_t events)
{
    struct gate_question *question = LOOP_CONTAINER(source, struct gate_question, source);
    uint8_t packet[DNS_REPLY_UDP + 1];
    struct dns_reply reply;
    ssize_t n = recv(source->fd, packet, sizeof packet, MSG_DONTWAIT);

    (void)events;
    if (n < 0) {
        if (errno != EAGAIN && errno != EINTR)
            ask_next(gate, question, errno);
        return;
    }
    for (unsigned i = 0; i < N_PARTS; i++) {
        struct gate_question_part *part = &question->parts[i];

        if (part->is_done || part->needs_tcp)
            continue;
        enum dns_reply_verdict verdict =
            dns_reply_parse(packet, (size_t)n, part->packet, part->n_packet, &reply);
        if (verdict == DNS_REPLY_OTHER)
            continue;
        if (verdict == DNS_REPLY_BAD || !take_reply(question, part, &reply)) {
            ask_next(gate, question, EPROTO);
            return;
        }
        /* Only the second time round it was asked without. */
        if (question->attempt >= question->servers.n && question->error == ETIMEDOUT)
            gate->resolver.loses_case = true;
        go_on(gate, question);
        return;
    }
}

static int open_to(const struct gate_question *question, int type)
{
    const uint8_t *server = question->servers.addresses[question->attempt % question->servers.n];
    struct sockaddr_storage name;
    socklen_t size = gate_socket_write(server, DNS_PORT, &name);
    int fd = socket(name.ss_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -errno;
    if (connect(fd, (const struct sockaddr *)&name, size) < 0 && errno != EINPROGRESS) {
        int r = -errno;

        (void)close(fd);
        return r;
    }
    return fd;
}

/* 0 or -errno. */
static int send_parts(struct gate *gate, struct gate_question *question)
{
    struct {
        uint16_t ids[N_PARTS];
        uint8_t case_bits[DNS_CASE_BYTES];
    } random;
    bool has_case = question->attempt < question->servers.n && !gate->resolver.loses_case;

    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return -EAGAIN;
    for (unsigned i = 0; i < N_PARTS; i++) {
        struct gate_question_part *part = &question->parts[i];

        if (part->is_done)
            continue;
        part->n_packet =
            (uint16_t)dns_question_build(part->packet, random.ids[i], question->name->text,
                                         types[i], has_case ? random.case_bits : NULL);
        if (part->n_packet == 0)
            return -EINVAL;
        if (send(question->source.fd, part->packet, part->n_packet, MSG_NOSIGNAL) < 0)
            return -errno;
    }
    return 0;
}

static void ask_by_udp(struct gate *gate, struct gate_question *question)
{
    for (; question->attempt < TIMES * question->servers.n; question->attempt++) {
        loop_close(&question->source);
        int fd = open_to(question, SOCK_DGRAM);
        question->source = (struct loop_source){ .happened = udp_happened, .fd = fd < 0 ? -1 : fd };
        int r = fd < 0 ? fd : loop_add(&gate->loop, &question->source, EPOLLIN);
        if (r == 0)
            r = send_parts(gate, question);
        if (r == 0) {
            question->timer.fire = is_late;
            loop_set(&gate->loop, &question->timer, LOOP_DELAY_ANSWER);
            return;
        }
        question->error = -r;
    }
    end(gate, question);
}

/* ---- over TCP */

static int send_stream(const struct gate_question *question)
{
    const struct gate_question_part *part = question->by_tcp;
    uint8_t packet[2 + DNS_QUESTION_MAX] = { (uint8_t)(part->n_packet >> 8),
                                             (uint8_t)part->n_packet };
    size_t n = 2 + (size_t)part->n_packet;

    memcpy(packet + 2, part->packet, part->n_packet);
    ssize_t sent = send(question->source.fd, packet, n, MSG_NOSIGNAL);
    return sent < 0 ? -errno : sent == (ssize_t)n ? 0 : -EPROTO;
}

static void tcp_received(struct gate *gate, struct gate_question *question)
{
    const uint8_t *stream = question->stream;
    struct dns_reply reply;
    size_t n = question->n_stream < 2 ? 0 : (size_t)stream[0] << 8 | stream[1];

    if (question->n_stream < 2 || question->n_stream < 2 + n)
        return;
    struct gate_question_part *part = question->by_tcp;
    if (dns_reply_parse(stream + 2, n, part->packet, part->n_packet, &reply) != DNS_REPLY_OK ||
        reply.is_truncated || !take_reply(question, part, &reply)) {
        ask_next(gate, question, EPROTO);
        return;
    }
    go_on(gate, question);
}

static void tcp_happened(struct gate *gate, struct loop_source *source, uint32_t events)
{
    struct gate_question *question = LOOP_CONTAINER(source, struct gate_question, source);

    if (question->n_stream == 0 && events & EPOLLOUT) {
        int r = send_stream(question);

        if (r < 0) {
            ask_next(gate, question, -r);
            return;
        }
        loop_change(&gate->loop, source, EPOLLIN);
        return;
    }
    ssize_t n = recv(source->fd, question->stream + question->n_stream,
                     STREAM_MAX - question->n_stream, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        ask_next(gate, question, n < 0 ? errno : EPROTO);
        return;
    }
    question->n_stream += (size_t)n;
    tcp_received(gate, question);
}

static void ask_by_tcp(struct gate *gate, struct gate_question *question)
{
    loop_close(&question->source);
    if (!question->stream)
        question->stream = malloc(STREAM_MAX);
    int fd = question->stream ? open_to(question, SOCK_STREAM) : -ENOMEM;
    if (fd < 0) {
        ask_next(gate, question, -fd);
        return;
    }
    question->by_tcp = &question->parts[question->parts[0].needs_tcp ? 0 : 1];
    question->n_stream = 0;
    question->source = (struct loop_source){ .happened = tcp_happened, .fd = fd };
    int r = loop_add(&gate->loop, &question->source, EPOLLOUT);
    if (r < 0) {
        ask_next(gate, question, -r);
        return;
    }
    loop_set(&gate->loop, &question->timer, LOOP_DELAY_ANSWER);
}

void gate_question_begin(struct gate *gate, struct gate_question *question)
{
    question->error = ENOENT;
    ask_by_udp(gate, question);
}
