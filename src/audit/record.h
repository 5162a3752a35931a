/*
 * record.h - one thing that happened, as a line of the audit log
 *
 *   audit_append(&settings, &(struct audit_record){ .event = "run", ... }, &err);
 *
 * The texts of a record are shown to nobody's terminal and hold no secret: see summary.h, through
 * which command, error and targets of denials have passed or pass here.
 */
#pragma once

#include "audit/settings.h"
#include "base/buffer.h"
#include "coop/result.h"

/* What is left of a box: rendered when its result is at hand, because that may go before the record
 * is written. Zero it first. */
struct audit_outcome {
    const char *end; /* "exited", "signal", "timeout", "cancelled"; NULL: there was no box */
    int status;      /* as a shell would say it */
    uint64_t denied; /* what the box was refused, each sort once */
    uint64_t duration_us;
    struct buffer members; /* of the record's object */
    char policy[65];
};
void audit_outcome_take(struct audit_outcome *outcome, const coop_result *result);
void audit_outcome_done(struct audit_outcome *outcome);
#define auto_outcome __attribute__((cleanup(audit_outcome_done)))

/* All borrowed; NULL and 0: it has none. */
struct audit_record {
    const char *event;    /* "run", "tool", "approval"; "start" of either of the first two */
    const char *of;       /* "start": of what */
    const char *user;     /* by the configuration's name */
    const char *identity; /* as it was given */
    const char *trust;
    const char *session;
    const char *tool;
    const char *command; /* a summary */
    const char *end;     /* instead of the outcome's: "refused", "failed", "done", "error" */
    int status;          /* likewise */
    const char *error;   /* a summary */
    uint64_t denied;     /* further denials, which `error` tells */
    const char *workspace;
    const char *policy;   /* digest */
    const char *file;     /* of an approval */
    const char *digest;   /* likewise */
    uint64_t duration_us; /* of the whole */
    const struct audit_outcome *outcome;
    const struct config *config; /* whose files are told with a policy that is new to the log */
};

/*
 * Writes it; before it a record of the policy, where the log's last one had another. Nothing and 0
 * where the mode is off, or on and nobody has a place for a log. Callers decide what a failure means: it stops nothing but where the mode is
 * `required`, and is told once.
 */
int audit_append(const struct audit_settings *settings, const struct audit_record *record,
                 coop_error **err);

/* The same with a log that was opened before, while there was time: chain_open(). Takes it; NULL is
 * fine. */
struct chain;
int audit_append_to(struct chain *chain, const struct audit_settings *settings,
                    const struct audit_record *record, coop_error **err);

/* Before something begins: where the mode is `required`, a record of kind "start" says that it does,
 * and a failure is that it may not. */
int audit_begin(const struct audit_settings *settings, const struct audit_record *record,
                coop_error **err);
