/* worlds: user */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "config/approval.h"
#include "config/config.h"
#include "config/layers.h"
#include "config/toml/toml.h"
#include "test/check.h"

static struct document *parsed(const char *name, const char *text)
{
    auto_findings struct findings findings = { 0 };
    struct document *document = NULL;

    CHECK(toml_parse(name, text, strlen(text), &document, &findings) == 0);
    return document;
}

/* The project's text on top of the owner's; *asked: how many things it asks for. */
static struct config *layered(const char *owner_text, const char *text, struct findings *findings)
{
    struct config *config = config_new();

    CHECK(config);
    CHECK(config_add_document(config, CONFIG_USER, parsed("owner", owner_text), findings) == 0);
    CHECK(config_add_document(config, CONFIG_PROJECT, parsed("p", text), findings) == 0);
    return config;
}

static size_t n_asked(const char *owner_text, const char *text, char message[512])
{
    auto_findings struct findings findings = { 0 };
    auto_config struct config *config = layered(owner_text, text, &findings);
    struct config owner = layers_of_owner(config);

    project_narrow(&owner, config->layers[1], "/w", SEVERITY_ERROR, &findings);
    if (message)
        (void)snprintf(message, 512, "%s", findings.n ? findings.items[0].message : "");
    return findings.n;
}

#define S "[sandbox]\n"
#define N "[network]\n"
#define C "[commands]\nstrength = 'check'\n"

static const struct {
    const char *owner;
    const char *project;
    bool is_allowed;
} cases[] = {
    /* numbers: at most the owner's, or the default */
    { "", S "memory = '2g'", true },
    { "", S "memory = '2049m'", false },
    { S "memory = '4g'", S "memory = '4g'", true },
    { S "memory = '1g'", S "memory = '2g'", false },
    { S "memory = 'none'", S "memory = '99g'", true },
    { "", S "memory = 'none'", false },
    { "", S "pids_limit = 513", false },
    { "", S "pids_limit = 1", true },
    { "", S "cpus = 64", true }, /* the owner sets no limit */
    { S "cpus = 2", S "cpus = 2.5", false },
    { S "cpus = 2", S "cpus = 'none'", false },
    { S "timeout = '1m'", S "timeout = '61s'", false },
    { S "timeout = '1m'", S "timeout = 60", true },
    { "", S "tmp_size = '1g'", false },
    { S "open_files = 10", S "open_files = 11", false },
    { S "cpu_seconds = 10", S "cpu_seconds = 11", false },
    { S "file_size = '1m'", S "file_size = '2m'", false },
    { S "session_timeout = '1h'", S "session_timeout = '2h'", false },
    /* words and booleans: towards the stricter */
    { "", S "mode = 'preferred'", false },
    { S "mode = 'preferred'", S "mode = 'required'", true },
    { S "mode = 'preferred'", S "mode = 'disabled'", false },
    { "", S "profile = 'dev'", false },
    { S "profile = 'dev'", S "profile = 'default'", true },
    { "", S "allow_sockets = true", false },
    { S "allow_sockets = true", S "allow_sockets = false", true },
    { "", S "sockets = ['/run/a.sock']", false },
    { S "sockets = ['/run/a.sock', '/run/b.sock']", S "sockets = ['/run/b.sock']", true },
    { S "sockets = ['/run/a.sock']", S "sockets = ['/run/b.sock']", false },
    { "", S "isolate_pids = false", false },
    { "", S "readonly = true", true },
    { S "readonly = true", S "readonly = false", false },
    { "", "[network]\nrequire_sni = true\n", true },
    { "[network]\nrequire_sni = true\n", "[network]\nrequire_sni = false\n", false },
    /* a part of the workspace: of the owner's */
    { "", S "restrict = 'src'", true },
    { S "restrict = '/src'", S "restrict = 'src'", true },
    { S "restrict = 'src/'", S "restrict = '/src/a'", true },
    { S "restrict = 'src'", S "restrict = 'srca'", false },
    { S "restrict = 'src/a'", S "restrict = 'src'", false },
    { S "restrict = 'src'", S "restrict = '/'", false },
    { S "restrict = '/'", S "restrict = 'src'", true },
    { "", "[protect]\ndefaults = false", false },
    { "[protect]\ndefaults = false", "[protect]\ndefaults = true", true },
    { "", "[commands]\nstrength = 'enforce'", true },
    { C, "[commands]\nstrength = 'off'", false },
    { "", "audit = 'required'", true },
    { "", "audit = 'off'", false },
    { "audit = 'required'", "[audit]\nmode = 'on'", false },
    { "[audit]\nmode = 'off'", "audit = 'off'", true },
    { "", "[audit]\nsync = true", true },
    { "[audit]\nsync = true", "[audit]\nsync = false", false },
    { "", "[audit]\ndirectory = '/x'", false },
    { "", "[audit]\nmax_size = '1g'", false },
    { "", "[audit]\nmax_age = '1d'", false },
    { "[audit]\nkeep = 2", "[audit]\nkeep = 1", false },
    /* the network */
    { "", S "network = 'off'", true },
    { "", S "network = 'none'", true },
    { "", S "network = 'gate'", false },
    { "", S "network = 'host'", false },
    { "", S "allow_network = true", false },
    { "", S "allow_network = false", true },
    { "", S "isolate_network = false", false },
    { "", N "mode = 'nat'", false },
    { S "network = 'off'", S "network = 'none'", false },
    { S "network = 'off'", S "allow_network = false", true },
    { S "allow_network = true", S "network = 'nat'", true },
    { S "network = 'gate'", S "allow_network = true", true },
    { S "network = 'gate'", S "network = 'nat'", false },
    /* lists: fewer, or more of what is forbidden */
    { "", S "env_passthrough = ['EDITOR']", false },
    { S "env_passthrough = ['A', 'B']", S "env_passthrough = ['B']", true },
    { S "env_passthrough = ['A', 'B']", "[environment]\npass = ['C']", false },
    { "[environment]\npass = ['A']", S "env_passthrough = ['A']", true },
    { "", S "extra_rw_paths = ['/opt']", false },
    { "", S "extra_rw_paths = ['sub']", false }, /* it may be a link to elsewhere */
    { S "extra_rw_paths = ['/opt']", S "extra_rw_paths = []", true },
    { S "extra_rw_paths = ['/opt']", S "extra_ro_paths = ['/opt']", true },
    { S "extra_ro_paths = ['/opt']", S "extra_rw_paths = ['/opt']", false },
    { "", S "blocked_paths = ['x']", true },
    { "", "[protect]\ndeny = ['x']\nno_write = ['y']", true },
    { "", "[protect]\nallow = ['.env']", false },
    { "[protect]\nallow = ['.env', 'x']", "[protect]\nallow = ['x']", true },
    { "", "[protect]\nignore_case = true", false },
    { "", N "allow = ['example.org']", false },
    { S "network = 'gate'\n" N "allow = ['a.org', 'b.org']", N "allow = ['a.org']", true },
    { S "network = 'gate'\n" N "allow = ['a.org']", N "allow = ['b.org']", false },
    { S "network = 'host'", S "network = 'gate'\n" N "allow = ['b.org']", true },
    { S "network = 'host'\n" N "allow = ['a.org']", N "allow = ['b.org']", false },
    { S "network = 'nat'", S "network = 'gate'\n" N "allow = ['10.0.0.1']", false },
    { N "publish = ['80:80', '81:81']", N "publish = ['80:80']", true },
    { N "publish = ['80:80']", N "publish = ['81:80']", false },
    { "", N "deny = ['a.org']", true },
    /* mounts */
    { "", S "root = '.'", true },
    { "", S "root = '/w'", true },
    { "", S "root = '/'", false },
    { "", S "root = '/w/../etc'", false },
    { S "root = '/r'", S "root = '.'", false },
    { "", S "mounts = [{ source = '/a', target = '/b' }]", false },
    { S "mounts = [{ source = '/a', target = '/b' }]",
      S "mounts = [{ source = '/a', target = '/b', readonly = true }]", true },
    { S "mounts = [{ source = '/a', target = '/b', readonly = true }]",
      S "mounts = [{ source = '/a', target = '/b' }]", false },
    { S "mounts = [{ source = '/a', target = '/b' }]",
      S "mounts = [{ source = '/a', target = '/c' }]", false },
    { S "mounts = [{ source = '/a', target = '/b' }]", S "mounts = []", true },
    { "", S "workspace = '/'", false },
    { "", S "same_path = true", true },
    /* commands */
    { "", "[commands.go]\nallowed = ['build']", true }, /* everything may run */
    { C, "[commands.go]\nallowed = ['build']", false },
    { C, "[commands.git]\nblocked = ['push']", true },
    { C "defaults = false", "[commands.git]\nblocked = ['push']", false },
    { C "[commands.go]\n", "[commands.go]\nallowed = ['build']", true },
    { C "[commands.go]\nallowed = ['build']", "[commands.go]\nallowed = ['build', 'run']", false },
    { C "[commands.go]\nallowed = ['build']",
      "[commands.go.subcommand_restrictions]\nallowed = ['run']", false },
    { C "[commands.go]\nmanifest = true", "[commands.go]\nmanifest = false", false },
    { C "[commands.go]\n", "[commands.go]\nmanifest = true", true },
    { C "[commands.go]\n", "[commands.go]\nneeds = ['sh']", false },
    { C "[commands.go]\nneeds = ['sh', 'as']\n", "[commands.go]\nneeds = ['sh']", true },
    { C, "[commands]\ndefaults = false", false },
    /* who decides, and who pays */
    { "", S "enabled = true", false },
    { S "enabled = true", S "enabled = true", true },
    { "", "[[users]]\nname = 'a'\ntrust = 'owner'\nmatch = ['x:y']", false },
    { "", "[[cron]]\nname = 'a'\nuser = 'b'\ncommand = 'c'", false },
    { "", "[groups]\nfriends = 'owner'", false },
    { "", "[memory]\ndirectory = 'x'", false },
    { "", "[environment]\nprefix = 'X_'", false },
    { "", "[environment]\nprovider = 'p'", false },
    { "[environment]\nprovider = 'p'", "[environment]\nprovider = 'p'", true },
    { "", "[environment]\ncampaign = 'c'\nset = { A = 'b' }", true },
    { "", "[[expect]]\ndeny = 'read x'", true },
};

TEST(a_project_may_narrow_and_not_widen)
{
    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t n = n_asked(cases[i].owner, cases[i].project, NULL);

        if (n != !cases[i].is_allowed)
            printf("# owner: %s\n# project: %s\n", cases[i].owner, cases[i].project);
        CHECK(n == !cases[i].is_allowed);
    }
}

/* A rule that no case tries is a rule that nobody has seen at work. */
TEST(every_key_is_tried)
{
    for (const struct schema_row *row = schema_rows; row->path; row++) {
        bool is_tried = row->type == SCHEMA_TABLE || row->project == PROJECT_NEVER ||
                        strchr(row->path, '[') || row->project == PROJECT_FREE ||
                        *schema_key(row) == '*';

        for (size_t i = 0; i < COUNT(cases) && !is_tried; i++)
            is_tried = strstr(cases[i].project, schema_key(row)) != NULL;
        if (!is_tried)
            printf("# %s\n", row->path);
        CHECK(is_tried);
    }
}

TEST(the_sentence_names_key_wish_and_what_the_owner_says)
{
    char message[512];

    CHECK(n_asked(S "\nmemory = '1g'", S "memory = '2g'", message) == 1);
    CHECK_STR(message,
              "sandbox.memory asks for '2g', but the owner's configuration says '1g' (owner:3:10)");
    CHECK(n_asked("", S "allow_network = true", message) == 1);
    CHECK_STR(message, "sandbox.allow_network asks for true, the network \"host\", but the owner's "
                       "configuration gives \"none\" (built-in default)");
    CHECK(n_asked(C, "[commands.go]\n[commands.make]\n[commands.git]\n", message) == 2);
    CHECK_STR(message, "commands.go adds a command that the owner's configuration does not allow");
}

TEST(secrets_have_no_place_in_a_project)
{
    auto_findings struct findings findings = { 0 };
    auto_config struct config *config =
        layered("", "[secrets.A]\nvalue = 'canary'\n[providers.x]\nsecrets = ['A']\n", &findings);

    project_refuse(config->layers[1], &findings);
    CHECK(findings.n_errors == 2);
    CHECK_STR(findings.items[0].message, "[secrets] has no place in a project's file");
}

TEST(nor_have_credentials_be_they_deeper_in_it)
{
    auto_findings struct findings findings = { 0 };
    auto_config struct config *config = layered(
        "", "[network]\nproxy_env = true\n[network.credentials.a]\nhost = 'h'\nsecret = 's'\n",
        &findings);

    project_refuse(config->layers[1], &findings);
    CHECK(findings.n_errors == 1);
    CHECK_STR(findings.items[0].message, "[network.credentials] has no place in a project's file");
}

/* ---- overrides */

static const char overrides[] =
    "[[users]]\nname = 'bob'\ntrust = 'full'\nmatch = []\n"
    "sandbox = { memory = '1g', allow_network = false, env_passthrough = ['A'], blocked_paths = "
    "['b'] }\n"
    "[sandbox]\nnetwork = 'host'\nenv_passthrough = ['A', 'B']\nblocked_paths = ['a']\n";

static struct config *overridden(const char *text, struct findings *findings)
{
    struct config *config = layered(overrides, text, findings);
    struct config_items users = config_items(config, "users");
    struct config_value user;

    CHECK(config_items_next(&users, &user));
    struct config_value sandbox = config_child(&user, "sandbox");
    CHECK(config_override(config, &sandbox) == 0);
    return config;
}

TEST(overrides_stand_above_the_owner_and_below_the_project)
{
    auto_findings struct findings findings = { 0 };
    auto_config struct config *config =
        overridden(S "memory = '512m'\nblocked_paths = ['c']", &findings);
    uint64_t memory = 0;
    struct config_value item;

    CHECK(config_size(config, "sandbox.memory", &memory) && memory == 512 << 20);
    CHECK(config_network(config, NULL) == CONFIG_NETWORK_NONE);
    struct config_items items = config_items(config, "sandbox.blocked_paths");
    CHECK(config_items_next(&items, &item));
    CHECK_STR(config_value_text(&item), "b");
    CHECK(config_items_next(&items, &item));
    CHECK_STR(config_value_text(&item), "c");
    CHECK(!config_items_next(&items, &item));
}

TEST(a_project_does_not_lift_an_override)
{
    auto_findings struct findings findings = { 0 };
    auto_config struct config *config = overridden(
        S "memory = '2g'\nnetwork = 'nat'\nenv_passthrough = ['B']\npids_limit = 7", &findings);
    uint64_t number = 0;

    CHECK(config_size(config, "sandbox.memory", &number) && number == 1 << 30);
    CHECK(config_network(config, NULL) == CONFIG_NETWORK_NONE);
    CHECK(config_number(config, "sandbox.pids_limit", &number) && number == 7);
    struct config_items items = config_items(config, "sandbox.env_passthrough");
    struct config_value item;
    CHECK(config_items_next(&items, &item));
    CHECK_STR(config_value_text(&item), "A");
}

/* ---- files and approvals, in a directory of the test's own */

static char top[PATH_MAX];

static void put(const char *name, const char *text, mode_t mode)
{
    char path[PATH_MAX + 64];

    (void)snprintf(path, sizeof path, "%s/%s", top, name);
    (void)unlink(path);
    auto_close int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    CHECK(fchmod(fd, mode) == 0);
}

static void in_top(char out[PATH_MAX + 64], const char *name)
{
    (void)snprintf(out, PATH_MAX + 64, "%s/%s", top, name);
}

static void make_top(void)
{
    const char *tmp = getenv("TMPDIR");
    char path[PATH_MAX];
    char below[PATH_MAX + 64];

    if (*top)
        return;
    (void)snprintf(path, sizeof path, "%s/coop-project.XXXXXX", tmp ? tmp : "/tmp");
    CHECK(mkdtemp(path) && realpath(path, top));
    in_top(below, "w");
    CHECK(mkdir(below, 0700) == 0);
    in_top(below, "coop");
    CHECK(mkdir(below, 0700) == 0);
}

static int load(const char *state, struct config *config, struct findings *findings)
{
    char workspace[PATH_MAX + 64], none[PATH_MAX + 64], states[PATH_MAX + 64];

    in_top(workspace, "w");
    in_top(none, "none.toml");
    in_top(states, state);
    return config_load(
        config,
        &(struct config_request){
            .workspace = workspace, .system_file = none, .config_home = top, .state_home = states },
        findings);
}

/* The first message of loading, "" if all is well. */
static const char *loaded(const char *state)
{
    static char text[1024];
    auto_config struct config *config = config_new();
    auto_findings struct findings findings = { 0 };
    int r = load(state, config, &findings);

    (void)snprintf(text, sizeof text, "%s", findings.n ? findings.items[0].message : "");
    if ((r < 0) != (findings.n_errors > 0))
        return "(result and findings differ)";
    return text;
}

TEST(files_are_found_and_layered)
{
    auto_config struct config *config = config_new();
    auto_findings struct findings findings = { 0 };
    uint64_t memory = 0;

    make_top();
    put("coop/coop.toml", S "memory = '4g'\n", 0644);
    put("w/coop.toml", S "memory = '3g'\n", 0666);
    CHECK(load("state", config, &findings) == 0);
    CHECK(findings.n == 0 && config_n_files(config) == 2);
    CHECK(config_size(config, "sandbox.memory", &memory) && memory == UINT64_C(3) << 30);
}

TEST(who_may_write_a_file_matters)
{
    make_top();
    put("w/coop.toml", "", 0600);
    put("coop/coop.toml", "", 0602);
    CHECK_STR(loaded("state"), "others can write this file, and with it decide what is allowed");
    put("coop/coop.toml", "[secrets.A]\nvalue = 'canary'\n", 0640);
    CHECK_STR(loaded("state"),
              "secrets are refused in a file that others can read or write (its mode is 0640)");
    put("coop/coop.toml", "[secrets.A]\nvalue = 'canary'\n", 0600);
    CHECK_STR(loaded("state"), "");
    put("coop/coop.toml", "[secrets.A]\nvalue = canary\n", 0600);
    CHECK_STR(loaded("state"), "this cannot be read; it is about secrets, so it is not shown");
    put("coop/coop.toml", "", 0600);
}

TEST(a_project_has_one_file_and_no_links)
{
    char target[PATH_MAX + 64], path[PATH_MAX + 64];

    make_top();
    put("w/coop.toml", "", 0600);
    put("w/Coopfile", "", 0600);
    CHECK_STR(loaded("state"), "there is a coop.toml beside this file");
    in_top(path, "w/Coopfile");
    CHECK(unlink(path) == 0);
    in_top(path, "w/coop.toml");
    in_top(target, "coop/coop.toml");
    CHECK(unlink(path) == 0 && symlink(target, path) == 0);
    CHECK_STR(
        loaded("state"),
        "a symbolic link leads to this file; a project's file must lie in the workspace itself");
    CHECK(unlink(path) == 0 && mkdir(path, 0700) == 0);
    CHECK_STR(loaded("state"), "cannot be read: it is a directory, not a regular file");
    CHECK(rmdir(path) == 0 && mkfifo(path, 0600) == 0);
    CHECK_STR(loaded("state"), "cannot be read: it is a FIFO, not a regular file");
    CHECK(unlink(path) == 0);
    CHECK_STR(loaded("state"), "");
}

static void approve(const char *state)
{
    auto_config struct config *config = config_new();
    auto_findings struct findings findings = { 0 };
    auto_free char *store = NULL;
    char states[PATH_MAX + 64];

    in_top(states, state);
    (void)load(state, config, &findings);
    struct config_file_info info = config_file_info(config, config_n_files(config) - 1);
    CHECK(approval_store(states, NULL, &store, NULL) == 0);
    CHECK(approval_give(store, info.digest, info.path, NULL) == 0);
}

TEST(an_approval_lasts_until_the_file_changes)
{
    char path[PATH_MAX + 64], states[PATH_MAX + 64];
    auto_free char *store = NULL;
    size_t n = 0;

    make_top();
    put("w/coop.toml", S "memory = '9g'\n", 0600);
    CHECK(strstr(loaded("state"), "asks for '9g'"));
    approve("state");
    CHECK_STR(loaded("state"), "");
    put("w/coop.toml", S "memory = '9g' \n", 0600);
    CHECK(strstr(loaded("state"), "asks for '9g'"));
    put("w/coop.toml", S "memory = '9g'\n", 0600);
    CHECK_STR(loaded("state"), "");
    in_top(path, "w/coop.toml");
    in_top(states, "state");
    CHECK(approval_store(states, NULL, &store, NULL) == 0);
    CHECK(approval_revoke(store, path, &n, NULL) == 0 && n == 1);
    CHECK(strstr(loaded("state"), "asks for '9g'"));
    CHECK(approval_revoke(store, path, &n, NULL) == 0 && n == 0);
}

TEST(an_approval_counts_only_where_others_cannot_write_it)
{
    char store[PATH_MAX + 64];

    make_top();
    put("w/coop.toml", S "memory = '9g'\n", 0600);
    approve("state");
    in_top(store, "state/coop/allowed");
    CHECK(chmod(store, 0770) == 0);
    CHECK(strstr(loaded("state"), "others have a part in"));
    CHECK(chmod(store, 0700) == 0);
    CHECK_STR(loaded("state"), "");
    approve("w/state");
    CHECK(strstr(loaded("w/state"), "lies in the workspace"));
}

TEST(an_approval_lets_no_secrets_through)
{
    make_top();
    put("w/coop.toml", S "memory = '9g'\n[secrets.A]\nvalue = 'x'\n", 0600);
    approve("state");
    CHECK_STR(loaded("state"), "[secrets] has no place in a project's file");
}

TEST(what_was_made_is_removed)
{
    char command[PATH_MAX + 32];

    make_top();
    (void)snprintf(command, sizeof command, "rm -rf '%s'", top);
    CHECK(system(command) == 0);
}
