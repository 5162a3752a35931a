/* worlds: user */
#include "policy/protect.h"

#include "coop/policy.h"
#include "policy/policy.h"
#include "test/check.h"

struct rule_text {
    const char *pattern;
    coop_protect action;
};

/* A set of rules, with or without the built-in ones. */
static struct protect *make(bool has_defaults, const struct rule_text *rules, size_t n)
{
    static coop_policy *policy; /* borrowed by the rules */
    struct protect *protect = NULL;

    coop_policy_free(policy);
    CHECK(coop_policy_new(&policy, NULL) == 0);
    CHECK(coop_policy_set_protect_defaults(policy, has_defaults, NULL) == 0);
    for (size_t i = 0; i < n; i++)
        CHECK(coop_policy_add_protect(policy, rules[i].pattern, rules[i].action, NULL) == 0);
    CHECK(protect_new(policy, &protect, NULL) == 0);
    return protect;
}

/* What stops the name from being read: the pattern, or "". */
static const char *hider(struct protect *protect, const char *path)
{
    const struct protect_rule *rule = protect_hides(protect, path, false, PROTECT_ALL);

    return rule ? rule->pattern : "";
}

static const char *keeper(struct protect *protect, const char *path)
{
    const struct protect_rule *rule = protect_keeps(protect, path, false);

    return rule ? rule->pattern : "";
}

TEST(the_built_in_rules_hide_what_they_say)
{
    static const struct {
        const char *path, *pattern;
    } cases[] = {
        { ".env", ".env" },
        { "a/.env", "**/.env" },
        { ".env.local", ".env.*" },
        { "a/b/.env.local", "**/.env.*" },
        { ".env.example", "" },
        { "a/.env.example", "" },
        { "a/.env.sample", "" },
        { ".env.template", "" },
        { ".env.production.example", "" },
        { ".envrc", "" },
        { "x.env", "**/*.env" },
        { "a/example.env", "" },
        { "x.example.env", "" },
        { ".env~", "**/*.env~" },
        { ".x.env.swp", "**/*.env.swp" },
        { "a/id_rsa", "**/id_rsa*" },
        { "x.tfstate", "**/*.tfstate" },
        { "x.p12", "**/*.p12" },
        { "debug.keystore", "" },
        { "credentials.json", "**/credentials.json" },
        { "a/my-secret.txt", "**/*secret*" },
        { "a/secret.pub", "" },
        { "passwords", "**/*password*" },
        { "id.pub", "" },
        { "a/b/c/server.pem", "**/*.pem" },
        { "server.key", "**/*.key" },
        { "keyboard", "" },
        { "main.c", "" },
    };
    struct protect *protect = make(true, NULL, 0);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_STR(hider(protect, cases[i].path), cases[i].pattern);
    protect_free(protect);
}

TEST(the_built_in_rules_keep_what_they_say)
{
    static const char *const kept[] = { ".git/hooks",
                                        ".git/config",
                                        ".git/commondir",
                                        ".git/config.worktree",
                                        ".git/worktrees/x/config.worktree",
                                        ".git/modules/a/hooks",
                                        ".git/modules/a/modules/b/config",
                                        ".bashrc",
                                        ".vscode",
                                        ".envrc",
                                        "coop.toml",
                                        ".campaign/sandbox.yaml",
                                        ".config/fish" };
    static const char *const free_names[] = { "a/.bashrc",   "sub/.git/config", ".git/index",
                                              ".gitmodules", ".gitignore",      "hooks",
                                              "config",      "a/coop.toml" };
    struct protect *protect = make(true, NULL, 0);

    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        CHECK(*keeper(protect, kept[i]) != '\0');
    for (size_t i = 0; i < sizeof free_names / sizeof *free_names; i++)
        CHECK_STR(keeper(protect, free_names[i]), "");
    protect_free(protect);
}

TEST(a_name_that_no_rule_is_about_is_told_by_its_name_alone)
{
    static const char *const all[] = { ".env",  ".env.x", "my-secret", "x.pem",    "a.key",
                                       "hooks", "config", "Coopfile",  "passwordx" };
    static const char *const none[] = { "main.c",     "index.html", "env",   "Makefile",
                                        ".gitignore", "x.peM",      "ecret", ".envr" };
    struct protect *protect = make(true, NULL, 0);

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        CHECK(protect_concerns_name(protect, all[i], strlen(all[i])));
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        CHECK(!protect_concerns_name(protect, none[i], strlen(none[i])));
    protect_free(protect);
}

TEST(reading_and_writing_do_not_meddle)
{
    const struct rule_text rules[] = { { "**/*.pem", COOP_PROTECT_KEEP },
                                       { "**/.envrc", COOP_PROTECT_HIDE } };
    struct protect *protect = make(true, rules, 2);

    CHECK_STR(hider(protect, "x.pem"), "**/*.pem"); /* still */
    CHECK_STR(keeper(protect, "x.pem"), "**/*.pem");
    CHECK_STR(hider(protect, ".envrc"), "**/.envrc");
    CHECK_STR(keeper(protect, ".envrc"), ".envrc");
    protect_free(protect);
}

TEST(an_exception_lifts_both_where_it_is_more_specific)
{
    const struct rule_text rules[] = { { "a/.env", COOP_PROTECT_SHOW },
                                       { ".vscode", COOP_PROTECT_SHOW },
                                       { "*.pem", COOP_PROTECT_SHOW } };
    struct protect *protect = make(true, rules, 3);

    CHECK_STR(hider(protect, "a/.env"), "");
    CHECK_STR(hider(protect, "b/.env"), "**/.env");
    CHECK_STR(keeper(protect, ".vscode"), ""); /* the later one of equals */
    CHECK_STR(hider(protect, "x.pem"), "");
    CHECK_STR(hider(protect, "a/x.pem"), "**/*.pem");
    protect_free(protect);
}

TEST(without_the_defaults_only_own_rules_hold)
{
    const struct rule_text rules[] = { { "x/*.txt", COOP_PROTECT_HIDE } };
    struct protect *protect = make(false, rules, 1);

    CHECK_STR(hider(protect, ".env"), "");
    CHECK_STR(hider(protect, "x/a.txt"), "x/*.txt");
    CHECK(protect_may_apply_below(protect, "x", PROTECT_ALL));
    CHECK(!protect_may_apply_below(protect, "y", PROTECT_ALL));
    CHECK(!protect_keeps_in_git(protect, "hooks", true));
    protect_free(protect);
    CHECK(make(false, NULL, 0) == NULL);
}

TEST(own_rules_hold_alone_where_built_in_ones_do_not)
{
    const struct rule_text rules[] = { { "**/*.p?m", COOP_PROTECT_HIDE } };
    struct protect *protect = make(true, rules, 1);

    CHECK(protect_hides(protect, "x.pem", false, PROTECT_OWN));
    CHECK(!protect_hides(protect, ".env", false, PROTECT_OWN));
    CHECK(protect_may_apply_below(protect, "node_modules", PROTECT_OWN));
    protect_free(protect);
}

TEST(in_a_git_directory)
{
    struct protect *protect = make(true, NULL, 0);

    CHECK(protect_keeps_in_git(protect, "hooks", true));
    CHECK(protect_keeps_in_git(protect, "modules/a/b/config", false)->conditions &
          PROTECT_GIT_CONFIG);
    CHECK(!protect_keeps_in_git(protect, "objects", true));
    CHECK(protect_may_keep_below_in_git(protect, "modules/a"));
    CHECK(!protect_may_keep_below_in_git(protect, "objects"));
    protect_free(protect);
}

static bool applies(unsigned conditions, const char *text)
{
    return protect_content_applies(conditions, text, strlen(text), true);
}

TEST(content_decides_about_keys)
{
    const char *key = "-----BEGIN RSA PRIVATE KEY-----\n";
    const char *certificate = "-----BEGIN CERTIFICATE-----\n";
    const char *public_key = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n";

    CHECK(applies(PROTECT_PRIVATE_KEY, key));
    CHECK(!applies(PROTECT_PRIVATE_KEY, certificate));
    CHECK(!applies(PROTECT_PRIVATE_KEY, ""));
    CHECK(applies(PROTECT_PRIVATE_KEY, "0\x82\x04"));               /* DER */
    CHECK(protect_content_applies(PROTECT_PRIVATE_KEY, certificate, /* there is more */
                                  strlen(certificate), false));
    CHECK(applies(PROTECT_NOT_PUBLIC, "0123456789abcdef\n")); /* a key in no known form */
    CHECK(applies(PROTECT_NOT_PUBLIC, ""));
    CHECK(!applies(PROTECT_NOT_PUBLIC, public_key));
    CHECK(!applies(PROTECT_NOT_PUBLIC, certificate));
    CHECK(applies(PROTECT_NOT_PUBLIC, "-----BEGIN PUBLIC KEY-----\n-----BEGIN PRIVATE KEY-----\n"));
    CHECK(!applies(PROTECT_NOT_SOURCE, "#!/bin/sh\n"));
    CHECK(applies(PROTECT_NOT_SOURCE, "password=x\n"));
}

TEST(source_is_told_by_its_extension)
{
    static const char *const source[] = { "secret.py",        "password.TSX", "a.secret.d.ts",
                                          "libsecret.so.1.2", "secret.o",     "password.svg" };
    static const char *const other[] = { "secret",  "secret.yaml",  "passwords.txt",
                                         ".secret", "secret.1.2.3", "secret.json",
                                         "py" };

    for (size_t i = 0; i < sizeof source / sizeof *source; i++)
        CHECK(!protect_name_applies(PROTECT_NOT_SOURCE, source[i], strlen(source[i])));
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        CHECK(protect_name_applies(PROTECT_NOT_SOURCE, other[i], strlen(other[i])));
    CHECK(protect_is_dependencies("node_modules", 12));
    CHECK(!protect_is_dependencies("node_module", 11));
}

TEST(case_is_ignored_on_demand)
{
    coop_policy *policy = NULL;
    struct protect *protect = NULL;

    CHECK(coop_policy_new(&policy, NULL) == 0);
    CHECK(coop_policy_set_protect_ignore_case(policy, true, NULL) == 0);
    CHECK(protect_new(policy, &protect, NULL) == 0);
    CHECK(protect_concerns_name(protect, ".ENV", 4));
    CHECK_STR(hider(protect, "a/.ENV"), "**/.env");
    CHECK_STR(keeper(protect, ".Git/HOOKS"), ".git/hooks");
    protect_free(protect);
    CHECK(coop_policy_set_protect_ignore_case(policy, false, NULL) == 0);
    CHECK(protect_new(policy, &protect, NULL) == 0);
    CHECK(!protect_concerns_name(protect, ".ENV", 4) && !*hider(protect, "a/.ENV"));
    protect_ignore_case(protect); /* the file system does */
    CHECK(protect_ignores_case(protect) && protect_concerns_name(protect, ".ENV", 4));
    CHECK_STR(hider(protect, "a/.ENV"), "**/.env");
    CHECK_STR(hider(protect, "a/.ENV.Example"), "");
    CHECK_STR(keeper(protect, ".Git/HOOKS"), ".git/hooks");
    protect_free(protect);
    coop_policy_free(policy);
}

TEST(wrong_patterns_are_refused)
{
    coop_policy *policy = NULL;
    coop_error *err = NULL;

    CHECK(coop_policy_new(&policy, NULL) == 0);
    CHECK(coop_policy_add_protect(policy, "a[", COOP_PROTECT_HIDE, &err) < 0);
    CHECK(coop_error_get_kind(err) == COOP_ERROR_BAD_POLICY);
    coop_error_free(err);
    CHECK(coop_policy_add_protect(policy, "", COOP_PROTECT_HIDE, NULL) < 0);
    CHECK(coop_policy_add_protect(policy, NULL, COOP_PROTECT_HIDE, NULL) < 0);
    CHECK(coop_policy_add_protect(policy, "a", (coop_protect)7, NULL) < 0);
    coop_policy_free(policy);
}

TEST(a_policy_and_its_copy_have_one_digest)
{
    coop_policy *policy = NULL;
    coop_policy *copy = NULL;
    char before[65];

    CHECK(coop_policy_new(&policy, NULL) == 0);
    memcpy(before, coop_policy_digest(policy), sizeof before);
    CHECK(coop_policy_add_protect(policy, "x", COOP_PROTECT_KEEP, NULL) == 0);
    CHECK(strcmp(before, coop_policy_digest(policy)) != 0);
    CHECK(policy_copy(policy, &copy, NULL) == 0);
    CHECK_STR(coop_policy_digest(copy), coop_policy_digest(policy));
    CHECK(coop_policy_set_protect_defaults(copy, false, NULL) == 0);
    CHECK(strcmp(coop_policy_digest(copy), coop_policy_digest(policy)) != 0);
    coop_policy_free(policy);
    coop_policy_free(copy);
}
