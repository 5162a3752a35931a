#include "settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "config/config.h"
#include "config/home.h"

_Static_assert(AUDIT_NONE == CONFIG_NONE, "numbers are taken over as they are");

#define SYSTEM_PARENT    "/var/log"
#define SYSTEM_DIRECTORY SYSTEM_PARENT "/coop"
#define BELOW            "coop/audit"

/* The machine's root: in a user namespace of somebody else's, /var/log belongs to nobody it knows. */
static bool is_system(void)
{
    struct stat stat_of;

    return geteuid() == 0 && stat(SYSTEM_PARENT, &stat_of) == 0 && stat_of.st_uid == 0;
}

/* In a box the workspace is also the home: a log there would be left among somebody's files, and who
 * made the box has recorded it. */
static bool is_in_box(void)
{
    const char *home = getenv("HOME");
    const char *workspace = getenv("COOP_WORKSPACE");

    return home && workspace && getenv("COOP_SESSION") && strcmp(home, workspace) == 0;
}

static int usual_directory(char **out, coop_error **err)
{
    const char *given = getenv("XDG_STATE_HOME");
    auto_free char *state = NULL;

    bool is_given = given && *given == '/';

    if (!is_given && is_in_box())
        return 0;
    if (!is_given && is_system()) {
        *out = strdup(SYSTEM_DIRECTORY);
        return *out ? 0 : fail_no_memory(err);
    }
    int r = home_directory(NULL, "XDG_STATE_HOME", ".local/state", &state, err);
    if (r < 0 || !state)
        return r;
    if (asprintf(out, "%s/" BELOW, state) < 0) {
        *out = NULL;
        return fail_no_memory(err);
    }
    return 0;
}

static int find_directory(const struct config *config, char **out, coop_error **err)
{
    const char *configured = config ? config_text(config, "audit.directory") : NULL;

    if (!configured)
        return usual_directory(out, err);
    if (*configured != '/' && *configured != '~')
        return fail_hint(err,
                         fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                                   "audit.directory is '%s', a relative path", configured),
                         "write it from '/' or '~': it must not depend on the workspace");
    return config_expand_path(configured, "/", out, err);
}

int audit_settings_read(const struct config *config, struct audit_settings *out, coop_error **err)
{
    *out = (struct audit_settings){
        .mode = AUDIT_ON,
        .max_size = UINT64_C(64) << 20,
        .max_age_ms = UINT64_C(30) * 24 * 60 * 60 * 1000,
        .keep = AUDIT_NONE,
    };
    if (config) {
        out->mode = (enum audit_mode)config_word(config, "audit.mode");
        (void)config_size(config, "audit.max_size", &out->max_size);
        (void)config_duration_ms(config, "audit.max_age", &out->max_age_ms);
        (void)config_number(config, "audit.keep", &out->keep);
        out->sync = config_bool(config, "audit.sync");
    }
    return out->mode == AUDIT_OFF ? 0 : find_directory(config, &out->directory, err);
}

void audit_settings_done(struct audit_settings *settings)
{
    free(settings->directory);
    settings->directory = NULL;
}
