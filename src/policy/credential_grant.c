#include "credential_grant.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/secret_memory.h"
#include "config/secrets.h"
#include "policy/credentials.h"

/* Stands for a value that nobody will see. */
#define NOT_FETCHED "not fetched"

#define KEY(key) "network.credentials.*." key

static const char *text(const struct config *config, const char *key, const char *name)
{
    struct config_value value = config_get_named(config, key, name);

    return config_is_set(&value) ? config_value_text(&value) : NULL;
}

static bool list_has(struct config_items items, const char *word)
{
    for (struct config_value item; config_items_next(&items, &item);)
        if (strcmp(config_value_text(&item), word) == 0)
            return true;
    return false;
}

static bool is_empty(struct config_items items)
{
    struct config_value item;

    return !config_items_next(&items, &item);
}

bool credential_is_granted(const struct config *config, const char *name,
                           const struct trust_decision *decision)
{
    struct config_items users = config_items_named(config, KEY("users"), name);
    struct config_items providers = config_items_named(config, KEY("providers"), name);
    const char *provider = config_text(config, "environment.provider");
    bool is_user = decision && decision->user && decision->trust == decision->user_trust;

    if (is_empty(users) && is_empty(providers))
        return !decision;
    return (is_user && list_has(users, decision->user->name)) ||
           (provider && list_has(providers, provider));
}

bool credential_uses(const struct config *config, const char *secret)
{
    struct config_names names = config_names(config, "network.credentials");

    for (const char *name; (name = config_names_next(&names));) {
        const char *used = text(config, KEY("secret"), name);

        if (used && strcmp(used, secret) == 0)
            return true;
    }
    return false;
}

/* ---- granting */

static struct origin origin_of(const struct config *config, const char *name)
{
    return config_get_named(config, "network.credentials.*", name).origin;
}

static bool secret_exists(const struct config *config, const char *wanted)
{
    struct config_names names = config_names(config, "secrets");

    for (const char *name; (name = config_names_next(&names));)
        if (strcmp(name, wanted) == 0)
            return true;
    return false;
}

static int find_secret(const struct config *config, const char *name, struct findings *findings)
{
    struct config_value secret = config_get_named(config, KEY("secret"), name);

    if (!config_is_set(&secret)) /* the form of the file was complained of */
        return -EINVAL;
    if (secret_exists(config, config_value_text(&secret)))
        return 0;
    findings_add(findings, SEVERITY_ERROR, secret.origin, "add it to [secrets]",
                 "the credential '%s' uses the secret '%s', which is not there", name,
                 config_value_text(&secret));
    return -EINVAL;
}

static int add(const struct config *config, const char *name, const char *value,
               coop_policy *policy, struct findings *findings)
{
    auto_error coop_error *err = NULL;
    auto_free char *ca = NULL;
    const char *ca_text = text(config, KEY("ca"), name);
    int r = ca_text ? config_expand_path(ca_text, "", &ca, &err) : 0;

    if (r == 0) {
        const coop_credential credential = { .size = sizeof credential,
                                             .name = name,
                                             .host = text(config, KEY("host"), name),
                                             .header = text(config, KEY("header"), name),
                                             .prefix = text(config, KEY("prefix"), name),
                                             .secret = text(config, KEY("secret"), name),
                                             .value = value,
                                             .variable = text(config, KEY("env"), name),
                                             .ca_file = ca };

        r = policy_add_credential(policy, &credential, origin_of(config, name), &err);
    }
    if (r == -ENOMEM)
        findings->failed = true;
    else if (r < 0)
        findings_add(findings, SEVERITY_ERROR, origin_of(config, name), coop_error_hint(err), "%s",
                     coop_error_message(err));
    return r;
}

static void give(const struct config *config, const struct secret_request *request,
                 const char *name, coop_policy *policy, struct findings *findings)
{
    auto_secret char *value = NULL;

    if (find_secret(config, name, findings) < 0)
        return;
    if (!request->is_for_reading && secrets_read(config, text(config, KEY("secret"), name),
                                                 request->places, &value, findings) < 0)
        return;
    (void)add(config, name, value ? value : NOT_FETCHED, policy, findings);
}

/* A network that nobody chose becomes the gate. */
static void choose_network(const struct config *config, coop_policy *policy,
                           struct findings *findings)
{
    struct origin origin = { 0 };

    if (policy->n_credentials == 0 || config_network(config, &origin) != CONFIG_NETWORK_NONE ||
        origin.name)
        return;
    (void)coop_policy_set_network(policy, COOP_NETWORK_GATE, NULL); /* cannot fail */
    if (policy_note(policy, SETTING_SANDBOX_NETWORK, policy->credentials[0].origin, NULL) < 0)
        findings->failed = true;
}

int credential_grant(const struct config *config, const struct secret_request *request,
                     coop_policy *policy, struct findings *findings)
{
    struct config_names names = config_names(config, "network.credentials");
    size_t n_before = findings->n_errors;

    for (const char *name; (name = config_names_next(&names));)
        if (credential_is_granted(config, name, request->decision))
            give(config, request, name, policy, findings);
    choose_network(config, policy, findings);
    if (findings->failed)
        return -ENOMEM;
    return findings->n_errors > n_before ? -EINVAL : 0;
}

/* ---- check */

static void check_users(const struct config *config, const char *name, struct findings *findings)
{
    struct config_items named = config_items_named(config, KEY("users"), name);

    for (struct config_value item; config_items_next(&named, &item);) {
        struct config_items users = config_items(config, "users");
        bool is_there = false;

        for (struct config_value user; !is_there && config_items_next(&users, &user);) {
            struct config_value known = config_child(&user, "name");

            is_there = strcmp(config_value_text(&known), config_value_text(&item)) == 0;
        }
        if (!is_there)
            findings_add(findings, SEVERITY_ERROR, item.origin, "add them to [[users]]",
                         "the credential '%s' is for the user '%s', whom nobody has named", name,
                         config_value_text(&item));
    }
}

void credential_check(const struct config *config, struct findings *findings)
{
    struct config_names names = config_names(config, "network.credentials");
    coop_policy *policy = NULL;

    if (coop_policy_new(&policy, NULL) < 0) {
        findings->failed = true;
        return;
    }
    for (const char *name; (name = config_names_next(&names));) {
        if (find_secret(config, name, findings) == 0)
            (void)add(config, name, NOT_FETCHED, policy, findings);
        check_users(config, name, findings);
    }
    coop_policy_free(policy);
}
