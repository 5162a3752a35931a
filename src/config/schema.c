#include "schema.h"

#include <string.h>

static const char *const modes[] = { "required", "preferred", "disabled", NULL };
static const char *const networks[] = { "off", "none", "gate", "nat", "host", NULL };
static const char *const profiles[] = { "default", "dev", NULL };
static const char *const strengths[] = { "enforce", "check", "off", NULL };
static const char *const audits[] = { "required", "on", "off", NULL };
static const char *const trusts[] = { "public", "familiar", "inner", "full", "owner", NULL };

#define KEY(path) path, sizeof(path)

#define LIST     SCHEMA_LIST
#define REQUIRED SCHEMA_REQUIRED
#define NONE     SCHEMA_NONE
#define STRICT   SCHEMA_STRICT_TRUE
#define OWN      SCHEMA_NO_OVERRIDE
#define SECRET   SCHEMA_SECRET

/* clang-format off */
const struct schema_row schema_rows[] = {
    /* [sandbox]: first, because every start asks for these */
    { KEY("sandbox"), SCHEMA_TABLE, PROJECT_FREE, 0, NULL, "the box that commands run in" },
    { KEY("sandbox.enabled"), SCHEMA_BOOL, PROJECT_SAME, OWN, "false",
      "run the tools of everybody but the owner in a box; coop run without --as always does" },
    { KEY("sandbox.mode"), SCHEMA_WORD, PROJECT_STRICTER, 0, "required",
      "what to do where the host cannot enforce everything: refuse, run with what there is, or run on the host", modes },
    { KEY("sandbox.network"), SCHEMA_WORD, PROJECT_NETWORK, 0, "none",
      "off: no sockets but AF_UNIX; none: a private loopback; gate: only the hosts of [network]; nat: outgoing connections; host: the host's own network",
      networks, .also = "network.mode" },
    { KEY("sandbox.allow_network"), SCHEMA_BOOL, PROJECT_NETWORK, 0, "false",
      "true is short for network = \"host\", false for network = \"none\"" },
    { KEY("sandbox.isolate_network"), SCHEMA_BOOL, PROJECT_NETWORK, 0, "true",
      "false is another way to write network = \"host\"" },
    { KEY("sandbox.isolate_pids"), SCHEMA_BOOL, PROJECT_STRICTER, STRICT, "true",
      "hide the host's processes" },
    { KEY("sandbox.memory"), SCHEMA_SIZE, PROJECT_SMALLER, NONE, "2g", "memory of the whole box" },
    { KEY("sandbox.pids_limit"), SCHEMA_COUNT, PROJECT_SMALLER, NONE, "512", "processes and threads of the box" },
    { KEY("sandbox.cpus"), SCHEMA_DECIMAL, PROJECT_SMALLER, NONE, NULL, "CPUs' worth of time, for example 1.5" },
    { KEY("sandbox.cpu_seconds"), SCHEMA_COUNT, PROJECT_SMALLER, NONE, NULL, "CPU time of each process, in seconds" },
    { KEY("sandbox.file_size"), SCHEMA_SIZE, PROJECT_SMALLER, NONE, NULL, "size of each file that it writes" },
    { KEY("sandbox.open_files"), SCHEMA_COUNT, PROJECT_SMALLER, NONE, NULL, "open files of each process" },
    { KEY("sandbox.tmp_size"), SCHEMA_SIZE, PROJECT_SMALLER, NONE, "512m",
      "size of /tmp, /var/tmp, /run and /dev/shm together" },
    { KEY("sandbox.timeout"), SCHEMA_DURATION, PROJECT_SMALLER, NONE, NULL, "how long a command may run" },
    { KEY("sandbox.session_timeout"), SCHEMA_DURATION, PROJECT_SMALLER, NONE, NULL, "how long a session may live" },
    { KEY("sandbox.extra_rw_paths"), SCHEMA_PATH, PROJECT_FEWER, LIST, NULL,
      "files and directories of the host to show read-write, each at its own path" },
    { KEY("sandbox.extra_ro_paths"), SCHEMA_PATH, PROJECT_FEWER, LIST, NULL,
      "files and directories of the host to show read-only, each at its own path" },
    { KEY("sandbox.blocked_paths"), SCHEMA_PATH, PROJECT_MORE, LIST, NULL,
      "paths to hide; relative ones begin at the workspace" },
    { KEY("sandbox.env_passthrough"), SCHEMA_VARIABLE, PROJECT_FEWER, LIST, NULL,
      "variables to take over from the caller, if they are set", .also = "environment.pass" },
    { KEY("sandbox.profile"), SCHEMA_WORD, PROJECT_STRICTER, 0, "default",
      "dev lets debuggers work among the box's own processes", profiles },
    { KEY("sandbox.allow_sockets"), SCHEMA_BOOL, PROJECT_STRICTER, 0, "false",
      "let commands connect to unix sockets of the host that they can see" },
    { KEY("sandbox.sockets"), SCHEMA_PATH, PROJECT_FEWER, LIST, NULL,
      "unix sockets of the host to show, each at its own path, and to let commands connect to" },
    { KEY("sandbox.workspace"), SCHEMA_PATH, PROJECT_SAME, OWN, NULL,
      "the directory that commands may change; not set: the current one" },
    { KEY("sandbox.same_path"), SCHEMA_BOOL, PROJECT_FREE, 0, "false",
      "show the workspace at its own path instead of /work" },
    { KEY("sandbox.root"), SCHEMA_PATH, PROJECT_WORKSPACE, 0, NULL, "a directory of the host to show as /" },
    { KEY("sandbox.readonly"), SCHEMA_BOOL, PROJECT_STRICTER, STRICT, "false",
      "the workspace, or the root, is read-only" },
    { KEY("sandbox.restrict"), SCHEMA_TEXT, PROJECT_WITHIN, 0, NULL,
      "a directory of the workspace, or of the root: of it, nothing else is shown; \"/\" means all of it" },
    { KEY("sandbox.mounts"), SCHEMA_TABLES, PROJECT_MOUNTS, 0, NULL,
      "further directories; the longest target wins, the later of two that are equal" },
    { KEY("sandbox.mounts[].source"), SCHEMA_PATH, PROJECT_MOUNTS, REQUIRED, NULL, "a path of the host" },
    { KEY("sandbox.mounts[].target"), SCHEMA_TARGET, PROJECT_MOUNTS, REQUIRED, NULL, "where it is shown" },
    { KEY("sandbox.mounts[].readonly"), SCHEMA_BOOL, PROJECT_MOUNTS, STRICT, "false", "it is shown read-only" },

    { KEY("audit"), SCHEMA_TABLE, PROJECT_FREE, 0, NULL,
      "the record of what was run; audit = \"required\" is short for its mode", .short_for = "mode" },
    { KEY("audit.mode"), SCHEMA_WORD, PROJECT_STRICTER, 0, "on",
      "required: what cannot be recorded does not begin; on: it is told and goes on; off: nothing is recorded", audits },
    { KEY("audit.directory"), SCHEMA_PATH, PROJECT_SAME, 0, NULL,
      "where, from / or ~; not set: coop/audit in $XDG_STATE_HOME or ~/.local/state, and /var/log/coop for root" },
    { KEY("audit.max_size"), SCHEMA_SIZE, PROJECT_SAME, NONE, "64m", "a new file is begun when one has this size" },
    { KEY("audit.max_age"), SCHEMA_DURATION, PROJECT_SAME, NONE, "30d", "and when its first record is this old" },
    { KEY("audit.keep"), SCHEMA_COUNT, PROJECT_SAME, NONE, NULL, "how many older files are kept; not set: all" },
    { KEY("audit.sync"), SCHEMA_BOOL, PROJECT_STRICTER, STRICT, "false", "wait for the disk with each record" },

    { KEY("users"), SCHEMA_TABLES, PROJECT_SAME, 0, NULL, "who there is" },
    { KEY("users[].name"), SCHEMA_TEXT, PROJECT_SAME, REQUIRED, NULL, "a name, used once" },
    { KEY("users[].trust"), SCHEMA_WORD, PROJECT_SAME, REQUIRED, NULL,
      "owner: runs on the host; full: all tools, in the box; inner: commands and file tools; familiar: reads files; public: nothing", trusts },
    { KEY("users[].match"), SCHEMA_TEXT, PROJECT_SAME, LIST | REQUIRED, NULL,
      "identities, such as terminal:default or signal:+1555*; exact, or a beginning and *" },
    { KEY("users[].sandbox"), SCHEMA_TABLE, PROJECT_SAME, 0, NULL,
      "keys of [sandbox] for this user; all but enabled and workspace", .like = "sandbox" },

    { KEY("groups"), SCHEMA_TABLE, PROJECT_SAME, 0, NULL, "how far anybody is trusted in a group" },
    { KEY("groups.*"), SCHEMA_WORD, PROJECT_SAME, 0, NULL,
      "the ceiling in the group of this name, or with this beginning and *; in all others it is familiar", trusts },

    { KEY("cron"), SCHEMA_TABLES, PROJECT_SAME, 0, NULL, "commands that are run on behalf of a user" },
    { KEY("cron[].name"), SCHEMA_TEXT, PROJECT_SAME, REQUIRED, NULL, "a name, used once" },
    { KEY("cron[].user"), SCHEMA_TEXT, PROJECT_SAME, REQUIRED, NULL, "the name of the user that it runs for" },
    { KEY("cron[].schedule"), SCHEMA_TEXT, PROJECT_SAME, 0, NULL, "when; coop leaves that to the caller" },
    { KEY("cron[].command"), SCHEMA_COMMAND, PROJECT_SAME, REQUIRED, NULL, "a text for the shell, or a list of words" },
    { KEY("cron[].sandbox"), SCHEMA_TABLE, PROJECT_SAME, 0, NULL,
      "keys of [sandbox] for this entry; all but enabled and workspace", .like = "sandbox" },

    { KEY("protect"), SCHEMA_TABLE, PROJECT_FREE, 0, NULL, "paths of the workspace that are kept from commands" },
    { KEY("protect.defaults"), SCHEMA_BOOL, PROJECT_STRICTER, STRICT, "true", "also protect what coop protects by itself" },
    { KEY("protect.deny"), SCHEMA_TEXT, PROJECT_MORE, LIST, NULL, "patterns of files that can be neither read nor written" },
    { KEY("protect.allow"), SCHEMA_TEXT, PROJECT_FEWER, LIST, NULL, "exceptions from deny and from no_write, for what a pattern names and nothing around it" },
    { KEY("protect.no_write"), SCHEMA_TEXT, PROJECT_MORE, LIST, NULL, "patterns of files that can be read only" },
    { KEY("protect.ignore_case"), SCHEMA_BOOL, PROJECT_SAME, 0, "false", "patterns match in upper and lower case" },

    { KEY("commands"), SCHEMA_TABLE, PROJECT_FREE, 0, NULL, "which commands may run" },
    { KEY("commands.strength"), SCHEMA_WORD, PROJECT_STRICTER, 0, "off",
      "check: commands are decided before they run; enforce: others do not exist in the box; off: all may run", strengths },
    { KEY("commands.defaults"), SCHEMA_BOOL, PROJECT_SAME, 0, "true", "also allow what coop allows by itself" },
    { KEY("commands.*"), SCHEMA_TABLE, PROJECT_COMMANDS, 0, NULL, "a command that may run, by its name" },
    { KEY("commands.*.description"), SCHEMA_TEXT, PROJECT_FREE, 0, NULL, "what it is, for people" },
    { KEY("commands.*.allowed"), SCHEMA_TEXT, PROJECT_FEWER, LIST | SCHEMA_UNSET_ALL, NULL,
      "sub-commands, with their options, that may be used; not set: all",
      .also = "commands.*.subcommand_restrictions.allowed" },
    { KEY("commands.*.blocked"), SCHEMA_TEXT, PROJECT_MORE, LIST, NULL,
      "sub-commands, with their options, that may not be used",
      .also = "commands.*.subcommand_restrictions.blocked" },
    { KEY("commands.*.manifest"), SCHEMA_BOOL, PROJECT_STRICTER, STRICT, "false",
      "ask the program itself which sub-commands are for agents" },
    { KEY("commands.*.needs"), SCHEMA_TEXT, PROJECT_FEWER, LIST, NULL,
      "programs, by name or path, and directories that it executes or loads; for the strength enforce" },
    { KEY("commands.*.subcommand_restrictions"), SCHEMA_TABLE, PROJECT_FREE, NONE, NULL,
      "another way to write allowed and blocked; \"none\" means neither" },
    { KEY("commands.*.subcommand_restrictions.allowed"), SCHEMA_TEXT, PROJECT_FEWER, LIST | SCHEMA_UNSET_ALL, NULL,
      "see allowed", .same_as = "commands.*.allowed" },
    { KEY("commands.*.subcommand_restrictions.blocked"), SCHEMA_TEXT, PROJECT_MORE, LIST, NULL,
      "see blocked", .same_as = "commands.*.blocked" },

    { KEY("environment"), SCHEMA_TABLE, PROJECT_FREE, 0, NULL, "variables of commands" },
    { KEY("environment.set"), SCHEMA_TABLE, PROJECT_FREE, 0, NULL, "variables with their values" },
    { KEY("environment.set.*"), SCHEMA_TEXT, PROJECT_FREE, 0, NULL, "the value of the variable of this name" },
    { KEY("environment.pass"), SCHEMA_VARIABLE, PROJECT_FEWER, LIST, NULL,
      "another way to write sandbox.env_passthrough", .same_as = "sandbox.env_passthrough" },
    { KEY("environment.prefix"), SCHEMA_TEXT, PROJECT_SAME, 0, NULL,
      "a second prefix, such as OBEY_, for the variables that coop itself sets" },
    { KEY("environment.campaign"), SCHEMA_TEXT, PROJECT_FREE, 0, NULL, "the value of COOP_CAMPAIGN" },
    { KEY("environment.provider"), SCHEMA_TEXT, PROJECT_SAME, 0, NULL,
      "the value of COOP_PROVIDER, and whose secrets are given" },

    { KEY("secrets"), SCHEMA_TABLE, PROJECT_NEVER, SECRET, NULL,
      "values that only named users and providers are given; in a file that only its owner can read" },
    { KEY("secrets.*"), SCHEMA_TABLE, PROJECT_NEVER, SECRET, NULL,
      "a secret, by its name; it has exactly one of value, file, command and from" },
    { KEY("secrets.*.value"), SCHEMA_TEXT, PROJECT_NEVER, SECRET, NULL, "the secret itself" },
    { KEY("secrets.*.file"), SCHEMA_PATH, PROJECT_NEVER, SECRET, NULL, "a file that holds it" },
    { KEY("secrets.*.command"), SCHEMA_COMMAND, PROJECT_NEVER, SECRET, NULL, "a command of the host that prints it" },
    { KEY("secrets.*.from"), SCHEMA_TEXT, PROJECT_NEVER, SECRET, NULL, "a variable of the caller that holds it, such as $TOKEN" },
    { KEY("secrets.*.env"), SCHEMA_VARIABLE, PROJECT_NEVER, 0, NULL,
      "the variable that it is given in; not set: its name in capitals" },
    { KEY("secrets.*.users"), SCHEMA_TEXT, PROJECT_NEVER, LIST, NULL, "names of users that are given it" },
    { KEY("secrets.*.providers"), SCHEMA_TEXT, PROJECT_NEVER, LIST, NULL, "names of providers whose boxes are given it" },

    { KEY("providers"), SCHEMA_TABLE, PROJECT_NEVER, 0, NULL, "model providers" },
    { KEY("providers.*"), SCHEMA_TABLE, PROJECT_NEVER, 0, NULL, "a provider, by its name" },
    { KEY("providers.*.secrets"), SCHEMA_TEXT, PROJECT_NEVER, LIST, NULL, "names of secrets that its boxes are given" },

    { KEY("network"), SCHEMA_TABLE, PROJECT_FREE, 0, NULL, "which hosts can be reached" },
    { KEY("network.mode"), SCHEMA_WORD, PROJECT_NETWORK, 0, "none", "another way to write sandbox.network",
      networks, .same_as = "sandbox.network" },
    { KEY("network.allow"), SCHEMA_HOST, PROJECT_FEWER, LIST, NULL,
      "hosts that the gate lets through: example.org, *.example.org:443, 192.0.2.0/24" },
    { KEY("network.deny"), SCHEMA_HOST, PROJECT_MORE, LIST, NULL, "hosts that it does not, whatever allow says" },
    { KEY("network.publish"), SCHEMA_TEXT, PROJECT_FEWER, LIST, NULL,
      "ports of the host's loopback that lead to a port of the box: 8080:3000" },
    { KEY("network.credentials"), SCHEMA_TABLE, PROJECT_NEVER, 0, NULL,
      "requests that are sent on with a secret, which the box itself never has" },
    { KEY("network.credentials.*"), SCHEMA_TABLE, PROJECT_NEVER, 0, NULL,
      "requests to http://NAME.coop.internal, by that name: small letters, digits and -" },
    { KEY("network.credentials.*.host"), SCHEMA_HOST, PROJECT_NEVER, REQUIRED, NULL,
      "the host that they go to, over TLS, with its port if that is not 443" },
    { KEY("network.credentials.*.secret"), SCHEMA_TEXT, PROJECT_NEVER, REQUIRED, NULL, "the name of the secret in [secrets]" },
    { KEY("network.credentials.*.header"), SCHEMA_TEXT, PROJECT_NEVER, 0, NULL,
      "the header field that holds it; not set: Authorization" },
    { KEY("network.credentials.*.prefix"), SCHEMA_TEXT, PROJECT_NEVER, 0, NULL,
      "what stands before it there; not set: \"Bearer \" in Authorization, nothing in others" },
    { KEY("network.credentials.*.env"), SCHEMA_VARIABLE, PROJECT_NEVER, 0, NULL,
      "a variable of the box that is set to http://NAME.coop.internal" },
    { KEY("network.credentials.*.ca"), SCHEMA_PATH, PROJECT_NEVER, 0, NULL,
      "a file of certificates to believe besides those of the host, from / or ~" },
    { KEY("network.credentials.*.users"), SCHEMA_TEXT, PROJECT_NEVER, LIST, NULL,
      "names of users whose boxes may use it; with neither these nor providers: boxes that run on nobody's behalf" },
    { KEY("network.credentials.*.providers"), SCHEMA_TEXT, PROJECT_NEVER, LIST, NULL, "names of providers whose boxes may use it" },
    { KEY("network.proxy_env"), SCHEMA_BOOL, PROJECT_FREE, 0, "false",
      "set the usual proxy variables for programs that want them" },
    { KEY("network.require_sni"), SCHEMA_BOOL, PROJECT_STRICTER, STRICT, "false",
      "refuse TLS that does not say which host it is for, also where a rule names the host itself" },

    { KEY("expect"), SCHEMA_TABLES, PROJECT_MORE, 0, NULL,
      "tests of the policy, decided by coop check; each has exactly one of deny and allow" },
    { KEY("expect[].deny"), SCHEMA_EXPECTATION, PROJECT_FREE, 0, NULL,
      "what must be refused: read PATH, write PATH, exec PATH, connect HOST:PORT, connect /SOCKET, bind HOST:PORT, env NAME, syscall NAME, or -- COMMAND" },
    { KEY("expect[].allow"), SCHEMA_EXPECTATION, PROJECT_FREE, 0, NULL, "what must be possible" },
    { KEY("expect[].as"), SCHEMA_TEXT, PROJECT_FREE, 0, NULL, "the identity that tries it; not set: whoever coop run serves" },

    { KEY("memory"), SCHEMA_TABLE, PROJECT_SAME, 0, NULL, "memory stores" },
    { KEY("memory.directory"), SCHEMA_PATH, PROJECT_SAME, 0, NULL,
      "where they are kept; not set: coop/memory in $XDG_STATE_HOME or ~/.local/state" },
    { 0 },
};
/* clang-format on */

const struct schema_row *schema_find(const char *path)
{
    size_t size = strlen(path) + 1;

    for (const struct schema_row *row = schema_rows; row->path; row++)
        if (row->path_size == size && memcmp(row->path, path, size) == 0)
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
