#include "policy_text.h"

#include "base/cleanup.h"
#include "base/finding.h"
#include "config/node.h"
#include "config/toml/toml.h"
#include "test/check.h"

static const struct learn_places places = { .home = "/home/u" };

static void need(struct learn_needs *needs, enum need_kind kind, enum need_verdict verdict,
                 const char *what, uint64_t count)
{
    (void)learn_needs_add(
        needs,
        &(struct need){ .kind = kind,
                        .verdict = verdict,
                        .what = (char *)(uintptr_t)what,
                        .note = verdict == NEED_REFUSED ? (char *)(uintptr_t) "by a flag" : NULL,
                        .round = 1,
                        .count = count });
}

/* Written, and read again as the configuration reads it. */
static struct document *written(const struct learned *learned, const struct learn_needs *needs,
                                struct buffer *text)
{
    struct learned whole = *learned;
    struct learn_grants grants;
    struct findings findings = { 0 };
    struct document *document = NULL;

    CHECK(learn_collapse(needs, &places, NULL, NULL, &grants) == 0);
    whole.needs = needs;
    whole.grants = &grants;
    learn_write(&whole, text);
    learn_grants_done(&grants);
    CHECK(!text->failed);
    int r = toml_parse("f", text->data, text->length, &document, &findings);
    if (r < 0)
        printf("# not TOML:\n%s\n", text->data);
    CHECK(r == 0);
    findings_done(&findings);
    return document;
}

TEST(writes_what_was_learned_and_why)
{
    struct learn_needs needs = { 0 };
    auto_buffer struct buffer text = { 0 };

    need(&needs, NEED_EXECUTE, NEED_OPEN, "/opt/x/bin/t", 1);
    need(&needs, NEED_READ, NEED_OPEN, "/opt/x/lib/l", 3);
    need(&needs, NEED_READ, NEED_OPEN, "/etc/foo", 2);
    need(&needs, NEED_WRITE, NEED_OPEN, "/srv/out", 1);
    need(&needs, NEED_HOST, NEED_OPEN, "example.org:443", 2);
    need(&needs, NEED_NAME, NEED_OPEN, "example.org", 1);
    need(&needs, NEED_READ, NEED_SECRET, "/home/u/.ssh/id_rsa", 2);
    need(&needs, NEED_OTHER, NEED_REFUSED, "syscall mount", 1);
    document_free(written(
        &(struct learned){ .command = "t --all",
                           .outcome = "Proven.\n",
                           .limits = { [LEARN_MEMORY] = (uint64_t)4 << 30, [LEARN_PIDS] = 1024 } },
        &needs, &text));
    CHECK_STR(
        text.data,
        "# What this command needed, as observed by coop learn:\n"
        "#     t --all\n"
        "#\n"
        "# Proven.\n"
        "# This is a suggestion: read it, then use it with --config or in your own\n"
        "# configuration; see coop-policy(5).\n"
        "\n"
        "[sandbox]\n"
        "network = \"gate\"\n"
        "memory = \"4g\" # less was not enough; the default is \"2g\"\n"
        "pids_limit = 1024 # less was not enough; the default is 512\n"
        "extra_ro_paths = [\n"
        "    # read 2 times\n"
        "    \"/etc/foo\",\n"
        "    # read 3 times, executed once: /opt/x/bin/t, /opt/x/lib/l\n"
        "    \"/opt/x\",\n"
        "]\n"
        "extra_rw_paths = [\n"
        "    # written once\n"
        "    \"/srv/out\",\n"
        "]\n"
        "\n"
        "[network]\n"
        "allow = [\n"
        "    # connected to 2 times\n"
        "    \"example.org:443\",\n"
        "]\n"
        "\n"
        "# Also requested, but not allowed:\n"
        "#   secrets, recognised by their names: only with --with-secrets, and never for writing\n"
        "#     read /home/u/.ssh/id_rsa (2 times)\n"
        "#   denied by choice, or with no setting that would allow it\n"
        "#     syscall mount: by a flag\n");
    learn_needs_done(&needs);
}

/* Nothing but [sandbox] is in it, and that is empty. */
static bool is_empty(const struct document *document)
{
    const struct node_entry *first = document->root.table->first;

    return first && !first->next && !first->value.table->first;
}

TEST(hostile_names_stay_in_their_comment)
{
    static const char *const names[] = {
        "/a\nnetwork = \"host\"\n#", "/a\r[network]", "/\033[2Jx",
        "/a\342\200\250b",           "/\xff\xfe",     "/\x7f",
    };
    struct learn_needs needs = { 0 };
    auto_buffer struct buffer text = { 0 };

    for (size_t i = 0; i < COUNT(names); i++) {
        need(&needs, NEED_READ, NEED_UNSPELLABLE, names[i], 1);
        need(&needs, NEED_OTHER, NEED_SOCKET, names[i], 1);
    }
    struct document *document =
        written(&(struct learned){ .command = "sh -c 'a\nnetwork = \"host\"'", .outcome = NULL },
                &needs, &text);
    CHECK(is_empty(document));
    CHECK(!strchr(text.data, '\033') && !strchr(text.data, '\r'));
    document_free(document);
    learn_needs_done(&needs);
}

TEST(quotes_and_backslashes_are_read_as_they_were)
{
    struct learn_needs needs = { 0 };
    auto_buffer struct buffer text = { 0 };

    need(&needs, NEED_READ, NEED_OPEN, "/srv/q\"u\\n", 1);
    struct document *document = written(&(struct learned){ .command = "x" }, &needs, &text);
    const struct node *paths = node_get(node_get(&document->root, "sandbox"), "extra_ro_paths");
    CHECK(paths && paths->array->first);
    CHECK_STR(paths->array->first->string.bytes, "/srv/q\"u\\n");
    document_free(document);
    learn_needs_done(&needs);
}

TEST(long_lists_are_cut_and_counted)
{
    struct learn_needs needs = { 0 };
    auto_buffer struct buffer text = { 0 };
    char path[400];

    for (int i = 0; i < 100; i++) {
        (void)snprintf(path, sizeof path, "/srv/%0300d", i);
        need(&needs, NEED_READ, NEED_SECRET, path, 1);
    }
    needs.more = 7;
    document_free(written(&(struct learned){ .command = "x" }, &needs, &text));
    CHECK(strstr(text.data, "and 75 more\n"));
    CHECK(strstr(text.data, "# 7 more denials were counted"));
    CHECK(text.length < 8192);
    learn_needs_done(&needs);
}

TEST(a_trial_lets_names_be_looked_up_that_have_no_port_yet)
{
    struct learn_needs needs = { 0 };
    auto_buffer struct buffer trial = { 0 };
    auto_buffer struct buffer text = { 0 };

    need(&needs, NEED_NAME, NEED_OPEN, "example.org", 1);
    document_free(written(&(struct learned){ .command = "x", .is_trial = true }, &needs, &trial));
    document_free(written(&(struct learned){ .command = "x" }, &needs, &text));
    CHECK(strstr(trial.data, "\"example.org:1\""));
    CHECK(!strstr(text.data, "[network]") && !strstr(text.data, "gate"));
    CHECK(strstr(text.data, "#     look up example.org: no connection followed\n"));
    learn_needs_done(&needs);
}

TEST(what_is_hidden_in_a_directory_is_named)
{
    static const char *const hidden[] = { "/srv/app/.env" };
    struct learn_needs needs = { 0 };
    auto_buffer struct buffer text = { 0 };

    need(&needs, NEED_READ, NEED_OPEN, "/srv/app", 1);
    document_free(written(
        &(struct learned){ .command = "x", .hidden = hidden, .n_hidden = 1, .is_unsearched = true },
        &needs, &text));
    CHECK(strstr(text.data, "blocked_paths = [\n    \"/srv/app/.env\",\n]\n"));
    CHECK(strstr(text.data, "# CHECK BY HAND"));
    learn_needs_done(&needs);
}
