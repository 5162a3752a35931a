#include "policy_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audit/chain.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/quantity.h"
#include "base/suggest.h"
#include "cli/complain.h"
#include "policy/env_rules.h"
#include "policy/hosts.h"
#include "policy/policy.h"

#define POLICY(context) (((struct policy_arguments *)(context))->policy)

static int bad(coop_error **err, const char *what, const char *value, const char *expected)
{
    return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "bad %s '%s': expected %s", what, value,
                     expected);
}

#define IDENTITY(context) (&((struct policy_arguments *)(context))->identity)

static int set_workspace(void *context, const char *value, coop_error **err)
{
    IDENTITY(context)->workspace = value;
    return coop_policy_set_workspace(POLICY(context), value, err);
}

/* DIR[:ro]; a directory whose name ends so is written with a slash behind it. */
static int set_root(void *context, const char *value, coop_error **err)
{
    struct policy_arguments *arguments = context;
    size_t n = strlen(value);
    bool read_only = n > 3 && strcmp(value + n - 3, ":ro") == 0;
    char *directory = strndup(value, read_only ? n - 3 : n);

    if (!directory)
        return fail_no_memory(err);
    free(arguments->root);
    arguments->root = directory;
    IDENTITY(context)->workspace = directory;
    int r = coop_policy_set_root(POLICY(context), directory, read_only, err);
    return r < 0 || !read_only ? r
                               : policy_note(POLICY(context), POLICY_NOTE_READ_ONLY,
                                             (struct origin){ "--root", 0, 0 }, err);
}

static int set_config(void *context, const char *value, coop_error **err)
{
    (void)err;
    IDENTITY(context)->config_file = value;
    return 0;
}

static int set_as(void *context, const char *value, coop_error **err)
{
    IDENTITY(context)->as = value;
    return trust_identity_check(value, err);
}

static int set_cron(void *context, const char *value, coop_error **err)
{
    (void)err;
    IDENTITY(context)->cron = value;
    return 0;
}

static int set_group(void *context, const char *value, coop_error **err)
{
    (void)err;
    IDENTITY(context)->group = value ? value : "";
    return 0;
}

static int set_same_path(void *context, const char *value, coop_error **err)
{
    (void)value;
    return coop_policy_set_same_path(POLICY(context), true, err);
}

/* Who said so of a value that was just set. */
static int note_value(void *context, int r, enum policy_note what, const char *flag,
                      coop_error **err)
{
    return r < 0 ? r : policy_note(POLICY(context), what, (struct origin){ flag, 0, 0 }, err);
}

static int set_read_only(void *context, const char *value, coop_error **err)
{
    (void)value;
    return note_value(context, coop_policy_set_read_only(POLICY(context), true, err),
                      POLICY_NOTE_READ_ONLY, "--read-only", err);
}

static int set_restrict(void *context, const char *value, coop_error **err)
{
    return note_value(context, coop_policy_set_restrict(POLICY(context), value, err),
                      POLICY_NOTE_RESTRICT, "--restrict", err);
}

/* Who said so of the mount that was just added. */
static int note(void *context, int r, const char *flag, coop_error **err)
{
    return r < 0 ? r : policy_note_origin(POLICY(context), (struct origin){ flag, 0, 0 }, err);
}

/* P[:T]: a colon separates, so a path with one in it needs --mount. */
static int add_shared(void *context, const char *value, bool read_only, coop_error **err)
{
    auto_free char *source = strdup(value);
    auto_free char *absolute = NULL;

    if (!source)
        return fail_no_memory(err);
    char *target = strchr(source, ':');
    if (target)
        *target++ = '\0';
    if (!target && *source != '/') { /* shown at its own place, which must be absolute */
        absolute = realpath(source, NULL);
        if (!absolute)
            return fail_as(err, fail(err, errno, "open the mount source '%s'", source),
                           COOP_ERROR_BAD_POLICY);
        policy_make_way(POLICY(context), absolute);
        return coop_policy_add_bind(POLICY(context), absolute, NULL, read_only, err);
    }
    policy_make_way(POLICY(context), target ? target : source);
    return coop_policy_add_bind(POLICY(context), source, target, read_only, err);
}

static int add_ro(void *context, const char *value, coop_error **err)
{
    return note(context, add_shared(context, value, true, err), "--ro", err);
}

static int add_rw(void *context, const char *value, coop_error **err)
{
    return note(context, add_shared(context, value, false, err), "--rw", err);
}

/* Docker's SRC:DST[:ro|rw] */
static int add_volume(void *context, const char *value, coop_error **err)
{
    auto_free char *source = strdup(value);
    bool read_only = false;

    if (!source)
        return fail_no_memory(err);
    char *target = strchr(source, ':');
    if (!target || target == source || target[1] == '\0')
        return bad(err, "volume", value, "SRC:DST[:ro]");
    *target++ = '\0';
    char *mode = strchr(target, ':');
    if (mode) {
        *mode++ = '\0';
        if (strcmp(mode, "ro") != 0 && strcmp(mode, "rw") != 0)
            return bad(err, "volume", value, "SRC:DST[:ro]");
        read_only = strcmp(mode, "ro") == 0;
    }
    if (*source != '/' && *source != '.' && *source != '~')
        return bad(err, "volume source", source,
                   "a path beginning with '/' or '.' (coop has no named volumes)");
    policy_make_way(POLICY(context), target);
    return note(context, coop_policy_add_bind(POLICY(context), source, target, read_only, err),
                "--volume", err);
}

enum mount_key { MOUNT_TYPE, MOUNT_SOURCE, MOUNT_TARGET, MOUNT_READ_ONLY, MOUNT_SIZE, MOUNT_KEYS };

struct mount_words {
    const char *type, *source, *target;
    bool read_only;
    uint64_t size;
    bool is_given[MOUNT_KEYS];
};

/* Every spelling; of each key the first is the one to suggest. */
static const struct {
    const char *name;
    enum mount_key key;
} mount_keys[] = {
    { "type", MOUNT_TYPE },          { "source", MOUNT_SOURCE }, { "src", MOUNT_SOURCE },
    { "target", MOUNT_TARGET },      { "dst", MOUNT_TARGET },    { "destination", MOUNT_TARGET },
    { "readonly", MOUNT_READ_ONLY }, { "ro", MOUNT_READ_ONLY },  { "size", MOUNT_SIZE },
    { "tmpfs-size", MOUNT_SIZE },
};

static int find_mount_key(const char *word, coop_error **err)
{
    static const char *const keys[] = { "type", "source", "target", "readonly", "size", NULL };

    for (size_t i = 0; i < COUNT(mount_keys); i++)
        if (strcmp(word, mount_keys[i].name) == 0)
            return (int)mount_keys[i].key;
    const char *near = suggest(word, keys);
    int r = fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "unknown mount key '%s'", word);
    return near ? fail_hint(err, r, "did you mean %s?", near) : r;
}

static int read_mount_word(struct mount_words *words, char *word, coop_error **err)
{
    char *value = strchr(word, '=');

    if (value)
        *value++ = '\0';
    if (!value && strcmp(word, "readonly") != 0 && strcmp(word, "ro") != 0)
        return bad(err, "mount word", word, "key=value, or readonly");
    int key = find_mount_key(word, err);
    if (key < 0)
        return key;
    if (words->is_given[key])
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "the mount key '%s' is given twice",
                         word);
    words->is_given[key] = true;
    switch ((enum mount_key)key) {
    case MOUNT_TYPE:
        words->type = value;
        break;
    case MOUNT_SOURCE:
        words->source = value;
        break;
    case MOUNT_TARGET:
        words->target = value;
        break;
    case MOUNT_READ_ONLY:
        words->read_only = !value || strcmp(value, "true") == 0 || strcmp(value, "1") == 0;
        break;
    case MOUNT_SIZE:
        return quantity_size(value, &words->size, err);
    case MOUNT_KEYS:
        break;
    }
    return 0;
}

static int add_mount(void *context, const char *value, coop_error **err)
{
    auto_free char *copy = strdup(value);
    struct mount_words words = { .type = "bind" };
    char *rest = NULL;

    if (!copy)
        return fail_no_memory(err);
    for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        int r = read_mount_word(&words, word, err);

        if (r < 0)
            return r;
    }
    if (!words.target)
        return bad(err, "mount", value, "a target=PATH in it");
    policy_make_way(POLICY(context), words.target);
    if (strcmp(words.type, "tmpfs") == 0) {
        if (words.source)
            return bad(err, "mount", value, "no source with type=tmpfs");
        return note(
            context,
            coop_policy_add_tmpfs(POLICY(context), words.target, words.size, words.read_only, err),
            "--mount", err);
    }
    if (strcmp(words.type, "bind") != 0)
        return bad(err, "mount type", words.type, "bind or tmpfs");
    if (!words.source)
        return bad(err, "mount", value, "a source=PATH in it");
    return note(
        context,
        coop_policy_add_bind(POLICY(context), words.source, words.target, words.read_only, err),
        "--mount", err);
}

static int add_block(void *context, const char *value, coop_error **err)
{
    return note(context, coop_policy_add_block(POLICY(context), value, err), "--block", err);
}

static int add_protect(void *context, const char *value, coop_error **err)
{
    return policy_add_protect(POLICY(context), value, COOP_PROTECT_HIDE,
                              (struct origin){ "--protect", 0, 0 }, err);
}

static int add_protect_write(void *context, const char *value, coop_error **err)
{
    return policy_add_protect(POLICY(context), value, COOP_PROTECT_KEEP,
                              (struct origin){ "--protect-write", 0, 0 }, err);
}

/* The owner's files may say so for everybody; a run on somebody's behalf may not. */
static int check_owner(void *context, const char *option, coop_error **err)
{
    const struct identity *identity = IDENTITY(context);
    const struct trust_decision *decision = &identity->decision;

    if (!identity->as || decision->trust == TRUST_OWNER ||
        !config_bool(identity->config, "sandbox.enabled")) /* then all run on the host */
        return 0;
    int r = fail_kind(err, COOP_ERROR_BAD_POLICY, EACCES,
                      "%s is for the owner, and '%s' has the trust '%s'", option, identity->as,
                      trust_names[decision->trust]);
    return fail_hint(err, r, "what all may see is listed in protect.allow of the owner's file");
}

static int add_unprotect(void *context, const char *value, coop_error **err)
{
    int r = check_owner(context, "--unprotect", err);

    return r < 0 ? r
                 : policy_add_protect(POLICY(context), value, COOP_PROTECT_SHOW,
                                      (struct origin){ "--unprotect", 0, 0 }, err);
}

static int lift_protect(void *context, const char *value, coop_error **err)
{
    int r = check_owner(context, "--no-protect", err);

    (void)value;
    return r < 0 ? r : coop_policy_set_protect_defaults(POLICY(context), false, err);
}

static int ignore_case(void *context, const char *value, coop_error **err)
{
    (void)value;
    return coop_policy_set_protect_ignore_case(POLICY(context), true, err);
}

static int set_env(void *context, const char *value, coop_error **err)
{
    auto_free char *name = strdup(value);

    if (!name)
        return fail_no_memory(err);
    char *text = strchr(name, '=');
    if (!text || text == name)
        return bad(err, "variable", value, "NAME=VALUE");
    *text++ = '\0';
    int r = coop_policy_set_env(POLICY(context), name, text, err);
    if (r == 0)
        policy_note_variable(POLICY(context), name, "--env");
    return r;
}

static int pass_env(void *context, const char *value, coop_error **err)
{
    struct policy_arguments *arguments = context;

    int r = env_check_pass(value, strlen(value), arguments->policy->second_prefix, err);

    if (r < 0)
        return r;
    if (arguments->n_env_pass == POLICY_MAX_PASS)
        return bad(err, "variable name", value, "at most 256 of them");
    arguments->env_pass[arguments->n_env_pass++] = value;
    return 0;
}

static int set_chdir(void *context, const char *value, coop_error **err)
{
    return coop_policy_set_directory(POLICY(context), value, err);
}

static int set_uid(void *context, const char *value, coop_error **err)
{
    uint64_t uid = 0;
    int r = quantity_count(value, 0, UINT32_MAX - 1, &uid, err);

    return r < 0 ? r : coop_policy_set_uid(POLICY(context), (uint32_t)uid, err);
}

static int set_hostname(void *context, const char *value, coop_error **err)
{
    return coop_policy_set_hostname(POLICY(context), value, err);
}

static int find_word(const char *const *words, const char *what, const char *value,
                     coop_error **err)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], value) == 0)
            return i;
    const char *near = suggest(value, words);
    auto_buffer struct buffer expected = { 0 };
    for (int i = 0; words[i]; i++)
        buffer_printf(&expected, "%s%s", i == 0 ? "" : words[i + 1] ? ", " : " or ", words[i]);
    int r = expected.failed ? fail_no_memory(err)
                            : fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                                        "bad %s '%s': expected %s", what, value, expected.data);
    return near ? fail_hint(err, r, "did you mean %s?", near) : r;
}

static int set_network(void *context, const char *value, coop_error **err)
{
    int i = find_word(policy_network_names, "network", value, err);

    ((struct policy_arguments *)context)->network_flag = "--network";
    return note_value(context,
                      i < 0 ? i : coop_policy_set_network(POLICY(context), (coop_network)i, err),
                      POLICY_NOTE_NETWORK, "--network", err);
}

/* Whoever names a host on the command line wants the gate, unless --network says otherwise. */
static int note_host(struct policy_arguments *arguments, int r)
{
    arguments->names_hosts = true;
    return r;
}

static int allow_host(void *context, const char *value, coop_error **err)
{
    return note_host(context, policy_add_host(POLICY(context), value, false,
                                              (struct origin){ "--allow", 0, 0 }, err));
}

static int deny_host(void *context, const char *value, coop_error **err)
{
    return note_host(context, policy_add_host(POLICY(context), value, true,
                                              (struct origin){ "--deny", 0, 0 }, err));
}

static int reach_port(void *context, const char *value, coop_error **err)
{
    char text[32];
    uint64_t port = 0;
    int r = quantity_count(value, 1, 65535, &port, err);

    if (r < 0)
        return r;
    (void)snprintf(text, sizeof text, "localhost:%u", (unsigned)port);
    return note_host(context, policy_add_host(POLICY(context), text, false,
                                              (struct origin){ "--reach", 0, 0 }, err));
}

static int publish_port(void *context, const char *value, coop_error **err)
{
    uint16_t outside = 0;
    uint16_t inside = 0;
    int r = policy_parse_publish(value, &outside, &inside, err);

    if (r == 0)
        r = coop_policy_add_publish(POLICY(context), outside, inside, err);
    return note_host(context, r);
}

static int set_proxy_env(void *context, const char *value, coop_error **err)
{
    (void)value;
    return coop_policy_set_proxy_env(POLICY(context), true, err);
}

/* The network that the flags choose together. */
static int settle_network(struct policy_arguments *arguments, coop_error **err)
{
    coop_network network = arguments->policy->network;

    if (!arguments->names_hosts)
        return 0;
    if (!arguments->network_flag) {
        arguments->network_flag = "--allow";
        return network == COOP_NETWORK_NAT
                   ? 0
                   : coop_policy_set_network(arguments->policy, COOP_NETWORK_GATE, err);
    }
    if (network == COOP_NETWORK_GATE || network == COOP_NETWORK_NAT)
        return 0;
    int r =
        fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                  "--network %s and rules about hosts do not go together: no gate asks for them",
                  policy_network_names[network]);
    return fail_hint(err, r, "leave --network out, or write --network gate");
}

static int set_mode(void *context, const char *value, coop_error **err)
{
    static const char *const words[] = { "required", "preferred", "disabled", NULL };
    int i = find_word(words, "mode", value, err);

    return i < 0 ? i : coop_policy_set_mode(POLICY(context), (coop_mode)i, err);
}

static int set_profile(void *context, const char *value, coop_error **err)
{
    static const char *const words[] = { "default", "dev", NULL };
    int i = find_word(words, "profile", value, err);

    ((struct policy_arguments *)context)->profile_flag = "--profile";
    return note_value(context,
                      i < 0 ? i : coop_policy_set_profile(POLICY(context), (coop_profile)i, err),
                      POLICY_NOTE_PROFILE, "--profile", err);
}

static int set_limit(void *context, coop_limit limit, const char *value,
                     int (*parse)(const char *, uint64_t *, coop_error **), coop_error **err)
{
    static const char *const flags[COOP_LIMIT_COUNT] = {
        "--memory",    "--pids",       "--cpus",     "--cpu-seconds",
        "--file-size", "--open-files", "--tmp-size",
    };
    uint64_t number = COOP_LIMIT_NONE;
    int r = strcmp(value, "none") == 0 ? 0 : parse(value, &number, err);

    if (r == 0)
        r = coop_policy_set_limit(POLICY(context), limit, number, err);
    return note_value(context, r, (enum policy_note)(POLICY_NOTE_LIMIT + limit), flags[limit], err);
}

static int parse_count(const char *value, uint64_t *out, coop_error **err)
{
    return quantity_count(value, 1, INT64_MAX, out, err);
}

static int set_memory(void *context, const char *value, coop_error **err)
{
    return set_limit(context, COOP_LIMIT_MEMORY, value, quantity_size, err);
}

static int set_pids(void *context, const char *value, coop_error **err)
{
    return set_limit(context, COOP_LIMIT_PIDS, value, parse_count, err);
}

static int set_cpus(void *context, const char *value, coop_error **err)
{
    return set_limit(context, COOP_LIMIT_CPUS, value, quantity_decimal_milli, err);
}

static int set_cpu_seconds(void *context, const char *value, coop_error **err)
{
    return set_limit(context, COOP_LIMIT_CPU_SECONDS, value, parse_count, err);
}

static int set_file_size(void *context, const char *value, coop_error **err)
{
    return set_limit(context, COOP_LIMIT_FILE_SIZE, value, quantity_size, err);
}

static int set_open_files(void *context, const char *value, coop_error **err)
{
    return set_limit(context, COOP_LIMIT_OPEN_FILES, value, parse_count, err);
}

static int set_tmp_size(void *context, const char *value, coop_error **err)
{
    return set_limit(context, COOP_LIMIT_TMP_SIZE, value, quantity_size, err);
}

static int set_timeout(void *context, const char *value, coop_error **err)
{
    struct policy_arguments *arguments = context;
    uint64_t ms = 0; /* none */
    bool is_none = strcmp(value, "none") == 0;
    int r = is_none ? 0 : quantity_duration_ms(value, &ms, err);

    if (r == 0 && ms == 0 && !is_none)
        return bad(err, "duration", value, "more than 0");
    arguments->options.timeout_ms = ms;
    return note_value(context, r, POLICY_NOTE_TIMEOUT, "--timeout", err);
}

static int keep_fd(void *context, const char *value, coop_error **err)
{
    struct policy_arguments *arguments = context;
    uint64_t fd = 0;
    int r = quantity_count(value, 0, 1u << 20, &fd, err);

    if (r < 0)
        return r;
    if (arguments->options.n_keep_fds == POLICY_MAX_KEEP)
        return bad(err, "descriptor", value, "at most 64 of them");
    arguments->keep_fds[arguments->options.n_keep_fds++] = (int)fd;
    return 0;
}

static int allow_sockets(void *context, const char *value, coop_error **err)
{
    (void)value;
    return note_value(context, coop_policy_set_host_sockets(POLICY(context), true, err),
                      POLICY_NOTE_SOCKETS, "--allow-sockets", err);
}

static int add_socket(void *context, const char *value, coop_error **err)
{
    auto_free char *absolute = *value == '/' ? NULL : realpath(value, NULL);

    if (*value != '/' && !absolute)
        return fail_as(err, fail(err, errno, "open the socket '%s'", value), COOP_ERROR_BAD_POLICY);
    policy_make_way(POLICY(context), absolute ? absolute : value);
    return note(context, coop_policy_add_socket(POLICY(context), absolute ? absolute : value, err),
                "--socket", err);
}

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
        return bad(err, "value", value, "--explain, --explain=all or --explain=none");
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
    { "workspace", 'w', "DIR", "directory the command may change (default: the current one)", set_workspace, true }, \
    { "root", 0, "DIR[:ro]", "show what is in DIR as /, instead of a workspace", set_root, true }, \
    { "config", 0, "FILE", "read this file instead of the system's and the user's", set_config, true }, \
    { "as", 0, "IDENTITY", "on behalf of whom, for example signal:+15555550101; see coop whoami", set_as, true }, \
    { "cron", 0, "NAME", "the command of this [[cron]] entry, on behalf of its user", set_cron, true }, \
    { "group", 0, NULL, "with --as: said in a group, where nobody is owner", set_group, true }, \
    { "group-name", 0, "NAME", "the same, in the group of this name", set_group, true }, \
    { "same-path", 0, NULL, "show the workspace at its own path instead of /work", set_same_path }, \
    { "read-only", 0, NULL, "the workspace, or the root, can only be read", set_read_only }, \
    { "restrict", 0, "DIR", "of the workspace show this directory and nothing else", set_restrict }, \
    { "ro", 0, "PATH[:TARGET]", "show a file or directory read-only", add_ro }, \
    { "rw", 0, "PATH[:TARGET]", "show a file or directory read-write", add_rw }, \
    { "mount", 0, "type=bind|tmpfs,...", "mount: source=, target=, readonly, size=", add_mount }, \
    { "volume", 'v', "SRC:DST[:ro]", "show SRC at DST", add_volume }, \
    { "block", 0, "PATH", "hide a path; relative ones begin at the workspace", add_block }, \
    { "protect", 0, "PATTERN", "hide names of the workspace, for example '**/*.pem'", add_protect }, \
    { "protect-write", 0, "PATTERN", "let names of the workspace be read, but not written", add_protect_write }, \
    { "unprotect", 0, "PATTERN", "an exception from what is protected", add_unprotect }, \
    { "protect-ignore-case", 0, NULL, "patterns do not tell small letters from large ones", ignore_case }, \
    { "no-protect", 0, NULL, "lift the built-in protection of .env, keys, .git/hooks and the like", lift_protect }, \
    { "env", 'e', "NAME=VALUE", "set a variable", set_env }, \
    { "env-pass", 0, "NAME", "take a variable over from the caller, if it is set", pass_env }, \
    { "chdir", 0, "DIR", "directory to start in, as the box sees it", set_chdir }, \
    { "uid", 0, "UID", "user id inside (default: the caller's own)", set_uid }, \
    { "hostname", 0, "NAME", "host name inside (default: coop)", set_hostname }, \
    { "network", 0, "none|off|gate|nat|host", "none: private loopback (default); off: no sockets but AF_UNIX", set_network }, \
    { "allow", 0, "HOST[:PORT]", "let it connect there, for example github.com:443; see coop-policy(5)", allow_host }, \
    { "deny", 0, "HOST[:PORT]", "but not there, whatever else allows it", deny_host }, \
    { "reach", 0, "PORT", "its 127.0.0.1:PORT leads to the host's own", reach_port }, \
    { "publish", 0, "HOSTPORT:PORT", "the host's 127.0.0.1:HOSTPORT leads to its 127.0.0.1:PORT", publish_port }, \
    { "proxy-env", 0, NULL, "set https_proxy and the like, for programs that insist on a proxy", set_proxy_env }, \
    { "socket", 0, "PATH", "let it connect to this unix socket of the host, and to no other", add_socket }, \
    { "allow-sockets", 0, NULL, "let it connect to the host's unix sockets that it can see", allow_sockets }, \
    { "memory", 'm', "SIZE", "memory of the whole box (default: 2g)", set_memory }, \
    { "pids", 0, "N", "processes and threads (default: 512)", set_pids }, \
    { "cpus", 0, "N", "CPUs' worth of time, for example 1.5", set_cpus }, \
    { "cpu-seconds", 0, "N", "CPU time of each process", set_cpu_seconds }, \
    { "file-size", 0, "SIZE", "size of each file it writes", set_file_size }, \
    { "open-files", 0, "N", "open files of each process", set_open_files }, \
    { "tmp-size", 0, "SIZE", "size of /tmp, /var/tmp, /run and /dev/shm together (default: 512m)", set_tmp_size }, \
    { "timeout", 0, "DURATION", "end it after this time, for example 30s (default: never)", set_timeout }, \
    { "mode", 0, "required|preferred|disabled", "what to do where the host cannot enforce all (default: required)", set_mode }, \
    { "profile", 0, "default|dev", "dev lets debuggers work inside", set_profile }, \
    { "tty", 't', NULL, "give it a terminal of its own", flag_tty }, \
    { "keep-fd", 0, "N", "let it have the caller's descriptor N", keep_fd }, \
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
    { "policy", 0, "FILE", "the same as --config", set_config, true },
    { "json", 0, NULL, "print a JSON document", flag_json, true },
    { "help", 'h', NULL, "show this help" },
    { 0 },
};
/* clang-format on */

/* Who nobody may be boxed in for, or only with what their configuration gives them. */
static int route(struct policy_arguments *arguments, coop_error **err)
{
    const struct identity *identity = &arguments->identity;
    const struct trust_decision *decision = &identity->decision;

    switch (identity_route(identity)) {
    case ROUTE_BOX:
        return 0;
    case ROUTE_HOST:
        if (decision->trust == TRUST_OWNER) /* who may run everything */
            (void)coop_policy_set_command_strength(arguments->policy, COOP_COMMANDS_OFF, NULL);
        return coop_policy_set_mode(arguments->policy, COOP_MODE_DISABLED, err);
    case ROUTE_REFUSED:
        break;
    }
    int r =
        fail_kind(err, COOP_ERROR_BAD_POLICY, EACCES,
                  "'%s' may not run commands: %s has the trust '%s'%s", identity->as,
                  decision->user ? decision->user->name : "nobody of that identity is known, who",
                  trust_names[decision->trust], decision->has_ceiling ? " in a group" : "");
    return fail_hint(err, r, "'coop whoami --as %s' says where that comes from", identity->as);
}

static int fail_finding(coop_error **err, const struct finding *finding)
{
    auto_buffer struct buffer origin = { 0 };

    origin_print(&origin, finding->origin);
    int r = fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "%s: %s",
                      origin.data ? origin.data : "configuration", finding->message);
    return finding->fix ? fail_hint(err, r, "%s", finding->fix) : r;
}

/* The configuration first: whatever a person types stands above it. */
static int fill_from_config(struct policy_arguments *arguments, coop_error **err)
{
    struct identity *identity = &arguments->identity;
    int r = identity_load(identity, err);

    if (r == 0)
        r = identity_fill(identity, arguments->policy, err);
    if (r == 0)
        r = identity->as && !arguments->is_question ? route(arguments, err) : 0;
    if (r == -EINVAL && err && !*err) {
        const struct finding *only = identity_only_error(identity);

        if (only)
            return fail_finding(err, only);
        complain(&identity->findings, false);
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "the configuration has %zu error%s; nothing was run",
                         identity->findings.n_errors, identity->findings.n_errors == 1 ? "" : "s");
    }
    arguments->options.timeout_ms = identity->run.timeout_ms;
    for (size_t i = 0; r == 0 && i < identity->run.n_env_pass; i++)
        r = pass_env(arguments, identity->run.env_pass[i], err);
    return r;
}

/* A configuration with mistakes in it says nothing: then what is usual holds. */
static int read_audit(struct policy_arguments *arguments, coop_error **err)
{
    const struct identity *identity = &arguments->identity;
    bool is_read =
        identity->config && identity->findings.n_errors == 0 && !identity->findings.failed;

    return audit_settings_read(is_read ? identity->config : NULL, &arguments->audit, err);
}

/* Where the records are is read from the configuration, where they are shown from the flags too. */
static int hide_audit(struct policy_arguments *arguments, coop_error **err)
{
    const struct identity *identity = &arguments->identity;

    return audit_hide(&arguments->audit, identity->workspace_path, identity->is_for_reading,
                      arguments->policy, err);
}

int policy_arguments_parse(struct policy_arguments *arguments, const struct command *command,
                           int argc, char **argv, coop_error **err)
{
    int r = policy_arguments_init(arguments, err);

    arguments->is_question = command == &command_why;
    arguments->identity.is_for_reading = command == &command_plan || arguments->is_question;
    if (r == 0)
        r = command_parse_early(command, argc, argv, arguments, err);
    if (r >= 0) {
        arguments->operands = argv + r;
        r = fill_from_config(arguments, err);
        arguments->is_refused = r < 0;
        int read = read_audit(arguments, r < 0 ? NULL : err);
        r = r < 0 ? r : read;
    }
    if (r >= 0)
        r = command_parse(command, argc, argv, arguments, err);
    if (r >= 0) {
        int settled = settle_network(arguments, err);

        r = settled < 0 ? settled : r;
    }
    if (r >= 0) {
        int hidden = hide_audit(arguments, err);

        arguments->is_refused = hidden < 0;
        r = hidden < 0 ? hidden : r;
    }
    return r;
}

int policy_arguments_init(struct policy_arguments *arguments, coop_error **err)
{
    *arguments = (struct policy_arguments){ .options = { .size = sizeof arguments->options } };
    arguments->options.keep_fds = arguments->keep_fds;
    arguments->options.env_pass = arguments->env_pass;
    arguments->audit.mode = AUDIT_OFF; /* until the configuration is read */
    int r = log_sink_init(&arguments->sink, COOP_LOG_OFF, err);
    if (arguments->sink.log.level != COOP_LOG_OFF)
        arguments->options.log = &arguments->sink.log;
    return r < 0 ? r : coop_policy_new(&arguments->policy, err);
}

void policy_arguments_done(struct policy_arguments *arguments)
{
    coop_policy_free(arguments->policy);
    identity_done(&arguments->identity);
    chain_close(take_ptr(arguments->audit_log));
    buffer_done(&arguments->audit_command);
    audit_settings_done(&arguments->audit);
    free(arguments->cron_argv);
    free(arguments->root);
    arguments->root = NULL;
    arguments->policy = NULL;
}

/* The command of a [[cron]] entry: a text for the shell, or words. */
static int take_cron_command(struct policy_arguments *arguments, coop_error **err)
{
    struct config_value command = config_child(&arguments->identity.cron_entry, "command");
    size_t n = 0;

    if (command.node->kind != NODE_ARRAY) {
        arguments->shell_text = config_value_text(&command);
        return 0;
    }
    struct config_items items = config_value_items(&command);
    for (struct config_value item; config_items_next(&items, &item); n++) {
        char **grown = reallocarray(arguments->cron_argv, n + 2, sizeof *grown);

        if (!grown)
            return fail_no_memory(err);
        arguments->cron_argv = grown;
        grown[n] = (char *)(uintptr_t)config_value_text(&item);
        grown[n + 1] = NULL;
    }
    return 0;
}

int policy_arguments_command(struct policy_arguments *arguments, int argc, char **argv, int first,
                             char *const **out, coop_error **err)
{
    if (arguments->identity.cron && first >= argc && !arguments->shell_text) {
        int r = take_cron_command(arguments, err);

        if (r < 0)
            return r;
        if (arguments->cron_argv) {
            *out = arguments->cron_argv;
            return 0;
        }
    }
    if (arguments->shell_text) {
        if (first < argc)
            return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                             "both a shell text and the command '%s' are given", argv[first]);
        arguments->shell_argv[0] = (char *)(uintptr_t) "/bin/sh";
        arguments->shell_argv[1] = (char *)(uintptr_t) "-c";
        arguments->shell_argv[2] = (char *)(uintptr_t)arguments->shell_text;
        *out = arguments->shell_argv;
        return 0;
    }
    if (first >= argc || !*argv[first]) {
        int r = fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "the command is %s",
                          first >= argc ? "missing" : "empty");

        return fail_hint(err, r, "for example: coop run -- make test");
    }
    *out = argv + first;
    return 0;
}
