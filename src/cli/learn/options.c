/*
 * options.c - what the owner says to coop learn, and where things are
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/learn/learn.h"
#include "config/home.h"
#include "policy/view/place.h"

#define MOST_ROUNDS 100

static int bad(coop_error **err, const char *value, const char *expected)
{
    return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "bad value '%s': expected %s", value,
                     expected);
}

static int set_rounds(void *context, const char *value, coop_error **err)
{
    char *end;
    long n = strtol(value, &end, 10);

    if (*end || end == value || n < 1 || n > MOST_ROUNDS)
        return bad(err, value, "a number from 1 to 100");
    ((struct learning *)context)->max_rounds = (unsigned)n;
    return 0;
}

static int add_given(const char **list, size_t *n, const char *value, coop_error **err)
{
    if (*n == LEARN_GIVEN_MAX)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, E2BIG, "more than %d are given",
                         LEARN_GIVEN_MAX);
    if (!learn_is_spellable(value))
        return bad(err, value, "printable characters");
    list[(*n)++] = value;
    return 0;
}

static int add_allow(void *context, const char *value, coop_error **err)
{
    struct learning *learning = context;

    return add_given(learning->allow, &learning->n_allow, value, err);
}

static int add_env_pass(void *context, const char *value, coop_error **err)
{
    struct learning *learning = context;

    return add_given(learning->env_pass, &learning->n_env_pass, value, err);
}

#define SET_TEXT(field)                                                        \
    static int set_##field(void *context, const char *value, coop_error **err) \
    {                                                                          \
        (void)err;                                                             \
        ((struct learning *)context)->field = value;                           \
        return 0;                                                              \
    }
SET_TEXT(workspace)
SET_TEXT(timeout)
SET_TEXT(output)
SET_TEXT(shell_text)

#define SET_FLAG(name, field)                                           \
    static int name(void *context, const char *value, coop_error **err) \
    {                                                                   \
        (void)value;                                                    \
        (void)err;                                                      \
        ((struct learning *)context)->field = true;                     \
        return 0;                                                       \
    }
SET_FLAG(set_no_prove, no_prove)
SET_FLAG(set_home, use_home)
SET_FLAG(set_same_path, same_path)
SET_FLAG(set_quiet, quiet)
SET_FLAG(set_secrets, places.consent.secrets)
SET_FLAG(set_writes, places.consent.writes)
SET_FLAG(set_network, places.consent.network)

static int set_dotfiles(void *context, const char *value, coop_error **err)
{
    ((struct learning *)context)->places.consent.dotfiles = true;
    return set_home(context, value, err); /* where else would it look for them? */
}

/* clang-format off */
const struct command_option learn_options[] = {
    { "output", 'o', "FILE", "write the policy to this file (default: standard output)", set_output },
    { "workspace", 'w', "DIR", "directory that the command may change (default: the current one)", set_workspace },
    { "same-path", 0, NULL, "show the workspace at its own path instead of /work", set_same_path },
    { "home", 0, NULL, "set HOME to your own, to see what the command looks for there", set_home },
    { "with-dotfiles", 0, NULL, "allow reading dotfiles in your home directory; implies --home", set_dotfiles },
    { "with-secrets", 0, NULL, "allow reading files that look like secrets", set_secrets },
    { "with-writes", 0, NULL, "allow writing outside the workspace", set_writes },
    { "with-network", 0, NULL, "allow connecting to hosts on the internet", set_network },
    { "allow", 0, "HOST[:PORT]", "allow a host from the start, for example github.com:443; see coop-policy(5)", add_allow },
    { "env-pass", 0, "NAME", "pass on a variable of the caller, if it is set", add_env_pass },
    { "rounds", 0, "N", "run at most N rounds (default: 10)", set_rounds },
    { "no-prove", 0, NULL, "do not run it once more to prove the policy", set_no_prove },
    { "timeout", 0, "DURATION", "end a run after this time, and stop there", set_timeout },
    { "command", 'c', "TEXT", "run TEXT with /bin/sh", set_shell_text },
    { "quiet", 'q', NULL, "print no messages unless something fails", set_quiet },
    { "help", 'h', NULL, "show this help" },
    { 0 },
};
/* clang-format on */

/* ---- what is where */

static void add_own(struct learning *learning, char *path)
{
    if (path && learning->places.n_own < LEARN_PRIVATE_MAX) {
        learning->own[learning->places.n_own] = path;
        learning->places.own[learning->places.n_own++] = path;
    }
}

int learn_find_places(struct learning *learning, coop_error **err)
{
    static const char *const homes[][2] = { { "XDG_CONFIG_HOME", ".config/coop" },
                                            { "XDG_STATE_HOME", ".local/state/coop" },
                                            { "XDG_DATA_HOME", ".local/share/coop" },
                                            { "XDG_CACHE_HOME", ".cache/coop" } };
    const char *home = getenv("HOME");

    learning->home = home && *home == '/' ? realpath(home, NULL) : NULL;
    learning->workspace_path = realpath(learning->workspace ? learning->workspace : ".", NULL);
    if (!learning->workspace_path)
        return fail(err, errno, "open the workspace '%s'", learning->workspace);
    learning->places.home = learning->home;
    learning->places.workspace = learning->workspace_path;
    learning->view = learning->same_path ? learning->workspace_path : VIEW_WORKSPACE;
    add_own(learning, strdup("/etc/coop"));
    add_own(learning, strdup("/var/log/coop"));
    add_own(learning, strdup("/var/lib/coop"));
    if (learning->usual.audit.directory)
        add_own(learning, strdup(learning->usual.audit.directory));
    for (size_t i = 0; i < COUNT(homes); i++) {
        char *path = NULL;
        const char *variable = getenv(homes[i][0]);
        bool is_set = variable && *variable == '/';
        int r = home_directory(NULL, homes[i][0], homes[i][1], &path, err);

        if (r < 0)
            return r;
        if (path && is_set) {
            char *longer = NULL;

            if (asprintf(&longer, "%s/coop", path) < 0)
                longer = NULL;
            free(path);
            path = longer;
        }
        add_own(learning, path);
    }
    return 0;
}
