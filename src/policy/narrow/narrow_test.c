/*
 * Narrowing: what each dimension refuses.
 *
 * worlds: user
 */
#include "narrow.h"

#include <errno.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "policy/hosts.h"
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

TEST(what_is_for_boxes_stays_so)
{
    coop_policy *parent = new_policy();
    coop_policy *request = new_request();
    coop_policy *child = NULL;

    coop_policy_set_env(parent, "PATH", "/evil", NULL);
    policy_keep_variable_in_boxes(parent, "PATH");
    coop_policy_drop_env(request, NULL);
    coop_policy_set_env(request, "PATH", "/evil", NULL);
    CHECK(coop_policy_narrow(parent, request, &child, NULL) == 0);
    CHECK(child->n_variables == 1 && child->variables[0].is_for_boxes);
    coop_policy_free(child);
    coop_policy_free(parent);
    coop_policy_free(request);
}

TEST(sockets_only_become_fewer)
{
    coop_policy *parent = new_policy();
    coop_policy *request = new_request();

    coop_policy_add_socket(parent, "/run/a.sock", NULL);
    coop_policy_add_bind(parent, "/run/b.sock", NULL, true, NULL);
    coop_policy_drop_mounts(request, NULL);
    coop_policy_add_socket(request, "/run/a.sock", NULL);
    coop_policy *child = narrowed(parent, request);
    CHECK(child->n_mounts > 0 && child->mounts[child->n_mounts - 1].target);
    coop_policy_free(child);
    parent = new_policy();
    coop_policy_add_bind(parent, "/run/b.sock", NULL, true, NULL);
    request = new_request();
    coop_policy_add_socket(request, "/run/b.sock", NULL);
    refuses(parent, request, "host sockets: only the child may connect to '/run/b.sock'");
    parent = new_policy();
    coop_policy_set_host_sockets(parent, true, NULL);
    coop_policy_add_bind(parent, "/run/b.sock", NULL, true, NULL);
    request = new_request();
    coop_policy_add_socket(request, "/run/b.sock", NULL);
    coop_policy_free(narrowed(parent, request));
}

TEST(tls_that_must_name_its_host_must_do_so_further_on)
{
    coop_policy *parent = new_policy();
    coop_policy *request = new_request();

    CHECK(coop_policy_set_network(parent, COOP_NETWORK_GATE, NULL) == 0);
    CHECK(policy_add_host(parent, "*.a.org", false, (struct origin){ 0 }, NULL) == 0);
    parent->require_sni = true;
    CHECK(policy_add_host(request, "b.a.org", false, (struct origin){ 0 }, NULL) == 0);
    coop_policy *child = narrowed(parent, request);
    CHECK(child->require_sni && child->n_hosts == 1);
    request = new_request();
    request->require_sni = true;
    CHECK(policy_add_host(request, "b.a.org:443", false, (struct origin){ 0 }, NULL) == 0);
    child->require_sni = false;
    child = narrowed(child, request);
    CHECK(child->require_sni);
    coop_policy_free(child);
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
    CHECK(child->read_only);
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

TEST(a_workspace_may_become_read_only)
{
    coop_policy *request = new_request();

    CHECK(coop_policy_set_read_only(request, true, NULL) == 0);
    coop_policy *child = narrowed(new_policy(), request);
    CHECK(child->read_only && !child->root);
    coop_policy *grandchild = narrowed(child, new_request());
    CHECK(grandchild->read_only);
    request = new_request();
    CHECK(coop_policy_set_read_only(request, false, NULL) == 0);
    refuses(grandchild, request,
            "workspace: the workspace can be written, in the parent only read");
}

TEST(a_workspace_may_be_restricted_to_a_part_of_it)
{
    coop_policy *request = new_request();

    CHECK(coop_policy_set_restrict(request, "/src", NULL) == 0);
    CHECK(coop_policy_set_read_only(request, true, NULL) == 0);
    coop_policy *child = narrowed(new_policy(), request);
    CHECK_STR(child->restrict_to, "/src");
    request = new_request();
    CHECK(coop_policy_set_restrict(request, "./src//deep/", NULL) == 0);
    child = narrowed(child, request);
    CHECK_STR(child->restrict_to, "/src/deep");
    CHECK(child->read_only);
    request = new_request();
    CHECK(coop_policy_set_restrict(request, "src", NULL) == 0);
    refuses(child, request, "restrict: the child has '/src', the parent '/src/deep'");
}

/* Frees nothing of the caller's. */
static coop_policy *restricted_to(const char *directory)
{
    coop_policy *policy = new_policy();

    CHECK(coop_policy_set_restrict(policy, directory, NULL) == 0);
    return policy;
}

TEST(a_restriction_is_never_lifted)
{
    static const char *const others[] = { "/", ".", "s", "srcs", "src2", "lib", "sr" };

    for (size_t i = 0; i < COUNT(others); i++) {
        coop_policy *request = new_request();

        CHECK(coop_policy_set_restrict(request, others[i], NULL) == 0);
        refuses(restricted_to("src"), request, "restrict: the child has '/");
    }
    coop_policy *child = narrowed(restricted_to("s"), new_request()); /* nothing is asked for */
    CHECK_STR(child->restrict_to, "/s");
    coop_policy *request = new_request();
    CHECK(coop_policy_set_restrict(request, "src", NULL) == 0);
    refuses(child, request, "restrict: the child has '/src', the parent '/s'");
}

TEST(what_is_no_part_of_a_workspace_is_refused)
{
    static const char *const bad[] = { "", "..", "../x", "a/../../b", "a/..", "a\nb" };
    coop_policy *policy = new_policy();

    for (size_t i = 0; i < COUNT(bad); i++)
        CHECK(coop_policy_set_restrict(policy, bad[i], NULL) == -EINVAL);
    CHECK(coop_policy_set_restrict(policy, NULL, NULL) == -EINVAL);
    CHECK(!policy->restrict_to);
    coop_policy_free(policy);
}

/* What lies around the part in the parent's view does not come to light in the child's. */
TEST(a_part_in_which_the_parent_mounts_something_else)
{
    coop_policy *request = new_request();

    CHECK(coop_policy_set_restrict(request, "lib/a", NULL) == 0); /* there is a mount at lib */
    refuses(with_mounts(), request, "mounts: '/work/lib/a' is the workspace's own");
    request = new_request();
    CHECK(coop_policy_set_restrict(request, "src", NULL) == 0);
    coop_policy *child = narrowed(with_mounts(), request);
    CHECK(child->n_mounts == 0); /* nothing of it lies there */
    coop_policy_free(child);
}

static void add_writable(coop_policy *policy)
{
    coop_policy_add_bind(policy, "/h/srv", "/srv", false, NULL);
    coop_policy_add_bind(policy, "/h/in", "/work/src/in", false, NULL);
    coop_policy_add_bind(policy, "/h/tools", "/usr/local", true, NULL);
    coop_policy_add_tmpfs(policy, "/scratch", 4096, false, NULL);
}

TEST(a_child_that_may_only_read_cannot_write_mounts_either)
{
    coop_policy *parent = new_policy();
    coop_policy *request = new_request();

    add_writable(parent);
    CHECK(coop_policy_set_read_only(request, true, NULL) == 0);
    coop_policy *child = narrowed(parent, request);
    CHECK(at(child, "/srv")->read_only && at(child, "/work/src/in")->read_only);
    CHECK(at(child, "/srv")->is_replaceable); /* others still write it */
    CHECK(!at(child, "/scratch")->read_only); /* its own memory */
    request = new_request();
    coop_policy_add_bind(request, "/h/srv", "/srv", false, NULL);
    refuses(child, request, "mounts: '/srv' can be written, in the parent only read");

    parent = new_policy(); /* one that is named again stays writable */
    request = new_request();
    add_writable(parent);
    CHECK(coop_policy_set_read_only(request, true, NULL) == 0);
    coop_policy_add_bind(request, "/h/srv", "/srv", false, NULL);
    child = narrowed(parent, request);
    CHECK(child->read_only && !at(child, "/srv")->read_only);
    CHECK(at(child, "/work/src/in")->read_only);
    coop_policy_free(child);
}

TEST(a_restricted_child_has_no_mounts_outside_its_part)
{
    coop_policy *parent = new_policy();
    coop_policy *request = new_request();

    add_writable(parent);
    CHECK(coop_policy_set_restrict(request, "src", NULL) == 0);
    coop_policy *child = narrowed(parent, request);
    CHECK(!at(child, "/srv")->target);
    CHECK(at(child, "/work/src/in")->target && !at(child, "/work/src/in")->read_only);
    CHECK(at(child, "/usr/local")->kind == POLICY_BLOCK); /* or the host's own would be seen */
    CHECK(at(child, "/scratch")->kind == POLICY_TMPFS);
    coop_policy_free(child);

    parent = new_policy();
    request = new_request();
    add_writable(parent);
    CHECK(coop_policy_set_restrict(request, "src", NULL) == 0);
    coop_policy_add_bind(request, "/h/srv", "/srv", true, NULL);
    coop_policy_add_bind(request, "/h/tools", "/usr/local", true, NULL);
    child = narrowed(parent, request);
    CHECK(at(child, "/srv")->read_only && at(child, "/usr/local")->kind == POLICY_BIND);
    coop_policy_free(child);
}

TEST(the_digest_knows_what_is_shown)
{
    coop_policy *all = new_policy();
    coop_policy *part = restricted_to("src");
    coop_policy *other = restricted_to("src/a");
    coop_policy *kept = new_policy();
    coop_policy *copy = NULL;

    CHECK(coop_policy_set_read_only(kept, true, NULL) == 0);
    CHECK(strcmp(coop_policy_digest(all), coop_policy_digest(part)) != 0);
    CHECK(strcmp(coop_policy_digest(part), coop_policy_digest(other)) != 0);
    CHECK(strcmp(coop_policy_digest(all), coop_policy_digest(kept)) != 0);
    CHECK(policy_copy(part, &copy, NULL) == 0);
    CHECK_STR(coop_policy_digest(copy), coop_policy_digest(part));
    CHECK(coop_policy_set_restrict(part, "/", NULL) == 0);
    CHECK_STR(coop_policy_digest(part), coop_policy_digest(all));
    coop_policy_free(all);
    coop_policy_free(part);
    coop_policy_free(other);
    coop_policy_free(kept);
    coop_policy_free(copy);
}

TEST(needs_are_those_that_everybody_names)
{
    coop_policy *parent = new_policy();
    coop_policy *first = new_request();
    coop_policy *second = new_request();
    coop_policy *both = NULL;

    coop_policy_set_command_strength(parent, COOP_COMMANDS_ENFORCE, NULL);
    coop_policy_add_command_need(parent, "go", "cc", NULL);
    coop_policy_add_command_need(parent, "go", "sh", NULL);
    coop_policy_add_command_need(first, "go", "cc", NULL);
    coop_policy_add_command_need(second, "go", "sh", NULL);
    CHECK(policy_overlay(first, second, &both, NULL) == 0);
    coop_policy *child = narrowed(parent, both);
    CHECK(child->commands.rules.n == 1 && child->commands.rules.items[0].n_needs == 0);
    coop_policy_free(first);
    coop_policy_free(second);
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
