#include "identity.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "config/home.h"
#include "policy/credential_grant.h"

static int load_for(struct identity *identity, const char *workspace, coop_error **err)
{
    const struct config_request request = { .file = identity->config_file, .workspace = workspace };

    config_free(identity->config);
    findings_done(&identity->findings);
    identity->findings.n_errors = identity->findings.n_dropped = 0;
    identity->config = config_new();
    if (!identity->config)
        return fail_no_memory(err);
    int r = config_load(identity->config, &request, &identity->findings);
    return r == -ENOMEM ? fail_no_memory(err) : r;
}

/* A workspace that is not there is the plan's to complain about. */
static int find_workspace(struct identity *identity, const char *path, coop_error **err)
{
    struct stat st;

    free(identity->workspace_path);
    identity->workspace_path = NULL;
    if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
        return 0;
    identity->workspace_path = realpath(path, NULL);
    return identity->workspace_path || errno != ENOMEM ? 0 : fail_no_memory(err);
}

static const struct trust_user *find_user(const struct identity *identity, const char *name)
{
    for (size_t i = 0; i < identity->people.n_users; i++)
        if (strcmp(identity->people.users[i].name, name) == 0)
            return &identity->people.users[i];
    return NULL;
}

/* An entry of [[cron]]: on behalf of its user, with that user's overrides and then its own. */
static int take_cron(struct identity *identity, coop_error **err)
{
    struct config_items items = config_items(identity->config, "cron");
    bool is_found = false;

    while (!is_found && config_items_next(&items, &identity->cron_entry)) {
        struct config_value name = config_child(&identity->cron_entry, "name");

        is_found = strcmp(config_value_text(&name), identity->cron) == 0;
    }
    if (!is_found)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, ENOENT, "no [[cron]] entry is called '%s'",
                         identity->cron);
    struct config_value user_name = config_child(&identity->cron_entry, "user");
    const struct trust_user *user = find_user(identity, config_value_text(&user_name));
    if (!user)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, ENOENT,
                         "the [[cron]] entry '%s' is for '%s', but no user has that name",
                         identity->cron, config_value_text(&user_name));
    identity->as = identity->cron;
    identity->decision =
        (struct trust_decision){ .user = user, .user_trust = user->trust, .trust = user->trust };
    struct config_value own = config_child(&identity->cron_entry, "sandbox");
    int r = config_override(identity->config,
                            &identity->people.overrides[user - identity->people.users]);
    if (r == 0)
        r = config_override(identity->config, &own);
    return r < 0 ? fail_no_memory(err) : 0;
}

int identity_load(struct identity *identity, coop_error **err)
{
    int r = find_workspace(identity, identity->workspace ? identity->workspace : ".", err);

    if (r == 0)
        r = load_for(identity, identity->workspace_path, err);
    if (r < 0)
        return r;
    const char *configured = config_text(identity->config, "sandbox.workspace");
    if (configured && !identity->workspace) {
        auto_free char *path = NULL;

        r = config_expand_path(configured, identity->workspace_path, &path, err);
        if (r == 0)
            r = find_workspace(identity, path, err);
        if (r == 0)
            r = load_for(identity, identity->workspace_path, err);
    }
    if (r < 0 || (!identity->as && !identity->cron))
        return r;
    r = policy_people_new(identity->config, &identity->people, err);
    if (r == 0 && identity->cron)
        r = take_cron(identity, err);
    else if (r == 0)
        r = policy_identify(identity->config, &identity->people, identity->as, identity->group,
                            &identity->decision, err);
    return r;
}

static int make_store(const char *path, coop_error **err)
{
    auto_free char *copy = strdup(path);

    if (!copy)
        return fail_no_memory(err);
    for (char *p = copy + 1; (p = strchr(p, '/')); *p++ = '/') {
        *p = '\0';
        if (mkdir(copy, 0700) < 0 && errno != EEXIST)
            return fail(err, errno, "make the directory '%s' of a memory store", copy);
    }
    if (mkdir(copy, 0700) < 0 && errno != EEXIST)
        return fail(err, errno, "make the memory store '%s'", copy);
    return 0;
}

static int store_directory(const struct identity *identity, char **out, coop_error **err)
{
    const char *configured = config_text(identity->config, "memory.directory");
    auto_free char *state = NULL;

    if (configured)
        return config_expand_path(configured, identity->workspace_path, out, err);
    int r = home_directory(NULL, "XDG_STATE_HOME", ".local/state", &state, err);
    if (r < 0)
        return r;
    if (!state)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, ENOENT,
                         "nobody knows where memory stores are: $HOME is not set");
    return asprintf(out, "%s/coop/memory", state) < 0 ? fail_no_memory(err) : 0;
}

/* Each store that they may see, at /memory/NAME. */
static int add_stores(const struct identity *identity, coop_policy *policy, coop_error **err)
{
    auto_free char *directory = NULL;
    int r = store_directory(identity, &directory, err);

    for (int i = 0; r == 0 && i < TRUST_STORE_COUNT; i++) {
        char target[64];
        auto_free char *path = NULL;

        if (!trust_meanings[identity->decision.trust].sees[i])
            continue;
        if (asprintf(&path, "%s/%s", directory, trust_store_names[i]) < 0)
            return fail_no_memory(err);
        (void)snprintf(target, sizeof target, "/memory/%s", trust_store_names[i]);
        if (identity->is_for_reading && access(path, F_OK) < 0)
            continue;
        r = identity->is_for_reading ? 0 : make_store(path, err);
        if (r == 0)
            r = coop_policy_add_bind(policy, path, target, false, err);
    }
    return r;
}

static int add_secrets(struct identity *identity, coop_policy *policy)
{
    const struct secret_request request = { identity->as ? &identity->decision : NULL,
                                            identity->workspace_path, identity->is_for_reading };

    int r = secret_grant(identity->config, &request, policy, &identity->findings);
    return r < 0 ? r : credential_grant(identity->config, &request, policy, &identity->findings);
}

int identity_fill(struct identity *identity, coop_policy *policy, coop_error **err)
{
    int r = 0;

    if (identity->workspace_path && (!identity->workspace || identity->workspace[0] != '/') &&
        config_text(identity->config, "sandbox.workspace"))
        r = coop_policy_set_workspace(policy, identity->workspace_path, err);
    if (r == 0)
        r = policy_from_config(identity->config, identity->workspace_path, policy, &identity->run,
                               &identity->findings);
    if (r == 0 && identity_route(identity) != ROUTE_REFUSED)
        r = add_secrets(identity, policy);
    if (r == -ENOMEM)
        return fail_no_memory(err);
    if (r == 0 && identity->as && identity_route(identity) == ROUTE_BOX)
        r = add_stores(identity, policy, err);
    return r;
}

enum identity_route identity_route(const struct identity *identity)
{
    if (!identity->as)
        return ROUTE_BOX;
    if (!config_bool(identity->config, "sandbox.enabled"))
        return ROUTE_HOST;
    if (!trust_may_run_commands(identity->decision.trust))
        return ROUTE_REFUSED;
    return trust_meanings[identity->decision.trust].is_sandboxed ? ROUTE_BOX : ROUTE_HOST;
}

const struct finding *identity_only_error(const struct identity *identity)
{
    const struct findings *findings = &identity->findings;

    for (size_t i = 0; findings->n_errors == 1 && i < findings->n; i++)
        if (findings->items[i].severity == SEVERITY_ERROR)
            return &findings->items[i];
    return NULL;
}

void identity_done(struct identity *identity)
{
    findings_done(&identity->findings);
    policy_people_done(&identity->people);
    policy_run_done(&identity->run);
    config_free(identity->config);
    free(identity->workspace_path);
    identity->config = NULL;
    identity->workspace_path = NULL;
}
