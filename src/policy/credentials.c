#include "credentials.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/credential.h"
#include "base/error.h"
#include "base/host/host_name.h"
#include "base/secret_memory.h"
#include "policy/env_rules.h"
#include "policy/narrow/private.h"
#include "policy/path/path.h"

#define HTTPS_PORT     443
#define DEFAULT_HEADER "Authorization"
#define DEFAULT_PREFIX "Bearer "

/* ---- what is wrong with one */

static bool has_control(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7F)
            return true;
    return false;
}

static bool is_label(const char *name)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");

    return n > 0 && n <= CREDENTIAL_NAME_MOST && !name[n] && name[0] != '-' && name[n - 1] != '-';
}

static int check_name(const coop_policy *policy, const char *name, coop_error **err)
{
    if (!name || !is_label(name))
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "bad name of a credential '%.80s': expected 1 to 63 small letters, digits "
                         "and '-', as in a host name",
                         name ? name : "");
    for (size_t i = 0; i < policy->n_credentials; i++)
        if (strcmp(policy->credentials[i].name, name) == 0)
            return fail_kind(err, COOP_ERROR_BAD_POLICY, EEXIST,
                             "the credential '%s' is given twice", name);
    return 0;
}

/* What decides where a request begins and ends, and for whom it is, is not for secrets. */
static int check_header(const char *name, const char *header, coop_error **err)
{
    static const char *const framing[] = {
        "Host",       "Connection", "Content-Length", "Transfer-Encoding", "Upgrade",
        "Keep-Alive", "Expect",     "Trailer",        "Proxy-Connection",  "TE",
    };
    static const char token[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "!#$%&'*+-.^_`|~";
    size_t n = strspn(header, token);

    if (n == 0 || header[n] || n > CREDENTIAL_HEADER_MOST)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "the credential '%s' has the header '%.80s', which is no name of a field",
                         name, header);
    for (size_t i = 0; i < COUNT(framing); i++)
        if (strcasecmp(header, framing[i]) == 0)
            return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                             "the credential '%s' has the header '%s', which frames the request",
                             name, header);
    return 0;
}

static int check_host(const char *name, const char *text, struct host_name *host, uint16_t *port,
                      coop_error **err)
{
    const char *wrong =
        text ? host_name_parse_authority(text, strlen(text), host, port) : "is not there";

    if (!wrong && host->is_address)
        wrong = "is an address, and no certificate could prove it: expected a name";
    if (wrong)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "the host '%.100s' of the credential "
                         "'%s' %s",
                         text ? text : "", name, wrong);
    if (*port == 0)
        *port = HTTPS_PORT;
    return 0;
}

/* Errors name the secret, never what it holds. */
static int check_value(const char *name, const char *secret, const char *value, coop_error **err)
{
    size_t n = value ? strlen(value) : 0;
    const char *wrong = n == 0                      ? "is empty"
                        : n > CREDENTIAL_VALUE_MOST ? "is longer than 4096 bytes, which no server "
                                                      "takes in a field"
                        : has_control(value) ? "has a control character or a line end in it, which "
                                               "no field can hold"
                                             : NULL;

    return wrong ? fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                             "the secret '%s' of the credential '%s' %s", secret, name, wrong)
                 : 0;
}

static int check_texts(const coop_policy *policy, const struct policy_credential *credential,
                       coop_error **err)
{
    const char *name = credential->name;
    const char *variable = credential->variable;
    int r = 0;

    if (has_control(credential->secret) || strlen(credential->secret) > 255)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "the secret of the credential '%s' has a name that is not printable",
                         name);
    if (has_control(credential->prefix) || strlen(credential->prefix) > CREDENTIAL_PREFIX_MOST)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "the prefix of the credential '%s' is no text of at most %d bytes", name,
                         CREDENTIAL_PREFIX_MOST);
    if (credential->ca && (*credential->ca != '/' || has_control(credential->ca)))
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "the file of certificates of the credential '%s' is no absolute path",
                         name);
    if (credential->ca)
        r = path_check("file of certificates", credential->ca, err);
    if (r == 0 && variable)
        r = env_check_set(variable, strlen(variable), "", 0, policy->second_prefix, err);
    return r < 0 ? fail_within(err, r, "the credential '%s'", name) : 0;
}

/* ---- life */

static void done(struct policy_credential *credential)
{
    free(credential->name);
    free(credential->host);
    free(credential->header);
    free(credential->prefix);
    free(credential->secret);
    free(credential->variable);
    free(credential->ca);
    secret_free(credential->value);
    free((char *)(uintptr_t)credential->origin.name);
}

void policy_free_credentials(coop_policy *policy)
{
    for (size_t i = 0; i < policy->n_credentials; i++)
        done(&policy->credentials[i]);
    free(policy->credentials);
    policy->credentials = NULL;
    policy->n_credentials = 0;
}

static char *copy_or_null(const char *text, bool *failed)
{
    char *copy = text ? strdup(text) : NULL;

    *failed = *failed || (text && !copy);
    return copy;
}

/* False: without memory; to be undone all the same. */
static bool fill(struct policy_credential *to, const coop_credential *from,
                 const struct host_name *host, uint16_t port, struct origin origin)
{
    bool failed = false;
    const char *header = from->header ? from->header : DEFAULT_HEADER;
    const char *prefix = from->prefix                              ? from->prefix
                         : strcasecmp(header, DEFAULT_HEADER) == 0 ? DEFAULT_PREFIX
                                                                   : "";

    *to = (struct policy_credential){
        .name = copy_or_null(from->name, &failed),
        .host = copy_or_null(host->name, &failed),
        .port = port,
        .header = copy_or_null(header, &failed),
        .prefix = copy_or_null(prefix, &failed),
        .secret = copy_or_null(from->secret ? from->secret : from->name, &failed),
        .variable = copy_or_null(from->variable, &failed),
        .ca = copy_or_null(from->ca_file, &failed),
        .value = secret_copy(from->value, strlen(from->value)),
        .origin = origin,
    };
    to->origin.name = copy_or_null(origin.name, &failed);
    return !failed && to->value;
}

/* Whoever names one wants the gate, unless another network was chosen. */
static void want_gate(coop_policy *policy)
{
    if (policy_is_set(policy, SETTING_SANDBOX_NETWORK))
        return;
    policy->network = COOP_NETWORK_GATE;
    policy_mark(policy, SETTING_SANDBOX_NETWORK);
}

int policy_add_credential(coop_policy *policy, const coop_credential *credential,
                          struct origin origin, coop_error **err)
{
    struct policy_credential made;
    struct host_name host = { 0 };
    uint16_t port = 0;
    int r = check_name(policy, credential->name, err);

    if (r == 0)
        r = check_host(credential->name, credential->host, &host, &port, err);
    if (r == 0 && credential->header)
        r = check_header(credential->name, credential->header, err);
    if (r == 0)
        r = check_value(credential->name,
                        credential->secret ? credential->secret : credential->name,
                        credential->value, err);
    if (r < 0)
        return r;
    if (policy->n_credentials == CREDENTIAL_MOST)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, E2BIG, "more than %d credentials",
                         CREDENTIAL_MOST);
    struct policy_credential *grown =
        reallocarray(policy->credentials, policy->n_credentials + 1, sizeof *grown);
    if (!grown)
        return fail_no_memory(err);
    policy->credentials = grown;
    r = fill(&made, credential, &host, port, origin) ? check_texts(policy, &made, err)
                                                     : fail_no_memory(err);
    if (r < 0) {
        done(&made);
        return r;
    }
    grown[policy->n_credentials++] = made;
    want_gate(policy);
    return 0;
}

int coop_policy_add_credential(coop_policy *policy, const coop_credential *credential,
                               coop_error **err)
{
    if (!policy || !credential || credential->size < sizeof *credential)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "a policy and a credential with its size are needed");
    return policy_add_credential(policy, credential, (struct origin){ 0 }, err);
}

/* ---- copies */

static int copy(coop_policy *to, const struct policy_credential *from, coop_error **err)
{
    struct policy_credential *grown =
        reallocarray(to->credentials, to->n_credentials + 1, sizeof *grown);
    const coop_credential texts = { .name = from->name,
                                    .header = from->header,
                                    .prefix = from->prefix,
                                    .secret = from->secret,
                                    .value = from->value,
                                    .variable = from->variable,
                                    .ca_file = from->ca };
    struct host_name host = { 0 };

    if (!grown)
        return fail_no_memory(err);
    to->credentials = grown;
    (void)stpncpy(host.name, from->host, sizeof host.name - 1);
    if (!fill(&grown[to->n_credentials], &texts, &host, from->port, from->origin)) {
        done(&grown[to->n_credentials]);
        return fail_no_memory(err);
    }
    to->n_credentials++;
    return 0;
}

int policy_copy_credentials(const coop_policy *from, coop_policy *to, coop_error **err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < from->n_credentials; i++)
        r = copy(to, &from->credentials[i], err);
    return r;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_same(const struct policy_credential *a, const struct policy_credential *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->host, b->host) == 0 && a->port == b->port &&
           strcasecmp(a->header, b->header) == 0 && strcmp(a->prefix, b->prefix) == 0 &&
           same_text(a->variable, b->variable) && same_text(a->ca, b->ca) &&
           strcmp(a->value, b->value) == 0;
}

static bool has(const coop_policy *policy, const struct policy_credential *credential)
{
    for (size_t i = 0; i < policy->n_credentials; i++)
        if (is_same(&policy->credentials[i], credential))
            return true;
    return false;
}

/* Whoever names hosts or credentials wants these and no others. */
int policy_overlay_credentials(const coop_policy *request, coop_policy *child, coop_error **err)
{
    if (request->n_credentials == 0 && !policy_is_set(request, SETTING_NETWORK_ALLOW))
        return 0;
    policy_free_credentials(child);
    return policy_copy_credentials(request, child, err);
}

bool narrow_credentials_within(const struct narrow_pair *pair)
{
    for (size_t i = 0; i < policy_n_credentials(pair->child); i++) {
        const struct policy_credential *credential = &pair->child->credentials[i];

        if (pair->parent->network == COOP_NETWORK_GATE && has(pair->parent, credential))
            continue;
        narrow_quote(pair->why, credential->name);
        buffer_append_string(pair->why, " is not among the parent's, for this host and with this "
                                        "value");
        return false;
    }
    return true;
}

/* ---- questions */

size_t policy_n_credentials(const coop_policy *policy)
{
    return policy->network == COOP_NETWORK_GATE ? policy->n_credentials : 0;
}

const struct policy_credential *policy_find_credential(const coop_policy *policy, const char *host)
{
    for (size_t i = 0; i < policy_n_credentials(policy); i++) {
        const struct policy_credential *credential = &policy->credentials[i];
        size_t n = strlen(credential->name);

        if (strncmp(host, credential->name, n) == 0 && strcmp(host + n, "." CREDENTIAL_DOMAIN) == 0)
            return credential;
    }
    return NULL;
}

const struct policy_credential *policy_credential_of_variable(const coop_policy *policy,
                                                              const char *variable)
{
    for (size_t i = 0; i < policy_n_credentials(policy); i++)
        if (same_text(policy->credentials[i].variable, variable))
            return &policy->credentials[i];
    return NULL;
}
