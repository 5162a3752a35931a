/*
 * chain_private.h - a locked log, for the files that write it
 */
#pragma once

#include "audit/chain.h"

struct chain {
    const struct audit_settings *settings;
    int dir_fd, head_fd, log_fd;
    struct chain_head head; /* of the last record, also where the head file was behind */
    off_t size, end;        /* of the current file, and of its last whole line */
    size_t torn;            /* bytes that were taken out; 0: none, or they have been told */
    bool must_rotate;
    uint64_t pruned_seq; /* the last record of those that were removed; 0: none, or told */
    char pruned_hash[SHA256_HEX_SIZE];
    struct buffer line;
};

int64_t chain_now_ms(void); /* since 1970 */

/* Makes it if it is not there. Regular, ours alone, no link. */
int chain_open_file(const struct chain *chain, const char *name, int flags, coop_error **err);

/* chain_rotate.c */

/* The current file has become too old. */
bool chain_is_old(const struct chain *chain);
/* The current file gets its name, a new one is begun, and those that are too many go. */
int chain_rotate(struct chain *chain, coop_error **err);
/* The end of the last file that is not the current one; *out is as it was where there is none. */
void chain_find_older(const struct chain *chain, struct chain_tail *out);
