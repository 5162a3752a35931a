/*
 * audit.h - coop audit: what its parts share
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "audit/chain.h"
#include "audit/scan.h"
#include "audit/settings.h"
#include "audit/verify.h"

struct audit_arguments {
    const char *directory, *config_file; /* NULL: the usual ones */
    bool follow, denied, json;
    bool has_since;
    char since[CHAIN_TIME_SIZE];
    const char *user, *session; /* NULL: everybody's, all */
    struct verify_anchor anchor;
};

/* What of the records is wanted. */
struct audit_filter {
    const struct audit_arguments *arguments;
    struct buffer user, session; /* as they stand in a line */
    bool has_uid;
    char uid[16]; /* of the user of the system who is called so */
};
int audit_filter_init(struct audit_filter *filter, const struct audit_arguments *arguments,
                      coop_error **err);
void audit_filter_done(struct audit_filter *filter);
/* Reads the beginning of the record, and says whether it is wanted. */
bool audit_filter_wants(const struct audit_filter *filter, const char *line, size_t n,
                        struct scan_record *out);

/* Somebody by the name under which people know them. */
void audit_append_who(struct buffer *out, const struct scan_record *record);

int audit_query(const struct audit_arguments *arguments, int dir_fd, coop_error **err);
int audit_stats(const struct audit_arguments *arguments, int dir_fd, coop_error **err);
/* 1: something is wrong with it. */
int audit_verify(const struct audit_arguments *arguments, const struct audit_settings *settings,
                 coop_error **err);
