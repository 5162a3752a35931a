#include "schema.h"

#include <string.h>

static const char *const modes[] = { "required", "preferred", "disabled", NULL };
static const char *const networks[] = { "off", "none", "gate", "nat", "host", NULL };
static const char *const profiles[] = { "default", "dev", NULL };
static const char *const strengths[] = { "enforce", "check", "off", NULL };
static const char *const audits[] = { "required", "on", "off", NULL };
static const char *const trusts[] = { "public", "familiar", "inner", "full", "owner", NULL };

#define LIST     SCHEMA_LIST
#define REQUIRED SCHEMA_REQUIRED
#define NONE     SCHEMA_NONE
#define STRICT   SCHEMA_STRICT_TRUE
#define OWN      SCHEMA_NO_OVERRIDE
#define SECRET   SCHEMA_SECRET

/* clang-format off */
const struct schema_row schema_rows[] = {
    /* [sandbox]: first, because every start asks for these */
    { "sandbox", SCHEMA_TABLE, PROJECT_FREE, 0, NULL, "the box that commands run in" },
    { "sandbox.enabled", SCHEMA_BOOL, PROJECT_SAME, OWN, "false",
      "run the tools of everybody but the owner in a box; coop run without --as always does" },
    { "sandbox.mode", SCHEMA_WORD, PROJECT_STRICTER, 0, "required",
      "what to do where the host cannot enforce everything: refuse, run with what there is, or run on the host", modes },
    { "sandbox.network", SCHEMA_WORD, PROJECT_NETWORK, 0, "none",
      "off: no sockets but AF_UNIX; none: a private loopback; gate: only the hosts of [network]; nat: outgoing connections; host: the host's own network",
      networks, .also = "network.mode" },
    { "sandbox.allow_network", SCHEMA_BOOL, PROJECT_NETWORK, 0, "false",
      "true is short for network = \"host\", false for network = \"none\"" },
    { "sandbox.isolate_network", SCHEMA_BOOL, PROJECT_NETWORK, 0, "true",
      "false is another way to write network = \"host\"" },
    { "sandbox.isolate_pids", SCHEMA_BOOL, PROJECT_STRICTER, STRICT, "true",
      "hide the host's processes" },
    { "sandbox.memory", SCHEMA_SIZE, PROJECT_SMALLER, NONE, "2g", "memory of the whole box" },
    { "sandbox.pids_limit", SCHEMA_COUNT, PROJECT_SMALLER, NONE, "512", "processes and threads of the box" },
    { "sandbox.cpus", SCHEMA_DECIMAL, PROJECT_SMALLER, NONE, NULL, "CPUs' worth of time, for example 1.5" },
    { "sandbox.cpu_seconds", SCHEMA_COUNT, PROJECT_SMALLER, NONE, NULL, "CPU time of each process, in seconds" },
    { "sandbox.file_size", SCHEMA_SIZE, PROJECT_SMALLER, NONE, NULL, "size of each file that it writes" },
    { "sandbox.open_files", SCHEMA_COUNT, PROJECT_SMALLER, NONE, NULL, "open files of each process" },
    { "sandbox.tmp_size", SCHEMA_SIZE, PROJECT_SMALLER, NONE, "512m",
      "size of /tmp, /var/tmp, /run and /dev/shm together" },
    { "sandbox.timeout", SCHEMA_DURATION, PROJECT_SMALLER, NONE, NULL, "how long a command may run" },
    { "sandbox.session_timeout", SCHEMA_DURATION, PROJECT_SMALLER, NONE, NULL, "how long a session may live" },
    { "sandbox.extra_rw_paths", SCHEMA_PATH, PROJECT_FEWER, LIST, NULL,
      "files and directories of the host to show read-write, each at its own path" },
    { "sandbox.extra_ro_paths", SCHEMA_PATH, PROJECT_FEWER, LIST, NULL,
      "files and directories of the host to show read-only, each at its own path" },
    { "sandbox.blocked_paths", SCHEMA_PATH, PROJECT_MORE, LIST, NULL,
      "paths to hide; relative ones begin at the workspace" },
    { "sandbox.env_passthrough", SCHEMA_VARIABLE, PROJECT_FEWER, LIST, NULL,
      "variables to take over from the caller, if they are set", .also = "environment.pass" },
    { "sandbox.profile", SCHEMA_WORD, PROJECT_STRICTER, 0, "default",
      "dev lets debuggers work among the box's own processes", profiles },
    { "sandbox.allow_sockets", SCHEMA_BOOL, PROJECT_STRICTER, 0, "false",
      "let commands connect to unix sockets of the host that they can see" },
    { "sandbox.sockets", SCHEMA_PATH, PROJECT_FEWER, LIST, NULL,
      "unix sockets of the host to show, each at its own path, and to let commands connect to" },
    { "sandbox.workspace", SCHEMA_PATH, PROJECT_SAME, OWN, NULL,
      "the directory that commands may change; not set: the current one" },
    { "sandbox.same_path", SCHEMA_BOOL, PROJECT_FREE, 0, "false",
      "show the workspace at its own path instead of /work" },
    { "sandbox.root", SCHEMA_PATH, PROJECT_WORKSPACE, 0, NULL, "a directory of the host to show as /" },
    { "sandbox.readonly", SCHEMA_BOOL, PROJECT_STRICTER, STRICT, "false",
      "the workspace, or the root, is read-only" },
    { "sandbox.restrict", SCHEMA_TEXT, PROJECT_WITHIN, 0, NULL,
      "a directory of the workspace, or of the root: of it, nothing else is shown; \"/\" means all of it" },
    { "sandbox.mounts", SCHEMA_TABLES, PROJECT_MOUNTS, 0, NULL,
      "further directories; the longest target wins, the later of two that are equal" },
    { "sandbox.mounts[].source", SCHEMA_PATH, PROJECT_MOUNTS, REQUIRED, NULL, "a path of the host" },
    { "sandbox.mounts[].target", SCHEMA_TARGET, PROJECT_MOUNTS, REQUIRED, NULL, "where it is shown" },
    { "sandbox.mounts[].readonly", SCHEMA_BOOL, PROJECT_MOUNTS, STRICT, "false", "it is shown read-only" },

    { "audit", SCHEMA_TABLE, PROJECT_FREE, 0, NULL,
      "the record of what was run; audit = \"required\" is short for its mode", .short_for = "mode" },
    { "audit.mode", SCHEMA_WORD, PROJECT_STRICTER, 0, "on",
      "required: what cannot be recorded does not begin; on: it is told and goes on; off: nothing is recorded", audits },
    { "audit.directory", SCHEMA_PATH, PROJECT_SAME, 0, NULL,
      "where, from / or ~; not set: coop/audit in $XDG_STATE_HOME or ~/.local/state, and /var/log/coop for root" },
    { "audit.max_size", SCHEMA_SIZE, PROJECT_SAME, NONE, "64m", "a new file is begun when one has this size" },
    { "audit.max_age", SCHEMA_DURATION, PROJECT_SAME, NONE, "30d", "and when its first record is this old" },
    { "audit.keep", SCHEMA_COUNT, PROJECT_SAME, NONE, NULL, "how many older files are kept; not set: all" },
    { "audit.sync", SCHEMA_BOOL, PROJECT_STRICTER, STRICT, "false", "wait for the disk with each record" },

    { "users", SCHEMA_TABLES, PROJECT_SAME, 0, NULL, "who there is" },
    { "users[].name", SCHEMA_TEXT, PROJECT_SAME, REQUIRED, NULL, "a name, used once" },
    { "users[].trust", SCHEMA_WORD, PROJECT_SAME, REQUIRED, NULL,
      "owner: runs on the host; full: all tools, in the box; inner: commands and file tools; familiar: reads files; public: nothing", trusts },
    { "users[].match", SCHEMA_TEXT, PROJECT_SAME, LIST | REQUIRED, NULL,
      "identities, such as terminal:default or signal:+1555*; exact, or a beginning and *" },
    { "users[].sandbox", SCHEMA_TABLE, PROJECT_SAME, 0, NULL,
      "keys of [sandbox] for this user; all but enabled and workspace", .like = "sandbox" },

    { "groups", SCHEMA_TABLE, PROJECT_SAME, 0, NULL, "how far anybody is trusted in a group" },
    { "groups.*", SCHEMA_WORD, PROJECT_SAME, 0, NULL,
      "the ceiling in the group of this name, or with this beginning and *; in all others it is familiar", trusts },

    { "cron", SCHEMA_TABLES, PROJECT_SAME, 0, NULL, "commands that are run on behalf of a user" },
    { "cron[].name", SCHEMA_TEXT, PROJECT_SAME, REQUIRED, NULL, "a name, used once" },
    { "cron[].user", SCHEMA_TEXT, PROJECT_SAME, REQUIRED, NULL, "the name of the user that it runs for" },
    { "cron[].schedule", SCHEMA_TEXT, PROJECT_SAME, 0, NULL, "when; coop leaves that to the caller" },
    { "cron[].command", SCHEMA_COMMAND, PROJECT_SAME, REQUIRED, NULL, "a text for the shell, or a list of words" },
    { "cron[].sandbox", SCHEMA_TABLE, PROJECT_SAME, 0, NULL,
      "keys of [sandbox] for this entry; all but enabled and workspace", .like = "sandbox" },

    { "protect", SCHEMA_TABLE, PROJECT_FREE, 0, NULL, "paths of the workspace that are kept from commands" },
    { "protect.defaults", SCHEMA_BOOL, PROJECT_STRICTER, STRICT, "true", "also protect what coop protects by itself" },
    { "protect.deny", SCHEMA_TEXT, PROJECT_MORE, LIST, NULL, "patterns of files that can be neither read nor written" },
    { "protect.allow", SCHEMA_TEXT, PROJECT_FEWER, LIST, NULL, "exceptions from deny and from no_write, for what a pattern names and nothing around it" },
    { "protect.no_write", SCHEMA_TEXT, PROJECT_MORE, LIST, NULL, "patterns of files that can be read only" },
    { "protect.ignore_case", SCHEMA_BOOL, PROJECT_SAME, 0, "false", "patterns match in upper and lower case" },

    { "commands", SCHEMA_TABLE, PROJECT_FREE, 0, NULL, "which commands may run" },
    { "commands.strength", SCHEMA_WORD, PROJECT_STRICTER, 0, "off",
      "check: commands are decided before they run; enforce: others do not exist in the box; off: all may run", strengths },
    { "commands.defaults", SCHEMA_BOOL, PROJECT_SAME, 0, "true", "also allow what coop allows by itself" },
    { "commands.*", SCHEMA_TABLE, PROJECT_COMMANDS, 0, NULL, "a command that may run, by its name" },
    { "commands.*.description", SCHEMA_TEXT, PROJECT_FREE, 0, NULL, "what it is, for people" },
    { "commands.*.allowed", SCHEMA_TEXT, PROJECT_FEWER, LIST | SCHEMA_UNSET_ALL, NULL,
      "sub-commands, with their options, that may be used; not set: all",
      .also = "commands.*.subcommand_restrictions.allowed" },
    { "commands.*.blocked", SCHEMA_TEXT, PROJECT_MORE, LIST, NULL,
      "sub-commands, with their options, that may not be used",
      .also = "commands.*.subcommand_restrictions.blocked" },
    { "commands.*.manifest", SCHEMA_BOOL, PROJECT_STRICTER, STRICT, "false",
      "ask the program itself which sub-commands are for agents" },
    { "commands.*.needs", SCHEMA_TEXT, PROJECT_FEWER, LIST, NULL,
      "programs, by name or path, and directories that it executes or loads; for the strength enforce" },
    { "commands.*.subcommand_restrictions", SCHEMA_TABLE, PROJECT_FREE, NONE, NULL,
      "another way to write allowed and blocked; \"none\" means neither" },
    { "commands.*.subcommand_restrictions.allowed", SCHEMA_TEXT, PROJECT_FEWER, LIST | SCHEMA_UNSET_ALL, NULL,
      "see allowed", .same_as = "commands.*.allowed" },
    { "commands.*.subcommand_restrictions.blocked", SCHEMA_TEXT, PROJECT_MORE, LIST, NULL,
      "see blocked", .same_as = "commands.*.blocked" },

    { "environment", SCHEMA_TABLE, PROJECT_FREE, 0, NULL, "variables of commands" },
    { "environment.set", SCHEMA_TABLE, PROJECT_FREE, 0, NULL, "variables with their values" },
    { "environment.set.*", SCHEMA_TEXT, PROJECT_FREE, 0, NULL, "the value of the variable of this name" },
    { "environment.pass", SCHEMA_VARIABLE, PROJECT_FEWER, LIST, NULL,
      "another way to write sandbox.env_passthrough", .same_as = "sandbox.env_passthrough" },
    { "environment.prefix", SCHEMA_TEXT, PROJECT_SAME, 0, NULL,
      "a second prefix, such as OBEY_, for the variables that coop itself sets" },
    { "environment.campaign", SCHEMA_TEXT, PROJECT_FREE, 0, NULL, "the value of COOP_CAMPAIGN" },
    { "environment.provider", SCHEMA_TEXT, PROJECT_SAME, 0, NULL,
      "the value of COOP_PROVIDER, and whose secrets are given" },

    { "secrets", SCHEMA_TABLE, PROJECT_NEVER, SECRET, NULL,
      "values that only named users and providers are given; in a file that only its owner can read" },
    { "secrets.*", SCHEMA_TABLE, PROJECT_NEVER, SECRET, NULL,
      "a secret, by its name; it has exactly one of value, file, command and from" },
    { "secrets.*.value", SCHEMA_TEXT, PROJECT_NEVER, SECRET, NULL, "the secret itself" },
    { "secrets.*.file", SCHEMA_PATH, PROJECT_NEVER, SECRET, NULL, "a file that holds it" },
    { "secrets.*.command", SCHEMA_COMMAND, PROJECT_NEVER, SECRET, NULL, "a command of the host that prints it" },
    { "secrets.*.from", SCHEMA_TEXT, PROJECT_NEVER, SECRET, NULL, "a variable of the caller that holds it, such as $TOKEN" },
    { "secrets.*.env", SCHEMA_VARIABLE, PROJECT_NEVER, 0, NULL,
      "the variable that it is given in; not set: its name in capitals" },
    { "secrets.*.users", SCHEMA_TEXT, PROJECT_NEVER, LIST, NULL, "names of users that are given it" },
    { "secrets.*.providers", SCHEMA_TEXT, PROJECT_NEVER, LIST, NULL, "names of providers whose boxes are given it" },

    { "providers", SCHEMA_TABLE, PROJECT_NEVER, 0, NULL, "model providers" },
    { "providers.*", SCHEMA_TABLE, PROJECT_NEVER, 0, NULL, "a provider, by its name" },
    { "providers.*.secrets", SCHEMA_TEXT, PROJECT_NEVER, LIST, NULL, "names of secrets that its boxes are given" },

    { "network", SCHEMA_TABLE, PROJECT_FREE, 0, NULL, "which hosts can be reached" },
    { "network.mode", SCHEMA_WORD, PROJECT_NETWORK, 0, "none", "another way to write sandbox.network",
      networks, .same_as = "sandbox.network" },
    { "network.allow", SCHEMA_HOST, PROJECT_FEWER, LIST, NULL,
      "hosts that the gate lets through: example.org, *.example.org:443, 192.0.2.0/24" },
    { "network.deny", SCHEMA_HOST, PROJECT_MORE, LIST, NULL, "hosts that it does not, whatever allow says" },
    { "network.publish", SCHEMA_TEXT, PROJECT_FEWER, LIST, NULL,
      "ports of the host's loopback that lead to a port of the box: 8080:3000" },
    { "network.credentials", SCHEMA_TABLE, PROJECT_NEVER, 0, NULL,
      "requests that are sent on with a secret, which the box itself never has" },
    { "network.credentials.*", SCHEMA_TABLE, PROJECT_NEVER, 0, NULL,
      "requests to http://NAME.coop.internal, by that name: small letters, digits and -" },
    { "network.credentials.*.host", SCHEMA_HOST, PROJECT_NEVER, REQUIRED, NULL,
      "the host that they go to, over TLS, with its port if that is not 443" },
    { "network.credentials.*.secret", SCHEMA_TEXT, PROJECT_NEVER, REQUIRED, NULL, "the name of the secret in [secrets]" },
    { "network.credentials.*.header", SCHEMA_TEXT, PROJECT_NEVER, 0, NULL,
      "the header field that holds it; not set: Authorization" },
    { "network.credentials.*.prefix", SCHEMA_TEXT, PROJECT_NEVER, 0, NULL,
      "what stands before it there; not set: \"Bearer \" in Authorization, nothing in others" },
    { "network.credentials.*.env", SCHEMA_VARIABLE, PROJECT_NEVER, 0, NULL,
      "a variable of the box that is set to http://NAME.coop.internal" },
    { "network.credentials.*.ca", SCHEMA_PATH, PROJECT_NEVER, 0, NULL,
      "a file of certificates to believe besides those of the host, from / or ~" },
    { "network.credentials.*.users", SCHEMA_TEXT, PROJECT_NEVER, LIST, NULL,
      "names of users whose boxes may use it; with neither these nor providers: boxes that run on nobody's behalf" },
    { "network.credentials.*.providers", SCHEMA_TEXT, PROJECT_NEVER, LIST, NULL, "names of providers whose boxes may use it" },
    { "network.proxy_env", SCHEMA_BOOL, PROJECT_FREE, 0, "false",
      "set the usual proxy variables for programs that want them" },
    { "network.require_sni", SCHEMA_BOOL, PROJECT_STRICTER, STRICT, "false",
      "refuse TLS that does not say which host it is for, also where a rule names the host itself" },

    { "expect", SCHEMA_TABLES, PROJECT_MORE, 0, NULL,
      "tests of the policy, decided by coop check; each has exactly one of deny and allow" },
    { "expect[].deny", SCHEMA_EXPECTATION, PROJECT_FREE, 0, NULL,
      "what must be refused: read PATH, write PATH, exec PATH, connect HOST:PORT, connect /SOCKET, bind HOST:PORT, env NAME, syscall NAME, or -- COMMAND" },
    { "expect[].allow", SCHEMA_EXPECTATION, PROJECT_FREE, 0, NULL, "what must be possible" },
    { "expect[].as", SCHEMA_TEXT, PROJECT_FREE, 0, NULL, "the identity that tries it; not set: whoever coop run serves" },

    { "memory", SCHEMA_TABLE, PROJECT_SAME, 0, NULL, "memory stores" },
    { "memory.directory", SCHEMA_PATH, PROJECT_SAME, 0, NULL,
      "where they are kept; not set: coop/memory in $XDG_STATE_HOME or ~/.local/state" },
    { 0 },
};
/* clang-format on */

const struct schema_row *schema_find(const char *path)
{
    for (const struct schema_row *row = schema_rows; row->path; row++)
        if (strcmp(row->path, path) == 0)
            return row;
    return NULL;
}

/* The key of `row` if it is one of `parent` itself; NULL if it lies elsewhere. */
static const char *key_within(const struct schema_row *parent, const struct schema_row *row)
{
    const char *key = row->path;

    if (parent) {
        size_t n = strlen(parent->path);

        if (strncmp(key, parent->path, n) != 0)
            return NULL;
        key += n;
        if (parent->type == SCHEMA_TABLES) {
            if (strncmp(key, "[]", 2) != 0)
                return NULL;
            key += 2;
        }
        if (*key++ != '.')
            return NULL;
    }
    return strpbrk(key, ".[") ? NULL : key;
}

const struct schema_row *schema_next_child(const struct schema_row *parent,
                                           const struct schema_row *after)
{
    bool is_override = parent && parent->like;

    if (is_override)
        parent = schema_find(parent->like);
    for (const struct schema_row *row = after ? after + 1 : schema_rows; row->path; row++)
        if (key_within(parent, row) && !(is_override && row->flags & SCHEMA_NO_OVERRIDE))
            return row;
    return NULL;
}

const struct schema_row *schema_child(const struct schema_row *parent, const char *key, size_t n)
{
    const struct schema_row *any = NULL;

    for (const struct schema_row *row = NULL; (row = schema_next_child(parent, row));) {
        const char *name = schema_key(row);

        if (strlen(name) == n && memcmp(name, key, n) == 0 && *name != '*')
            return row;
        if (*name == '*')
            any = row;
    }
    return any;
}

const char *schema_key(const struct schema_row *row)
{
    const char *dot = strrchr(row->path, '.');

    return dot ? dot + 1 : row->path;
}

int schema_word(const struct schema_row *row, const char *word)
{
    for (int i = 0; row->words[i]; i++)
        if (strcmp(row->words[i], word) == 0)
            return i;
    return -1;
}
