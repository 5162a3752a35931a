#include "log.h"

#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/printable.h"

const char *coop_log_level_name(coop_log_level level)
{
    static const char *const names[] = { "off", "error", "warn", "info", "debug" };

    return (unsigned)level <= COOP_LOG_DEBUG ? names[level] : "unknown";
}

/* Without a counter that all would share: two spans of one thread begin at different times. */
static uint64_t new_id(void)
{
    return clock_now_ns() * 65537u + (uint64_t)syscall(SYS_gettid);
}

void log_span_begin(struct log_span *span, const coop_log *log, const char *name)
{
    *span = (struct log_span){ .name = name };
    if (!log || log->size < sizeof *log || log->level == COOP_LOG_OFF || !log->write)
        return;
    span->log = log;
    span->id = new_id();
}

coop_log log_within(const struct log_span *span)
{
    coop_log log = { .size = sizeof log };

    if (span->log)
        log = *span->log;
    log.span = span->name;
    log.span_id = span->id;
    return log;
}

void log_write(const struct log_span *span, coop_log_level level, const char *format, ...)
{
    auto_buffer struct buffer text = { 0 };
    auto_buffer struct buffer shown = { 0 };
    va_list args;

    if (!log_is_wanted(span, level))
        return;
    va_start(args, format);
    buffer_vprintf(&text, format, args);
    va_end(args);
    printable_append(&shown, text.data ? text.data : "", text.length);
    const coop_log_entry entry = {
        .size = sizeof entry,
        .level = level,
        .message = text.failed || shown.failed ? "out of memory"
                   : shown.data                ? shown.data
                                               : "",
        .span = span->name,
        .span_id = span->id,
        .parent = span->log->span,
        .parent_id = span->log->span_id,
    };
    span->log->write(span->log->context, &entry);
}
