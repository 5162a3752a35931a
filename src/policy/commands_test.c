/*
 * The policy's part about commands: from a configuration, copied, digested, narrowed.
 *
 * worlds: user
 */
#include "commands.h"

#include <errno.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "config/config.h"
#include "config/toml/toml.h"
#include "policy/narrow/narrow.h"
#include "test/check.h"

static void free_policy(coop_policy **policy)
{
    coop_policy_free(*policy);
}
#define auto_policy __attribute__((cleanup(free_policy)))

static void add(struct config *config, enum config_layer layer, const char *name, const char *text,
                struct findings *findings)
{
    struct document *document = NULL;

    CHECK(toml_parse(name, text, strlen(text), &document, findings) == 0);
    CHECK(config_add_document(config, layer, document, findings) == 0);
}

/* The config is gone when this returns: nothing of it may be left in the policy. */
static coop_policy *policy_of(const char *user, const char *project)
{
    static struct findings findings;
    struct config *config = config_new();
    coop_policy *policy = NULL;

    CHECK(config && coop_policy_new(&policy, NULL) == 0);
    char name[] = "coop.toml";
    char project_name[] = "ws/coop.toml";
    add(config, CONFIG_USER, name, user, &findings);
    if (project)
        add(config, CONFIG_PROJECT, project_name, project, &findings);
    policy_fill_commands(config, policy, &findings);
    CHECK(findings.n_errors == 0);
    config_free(config);
    memset(name, 'x', sizeof name - 1);
    memset(project_name, 'x', sizeof project_name - 1);
    return policy;
}

/* Each rule as one word: "go+build+test-install". */
static const char *rules_of(const coop_policy *policy)
{
    static char out[600];
    const struct command_rules *rules = &policy->commands.rules;

    out[0] = '\0';
    for (size_t i = 0; i < rules->n; i++) {
        const struct command_rule *rule = &rules->items[i];
        size_t n = strlen(out);

        n += (size_t)snprintf(out + n, sizeof out - n, "%s%s%s", i > 0 ? " " : "", rule->name,
                              rule->has_allowed && rule->n_allowed == 0 ? "+" : "");
        for (size_t k = 0; k < rule->n_allowed; k++)
            n += (size_t)snprintf(out + n, sizeof out - n, "+%s", rule->allowed[k].text);
        for (size_t k = 0; k < rule->n_blocked; k++)
            n += (size_t)snprintf(out + n, sizeof out - n, "-%s", rule->blocked[k].text);
        for (size_t k = 0; k < rule->n_needs; k++)
            n += (size_t)snprintf(out + n, sizeof out - n, "&%s", rule->needs[k]);
        (void)snprintf(out + n, sizeof out - n, "%s", rule->manifest ? "?" : "");
    }
    return out;
}

#define CHECKED  "[commands]\nstrength = 'check'\n"
#define BUILT_IN "fest camp just git-push --force-reset --hard-clean -fd"

TEST(a_configuration_gives_rules)
{
    static const struct {
        const char *user, *project, *rules;
    } cases[] = {
        { CHECKED, NULL, BUILT_IN },
        { CHECKED "defaults = false", NULL, "" },
        { CHECKED "[commands.go]\nallowed = ['build', 'test']\nblocked = ['build -o']\n", NULL,
          BUILT_IN " go+build+test-build -o" },
        { CHECKED "[commands.go.subcommand_restrictions]\nallowed = ['build']\n", NULL,
          BUILT_IN " go+build" },
        { CHECKED "[commands.go]\nallowed = []\n", NULL, BUILT_IN " go+" },
        { CHECKED "[commands.make]\nneeds = ['sh', '/usr/lib/x']\nmanifest = true\n", NULL,
          BUILT_IN " make&sh&/usr/lib/x?" },
        /* the owner's list takes the place of the one built in, a project's is added */
        { CHECKED "[commands.git]\nblocked = ['stash']\n", NULL, "fest camp just git-stash" },
        { CHECKED, "[commands.git]\nblocked = ['stash']\n",
          "fest camp just git-push --force-reset --hard-clean -fd-stash" },
        { CHECKED, "[commands.git]\ndescription = 'x'\n", BUILT_IN },
        { CHECKED "[commands.git]\nblocked = ['stash']\n", "[commands.git]\nblocked = ['push']\n",
          "fest camp just git-stash-push" },
        { CHECKED "[commands.go]\nallowed = ['build', 'test']\n",
          "[commands.go]\nallowed = ['test']\n", BUILT_IN " go+test" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        auto_policy coop_policy *policy = policy_of(cases[i].user, cases[i].project);

        CHECK_STR(rules_of(policy), cases[i].rules);
        CHECK(policy->commands.strength == COOP_COMMANDS_CHECK);
    }
    auto_policy coop_policy *off = policy_of("[commands.go]\n", NULL);
    CHECK(off->commands.strength == COOP_COMMANDS_OFF && off->commands.rules.n == 0);
    auto_policy coop_policy *enforced = policy_of("[commands]\nstrength = 'enforce'\n", NULL);
    CHECK(enforced->commands.strength == COOP_COMMANDS_ENFORCE);
}

TEST(a_policy_keeps_where_its_rules_stand)
{
    auto_policy coop_policy *policy = policy_of(CHECKED "[commands.go]\nblocked = ['install']\n",
                                                "[commands.git]\nblocked = ['x']\n");
    auto_policy coop_policy *copy = NULL;

    CHECK(policy_copy(policy, &copy, NULL) == 0);
    coop_policy_free(policy);
    policy = NULL;
    const struct command_rule *go = command_rules_find(&copy->commands.rules, "go");
    CHECK_STR(go->origin.name, "coop.toml");
    CHECK(go->origin.line == 3 && go->blocked[0].origin.line == 4);
    const struct command_rule *git = command_rules_find(&copy->commands.rules, "git");
    CHECK(!git->blocked[0].origin.name); /* built in */
    CHECK_STR(git->blocked[git->n_blocked - 1].origin.name, "ws/coop.toml");
}

TEST(what_is_wrong_has_its_place)
{
    static struct findings findings;
    auto_config struct config *config = config_new();
    auto_policy coop_policy *policy = NULL;

    CHECK(config && coop_policy_new(&policy, NULL) == 0);
    add(config, CONFIG_USER, "f",
        CHECKED "[commands.'a b']\n[commands.go]\nblocked = ['--']\nneeds = ['a/b']\n", &findings);
    policy_fill_commands(config, policy, &findings);
    CHECK(findings.n_errors == 3);
    CHECK(findings.items[0].origin.line == 3 && strstr(findings.items[0].message, "'a b'"));
    CHECK(findings.items[1].origin.line == 5);
    CHECK(findings.items[2].origin.line == 6 && strstr(findings.items[2].message, "'a/b'"));
    findings_done(&findings);
}

TEST(the_library_has_setters)
{
    auto_policy coop_policy *policy = NULL;
    coop_error *err = NULL;

    CHECK(coop_policy_new(&policy, NULL) == 0);
    CHECK(policy->commands.strength == COOP_COMMANDS_OFF);
    CHECK(coop_policy_set_command_strength(policy, COOP_COMMANDS_CHECK, NULL) == 0);
    CHECK(coop_policy_set_command_strength(policy, (coop_command_strength)3, &err) == -EINVAL);
    coop_error_free(err);
    CHECK(coop_policy_allow_command(policy, "ls", NULL) == 0);
    CHECK(coop_policy_allow_subcommand(policy, "go", "build", NULL) == 0);
    CHECK(coop_policy_block_subcommand(policy, "go", "build -o", NULL) == 0);
    CHECK(coop_policy_add_command_need(policy, "go", "sh", NULL) == 0);
    CHECK(coop_policy_add_command_need(policy, "go", "sh", NULL) == 0);
    CHECK(coop_policy_set_command_manifest(policy, "ls", true, NULL) == 0);
    CHECK_STR(rules_of(policy), "ls? go+build-build -o&sh");
    CHECK(coop_policy_allow_command(policy, NULL, NULL) == -EINVAL);
    CHECK(coop_policy_allow_command(policy, "a b", NULL) == -EINVAL);
    CHECK(coop_policy_allow_subcommand(policy, "go", NULL, NULL) == -EINVAL);
    CHECK(coop_policy_block_subcommand(policy, "go", "", NULL) == -EINVAL);
    CHECK(coop_policy_add_command_need(policy, "go", "../x", NULL) == -EINVAL);
}

TEST(each_part_changes_the_digest)
{
    static const char *const texts[] = {
        "",
        CHECKED,
        "[commands]\nstrength = 'enforce'\n",
        CHECKED "defaults = false\n",
        CHECKED "[commands.go]\n",
        CHECKED "[commands.ls]\n",
        CHECKED "[commands.go]\nallowed = []\n",
        CHECKED "[commands.go]\nallowed = ['a']\n",
        CHECKED "[commands.go]\nblocked = ['a']\n",
        CHECKED "[commands.go]\nneeds = ['a']\n",
        CHECKED "[commands.go]\nmanifest = true\n",
    };
    char digests[sizeof texts / sizeof *texts][65];

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        auto_policy coop_policy *policy = policy_of(texts[i], NULL);
        auto_policy coop_policy *copy = NULL;

        memcpy(digests[i], coop_policy_digest(policy), 65);
        CHECK(policy_copy(policy, &copy, NULL) == 0);
        CHECK_STR(coop_policy_digest(copy), digests[i]);
        for (size_t k = 0; k < i; k++)
            CHECK(strcmp(digests[i], digests[k]) != 0);
    }
}

/* ---- narrowing */

static const char *narrowed(coop_policy *parent, coop_policy *request)
{
    static char out[600];
    auto_error coop_error *err = NULL;
    coop_policy *child = NULL;

    if (coop_policy_narrow(parent, request, &child, &err) < 0)
        (void)snprintf(out, sizeof out, "%s", coop_error_message(err));
    else
        (void)snprintf(out, sizeof out, "%s: %s", policy_strength_names[child->commands.strength],
                       rules_of(child));
    coop_policy_free(child);
    coop_policy_free(request);
    return out;
}

static coop_policy *request_for(const char *name, const char *allowed, const char *blocked)
{
    coop_policy *request = NULL;

    CHECK(coop_policy_new(&request, NULL) == 0);
    if (name)
        CHECK(coop_policy_allow_command(request, name, NULL) == 0);
    if (allowed)
        CHECK(coop_policy_allow_subcommand(request, name, allowed, NULL) == 0);
    if (blocked)
        CHECK(coop_policy_block_subcommand(request, name, blocked, NULL) == 0);
    return request;
}

static coop_policy *request_strength(coop_command_strength strength)
{
    coop_policy *request = request_for(NULL, NULL, NULL);

    CHECK(coop_policy_set_command_strength(request, strength, NULL) == 0);
    return request;
}

TEST(narrowing_takes_commands_away)
{
    auto_policy coop_policy *parent = policy_of(
        CHECKED
        "[commands.go]\nallowed = ['build', 'test']\nneeds = ['as', 'ld']\nmanifest = true\n",
        NULL);

    CHECK_STR(narrowed(parent, request_for(NULL, NULL, NULL)),
              "check: " BUILT_IN " go+build+test&as&ld?");
    CHECK_STR(narrowed(parent, request_for("git", NULL, NULL)),
              "check: git-push --force-reset --hard-clean -fd");
    CHECK_STR(narrowed(parent, request_for("go", "test", NULL)), "check: go+test&as&ld?");
    CHECK_STR(narrowed(parent, request_for("go", "run", NULL)), "check: go+&as&ld?");
    CHECK_STR(narrowed(parent, request_for("go", NULL, "test")),
              "check: go+build+test-test&as&ld?");
    CHECK_STR(narrowed(parent, request_for("ls", NULL, NULL)),
              "commands: 'ls' is not among those of the parent");
    CHECK_STR(narrowed(parent, request_strength(COOP_COMMANDS_ENFORCE)),
              "enforce: " BUILT_IN " go+build+test&as&ld?");
    CHECK_STR(narrowed(parent, request_strength(COOP_COMMANDS_OFF)),
              "commands: the child has 'off', the parent 'check'");
    coop_policy *request = request_for("go", NULL, NULL);
    CHECK(coop_policy_add_command_need(request, "go", "ld", NULL) == 0);
    CHECK(coop_policy_add_command_need(request, "go", "sh", NULL) == 0);
    CHECK_STR(narrowed(parent, request), "check: go+build+test&ld?");
}

TEST(where_everything_may_run_a_request_may_name_anything)
{
    auto_policy coop_policy *parent = policy_of("[commands.go]\n", NULL);
    coop_policy *request = request_for("ls", NULL, NULL);

    CHECK(coop_policy_set_command_strength(request, COOP_COMMANDS_CHECK, NULL) == 0);
    CHECK_STR(narrowed(parent, request), "check: ls");
}

TEST(the_proof_sees_more)
{
    static const struct {
        const char *child, *parent, *counter;
    } cases[] = {
        { CHECKED "[commands.ls]\n", CHECKED,
          "commands: only the child allows 'ls any-sub-command'" },
        { CHECKED "[commands.go]\nneeds = ['sh']\n", CHECKED "[commands.go]\n",
          "commands: 'go' needs 'sh', in the parent it does not" },
        { CHECKED "[commands.go]\n", CHECKED "[commands.go]\nmanifest = true\n",
          "commands: 'go' has a manifest in the parent only" },
        { "", CHECKED, "commands: the child has 'off', the parent 'check'" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        auto_policy coop_policy *child = policy_of(cases[i].child, NULL);
        auto_policy coop_policy *parent = policy_of(cases[i].parent, NULL);
        auto_free char *counter = NULL;

        CHECK(policy_is_within(child, parent, &counter, NULL) == 0);
        CHECK_STR(counter, cases[i].counter);
    }
    auto_policy coop_policy *child = policy_of("[commands]\nstrength = 'enforce'\n", NULL);
    auto_policy coop_policy *parent = policy_of(CHECKED, NULL);
    auto_free char *counter = NULL;
    CHECK(policy_is_within(child, parent, &counter, NULL) == 1);
}
