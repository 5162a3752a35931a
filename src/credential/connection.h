/*
 * connection.h - one request of the box, and its answer
 *
 *   credential_connection_begin() -> head -> handshake -> relay -> linger -> the end
 *
 * One request for each connection: what the box sends behind it is never read, so nothing can be
 * smuggled in. What it sends as a body and what the host answers goes through two buffers, however
 * much it is. The gate has connected the far socket; whatever it is connected to, the secret goes
 * only to whom has proved to be the host.
 */
#pragma once

#include "credential/list.h"
#include "net/gate_protocol.h"
#include "net/loop.h"

struct credential_connection;

struct credential_server {
    struct loop loop;
    struct credential_list list;
    struct loop_source gate;
    struct credential_connection *connections;
    unsigned n_connections;
    char *scratch; /* CREDENTIAL_SCRATCH bytes, for whoever is at work */
};

#define CREDENTIAL_SCRATCH (64 * 1024)

/* Takes both descriptors. */
void credential_connection_begin(struct credential_server *server,
                                 const struct credential *credential, int near_fd, int far_fd);

/* Ends all of this credential. */
void credential_connection_end_all(struct credential_server *server,
                                   const struct credential *credential);

/* Tells the gate of something that was refused. */
void credential_server_tell(struct credential_server *server, const struct credential *credential,
                            const char *why);
