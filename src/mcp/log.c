#include "log.h"

#include <stdarg.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "mcp/session.h"

static const char *const names[LOG_LEVEL_COUNT] = {
    "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency",
};

int log_level_find(const char *name)
{
    for (int i = 0; i < LOG_LEVEL_COUNT; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

static bool is_wanted(struct session *session, enum log_level level)
{
    (void)pthread_mutex_lock(&session->lock);
    bool wanted = session->revision && level >= session->level;
    (void)pthread_mutex_unlock(&session->lock);
    return wanted;
}

void log_send(struct session *session, enum log_level level, const char *format, ...)
{
    auto_buffer struct buffer text = { 0 };
    struct buffer message = { 0 };
    struct json_writer json;
    va_list args;

    if (!is_wanted(session, level))
        return;
    va_start(args, format);
    buffer_vprintf(&text, format, args);
    va_end(args);
    rpc_notification_begin(&message, "notifications/message");
    json_write_init(&json, &message, false);
    json_write_object_begin(&json);
    json_write_key(&json, "level");
    json_write_text(&json, names[level]);
    json_write_key(&json, "logger");
    json_write_text(&json, "coop");
    json_write_key(&json, "data");
    json_write_string(&json, text.data, text.length);
    json_write_object_end(&json);
    rpc_end(&message);
    session_send(session, &message);
}
