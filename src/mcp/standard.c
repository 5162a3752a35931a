#include "standard.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "mcp/lines.h"

static bool is_blank(const char *text, size_t n)
{
    while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t' || text[n - 1] == '\r'))
        n--;
    return n == 0;
}

static void tell_too_long(struct session *session)
{
    struct buffer answer = { 0 };
    char why[64];

    (void)snprintf(why, sizeof why, "the message is longer than %u bytes", SERVER_MESSAGE_MAX);
    rpc_error(&answer, NULL, RPC_INVALID_REQUEST, why, NULL);
    exchange_send(session->stream, EXCHANGE_REPLY, &answer);
}

static void *read_messages(void *context)
{
    struct session *session = context;
    struct lines lines = { .fd = STDIN_FILENO, .limit = SERVER_MESSAGE_MAX };
    const char *text = NULL;
    size_t n = 0;
    int r;

    while ((r = lines_next(&lines, &text, &n)) > 0 || r == -E2BIG) {
        if (r == -E2BIG)
            tell_too_long(session);
        else if (!is_blank(text, n))
            session_receive(session, session->stream, text, n);
    }
    lines_done(&lines);
    server_stop(session->server);
    session_unref(session);
    return NULL;
}

int standard_start(struct server *server, struct toolset *toolset, struct session **out,
                   coop_error **err)
{
    struct exchange *stream = exchange_lines_new(STDOUT_FILENO, server_stop, server);
    pthread_attr_t attributes;
    pthread_t thread;

    if (!stream) {
        toolset_unref(toolset);
        return fail_no_memory(err);
    }
    struct session *session = session_new(server, toolset, stream);
    if (!session)
        return fail_no_memory(err);
    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    (void)pthread_attr_setstacksize(&attributes, POOL_STACK_BYTES);
    int r = pthread_create(&thread, &attributes, read_messages, session_ref(session));
    (void)pthread_attr_destroy(&attributes);
    if (r != 0) {
        session_unref(session);
        session_unref(session);
        return fail(err, r, "start a thread");
    }
    *out = session;
    return 0;
}
