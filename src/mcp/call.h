/*
 * call.h - one request while it is worked on
 *
 *   call_new() -> call_run(), here or in a thread of the pool -> it is answered and freed
 *
 * A call can be cancelled by its client (then it is not answered) or by the end of the server (then
 * it is, if anybody still reads).
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "mcp/exchange/exchange.h"
#include "mcp/pool.h"
#include "mcp/revision.h"
#include "mcp/rpc.h"

struct call;
struct session;

/* A document of which several calls hold parts. */
struct message {
    struct json_document document;
    atomic_int references;
};
struct message *message_new(struct json_document *document); /* takes it; NULL: out of memory */
struct message *message_ref(struct message *message);
void message_unref(struct message *message);

/* Appends the result, an object. 0, or what call_fault() returned. */
typedef int method_fn(struct call *call, struct buffer *out);

struct method {
    const char *name;
    method_fn *run;
    bool is_long;  /* in a thread of its own */
    bool is_early; /* also before the session is initialized */
};

/* What a client hears while a command runs; see progress.h. */
struct progress {
    const struct json_value *token; /* NULL: it does not want to */
    pthread_mutex_t lock;
    uint64_t begun_ms, sent_ms, shown_ms; /* the last: as the number that was told */
    struct call *next;
};

struct call {
    struct call *next; /* of the session's, under its lock */
    struct session *session;
    struct exchange *exchange;
    struct message *message;
    struct rpc_message rpc;
    const struct method *method;
    const struct revision *revision; /* NULL: not initialized */
    struct pool_thread *thread;      /* while it runs */
    int cancel_fd;                   /* while it runs; -1: it does not. Under the session's lock */
    bool is_cancelled, is_ending;    /* under the session's lock */
    struct progress progress;
    enum rpc_code code; /* of the fault */
    char *fault, *fault_data;
};

/* Takes references to all it borrows. NULL: out of memory. */
struct call *call_new(struct session *session, struct exchange *exchange, struct message *message,
                      const struct rpc_message *rpc, const struct method *method);
void call_run(struct call *call, struct pool_thread *thread);             /* answers and frees it */
void call_refuse(struct call *call, enum rpc_code code, const char *why); /* likewise */

/* The one way to fail in a method. */
int call_fault(struct call *call, enum rpc_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int call_no_memory(struct call *call);

/* Cancels it; under the session's lock. */
void call_cancel(struct call *call, bool by_client);

/* The member of the params that is a text; NULL: not given. *is_wrong: it is something else. */
const char *call_text(const struct call *call, const char *name, bool *is_wrong);
