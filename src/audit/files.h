/*
 * files.h - which files a log has
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "coop/error.h"

/* All but the current one, oldest first, each by the number of its first record. */
struct audit_files {
    uint64_t *first;
    size_t n;
};

int audit_files_list(int dir_fd, struct audit_files *out, coop_error **err);
void audit_files_done(struct audit_files *files);
#define auto_audit_files __attribute__((cleanup(audit_files_done)))
