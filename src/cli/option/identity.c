/*
 * identity.c - options: for whom, and where
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/option/option.h"
#include "policy/policy.h"

int option_set_workspace(void *context, const char *value, coop_error **err)
{
    IDENTITY(context)->workspace = value;
    return coop_policy_set_workspace(POLICY(context), value, err);
}

/* DIR[:ro]; a directory whose name ends so is written with a slash behind it. */
int option_set_root(void *context, const char *value, coop_error **err)
{
    struct policy_arguments *arguments = context;
    size_t n = strlen(value);
    bool read_only = n > 3 && strcmp(value + n - 3, ":ro") == 0;
    char *directory = strndup(value, read_only ? n - 3 : n);

    if (!directory)
        return fail_no_memory(err);
    free(arguments->root);
    arguments->root = directory;
    IDENTITY(context)->workspace = directory;
    int r = coop_policy_set_root(POLICY(context), directory, read_only, err);
    return r < 0 || !read_only ? r
                               : policy_note(POLICY(context), SETTING_SANDBOX_READONLY,
                                             (struct origin){ "--root", 0, 0 }, err);
}

int option_set_config(void *context, const char *value, coop_error **err)
{
    (void)err;
    IDENTITY(context)->config_file = value;
    return 0;
}

int option_set_as(void *context, const char *value, coop_error **err)
{
    IDENTITY(context)->as = value;
    return trust_identity_check(value, err);
}

int option_set_cron(void *context, const char *value, coop_error **err)
{
    (void)err;
    IDENTITY(context)->cron = value;
    return 0;
}

int option_set_group(void *context, const char *value, coop_error **err)
{
    (void)err;
    IDENTITY(context)->group = value ? value : "";
    return 0;
}
