#include "policy_options.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "cli/option.h"

static int set_shell_text(void *context, const char *value, coop_error **err)
{
    struct policy_arguments *arguments = context;

    if (!*value)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "the shell text is empty");
    arguments->shell_text = value;
    return 0;
}

#define SET_FLAG(field)                                                         \
    static int flag_##field(void *context, const char *value, coop_error **err) \
    {                                                                           \
        (void)value;                                                            \
        (void)err;                                                              \
        ((struct policy_arguments *)context)->field = true;                     \
        return 0;                                                               \
    }
static int set_explain(void *context, const char *value, coop_error **err)
{
    coop_explain *explain = &((struct policy_arguments *)context)->options.explain;

    if (!value)
        *explain = COOP_EXPLAIN_WRITES;
    else if (strcmp(value, "all") == 0)
        *explain = COOP_EXPLAIN_ALL;
    else if (strcmp(value, "none") == 0)
        *explain = COOP_EXPLAIN_NONE;
    else
        return option_bad(err, "value", value, "--explain, --explain=all or --explain=none");
    return 0;
}

SET_FLAG(tty)
SET_FLAG(json)
SET_FLAG(quiet)
SET_FLAG(as_bwrap)

static int set_log_format(void *context, const char *value, coop_error **err)
{
    return log_sink_format(&((struct policy_arguments *)context)->sink, value, err);
}

/* clang-format off */
#define POLICY_OPTIONS \
    { "workspace", 'w', "DIR", "directory the command may change (default: the current one)", option_set_workspace, true }, \
    { "root", 0, "DIR[:ro]", "show what is in DIR as /, instead of a workspace", option_set_root, true }, \
    { "config", 0, "FILE", "read this file instead of the system's and the user's", option_set_config, true }, \
    { "as", 0, "IDENTITY", "on behalf of whom, for example signal:+15555550101; see coop whoami", option_set_as, true }, \
    { "cron", 0, "NAME", "the command of this [[cron]] entry, on behalf of its user", option_set_cron, true }, \
    { "group", 0, NULL, "with --as: said in a group, where nobody is owner", option_set_group, true }, \
    { "group-name", 0, "NAME", "the same, in the group of this name", option_set_group, true }, \
    { "same-path", 0, NULL, "show the workspace at its own path instead of /work", option_set_same_path }, \
    { "read-only", 0, NULL, "the workspace, or the root, can only be read", option_set_read_only }, \
    { "restrict", 0, "DIR", "of the workspace show this directory and nothing else", option_set_restrict }, \
    { "ro", 0, "PATH[:TARGET]", "show a file or directory read-only", option_add_ro }, \
    { "rw", 0, "PATH[:TARGET]", "show a file or directory read-write", option_add_rw }, \
    { "mount", 0, "type=bind|tmpfs,...", "mount: source=, target=, readonly, size=", option_add_mount }, \
    { "volume", 'v', "SRC:DST[:ro]", "show SRC at DST", option_add_volume }, \
    { "block", 0, "PATH", "hide a path; relative ones begin at the workspace", option_add_block }, \
    { "protect", 0, "PATTERN", "hide names of the workspace, for example '**/*.pem'", option_add_protect }, \
    { "protect-write", 0, "PATTERN", "let names of the workspace be read, but not written", option_add_protect_write }, \
    { "unprotect", 0, "PATTERN", "an exception from what is protected", option_add_unprotect }, \
    { "protect-ignore-case", 0, NULL, "patterns do not tell small letters from large ones", option_ignore_case }, \
    { "no-protect", 0, NULL, "lift the built-in protection of .env, keys, .git/hooks and the like", option_lift_protect }, \
    { "env", 'e', "NAME=VALUE", "set a variable", option_set_env }, \
    { "env-pass", 0, "NAME", "take a variable over from the caller, if it is set", option_pass_env }, \
    { "chdir", 0, "DIR", "directory to start in, as the box sees it", option_set_chdir }, \
    { "uid", 0, "UID", "user id inside (default: the caller's own)", option_set_uid }, \
    { "hostname", 0, "NAME", "host name inside (default: coop)", option_set_hostname }, \
    { "network", 0, "none|off|gate|nat|host", "none: private loopback (default); off: no sockets but AF_UNIX", option_set_network }, \
    { "allow", 0, "HOST[:PORT]", "let it connect there, for example github.com:443; see coop-policy(5)", option_allow_host }, \
    { "deny", 0, "HOST[:PORT]", "but not there, whatever else allows it", option_deny_host }, \
    { "reach", 0, "PORT", "its 127.0.0.1:PORT leads to the host's own", option_reach_port }, \
    { "publish", 0, "HOSTPORT:PORT", "the host's 127.0.0.1:HOSTPORT leads to its 127.0.0.1:PORT", option_publish_port }, \
    { "proxy-env", 0, NULL, "set https_proxy and the like, for programs that insist on a proxy", option_set_proxy_env }, \
    { "require-sni", 0, NULL, "refuse TLS that does not say which host it is for", option_set_require_sni }, \
    { "socket", 0, "PATH", "let it connect to this unix socket of the host, and to no other", option_add_socket }, \
    { "allow-sockets", 0, NULL, "let it connect to the host's unix sockets that it can see", option_allow_sockets }, \
    { "memory", 'm', "SIZE", "memory of the whole box (default: 2g)", option_set_memory }, \
    { "pids", 0, "N", "processes and threads (default: 512)", option_set_pids }, \
    { "cpus", 0, "N", "CPUs' worth of time, for example 1.5", option_set_cpus }, \
    { "cpu-seconds", 0, "N", "CPU time of each process", option_set_cpu_seconds }, \
    { "file-size", 0, "SIZE", "size of each file it writes", option_set_file_size }, \
    { "open-files", 0, "N", "open files of each process", option_set_open_files }, \
    { "tmp-size", 0, "SIZE", "size of /tmp, /var/tmp, /run and /dev/shm together (default: 512m)", option_set_tmp_size }, \
    { "timeout", 0, "DURATION", "end it after this time, for example 30s (default: never)", option_set_timeout }, \
    { "mode", 0, "required|preferred|disabled", "what to do where the host cannot enforce all (default: required)", option_set_mode }, \
    { "profile", 0, "default|dev", "dev lets debuggers work inside", option_set_profile }, \
    { "tty", 't', NULL, "give it a terminal of its own", flag_tty }, \
    { "keep-fd", 0, "N", "let it have the caller's descriptor N", option_keep_fd }, \
    { "command", 'c', "TEXT", "run TEXT with /bin/sh", set_shell_text }

const struct command_option policy_options_run[] = {
    POLICY_OPTIONS,
    { "explain", 0, "[=all|none]", "look at more, so that more refusals can be told", set_explain },
    { "json", 0, NULL, "capture the output and print a result document", flag_json, true },
    { "quiet", 'q', NULL, "say nothing of its own unless it fails", flag_quiet },
    { "log-format", 0, "text|json", "how lines of the log look that COOP_LOG=debug and the like ask for", set_log_format, true },
    { "help", 'h', NULL, "show this help" },
    { 0 },
};

const struct command_option policy_options_plan[] = {
    POLICY_OPTIONS,
    { "json", 0, NULL, "print a JSON document", flag_json, true },
    { "as-bwrap", 0, NULL, "print the nearest bubblewrap command line", flag_as_bwrap },
    { "help", 'h', NULL, "show this help" },
    { 0 },
};
const struct command_option policy_options_why[] = {
    POLICY_OPTIONS,
    { "policy", 0, "FILE", "the same as --config", option_set_config, true },
    { "json", 0, NULL, "print a JSON document", flag_json, true },
    { "help", 'h', NULL, "show this help" },
    { 0 },
};
/* clang-format on */
