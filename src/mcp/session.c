#include "session.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "mcp/methods.h"
#include "tools/tools.h"

#define UNSENT_MAX 64 /* messages */

struct session *session_new(struct server *server, struct toolset *toolset, struct exchange *stream)
{
    struct session *session = calloc(1, sizeof *session);
    pthread_condattr_t clock;

    if (!session) {
        toolset_unref(toolset);
        exchange_unref(stream);
        return NULL;
    }
    atomic_init(&session->references, 1);
    session->server = server;
    session->toolset = toolset;
    session->stream = stream;
    session->level = LOG_LEVEL_INFO;
    (void)pthread_mutex_init(&session->lock, NULL);
    (void)pthread_condattr_init(&clock);
    (void)pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&session->has_changed, &clock);
    (void)pthread_condattr_destroy(&clock);
    return session;
}

struct session *session_ref(struct session *session)
{
    (void)atomic_fetch_add(&session->references, 1);
    return session;
}

void session_unref(struct session *session)
{
    if (!session || atomic_fetch_sub(&session->references, 1) > 1)
        return;
    toolset_unref(session->toolset);
    exchange_unref(session->stream);
    buffer_done(&session->unsent);
    (void)pthread_cond_destroy(&session->has_changed);
    (void)pthread_mutex_destroy(&session->lock);
    free(session);
}

struct toolset *session_toolset(struct session *session)
{
    (void)pthread_mutex_lock(&session->lock);
    struct toolset *toolset = toolset_ref(session->toolset);
    (void)pthread_mutex_unlock(&session->lock);
    return toolset;
}

/* ---- messages of our own */

void session_send(struct session *session, struct buffer *message)
{
    struct exchange *stream = NULL;

    (void)pthread_mutex_lock(&session->lock);
    if (session->stream) {
        stream = exchange_ref(session->stream);
    } else if (session->n_unsent < UNSENT_MAX && !message->failed) {
        buffer_append(&session->unsent, message->data, message->length);
        buffer_append_char(&session->unsent, '\n');
        session->n_unsent++;
    }
    (void)pthread_mutex_unlock(&session->lock);
    if (stream)
        exchange_send(stream, EXCHANGE_NOTE, message);
    else
        buffer_done(message);
    exchange_unref(stream);
}

static void send_unsent(struct exchange *stream, struct buffer *unsent)
{
    const char *at = unsent->data;
    const char *end = unsent->data + unsent->length;

    while (!unsent->failed && at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));

        stream->type->send(stream, EXCHANGE_NOTE, at, (size_t)(newline - at));
        at = newline + 1;
    }
    buffer_done(unsent);
}

bool session_set_stream(struct session *session, struct exchange *stream, struct exchange *old)
{
    struct buffer unsent = { 0 };

    (void)pthread_mutex_lock(&session->lock);
    bool is_right = session->stream == old && !(stream && session->has_ended);
    if (is_right) {
        session->stream = stream ? exchange_ref(stream) : NULL;
        if (stream) {
            unsent = session->unsent;
            session->unsent = (struct buffer){ 0 };
            session->n_unsent = 0;
        }
    }
    (void)pthread_mutex_unlock(&session->lock);
    if (is_right && stream)
        send_unsent(stream, &unsent);
    if (is_right)
        exchange_unref(old);
    return is_right;
}

/* ---- calls under way */

bool session_begin(struct session *session, struct call *call, int cancel_fd)
{
    (void)pthread_mutex_lock(&session->lock);
    call->revision = session->revision;
    bool may_begin = !call->is_cancelled && !call->is_ending;
    if (may_begin)
        call->cancel_fd = cancel_fd;
    (void)pthread_mutex_unlock(&session->lock);
    return may_begin;
}

bool session_forget(struct session *session, struct call *call)
{
    (void)pthread_mutex_lock(&session->lock);
    for (struct call **at = &session->calls; *at; at = &(*at)->next)
        if (*at == call) {
            *at = call->next;
            break;
        }
    call->cancel_fd = -1;
    bool is_cancelled = call->is_cancelled;
    (void)pthread_mutex_unlock(&session->lock);
    return is_cancelled;
}

/* Whether the id was free. */
static bool remember(struct session *session, struct call *call)
{
    bool is_free = true;

    (void)pthread_mutex_lock(&session->lock);
    for (struct call *other = session->calls; other && is_free; other = other->next)
        is_free = !rpc_same_id(other->rpc.id, call->rpc.id);
    if (is_free) {
        call->next = session->calls;
        session->calls = call;
        call->is_ending = session->has_ended;
    }
    (void)pthread_mutex_unlock(&session->lock);
    return is_free;
}

void session_cancel_all(struct session *session, const struct exchange *exchange)
{
    (void)pthread_mutex_lock(&session->lock);
    for (struct call *call = session->calls; call; call = call->next)
        if (!exchange || call->exchange->bottom == exchange)
            call_cancel(call, true);
    (void)pthread_cond_broadcast(&session->has_changed);
    (void)pthread_mutex_unlock(&session->lock);
}

void session_end(struct session *session)
{
    (void)pthread_mutex_lock(&session->lock);
    session->has_ended = true;
    for (struct call *call = session->calls; call; call = call->next)
        call_cancel(call, false);
    (void)pthread_cond_broadcast(&session->has_changed);
    struct exchange *stream = session->stream ? exchange_ref(session->stream) : NULL;
    (void)pthread_mutex_unlock(&session->lock);
    if (stream)
        exchange_forgo(stream); /* whoever holds it open need not */
    exchange_unref(stream);
}

/* ---- what a client sent */

static void answer_error(struct exchange *exchange, const struct json_value *id, enum rpc_code code,
                         const char *why)
{
    struct buffer answer = { 0 };

    rpc_error(&answer, id, code, why, NULL);
    exchange_send(exchange, EXCHANGE_REPLY, &answer);
}

/* What takes no time. */
static void run_here(struct call *call)
{
    struct pool_thread here = { .cancel_fd = -1 };

    call_run(call, &here);
    buffer_done(&here.answer);
    buffer_done(&here.text);
}

static struct pool *pool_for(const struct call *call)
{
    bool is_wrong = false;
    size_t row = 0;
    const char *name =
        call->method->run == method_tools_call ? call_text(call, "name", &is_wrong) : NULL;
    const struct tool *tool = name ? tool_find(name, &row) : NULL;
    const struct server *server = call->session->server;

    return tool && tool->need >= TOOL_COMMANDS ? server->commands : server->pool;
}

static void handle_request(struct session *session, struct exchange *exchange,
                           struct message *message, const struct rpc_message *rpc)
{
    const struct method *method = method_find(rpc->method);

    if (!method)
        return answer_error(exchange, rpc->id, RPC_NO_METHOD, "unknown method");
    (void)pthread_mutex_lock(&session->lock);
    bool is_initialized = session->revision;
    (void)pthread_mutex_unlock(&session->lock);
    if (!is_initialized && !method->is_early)
        return answer_error(exchange, rpc->id, RPC_INVALID_REQUEST,
                            "not initialized: send 'initialize' first");
    struct call *call = call_new(session, exchange, message, rpc, method);
    if (!call)
        return answer_error(exchange, rpc->id, RPC_INTERNAL, "out of memory");
    if (!remember(session, call))
        call_refuse(call, RPC_INVALID_REQUEST, "a request with this id is still running");
    else if (!method->is_long)
        run_here(call);
    else if (pool_add(pool_for(call), call) < 0)
        call_refuse(call, RPC_BUSY, "too many calls are waiting");
}

static void handle_one(struct session *session, struct exchange *exchange, struct message *message,
                       const struct json_value *value)
{
    struct rpc_message rpc;

    rpc_classify(value, &rpc);
    switch (rpc.kind) {
    case RPC_REQUEST:
        handle_request(session, exchange, message, &rpc);
        return;
    case RPC_NOTIFICATION:
        method_notified(session, &rpc);
        break;
    case RPC_REPLY:
        (void)roots_answer(session, rpc.id, rpc.result);
        break;
    case RPC_INVALID:
        if (rpc.method && !rpc.id) /* a notification is never answered */
            break;
        answer_error(exchange, rpc.id, rpc.code, rpc.problem);
        return;
    }
    exchange_forgo(exchange);
}

static void handle_batch(struct session *session, struct exchange *exchange,
                         struct message *message)
{
    const struct json_value *first = message->document.root->first;
    size_t n = 0;

    (void)pthread_mutex_lock(&session->lock);
    bool may = session->revision && session->revision->has_batches;
    (void)pthread_mutex_unlock(&session->lock);
    if (!may)
        return answer_error(exchange, NULL, RPC_INVALID_REQUEST,
                            "only revision 2025-03-26 has batches");
    for (const struct json_value *item = first; item; item = item->next)
        n++;
    if (n == 0)
        return answer_error(exchange, NULL, RPC_INVALID_REQUEST, "the batch is empty");
    auto_exchange struct exchange *batch = exchange_batch_new(exchange, n);
    if (!batch)
        return answer_error(exchange, NULL, RPC_INTERNAL, "out of memory");
    for (const struct json_value *item = first; item; item = item->next)
        handle_one(session, batch, message, item);
}

void session_handle(struct session *session, struct exchange *exchange, struct message *message)
{
    if (message->document.root->kind == JSON_ARRAY)
        handle_batch(session, exchange, message);
    else
        handle_one(session, exchange, message, message->document.root);
}

void session_receive(struct session *session, struct exchange *exchange, const char *text, size_t n)
{
    auto_error coop_error *err = NULL;
    struct json_document document;

    if (json_read(text, n, &document, &err) < 0) {
        rpc_find_id(text, n, &document);
        answer_error(exchange, document.root, RPC_PARSE_ERROR, coop_error_message(err));
        json_document_done(&document);
        return;
    }
    struct message *message = message_new(&document);
    if (!message)
        return answer_error(exchange, NULL, RPC_INTERNAL, "out of memory");
    session_handle(session, exchange, message);
    message_unref(message);
}
