/*
 * Narrowing over random policies and requests, against a second, slow notion of what a policy allows
 * that shares no code with the proof: the child can do no more, and narrowing twice is narrowing by
 * both at once.
 *
 * worlds: user
 */
#include "narrow.h"

#include <errno.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "policy/hosts.h"
#include "policy/path/path.h"
#include "policy/protect.h"
#include "test/check.h"

static coop_policy *new_request(void)
{
    coop_policy *policy = NULL;

    CHECK(coop_policy_new(&policy, NULL) == 0);
    return policy;
}

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
static const char *const parts[] = { "lib", "lib/a", "secret", "z", "l" };
static const char *const programs[] = { "git", "go", "make" };
static const char *const words[] = { "push", "push --force", "status", "add -f", "test" };
static const char *const needs[] = { "sh", "cc", "/usr/lib/go" };

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

/* In what the parent shows, most of the time. */
static void random_part(coop_policy *policy, const coop_policy *like)
{
    char deeper[64];

    (void)snprintf(deeper, sizeof deeper, "%s/a",
                   like && like->restrict_to ? like->restrict_to : "");
    coop_policy_set_restrict(policy, like && like->restrict_to && any(4) ? deeper : ANY(parts),
                             NULL);
    if (any(8) == 0)
        coop_policy_set_restrict(policy, "/", NULL);
}

/* Of a request, most is what the parent has, or a little less. */
static void random_values(coop_policy *policy, const coop_policy *like)
{
    if (any(3) == 0)
        coop_policy_set_network(policy, like && any(4) ? like->network : (coop_network)any(5),
                                NULL);
    if (any(3) == 0)
        coop_policy_set_mode(policy, like && any(4) ? like->mode : (coop_mode)any(3), NULL);
    if (any(6) == 0)
        coop_policy_set_profile(policy, like ? like->profile : (coop_profile)any(2), NULL);
    if (any(6) == 0)
        coop_policy_set_host_sockets(policy, any(2) && (!like || like->host_sockets), NULL);
    if (any(8) == 0)
        coop_policy_set_same_path(policy, like && any(4) ? like->same_path : any(2), NULL);
    if (any(4) == 0)
        coop_policy_set_read_only(policy, like && any(4) ? like->read_only || any(2) : any(2),
                                  NULL);
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

static const char *const hosts[] = {
    "a.org:443",      "a.org",          "*.a.org",       "*",           "*:443", "10.0.0.0/8",
    "10.1.0.0/16:80", "localhost:3000", "b.a.org:1-100", "a.org:53/udp"
};

static void random_hosts(coop_policy *policy)
{
    for (unsigned i = any(4); i > 0; i--)
        (void)policy_add_host(policy, ANY(hosts), any(4) == 0, (struct origin){ 0 }, NULL);
    if (any(8) == 0)
        (void)coop_policy_add_publish(policy, any(2) ? 8080 : 9090, 80, NULL);
}

static void random_command(coop_policy *policy, const char *program)
{
    switch (any(6)) {
    case 0:
    case 1:
        coop_policy_allow_command(policy, program, NULL);
        break;
    case 2:
        coop_policy_allow_subcommand(policy, program, ANY(words), NULL);
        break;
    case 3:
        coop_policy_block_subcommand(policy, program, ANY(words), NULL);
        break;
    case 4:
        coop_policy_add_command_need(policy, program, ANY(needs), NULL);
        break;
    default:
        coop_policy_set_command_manifest(policy, program, any(2), NULL);
        break;
    }
}

static void random_commands(coop_policy *policy)
{
    if (any(2))
        coop_policy_set_command_strength(policy, (coop_command_strength)any(3), NULL);
    for (unsigned i = any(8); i > 0; i--)
        random_command(policy, ANY(programs));
}

/* Of the parent's commands, mostly. */
static void request_commands(coop_policy *request, const coop_policy *parent)
{
    const struct policy_commands *commands = &parent->commands;

    if (any(4) == 0)
        coop_policy_set_command_strength(
            request, any(4) ? COOP_COMMANDS_ENFORCE : (coop_command_strength)any(3), NULL);
    if (any(2) == 0)
        return;
    for (unsigned i = any(8); i > 0; i--)
        random_command(request, commands->rules.n > 0 && any(16)
                                    ? commands->rules.items[any((unsigned)commands->rules.n)].name
                                    : ANY(programs));
}

static coop_policy *random_policy(void)
{
    coop_policy *policy = new_request();

    if (any(6) == 0)
        coop_policy_set_root(policy, "/home/u/ws", any(2), NULL);
    else if (any(4))
        coop_policy_set_workspace(policy, "/home/u/ws", NULL);
    random_values(policy, NULL);
    if (any(4) == 0)
        random_part(policy, NULL);
    for (unsigned i = any(5); i > 0; i--)
        random_mount(policy);
    for (unsigned i = any(4); i > 0; i--)
        coop_policy_add_protect(policy, ANY(patterns), (coop_protect)any(3), NULL);
    for (unsigned i = any(3); i > 0; i--)
        coop_policy_set_env(policy, ANY(names), any(2) ? "1" : "2", NULL);
    random_commands(policy);
    if (any(2))
        random_hosts(policy);
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
    if (any(4) == 0)
        random_part(request, parent);
    request_commands(request, parent);
    if (any(6) == 0)
        random_hosts(request);
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
    const char *view = policy->root         ? ""
                       : !policy->same_path ? "/work"
                       : policy->workspace  ? policy->workspace
                                            : "/?";
    struct slow_place found = { .can_write = false };
    size_t best = 0;
    char shown[128];

    if (strncmp(path, "/usr/", 5) == 0)
        (void)snprintf(found.object, sizeof found.object, "host:%s", path);
    (void)snprintf(shown, sizeof shown, "%s%s", view,
                   policy->restrict_to ? policy->restrict_to : "");
    if (*shown ? path_is_within(path, shown)
               : strncmp(path, "/usr", 4) != 0 && strncmp(path, "/tmp", 4) != 0) {
        best = strlen(shown);
        (void)snprintf(found.object, sizeof found.object, "ws:%s", path + strlen(view));
        found.can_write = !policy->read_only;
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
    static const char *const more_paths[] = { "/work",         "/work/secret",  "/work/secret/s",
                                              "/work/z",       "/home/u/ws",    "/home/u/ws/z",
                                              "/usr/bin/env",  "/work/l",       "/lib2",
                                              "/l/a",          "/secret/a",     "/z",
                                              "/work/lib/a/a", "/work/secret/a" };
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

static const struct command_rule *slow_rule(const coop_policy *policy, const char *program)
{
    for (size_t i = 0; i < policy->commands.rules.n; i++)
        if (strcmp(policy->commands.rules.items[i].name, program) == 0)
            return &policy->commands.rules.items[i];
    return NULL;
}

/* Whether something would be there because of the program. */
static bool slow_has_need(const coop_policy *policy, const char *program, const char *need)
{
    const struct command_rule *rule = slow_rule(policy, program);

    if (policy->commands.strength == COOP_COMMANDS_OFF)
        return true;
    for (size_t i = 0; rule && i < rule->n_needs; i++)
        if (strcmp(rule->needs[i], need) == 0)
            return true;
    return false;
}

/* Whether it runs without its own manifest having a say. */
static bool slow_is_unasked(const coop_policy *policy, const char *program)
{
    const struct command_rule *rule = slow_rule(policy, program);

    return policy->commands.strength == COOP_COMMANDS_OFF || (rule && !rule->manifest);
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
    for (size_t i = 0; i < COUNT(programs); i++)
        for (size_t k = 0; k < COUNT(needs); k++)
            if (slow_has_need(child, programs[i], needs[k]) &&
                !slow_has_need(parent, programs[i], needs[k]))
                return "need";
    for (size_t i = 0; i < COUNT(programs); i++)
        if (slow_is_unasked(child, programs[i]) && !slow_is_unasked(parent, programs[i]))
            return "manifest";
    return child->commands.strength < parent->commands.strength ? "strength" : NULL;
}

/* Whether a connection by name, or by address where there is none, is possible. */
static bool slow_connects(const coop_policy *policy, const char *name, const uint8_t *address,
                          uint16_t port, bool is_udp)
{
    struct policy_host_lists lists;
    if (policy->network == COOP_NETWORK_HOST)
        return true;
    if (policy->network != COOP_NETWORK_GATE && policy->network != COOP_NETWORK_NAT)
        return false;
    CHECK(policy_host_lists(policy, &lists) == 0);
    const struct host_rules rules = {
        .allow = lists.allow, .n_allow = lists.n_allow, .deny = lists.deny, .n_deny = lists.n_deny
    };
    enum host_verdict verdict =
        name ? host_rules_decide_name(&rules, name, port, is_udp, NULL)
             : host_rules_decide_address(&rules, address, port, is_udp, NULL);
    size_t which;
    bool is_own = name && strcmp(name, "localhost") == 0;
    if (is_own)
        verdict = is_udp ? HOST_NO_RULE : policy_decide_own_port(policy, port, &which);
    bool is_open = verdict == HOST_ALLOWED || (verdict == HOST_NO_RULE && !is_own && name &&
                                               policy->network == COOP_NETWORK_NAT);
    policy_host_lists_done(&lists);
    return is_open;
}

static const char *slow_host_excess(const coop_policy *child, const coop_policy *parent)
{
    static const char *const named[] = { "a.org", "b.a.org", "c.b.a.org", "other.net",
                                         "localhost" };
    static const uint8_t addresses[][16] = { { [10] = 0xff, 0xff, 10, 1, 2, 3 },
                                             { [10] = 0xff, 0xff, 10, 2, 2, 3 },
                                             { [10] = 0xff, 0xff, 8, 8, 8, 8 } };
    static const uint16_t ports[] = { 443, 80, 53, 3000, 5432, 22 };

    for (size_t i = 0; i < COUNT(ports); i++)
        for (int is_udp = 0; is_udp < 2; is_udp++) {
            for (size_t k = 0; k < COUNT(named); k++)
                if (slow_connects(child, named[k], NULL, ports[i], is_udp) &&
                    !slow_connects(parent, named[k], NULL, ports[i], is_udp))
                    return named[k];
            for (size_t k = 0; k < COUNT(addresses) && parent->network != COOP_NETWORK_NAT; k++)
                if (slow_connects(child, NULL, addresses[k], ports[i], is_udp) &&
                    !slow_connects(parent, NULL, addresses[k], ports[i], is_udp))
                    return "an address";
        }
    return NULL;
}

/* What the child has and the parent has not; NULL: nothing was found. */
static const char *slow_excess(const coop_policy *child, const coop_policy *parent)
{
    static const int ranks[] = { [COOP_NETWORK_NONE] = 1,
                                 [COOP_NETWORK_OFF] = 0,
                                 [COOP_NETWORK_GATE] = 2,
                                 [COOP_NETWORK_NAT] = 3,
                                 [COOP_NETWORK_HOST] = 4 };

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
    if (!why)
        why = slow_host_excess(child, parent);
    return why ? why : slow_protect_excess(child, parent);
}

#define ROUNDS check_rounds(10000)

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
            if (any(2))
                random_command(child, ANY(programs));
            if (any(4) == 0)
                random_part(child, parent);
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
