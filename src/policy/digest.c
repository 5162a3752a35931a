#include "digest.h"

#include <string.h>

#include "base/sha256.h"
#include "policy/credentials.h"
#include "policy/network_mode.h"
#include "policy/setting.h"
#include "policy/view/defaults.h"

/* Each part is written with its length, so that no two policies give the same bytes. */
static void add_bytes(struct sha256 *hash, const char *text)
{
    uint64_t length = text ? strlen(text) : UINT64_MAX;

    sha256_update(hash, &length, sizeof length);
    if (text)
        sha256_update(hash, text, (size_t)length);
}

static void add_number(struct sha256 *hash, uint64_t number)
{
    sha256_update(hash, &number, sizeof number);
}

static void add_patterns(struct sha256 *hash, const struct command_pattern *patterns, size_t n)
{
    add_number(hash, n);
    for (size_t i = 0; i < n; i++)
        add_bytes(hash, patterns[i].text);
}

/* Rules that nobody asks allow nothing less. */
static void add_commands(struct sha256 *hash, const struct policy_commands *commands)
{
    size_t n = commands->strength == COOP_COMMANDS_OFF ? 0 : commands->rules.n;

    add_number(hash, commands->strength);
    add_number(hash, n);
    for (size_t i = 0; i < n; i++) {
        const struct command_rule *rule = &commands->rules.items[i];

        add_bytes(hash, rule->name);
        add_number(hash, rule->manifest);
        add_number(hash, rule->has_allowed);
        add_patterns(hash, rule->allowed, rule->n_allowed);
        add_patterns(hash, rule->blocked, rule->n_blocked);
        add_number(hash, rule->n_needs);
        for (size_t k = 0; k < rule->n_needs; k++)
            add_bytes(hash, rule->needs[k]);
    }
}

/* Rules that no gate asks allow nothing more. */
static void add_hosts(struct sha256 *hash, const coop_policy *policy)
{
    char text[HOST_RULE_TEXT_MAX];

    if (!network_mode(policy)->has_rules)
        return;
    add_number(hash, policy->n_hosts);
    for (size_t i = 0; i < policy->n_hosts; i++) {
        (void)host_rule_format(&policy->hosts[i].rule, text);
        add_number(hash, policy->hosts[i].is_denied);
        add_bytes(hash, text);
    }
    add_number(hash, policy->n_publish);
    for (size_t i = 0; i < policy->n_publish; i++) {
        add_number(hash, policy->publish[i].outside);
        add_number(hash, policy->publish[i].inside);
    }
    add_number(hash, policy->proxy_env);
    add_number(hash, policy->require_sni);
}

/* The usual view adds nothing. */
static void add_view(struct sha256 *hash, const coop_policy *policy)
{
    for (const struct view_default *row = policy->view; row && row->path; row++) {
        add_bytes(hash, row->path);
        add_number(hash, row->origin);
        add_bytes(hash, row->text);
    }
}

/* Never the values: a digest is shown. */
static void add_credentials(struct sha256 *hash, const coop_policy *policy)
{
    for (size_t i = 0; i < policy_n_credentials(policy); i++) {
        const struct policy_credential *credential = &policy->credentials[i];

        add_bytes(hash, credential->name);
        add_bytes(hash, credential->host);
        add_number(hash, credential->port);
        add_bytes(hash, credential->header);
        add_bytes(hash, credential->prefix);
        add_bytes(hash, credential->secret);
        add_bytes(hash, credential->variable);
        add_bytes(hash, credential->ca);
    }
}

/* Settings that came later count where they differ from their default: older policies keep their digest. */
static void add_stored(struct sha256 *hash, const coop_policy *policy)
{
    for (size_t i = 0; i < SETTINGS; i++) {
        const struct policy_setting *setting = &policy_settings[i];
        uint64_t value = policy_get(policy, (enum setting)i);

        if (!setting->is_stored || value == setting->fallback)
            continue;
        add_bytes(hash, setting->key ? setting->key : setting->flag);
        add_number(hash, value);
    }
}

void digest_policy(const coop_policy *policy, char out[65])
{
    unsigned char bytes[SHA256_BYTES];
    struct sha256 hash;

    sha256_init(&hash);
    add_bytes(&hash, "coop policy 1");
    add_bytes(&hash, policy->workspace);
    add_bytes(&hash, policy->root);
    add_number(&hash, policy->read_only);
    add_bytes(&hash, policy->restrict_to);
    add_bytes(&hash, policy->directory);
    add_bytes(&hash, policy->hostname);
    add_number(&hash, policy->same_path);
    add_number(&hash, policy->has_uid ? policy->uid : UINT64_MAX);
    add_number(&hash, policy->host_sockets);
    add_number(&hash, policy->whole_home);
    add_number(&hash, policy->network);
    add_view(&hash, policy);
    add_hosts(&hash, policy);
    add_credentials(&hash, policy);
    add_number(&hash, policy->mode);
    add_number(&hash, policy->profile);
    for (int i = 0; i < COOP_LIMIT_COUNT; i++)
        add_number(&hash, policy->limits[i]);
    add_number(&hash, policy->n_mounts);
    for (size_t i = 0; i < policy->n_mounts; i++) {
        const struct policy_mount *mount = &policy->mounts[i];

        add_number(&hash, mount->kind);
        add_number(&hash, mount->read_only | (unsigned)mount->is_socket << 1);
        add_number(&hash, mount->size);
        add_bytes(&hash, mount->source);
        add_bytes(&hash, mount->target);
    }
    add_number(&hash, policy->n_variables);
    for (size_t i = 0; i < policy->n_variables; i++) {
        add_bytes(&hash, policy->variables[i].name);
        add_bytes(&hash, policy->variables[i].value);
    }
    add_bytes(&hash, policy->second_prefix);
    for (int i = 0; i < COOP_FACT_COUNT; i++) {
        add_number(&hash, policy->tells[i]);
        add_bytes(&hash, policy->facts[i]);
    }
    add_number(&hash, policy->n_secrets);
    for (size_t i = 0; i < policy->n_secrets; i++) { /* never the values: a digest is shown */
        add_bytes(&hash, policy->secrets[i].name);
        add_number(&hash, policy->secrets[i].n_variable);
        sha256_update(&hash, policy->secrets[i].entry, policy->secrets[i].n_variable);
    }
    add_number(&hash, policy->no_protect_defaults);
    add_number(&hash, policy->protect_ignore_case);
    add_number(&hash, policy->n_protects);
    for (size_t i = 0; i < policy->n_protects; i++) {
        add_number(&hash, policy->protects[i].action);
        add_bytes(&hash, policy->protects[i].pattern);
    }
    add_commands(&hash, &policy->commands);
    add_stored(&hash, policy);
    sha256_final(&hash, bytes);
    sha256_hex(bytes, out);
}
