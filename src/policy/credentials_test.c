/* worlds: user */
#include "policy/credentials.h"

#include <string.h>

#include "base/error.h"
#include "policy/narrow/narrow.h"
#include "test/check.h"

static const coop_credential usual = { .size = sizeof usual,
                                       .name = "api",
                                       .host = "API.example.org",
                                       .secret = "token",
                                       .value = "canary-value" };

static coop_policy *policy_with(const coop_credential *credential)
{
    coop_policy *policy = NULL;

    CHECK(coop_policy_new(&policy, NULL) == 0);
    CHECK(coop_policy_add_credential(policy, credential, NULL) == 0);
    return policy;
}

TEST(what_is_left_out_has_a_default)
{
    coop_policy *policy = policy_with(&usual);
    const struct policy_credential *made = policy_find_credential(policy, "api.coop.internal");

    CHECK(policy->network == COOP_NETWORK_GATE);
    CHECK(made && strcmp(made->host, "api.example.org") == 0 && made->port == 443);
    CHECK(made && strcmp(made->header, "Authorization") == 0 &&
          strcmp(made->prefix, "Bearer ") == 0);
    CHECK(!policy_find_credential(policy, "ap.coop.internal"));
    CHECK(!policy_find_credential(policy, "api.coop.internal.org"));
    CHECK(!policy_credential_of_variable(policy, "API_URL"));
    coop_policy_set_network(policy, COOP_NETWORK_NONE, NULL);
    CHECK(!policy_find_credential(policy, "api.coop.internal") &&
          policy_n_credentials(policy) == 0);
    coop_policy_free(policy);
}

TEST(mistakes_are_named_and_values_never)
{
    static char large[5000];
    const struct {
        coop_credential credential;
        const char *said;
    } cases[] = {
        { { .name = "A", .host = "h", .value = "canary" }, "bad name of a credential 'A'" },
        { { .name = "-a", .host = "h", .value = "canary" }, "bad name" },
        { { .name = "a.b", .host = "h", .value = "canary" }, "bad name" },
        { { .name = "a", .host = "192.0.2.1", .value = "canary" }, "is an address" },
        { { .name = "a", .host = "*.h", .value = "canary" }, "the host '*.h'" },
        { { .name = "a", .value = "canary" }, "the host ''" },
        { { .name = "a", .host = "h", .value = "" }, "is empty" },
        { { .name = "a", .host = "h", .value = "canary\r\nX: y" }, "control character" },
        { { .name = "a", .host = "h", .value = large }, "longer than 4096" },
        { { .name = "a", .host = "h", .header = "Content-length", .value = "canary" }, "frames" },
        { { .name = "a", .host = "h", .header = "a:", .value = "canary" }, "no name of a field" },
        { { .name = "a", .host = "h", .prefix = "a\n", .value = "canary" }, "prefix" },
        { { .name = "a", .host = "h", .variable = "A B", .value = "canary" },
          "the credential 'a'" },
        { { .name = "a", .host = "h", .ca_file = "ca.pem", .value = "canary" }, "absolute path" },
    };

    memset(large, 'x', sizeof large - 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        coop_credential credential = cases[i].credential;
        coop_policy *policy = NULL;
        coop_error *err = NULL;

        credential.size = sizeof credential;
        CHECK(coop_policy_new(&policy, NULL) == 0);
        CHECK(coop_policy_add_credential(policy, &credential, &err) < 0);
        CHECK(err && strstr(coop_error_message(err), cases[i].said));
        CHECK(err && !strstr(coop_error_message(err), "canary"));
        CHECK(policy->n_credentials == 0 && policy->network != COOP_NETWORK_GATE);
        coop_error_free(err);
        coop_policy_free(policy);
    }
}

TEST(the_digest_tells_hosts_apart_and_not_values)
{
    coop_credential other = usual;
    coop_policy *a = policy_with(&usual);
    char digest[65];

    (void)stpcpy(digest, coop_policy_digest(a));
    other.value = "another-value";
    coop_policy *b = policy_with(&other);
    CHECK_STR(coop_policy_digest(b), digest);
    other.host = "evil.example.org";
    coop_policy *c = policy_with(&other);
    CHECK(strcmp(coop_policy_digest(c), digest) != 0);
    coop_policy_free(a);
    coop_policy_free(b);
    coop_policy_free(c);
}

/* 1, 0 or less: whether the child that the request makes is allowed. */
static bool narrows(const coop_policy *parent, coop_policy *request, size_t n_left)
{
    coop_policy *child = NULL;
    int r = coop_policy_narrow(parent, request, &child, NULL);

    CHECK(r < 0 || policy_n_credentials(child) == n_left);
    coop_policy_free(child);
    coop_policy_free(request);
    return r == 0;
}

static coop_policy *request_of(const coop_credential *credential)
{
    coop_policy *request = NULL;

    CHECK(coop_policy_new(&request, NULL) == 0);
    CHECK(!credential || coop_policy_add_credential(request, credential, NULL) == 0);
    return request;
}

TEST(a_child_has_the_parents_or_fewer)
{
    coop_policy *parent = policy_with(&usual);
    coop_credential other = usual;

    CHECK(narrows(parent, request_of(NULL), 1));
    CHECK(narrows(parent, request_of(&usual), 1));
    other.value = "another-value";
    CHECK(!narrows(parent, request_of(&other), 1));
    other = usual;
    other.host = "evil.example.org";
    CHECK(!narrows(parent, request_of(&other), 1));
    other = usual;
    other.header = "X-Other";
    CHECK(!narrows(parent, request_of(&other), 1));
    other = usual;
    other.ca_file = "/evil.pem";
    CHECK(!narrows(parent, request_of(&other), 1));
    coop_policy_set_network(parent, COOP_NETWORK_HOST, NULL);
    CHECK(!narrows(parent, request_of(&usual), 1));
    coop_policy_free(parent);
}

TEST(who_names_hosts_wants_no_others)
{
    coop_policy *parent = policy_with(&usual);
    coop_policy *request = request_of(NULL);

    CHECK(coop_policy_allow_host(parent, "example.org", NULL) == 0);
    CHECK(coop_policy_allow_host(request, "example.org", NULL) == 0);
    CHECK(narrows(parent, request, 0));
    coop_policy_free(parent);
}
