/* worlds: user */
#include "git_config/git_config.h"

#include <errno.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "git_config/redact.h"
#include "git_config/review.h"
#include "test/check.h"

/* ---- the reader */

/* "section.name=value" for each entry, "section.name" where there is none, separated by '|'. */
static void listed(const char *text, char *out, size_t room)
{
    auto_git_config struct git_config config = { 0 };
    auto_buffer struct buffer list = { 0 };

    CHECK(git_config_parse(text, strlen(text), &config, NULL) == 0);
    for (size_t i = 0; i < config.n; i++) {
        const struct git_config_item *item = &config.items[i];

        if (item->kind != GIT_CONFIG_ENTRY)
            continue;
        buffer_printf(&list, "%s%s%s%s", list.length ? "|" : "", item->section,
                      *item->section ? "." : "", item->name);
        if (item->value)
            buffer_printf(&list, "=%s", item->value);
    }
    CHECK(!list.failed && list.length < room);
    (void)strcpy(out, list.data ? list.data : "");
}

TEST(reads_what_git_reads)
{
    static const struct {
        const char *text;
        const char *entries;
    } rows[] = {
        { "", "" },
        { "\n\n", "" },
        { "[core]\n", "" },
        { "[core]\n\tbare = false\n", "core.bare=false" },
        { "[core]bare=false", "core.bare=false" },
        { "[Core]\nFileMode=TRUE", "core.filemode=TRUE" },
        { "[a \"B c\"]\nk=v", "a.B c.k=v" },
        { "[a.B]\nk=v", "a.b.k=v" },
        { "[a.B \"C\"]\nk=v", "a.b.C.k=v" },
        { "[a \"x\\\"y\\\\z\\n\"]\nk=v", "a.x\"y\\zn.k=v" },
        { "[a \"\"]\nk=v", "a..k=v" },
        { "[a   \t \"b\"]\nk=v", "a.b.k=v" },
        { "[a]\nk\n", "a.k" },
        { "[a]\nk", "a.k" },
        { "[a]\nk =\n", "a.k=" },
        { "[a]\nk = \"\"\n", "a.k=" },
        { "k=v\n", "k=v" },
        { "[a]\nk =  v  w  \n", "a.k=v  w" },
        { "[a]\nk = \" v \" \n", "a.k= v " },
        { "[a]\nk = v # c\n", "a.k=v" },
        { "[a]\nk = v ; c\n", "a.k=v" },
        { "[a]\nk = \"v # c\"\n", "a.k=v # c" },
        { "[a]\nk = a\"b c\"d\n", "a.k=ab cd" },
        { "[a]\nk = a\\\n  b\n", "a.k=a  b" },
        { "[a]\nk = a\\\r\nb\r\n", "a.k=ab" },
        { "[a]\nk = \\t\\b\\n\\\\\\\"\n", "a.k=\t\b\n\\\"" },
        { "[a]\nk = v \\", "a.k=v " },
        { "# c\n; d\n[a] # e\nk=v\n", "a.k=v" },
        { "[a]\n# c \\\nk=v\n", "a.k=v" },
        { "\xEF\xBB\xBF[a]\nk=v\n", "a.k=v" },
        { "[a]k=v\n[b]k=w\n[a]k=x", "a.k=v|b.k=w|a.k=x" },
        { "[a][b] k=v", "b.k=v" },
        { "[ \"x\"]\nk=v", ".x.k=v" },
        { "[.]\nk=v", "..k=v" },
        { "[a]\nk-2=v", "a.k-2=v" },
        { "[a]\n  \r\n k=v\r\n", "a.k=v" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char out[200];

        listed(rows[i].text, out, sizeof out);
        CHECK_STR(out, rows[i].entries);
    }
}

TEST(refuses_what_git_refuses_and_names_the_line)
{
    static const struct {
        const char *text;
        const char *message;
    } rows[] = {
        { "[a", "line 1: a section's name" },
        { "\n[a\n]", "line 2: a section's name" },
        { "[a_b]", "line 1: a section's name" },
        { "[]\nk=v", "line 1: a section's name" },
        { "[a b]", "line 1: a sub-section is not in quotes" },
        { "[a \"b]\n", "line 1: the section's header ends" },
        { "[a \"b\\\n\"]\n", "line 1: the section's header ends" },
        { "[a \"b\" ]", "line 1: the quotes of a sub-section" },
        { "[a]\nk v\n", "line 2: a name is followed by" },
        { "[a]\nk # c\n", "line 2: a name is followed by" },
        { "[a]\nk_2 = v\n", "line 2: a name is followed by" },
        { "[a]\n2k = v\n", "line 2: a line begins with" },
        { "[a]\nk = \"v\n", "line 2: the quotes are not closed" },
        { "[a]\nk = \"v\\\nw\n", "line 3: the quotes are not closed" },
        { "[a]\nk = \\x\n", "line 2: there is no such escape" },
        { "[a]\n\nk = a\\\n\\q\n", "line 4: there is no such escape" },
        { "\xEF\xBB[a]", "line 1: there is half a byte order mark" },
        { "[a]\n=v", "line 2: a line begins with" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct git_config config;
        auto_error coop_error *err = NULL;

        CHECK(git_config_parse(rows[i].text, strlen(rows[i].text), &config, &err) == -EINVAL);
        if (strncmp(coop_error_message(err), rows[i].message, strlen(rows[i].message)) != 0)
            CHECK_STR(coop_error_message(err), rows[i].message);
    }
}

TEST(places_of_raw_values_are_known)
{
    const char *text = "[url \"a\\\"b\"] # one\nk = \"x\\ty\" ; two\n\tn\n";
    auto_git_config struct git_config config = { 0 };
    static const struct {
        enum git_config_kind kind;
        unsigned line;
        const char *raw;
    } rows[] = {
        { GIT_CONFIG_HEADER, 1, "a\\\"b" },   { GIT_CONFIG_COMMENT, 1, " one" },
        { GIT_CONFIG_ENTRY, 2, "\"x\\ty\"" }, { GIT_CONFIG_COMMENT, 2, " two" },
        { GIT_CONFIG_ENTRY, 3, "" },
    };

    CHECK(git_config_parse(text, strlen(text), &config, NULL) == 0);
    CHECK(config.n == COUNT(rows));
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct git_config_item *item = &config.items[i];

        CHECK(item->kind == rows[i].kind && item->line == rows[i].line);
        CHECK(item->end - item->begin == strlen(rows[i].raw));
        CHECK(memcmp(text + item->begin, rows[i].raw, strlen(rows[i].raw)) == 0);
    }
}

TEST(large_and_hostile_files_are_bounded)
{
    struct git_config config = { 0 };
    auto_free char *big = malloc(GIT_CONFIG_SIZE_MAX + 1);

    CHECK(big);
    memset(big, '\n', GIT_CONFIG_SIZE_MAX + 1);
    CHECK(git_config_parse(big, GIT_CONFIG_SIZE_MAX + 1, &config, NULL) == -EFBIG);
    CHECK(git_config_parse(big, GIT_CONFIG_SIZE_MAX, &config, NULL) == 0);
    git_config_done(&config);
    for (size_t i = 0; i < GIT_CONFIG_SIZE_MAX; i += 2)
        big[i] = 'k';
    CHECK(git_config_parse(big, GIT_CONFIG_SIZE_MAX, &config, NULL) == -EINVAL);
    memset(big, 'k', GIT_CONFIG_SIZE_MAX);
    big[0] = '[';
    big[GIT_CONFIG_SIZE_MAX - 1] = ']';
    CHECK(git_config_parse(big, GIT_CONFIG_SIZE_MAX, &config, NULL) == -EINVAL);
    CHECK(git_config_parse("[a]\0", 4, &config, NULL) == -EINVAL);
    CHECK(git_config_parse(NULL, 0, &config, NULL) == 0 && config.n == 0);
    git_config_done(&config);
}

/* ---- redaction */

static void check_redacted(const char *text, const char *expected)
{
    auto_buffer struct buffer out = { 0 };
    bool has_redacted = false;

    CHECK(git_config_redact(text, strlen(text), &out, &has_redacted, NULL) == 0);
    CHECK_STR(out.data, expected ? expected : text);
    CHECK(has_redacted == (expected != NULL));
}

TEST(credentials_are_redacted_and_every_other_byte_kept)
{
    static const struct {
        const char *text;
        const char *expected; /* NULL: nothing to redact */
    } rows[] = {
        { "[a]\n\tk  =  v # c\r\n", NULL },
        { "[r]\nurl = https://host/p", NULL },
        { "[r]\nurl = https://host:8443/p@v2", NULL },
        { "[r]\nurl = git@host:p", NULL },
        { "[r]\nurl = ssh://git@host/p", NULL },
        { "[r]\nurl = git+ssh://git@host/p", NULL },
        { "[r]\nurl = ssh+git://git@host/p", NULL },
        { "[r]\nurl = https://[::1]:80/a@b", NULL },
        { "[r]\nurl = https://u:t@host/p # c\n", "[r]\nurl = https://REDACTED@host/p # c\n" },
        { "[r]\nurl = https://t@host/p", "[r]\nurl = https://REDACTED@host/p" },
        { "[r]\nurl = https://u:p@ss@host/p@q", "[r]\nurl = https://REDACTED@host/p@q" },
        { "[r]\nurl = https://u:p/ss@host/p", "[r]\nurl = https://REDACTED@host/p" },
        { "[r]\nurl = https://u:p'ss@host/p", "[r]\nurl = https://REDACTED@host/p" },
        { "[r]\nurl = ssh://u:p@host/p", "[r]\nurl = ssh://REDACTED@host/p" },
        { "[r]\nurl = \"https://u:t@host/p\"", "[r]\nurl = \"https://REDACTED@host/p\"" },
        { "[r]\nurl = \"https://u\":t@host/p", "[r]\nurl = \"https://REDACTED\"@host/p" },
        { "[r]\nurl = https://u:\"t\"@host/p", "[r]\nurl = https://REDACTED\"\"@host/p" },
        { "[r]\nurl = https://u:t\\\n\\\"x@h", "[r]\nurl = https://REDACTED@h" },
        { "[r]\nurl = https://\\\"u:t\\\\@h", "[r]\nurl = https://REDACTED@h" },
        { "[url \"https://\\\"u:t\\\\@h\"]", "[url \"https://REDACTED@h\"]" },
        { "# https://\\u:t\\@h", "# https://REDACTED@h" },
        { "[r]\nurl = ht\"tps\":/\"/u:t@h\"/", "[r]\nurl = ht\"tps\":/\"/REDACTED@h\"/" },
        { "[a]\nb = !curl https://a:b@c https://d:e@f",
          "[a]\nb = !curl https://REDACTED@c https://REDACTED@f" },
        { "[http]\nextraheader = AUTHORIZATION: basic x", "[http]\nextraheader = REDACTED" },
        { "[http \"https://h/\"]\nextraHeader = \"X: y\" # c",
          "[http \"https://h/\"]\nextraHeader = REDACTED # c" },
        { "[http]\nextraheader =\n", NULL },
        { "[url \"https://u:t@h/\"]\ninsteadOf = https://h/\n",
          "[url \"https://REDACTED@h/\"]\ninsteadOf = https://h/\n" },
        { "[credential]\nhelper = \"!echo password=x\"", "[credential]\nhelper = REDACTED" },
        { "[credential]\nhelper = store", NULL },
        { "[credential \"https://h\"]\nusername = me", NULL },
        { "[credential \"https://h\"]\npassword = x",
          "[credential \"https://h\"]\npassword = REDACTED" },
        { "[sendemail]\nsmtpPass = x", "[sendemail]\nsmtpPass = REDACTED" },
        { "[github]\noauth-token = x", "[github]\noauth-token = REDACTED" },
        { "[github]\ntoken", NULL },
        { "[user]\nsigningkey = ABCD", NULL },
        { "[http]\nproxy = http://u:p@proxy:1", "[http]\nproxy = http://REDACTED@proxy:1" },
        { "[http]\nproxy = u:p@proxy:1", "[http]\nproxy = REDACTED@proxy:1" },
        { "[http]\nproxy = proxy:1", NULL },
        { "# url = https://u:t@h/\n", "# url = https://REDACTED@h/\n" },
        { "[a]\nk=v ;password was x\n", "[a]\nk=v ;REDACTED\n" },
        { "[a]\nk = https://REDACTED@h", NULL },
        { "[lfs]\nurl = https://h/?private_token=x", "[lfs]\nurl = REDACTED" },
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        check_redacted(rows[i].text, rows[i].expected);
}

TEST(what_git_cannot_read_is_not_shown)
{
    auto_buffer struct buffer out = { 0 };
    auto_error coop_error *err = NULL;
    bool has_redacted;

    CHECK(git_config_redact("[a]\nk = \\x https://u:t@h", 24, &out, &has_redacted, &err) ==
          -EINVAL);
    CHECK(out.length == 0);
    CHECK(!strstr(coop_error_message(err), "u:t"));
}

/* ---- the gate */

#define BASE                                                                     \
    "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tpager = less\n" \
    "[remote \"origin\"]\n\turl = https://h/p\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n"

static int gate(const char *old, const char *new, const struct git_config_place *place,
                char message[300])
{
    auto_buffer struct buffer out = { 0 };
    auto_error coop_error *err = NULL;
    const struct git_config_place none = { 0 };
    int r =
        git_config_review(place ? place : &none, old, strlen(old), new, strlen(new), &out, &err);

    if (r == 0)
        CHECK_STR(out.data ? out.data : "", new);
    message[0] = '\0';
    if (err)
        (void)snprintf(message, 300, "%s", coop_error_message(err));
    return r;
}

static void check_added(const char *added, bool is_allowed, const struct git_config_place *place)
{
    auto_buffer struct buffer new = { 0 };
    char message[300];

    buffer_printf(&new, "%s%s", BASE, added);
    int r = gate(BASE, new.data, place, message);
    if (r != (is_allowed ? 0 : -EACCES)) {
        printf("# %s: %s\n", added, message);
        CHECK(r == (is_allowed ? 0 : -EACCES));
    }
    /* The way back is the same change; only a remote, once there, stays. */
    bool is_remote = strstr(added, "[remote") && strstr(added, "url =");
    CHECK(gate(new.data, BASE, place, message) == (is_remote ? -EACCES : r));
    if (!is_allowed || is_remote)
        CHECK(strstr(message, "may not be removed from inside a box"));
}

TEST(harmless_entries_may_come_and_go)
{
    static const char *const added[] = {
        "[user]\nname = A B\nemail = a@b\n",
        "[user]\nname = \"J\xC3\xBCrgen # 1\"\n",
        "[branch \"main\"]\nremote = origin\nmerge = refs/heads/main\n",
        "[branch \"a/b#c\"]\nremote = .\nmerge = refs/heads/x\nrebase = true\n",
        "[branch \"x\"]\ndescription = a\\nb\\n\n",
        "[remote \"fork\"]\nurl = git@host:me/p.git\nfetch = +refs/heads/*:refs/remotes/fork/*\n",
        "[remote \"a/b\"]\nurl = ssh://git@host:22/p\npushurl = https://u@h/p\n",
        "[remote \"origin\"]\ntagopt = --no-tags\n",
        "[remote \"v6\"]\nurl = ssh://git@[::1]/p\n",
        "[submodule \"lib/x\"]\nactive = true\nurl = https://h/x\n",
        "[submodule \"x\"]\nactive\nurl = /srv/git/x\nupdate = rebase\nbranch = .\n",
        "[submodule]\nactive = .\n",
        "[core]\nsparseCheckout = true\nsparseCheckoutCone = true\nautocrlf = input\n",
        "[extensions]\nworktreeConfig = true\n[core]\nrepositoryformatversion = 1\n",
        "[index]\nsparse = false\n",
        "[pull]\nrebase = true\n[push]\ndefault = current\nautoSetupRemote = true\n",
        "[merge]\nconflictstyle = zdiff3\n[diff]\nalgorithm = histogram\n",
        "[color]\nui = always\n[color \"diff\"]\nmeta = \"blue black bold\"\n",
        "[gc]\nauto = 0\n[maintenance]\nauto = false\nstrategy = incremental\n",
        "[feature]\nmanyFiles = true\n[advice]\ndetachedHead = false\n",
        "[blame]\nignoreRevsFile = .git-blame-ignore-revs\n",
        "[remote \"origin\"]\nfetch = +refs/heads/x:refs/remotes/origin/x\nprune = true\n",
        "# a comment\n\n[core]\n",
    };

    for (size_t i = 0; i < COUNT(added); i++)
        check_added(added[i], true, NULL);
}

/* The text that would be written; NULL: the gate refuses. */
static char *written(const char *old, const char *new, bool is_new)
{
    struct buffer out = { 0 };
    const struct git_config_place place = { .is_new = is_new, .local_urls = is_new };

    if (git_config_review(&place, old, strlen(old), new, strlen(new), &out, NULL) < 0)
        return NULL;
    if (!is_new)
        CHECK(git_config_mark_remotes(old, strlen(old), &out, NULL) == 0);
    return buffer_take_string(&out);
}

#define FORK   "[remote \"fork\"]\n\turl = https://evil/p\n"
#define FOLLOW "[branch \"main\"]\n\tremote = fork\n\tmerge = refs/heads/main\n"

TEST(a_branch_follows_only_remotes_of_the_owner)
{
    static const char *const choices[] = { FOLLOW,
                                           "[branch \"x\"]\npushRemote = fork\n",
                                           "[remote]\npushDefault = fork\n",
                                           "[branch \"main\"]\nremote = https://evil/p\n",
                                           "[branch \"main\"]\nremote = evil\n",
                                           "[branch \"main\"]\npushRemote = .\n" };

    auto_free char *added = written(BASE, BASE FORK, false);
    CHECK_STR(added, BASE FORK "[remote \"fork\"]\n\taddedByBox = true\n");
    for (size_t i = 0; i < COUNT(choices); i++) {
        auto_buffer struct buffer at_once = { 0 };
        auto_buffer struct buffer later = { 0 };

        buffer_printf(&at_once, "%s%s", BASE FORK, choices[i]);
        buffer_printf(&later, "%s%s", added, choices[i]);
        CHECK(!written(BASE, at_once.data, false));
        CHECK(!written(added, later.data, false)); /* nor in the next run */
    }
    CHECK(!written(added, BASE FORK, false)); /* the mark stays */
    CHECK(!written(BASE, BASE FORK "[remote \"fork\"]\naddedByBox = false\n", false));
    /* The owner's own are followed in each of the ways. */
    auto_free char *own = written(
        BASE FORK, BASE FORK FOLLOW "pushRemote = fork\n[remote]\npushDefault = fork\n", false);
    CHECK(own && !strstr(own, "addedByBox"));
    auto_free char *local = written(BASE, BASE "[branch \"x\"]\nremote = .\n", false);
    CHECK(local);
}

TEST(no_box_gives_a_repository_the_remote_that_git_chooses)
{
    static const char alone[] = "[core]\n\tbare = false\n";

    CHECK(!written(alone, "[core]\n\tbare = false\n" FORK, false));
    CHECK(!written("", FORK, false));
    CHECK(!written(FORK, FORK "[remote \"origin\"]\nurl = https://evil/p\n", false));
    /* In a repository of its own it does what clone does. */
    auto_free char *cloned = written("", FORK FOLLOW, true);
    CHECK_STR(cloned, FORK FOLLOW);
    auto_free char *local = written("", "[remote \"origin\"]\nurl = ../up\n", true);
    CHECK(local);
    CHECK(!written("", "[core]\nfsmonitor = x\n", true));
    CHECK(!written("", "[remote \"origin\"]\nurl = ext::x\n", true));
}

TEST(everything_else_may_not)
{
    static const char *const added[] = {
        "[core]\nhooksPath = /x\n",
        "[core]\nHOOKSPATH = /x\n",
        "[core]\nfsmonitor = true\n",
        "[core]\nfsmonitor = .git/x\n",
        "[core]\nsshCommand = x\n",
        "[core]\npager = x\n",
        "[core]\neditor = x\n",
        "[core]\naskPass = x\n",
        "[core]\ngitProxy = x\n",
        "[core]\nattributesFile = x\n",
        "[core]\nexcludesFile = x\n",
        "[core]\nworktree = ../../x\n",
        "[core]\nalternateRefsCommand = x\n",
        "[core]\nprotectNTFS = false\n",
        "[core]\nsharedRepository = 0666\n",
        "[core]\nrepositoryformatversion = 2\n",
        "[core \"\"]\nbare = true\n",
        "[core.x]\nbare = true\n",
        "[.]\nbare = true\n[ \"core\"]\nbare = true\n",
        "[alias]\nst = status\n",
        "[alias]\nst = !x\n",
        "[filter \"x\"]\nclean = x\n",
        "[filter \"x\"]\nprocess = x\n",
        "[diff \"x\"]\ntextconv = x\n",
        "[diff \"x\"]\ncommand = x\n",
        "[diff]\nexternal = x\n",
        "[merge \"x\"]\ndriver = x\n",
        "[merge]\ntool = x\n",
        "[difftool \"x\"]\ncmd = x\n",
        "[mergetool \"x\"]\npath = x\n",
        "[credential]\nhelper = x\n",
        "[credential \"https://h\"]\nusername = x\n",
        "[include]\npath = x\n",
        "[includeIf \"gitdir:/\"]\npath = x\n",
        "[url \"https://evil/\"]\ninsteadOf = https://h/\n",
        "[url \"https://evil/\"]\npushInsteadOf = https://h/\n",
        "[http]\nproxy = http://evil\n",
        "[http]\nsslVerify = false\n",
        "[http]\ncookieFile = x\n",
        "[http \"https://h\"]\nextraHeader = x\n",
        "[protocol]\nallow = always\n",
        "[protocol \"ext\"]\nallow = always\n",
        "[gpg]\nprogram = x\n",
        "[gpg \"ssh\"]\ndefaultKeyCommand = x\n",
        "[commit]\ngpgsign = false\n",
        "[user]\nsigningkey = x\n",
        "[pager]\nlog = x\n",
        "[man \"x\"]\ncmd = x\n",
        "[browser \"x\"]\ncmd = x\n",
        "[sendemail]\nsmtpServer = x\n",
        "[interactive]\ndiffFilter = x\n",
        "[sequence]\neditor = x\n",
        "[trailer \"x\"]\ncommand = x\n",
        "[uploadpack]\npackObjectsHook = x\n",
        "[receive]\ndenyCurrentBranch = ignore\n",
        "[gc]\nrecentObjectsHook = x\n",
        "[push]\ndefault = matching\n",
        "[push]\nrecurseSubmodules = on-demand\n",
        "[remote]\npushDefault = evil\n",
        "[remote \"x\"]\nuploadpack = x\n",
        "[remote \"x\"]\nreceivepack = x\n",
        "[remote \"x\"]\nvcs = x\n",
        "[remote \"x\"]\nproxy = x\n",
        "[remote \"x\"]\npush = :main\n",
        "[remote \"x\"]\nmirror = true\n",
        "[remote \"x\"]\npromisor = true\n",
        "[remote \"x\"]\ntagopt = --upload-pack=x\n",
        "[remote \"x\"]\nurl = ext::sh -c x\n",
        "[remote \"x\"]\nurl = foo::bar\n",
        "[remote \"x\"]\nurl = ::bar\n",
        "[remote \"x\"]\nurl = foo://bar\n",
        "[remote \"x\"]\nurl = -oProxyCommand=x\n",
        "[remote \"x\"]\nurl = ssh://-oProxyCommand=x/p\n",
        "[remote \"x\"]\nurl = ssh://%2doProxyCommand=x/p\n",
        "[remote \"x\"]\nurl = ssh://u@-oProxyCommand=x/p\n",
        "[remote \"x\"]\nurl = ssh://u@%2doProxyCommand=x/p\n",
        "[remote \"x\"]\nurl = ssh://%2doProxyCommand=x@h/p\n",
        "[remote \"x\"]\nurl = u@-oProxyCommand=x:p\n",
        "[remote \"x\"]\nurl = https:///p\n",
        "[remote \"x\"]\nurl = \"https://h/\\np\"\n",
        "[remote \"x\"]\nurl = /tmp/evil.git\n",
        "[remote \"x\"]\nurl = ./evil.git\n",
        "[remote \"x\"]\nurl = file:///tmp/evil.git\n",
        "[remote \"x\"]\nurl = \n",
        "[remote \"x\"]\nurl\n",
        "[remote \"https://h/p\"]\nurl = https://evil/\n",
        "[remote \"git@h:p\"]\nurl = https://evil/\n",
        "[remote \"../p\"]\nurl = https://evil/\n",
        "[remote \"/p\"]\nurl = https://evil/\n",
        "[remote \"-x\"]\nurl = https://evil/\n",
        "[remote \"x\"]\nfetch = --upload-pack=x\n",
        "[remote \"origin\"]\nurl = https://evil/\n",
        "[remote \"origin\"]\npushurl = https://evil/\n",
        "[remote.origin]\npushurl = https://evil/\n",
        "[branch \"x\"]\nremote = https://evil/\n",
        "[branch \"x\"]\nremote = ext::x\n",
        "[branch \"x\"]\nremote = ./evil\n",
        "[branch \"x\"]\nremote = ../evil\n",
        "[branch \"x\"]\nremote = -x\n",
        "[branch \"x\"]\npushRemote = other\n",
        "[branch \"x\"]\nmergeOptions = --strategy=x\n",
        "[branch \"x\"]\nmerge = -x\n",
        "[submodule \"x\"]\nupdate = !x\n",
        "[submodule \"x\"]\nurl = ext::x\n",
        "[submodule \"x\"]\nurl = -x\n",
        "[submodule \"../../x\"]\nurl = https://h/\n",
        "[submodule \"x\"]\nbranch = -x\n",
        "[submodule]\nrecurse = true\n",
        "[extensions]\npartialClone = x\n",
        "[user]\nname = \"a\\nb\"\n",
        "[blame]\nignoreRevsFile = ../x\n",
        "[lfs]\nurl = https://evil/\n",
        "[lfs \"customtransfer.x\"]\npath = x\n",
        "[unknown]\nkey = x\n",
    };

    for (size_t i = 0; i < COUNT(added); i++)
        check_added(added[i], false, NULL);
}

TEST(what_is_there_stays_and_keeps_its_order)
{
    static const struct {
        const char *old;
        const char *new;
        const char *message; /* NULL: passes */
    } rows[] = {
        { "[alias]\na=1\nb=2\n", "[alias]\na=1\n[user]\nname=x\n[alias]\nb=2\n", NULL },
        { "[alias]\na=1\nb=2\n", "[alias]\nb=2\na=1\n",
          "line 2: 'alias.a' may not be removed or moved from inside a box: an alias is a command "
          "that somebody else wrote" },
        { "[core]\npager=a\npager=b\n", "[core]\npager=b\n",
          "line 2: 'core.pager' may not be removed or moved from inside a box: git would run what "
          "it names" },
        { "[core]\npager=a\n", "[core]\npager=b\n",
          "line 2: 'core.pager' may not be set from inside a box: git would run what it names" },
        { "[include]\npath=a\n[core]\npager=b\n", "[core]\npager=b\n[include]\npath=a\n",
          "line 2: 'include.path' may not be removed or moved from inside a box: git would read "
          "the "
          "file it names as configuration" },
        { BASE, "[remote \"origin\"]\nurl = https://h/p\n[core]\npager = less\n",
          "line 4: 'core.pager' may not be removed or moved from inside a box: git would run what "
          "it names" },
        { BASE, "[core]\npager = less\n[remote \"origin\"]\nurl = https://evil/\n",
          "line 4: 'remote.origin.url' may not be set from inside a box: that remote already "
          "exists, and the owner's next push would go elsewhere" },
        { BASE, "[core]\npager = less\n",
          "line 6: 'remote.origin.url' may not be removed from inside a box: that remote already "
          "exists, and the owner's next push would go elsewhere" },
        { "[remote \"o\"]\nurl = ext::x\n", "[remote \"o\"]\nurl = ext::x\n[user]\nname = x\n",
          NULL },
        { "[remote \"o\"]\nfetch = x\n", "[remote \"o\"]\nfetch = x\nurl = https://h\n",
          "line 3: 'remote.o.url' may not be set from inside a box: the owner's next push would go "
          "there unasked" },
        { "[x]\ny\n", "[x]\ny =\n",
          "line 2: 'x.y' may not be set from inside a box: it is not among the keys that are known "
          "to be harmless" },
        { "", "[core]\nbare = false\n", NULL },
        { "[user]\nname = x\n", "", NULL },
        { "", "[a \"\x1b[31m\"]\nk = v\n", "the new configuration has a control character in it" },
        { "", "[user]\nname = x\ry\n", "the new configuration has a control character in it" },
        { "", "[user]\r\nname = x\r\n", NULL },
        { "", "[user\n",
          "read the new configuration: line 1: a section's name has something else "
          "than letters, digits, '-' and '.' in it, or no ']' behind it" },
        { "[a]\nk=\\x", "",
          "read the configuration that is there: line 2: there is no such escape: "
          "\\\\, \\\", \\n, \\t and \\b are all" },
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        char message[300];

        (void)gate(rows[i].old, rows[i].new, NULL, message);
        CHECK_STR(message, rows[i].message ? rows[i].message : "");
    }
}

TEST(a_submodule_has_rules_of_its_own)
{
    const struct git_config_place module = { .depth = 3, .local_urls = true, .is_new = true };

    check_added("[core]\nworktree = ../../../sub\n", true, &module);
    check_added("[core]\nworktree = ../../../a/b\n", true, &module);
    check_added("[core]\nworktree = ../../../../x\n", false, &module);
    check_added("[core]\nworktree = ../../sub\n", false, &module);
    check_added("[core]\nworktree = ../../../\n", false, &module);
    check_added("[core]\nworktree = ../../../a/../../x\n", false, &module);
    check_added("[core]\nworktree = ../../..//x\n", false, &module);
    check_added("[core]\nworktree = /x\n", false, &module);
    check_added("[core]\nworktree = ../../../.GIT/hooks\n", false, &module);
    check_added("[remote \"x\"]\nurl = /srv/git/x\n", true, &module);
    check_added("[remote \"x\"]\nurl = file:///srv/git/x\n", true, &module);
    check_added("[remote \"x\"]\nurl = ext::x\n", false, &module);
    check_added("[remote \"x\"]\nurl = file::x\n", false, &module);
}

TEST(a_refusal_shows_no_value)
{
    char message[300];

    CHECK(gate("", "[http]\nextraheader = canary\n", NULL, message) == -EACCES);
    CHECK(!strstr(message, "canary"));
    CHECK(gate("", "[remote \"x\"]\nurl = ext::canary\n", NULL, message) == -EACCES);
    CHECK(!strstr(message, "canary"));
}

/* ---- both together */

#define SECRET                                                                                    \
    "# old: https://u:one@h/\n[remote \"origin\"]\n\turl = \"https://u:two@h/p\" # token three\n" \
    "[url \"https://four@h/\"]\n\tinsteadOf = x\n[http]\n\textraheader = A: five\n"

static int gate_secret(const char *from, const char *to, struct buffer *out)
{
    auto_buffer struct buffer view = { 0 };
    auto_buffer struct buffer changed = { 0 };
    const struct git_config_place none = { 0 };
    bool has_redacted = false;

    CHECK(git_config_redact(SECRET, strlen(SECRET), &view, &has_redacted, NULL) == 0);
    CHECK(has_redacted);
    CHECK(!strstr(view.data, "one") && !strstr(view.data, "two") && !strstr(view.data, "three") &&
          !strstr(view.data, "four") && !strstr(view.data, "five"));
    char *at = strstr(view.data, from);
    CHECK(at);
    buffer_append(&changed, view.data, (size_t)(at - view.data));
    buffer_append_string(&changed, to);
    buffer_append_string(&changed, at + strlen(from));
    return git_config_review(&none, SECRET, strlen(SECRET), changed.data, changed.length, out,
                             NULL);
}

TEST(credentials_are_put_back_where_they_were)
{
    auto_buffer struct buffer out = { 0 };

    CHECK(gate_secret("[http]", "[user]\n\tname = x\n[http]", &out) == 0);
    CHECK_STR(out.data,
              "# old: https://u:one@h/\n[remote \"origin\"]\n\turl = \"https://u:two@h/p\" # token "
              "three\n[url \"https://four@h/\"]\n\tinsteadOf = x\n[user]\n\tname = x\n[http]\n"
              "\textraheader = A: five\n");
}

TEST(and_nowhere_else)
{
    auto_buffer struct buffer out = { 0 };

    CHECK(gate_secret("@h/p", "@evil/p", &out) == -EACCES);
    CHECK(gate_secret("[http]", "[http \"https://evil\"]", &out) == -EACCES);
    CHECK(gate_secret("[url \"https://REDACTED@h", "[url \"https://REDACTED@evil", &out) ==
          -EACCES);
    CHECK(gate_secret("[http]", "[remote \"n\"]\nurl = https://REDACTED@evil\n[http]", &out) ==
          -EACCES);
    CHECK(gate_secret("# old", "# new", &out) == -EACCES);
    CHECK(gate_secret("REDACTED@h/p", "u:two@h/p", &out) == -EACCES);
    CHECK(out.length == 0);
}
