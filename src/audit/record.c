#include "record.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "audit/chain.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json/write.h"
#include "base/printable.h"
#include "base/scrub.h"
#include "config/config.h"

#define TEXT_MAX    300           /* bytes of a target or a path */
#define DENIALS_MAX (40u * 1024u) /* bytes of all of them */
#define FILES_MAX   8

static void text(struct json_writer *json, const char *key, const char *value)
{
    json_write_key(json, key);
    json_write_text(json, value);
}

static void number(struct json_writer *json, const char *key, uint64_t value)
{
    json_write_key(json, key);
    json_write_uint(json, value);
}

/* What somebody in the box chose: printable, masked and not too long. */
static void foreign(struct json_writer *json, const char *key, const char *value)
{
    auto_buffer struct buffer masked = { 0 };
    auto_buffer struct buffer shown = { 0 };

    json_write_key(json, key);
    if (!value) {
        json_write_null(json);
        return;
    }
    scrub_append(&masked, value, strlen(value));
    printable_append(&shown, masked.data ? masked.data : "",
                     masked.length < TEXT_MAX ? masked.length : TEXT_MAX);
    if (masked.failed || shown.failed)
        json->out->failed = true;
    json_write_string(json, shown.data ? shown.data : "", shown.length);
}

/* ---- what a box leaves */

static void write_walls(struct json_writer *json, const coop_result *result)
{
    text(json, "tier", coop_tier_name(coop_result_tier(result)));
    json_write_key(json, "walls");
    json_write_object_begin(json);
    for (int i = 0; i < COOP_WALL_COUNT; i++)
        text(json, coop_wall_name((coop_wall)i), coop_result_wall(result, (coop_wall)i));
    json_write_object_end(json);
}

static void write_usage(struct json_writer *json, const coop_result *result)
{
    json_write_key(json, "usage");
    json_write_object_begin(json);
    number(json, "cpu_us", coop_result_cpu_us(result));
    number(json, "peak_memory_bytes", coop_result_peak_memory(result));
    number(json, "bytes_written", coop_result_bytes_written(result));
    json_write_object_end(json);
}

static void write_denials(struct json_writer *json, const coop_result *result)
{
    size_t begin = json->out->length;
    size_t i = 0;

    json_write_key(json, "denials");
    json_write_array_begin(json);
    for (; i < coop_result_n_denials(result) && json->out->length - begin < DENIALS_MAX; i++) {
        const coop_denial *denial = coop_result_denial(result, i);

        json_write_object_begin(json);
        foreign(json, "op", denial->operation);
        foreign(json, "target", denial->target);
        foreign(json, "rule", denial->rule);
        foreign(json, "origin", denial->origin);
        number(json, "count", denial->count);
        json_write_object_end(json);
    }
    json_write_array_end(json);
    if (i < coop_result_n_denials(result))
        number(json, "denials_left_out", coop_result_n_denials(result) - i);
}

static const char *end_of(const coop_result *result)
{
    if (coop_result_timed_out(result))
        return "timeout";
    if (coop_result_ended_by(result) == COOP_ERROR_CANCELLED)
        return "cancelled";
    return coop_result_signal(result) ? "signal" : "exited";
}

void audit_outcome_take(struct audit_outcome *outcome, const coop_result *result)
{
    const char *digest = coop_result_policy_digest(result);
    struct json_writer json;

    outcome->end = end_of(result);
    outcome->status = coop_result_status(result);
    outcome->denied += coop_result_n_denials(result);
    outcome->duration_us += coop_result_duration_us(result);
    outcome->members.length = 0; /* of several boxes, the last one's */
    memcpy(outcome->policy, digest, sizeof outcome->policy - 1);
    json_write_init(&json, &outcome->members, false);
    json_write_object_begin(&json);
    write_walls(&json, result);
    write_usage(&json, result);
    write_denials(&json, result);
    json_write_object_end(&json);
    json_write_finish(&json);
}

void audit_outcome_done(struct audit_outcome *outcome)
{
    buffer_done(&outcome->members);
}

/* ---- the line */

/* Puts the inside of an object, which `from` is, behind what stands in `out` already. */
static void append_members(struct buffer *out, const struct buffer *from)
{
    if (from->failed)
        out->failed = true;
    else if (from->length > 2)
        buffer_append(out, from->data + 1, from->length - 2);
}

/* First what queries ask for: they need not read on. */
static void write_who(struct json_writer *json, const struct audit_record *record)
{
    const struct audit_outcome *outcome = record->outcome;

    text(json, "event", record->event);
    foreign(json, "user", record->user);
    foreign(json, "identity", record->identity);
    number(json, "uid", getuid());
    text(json, "trust", record->trust);
    foreign(json, "session", record->session);
    number(json, "denied", record->denied + (outcome ? outcome->denied : 0));
}

static void write_what(struct json_writer *json, const struct audit_record *record)
{
    const struct audit_outcome *outcome = record->outcome;
    bool has_box = outcome && outcome->end;

    if (record->of)
        text(json, "of", record->of);
    if (record->tool)
        text(json, "tool", record->tool);
    text(json, "command", record->command);
    if (record->end || has_box) {
        text(json, "end", record->end ? record->end : outcome->end);
        json_write_key(json, "status");
        json_write_int(json, record->end && !has_box ? record->status : outcome->status);
    }
    if (record->error)
        text(json, "error", record->error);
    if (record->file) {
        foreign(json, "file", record->file);
        text(json, "digest", record->digest);
    }
    number(json, "duration_us",
           record->duration_us ? record->duration_us : (has_box ? outcome->duration_us : 0));
    foreign(json, "workspace", record->workspace);
    text(json, "policy", record->policy);
}

static void write_record(struct buffer *out, const struct audit_record *record)
{
    auto_buffer struct buffer object = { 0 };
    struct json_writer json;

    json_write_init(&json, &object, false);
    json_write_object_begin(&json);
    write_who(&json, record);
    write_what(&json, record);
    json_write_object_end(&json);
    json_write_finish(&json);
    append_members(out, &object);
    if (record->outcome && record->outcome->members.length > 2) {
        buffer_append_char(out, ',');
        append_members(out, &record->outcome->members);
    }
}

static void write_files(struct json_writer *json, const struct config *config)
{
    json_write_key(json, "files");
    json_write_array_begin(json);
    for (size_t i = 0; config && i < config_n_files(config) && i < FILES_MAX; i++) {
        struct config_file_info info = config_file_info(config, i);

        json_write_object_begin(json);
        foreign(json, "path", info.path);
        text(json, "layer", config_layer_names[info.layer]);
        /* A digest of what holds a secret would let somebody try values against it. */
        text(json, "digest", info.digest && *info.digest ? info.digest : NULL);
        json_write_key(json, "approved");
        json_write_bool(json, info.is_approved);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static int append_policy(struct chain *chain, const struct audit_record *record, coop_error **err)
{
    const struct audit_record policy = {
        .event = "policy",
        .user = record->user,
        .identity = record->identity,
        .trust = record->trust,
        .session = record->session,
        .workspace = record->workspace,
        .policy = record->policy,
    };
    auto_buffer struct buffer fields = { 0 };
    auto_buffer struct buffer object = { 0 };
    struct json_writer json;

    write_record(&fields, &policy);
    json_write_init(&json, &object, false);
    json_write_object_begin(&json);
    write_files(&json, record->config);
    json_write_object_end(&json);
    json_write_finish(&json);
    buffer_append_char(&fields, ',');
    append_members(&fields, &object);
    if (fields.failed)
        return fail_no_memory(err);
    return chain_append(chain, fields.data, fields.length, record->policy, err);
}

static int append(struct chain *opened, const struct audit_settings *settings,
                  const struct audit_record *record, bool reserves, coop_error **err)
{
    auto_chain struct chain *chain = opened;
    auto_buffer struct buffer fields = { 0 };

    if (settings->mode == AUDIT_OFF || (settings->mode == AUDIT_ON && !settings->directory))
        return 0;
    write_record(&fields, record); /* before the lock: others wait for it */
    if (fields.failed)
        return fail_no_memory(err);
    int r = chain ? 0 : chain_open(settings, &chain, err);
    if (r == 0)
        r = chain_lock(chain, err);
    if (r == 0 && reserves)
        r = chain_reserve(chain, err);
    if (r == 0 && record->policy && strcmp(chain_policy(chain), record->policy) != 0)
        r = append_policy(chain, record, err);
    if (r == 0)
        r = chain_append(chain, fields.data, fields.length, record->policy, err);
    return r < 0 ? fail_within(err, r, "record it in the audit log") : 0;
}

int audit_append(const struct audit_settings *settings, const struct audit_record *record,
                 coop_error **err)
{
    return append(NULL, settings, record, false, err);
}

int audit_append_to(struct chain *chain, const struct audit_settings *settings,
                    const struct audit_record *record, coop_error **err)
{
    return append(chain, settings, record, false, err);
}

int audit_begin(const struct audit_settings *settings, const struct audit_record *record,
                coop_error **err)
{
    struct audit_record start = *record;

    if (settings->mode != AUDIT_REQUIRED)
        return 0;
    start.of = record->event;
    start.event = "start";
    int r = append(NULL, settings, &start, true, err);
    if (r < 0 && err)
        r = fail_as(err,
                    fail_hint(err, r,
                              "the configuration says audit = \"required\": what "
                              "cannot be recorded is not run"),
                    COOP_ERROR_SETUP);
    return r;
}
