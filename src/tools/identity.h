/*
 * identity.h - the configuration of a run, and on whose behalf it is
 *
 * Before any flag is applied, the configuration is read and the policy filled from it: so a flag,
 * which a person types, stands above every file.
 */
#pragma once

#include "config/config.h"
#include "policy/from_config.h"

struct identity {
    /* flags */
    const char *config_file; /* --config */
    const char *workspace;   /* --workspace; NULL: the configuration's, or the current directory */
    const char *as;          /* --as; NULL: coop run always sandboxes */
    const char *group;       /* --group; NULL: a direct message */
    const char *cron;        /* --cron: an entry of the configuration, on behalf of its user */

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
int identity_load(struct identity *identity, coop_error **err);

/* What the configuration gives them. A secret that a command prints needs a caller that does not
 * ignore SIGCHLD: its end must be seen. */
int identity_fill(struct identity *identity, coop_policy *policy, coop_error **err);

/* The one error among the findings; NULL: there are more, or none. */
const struct finding *identity_only_error(const struct identity *identity);

void identity_done(struct identity *identity);

/* Whether commands of theirs run in a box, on the host, or not at all. */
enum identity_route { ROUTE_BOX, ROUTE_HOST, ROUTE_REFUSED };
enum identity_route identity_route(const struct identity *identity);
