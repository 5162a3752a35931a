/*
 * verify.h - whether the log is as it was written
 *
 * Every record is hashed again, its number and the hash of its predecessor are compared, and the end
 * is compared with the head. What was changed, removed, moved or cut off shows; a record whose writer
 * was killed is told apart from that, because the head never names it.
 *
 * The chain has no key: somebody who can write the directory can compute all of it anew. What makes
 * that show is a number and a hash that were noted elsewhere (`anchor`).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "audit/settings.h"
#include "base/buffer.h"
#include "base/sha256.h"

#define VERIFY_PROBLEMS_MAX 50 /* that are told; more are counted */

struct verify_anchor {
    uint64_t seq; /* 0: none */
    char hash[SHA256_HEX_SIZE];
};

struct verify_report {
    uint64_t n_records, n_files, n_problems;
    uint64_t first_seq, last_seq; /* 0: there is no record */
    char first_time[32], last_time[32];
    char last_hash[SHA256_HEX_SIZE];
    uint64_t n_torn;        /* pieces that were taken out, and records tell so */
    uint64_t torn_bytes;    /* a piece that is still there at the end */
    bool is_head_behind;    /* a writer was killed between its record and the head */
    uint64_t pruned_seq;    /* up to here older files were removed as the settings say */
    struct buffer problems; /* a line each */
};

/* 0: it was looked at, and the report says what was found. */
int verify_log(const struct audit_settings *settings, const struct verify_anchor *anchor,
               struct verify_report *out, coop_error **err);
void verify_report_done(struct verify_report *report);
