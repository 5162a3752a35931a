/*
 * secrets.c - values that a policy gives and nobody shows
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/redact.h"
#include "base/secret_memory.h"
#include "policy/env_rules.h"
#include "policy/policy.h"

#define NAME_MAX_BYTES 255

static bool is_clean(const char *name)
{
    for (; *name; name++)
        if ((unsigned char)*name < 0x20 || *name == 0x7F)
            return false;
    return true;
}

static int check_name(const char *name, coop_error **err)
{
    size_t n = name ? strlen(name) : 0;

    if (n == 0 || n > NAME_MAX_BYTES || !is_clean(name))
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "the name of a secret is %s, expected 1 to 255 bytes without control "
                         "characters",
                         n == 0               ? "empty"
                         : n > NAME_MAX_BYTES ? "too long"
                                              : "not printable");
    return 0;
}

/* Errors name the secret, never what it holds. */
static int check(const coop_policy *policy, const char *name, const char *variable,
                 const char *value, coop_error **err)
{
    int r = check_name(name, err);

    if (r < 0)
        return r;
    if (!value || !*value)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "the secret '%s' is empty", name);
    r = env_check_set(variable ? variable : "", variable ? strlen(variable) : 0, "", 0,
                      policy->second_prefix, err);
    if (r < 0)
        return fail_within(err, r, "the secret '%s'", name);
    size_t n = strlen(variable);
    for (size_t i = 0; i < policy->n_secrets; i++)
        if (policy->secrets[i].n_variable == n &&
            memcmp(policy->secrets[i].entry, variable, n) == 0)
            return fail_kind(err, COOP_ERROR_BAD_POLICY, EEXIST,
                             "the secrets '%s' and '%s' are both given in the variable '%s'",
                             policy->secrets[i].name, name, variable);
    return 0;
}

int coop_policy_add_secret(coop_policy *policy, const char *name, const char *variable,
                           const char *value, coop_error **err)
{
    int r = check(policy, name, variable, value, err);

    if (r < 0)
        return r;
    struct policy_secret *grown =
        reallocarray(policy->secrets, policy->n_secrets + 1, sizeof *grown);
    if (!grown)
        return fail_no_memory(err);
    policy->secrets = grown;
    struct policy_secret secret = { strdup(name), secret_new(strlen(variable) + 1 + strlen(value)),
                                    strlen(variable) };
    if (!secret.name || !secret.entry) {
        free(secret.name);
        secret_free(secret.entry);
        return fail_no_memory(err);
    }
    (void)stpcpy(stpcpy(stpcpy(secret.entry, variable), "="), value);
    policy->secrets[policy->n_secrets++] = secret;
    return 0;
}

int policy_copy_secrets(const coop_policy *from, coop_policy *to, coop_error **err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < from->n_secrets; i++) {
        const struct policy_secret *secret = &from->secrets[i];
        auto_free char *variable = strndup(secret->entry, secret->n_variable);

        r = variable ? coop_policy_add_secret(to, secret->name, variable,
                                              secret->entry + secret->n_variable + 1, err)
                     : fail_no_memory(err);
    }
    return r;
}

void policy_free_secrets(coop_policy *policy)
{
    for (size_t i = 0; i < policy->n_secrets; i++) {
        free(policy->secrets[i].name);
        secret_free(policy->secrets[i].entry);
    }
    free(policy->secrets);
}

int policy_redact(const coop_policy *policy, bool as_terminal, struct redact **out,
                  coop_error **err)
{
    *out = NULL;
    size_t n = policy->n_secrets + policy->n_credentials;
    if (n == 0)
        return 0;
    auto_free struct redact_secret *list = calloc(n, sizeof *list);
    if (!list)
        return fail_no_memory(err);
    for (size_t i = 0; i < policy->n_secrets; i++) {
        const struct policy_secret *secret = &policy->secrets[i];
        const char *value = secret->entry + secret->n_variable + 1;

        list[i] = (struct redact_secret){ secret->name, value, strlen(value) };
    }
    /* The box has these from nobody, but what it talks to may repeat them. */
    for (size_t i = 0; i < policy->n_credentials; i++) {
        const struct policy_credential *credential = &policy->credentials[i];

        list[policy->n_secrets + i] = (struct redact_secret){ credential->secret, credential->value,
                                                              strlen(credential->value) };
    }
    return redact_new(list, n, as_terminal, out) < 0 ? fail_no_memory(err) : 0;
}
