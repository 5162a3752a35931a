#include "call.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "mcp/log.h"
#include "mcp/progress.h"
#include "mcp/session.h"

struct message *message_new(struct json_document *document)
{
    struct message *message = calloc(1, sizeof *message);

    if (!message) {
        json_document_done(document);
        return NULL;
    }
    message->document = *document;
    *document = (struct json_document){ 0 };
    atomic_init(&message->references, 1);
    return message;
}

struct message *message_ref(struct message *message)
{
    (void)atomic_fetch_add(&message->references, 1);
    return message;
}

void message_unref(struct message *message)
{
    if (!message || atomic_fetch_sub(&message->references, 1) > 1)
        return;
    json_document_done(&message->document);
    free(message);
}

struct call *call_new(struct session *session, struct exchange *exchange, struct message *message,
                      const struct rpc_message *rpc, const struct method *method)
{
    struct call *call = calloc(1, sizeof *call);

    if (!call)
        return NULL;
    call->session = session_ref(session);
    call->exchange = exchange_ref(exchange);
    call->message = message_ref(message);
    call->rpc = *rpc;
    call->method = method;
    call->cancel_fd = -1;
    (void)pthread_mutex_init(&call->progress.lock, NULL);
    return call;
}

static void call_free(struct call *call)
{
    session_unref(call->session);
    exchange_unref(call->exchange);
    message_unref(call->message);
    (void)pthread_mutex_destroy(&call->progress.lock);
    free(call->fault);
    free(call->fault_data);
    free(call);
}

int call_fault(struct call *call, enum rpc_code code, const char *format, ...)
{
    va_list args;

    free(call->fault);
    call->code = code;
    va_start(args, format);
    if (vasprintf(&call->fault, format, args) < 0)
        call->fault = NULL;
    va_end(args);
    return -EINVAL;
}

int call_no_memory(struct call *call)
{
    free(call->fault);
    call->fault = NULL;
    call->code = RPC_INTERNAL;
    return -ENOMEM;
}

/* Answers it, unless the client does not want to hear of it any more. */
static void conclude(struct call *call, struct buffer *answer)
{
    if (session_forget(call->session, call))
        exchange_forgo(call->exchange);
    else
        exchange_send_kept(call->exchange, EXCHANGE_REPLY, answer);
    call_free(call);
}

static void tell_time(struct call *call, uint64_t begin_ns)
{
    bool is_wrong = false;
    const char *name = call_text(call, "name", &is_wrong);

    if (call->method->is_long)
        log_send(call->session, LOG_LEVEL_DEBUG, "%s%s%s took %.3f ms", call->method->name,
                 name ? " " : "", name ? name : "", (double)(clock_now_ns() - begin_ns) / 1e6);
}

void call_run(struct call *call, struct pool_thread *thread)
{
    struct server *server = call->session->server;
    struct buffer *answer = &thread->answer;
    uint64_t begin_ns = clock_now_ns();
    int r = -ECANCELED;

    call->thread = thread;
    rpc_result_begin(answer, call->rpc.id);
    if (session_begin(call->session, call, thread->cancel_fd)) {
        server_enter(server);
        progress_begin(call);
        r = call->method->run(call, answer);
        progress_end(call);
        server_leave(server);
        tell_time(call, begin_ns);
    } else {
        (void)call_fault(call, RPC_INTERNAL, "the server is shutting down");
    }
    if (r == 0) {
        rpc_end(answer);
    } else {
        answer->length = 0;
        rpc_error(answer, call->rpc.id, call->code, call->fault ? call->fault : "out of memory",
                  call->fault_data);
    }
    conclude(call, answer);
}

void call_refuse(struct call *call, enum rpc_code code, const char *why)
{
    auto_buffer struct buffer answer = { 0 };

    rpc_error(&answer, call->rpc.id, code, why, NULL);
    conclude(call, &answer);
}

void call_cancel(struct call *call, bool by_client)
{
    if (by_client)
        call->is_cancelled = true;
    else
        call->is_ending = true;
    if (call->cancel_fd >= 0)
        (void)!write(call->cancel_fd, &(uint64_t){ 1 }, sizeof(uint64_t));
}

const char *call_text(const struct call *call, const char *name, bool *is_wrong)
{
    const struct json_value *value = json_get(call->rpc.params, name);

    if (value && value->kind != JSON_TEXT)
        *is_wrong = true;
    return value && value->kind == JSON_TEXT ? value->text : NULL;
}
