/*
 * session.h - one client: what was agreed with it, what it is waiting for
 *
 *   session_new() -> session_receive(), from one thread or several -> session_end()
 *
 * Counted, because calls outlive the connection that brought them.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "mcp/call.h"
#include "mcp/exchange/exchange.h"
#include "mcp/log.h"
#include "mcp/revision.h"
#include "mcp/roots.h"
#include "mcp/server.h"
#include "mcp/toolset.h"

struct session {
    struct server *server;
    atomic_int references;
    pthread_mutex_t lock; /* of everything below */
    pthread_cond_t has_changed;
    struct exchange *stream; /* for what answers no message; NULL: there is none now */
    struct buffer unsent;    /* of that: lines that wait for a stream */
    size_t n_unsent;
    const struct revision *revision; /* NULL: not initialized */
    enum log_level level;
    struct roots roots;
    struct toolset *toolset;
    struct call *calls; /* those under way, the waiting ones too */
    bool has_ended;
};

/* Takes the toolset and the reference to the stream (NULL: comes later). NULL: out of memory. */
struct session *session_new(struct server *server, struct toolset *toolset,
                            struct exchange *stream);
struct session *session_ref(struct session *session);
void session_unref(struct session *session); /* NULL is fine */

/* What a client sent: one message or a batch. Each is answered, or forgone, through `exchange`. */
void session_receive(struct session *session, struct exchange *exchange, const char *text,
                     size_t n);
/* The same for what was read already; borrows the message. */
void session_handle(struct session *session, struct exchange *exchange, struct message *message);

/* Cancels every call of it, or of one exchange (NULL: all), as the client would. */
void session_cancel_all(struct session *session, const struct exchange *exchange);
/* Cancels every call, and lets no further one begin. They are answered if they can be. */
void session_end(struct session *session);

/* A notification or request of our own. Where there is no stream a few wait for one. */
void session_send(struct session *session, struct buffer *message);
/* Gives it a stream (a reference is taken), or with NULL takes `old` away if it is still that. */
bool session_set_stream(struct session *session, struct exchange *stream, struct exchange *old);

struct toolset *session_toolset(struct session *session); /* the caller's to unref */

/* ---- for call.c */

/* False: it was cancelled, or the session has ended, before it began. */
bool session_begin(struct session *session, struct call *call, int cancel_fd);
/* Takes it out of the list; true: it was cancelled by the client. */
bool session_forget(struct session *session, struct call *call);
