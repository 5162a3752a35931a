/*
 * chain.h - the files of the audit log: one line a record, each chained to the one before
 *
 *   audit.jsonl                the current file; only its end is ever written
 *   audit-000000000123.jsonl   earlier ones, by the number of their first record
 *   head                       number and hash of the last record; also what writers lock
 *   torn                       pieces of records whose writers were killed
 *
 * A line is {"seq":N,"time":"T",FIELDS,"prev":"P","hash":"H"}: P is the hash of the record before,
 * H that of all that stands before it in the line. A record is written first and the head then, so
 * the head is behind by the record in flight and never ahead: a head that is ahead of the files shows
 * that records were taken away from their end. The next record goes on from the head, and the gap stays.
 *
 * Writers exclude each other, threads and processes, by a lock on the head. Whoever finds a line
 * without its end takes it out and says so in the record that comes next: "torn".
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "audit/settings.h"
#include "base/buffer.h"
#include "base/sha256.h"

#define CHAIN_FILE       "audit.jsonl"
#define CHAIN_HEAD       "head"
#define CHAIN_TORN       "torn"
#define CHAIN_RECORD_MAX ((size_t)64 * 1024) /* bytes of a line, its end included */
#define CHAIN_TIME_SIZE  25                  /* "2024-02-29T12:00:00.123Z" and a NUL */
#define CHAIN_NAME_SIZE  32

/* What stands behind the hashed part of a line: ,"hash":"..."} */
#define CHAIN_TAIL_LENGTH (9 + 2 * SHA256_BYTES + 2)

/* The last record that there is. */
struct chain_head {
    uint64_t seq; /* 0: none */
    char hash[SHA256_HEX_SIZE];
    char policy[SHA256_HEX_SIZE]; /* the last digest that a record named; "" if none did */
};

struct chain;

/* Finds the log, and makes it if it is not there. The settings are borrowed. */
int chain_open(const struct audit_settings *settings, struct chain **out, coop_error **err);
/* Waits for other writers and finds the last record. */
int chain_lock(struct chain *chain, coop_error **err);
void chain_close(struct chain *chain); /* ends the lock too; NULL is fine */
void chain_close_at_exit(struct chain **chain);
#define auto_chain __attribute__((cleanup(chain_close_at_exit)))

/* The digest that the last record named; "" if none did. */
const char *chain_policy(const struct chain *chain);

/* Adds a record: `fields` is the inside of an object. `policy` NULL: it names none. One write(2). */
int chain_append(struct chain *chain, const char *fields, size_t n, const char *policy,
                 coop_error **err);

/* There is room for a further record, whatever else is written to the disk. Where the file system
 * cannot promise that, nobody can, and 0. */
int chain_reserve(struct chain *chain, coop_error **err);

/* ---- for readers */

void chain_time(int64_t unix_ms, char out[CHAIN_TIME_SIZE]);

/* False: there is none that can be read. */
bool chain_read_head(int dir_fd, struct chain_head *out);

/* The name of the file that begins with this record. */
void chain_file_name(uint64_t first_seq, char out[CHAIN_NAME_SIZE]);
/* The reverse; 0: it is not such a name. */
uint64_t chain_file_seq(const char *name);

/* The number and the hash that a line says; no more than its form is looked at. */
bool chain_read_line(const char *line, size_t n, uint64_t *seq, char hash[SHA256_HEX_SIZE]);

/* Where the last whole line begins and ends, and where the file does: between the two may be a piece
 * of a line. -EINVAL: neither line nor piece is of a length that coop writes. */
struct chain_tail {
    off_t end, size;
    uint64_t seq; /* 0: no line, or none of ours */
    char hash[SHA256_HEX_SIZE];
};
int chain_read_tail(int fd, struct chain_tail *out);
