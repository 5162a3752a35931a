/*
 * Narrowing: what each dimension refuses, and a property test against a second, slow notion of what a
 * policy allows that shares no code with the proof.
 */
#include "narrow.h"

#include <errno.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "policy/path.h"
#include "policy/protect.h"
#include "test/check.h"

static coop_policy *new_policy(void)
{
    coop_policy *policy = NULL;

    CHECK(coop_policy_new(&policy, NULL) == 0);
    CHECK(coop_policy_set_workspace(policy, "/home/u/ws", NULL) == 0);
    return policy;
}

static coop_policy *new_request(void)
{
    coop_policy *policy = NULL;

    CHECK(coop_policy_new(&policy, NULL) == 0);
    return policy;
}

/* Frees both; the child is the caller's. */
static coop_policy *narrowed(coop_policy *parent, coop_policy *request)
{
    auto_error coop_error *err = NULL;
    coop_policy *child = NULL;
    int r = coop_policy_narrow(parent, request, &child, &err);

    if (r < 0)
        printf("# %s\n", coop_error_message(err));
    coop_policy_free(parent);
    coop_policy_free(request);
    CHECK(r == 0);
    return child;
}

/* The narrowing fails, and the sentence says so. Frees both. */
static void refuses(coop_policy *parent, coop_policy *request, const char *sentence)
{
    auto_error coop_error *err = NULL;
    coop_policy *child = NULL;
    int r = coop_policy_narrow(parent, request, &child, &err);
    const char *message = r < 0 ? coop_error_message(err) : "it was allowed";
    bool is_it = r == -EPERM && strstr(message, sentence);

    coop_policy_free(parent);
    coop_policy_free(request);
    coop_policy_free(child);
    if (!is_it)
        printf("# %s\n", message);
    CHECK(is_it);
}

TEST(an_empty_request_changes_nothing)
{
    coop_policy *parent = new_policy();
    char digest[65];

    coop_policy_set_network(parent, COOP_NETWORK_HOST, NULL);
    coop_policy_set_limit(parent, COOP_LIMIT_PIDS, 7, NULL);
    coop_policy_add_bind(parent, "/h/data", "/data", false, NULL);
    coop_policy_set_env(parent, "A", "1", NULL);
    memcpy(digest, coop_policy_digest(parent), sizeof digest);
    coop_policy *child = narrowed(parent, new_request());
    CHECK_STR(coop_policy_digest(child), digest);
    coop_policy_free(child);
}

TEST(values_may_become_stricter)
{
    coop_policy *parent = new_policy();
    coop_policy *request = new_request();

    coop_policy_set_network(parent, COOP_NETWORK_HOST, NULL);
    coop_policy_set_mode(parent, COOP_MODE_DISABLED, NULL);
    coop_policy_set_profile(parent, COOP_PROFILE_DEV, NULL);
    coop_policy_set_host_sockets(parent, true, NULL);
    coop_policy_set_limit(parent, COOP_LIMIT_CPUS, COOP_LIMIT_NONE, NULL);
    coop_policy_set_network(request, COOP_NETWORK_OFF, NULL);
    coop_policy_set_mode(request, COOP_MODE_REQUIRED, NULL);
    coop_policy_set_profile(request, COOP_PROFILE_DEFAULT, NULL);
    coop_policy_set_host_sockets(request, false, NULL);
    coop_policy_set_limit(request, COOP_LIMIT_CPUS, 500, NULL);
    coop_policy_set_hostname(request, "inner", NULL);
    coop_policy_set_directory(request, "src", NULL);
    coop_policy *child = narrowed(parent, request);
    CHECK(child->network == COOP_NETWORK_OFF && child->mode == COOP_MODE_REQUIRED);
    CHECK(child->profile == COOP_PROFILE_DEFAULT && !child->host_sockets);
    CHECK(child->limits[COOP_LIMIT_CPUS] == 500 && child->limits[COOP_LIMIT_PIDS] == 512);
    CHECK_STR(child->hostname, "inner");
    CHECK_STR(child->directory, "src");
    CHECK_STR(child->workspace, "/home/u/ws");
    coop_policy_free(child);
}

TEST(names_the_dimension_that_asks_for_more)
{
    coop_policy *request = new_request();

    coop_policy_set_network(request, COOP_NETWORK_HOST, NULL);
    refuses(new_policy(), request, "network: the child has 'host', the parent 'none'");
    request = new_request();
    coop_policy_set_mode(request, COOP_MODE_PREFERRED, NULL);
    refuses(new_policy(), request, "mode: the child has 'preferred', the parent 'required'");
    request = new_request();
    coop_policy_set_profile(request, COOP_PROFILE_DEV, NULL);
    refuses(new_policy(), request, "profile: ");
    request = new_request();
    coop_policy_set_host_sockets(request, true, NULL);
    refuses(new_policy(), request, "host sockets: ");
    request = new_request();
    coop_policy_set_limit(request, COOP_LIMIT_PIDS, 513, NULL);
    refuses(new_policy(), request, "limits: pids: the child has 513, the parent 512");
    request = new_request();
    coop_policy_set_limit(request, COOP_LIMIT_MEMORY, COOP_LIMIT_NONE, NULL);
    refuses(new_policy(), request, "limits: memory: the child has no limit");
    request = new_request();
    coop_policy_set_uid(request, 0, NULL);
    refuses(new_policy(), request, "uid: ");
    request = new_request();
    coop_policy_set_workspace(request, "/home/u/other", NULL);
    refuses(new_policy(), request, "workspace: the child has '/home/u/other'");
    request = new_request();
    coop_policy_set_env(request, "TOKEN", "x", NULL);
    refuses(new_policy(), request, "environment: 'TOKEN' is not among");
    request = new_request();
    coop_policy_add_bind(request, "/h/data", "/data", true, NULL);
    refuses(new_policy(), request, "mounts: '/data' is a mount that the parent does not have");
    request = new_request();
    coop_policy_add_tmpfs(request, "/scratch", 4096, false, NULL);
    refuses(new_policy(), request, "mounts: '/scratch' is a file system in memory");
    request = new_request();
    coop_policy_set_protect_defaults(request, false, NULL);
    refuses(new_policy(), request, "protect: the built-in rules");
    request = new_request();
    coop_policy_add_protect(request, "**/.env", COOP_PROTECT_SHOW, NULL);
    refuses(new_policy(), request, "protect: the exception '**/.env' is not in the parent");
    request = new_request();
    coop_policy_set_protect_ignore_case(request, true, NULL);
    refuses(new_policy(), request, "protect: the child's exceptions ignore case");
}

TEST(a_secret_in_a_variable_is_not_told)
{
    auto_error coop_error *err = NULL;
    coop_policy *parent = new_policy();
    coop_policy *request = new_request();
    coop_policy *child = NULL;

    coop_policy_set_env(parent, "TOKEN", "canary-one", NULL);
    coop_policy_set_env(request, "TOKEN", "canary-two", NULL);
    int r = coop_policy_narrow(parent, request, &child, &err);
    coop_policy_free(parent);
    coop_policy_free(request);
    CHECK(r == -EPERM);
    CHECK(!strstr(coop_error_message(err), "canary"));
    CHECK(strstr(coop_error_message(err), "'TOKEN' has another value"));
}

TEST(secrets_only_become_fewer)
{
    coop_policy *parent = new_policy();
    coop_policy *request = new_request();

    coop_policy_add_secret(parent, "one", "ONE", "canary-one", NULL);
    coop_policy_add_secret(parent, "two", "TWO", "canary-two", NULL);
    coop_policy_drop_env(request, NULL);
    coop_policy_add_secret(request, "one", "ONE", "canary-one", NULL);
    coop_policy *child = narrowed(parent, request);
    CHECK(child->n_secrets == 1);
    CHECK_STR(child->secrets[0].name, "one");
    request = new_request();
    coop_policy_add_secret(request, "two", "TWO", "canary-two", NULL);
    refuses(child, request, "secrets: 'two' is not among the parent's");
    parent = new_policy();
    request = new_request();
    coop_policy_add_secret(parent, "one", "ONE", "canary-one", NULL);
    coop_policy_add_secret(request, "one", "ONE", "another", NULL);
    refuses(parent, request, "secrets: 'one' has another value");
}

/* Where there is none, one without a target. */
static const struct policy_mount *at(const coop_policy *policy, const char *target)
{
    static const struct policy_mount none;

    for (size_t i = 0; i < policy->n_mounts; i++)
        if (strcmp(policy->mounts[i].target, target) == 0)
            return &policy->mounts[i];
    return &none;
}

static coop_policy *with_mounts(void)
{
    coop_policy *parent = new_policy();

    coop_policy_add_bind(parent, "/h/data", "/data", true, NULL);
    coop_policy_add_bind(parent, "/h/srv", "/srv", false, NULL);
    coop_policy_add_bind(parent, "/h/lib", "/work/lib", true, NULL);
    return parent;
}

TEST(a_mount_may_become_read_only_and_never_writable)
{
    coop_policy *request = new_request();

    coop_policy_add_bind(request, "/h/srv", "/srv", true, NULL);
    coop_policy *child = narrowed(with_mounts(), request);
    CHECK(child->n_mounts == 3 && at(child, "/srv")->read_only);
    coop_policy_free(child);
    request = new_request();
    coop_policy_add_bind(request, "/h/data", "/data", false, NULL);
    refuses(with_mounts(), request, "mounts: '/data' can be written, in the parent only read");
    request = new_request();
    coop_policy_add_bind(request, "/h/other", "/data", true, NULL);
    refuses(with_mounts(), request, "mounts: '/data' stands for another");
}

TEST(what_lies_under_a_dropped_mount_stays_hidden)
{
    coop_policy *request = new_request();

    coop_policy_drop_mounts(request, NULL);
    coop_policy_add_bind(request, "/h/data", "/data", true, NULL);
    coop_policy *child = narrowed(with_mounts(), request);
    CHECK(at(child, "/data")->kind == POLICY_BIND);
    CHECK(at(child, "/work/lib")->kind == POLICY_BLOCK);
    CHECK(at(child, "/srv")->kind == POLICY_BLOCK);
    /* and it does not come back */
    request = new_request();
    coop_policy_add_bind(request, "/h/srv", "/srv", true, NULL);
    refuses(child, request, "mounts: '/srv' is hidden in the parent");
}

TEST(a_part_of_a_read_only_mount)
{
    coop_policy *request = new_request();

    coop_policy_drop_mounts(request, NULL);
    coop_policy_add_bind(request, "/h/data/a", "/data/a", true, NULL);
    coop_policy *child = narrowed(with_mounts(), request);
    CHECK(at(child, "/data/a")->target && !at(child, "/data")->target);
    coop_policy_free(child);
    /* of a writable one: a link could be put there */
    request = new_request();
    coop_policy_add_bind(request, "/h/srv/a", "/srv/a", true, NULL);
    refuses(with_mounts(), request, "in which a link could take its place");
    /* around a part of a mount in the workspace, the workspace would show */
    request = new_request();
    coop_policy_drop_mounts(request, NULL);
    coop_policy_add_bind(request, "/h/lib/a", "/work/lib/a", true, NULL);
    refuses(with_mounts(), request, "mounts: '/work/lib' is the workspace's own");
    /* what the workspace holds can be replaced */
    coop_policy *parent = new_policy();
    coop_policy_add_bind(parent, "/home/u", "/home/u", true, NULL);
    request = new_request();
    coop_policy_add_bind(request, "/home/u/ws/x", "/home/u/ws/x", true, NULL);
    refuses(parent, request, "in which a link could take its place");
}

TEST(a_link_that_the_grandparent_could_make)
{
    coop_policy *request = new_request();

    coop_policy_add_bind(request, "/h/srv", "/srv", true, NULL);
    coop_policy *child = narrowed(with_mounts(), request);
    request = new_request();
    coop_policy_add_bind(request, "/h/srv/a", "/srv/a", true, NULL);
    refuses(child, request, "in which a link could take its place");
}

TEST(file_systems_in_memory_only_shrink)
{
    coop_policy *parent = new_policy();
    coop_policy *request = new_request();

    coop_policy_add_tmpfs(parent, "/scratch", 1 << 20, false, NULL);
    coop_policy_add_tmpfs(request, "/scratch", 1 << 19, true, NULL);
    coop_policy *child = narrowed(parent, request);
    CHECK(at(child, "/scratch")->size == 1 << 19 && at(child, "/scratch")->read_only);
    request = new_request();
    coop_policy_add_tmpfs(request, "/scratch", 4096, false, NULL);
    refuses(child, request, "can be written");
    parent = new_policy();
    coop_policy_add_tmpfs(parent, "/scratch", 1 << 20, false, NULL);
    request = new_request();
    coop_policy_add_tmpfs(request, "/scratch", 0, false, NULL); /* that of /tmp */
    refuses(parent, request, "is larger than in the parent");
}

TEST(a_root_may_become_read_only)
{
    coop_policy *parent = new_request();
    coop_policy *request = new_request();

    CHECK(coop_policy_set_root(parent, "/home/u/ws", false, NULL) == 0);
    CHECK(coop_policy_set_root(request, "/home/u/ws", true, NULL) == 0);
    coop_policy *child = narrowed(parent, request);
    CHECK(child->root_read_only);
    request = new_request();
    CHECK(coop_policy_set_root(request, "/home/u/ws", false, NULL) == 0);
    refuses(child, request, "workspace: the root can be written, in the parent only read");
    parent = new_request();
    request = new_request();
    CHECK(coop_policy_set_root(parent, "/home/u/ws", false, NULL) == 0);
    CHECK(coop_policy_set_root(request, "/home/u", true, NULL) == 0);
    refuses(parent, request, "workspace: the child has '/home/u'");
    request = new_request();
    CHECK(coop_policy_set_root(request, "/home/u/ws", true, NULL) == 0);
    refuses(new_policy(), request, "workspace: ");
    /* under a mount that goes, the root would show */
    parent = new_request();
    request = new_request();
    CHECK(coop_policy_set_root(parent, "/home/u/ws", false, NULL) == 0);
    coop_policy_add_bind(parent, "/h/lib", "/lib2", true, NULL);
    coop_policy_drop_mounts(request, NULL);
    child = narrowed(parent, request);
    CHECK(child->n_mounts == 1 && child->mounts[0].kind == POLICY_BLOCK);
    coop_policy_free(child);
}

TEST(commands_only_become_fewer)
{
    coop_policy *parent = new_policy();
    coop_policy *request = new_request();

    coop_policy_set_command_strength(parent, COOP_COMMANDS_CHECK, NULL);
    coop_policy_allow_command(parent, "git", NULL);
    coop_policy_block_subcommand(parent, "git", "push --force", NULL);
    coop_policy_set_command_strength(request, COOP_COMMANDS_ENFORCE, NULL);
    coop_policy_allow_subcommand(request, "git", "push", NULL);
    coop_policy *child = narrowed(parent, request);
    CHECK(child->commands.strength == COOP_COMMANDS_ENFORCE);
    CHECK(child->commands.rules.n == 1 && child->commands.rules.items[0].n_blocked == 1);
    request = new_request();
    coop_policy_allow_command(request, "curl", NULL);
    refuses(child, request, "commands: 'curl' is not among");
    parent = new_policy();
    request = new_request();
    coop_policy_set_command_strength(parent, COOP_COMMANDS_CHECK, NULL);
    coop_policy_set_command_strength(request, COOP_COMMANDS_OFF, NULL);
    refuses(parent, request, "commands: the child has 'off', the parent 'check'");
}

TEST(blocks_and_protection_add_up)
{
    coop_policy *parent = new_policy();
    coop_policy *request = new_request();

    coop_policy_add_block(parent, "one", NULL);
    coop_policy_add_block(request, "one", NULL);
    coop_policy_add_block(request, "/usr/local", NULL);
    coop_policy_add_protect(parent, "a", COOP_PROTECT_HIDE, NULL);
    coop_policy_add_protect(parent, "b", COOP_PROTECT_SHOW, NULL);
    coop_policy_add_protect(request, "a", COOP_PROTECT_HIDE, NULL);
    coop_policy_add_protect(request, "b", COOP_PROTECT_SHOW, NULL);
    coop_policy_add_protect(request, "c", COOP_PROTECT_KEEP, NULL);
    coop_policy *child = narrowed(parent, request);
    CHECK(child->n_mounts == 2);
    CHECK(child->n_protects == 4); /* `a` once more: behind the exception it says more */
    coop_policy_free(child);
}

TEST(built_in_exceptions_may_outdo_own_rules)
{
    coop_policy *parent = new_policy();
    coop_policy *request = new_request();

    coop_policy_set_protect_defaults(parent, false, NULL);
    coop_policy_add_protect(parent, "**", COOP_PROTECT_HIDE, NULL);
    coop_policy_set_protect_defaults(request, true, NULL);
    refuses(parent, request, "protect: the hidden '**' has built-in exceptions");
    parent = new_policy();
    request = new_request();
    coop_policy_set_protect_defaults(parent, false, NULL);
    coop_policy_set_protect_defaults(request, true, NULL);
    coop_policy_free(narrowed(parent, request));
}

TEST(the_order_of_equals_counts)
{
    auto_free char *counter = NULL;
    coop_policy *parent = new_policy();
    coop_policy *child = new_policy();

    coop_policy_add_protect(parent, "x", COOP_PROTECT_SHOW, NULL);
    coop_policy_add_protect(parent, "x", COOP_PROTECT_HIDE, NULL);
    coop_policy_add_protect(child, "x", COOP_PROTECT_HIDE, NULL);
    coop_policy_add_protect(child, "x", COOP_PROTECT_SHOW, NULL);
    int r = policy_is_within(child, parent, &counter, NULL);
    auto_free char *other = NULL;
    int reverse = policy_is_within(parent, child, &other, NULL);
    coop_policy_free(parent);
    coop_policy_free(child);
    CHECK(r == 0 && strstr(counter, "comes behind an exception"));
    CHECK(reverse == 1);
}

TEST(a_workspace_that_nobody_named_may_be_anywhere)
{
    coop_policy *parent = new_request();
    coop_policy *request = new_request();

    coop_policy_set_same_path(parent, true, NULL);
    coop_policy_add_bind(parent, "/h/data", "/data", true, NULL);
    coop_policy_drop_mounts(request, NULL);
    coop_policy_add_bind(request, "/h/data/a", "/data/a", true, NULL);
    refuses(parent, request, "mounts: ");
    parent = new_request();
    coop_policy_add_bind(parent, "/h/data", "/data", true, NULL);
    request = new_request();
    coop_policy_set_same_path(request, true, NULL);
    refuses(parent, request, "same path: ");
}

/* Frees both. */
static void is_not_within(coop_policy *child, coop_policy *parent, const char *sentence)
{
    auto_free char *counter = NULL;
    int r = policy_is_within(child, parent, &counter, NULL);
    bool is_it = r == 0 && strstr(counter, sentence);

    coop_policy_free(child);
    coop_policy_free(parent);
    if (!is_it)
        printf("# %s\n", counter ? counter : "within");
    CHECK(is_it);
}

TEST(what_may_lie_in_a_workspace_that_nobody_named)
{
    coop_policy *child = new_request();
    coop_policy *parent = new_request();

    coop_policy_set_same_path(child, true, NULL);
    coop_policy_set_same_path(parent, true, NULL);
    coop_policy_add_bind(parent, "/h/data", "/data", true, NULL);
    is_not_within(child, parent, "'/data' has a mount or a block in the parent");
}

TEST(a_block_hides_a_mount_at_the_same_place)
{
    coop_policy *child = with_mounts();
    coop_policy *parent = with_mounts();

    coop_policy_add_block(parent, "/data", NULL);
    is_not_within(child, parent, "mounts: '/data' is a mount that the parent does not have");
}

TEST(bad_arguments_are_errors)
{
    auto_error coop_error *err = NULL;
    coop_policy *child = NULL;

    CHECK(coop_policy_narrow(NULL, NULL, &child, &err) == -EINVAL);
}

/* ---- properties */

static uint64_t state = 0x9E3779B97F4A7C15u;

static unsigned any(unsigned n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 33) % n;
}

static const char *const targets[] = {
    "/data",       "/data/a",    "/data/a/b",    "/srv",   "/srv/x", "/work/lib",
    "/work/lib/a", "/usr/local", "/usr/local/b", "/tmp/x", "/opt",   "/home/u/ws/lib"
};
static const char *const sources[] = { "/h/data", "/h/data/a", "/h/data/a/b", "/h/srv", "/h/lib" };
static const char *const blocks[] = { "lib", "secret", "/data", "/data/a", "/usr/local", "/opt" };
static const char *const patterns[] = { ".env",   "**/.env", "**/*.pem", "*.pem", "src",
                                        "src/**", "**/*.x",  "a.x",      "**",    "certs/a.pem" };
static const char *const samples[] = {
    ".env",    "sub/.env", "a.pem", "certs/a.pem",  "src",   "src/f",           "a.x",
    "sub/b.x", "plain",    "x.pub", ".env.example", "A.PEM", "src/.env.EXAMPLE"
};
static const char *const names[] = { "A", "B", "C" };

#define ANY(array) ((array)[any(COUNT(array))])

static void random_mount(coop_policy *policy)
{
    unsigned kind = any(4);

    if (kind == 0)
        (void)coop_policy_add_block(policy, ANY(blocks), NULL);
    else if (kind == 1)
        (void)coop_policy_add_tmpfs(policy, ANY(targets), any(3) * 4096, any(2), NULL);
    else
        (void)coop_policy_add_bind(policy, ANY(sources), ANY(targets), any(2), NULL);
}

/* Of a request, most is what the parent has, or a little less. */
static void random_values(coop_policy *policy, const coop_policy *like)
{
    if (any(3) == 0)
        coop_policy_set_network(policy, like && any(4) ? like->network : (coop_network)any(3),
                                NULL);
    if (any(3) == 0)
        coop_policy_set_mode(policy, like && any(4) ? like->mode : (coop_mode)any(3), NULL);
    if (any(6) == 0)
        coop_policy_set_profile(policy, like ? like->profile : (coop_profile)any(2), NULL);
    if (any(6) == 0)
        coop_policy_set_host_sockets(policy, any(2) && (!like || like->host_sockets), NULL);
    if (any(8) == 0)
        coop_policy_set_same_path(policy, like && any(4) ? like->same_path : any(2), NULL);
    if (any(8) == 0)
        coop_policy_set_uid(policy, like && any(4) ? like->uid : any(2), NULL);
    if (any(3) == 0)
        coop_policy_set_limit(policy, COOP_LIMIT_PIDS, like && any(4) ? 2 : 1 + any(600), NULL);
    if (any(8) == 0)
        coop_policy_set_limit(policy, COOP_LIMIT_TMP_SIZE, 65536 + any(2) * 4096, NULL);
    if (any(8) == 0)
        coop_policy_set_protect_defaults(policy, like ? !like->no_protect_defaults : any(2), NULL);
    if (any(12) == 0)
        coop_policy_set_protect_ignore_case(policy, like ? like->protect_ignore_case : any(2),
                                            NULL);
}

static void random_commands(coop_policy *policy)
{
    static const char *const programs[] = { "git", "go", "make" };
    static const char *const words[] = { "push", "push --force", "status", "add -f", "test" };

    for (unsigned i = any(4); i > 0; i--) {
        const char *program = ANY(programs);
        unsigned kind = any(3);

        if (kind == 0)
            coop_policy_allow_command(policy, program, NULL);
        else if (kind == 1)
            coop_policy_allow_subcommand(policy, program, ANY(words), NULL);
        else
            coop_policy_block_subcommand(policy, program, ANY(words), NULL);
    }
}

static coop_policy *random_policy(void)
{
    coop_policy *policy = new_request();

    if (any(4))
        coop_policy_set_workspace(policy, "/home/u/ws", NULL);
    random_values(policy, NULL);
    for (unsigned i = any(5); i > 0; i--)
        random_mount(policy);
    for (unsigned i = any(4); i > 0; i--)
        coop_policy_add_protect(policy, ANY(patterns), (coop_protect)any(3), NULL);
    for (unsigned i = any(3); i > 0; i--)
        coop_policy_set_env(policy, ANY(names), any(2) ? "1" : "2", NULL);
    if (any(2))
        coop_policy_set_command_strength(policy, (coop_command_strength)any(3), NULL);
    random_commands(policy);
    return policy;
}

static void request_mount(coop_policy *request, const struct policy_mount *mount)
{
    char source[64];
    char target[64];

    if (mount->kind == POLICY_TMPFS) {
        (void)coop_policy_add_tmpfs(request, mount->target, any(2) ? mount->size : 4096,
                                    mount->read_only || any(2), NULL);
    } else if (mount->kind == POLICY_BIND) {
        bool is_part = any(4) == 0;

        (void)snprintf(source, sizeof source, "%s%s", mount->source, is_part ? "/p" : "");
        (void)snprintf(target, sizeof target, "%s%s", mount->target, is_part ? "/p" : "");
        (void)coop_policy_add_bind(request, source, target, mount->read_only || any(2), NULL);
    }
}

static coop_policy *random_request(const coop_policy *parent)
{
    coop_policy *request = new_request();

    random_values(request, parent);
    if (any(3) == 0)
        coop_policy_drop_mounts(request, NULL);
    if (any(3) == 0)
        coop_policy_drop_env(request, NULL);
    for (size_t i = 0; i < parent->n_mounts; i++)
        if (any(3) == 0)
            request_mount(request, &parent->mounts[i]);
    if (any(12) == 0)
        random_mount(request);
    if (any(4) == 0)
        coop_policy_add_block(request, ANY(blocks), NULL);
    for (unsigned i = any(3); i > 0; i--)
        coop_policy_add_protect(request, ANY(patterns),
                                any(6) ? COOP_PROTECT_HIDE + any(2) : COOP_PROTECT_SHOW, NULL);
    if (parent->n_variables > 0 && any(3) == 0)
        coop_policy_set_env(request, parent->variables[0].name, parent->variables[0].value, NULL);
    if (any(16) == 0)
        coop_policy_set_env(request, ANY(names), "1", NULL);
    if (any(6) == 0)
        coop_policy_set_command_strength(
            request, any(2) ? parent->commands.strength : COOP_COMMANDS_CHECK, NULL);
    if (any(4) == 0)
        random_commands(request);
    return request;
}

/* What is at a path, found by looking at every mount. */
struct slow_place {
    char object[160]; /* "" where nothing is; else something that names it */
    bool can_write;
    uint64_t size;
};

static struct slow_place slow_look(const coop_policy *policy, const char *path)
{
    const char *view = policy->same_path ? policy->workspace ? policy->workspace : "/?" : "/work";
    struct slow_place found = { .can_write = false };
    size_t best = 0;

    if (strncmp(path, "/usr/", 5) == 0)
        (void)snprintf(found.object, sizeof found.object, "host:%s", path);
    if (path_is_within(path, view)) {
        best = strlen(view);
        (void)snprintf(found.object, sizeof found.object, "ws:%s", path + best);
        found.can_write = true;
    }
    for (int blocking = 0; blocking < 2; blocking++)
        for (size_t i = 0; i < policy->n_mounts; i++) {
            const struct policy_mount *mount = &policy->mounts[i];
            char target[128];

            (void)snprintf(target, sizeof target, "%s%s%s", *mount->target == '/' ? "" : view,
                           *mount->target == '/' ? "" : "/", mount->target);
            if ((mount->kind == POLICY_BLOCK) != blocking || strlen(target) < best ||
                !path_is_within(path, target))
                continue;
            best = strlen(target);
            found = (struct slow_place){ .can_write = !mount->read_only };
            if (mount->kind == POLICY_BIND)
                (void)snprintf(found.object, sizeof found.object, "host:%s%s", mount->source,
                               path + best);
            else if (mount->kind == POLICY_TMPFS && !mount->read_only)
                (void)snprintf(found.object, sizeof found.object, "memory:%s", target);
            if (mount->kind == POLICY_TMPFS)
                found.size = mount->size ? mount->size : policy->limits[COOP_LIMIT_TMP_SIZE];
        }
    return found;
}

static const char *slow_path_excess(const coop_policy *child, const coop_policy *parent,
                                    const char *path)
{
    struct slow_place c = slow_look(child, path);
    struct slow_place p = slow_look(parent, path);

    if (!c.object[0])
        return NULL;
    if (strcmp(c.object, p.object) != 0)
        return "object";
    if (c.can_write && !p.can_write)
        return "write";
    return c.size > p.size ? "size" : NULL;
}

static const char *slow_mount_excess(const coop_policy *child, const coop_policy *parent)
{
    static const char *const ends[] = { "", "/p", "/p/q", "/z" };
    static const char *const more_paths[] = { "/work",       "/work/secret", "/work/secret/s",
                                              "/work/z",     "/home/u/ws",   "/home/u/ws/z",
                                              "/usr/bin/env" };
    const char *why = NULL;

    for (size_t i = 0; !why && i < COUNT(targets); i++)
        for (size_t k = 0; !why && k < COUNT(ends); k++) {
            char path[64];

            (void)snprintf(path, sizeof path, "%s%s", targets[i], ends[k]);
            why = slow_path_excess(child, parent, path);
        }
    for (size_t i = 0; !why && i < COUNT(more_paths); i++)
        why = slow_path_excess(child, parent, more_paths[i]);
    return why;
}

static bool slow_hides(struct protect *protect, const char *path, bool is_directory)
{
    return protect && protect_hides(protect, path, is_directory, PROTECT_ALL);
}

static bool slow_keeps(struct protect *protect, const char *path, bool is_directory)
{
    return protect && protect_keeps(protect, path, is_directory);
}

static const char *slow_protect_excess(const coop_policy *child, const coop_policy *parent)
{
    struct protect *c = NULL;
    struct protect *p = NULL;
    const char *why = NULL;

    CHECK(protect_new(child, &c, NULL) == 0 && protect_new(parent, &p, NULL) == 0);
    for (size_t i = 0; !why && i < 2 * COUNT(samples); i++) {
        const char *path = samples[i / 2];
        bool is_directory = i % 2;

        if (slow_hides(p, path, is_directory) && !slow_hides(c, path, is_directory))
            why = "hide";
        else if (slow_keeps(p, path, is_directory) && !slow_keeps(c, path, is_directory))
            why = "keep";
    }
    protect_free(c);
    protect_free(p);
    return why;
}

static bool slow_runs(const coop_policy *policy, const char *const argv[])
{
    auto_command_decision struct command_decision decision = { 0 };

    if (policy->commands.strength == COOP_COMMANDS_OFF)
        return true;
    CHECK(command_rules_decide_argv(&policy->commands.rules, argv, &(struct command_context){ 0 },
                                    &decision, NULL) == 0);
    return decision.is_allowed;
}

static const char *slow_command_excess(const coop_policy *child, const coop_policy *parent)
{
    static const char *const lines[][4] = {
        { "git", "push" },
        { "git", "push", "--force" },
        { "git", "push", "-f" },
        { "git", "status" },
        { "git", "add", "-f" },
        { "git", "log" },
        { "go", "test" },
        { "go", "push", "--force" },
        { "make" },
        { "make", "test" },
        { "ls" },
    };

    for (size_t i = 0; i < COUNT(lines); i++)
        if (slow_runs(child, lines[i]) && !slow_runs(parent, lines[i]))
            return "command";
    return child->commands.strength < parent->commands.strength ? "strength" : NULL;
}

/* What the child has and the parent has not; NULL: nothing was found. */
static const char *slow_excess(const coop_policy *child, const coop_policy *parent)
{
    static const int ranks[] = {
        [COOP_NETWORK_NONE] = 1, [COOP_NETWORK_OFF] = 0, [COOP_NETWORK_HOST] = 2
    };

    if (ranks[child->network] > ranks[parent->network])
        return "network";
    if (child->mode > parent->mode || child->profile > parent->profile ||
        child->host_sockets > parent->host_sockets)
        return "choice";
    if (child->has_uid != parent->has_uid || child->uid != parent->uid)
        return "uid";
    for (int i = 0; i < COOP_LIMIT_COUNT; i++)
        if (child->limits[i] > parent->limits[i])
            return policy_limit_names[i];
    for (size_t i = 0; i < child->n_variables; i++) {
        bool is_there = false;

        for (size_t k = 0; k < parent->n_variables; k++)
            is_there |= strcmp(child->variables[i].name, parent->variables[k].name) == 0 &&
                        strcmp(child->variables[i].value, parent->variables[k].value) == 0;
        if (!is_there)
            return "variable";
    }
    const char *why =
        child->same_path == parent->same_path ? slow_mount_excess(child, parent) : NULL;
    if (!why)
        why = slow_command_excess(child, parent);
    return why ? why : slow_protect_excess(child, parent);
}

#define ROUNDS 10000

TEST(whatever_is_asked_for_the_child_can_do_no_more)
{
    unsigned n_narrowed = 0;
    unsigned n_refused = 0;

    for (unsigned i = 0; i < ROUNDS; i++) {
        coop_policy *parent = random_policy();
        coop_policy *request = random_request(parent);
        coop_policy *child = NULL;
        int r = coop_policy_narrow(parent, request, &child, NULL);
        const char *why = r == 0 ? slow_excess(child, parent) : NULL;

        coop_policy_free(parent);
        coop_policy_free(request);
        coop_policy_free(child);
        if (why)
            printf("# round %u: %s\n", i, why);
        CHECK(!why);
        CHECK(r == 0 || r == -EPERM);
        n_narrowed += r == 0;
        n_refused += r < 0;
    }
    printf("# %u narrowed, %u refused\n", n_narrowed, n_refused);
    CHECK(n_narrowed > ROUNDS / 10 && n_refused > ROUNDS / 10);
}

/* Two policies that have nothing to do with each other: what is called within, is. */
TEST(what_is_proved_holds)
{
    unsigned n_within = 0;

    for (unsigned i = 0; i < ROUNDS; i++) {
        auto_free char *counter = NULL;
        coop_policy *parent = random_policy();
        coop_policy *child = any(2) ? random_policy() : NULL;

        if (!child) {
            CHECK(policy_copy(parent, &child, NULL) == 0);
            random_values(child, parent);
            if (any(2))
                random_mount(child);
        }
        int r = policy_is_within(child, parent, &counter, NULL);
        const char *why = r == 1 ? slow_excess(child, parent) : NULL;
        coop_policy_free(parent);
        coop_policy_free(child);
        if (why)
            printf("# round %u: %s\n", i, why);
        CHECK(!why);
        CHECK(r == 1 || (counter && strstr(counter, ": ")));
        n_within += r == 1;
    }
    printf("# %u within\n", n_within);
    CHECK(n_within > ROUNDS / 50);
}

TEST(a_policy_is_within_itself)
{
    for (unsigned i = 0; i < ROUNDS / 10; i++) {
        auto_free char *counter = NULL;
        coop_policy *policy = random_policy();
        int r = policy_is_within(policy, policy, &counter, NULL);

        coop_policy_free(policy);
        if (r != 1)
            printf("# %s\n", counter);
        CHECK(r == 1);
    }
}

TEST(narrowing_twice_is_narrowing_by_both)
{
    unsigned n_compared = 0;

    for (unsigned i = 0; i < ROUNDS; i++) {
        auto_error coop_error *err = NULL;
        coop_policy *parent = random_policy();
        coop_policy *first = random_request(parent);
        coop_policy *middle = NULL;
        coop_policy *second = NULL;
        coop_policy *twice = NULL;
        coop_policy *both = NULL;
        coop_policy *at_once = NULL;
        const char *why = NULL;

        if (coop_policy_narrow(parent, first, &middle, NULL) == 0) {
            second = random_request(middle);
            if (coop_policy_narrow(middle, second, &twice, NULL) == 0) {
                CHECK(policy_overlay(first, second, &both, NULL) == 0);
                if (coop_policy_narrow(parent, both, &at_once, &err) < 0)
                    why = coop_error_message(err);
                if (!why)
                    why = slow_excess(at_once, twice);
                if (!why)
                    why = slow_excess(twice, at_once);
                n_compared++;
            }
        }
        coop_policy_free(parent);
        coop_policy_free(first);
        coop_policy_free(middle);
        coop_policy_free(second);
        coop_policy_free(twice);
        coop_policy_free(both);
        coop_policy_free(at_once);
        if (why)
            printf("# round %u: %s\n", i, why);
        CHECK(!why);
    }
    printf("# %u compared\n", n_compared);
    CHECK(n_compared > ROUNDS / 20);
}
