#include "log_sink.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/json/write.h"

static void time_text(char out[32])
{
    struct timespec now;
    struct tm utc = { 0 };

    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)gmtime_r(&now.tv_sec, &utc);
    size_t n = strftime(out, 24, "%Y-%m-%dT%H:%M:%S", &utc);
    (void)snprintf(out + n, 32 - n, ".%03dZ", (int)(now.tv_nsec / 1000000));
}

static void span_text(struct buffer *out, const char *name, uint64_t id)
{
    buffer_printf(out, "%s#%06" PRIx64, name, id & 0xffffff);
}

static void write_text(struct buffer *out, const coop_log_entry *entry, const char *time)
{
    buffer_printf(out, "%s %-5s coop", time, coop_log_level_name(entry->level));
    if (entry->parent) {
        buffer_append_char(out, ' ');
        span_text(out, entry->parent, entry->parent_id);
    }
    if (entry->span) {
        buffer_append_char(out, entry->parent ? ':' : ' ');
        span_text(out, entry->span, entry->span_id);
    }
    buffer_printf(out, ": %s\n", entry->message);
}

static void json_id(struct json_writer *json, const char *key, uint64_t id)
{
    char text[17]; /* as text: a JSON number need not hold 64 bits */

    (void)snprintf(text, sizeof text, "%016" PRIx64, id);
    json_write_key(json, key);
    json_write_text(json, text);
}

static void write_json(struct buffer *out, const coop_log_entry *entry, const char *time)
{
    struct json_writer json;

    json_write_init(&json, out, false);
    json_write_object_begin(&json);
    json_write_key(&json, "time");
    json_write_text(&json, time);
    json_write_key(&json, "level");
    json_write_text(&json, coop_log_level_name(entry->level));
    json_write_key(&json, "pid");
    json_write_uint(&json, (uint64_t)getpid());
    if (entry->span) {
        json_write_key(&json, "span");
        json_write_text(&json, entry->span);
        json_id(&json, "span_id", entry->span_id);
    }
    if (entry->parent) {
        json_write_key(&json, "parent");
        json_write_text(&json, entry->parent);
        json_id(&json, "parent_id", entry->parent_id);
    }
    json_write_key(&json, "message");
    json_write_text(&json, entry->message);
    json_write_object_end(&json);
    json_write_finish(&json);
    buffer_append_char(out, '\n');
}

static void write_entry(void *context, const coop_log_entry *entry)
{
    const struct log_sink *sink = context;
    auto_buffer struct buffer line = { 0 };
    char time[32];

    time_text(time);
    if (sink->is_json)
        write_json(&line, entry, time);
    else
        write_text(&line, entry, time);
    if (!line.failed)
        (void)!write(STDERR_FILENO, line.data, line.length);
}

int log_sink_init(struct log_sink *sink, coop_log_level usual, coop_error **err)
{
    const char *wanted = getenv("COOP_LOG");

    *sink = (struct log_sink){
        .log = { .size = sizeof sink->log, .level = usual, .write = write_entry, .context = sink },
    };
    if (!wanted || !*wanted)
        return 0;
    for (int i = COOP_LOG_OFF; i <= COOP_LOG_DEBUG; i++)
        if (strcmp(wanted, coop_log_level_name((coop_log_level)i)) == 0) {
            sink->log.level = (coop_log_level)i;
            return 0;
        }
    return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                     "bad COOP_LOG '%s': expected off, error, warn, info or debug", wanted);
}

int log_sink_format(struct log_sink *sink, const char *format, coop_error **err)
{
    sink->is_json = strcmp(format, "json") == 0;
    if (sink->is_json || strcmp(format, "text") == 0)
        return 0;
    return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "bad format '%s': expected text or json",
                     format);
}
