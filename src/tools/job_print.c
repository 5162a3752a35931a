/*
 * job_print.c - how a command ended, in words and as JSON
 */
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/printable.h"
#include "policy/policy.h"
#include "supervise/denial/denials.h"
#include "supervise/result.h"
#include "survey/probe/log.h"
#include "tools/job.h"
#include "tools/tools.h"

static void print_size(struct buffer *out, uint64_t bytes)
{
    static const char *const units[] = { "bytes", "KiB", "MiB", "GiB" };
    size_t unit = 0;

    while (unit < 3 && bytes >= 1024 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    buffer_printf(out, "%" PRIu64 " %s", bytes, units[unit]);
}

static const char *const timeout_reasons[] = {
    [JOB_TIMEOUT_ASKED] = "set a larger timeout_seconds to give it longer",
    [JOB_TIMEOUT_CONFIGURED] = "the configuration allows no more",
    [JOB_TIMEOUT_SESSION] = "the session ends then (sandbox.session_timeout)",
};

/* Why it ended, where that was not by its own will; then what a shell would say. */
static void print_end(const struct tool_call *call, const struct job_end *end, struct buffer *out)
{
    const coop_result *result = end->result;
    const uint64_t *limits = call->tools->policy->limits;

    if (coop_result_ended_by(result) == COOP_ERROR_CANCELLED)
        buffer_append_string(out, "cancelled: the command and everything it started was ended\n");
    else if (coop_result_timed_out(result))
        buffer_printf(out,
                      "timed out after %" PRIu64
                      " s: the command and everything it started was ended; %s\n",
                      end->timeout_ms / 1000, timeout_reasons[end->timeout_reason]);
    if (coop_result_out_of_memory(result)) {
        buffer_append_string(out, "out of memory: ");
        if (limits[COOP_LIMIT_MEMORY] == COOP_LIMIT_NONE) {
            buffer_append_string(out, "the host has no more\n");
        } else {
            buffer_append_string(out, "all of its processes together may use ");
            print_size(out, limits[COOP_LIMIT_MEMORY]);
            buffer_append_char(out, '\n');
        }
    }
    if (coop_result_pids_hit(result))
        buffer_printf(out, "too many processes: at most %" PRIu64 " at once\n",
                      limits[COOP_LIMIT_PIDS]);
    if (coop_result_signal(result) && coop_result_ended_by(result) == COOP_ERROR_NONE)
        buffer_printf(out, "killed by signal %d (%s)\n", coop_result_signal(result),
                      strsignal(coop_result_signal(result)));
    else if (coop_result_exit_code(result) > 0)
        buffer_printf(out, "exit code %d\n", coop_result_exit_code(result));
}

static void begin_line(struct buffer *out)
{
    if (out->length > 0 && out->data[out->length - 1] != '\n')
        buffer_append_char(out, '\n');
}

static void print_cut(const struct tool_call *call, const struct job_end *end, struct buffer *out)
{
    const struct job_file *file = &end->file;

    if (end->cut.bytes_cut == 0)
        return;
    begin_line(out);
    if (capture_cut_note(&end->cut, out))
        buffer_append_char(out, '\n');
    if (file->bytes > 0 && !file->error)
        buffer_printf(out, "[the full output is in %s: use read_file or grep on it]\n", file->path);
    else if (file->bytes > 0)
        buffer_printf(out, "[only the first %" PRIu64 " bytes are in %s: %s]\n", file->bytes,
                      file->path, strerror(file->error));
    else if (call->tools->tmp_fd < 0)
        buffer_printf(out,
                      "[the full output was not kept: %s; write it to a file to see all of it]\n",
                      call->tools->tmp_why);
    else
        buffer_printf(out,
                      "[the full output was not kept: %s; write it to a file to see all of it]\n",
                      strerror(file->error));
}

/* Of limits print_end() has told already. */
static bool is_told(const coop_denial *denial)
{
    static const char *const told[] = { "time", "memory", "pids" };

    for (size_t i = 0; i < COUNT(told); i++)
        if (strcmp(denial->operation, told[i]) == 0)
            return true;
    return false;
}

void job_print_denial(struct buffer *out, const coop_denial *denial, const char *whose)
{
    auto_buffer struct buffer target = { 0 };

    printable_append(&target, denial->target, strlen(denial->target));
    begin_line(out);
    buffer_printf(out, "[denied by the sandbox%s: ", whose);
    denial_print_asked(out, denial->operation, target.data ? target.data : "");
    buffer_append_string(out, ": ");
    printable_append(out, denial->why, strlen(denial->why));
    buffer_printf(out, " (%s, %s)", denial->rule, denial->origin);
    if (denial->fix)
        buffer_printf(out, "; the user can allow it with %s", denial->fix);
    buffer_append_string(out, "]\n");
}

static void print_denials(const coop_result *result, struct buffer *out)
{
    for (size_t i = 0; i < coop_result_n_denials(result); i++)
        if (!is_told(coop_result_denial(result, i)))
            job_print_denial(out, coop_result_denial(result, i), "");
}

/* Whoever meant them to go on learns what to do. */
static void print_left(const coop_result *result, struct buffer *out)
{
    unsigned n = result_n_left(result);

    if (n == 0)
        return;
    begin_line(out);
    buffer_printf(out,
                  "[ended %u background process%s; use background or shell to keep them running]\n",
                  n, n > 1 ? "es" : "");
}

/* Where the configuration prefers a sandbox and the host has none, or a weaker one. */
static void print_tier(const struct tool_call *call, const coop_result *result, struct buffer *out)
{
    coop_tier tier = coop_result_tier(result);

    if (call->tools->on_host || tier == COOP_TIER_FULL)
        return;
    begin_line(out);
    if (tier == COOP_TIER_NONE) {
        auto_buffer struct buffer missing = { 0 };

        probe_print_missing(&missing);
        buffer_printf(out,
                      "[NOT sandboxed: this host has no sandbox%s%s%s, and the configuration only "
                      "prefers one]\n",
                      missing.length ? " (" : "", missing.length ? missing.data : "",
                      missing.length ? ")" : "");
    } else
        buffer_printf(out, "[weaker sandbox: tier '%s' instead of 'full']\n", coop_tier_name(tier));
}

void job_print(const struct tool_call *call, const struct job_end *end, struct buffer *out)
{
    size_t before = out->length;

    print_end(call, end, out);
    buffer_append(out, end->shown.data, end->shown.length);
    print_cut(call, end, out);
    print_left(end->result, out);
    print_denials(end->result, out);
    print_tier(call, end->result, out);
    if (out->length == before)
        buffer_append_string(out, "(no output)");
}

static void json_denials(const coop_result *result, struct json_writer *json)
{
    json_write_key(json, "denials");
    json_write_array_begin(json);
    for (size_t i = 0; i < coop_result_n_denials(result); i++) {
        result_json_denial(json, coop_result_denial(result, i));
    }
    json_write_array_end(json);
}

/* What would not be among them, and why: an empty list says nothing of these. */
static void json_records(const coop_result *result, struct json_writer *json)
{
    json_write_key(json, "records");
    json_write_object_begin(json);
    json_write_key(json, "more");
    json_write_uint(json, coop_result_more_denials(result));
    json_write_key(json, "not_watched");
    json_write_object_begin(json);
    for (size_t i = 0; i < coop_result_n_watched(result); i++) {
        const coop_watched *watched = coop_result_watched(result, i);

        if (watched->is_watched)
            continue;
        json_write_key(json, watched->kind);
        json_write_text(json, watched->note);
    }
    json_write_object_end(json);
    json_write_object_end(json);
}

void job_json(const struct job_end *end, struct json_writer *json)
{
    const coop_result *result = end->result;

    json_write_key(json, "exit_code");
    json_write_int(json, coop_result_exit_code(result));
    json_write_key(json, "signal");
    json_write_int(json, coop_result_signal(result));
    json_write_key(json, "timed_out");
    json_write_bool(json, coop_result_timed_out(result));
    json_write_key(json, "cancelled");
    json_write_bool(json, coop_result_ended_by(result) == COOP_ERROR_CANCELLED);
    json_write_key(json, "out_of_memory");
    json_write_bool(json, coop_result_out_of_memory(result));
    json_write_key(json, "duration_ms");
    json_write_uint(json, coop_result_duration_us(result) / 1000);
    json_write_key(json, "ended_processes");
    json_write_uint(json, result_n_left(result));
    json_write_key(json, "output");
    json_write_string(json, end->shown.data, end->shown.length);
    json_write_key(json, "truncated");
    json_write_bool(json, end->cut.bytes_cut > 0);
    if (end->file.bytes > 0) {
        json_write_key(json, "output_file");
        json_write_text(json, end->file.path);
    }
    json_write_key(json, "tier");
    json_write_text(json, coop_tier_name(coop_result_tier(result)));
    json_denials(result, json);
    json_records(result, json);
}
