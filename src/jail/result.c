/*
 * result.c - what a box leaves: status, output, usage, walls, denials
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json_write.h"
#include "base/printable.h"
#include "base/redact.h"
#include "jail/box.h"
#include "jail/protocol.h"
#include "jail/result.h"
#include "plan/seccomp.h"
#include "sys/kernel.h"

#define MAX_DENIALS 64

struct stream_text {
    char *kept;
    size_t kept_length;
    struct buffer shown;
    struct capture_cut cut;
    char *note;
    uint64_t dropped;
};

struct coop_result {
    int status;
    bool timed_out, cancelled, out_of_memory, pids_hit;
    uint64_t duration_us, cpu_us, peak_memory, bytes_written;
    struct stream_text streams[2];
    coop_tier tier;
    struct plan_enforced enforced; /* static texts */
    uint64_t limits[COOP_LIMIT_COUNT];
    coop_denial denials[MAX_DENIALS];
    size_t n_denials;
    struct buffer texts[MAX_DENIALS];
    struct buffer rules[MAX_DENIALS]; /* of protected paths: the rule and where it stands */
    char *note;                       /* of the box; NULL: none */
    char digest[65];
    struct buffer json;
};

static const char *const tier_names[] = {
    [COOP_TIER_NONE] = "none",
    [COOP_TIER_LANDLOCK] = "landlock",
    [COOP_TIER_NAMESPACES] = "namespaces",
    [COOP_TIER_FULL] = "full",
};

static const char *const wall_names[] = { "files",      "processes", "network", "syscalls",
                                          "privileges", "protected", "commands" };

const char *coop_tier_name(coop_tier tier)
{
    return (unsigned)tier <= COOP_TIER_FULL ? tier_names[tier] : "unknown";
}

const char *coop_wall_name(coop_wall wall)
{
    return (unsigned)wall < COOP_WALL_COUNT ? wall_names[wall] : "unknown";
}

static int take_stream(struct coop_box *box, int i, struct stream_text *text)
{
    struct capture *capture = &box->captures[i];
    struct buffer note = { 0 };
    const char *data = NULL;
    size_t length = 0;

    text->dropped = capture_dropped_bytes(capture);
    int r =
        capture_shown(capture, CAPTURE_SHOWN_LINES, CAPTURE_SHOWN_BYTES, &text->shown, &text->cut);
    if (r < 0)
        return r;
    if (capture_cut_note(&text->cut, &note))
        text->note = buffer_take_string(&note);
    buffer_done(&note);
    capture_text(capture, &data, &length);
    text->kept = malloc(length + 1);
    if (!text->kept)
        return -ENOMEM;
    if (length)
        memcpy(text->kept, data, length);
    text->kept[length] = '\0';
    text->kept_length = length;
    return 0;
}

static void add_denial(struct coop_result *result, const coop_denial *denial)
{
    if (result->n_denials < MAX_DENIALS)
        result->denials[result->n_denials++] = *denial;
}

/* Refusals that an option lifts. */
static const char *fix_for(int nr)
{
    static const int of_debuggers[] = { SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev,
                                        SYS_kcmp, NR_PIDFD_GETFD };

    for (size_t i = 0; i < COUNT(of_debuggers); i++)
        if (of_debuggers[i] == nr)
            return "--profile dev";
    return NULL;
}

/* Limits that were hit, in the words of the flag that would lift them. */
static bool is_limited(const struct coop_box *box, coop_limit limit)
{
    return box->plan.policy->limits[limit] != COOP_LIMIT_NONE;
}

static void add_limits(struct coop_result *result, const struct coop_box *box)
{
    int number = WIFSIGNALED(box->status) ? WTERMSIG(box->status) : 0;

    if (result->out_of_memory)
        add_denial(result, &(coop_denial){ "memory", "more memory than the limit", "limit memory",
                                           "policy", "--memory SIZE", box->usage.oom_kills });
    if (result->pids_hit)
        add_denial(result, &(coop_denial){ "pids", "more processes than the limit", "limit pids",
                                           "policy", "--pids N", box->usage.pids_refused });
    if (result->timed_out)
        add_denial(result, &(coop_denial){ "time", "more time than the timeout", "timeout",
                                           "policy", "--timeout DURATION", 1 });
    if (is_limited(box, COOP_LIMIT_CPU_SECONDS) &&
        (number == SIGXCPU ||
         (number == SIGKILL && !result->timed_out && !result->out_of_memory && !result->cancelled &&
          result->cpu_us >= box->plan.policy->limits[COOP_LIMIT_CPU_SECONDS] * 1000000u)))
        add_denial(result, &(coop_denial){ "cpu", "more CPU time than the limit",
                                           "limit cpu-seconds", "policy", "--cpu-seconds N", 1 });
    if (number == SIGXFSZ && is_limited(box, COOP_LIMIT_FILE_SIZE))
        add_denial(result, &(coop_denial){ "file-size", "a larger file than the limit",
                                           "limit file-size", "policy", "--file-size SIZE", 1 });
}

static void append_printable(void *text, const char *bytes, size_t n)
{
    printable_append(text, bytes, n);
}

/* What a command tried to reach may have a secret in its name. */
static const char *text_of(struct coop_result *result, const struct coop_box *box, const char *name)
{
    struct buffer *text = &result->texts[result->n_denials];

    buffer_append_string(text, "");
    if (box->redacts[0]) { /* the stream itself has ended */
        redact_run(box->redacts[0], name, strlen(name), append_printable, text);
        redact_end(box->redacts[0], append_printable, text);
    } else {
        printable_append(text, name, strlen(name));
    }
    return text->failed || !text->data ? "" : text->data;
}

/* What a call that was refused at a protected path would have done. */
static const char *operation_of(int nr)
{
    static const int writes[] = {
#ifdef SYS_open
        SYS_open,
#endif
        SYS_openat, NR_OPENAT2, SYS_truncate
    };

    for (size_t i = 0; i < COUNT(writes); i++)
        if (writes[i] == nr)
            return "write";
#ifdef SYS_rename
    if (nr == SYS_rename)
        return "rename";
#endif
#ifdef SYS_renameat
    if (nr == SYS_renameat)
        return "rename";
#endif
    return nr == SYS_renameat2 ? "rename" : "create";
}

static void add_protected(struct coop_result *result, const struct coop_box *box,
                          const struct box_denial *denial)
{
    const char *pattern;
    const char *origin;

    if (denial->nr < 0) {
        add_denial(result, &(coop_denial){ "write", "further protected paths", "protected paths",
                                           "default", "--no-protect", denial->count });
        return;
    }
    if (denial->rule == PROTOCOL_RULE_HELD) {
        bool has_mounts = box->plan.policy->n_mounts > 0; /* then it may be one of these */

        add_denial(result, &(coop_denial){ "rename", text_of(result, box, denial->text),
                                           "protected path: something in it is hidden or mounted",
                                           has_mounts ? "policy" : "default",
                                           has_mounts ? NULL : "--no-protect", denial->count });
        return;
    }
    bool is_late = denial->rule == PROTOCOL_RULE_LATE;
    if (is_late)
        pattern = "", origin = denial->origin ? denial->origin : "default";
    if ((!is_late && !plan_never_text(&box->plan, denial->rule, &pattern, &origin)) ||
        result->n_denials == MAX_DENIALS)
        return;
    struct buffer *rule = &result->rules[result->n_denials];
    buffer_append_string(rule, "protected path ");
    printable_append(rule, pattern, strlen(pattern));
    if (denial->why) {
        buffer_append_string(rule, is_late ? "" : ": ");
        printable_append(rule, denial->why, strlen(denial->why));
    }
    size_t at = rule->length + 1;
    buffer_append_char(rule, '\0');
    buffer_append_string(rule, origin);
    if (!rule->failed)
        add_denial(result,
                   &(coop_denial){ is_late ? "read" : operation_of(denial->nr),
                                   text_of(result, box, denial->text), rule->data, rule->data + at,
                                   strcmp(origin, "--block") == 0 ? NULL : "--no-protect",
                                   denial->count });
}

static void add_refused(struct coop_result *result, const struct coop_box *box)
{
    for (size_t i = 0; i < box->n_denials && result->n_denials < MAX_DENIALS; i++) {
        const struct box_denial *denial = &box->denials[i];
        const char *name = seccomp_call_name(denial->nr);

        if (denial->rule >= 0 || denial->rule <= PROTOCOL_RULE_HELD || denial->nr < 0)
            add_protected(result, box, denial);
        else if (denial->nr == SYS_connect)
            add_denial(result, &(coop_denial){ "connect", text_of(result, box, denial->text),
                                               "unix sockets of the host", "default",
                                               "--allow-sockets", denial->count });
        else
            add_denial(result,
                       &(coop_denial){ "syscall", text_of(result, box, name ? name : "unknown"),
                                       "seccomp", "default", fix_for(denial->nr), denial->count });
    }
}

int box_result(struct coop_box *box, coop_result **out, coop_error **err)
{
    struct coop_result *result = calloc(1, sizeof *result);

    if (!result)
        return fail_no_memory(err);
    result->status = box->status;
    result->timed_out = box->timed_out;
    result->cancelled = box->cancelled && !box->timed_out;
    result->out_of_memory = box->memory_killed || box->usage.oom_kills > 0;
    result->pids_hit = box->usage.pids_refused > 0;
    result->duration_us = (box->ended_ns - box->started_ns) / 1000u;
    result->cpu_us = box->cpu_us;
    result->peak_memory = box->usage.peak_memory             ? box->usage.peak_memory
                          : box->peak_sampled > box->max_rss ? box->peak_sampled
                                                             : box->max_rss;
    result->bytes_written = box->bytes_written;
    result->tier = box->plan.tier;
    result->enforced = box->plan.enforced;
    result->note = take_ptr(box->plan.note);
    memcpy(result->limits, box->plan.policy->limits, sizeof result->limits);
    memcpy(result->digest, box->digest, sizeof result->digest);
    add_limits(result, box);
    add_refused(result, box);
    for (int i = 0; i < 2; i++)
        if (take_stream(box, i, &result->streams[i]) < 0) {
            coop_result_free(result);
            return fail_no_memory(err);
        }
    *out = result;
    return 0;
}

void coop_result_free(coop_result *result)
{
    if (!result)
        return;
    for (int i = 0; i < 2; i++) {
        free(result->streams[i].kept);
        free(result->streams[i].note);
        buffer_done(&result->streams[i].shown);
    }
    for (size_t i = 0; i < MAX_DENIALS; i++)
        buffer_done(&result->texts[i]), buffer_done(&result->rules[i]);
    buffer_done(&result->json);
    free(result->note);
    free(result);
}

int coop_result_exit_code(const coop_result *result)
{
    return WIFEXITED(result->status) ? WEXITSTATUS(result->status) : -1;
}

int coop_result_signal(const coop_result *result)
{
    return WIFSIGNALED(result->status) ? WTERMSIG(result->status) : 0;
}

int coop_result_status(const coop_result *result)
{
    if (result->timed_out)
        return 124;
    if (WIFSIGNALED(result->status))
        return 128 + WTERMSIG(result->status);
    return WIFEXITED(result->status) ? WEXITSTATUS(result->status) : 125; /* not known */
}

coop_error_kind coop_result_ended_by(const coop_result *result)
{
    if (result->timed_out)
        return COOP_ERROR_TIMEOUT;
    return result->cancelled ? COOP_ERROR_CANCELLED : COOP_ERROR_NONE;
}

bool coop_result_timed_out(const coop_result *result)
{
    return result->timed_out;
}

bool coop_result_out_of_memory(const coop_result *result)
{
    return result->out_of_memory;
}

bool coop_result_pids_hit(const coop_result *result)
{
    return result->pids_hit;
}

uint64_t coop_result_duration_us(const coop_result *result)
{
    return result->duration_us;
}

uint64_t coop_result_cpu_us(const coop_result *result)
{
    return result->cpu_us;
}

uint64_t coop_result_peak_memory(const coop_result *result)
{
    return result->peak_memory;
}

uint64_t coop_result_bytes_written(const coop_result *result)
{
    return result->bytes_written;
}

const char *coop_result_output(const coop_result *result, coop_stream stream, size_t *length)
{
    if (length)
        *length = result->streams[stream].kept_length;
    return result->streams[stream].kept;
}

uint64_t coop_result_output_dropped(const coop_result *result, coop_stream stream)
{
    return result->streams[stream].dropped;
}

const char *coop_result_shown(const coop_result *result, coop_stream stream, size_t *length)
{
    const struct buffer *shown = &result->streams[stream].shown;

    if (length)
        *length = shown->length;
    return shown->data ? shown->data : "";
}

const char *coop_result_cut_note(const coop_result *result, coop_stream stream)
{
    return result->streams[stream].note;
}

coop_tier coop_result_tier(const coop_result *result)
{
    return result->tier;
}

const char *coop_result_wall(const coop_result *result, coop_wall wall)
{
    return (unsigned)wall < COOP_WALL_COUNT ? result->enforced.walls[wall] : NULL;
}

size_t coop_result_n_denials(const coop_result *result)
{
    return result->n_denials;
}

const coop_denial *coop_result_denial(const coop_result *result, size_t i)
{
    return i < result->n_denials ? &result->denials[i] : NULL;
}

const char *coop_result_note(const coop_result *result)
{
    return result->note;
}

const char *coop_result_policy_digest(const coop_result *result)
{
    return result->digest;
}

static void json_text(struct json_writer *json, const char *key, const char *text)
{
    json_write_key(json, key);
    json_write_text(json, text);
}

static void json_number(struct json_writer *json, const char *key, uint64_t number)
{
    json_write_key(json, key);
    json_write_uint(json, number);
}

static void json_truth(struct json_writer *json, const char *key, bool truth)
{
    json_write_key(json, key);
    json_write_bool(json, truth);
}

static void json_stream(struct json_writer *json, const char *key, const struct stream_text *text)
{
    json_write_key(json, key);
    json_write_object_begin(json);
    json_write_key(json, "text");
    json_write_string(json, text->shown.data ? text->shown.data : "", text->shown.length);
    json_number(json, "total_bytes", text->cut.total_bytes);
    json_number(json, "total_lines", text->cut.total_lines);
    json_number(json, "cut_bytes", text->cut.bytes_cut);
    json_number(json, "cut_lines", text->cut.lines_cut);
    json_number(json, "dropped_bytes", text->dropped);
    json_truth(json, "truncated", text->note != NULL);
    json_text(json, "note", text->note);
    json_write_object_end(json);
}

static void json_enforced(struct json_writer *json, const coop_result *result)
{
    json_write_key(json, "enforced");
    json_write_object_begin(json);
    json_text(json, "tier", coop_tier_name(result->tier));
    for (int i = 0; i < COOP_WALL_COUNT; i++)
        json_text(json, wall_names[i], result->enforced.walls[i]);
    json_write_key(json, "limits");
    json_write_object_begin(json);
    for (int i = 0; i < COOP_LIMIT_COUNT; i++) {
        if (result->limits[i] == COOP_LIMIT_NONE)
            continue;
        json_write_key(json, policy_limit_names[i]);
        json_write_object_begin(json);
        json_number(json, "value", result->limits[i]);
        json_text(json, "by", result->enforced.limits[i]);
        json_write_object_end(json);
    }
    json_write_object_end(json);
    json_write_object_end(json);
}

static void json_denials(struct json_writer *json, const coop_result *result)
{
    json_write_key(json, "denials");
    json_write_array_begin(json);
    for (size_t i = 0; i < result->n_denials; i++) {
        const coop_denial *denial = &result->denials[i];

        json_write_object_begin(json);
        json_text(json, "operation", denial->operation);
        json_text(json, "target", denial->target);
        json_text(json, "rule", denial->rule);
        json_text(json, "origin", denial->origin);
        json_text(json, "fix", denial->fix);
        json_number(json, "count", denial->count);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

const char *coop_result_json(coop_result *result)
{
    struct json_writer json;

    if (result->json.data)
        return result->json.data;
    json_write_init(&json, &result->json, true);
    json_write_object_begin(&json);
    json_number(&json, "version", RESULT_SCHEMA_VERSION);
    json_write_key(&json, "exit_code");
    if (WIFEXITED(result->status))
        json_write_int(&json, WEXITSTATUS(result->status));
    else
        json_write_null(&json);
    json_write_key(&json, "signal");
    if (WIFSIGNALED(result->status))
        json_write_int(&json, WTERMSIG(result->status));
    else
        json_write_null(&json);
    json_number(&json, "status", (uint64_t)coop_result_status(result));
    json_truth(&json, "timed_out", result->timed_out);
    json_truth(&json, "cancelled", result->cancelled);
    json_truth(&json, "oom", result->out_of_memory);
    json_truth(&json, "pids_hit", result->pids_hit);
    json_number(&json, "duration_us", result->duration_us);
    json_number(&json, "cpu_us", result->cpu_us);
    json_number(&json, "peak_memory_bytes", result->peak_memory);
    json_number(&json, "bytes_written", result->bytes_written);
    json_stream(&json, "stdout", &result->streams[0]);
    json_stream(&json, "stderr", &result->streams[1]);
    json_enforced(&json, result);
    json_denials(&json, result);
    json_text(&json, "note", result->note);
    json_text(&json, "policy_digest", result->digest);
    json_write_object_end(&json);
    json_write_finish(&json);
    return result->json.failed ? NULL : result->json.data;
}
