/*
 * verify.c - coop audit verify: whether the log is as it was written
 */
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json/write.h"
#include "cli/audit/audit.h"
#include "cli/config/config.h"

static void number(struct json_writer *json, const char *key, uint64_t value)
{
    json_write_key(json, key);
    json_write_uint(json, value);
}

static void print_json(struct buffer *out, const struct verify_report *report)
{
    struct json_writer json;
    const char *line = report->problems.data;

    json_write_init(&json, out, true);
    json_write_object_begin(&json);
    json_write_key(&json, "ok");
    json_write_bool(&json, report->n_problems == 0);
    number(&json, "records", report->n_records);
    number(&json, "files", report->n_files);
    number(&json, "first", report->first_seq);
    number(&json, "last", report->last_seq);
    json_write_key(&json, "hash");
    json_write_text(&json, report->last_seq ? report->last_hash : NULL);
    number(&json, "torn", report->n_torn + (report->torn_bytes > 0));
    number(&json, "pruned", report->pruned_seq);
    number(&json, "n_problems", report->n_problems);
    json_write_key(&json, "problems");
    json_write_array_begin(&json);
    for (const char *end; line && (end = strchr(line, '\n')); line = end + 1)
        json_write_string(&json, line, (size_t)(end - line));
    json_write_array_end(&json);
    json_write_object_end(&json);
    json_write_finish(&json);
}

static void print_text(struct buffer *out, const struct verify_report *report)
{
    if (report->n_problems == 0)
        buffer_printf(out, "ok: %" PRIu64 " record%s in %" PRIu64 " file%s, none changed\n",
                      report->n_records, report->n_records == 1 ? "" : "s", report->n_files,
                      report->n_files == 1 ? "" : "s");
    else
        buffer_printf(out, "%s%" PRIu64 " problem%s in %" PRIu64 " records\n",
                      report->problems.data ? report->problems.data : "", report->n_problems,
                      report->n_problems == 1 ? "" : "s", report->n_records);
    if (report->pruned_seq)
        buffer_printf(out,
                      "the records up to %" PRIu64 " were removed with their files, as the "
                      "configuration says\n",
                      report->pruned_seq);
    if (report->n_torn)
        buffer_printf(out,
                      "%" PRIu64 " record%s torn because the writer was killed; what was "
                      "written of it is in the file '" CHAIN_TORN "'\n",
                      report->n_torn, report->n_torn == 1 ? " was" : "s were");
    if (report->torn_bytes)
        buffer_printf(out,
                      "the writer of a record was killed: %" PRIu64 " bytes of it are at the "
                      "end\n",
                      report->torn_bytes);
    if (report->is_head_behind)
        buffer_printf(out,
                      "a writer was killed when its record was written and its head was not\n");
    if (report->last_seq)
        buffer_printf(out, "from %s to %s\nhead %" PRIu64 ":%s\n", report->first_time,
                      report->last_time, report->last_seq, report->last_hash);
}

int audit_verify(const struct audit_arguments *arguments, const struct audit_settings *settings,
                 coop_error **err)
{
    auto_buffer struct buffer out = { 0 };
    struct verify_report report;
    int r = verify_log(settings, arguments->anchor.seq ? &arguments->anchor : NULL, &report, err);

    if (r == 0) {
        if (arguments->json)
            print_json(&out, &report);
        else
            print_text(&out, &report);
        r = config_print(&out, err);
    }
    bool is_bad = report.n_problems > 0;
    verify_report_done(&report);
    return r < 0 ? r : is_bad;
}
