/*
 * gate_world.h - a network of its own, with servers, for tests of the gate
 *
 * world_enter() puts this process into namespaces where every address is local, and name service
 * and servers of the test answer on them:
 *
 *   7     echoes                          9000  sends WORLD_BULK bytes, and ends
 *   80    HTTP: answers with the request  9001  counts until the end, then says how many
 *   443   echoes, see WORLD_RETRY         9002  reads one byte and resets
 *   9004  echoes, with IPv4 only          9003  accepts, and never reads
 *   9005  the same; with IPv6 it is deaf  9006  says "end" at the end, and stays
 *
 * Datagrams to port 7 and 9007 come back. Both families.
 *
 * gate_start() makes a second network namespace inside, which leads to a new gate. Sockets of
 * world_socket() are made there, and used from here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "net/gate_protocol.h"
#include "net/inside/gate_inside.h"

#define WORLD_BULK        (24 * 1024 * 1024)
#define WORLD_PATIENCE_MS 20000

/* TLS hellos for retry.example and final.example are answered with a ServerHello of 43 bytes whose
 * random is this (a HelloRetryRequest), or all but the last byte of it. */
#define WORLD_RETRY                                                            \
    "\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\x02\x1e\x65\xb8\x91\xc2\xa2" \
    "\x11\x16\x7a\xbb\x8c\x5e\x07\x9e\x09\xe2\xc8\xa8\x33\x9c"

/* NULL, or why it cannot be. */
const char *world_enter(void);

/* A name of the test's name server. */
struct world_name {
    const char *name;
    const char *addresses[3];
    bool is_long;   /* is answered by TCP only */
    bool is_silent; /* is never answered */
};
extern const struct world_name world_names[];

/* Questions that its name server has got. */
unsigned world_questions(void);

struct gate_run {
    pid_t pid;
    int socket_fd; /* the supervisor's end */
    int outer_ns, inner_ns;
    struct gate_event events[4096];
    size_t n_events;
};

/* For the next one: addresses that its inside lets pass, and a kernel without tables. */
extern struct gate_network world_network;
extern bool world_has_no_tables;

/* rules: lines. `inside` may be NULL. */
void gate_start(struct gate_run *run, const char *rules, struct gate_inside *inside);

/* Tells it to end, and takes what it still says. Its exit status, -signal. */
int gate_stop(struct gate_run *run);

/* The last event of that kind and name (NULL: any), waiting for it; NULL: none came. */
const struct gate_event *gate_wait(struct gate_run *run, uint32_t kind, const char *name);

/* An inner socket. */
int world_socket(const struct gate_run *run, int family, int type);

/* A connected inner socket, blocking, with a limit on waiting; -errno. */
int world_connect(const struct gate_run *run, const char *address, uint16_t port);

/* Asks a name server at that address from inside; the answer's rcode, -1 for none. Writes the address as text,
 * or "". */
int world_lookup(const struct gate_run *run, const char *server, const char *name, uint16_t type,
                 char out[64]);

/* A connected inner socket for datagrams, with a limit on waiting. */
int world_datagrams(const struct gate_run *run, const char *address, uint16_t port);

/* The same and then connected to it; -errno, -ENOENT where there is no such name. */
int world_connect_name(const struct gate_run *run, const char *name, uint16_t port);

/* Reads until the end; how many bytes, -errno. */
ssize_t world_read_all(int fd, char *out, size_t size);

/* Sends it all; false: it failed. */
bool world_send(int fd, const void *bytes, size_t n);

/* A TLS hello for that name, NULL for none; its length. */
size_t world_hello(uint8_t out[512], const char *name);
