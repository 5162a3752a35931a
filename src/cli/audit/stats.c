/*
 * stats.c - coop audit stats: who ran what, and what was refused most
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json/write.h"
#include "cli/audit/audit.h"
#include "cli/config/config.h"
#include "cli/mark.h"
#include "cli/tally.h"

#define SHOWN     10 /* of each list */
#define BAR_WIDTH 24

struct stats {
    const struct audit_filter *filter;
    uint64_t n_records, n_denied, n_failed;
    char first[CHAIN_TIME_SIZE], last[CHAIN_TIME_SIZE];
    struct tally who, what, refused;
    struct buffer text; /* of one key, used again and again */
    bool failed;
};

/* ---- counting */

static void count(struct stats *stats, struct tally *tally, uint64_t n, uint64_t denied)
{
    if (stats->text.failed || tally_add(tally, stats->text.data ? stats->text.data : "",
                                        stats->text.length, n, denied) < 0)
        stats->failed = true;
}

/* A tool by its name, a command by its first word, without its directory. */
static void append_program(struct buffer *out, const struct scan_record *record)
{
    auto_buffer struct buffer command = { 0 };

    if (record->tool.bytes) {
        scan_append(out, record->tool);
        return;
    }
    scan_append(&command, record->command);
    char *word = command.data ? command.data : (char *)(uintptr_t) "";
    word[strcspn(word, " ")] = '\0';
    const char *slash = strrchr(word, '/');
    buffer_append_string(out, slash && slash[1] ? slash + 1 : *word ? word : "-");
}

struct refusal {
    struct scan_piece operation, target;
    uint64_t count;
};

static void take_refusal(void *context, struct scan_piece name, struct scan_piece value)
{
    struct refusal *refusal = context;

    if (scan_equals(name, "op"))
        refusal->operation = value;
    else if (scan_equals(name, "target"))
        refusal->target = value;
    else if (scan_equals(name, "count"))
        refusal->count = scan_number(value);
}

static void count_refusals(struct stats *stats, const struct scan_record *record)
{
    struct scan_piece denials = record->denials;
    struct scan_piece object;

    while (denials.bytes && scan_next(&denials, &object)) {
        struct refusal refusal = { 0 };

        scan_members(object, take_refusal, &refusal);
        stats->text.length = 0;
        scan_append(&stats->text, refusal.operation);
        buffer_append_char(&stats->text, ' ');
        scan_append(&stats->text, refusal.target);
        count(stats, &stats->refused, refusal.count ? refusal.count : 1, 0);
    }
    if (!record->denials.bytes && record->error.bytes) { /* it did not come to a box */
        stats->text.length = 0;
        scan_append(&stats->text, record->error);
        count(stats, &stats->refused, 1, 0);
    }
}

static bool is_work(const struct scan_record *record)
{
    return scan_equals(record->event, "run") || scan_equals(record->event, "tool");
}

static bool take_line(void *context, const char *line, size_t n)
{
    struct stats *stats = context;
    struct scan_record record;

    if (!audit_filter_wants(stats->filter, line, n, &record) || !is_work(&record))
        return true;
    (void)scan_rest(line, n, &record);
    if (!stats->n_records++)
        memcpy(stats->first, record.time.bytes, CHAIN_TIME_SIZE - 1);
    memcpy(stats->last, record.time.bytes, CHAIN_TIME_SIZE - 1);
    stats->n_denied += record.denied > 0;
    stats->n_failed += record.status.bytes && scan_number(record.status) > 0;
    stats->text.length = 0;
    audit_append_who(&stats->text, &record);
    count(stats, &stats->who, 1, record.denied > 0);
    buffer_append_string(&stats->text, "  ");
    append_program(&stats->text, &record);
    count(stats, &stats->what, 1, record.denied > 0);
    if (record.denied > 0)
        count_refusals(stats, &record);
    return !stats->failed;
}

/* ---- printing */

static void append_bar(struct buffer *out, uint64_t value, uint64_t most, bool is_utf8)
{
    uint64_t length = most ? (value * BAR_WIDTH + most - 1) / most : 0;

    for (uint64_t i = 0; i < BAR_WIDTH; i++)
        buffer_append_string(out, i >= length ? " " : is_utf8 ? "\xe2\x96\x88" : "#");
    buffer_append_string(out, "  ");
}

static void print_list(struct buffer *out, const char *title, struct tally *tally, bool with_bars,
                       bool is_utf8)
{
    if (tally->n == 0)
        return;
    tally_sort(tally);
    buffer_printf(out, "\n%s\n", title);
    for (size_t i = 0; i < tally->n && i < SHOWN; i++) {
        const struct tally_item *item = &tally->items[i];

        buffer_printf(out, "%9" PRIu64 "  ", item->count);
        if (with_bars)
            append_bar(out, item->count, tally->items[0].count, is_utf8);
        buffer_append_string(out, item->text);
        if (item->denied)
            buffer_printf(out, "  (%" PRIu64 " with refusals)", item->denied);
        buffer_append_char(out, '\n');
    }
    if (tally->n > SHOWN || tally->others)
        buffer_printf(out, "           and %zu%s more\n", tally->n > SHOWN ? tally->n - SHOWN : 0,
                      tally->others ? " or" : "");
}

static void print_text(struct buffer *out, struct stats *stats)
{
    bool with_bars = isatty(STDOUT_FILENO);
    bool is_utf8 = mark_style_for(stdout).is_utf8;

    buffer_printf(out,
                  "%" PRIu64 " runs and tool calls, %" PRIu64 " of them without success, %" PRIu64
                  " with refusals\n",
                  stats->n_records, stats->n_failed, stats->n_denied);
    if (stats->n_records)
        buffer_printf(out, "from %s to %s\n", stats->first, stats->last);
    print_list(out, "who", &stats->who, with_bars, is_utf8);
    print_list(out, "who ran what", &stats->what, with_bars, is_utf8);
    print_list(out, "refused most", &stats->refused, with_bars, is_utf8);
}

static void json_list(struct json_writer *json, const char *key, struct tally *tally)
{
    tally_sort(tally);
    json_write_key(json, key);
    json_write_array_begin(json);
    for (size_t i = 0; i < tally->n; i++) {
        json_write_object_begin(json);
        json_write_key(json, "text");
        json_write_text(json, tally->items[i].text);
        json_write_key(json, "count");
        json_write_uint(json, tally->items[i].count);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void print_json(struct buffer *out, struct stats *stats)
{
    struct json_writer json;

    json_write_init(&json, out, true);
    json_write_object_begin(&json);
    json_write_key(&json, "records");
    json_write_uint(&json, stats->n_records);
    json_write_key(&json, "failed");
    json_write_uint(&json, stats->n_failed);
    json_write_key(&json, "denied");
    json_write_uint(&json, stats->n_denied);
    json_list(&json, "who", &stats->who);
    json_list(&json, "what", &stats->what);
    json_list(&json, "refused", &stats->refused);
    json_write_object_end(&json);
    json_write_finish(&json);
}

static int init(struct stats *stats, coop_error **err)
{
    return tally_init(&stats->who) < 0 || tally_init(&stats->what) < 0 ||
                   tally_init(&stats->refused) < 0
               ? fail_no_memory(err)
               : 0;
}

int audit_stats(const struct audit_arguments *arguments, int dir_fd, coop_error **err)
{
    struct audit_filter filter;
    struct stats stats = { .filter = &filter };
    struct scan_file current = { .fd = -1 };
    auto_buffer struct buffer out = { 0 };
    const struct scan_log log = {
        .dir_fd = dir_fd,
        .since = arguments->has_since ? arguments->since : NULL,
        .take = take_line,
        .context = &stats,
    };
    int r = audit_filter_init(&filter, arguments, err);

    if (r == 0)
        r = init(&stats, err);
    if (r == 0)
        r = scan_log(&log, &current, err);
    if (r >= 0 && stats.failed)
        r = fail_no_memory(err);
    if (r >= 0) {
        if (arguments->json)
            print_json(&out, &stats);
        else
            print_text(&out, &stats);
        r = config_print(&out, err);
    }
    scan_file_done(&current);
    audit_filter_done(&filter);
    tally_done(&stats.who);
    tally_done(&stats.what);
    tally_done(&stats.refused);
    buffer_done(&stats.text);
    return r < 0 ? r : 0;
}
