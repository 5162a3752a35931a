/* worlds: user */
#include "config/config.h"

#include <errno.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "config/toml/toml.h"
#include "config/value.h"
#include "test/check.h"

static struct findings findings;
static struct config *config;

static int add(enum config_layer layer, const char *name, const char *text)
{
    struct document *document = NULL;
    int r = toml_parse(name, text, strlen(text), &document, &findings);

    return r < 0 ? r : config_add_document(config, layer, document, &findings);
}

static void begin(void)
{
    findings_done(&findings);
    memset(&findings, 0, sizeof findings);
    config_free(config);
    config = config_new();
    CHECK(config);
}

/* "file:line:column: message; fix" of the finding of this number. */
static const char *said(size_t i)
{
    static char text[1024];
    auto_buffer struct buffer line = { 0 };

    if (i >= findings.n)
        return "(no such finding)";
    finding_print(&line, &findings.items[i]);
    (void)snprintf(text, sizeof text, "%.*s", (int)line.length - 1, line.data);
    return text;
}

static const char *wrong(const char *text)
{
    begin();
    if (add(CONFIG_USER, "f", text) != -EINVAL)
        return "(nothing is wrong)";
    return said(0);
}

static const char *origin_of(const struct config_value *value)
{
    static char text[128];
    auto_buffer struct buffer line = { 0 };

    origin_print(&line, config_is_set(value) ? value->origin : (struct origin){ 0 });
    (void)snprintf(text, sizeof text, "%s", line.data);
    return text;
}

static const char *origin_at(const char *key)
{
    struct config_value value = config_get(config, key);

    return origin_of(&value);
}

/* The items of a list, joined. */
static const char *joined(struct config_items items)
{
    static char text[256];
    size_t n = 0;

    text[0] = '\0';
    for (struct config_value item; config_items_next(&items, &item);)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n ? " " : "",
                              config_value_text(&item));
    return text;
}

/* ---- defaults */

TEST(defaults_hold_where_nobody_says_anything)
{
    uint64_t number = 0;

    begin();
    CHECK(!config_bool(config, "sandbox.enabled"));
    CHECK(config_bool(config, "sandbox.isolate_pids"));
    CHECK_STR(config_text(config, "sandbox.mode"), "required");
    CHECK(config_size(config, "sandbox.memory", &number) && number == UINT64_C(2) << 30);
    CHECK(config_number(config, "sandbox.pids_limit", &number) && number == 512);
    CHECK(!config_number(config, "sandbox.cpus", &number));
    CHECK(!config_duration_ms(config, "sandbox.timeout", &number));
    CHECK(!config_text(config, "sandbox.root"));
    CHECK_STR(joined(config_items(config, "sandbox.blocked_paths")), "");
    CHECK(config_network(config, NULL) == CONFIG_NETWORK_NONE);
    CHECK_STR(origin_at("sandbox.memory"), "built-in default");
    struct config_names names = config_names(config, "commands");
    CHECK(!config_names_next(&names));
}

/* ---- layers */

TEST(later_layers_win_key_by_key)
{
    uint64_t number = 0;

    begin();
    CHECK(add(CONFIG_SYSTEM, "etc", "[sandbox]\nmemory = '1g'\npids_limit = 7\n") == 0);
    CHECK(add(CONFIG_USER, "user", "[sandbox]\n\nmemory = '3g'\n") == 0);
    CHECK(config_size(config, "sandbox.memory", &number) && number == UINT64_C(3) << 30);
    CHECK_STR(origin_at("sandbox.memory"), "user:3:10");
    CHECK(config_number(config, "sandbox.pids_limit", &number) && number == 7);
    CHECK_STR(origin_at("sandbox.pids_limit"), "etc:3:14");
    CHECK(config_get(config, "sandbox.pids_limit").layer == CONFIG_SYSTEM);
    CHECK(config_n_files(config) == 2);
    CHECK_STR(config_file_info(config, 1).path, "user");
}

TEST(lists_replace_except_what_a_project_forbids)
{
    begin();
    CHECK(add(CONFIG_SYSTEM, "etc",
              "[sandbox]\nblocked_paths = ['a']\nextra_ro_paths = ['/x']\n") == 0);
    CHECK(add(CONFIG_USER, "user",
              "[sandbox]\nblocked_paths = ['b']\nextra_ro_paths = ['/y', '/z']\n") == 0);
    CHECK(add(CONFIG_PROJECT, "p", "[sandbox]\nblocked_paths = ['c']\nextra_ro_paths = ['/y']\n") ==
          0);
    CHECK_STR(joined(config_items(config, "sandbox.blocked_paths")), "b c");
    CHECK_STR(joined(config_items(config, "sandbox.extra_ro_paths")), "/y");
}

TEST(every_item_of_a_list_knows_its_file)
{
    struct config_value item;

    begin();
    CHECK(add(CONFIG_USER, "user", "[protect]\ndeny = ['b']\n") == 0);
    CHECK(add(CONFIG_PROJECT, "p", "[protect]\ndeny = [\n  'c']\n") == 0);
    struct config_items items = config_items(config, "protect.deny");
    CHECK(config_items_next(&items, &item));
    CHECK_STR(origin_of(&item), "user:2:9");
    CHECK(config_items_next(&items, &item));
    CHECK_STR(origin_of(&item), "p:3:3");
    CHECK(!config_items_next(&items, &item));
}

TEST(tables_in_lists_are_walked)
{
    struct config_value item;

    begin();
    CHECK(
        add(CONFIG_USER, "u",
            "[[users]]\nname = 'a'\ntrust = 'owner'\nmatch = ['x:1', 'y:*']\n"
            "[[users]]\nname = 'b'\ntrust = 'inner'\nmatch = []\nsandbox = { memory = '1g' }\n") ==
        0);
    struct config_items users = config_items(config, "users");
    CHECK(config_items_next(&users, &item));
    struct config_value trust = config_child(&item, "trust");
    struct config_value match = config_child(&item, "match");
    CHECK_STR(config_value_text(&trust), "owner");
    CHECK_STR(joined(config_value_items(&match)), "x:1 y:*");
    CHECK(config_items_next(&users, &item));
    struct config_value sandbox = config_child(&item, "sandbox");
    struct config_value memory = config_child(&sandbox, "memory");
    CHECK_STR(config_value_text(&memory), "1g");
    CHECK_STR(origin_of(&memory), "u:9:22");
    CHECK(!config_items_next(&users, &item));
}

TEST(names_of_all_layers_come_once)
{
    begin();
    CHECK(add(CONFIG_USER, "u",
              "[commands]\nstrength = 'check'\n[commands.git]\nblocked = ['a']\n") == 0);
    CHECK(add(CONFIG_PROJECT, "p",
              "[commands.git]\nblocked = ['b']\n[commands.'x.y']\ndescription = 'd'\n") == 0);
    struct config_names names = config_names(config, "commands");
    CHECK_STR(config_names_next(&names), "git");
    CHECK_STR(config_names_next(&names), "x.y");
    CHECK(!config_names_next(&names));
    CHECK_STR(joined(config_items_named(config, "commands.*.blocked", "git")), "a b");
    struct config_value value = config_get_named(config, "commands.*.description", "x.y");
    CHECK_STR(config_value_text(&value), "d");
}

TEST(one_key_has_two_spellings)
{
    begin();
    CHECK(add(CONFIG_SYSTEM, "e", "[sandbox]\nnetwork = 'nat'\nenv_passthrough = ['A']\n") == 0);
    CHECK(add(CONFIG_USER, "u",
              "[network]\nmode = 'gate'\n[environment]\npass = ['B']\n"
              "[commands.go.subcommand_restrictions]\nallowed = ['build']\n") == 0);
    CHECK_STR(config_text(config, "sandbox.network"), "gate");
    CHECK_STR(config_text(config, "network.mode"), "gate");
    CHECK_STR(joined(config_items(config, "sandbox.env_passthrough")), "B");
    CHECK_STR(joined(config_items_named(config, "commands.*.allowed", "go")), "build");
}

TEST(numbers_have_units)
{
    uint64_t number = 0;

    begin();
    CHECK(add(CONFIG_USER, "u",
              "[sandbox]\nmemory = 4096\ntimeout = '1m30s'\nsession_timeout = 5\n"
              "cpus = 1.5\npids_limit = 'none'\n") == 0);
    CHECK(config_size(config, "sandbox.memory", &number) && number == 4096);
    CHECK(config_duration_ms(config, "sandbox.timeout", &number) && number == 90000);
    CHECK(config_duration_ms(config, "sandbox.session_timeout", &number) && number == 5000);
    CHECK(config_number(config, "sandbox.cpus", &number) && number == 1500);
    CHECK(config_number(config, "sandbox.pids_limit", &number) && number == CONFIG_NONE);
}

/* ---- flags */

TEST(flags_stand_above_all_files)
{
    uint64_t number = 0;

    begin();
    CHECK(config_add_flag(config, "--memory", "sandbox.memory", "1g", &findings) == 0);
    CHECK(config_add_flag(config, "--memory", "sandbox.memory", "3g", &findings) == 0);
    CHECK(config_add_flag(config, "--block", "sandbox.blocked_paths", "x", &findings) == 0);
    CHECK(config_add_flag(config, "--block", "sandbox.blocked_paths", "y", &findings) == 0);
    CHECK(config_add_flag(config, "--pids", "sandbox.pids_limit", "9", &findings) == 0);
    CHECK(add(CONFIG_USER, "u", "[sandbox]\nmemory = '2g'\npids_limit = 5\n") == 0);
    CHECK(config_size(config, "sandbox.memory", &number) && number == UINT64_C(3) << 30);
    CHECK_STR(origin_at("sandbox.memory"), "--memory");
    CHECK(config_number(config, "sandbox.pids_limit", &number) && number == 9);
    CHECK_STR(joined(config_items(config, "sandbox.blocked_paths")), "x y");
    CHECK(config_n_files(config) == 1);
}

TEST(a_flag_is_checked_like_a_file)
{
    begin();
    CHECK(config_add_flag(config, "--memory", "sandbox.memory", "lots", &findings) == -EINVAL);
    CHECK_STR(said(0), "--memory: error: sandbox.memory is 'lots', expected a size such as "
                       "\"512m\" or \"2g\" or \"none\"");
}

/* ---- network */

static enum config_network network_of(const char *system, const char *user)
{
    begin();
    CHECK(add(CONFIG_SYSTEM, "e", system) == 0);
    CHECK(add(CONFIG_USER, "u", user) == 0);
    return config_network(config, NULL);
}

TEST(three_keys_choose_the_network)
{
    CHECK(network_of("", "sandbox.allow_network = true") == CONFIG_NETWORK_HOST);
    CHECK(network_of("", "sandbox.isolate_network = false") == CONFIG_NETWORK_HOST);
    CHECK(network_of("", "sandbox.isolate_network = true") == CONFIG_NETWORK_NONE);
    CHECK(network_of("sandbox.network = 'gate'", "sandbox.allow_network = true") ==
          CONFIG_NETWORK_GATE);
    CHECK(network_of("sandbox.network = 'off'", "sandbox.allow_network = false") ==
          CONFIG_NETWORK_OFF);
    CHECK(network_of("sandbox.network = 'host'", "sandbox.allow_network = false") ==
          CONFIG_NETWORK_NONE);
    CHECK(network_of("sandbox.allow_network = true", "sandbox.network = 'off'") ==
          CONFIG_NETWORK_OFF);
    CHECK(network_of("sandbox.network = 'nat'", "sandbox.isolate_network = true") ==
          CONFIG_NETWORK_NAT);
    CHECK(network_of("sandbox.network = 'host'", "sandbox.isolate_network = true") ==
          CONFIG_NETWORK_NONE);
}

/* ---- mistakes */

TEST(mistakes_are_named_with_key_value_and_place)
{
    CHECK_STR(wrong("[sandbox]\nmemry = '1g'"),
              "f:2:1: error: unknown key 'memry' in sandbox; did you mean 'memory'?");
    CHECK_STR(wrong("[sandbx]\n"), "f:1:2: error: unknown key 'sandbx'; did you mean 'sandbox'?");
    CHECK_STR(
        wrong("sandbox.pids_limit = 0"),
        "f:1:22: error: sandbox.pids_limit is 0, expected a whole number above 0 or \"none\"; "
        "write \"none\" for no limit");
    CHECK_STR(wrong("sandbox.pids_limit = '7'"),
              "f:1:22: error: sandbox.pids_limit is '7', expected a whole number above 0 or "
              "\"none\"; write the number without quotes");
    CHECK_STR(wrong("sandbox.enabled = 'true'"),
              "f:1:19: error: sandbox.enabled is 'true', expected true or false; write it without "
              "quotes");
    CHECK_STR(wrong("sandbox.mode = 'requird'"),
              "f:1:16: error: sandbox.mode is 'requird', expected one of required, preferred, "
              "disabled; did you mean \"required\"?");
    CHECK_STR(wrong("sandbox.blocked_paths = 'x'"),
              "f:1:25: error: sandbox.blocked_paths is 'x', expected a list of paths; write it in "
              "brackets, also when it is one only");
    CHECK_STR(wrong("sandbox.blocked_paths = ['a\\u0000b']\n[[users]]\n"),
              "f:2:1: error: users[] has no 'name'; a unique name");
    CHECK_STR(wrong("sandbox.blocked_paths = [\"a\\u0000b\"]"),
              "f:1:26: error: sandbox.blocked_paths: 'a\\x00b' has a NUL character in it");
    CHECK_STR(wrong("sandbox = 3"), "f:1:11: error: sandbox is 3, expected a table");
    CHECK_STR(wrong("[users]\nname = 'x'"),
              "f:1:1: error: users is a table, expected a list of tables; write [[ ]] around its "
              "name");
    CHECK_STR(wrong("sandbox.cpus = nan"),
              "f:1:16: error: sandbox.cpus is nan, expected a number above 0 such as 1.5 or "
              "\"none\"");
    CHECK_STR(wrong("[groups]\n'' = 'inner'"), "f:2:1: error: a name in groups is empty");
    CHECK_STR(wrong("[sandbox]\nmounts = [{source = '/a', target = 'b'}]"),
              "f:2:36: error: sandbox.mounts[].target: 'b' is relative: write it from '/'");
    CHECK_STR(wrong("[[users]]\nname='a'\ntrust='full'\nmatch=[]\nsandbox={enabled=true}"),
              "f:5:10: error: unknown key 'enabled' in users[].sandbox; coop-policy(5) lists the "
              "keys");
}

TEST(keys_that_contradict_each_other_are_mistakes)
{
    CHECK_STR(wrong("[sandbox]\nnetwork = 'host'\nallow_network = false"),
              "f:3:17: error: sandbox has network = \"host\" and allow_network = false, which "
              "contradict each other; write only 'network'");
    CHECK(strstr(wrong("[sandbox]\nallow_network = true\nisolate_network = true"), "contradict"));
    CHECK(strstr(wrong("[sandbox]\nnetwork = 'gate'\nisolate_network = false"), "contradict"));
    CHECK_STR(wrong("[sandbox]\nnetwork = 'gate'\n[network]\nmode = 'gate'"),
              "f:4:8: error: network.mode and sandbox.network (line 2) are the same key; write one "
              "of them");
    CHECK_STR(wrong("[commands.go]\nblocked = []\nsubcommand_restrictions = { blocked = [] }"),
              "f:3:39: error: commands.go has 'blocked' in two places");
    CHECK_STR(wrong("[[expect]]\nas = 'x'"), "f:1:1: error: expect[] has none of deny and allow");
}

TEST(several_mistakes_are_told_in_one_go)
{
    (void)wrong("[sandbox]\na = 1\nmemory = []\nmode = 3\n[b]\n");
    CHECK(findings.n_errors == 4);
}

TEST(secrets_are_in_no_message)
{
    static const char *const texts[] = {
        "[secrets]\nA = 'canary'",
        "[secrets.A]\nvalue = ['canary']",
        "secrets = 'canary'",
        "[secrets.A]\nvalue = 'canary'\nfrom = 'canary'",
        "[secrets.A]\nfile = \"canary\\n\"",
        "[secrets.A]\ncommand = ['canary', '']",
        "[secrets.A]\nvalue = \"canary\\u0000\"",
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        (void)wrong(texts[i]);
        CHECK(findings.n_errors > 0);
        for (size_t j = 0; j < findings.n; j++)
            CHECK(!strstr(said(j), "canary"));
    }
}

/* ---- forms */

static bool is_host(const char *rule)
{
    char text[128];

    (void)snprintf(text, sizeof text, "[network]\nallow = ['%s']", rule);
    begin();
    return add(CONFIG_USER, "f", text) == 0;
}

TEST(hosts_have_a_form)
{
    static const char *const good[] = { "example.org",
                                        "example.org:443",
                                        "*.example.org",
                                        "*.example.org:8080",
                                        "*",
                                        "localhost",
                                        "192.0.2.1",
                                        "192.0.2.0/24",
                                        "192.0.2.0/24:80",
                                        "2001:db8::1",
                                        "2001:db8::/32",
                                        "[2001:db8::1]:443",
                                        "xn--bcher-kva.example",
                                        "a_b.c" };
    static const char *const bad[] = { "",
                                       "https://example.org",
                                       "example.org:0",
                                       "example.org:65536",
                                       "example.org:http",
                                       "a..b",
                                       "-a.b",
                                       "a.*",
                                       "a*.b",
                                       "*.*.b",
                                       "a b",
                                       "192.0.2.0/33",
                                       "192.0.2.300",
                                       "2001:db8::/129",
                                       "[2001:db8::1",
                                       "[x]:1",
                                       "b\xc3\xbc.de",
                                       "a/b",
                                       "example.org:",
                                       ".a",
                                       "a." };

    for (size_t i = 0; i < COUNT(good); i++)
        CHECK(is_host(good[i]));
    for (size_t i = 0; i < COUNT(bad); i++)
        CHECK(!is_host(bad[i]));
}

TEST(expectations_have_a_form)
{
    static const char *const good[] = { "read ~/.ssh/id_rsa", "write src/",
                                        "exec /bin/ls",       "connect example.org:443",
                                        "env HOME",           "-- git push --force" };
    static const char *const bad[] = {
        "", "reed x", "read", "read ", "connect example.org", "env A=B", "-- ", "connect a b:1"
    };
    char text[128];

    for (size_t i = 0; i < COUNT(good); i++) {
        (void)snprintf(text, sizeof text, "[[expect]]\ndeny = '%s'", good[i]);
        begin();
        CHECK(add(CONFIG_USER, "f", text) == 0);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        (void)snprintf(text, sizeof text, "[[expect]]\nallow = '%s'", bad[i]);
        begin();
        CHECK(add(CONFIG_USER, "f", text) == -EINVAL);
    }
}

/* ---- scalars without a type, as YAML has them */

TEST(the_schema_gives_plain_scalars_their_type)
{
    static const struct {
        const char *key;
        const char *text;
        bool is_good;
    } cases[] = {
        { "sandbox.enabled", "true", true },  { "sandbox.enabled", "yes", false },
        { "sandbox.enabled", "no", false },   { "sandbox.pids_limit", "12", true },
        { "sandbox.pids_limit", "0", false }, { "sandbox.pids_limit", "1_0", false },
        { "sandbox.cpus", "1.5", true },      { "sandbox.memory", "2g", true },
        { "sandbox.workspace", "no", true },  { "sandbox.mode", "required", true },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        begin();
        CHECK((config_add_flag(config, "-", cases[i].key, cases[i].text, &findings) == 0) ==
              cases[i].is_good);
    }
    CHECK(config_add_flag(config, "-", "environment.campaign", "no", &findings) == 0);
    CHECK_STR(config_text(config, "environment.campaign"), "no");
}

TEST(paths_begin_at_home_or_at_the_base)
{
    auto_free char *path = NULL;
    auto_free char *home = NULL;
    auto_free char *relative = NULL;

    CHECK(setenv("HOME", "/home/u", 1) == 0);
    CHECK(config_expand_path("~/x", "/w", &path, NULL) == 0);
    CHECK_STR(path, "/home/u/x");
    CHECK(config_expand_path("~", "/w", &home, NULL) == 0);
    CHECK_STR(home, "/home/u");
    CHECK(config_expand_path("a/b", "/w", &relative, NULL) == 0);
    CHECK_STR(relative, "/w/a/b");
}

TEST(the_end)
{
    findings_done(&findings);
    config_free(config);
    config = NULL;
    CHECK(!config);
}
