/*
 * settings.h - whether, where and how what is run is recorded: the keys of [audit]
 *
 *   struct audit_settings settings;
 *   audit_settings_read(config, &settings, &err) -> audit_append(), any number of times, from any
 *   thread -> audit_settings_done()
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "coop/error.h"
#include "coop/policy.h"

struct config;

/* In the order of audit.mode's words. */
enum audit_mode {
    AUDIT_REQUIRED, /* what cannot be recorded does not begin */
    AUDIT_ON,
    AUDIT_OFF
};

#define AUDIT_NONE UINT64_MAX /* of a number: no limit, as CONFIG_NONE */

struct audit_settings {
    enum audit_mode mode;
    char *directory;     /* absolute; NULL: nobody knows where it should be */
    uint64_t max_size;   /* bytes of a file */
    uint64_t max_age_ms; /* of a file's first record */
    uint64_t keep;       /* files beside the current one */
    bool sync;           /* each record is on the disk before the program goes on */
};

/* NULL for the config: what holds where nobody wrote anything. To be undone in any case. */
int audit_settings_read(const struct config *config, struct audit_settings *out, coop_error **err);
void audit_settings_done(struct audit_settings *settings);

/*
 * The records are no business of a box: where the workspace, the root or a mount of the policy would
 * show their directory, it is hidden there. A mount of something in it is refused. `workspace` is
 * canonical, NULL: there is none. `is_for_reading`: nothing is made.
 */
int audit_hide(const struct audit_settings *settings, const char *workspace, bool is_for_reading,
               coop_policy *policy, coop_error **err);
