#include "secret_grant.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/secret_memory.h"
#include "config/secrets.h"
#include "policy/credential_grant.h"
#include "policy/env_rules.h"

/* Stands for a value that nobody will see. */
#define NOT_FETCHED "not fetched"

static bool list_has(struct config_items items, const char *word)
{
    for (struct config_value item; config_items_next(&items, &item);)
        if (strcmp(config_value_text(&item), word) == 0)
            return true;
    return false;
}

bool secret_is_granted(const struct config *config, const char *name,
                       const struct trust_decision *decision)
{
    const char *provider = config_text(config, "environment.provider");
    bool is_user = decision && decision->user && decision->trust == decision->user_trust;

    if (is_user &&
        list_has(config_items_named(config, "secrets.*.users", name), decision->user->name))
        return true;
    return provider &&
           (list_has(config_items_named(config, "secrets.*.providers", name), provider) ||
            list_has(config_items_named(config, "providers.*.secrets", provider), name));
}

static bool exists(const struct config *config, const char *table, const char *wanted)
{
    struct config_names names = config_names(config, table);

    for (const char *name; (name = config_names_next(&names));)
        if (strcmp(name, wanted) == 0)
            return true;
    return false;
}

/* A provider that counts on a secret which is not there would find out much later. */
static void check_provider(const struct config *config, const char *provider,
                           struct findings *findings)
{
    struct config_items items = config_items_named(config, "providers.*.secrets", provider);

    for (struct config_value item; config_items_next(&items, &item);)
        if (!exists(config, "secrets", config_value_text(&item)))
            findings_add(findings, SEVERITY_ERROR, item.origin, "add it to [secrets]",
                         "the provider '%s' is to be given the secret '%s', which is not there",
                         provider, config_value_text(&item));
}

static void refuse(struct findings *findings, struct origin origin, const coop_error *err)
{
    findings_add(findings, SEVERITY_ERROR, origin, coop_error_hint(err), "%s",
                 coop_error_message(err));
}

static void give(const struct config *config, const struct secret_request *request,
                 const char *name, coop_policy *policy, struct findings *findings)
{
    auto_free char *variable = secrets_variable(config, name);
    auto_secret char *value = NULL;
    auto_error coop_error *err = NULL;

    if (!variable) {
        findings->failed = true;
        return;
    }
    if (!request->is_for_reading &&
        secrets_read(config, name, request->places, &value, findings) < 0)
        return;
    if (coop_policy_add_secret(policy, name, variable, value ? value : NOT_FETCHED, &err) < 0)
        refuse(findings, secrets_origin(config, name), err);
}

int secret_grant(const struct config *config, const struct secret_request *request,
                 coop_policy *policy, struct findings *findings)
{
    struct config_names names = config_names(config, "secrets");
    const char *provider = config_text(config, "environment.provider");
    size_t n_before = findings->n_errors;

    if (provider)
        check_provider(config, provider, findings);
    for (const char *name; (name = config_names_next(&names));)
        if (secret_is_granted(config, name, request->decision))
            give(config, request, name, policy, findings);
    if (findings->failed)
        return -ENOMEM;
    return findings->n_errors > n_before ? -EINVAL : 0;
}

/* ---- check */

static bool is_user(const struct config *config, const char *wanted)
{
    struct config_items users = config_items(config, "users");

    for (struct config_value user; config_items_next(&users, &user);) {
        struct config_value name = config_child(&user, "name");

        if (strcmp(config_value_text(&name), wanted) == 0)
            return true;
    }
    return false;
}

static bool is_named_by_provider(const struct config *config, const char *name)
{
    struct config_names providers = config_names(config, "providers");

    for (const char *provider; (provider = config_names_next(&providers));)
        if (list_has(config_items_named(config, "providers.*.secrets", provider), name))
            return true;
    return false;
}

static void check_grants(const struct config *config, const char *name, struct findings *findings)
{
    struct config_items users = config_items_named(config, "secrets.*.users", name);
    struct config_items providers = config_items_named(config, "secrets.*.providers", name);
    struct config_value item;
    bool is_given = is_named_by_provider(config, name) || config_items_next(&providers, &item) ||
                    credential_uses(config, name);

    for (; config_items_next(&users, &item); is_given = true)
        if (!is_user(config, config_value_text(&item)))
            findings_add(findings, SEVERITY_ERROR, item.origin, "add them to [[users]]",
                         "the secret '%s' is for the user '%s', whom nobody has named", name,
                         config_value_text(&item));
    if (!is_given)
        findings_add(findings, SEVERITY_WARNING, secrets_origin(config, name),
                     "name users or providers", "the secret '%s' is given to nobody", name);
}

static void check_variable(const struct config *config, const char *name, struct findings *findings)
{
    auto_free char *variable = secrets_variable(config, name);
    const char *prefix = config_text(config, "environment.prefix");
    auto_error coop_error *err = NULL;

    if (!variable)
        findings->failed = true;
    else if (env_check_set(variable, strlen(variable), "", 0, prefix, &err) < 0)
        refuse(findings, secrets_origin(config, name), err);
}

void secret_check(const struct config *config, const char *workspace, struct findings *findings)
{
    struct source_place place = { 0 };
    const struct source_places places = { &place, 1 };
    struct stat st;

    if (workspace && stat(workspace, &st) == 0)
        place = (struct source_place){ st.st_dev, st.st_ino };
    struct config_names secrets = config_names(config, "secrets");
    struct config_names providers = config_names(config, "providers");

    for (const char *name; (name = config_names_next(&secrets));) {
        secrets_check(config, name, &places, findings);
        check_variable(config, name, findings);
        check_grants(config, name, findings);
    }
    for (const char *name; (name = config_names_next(&providers));)
        check_provider(config, name, findings);
    credential_check(config, findings);
}
