/*
 * result.c - what a box leaves: status, output, usage, walls, denials
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json/write.h"
#include "base/printable.h"
#include "base/redact.h"
#include "supervise/box.h"
#include "supervise/denial/box_denials.h"
#include "supervise/denial/denial_kinds.h"
#include "supervise/result.h"

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
    unsigned n_left;
    uint64_t duration_us, cpu_us, peak_memory, bytes_written;
    struct stream_text streams[2];
    coop_tier tier;
    struct plan_enforced enforced; /* static texts */
    uint64_t limits[COOP_LIMIT_COUNT];
    struct denials denials;
    coop_denial *public_denials; /* as many, with their texts */
    coop_watched watched[DENIAL_KINDS_MAX];
    size_t n_watched;
    char *note; /* of the box; NULL: none */
    char digest[65];
    char session[33];
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

const char *coop_wall_name(coop_wall layer)
{
    return (unsigned)layer < COOP_WALL_COUNT ? wall_names[layer] : "unknown";
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

static void append_printable(void *text, const char *bytes, size_t n)
{
    printable_append(text, bytes, n);
}

/* What a command tried to reach may have a secret in its name. */
static void make_printable(char **text, struct redact *redact)
{
    struct buffer clean = { 0 };

    buffer_append_string(&clean, "");
    if (*text && redact) { /* the stream itself has ended */
        redact_run(redact, *text, strlen(*text), append_printable, &clean);
        redact_end(redact, append_printable, &clean);
    } else if (*text) {
        printable_append(&clean, *text, strlen(*text));
    }
    free(*text);
    *text = buffer_take_string(&clean);
}

static const char *text_of(const char *text, const char *otherwise)
{
    return text ? text : otherwise;
}

/* The records become the result's. */
static int take_records(struct coop_result *result, struct coop_box *box)
{
    struct redact *redact = box->redacts[0];

    box_denials_finish(box);
    result->denials = box->denials;
    box->denials = (struct denials){ 0 };
    result->n_watched = denial_kinds(box, result->watched);
    if (result->denials.n == 0)
        return 0;
    result->public_denials = calloc(result->denials.n, sizeof *result->public_denials);
    if (!result->public_denials)
        return -ENOMEM;
    for (size_t i = 0; i < result->denials.n; i++) {
        struct denial *denial = &result->denials.items[i];

        make_printable(&denial->target, redact);
        if (denial->allow)
            make_printable(&denial->allow, redact);
        if (denial->why)
            make_printable(&denial->why, redact);
        result->public_denials[i] = (coop_denial){
            .operation = denial_op_names[denial->op],
            .target = text_of(denial->target, ""),
            .rule = text_of(denial->rule_text, ""),
            .origin = text_of(denial->origin, "built-in default"),
            .fix = denial->allow,
            .count = denial->count,
            .error = denial->error,
            .why = text_of(denial->why, ""),
            .first_ms = denial->first_ms,
        };
    }
    return 0;
}

int box_result(struct coop_box *box, coop_result **out, coop_error **err)
{
    struct coop_result *result = calloc(1, sizeof *result);

    if (!result)
        return fail_no_memory(err);
    result->status = box->status;
    result->n_left = box->n_left;
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
    memcpy(result->session, box->session, sizeof result->session);
    int r = take_records(result, box);
    for (int i = 0; r == 0 && i < 2; i++)
        r = take_stream(box, i, &result->streams[i]);
    if (r < 0) {
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
    denials_done(&result->denials);
    free(result->public_denials);
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

const char *coop_result_wall(const coop_result *result, coop_wall layer)
{
    return (unsigned)layer < COOP_WALL_COUNT ? result->enforced.walls[layer] : NULL;
}

size_t coop_result_n_denials(const coop_result *result)
{
    return result->denials.n;
}

const coop_denial *coop_result_denial(const coop_result *result, size_t i)
{
    return i < result->denials.n ? &result->public_denials[i] : NULL;
}

uint64_t coop_result_more_denials(const coop_result *result)
{
    return result->denials.more;
}

size_t coop_result_n_watched(const coop_result *result)
{
    return result->n_watched;
}

const coop_watched *coop_result_watched(const coop_result *result, size_t i)
{
    return i < result->n_watched ? &result->watched[i] : NULL;
}

const char *coop_result_note(const coop_result *result)
{
    return result->note;
}

const char *coop_result_policy_digest(const coop_result *result)
{
    return result->digest;
}

unsigned result_n_left(const coop_result *result)
{
    return result->n_left;
}

const char *result_session(const coop_result *result)
{
    return result->session;
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

void result_json_denial(struct json_writer *json, const coop_denial *denial)
{
    json_write_object_begin(json);
    json_text(json, "op", denial->operation);
    json_text(json, "target", denial->target);
    json_write_key(json, "errno");
    json_write_int(json, denial->error);
    json_text(json, "rule", denial->rule);
    json_text(json, "origin", denial->origin);
    json_text(json, "why", denial->why);
    json_text(json, "allow", denial->fix);
    json_number(json, "count", denial->count);
    json_number(json, "first_ms", denial->first_ms);
    json_write_object_end(json);
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

/* Which kinds of refusals would be listed, so that an empty list says something. */
static void json_records(struct json_writer *json, const coop_result *result)
{
    json_write_key(json, "records");
    json_write_object_begin(json);
    json_number(json, "more", result->denials.more);
    json_write_key(json, "watched");
    json_write_array_begin(json);
    for (size_t i = 0; i < result->n_watched; i++) {
        const coop_watched *kind = &result->watched[i];

        json_write_object_begin(json);
        json_text(json, "name", kind->kind);
        json_truth(json, "watched", kind->is_watched);
        json_text(json, "note", kind->note);
        json_write_object_end(json);
    }
    json_write_array_end(json);
    json_write_object_end(json);
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
    json_write_key(&json, "denials");
    json_write_array_begin(&json);
    for (size_t i = 0; i < result->denials.n; i++)
        result_json_denial(&json, &result->public_denials[i]);
    json_write_array_end(&json);
    json_records(&json, result);
    json_text(&json, "note", result->note);
    json_text(&json, "policy_digest", result->digest);
    json_write_object_end(&json);
    json_write_finish(&json);
    return result->json.failed ? NULL : result->json.data;
}
