/* worlds: user */
#include "manifest.h"

#include <errno.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "test/check.h"

static const struct origin here = { "manifest", 0, 0 };

/* What is blocked after reading it, or why it was refused. */
static const char *outcome(const char *text)
{
    static char out[400];
    auto_error coop_error *err = NULL;
    auto_command_rules struct command_rules rules = { 0 };
    struct command_rule *rule = NULL;

    CHECK(command_rules_add(&rules, "fest", here, &rule, NULL) == 0);
    if (manifest_read(text, strlen(text), rule, here, &err) < 0) {
        (void)snprintf(out, sizeof out, "error: %s", coop_error_message(err));
        return out;
    }
    out[0] = '\0';
    for (size_t i = 0; i < rule->n_blocked; i++) {
        (void)snprintf(out + strlen(out), sizeof out - strlen(out), "[%s]", rule->blocked[i].text);
        CHECK_STR(rule->blocked[i].origin.name, "manifest");
    }
    CHECK(!rule->has_allowed);
    return out;
}

TEST(blocks_what_is_not_for_agents)
{
    CHECK_STR(outcome("{\"commands\": []}"), "");
    CHECK_STR(outcome("{\"commands\": {}}"), "");
    CHECK_STR(
        outcome("{\"commands\": [{\"name\": \"a\", \"agent\": false},"
                "{\"agent\": true, \"name\": \"b\"}, {\"name\": \"c d\", \"agent\": false}]}"),
        "[a][c d]");
    CHECK_STR(outcome("{\"commands\": {\"a\": false, \"b\": true, \"c\": {\"agent\": false},"
                      "\"d\": {\"agent\": true}}, \"other\": [1, 2]}"),
              "[a][c]");
}

TEST(nobody_guesses)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "[]", "error: it has no 'commands' that are a list or an object" },
        { "{}", "error: it has no 'commands' that are a list or an object" },
        { "{\"commands\": \"a\"}", "error: it has no 'commands' that are a list or an object" },
        { "{\"commands\": [{\"agent\": false}]}", "error: an entry of 'commands' has no 'name'" },
        { "{\"commands\": [\"a\"]}", "error: an entry of 'commands' has no 'name'" },
        { "{\"commands\": [{\"name\": 1, \"agent\": false}]}",
          "error: an entry of 'commands' has no 'name'" },
        { "{\"commands\": [{\"name\": \"a\"}]}", "error: the sub-command 'a' does not say whether "
                                                 "agents may use it: 'agent' is no true or "
                                                 "false" },
        { "{\"commands\": {\"a\": null}}", "error: the sub-command 'a' does not say whether agents "
                                           "may use it: 'agent' is no true or "
                                           "false" },
        { "{\"commands\": {\"a\\n\": 0}}", "error: the sub-command 'a\\n' does not say whether "
                                           "agents may use it: 'agent' is no true "
                                           "or false" },
        { "{", "error: line 1, column 2: the name of a member is expected, in quotes" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_STR(outcome(cases[i].text), cases[i].message);
    CHECK(strncmp(outcome("{\"commands\": {\"\": false}}"), "error: the sub-command ''", 25) == 0);
}
