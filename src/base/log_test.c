/* worlds: user */
#include "log.h"

#include <stdio.h>
#include <string.h>

#include "test/check.h"

struct heard {
    int n;
    coop_log_level level;
    char message[100], span[32], parent[32];
    uint64_t span_id, parent_id;
};

static void hear(void *context, const coop_log_entry *entry)
{
    struct heard *heard = context;

    heard->n++;
    heard->level = entry->level;
    heard->span_id = entry->span_id;
    heard->parent_id = entry->parent_id;
    (void)snprintf(heard->message, sizeof heard->message, "%s", entry->message);
    (void)snprintf(heard->span, sizeof heard->span, "%s", entry->span ? entry->span : "");
    (void)snprintf(heard->parent, sizeof heard->parent, "%s", entry->parent ? entry->parent : "");
}

TEST(tells_what_is_wanted_and_no_more)
{
    struct heard heard = { 0 };
    const coop_log log = {
        .size = sizeof log, .level = COOP_LOG_WARN, .write = hear, .context = &heard
    };
    struct log_span span;

    log_span_begin(&span, &log, "sandbox_exec");
    log_write(&span, COOP_LOG_INFO, "no");
    CHECK(heard.n == 0);
    log_write(&span, COOP_LOG_WARN, "number %d\x1b[2J", 7);
    CHECK(heard.n == 1 && heard.level == COOP_LOG_WARN);
    CHECK_STR(heard.message, "number 7\\x1b[2J");
    CHECK_STR(heard.span, "sandbox_exec");
    CHECK_STR(heard.parent, "");
    log_span_begin(&span, NULL, "x");
    log_write(&span, COOP_LOG_ERROR, "nobody hears it");
    CHECK(heard.n == 1);
}

TEST(spans_lie_in_each_other)
{
    struct heard heard = { 0 };
    const coop_log log = {
        .size = sizeof log, .level = COOP_LOG_DEBUG, .write = hear, .context = &heard
    };
    struct log_span outer;
    struct log_span inner;

    log_span_begin(&outer, &log, "tool_execute");
    coop_log within = log_within(&outer);
    log_span_begin(&inner, &within, "sandbox_exec");
    log_write(&inner, COOP_LOG_DEBUG, "x");
    CHECK_STR(heard.span, "sandbox_exec");
    CHECK_STR(heard.parent, "tool_execute");
    CHECK(heard.parent_id == outer.id && heard.span_id == inner.id && inner.id != outer.id);
}
