#include "run_config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "config/home.h"
#include "plan/sources.h"
#include "policy/check.h"
#include "policy/credential_grant.h"

static int load_for(struct run_config *identity, const char *workspace, coop_error **err)
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
static int find_workspace(struct run_config *identity, const char *path, const char *base,
                          coop_error **err)
{
    struct stat st;

    free(identity->workspace_path);
    identity->workspace_path = NULL;
    if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_nlink == 0) /* removed */
        return 0;
    return sources_find("the workspace", path, base, &identity->workspace_path, err);
}

static const struct trust_user *find_user(const struct run_config *identity, const char *name)
{
    for (size_t i = 0; i < identity->people.n_users; i++)
        if (strcmp(identity->people.users[i].name, name) == 0)
            return &identity->people.users[i];
    return NULL;
}

/* An entry of [[cron]]: on behalf of its user, with that user's overrides and then its own. */
static int take_cron(struct run_config *identity, coop_error **err)
{
    struct config_items items = config_items(identity->config, "cron");
    bool is_found = false;

    while (!is_found && config_items_next(&items, &identity->cron_entry)) {
        struct config_value name = config_child(&identity->cron_entry, "name");

        is_found = strcmp(config_value_text(&name), identity->cron) == 0;
    }
    if (!is_found)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, ENOENT, "there is no [[cron]] entry '%s'",
                         identity->cron);
    struct config_value user_name = config_child(&identity->cron_entry, "user");
    const struct trust_user *user = find_user(identity, config_value_text(&user_name));
    if (!user)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, ENOENT,
                         "the [[cron]] entry '%s' names the user '%s', who does not exist",
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

/* Whoever asks: nobody is trusted by users and groups that `coop check` calls wrong. */
static int load_people(struct run_config *identity, coop_error **err)
{
    struct findings findings = { 0 };
    int r = policy_people_new(identity->config, &identity->people, err);

    if (r < 0)
        return r;
    check_people(identity->config, &identity->people, &findings);
    r = findings_fail(&findings, err);
    findings_done(&findings);
    return r;
}

int run_config_load(struct run_config *identity, coop_error **err)
{
    const char *asked = identity->workspace ? identity->workspace : ".";
    int r = find_workspace(identity, asked, SOURCES_BASE(asked), err);

    if (r == 0)
        r = load_for(identity, identity->workspace_path, err);
    if (r < 0)
        return r;
    const char *configured = config_text(identity->config, "sandbox.workspace");
    if (configured && !identity->workspace) {
        auto_free char *path = NULL;

        auto_free char *base =
            strdup(*configured == '/' || !identity->workspace_path ? SOURCES_BASE("/")
                                                                   : identity->workspace_path);

        r = base ? config_expand_path(configured, identity->workspace_path, &path, err)
                 : fail_no_memory(err);
        if (r == 0 && path)
            r = find_workspace(identity, path, base, err);
        if (r == 0)
            r = load_for(identity, identity->workspace_path, err);
    }
    if (r == 0)
        r = run_config_check_files(identity, NULL, err);
    if (r < 0 || (!identity->as && !identity->cron))
        return r;
    r = load_people(identity, err);
    if (r == 0 && identity->cron)
        r = take_cron(identity, err);
    else if (r == 0)
        r = policy_identify(identity->config, &identity->people, identity->as, identity->group,
                            &identity->decision, err);
    return r;
}

/* Nothing is made behind a link that a command may have put into the workspace. */
static int make_directory(const char *path, const char *workspace, coop_error **err)
{
    auto_free char *real = NULL;

    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return fail(err, errno, "make the directory '%s' of a memory store", path);
    return sources_find("the directory of memory stores", path, workspace, &real, err);
}

static int make_store(const char *path, const char *workspace, coop_error **err)
{
    auto_free char *copy = strdup(path);
    int r = 0;

    if (!copy)
        return fail_no_memory(err);
    for (char *p = copy + 1; r == 0 && (p = strchr(p, '/')); *p++ = '/') {
        *p = '\0';
        r = make_directory(copy, workspace, err);
    }
    return r < 0 ? r : make_directory(copy, workspace, err);
}

bool run_config_sees_stores(const struct run_config *identity)
{
    const bool *sees = trust_meanings[identity->decision.trust].sees;

    return identity->as &&
           (sees[TRUST_STORE_PRIVATE] || sees[TRUST_STORE_SHARED] || sees[TRUST_STORE_SOCIAL]);
}

int run_config_store_directory(const struct run_config *identity, char **out, coop_error **err)
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
                         "cannot find the memory stores: $HOME is not set");
    return asprintf(out, "%s/coop/memory", state) < 0 ? fail_no_memory(err) : 0;
}

static const char *base_of(const struct run_config *identity)
{
    return identity->workspace_path ? identity->workspace_path : ".";
}

/* One store, at /memory/NAME of a box. Whoever runs no commands only reads what others wrote. */
static int add_store(const struct run_config *identity, const char *path, const char *name,
                     coop_policy *policy, coop_error **err)
{
    bool only_reads = run_config_route(identity) == ROUTE_REFUSED;
    bool is_made = !identity->is_for_reading && !only_reads;
    char target[64];

    if (!is_made && access(path, F_OK) < 0)
        return 0;
    int r = is_made ? make_store(path, base_of(identity), err) : 0;
    (void)snprintf(target, sizeof target, IDENTITY_MEMORY "/%s", name);
    if (r == 0)
        r = coop_policy_add_bind(policy, path, target, only_reads || policy->read_only, err);
    if (r == 0)
        policy->mounts[policy->n_mounts - 1].is_store = true;
    return r;
}

/* Each store that they may see. On the host there is no other path to them than their own, and a
 * command does not depend on them. */
static int add_stores(const struct run_config *identity, coop_policy *policy, coop_error **err)
{
    auto_error coop_error *why = NULL;
    auto_free char *directory = NULL;
    enum run_config_route route = run_config_route(identity);
    bool on_host = route == ROUTE_HOST || policy->mode == COOP_MODE_DISABLED;
    int r = run_config_store_directory(identity, &directory, &why);

    if (r < 0 && route != ROUTE_BOX && r != -ENOMEM)
        return 0;
    if (r < 0 && err)
        *err = take_ptr(why);
    for (int i = 0; r == 0 && i < TRUST_STORE_COUNT; i++) {
        auto_free char *path = NULL;

        if (!trust_meanings[identity->decision.trust].sees[i])
            continue;
        if (asprintf(&path, "%s/%s", directory, trust_store_names[i]) < 0)
            return fail_no_memory(err);
        if (!on_host || route == ROUTE_REFUSED)
            r = add_store(identity, path, trust_store_names[i], policy, err);
        else if (!identity->is_for_reading)
            (void)make_store(path, base_of(identity), NULL);
    }
    return r < 0 ? r
                 : coop_policy_set_fact(
                       policy, COOP_FACT_MEMORY,
                       on_host && route != ROUTE_REFUSED ? directory : IDENTITY_MEMORY, err);
}

static int add_secrets(struct run_config *identity, coop_policy *policy, coop_error **err)
{
    struct source_places places;
    const struct secret_request request = { identity->as ? &identity->decision : NULL, &places,
                                            identity->is_for_reading };
    int r = run_config_places(identity, policy, &places, err);

    if (r == 0)
        r = secret_grant(identity->config, &request, policy, &identity->findings);
    if (r == 0)
        r = credential_grant(identity->config, &request, policy, &identity->findings);
    free(places.items);
    return r;
}

int run_config_fill(struct run_config *identity, coop_policy *policy, coop_error **err)
{
    int r = 0;

    if (identity->workspace_path && (!identity->workspace || identity->workspace[0] != '/') &&
        config_text(identity->config, "sandbox.workspace"))
        r = coop_policy_set_workspace(policy, identity->workspace_path, err);
    if (r == 0)
        r = policy_from_config(identity->config, identity->workspace_path, policy, &identity->run,
                               &identity->findings);
    if (r == 0)
        r = run_config_check_files(identity, policy, err);
    if (r == 0)
        r = run_config_keep_files(identity, policy, err);
    if (r == 0 && config_text(identity->config, "memory.directory")) {
        free(policy->memory);
        policy->memory = NULL;
        r = run_config_store_directory(identity, &policy->memory, err);
    }
    if (r == 0 && run_config_route(identity) != ROUTE_REFUSED)
        r = add_secrets(identity, policy, err);
    if (r == -ENOMEM)
        return fail_no_memory(err);
    if (r == 0 && run_config_sees_stores(identity))
        r = add_stores(identity, policy, err);
    return r;
}

enum run_config_route run_config_route(const struct run_config *identity)
{
    if (!identity->as)
        return ROUTE_BOX;
    /* Trust first: a sandbox that is not enabled takes away boxes, not the question who may. */
    if (!trust_may_run_commands(identity->decision.trust))
        return ROUTE_REFUSED;
    if (!config_bool(identity->config, "sandbox.enabled"))
        return ROUTE_HOST;
    return trust_meanings[identity->decision.trust].is_sandboxed ? ROUTE_BOX : ROUTE_HOST;
}

const struct finding *run_config_only_error(const struct run_config *identity)
{
    const struct findings *findings = &identity->findings;

    for (size_t i = 0; findings->n_errors == 1 && i < findings->n; i++)
        if (findings->items[i].severity == SEVERITY_ERROR)
            return &findings->items[i];
    return NULL;
}

void run_config_done(struct run_config *identity)
{
    findings_done(&identity->findings);
    policy_people_done(&identity->people);
    policy_run_done(&identity->run);
    config_free(identity->config);
    free(identity->workspace_path);
    identity->config = NULL;
    identity->workspace_path = NULL;
}
