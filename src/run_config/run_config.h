/*
 * run_config.h - the configuration of a run, and on whose behalf it is
 *
 * Before any flag is applied, the configuration is read and the policy filled from it: so a flag,
 * which a person types, stands above every file.
 */
#pragma once

#include "config/config.h"
#include "policy/from_config.h"
#include "sys/source.h"

struct run_config {
    /* flags */
    const char *config_file; /* --config */
    const char *workspace;   /* --workspace; NULL: the configuration's, or the current directory */
    const char *as;          /* --as; NULL: coop run always sandboxes */
    const char *group;       /* --group; NULL: a direct message */
    const char *cron;        /* --cron: an entry of the configuration, on behalf of its user */

    const char *const *writable; /* host paths that the caller will let commands write */
    size_t n_writable;

    bool is_for_reading; /* nothing is to be made: memory stores that are not there stay away */

    struct config *config;
    struct findings findings; /* borrows names from the config */
    struct policy_people people;
    struct policy_run run;
    char *workspace_path;           /* absolute */
    struct trust_decision decision; /* with --as */
    struct config_value cron_entry; /* with --cron */
};

/* Reads the files. -EINVAL with no error object: everything is among the findings. */
int run_config_load(struct run_config *identity, coop_error **err);

/* What the configuration gives them. A secret that a command prints needs a caller that does not
 * ignore SIGCHLD: its end must be seen. */
int run_config_fill(struct run_config *identity, coop_policy *policy, coop_error **err);

/* Where commands may write. Its items are the caller's to free. */
int run_config_places(const struct run_config *identity, const coop_policy *policy,
                      struct source_places *out, coop_error **err);

/*
 * Refuses files of the owner's that commands can change, unless they are approved: those in the
 * workspace, in what the caller lets commands write, and in writable mounts of the policy, which may
 * be NULL. And keeps such files from being written while a box runs. Called by the two above.
 */
int run_config_check_files(const struct run_config *identity, const coop_policy *policy,
                           coop_error **err);
int run_config_keep_files(const struct run_config *identity, coop_policy *policy, coop_error **err);

#define IDENTITY_MEMORY "/memory" /* of a box */

/* Whether any memory store is open to them, and the directory of the host that holds all stores. */
bool run_config_sees_stores(const struct run_config *identity);
int run_config_store_directory(const struct run_config *identity, char **out, coop_error **err);

/* The one error among the findings; NULL: there are more, or none. */
const struct finding *run_config_only_error(const struct run_config *identity);

void run_config_done(struct run_config *identity);

/* Whether commands of theirs run in a box, on the host, or not at all. */
enum run_config_route { ROUTE_BOX, ROUTE_HOST, ROUTE_REFUSED };
enum run_config_route run_config_route(const struct run_config *identity);
