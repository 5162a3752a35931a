#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json/copy.h"
#include "base/utf8.h"
#include "mcp/call.h"
#include "mcp/server.h"
#include "mcp/session.h"

#define OUTPUT_MS 100
#define SILENT_MS 1000
#define WORDS_MAX 200

static uint64_t now_ms(void)
{
    return clock_now_ns() / 1000000;
}

void progress_begin(struct call *call)
{
    struct server *server = call->session->server;
    const struct json_value *token = json_get(json_get(call->rpc.params, "_meta"), "progressToken");

    if (!call->method->is_long || !token ||
        (token->kind != JSON_TEXT && token->kind != JSON_NUMBER))
        return;
    call->progress.token = token;
    call->progress.begun_ms = call->progress.sent_ms = now_ms();
    (void)pthread_mutex_lock(&server->lock);
    bool is_first = !server->progress_calls;
    call->progress.next = server->progress_calls;
    server->progress_calls = call;
    (void)pthread_mutex_unlock(&server->lock);
    if (is_first)
        (void)!write(server->tick_fd, &(uint64_t){ 1 }, sizeof(uint64_t));
}

void progress_end(struct call *call)
{
    struct server *server = call->session->server;

    if (!call->progress.token)
        return;
    (void)pthread_mutex_lock(&server->lock);
    struct call **at = &server->progress_calls;
    while (*at != call)
        at = &(*at)->progress.next;
    *at = call->progress.next;
    (void)pthread_mutex_unlock(&server->lock);
}

/* The last line that is not empty, and of a long one the beginning. */
static size_t last_line(const char **text, size_t n)
{
    const char *end = *text + n;

    while (end > *text && (end[-1] == '\n' || end[-1] == '\r' || end[-1] == ' '))
        end--;
    const char *begin = memrchr(*text, '\n', (size_t)(end - *text));
    *text = begin ? begin + 1 : *text;
    size_t length = (size_t)(end - *text);
    if (length <= WORDS_MAX)
        return length;
    length = WORDS_MAX;
    while (length > 0 && utf8_is_continuation((unsigned char)(*text)[length]))
        length--;
    return length;
}

/* With the call's lock held. A client that does not read must not hold a box up, so this one never
 * waits. */
static void tell(struct call *call, uint64_t now, const char *words, size_t n)
{
    struct progress *progress = &call->progress;
    struct buffer message = { 0 };
    struct json_writer json;
    uint64_t shown = now - progress->begun_ms;

    progress->sent_ms = now;
    progress->shown_ms = shown > progress->shown_ms ? shown : progress->shown_ms + 1;
    rpc_notification_begin(&message, "notifications/progress");
    json_write_init(&json, &message, false);
    json_write_object_begin(&json);
    json_write_key(&json, "progressToken");
    json_copy(&json, progress->token);
    json_write_key(&json, "progress");
    char number[32];
    int length = snprintf(number, sizeof number, "%llu.%03llu",
                          (unsigned long long)(progress->shown_ms / 1000),
                          (unsigned long long)(progress->shown_ms % 1000));
    json_write_raw(&json, number, (size_t)length);
    if (n > 0 && call->revision && call->revision->has_progress_message) {
        json_write_key(&json, "message");
        json_write_string(&json, words, n);
    }
    json_write_object_end(&json);
    rpc_end(&message);
    exchange_send(call->exchange, EXCHANGE_BEAT, &message);
}

void progress_output(void *context, const char *text, size_t n)
{
    struct call *call = context;
    uint64_t now = now_ms();

    if (!call->progress.token)
        return;
    (void)pthread_mutex_lock(&call->progress.lock);
    if (call->progress.shown_ms == 0 || now - call->progress.sent_ms >= OUTPUT_MS) {
        n = last_line(&text, n);
        tell(call, now, text, n);
    }
    (void)pthread_mutex_unlock(&call->progress.lock);
}

int progress_tick(struct server *server)
{
    uint64_t now = now_ms();

    (void)pthread_mutex_lock(&server->lock);
    for (struct call *call = server->progress_calls; call; call = call->progress.next) {
        if (pthread_mutex_trylock(&call->progress.lock) != 0)
            continue; /* its output is being sent */
        if (now - call->progress.sent_ms >= SILENT_MS - OUTPUT_MS)
            tell(call, now, NULL, 0);
        (void)pthread_mutex_unlock(&call->progress.lock);
    }
    bool has_any = server->progress_calls;
    (void)pthread_mutex_unlock(&server->lock);
    return has_any ? SILENT_MS : -1;
}
