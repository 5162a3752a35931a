#include "record_words.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/shell_word.h"
#include "jail/box.h"
#include "jail/protocol.h"
#include "plan/decide_plan.h"
#include "plan/seccomp.h"
#include "policy/decide.h"

/* What the answers are made from. */
struct speaker {
    const struct coop_box *box;
    struct decide_subject subject;
    struct decide_paths *paths; /* made when it is first needed */
};

static enum decide_kind look(void *opaque, const char *path)
{
    struct stat st;

    (void)opaque;
    if (lstat(path, &st) < 0)
        return errno == ENOENT || errno == ENOTDIR ? DECIDE_NOTHING : DECIDE_UNKNOWN;
    return S_ISDIR(st.st_mode) ? DECIDE_DIRECTORY : DECIDE_FILE;
}

static char *origin_text(struct origin origin)
{
    struct buffer text = { 0 };

    origin_print(&text, origin);
    return buffer_take_string(&text);
}

static void say(struct record *record, const char *rule, struct origin origin, const char *why,
                const char *allow)
{
    free(record->rule_text);
    free(record->origin);
    free(record->allow);
    record->rule_text = strdup(rule);
    record->origin = origin_text(origin);
    if (!record->why)
        record->why = strdup(why);
    record->allow = allow ? strdup(allow) : NULL;
}

/* An answer of `coop why`; false: it says that this is allowed. */
static bool say_answer(struct record *record, const struct decide_answer *answer)
{
    if (answer->is_allowed)
        return false;
    say(record, answer->rule, answer->has_origin ? answer->origin : (struct origin){ 0 },
        answer->why, answer->flag ? answer->flag : answer->change);
    return true;
}

/* ---- paths */

static enum decide_act act_of(enum record_op op)
{
    return op == RECORD_READ || op == RECORD_CONNECT ? DECIDE_READ
           : op == RECORD_EXEC                       ? DECIDE_EXEC
                                                     : DECIDE_WRITE;
}

static bool ask_path(struct speaker *speaker, struct record *record, enum decide_act act)
{
    auto_decide_answer struct decide_answer answer = { 0 };

    if (!speaker->paths && decide_paths_new(&speaker->subject, &speaker->paths, NULL) < 0)
        return false;
    return decide_box_path(speaker->paths, act, record->target, &answer, NULL) == 0 &&
           say_answer(record, &answer);
}

/* The same of a path of the host: the box has something else there. */
static bool ask_host_path(struct speaker *speaker, struct record *record)
{
    auto_decide_answer struct decide_answer answer = { 0 };

    return record->error == ENOENT &&
           decide_path(&speaker->subject, DECIDE_READ, record->target, &answer, NULL) == 0 &&
           say_answer(record, &answer);
}

/* What stands above it may be the reason: what is hidden cannot be written either. */
static bool ask_about_path(struct speaker *speaker, struct record *record)
{
    enum decide_act act = act_of(record->op);

    return ask_path(speaker, record, act) ||
           ask_path(speaker, record, act == DECIDE_WRITE ? DECIDE_READ : DECIDE_WRITE) ||
           ask_host_path(speaker, record);
}

static void say_held(const struct speaker *speaker, struct record *record)
{
    bool has_mounts = speaker->box->plan.policy->n_mounts > 0; /* then it may be one of these */

    say(record, "the box's own view", (struct origin){ 0 },
        "something in it is hidden or mounted, and must stay where it is",
        has_mounts ? NULL : "--no-protect");
}

/* A flag needs a source that is there, and names are made, moved and removed in their directory. */
static void allow_writing(struct record *record)
{
    struct buffer flag = { 0 };
    auto_free char *path = strdup(record->target);
    bool is_name =
        record->op == RECORD_CREATE || record->op == RECORD_RENAME || record->op == RECORD_DELETE;
    char *slash = path ? strrchr(path, '/') : NULL;

    if (is_name && slash && slash != path)
        *slash = '\0';
    if (!slash || (is_name && slash == path && look(NULL, path) == DECIDE_NOTHING))
        return;
    buffer_append_string(&flag, "--rw ");
    shell_word_append(&flag, path);
    free(record->allow);
    record->allow = buffer_take_string(&flag);
}

static void allow_sockets_too(const struct speaker *speaker, struct record *record)
{
    struct buffer flags = { 0 };

    if (!record->allow || speaker->subject.policy->host_sockets)
        return;
    buffer_printf(&flags, "--socket %s", record->allow + strlen("--ro "));
    free(record->allow);
    record->allow = buffer_take_string(&flags);
}

/* The box has a read-only directory in its place, to watch it: jail/trap.h. */
static bool is_in_trap(const struct speaker *speaker, const char *path)
{
    const char *at = speaker->box->traps ? speaker->box->traps : "";

    for (size_t n; *at; at += n + (at[n] == '/')) {
        n = strcspn(at, "/");
        if (path[0] == '/' && strncmp(path + 1, at, n) == 0 && path[1 + n] == '/')
            return true;
    }
    return false;
}

static void speak_of_path(struct speaker *speaker, struct record *record)
{
    const char *pattern;
    const char *origin;
    auto_buffer struct buffer rule = { 0 };

    if (record->rule == PROTOCOL_RULE_HELD) {
        say_held(speaker, record);
        return;
    }
    if (ask_about_path(speaker, record)) {
        bool is_hidden =
            (record->error == ENOENT || is_in_trap(speaker, record->target)) && record->allow &&
            (strncmp(record->allow, "--ro ", 5) == 0 || strncmp(record->allow, "--rw ", 5) == 0);

        if (is_hidden && act_of(record->op) == DECIDE_WRITE)
            allow_writing(record);
        if (is_hidden && record->op == RECORD_CONNECT)
            allow_sockets_too(speaker, record);
        return;
    }
    if (!plan_never_text(&speaker->box->plan, record->rule, &pattern, &origin))
        return; /* no rule: it is the file's own mode, say, which stops all but the host's root */
    buffer_printf(&rule, "protect.no_write '%s'", pattern);
    say(record, rule.failed ? "protect.no_write" : rule.data, (struct origin){ 0 },
        "its name, or one below it, cannot be written", "--no-protect");
    free(record->origin);
    record->origin = strdup(origin);
}

/* ---- calls and sockets */

static void speak_of_call(struct speaker *speaker, struct record *record)
{
    auto_decide_answer struct decide_answer answer = { 0 };
    const char *name = seccomp_call_name(record->nr);

    free(record->target);
    record->target = strdup(name ? name : "unknown");
    if (!name || decide_plan_syscall(&speaker->subject, name, &answer, NULL) < 0) {
        say(record, "the filter of system calls", (struct origin){ 0 }, "it is refused", NULL);
        return;
    }
    answer.is_allowed = false; /* with other arguments it is */
    (void)say_answer(record, &answer);
}

static void speak_of_sockets(const struct speaker *speaker, struct record *record, const char *why)
{
    say(record, "sandbox.allow_sockets 'false'",
        speaker->subject.policy->notes[POLICY_NOTE_SOCKETS], why, "--allow-sockets");
}

static void speak_of_family(struct speaker *speaker, struct record *record)
{
    auto_decide_answer struct decide_answer answer = { 0 };
    bool is_network = record->value == AF_INET || record->value == AF_INET6;

    if (record->value == AF_UNIX) {
        speak_of_sockets(speaker, record,
                         "a datagram socket can send to any service of the host whose socket is "
                         "shown");
        return;
    }
    if (is_network && decide_connect(&speaker->subject, "192.0.2.1:1", &answer, NULL) == 0 &&
        say_answer(record, &answer))
        return;
    say(record, "the filter of system calls, 'socket'", (struct origin){ 0 },
        "only AF_UNIX, AF_INET, AF_INET6 and the routes of AF_NETLINK are allowed", NULL);
}

/* As everybody writes it: "[2001:db8::1]:443". */
static void shorten_address(struct record *record)
{
    struct in6_addr address;
    char text[INET6_ADDRSTRLEN];
    struct buffer both = { 0 };
    char *end = record->target[0] == '[' ? strchr(record->target, ']') : NULL;

    if (!end)
        return;
    *end = '\0';
    bool is_address = inet_pton(AF_INET6, record->target + 1, &address) == 1 &&
                      inet_ntop(AF_INET6, &address, text, sizeof text);
    *end = ']';
    if (!is_address)
        return;
    buffer_printf(&both, "[%s%s", text, end);
    char *shorter = buffer_take_string(&both);
    if (shorter) {
        free(record->target);
        record->target = shorter;
    }
}

static void speak_of_address(struct speaker *speaker, struct record *record)
{
    auto_decide_answer struct decide_answer answer = { 0 };

    shorten_address(record);
    int r = record->op == RECORD_BIND
                ? decide_bind(&speaker->subject, record->target, &answer, NULL)
                : decide_connect(&speaker->subject, record->target, &answer, NULL);
    if (r < 0 || !say_answer(record, &answer))
        say(record, "network", speaker->subject.network_origin,
            "the box's network has no way there", "--network host");
}

/* The name alone: any port of it would do. */
static void speak_of_name(struct speaker *speaker, struct record *record)
{
    auto_decide_answer struct decide_answer answer = { 0 };

    if (decide_would_allow(&speaker->subject, record->target,
                           "the box has a private loopback and nothing else", &answer) == 0)
        (void)say_answer(record, &answer);
}

static void speak_of_connect(struct speaker *speaker, struct record *record)
{
    if (record->target[0] == '@')
        speak_of_sockets(speaker, record, "names that are no files are the host's own");
    else if (record->error == ENOENT)
        speak_of_path(speaker, record);
    else if (record->target[0] == '/' || !strchr(record->target, ':'))
        speak_of_sockets(
            speaker, record,
            "no service of the host may be connected to, also where its socket is shown");
    else
        speak_of_address(speaker, record);
}

/* ---- limits */

static const struct limit_words {
    enum record_op op;
    coop_limit limit;
    const char *target, *rule, *before, *after, *allow; /* the number stands between */
} limits[] = {
    { RECORD_MEMORY, COOP_LIMIT_MEMORY, "more memory than the limit", "sandbox.memory",
      "all its processes together may use ", " bytes", "--memory SIZE" },
    { RECORD_PIDS, COOP_LIMIT_PIDS, "more processes than the limit", "sandbox.pids_limit",
      "it may have ", " processes and threads at once", "--pids N" },
    { RECORD_CPU, COOP_LIMIT_CPU_SECONDS, "more CPU time than the limit", "sandbox.cpu_seconds",
      "each process may use ", " s of CPU time", "--cpu-seconds N" },
    { RECORD_FILE_SIZE, COOP_LIMIT_FILE_SIZE, "a larger file than the limit", "sandbox.file_size",
      "each file may have ", " bytes", "--file-size SIZE" },
    { RECORD_TMP_SIZE, COOP_LIMIT_TMP_SIZE, "/tmp", "sandbox.tmp_size", "all its ",
      " bytes were in use", "--tmp-size SIZE" },
    { RECORD_OPEN_FILES, COOP_LIMIT_OPEN_FILES, "more open files than the limit",
      "sandbox.open_files", "each process may have ", " descriptors", "--open-files N" },
};

static void speak_of_limit(const struct speaker *speaker, struct record *record)
{
    const coop_policy *policy = speaker->subject.policy;
    auto_buffer struct buffer why = { 0 };

    for (size_t i = 0; i < COUNT(limits); i++) {
        const struct limit_words *words = &limits[i];

        if (words->op != record->op)
            continue;
        if (policy->limits[words->limit] == COOP_LIMIT_NONE)
            buffer_append_string(&why, "the host has no more");
        else
            buffer_printf(&why, "%s%" PRIu64 "%s", words->before, policy->limits[words->limit],
                          words->after);
        free(record->target);
        record->target = strdup(words->target);
        say(record, words->rule, policy->notes[POLICY_NOTE_LIMIT + words->limit],
            why.failed ? "" : why.data, words->allow);
    }
}

static void speak_of_time(const struct speaker *speaker, struct record *record)
{
    struct origin origin = speaker->subject.policy->notes[POLICY_NOTE_TIMEOUT];
    auto_buffer struct buffer why = { 0 };

    if (!origin.name)
        origin.name = "the caller";
    buffer_printf(&why, "it may run for %" PRIu64 " ms", speaker->box->options.timeout_ms);
    free(record->target);
    record->target = strdup("more time than the timeout");
    say(record, "timeout", origin, why.failed ? "" : why.data, "--timeout DURATION");
}

static void speak(struct speaker *speaker, struct record *record)
{
    switch ((int)record->op) {
    case RECORD_SYSCALL:
        speak_of_call(speaker, record);
        break;
    case RECORD_SOCKET:
        speak_of_family(speaker, record);
        break;
    case RECORD_CONNECT:
        speak_of_connect(speaker, record);
        break;
    case RECORD_BIND:
        speak_of_address(speaker, record);
        break;
    case RECORD_DNS:
        speak_of_name(speaker, record);
        break;
    case RECORD_TIME:
        speak_of_time(speaker, record);
        break;
    case RECORD_MEMORY:
    case RECORD_PIDS:
    case RECORD_CPU:
    case RECORD_FILE_SIZE:
    case RECORD_TMP_SIZE:
    case RECORD_OPEN_FILES:
        speak_of_limit(speaker, record);
        break;
    default:
        speak_of_path(speaker, record);
        break;
    }
}

void record_words(struct coop_box *box)
{
    const coop_policy *policy = box->sandbox->policy;
    struct speaker speaker = {
        .box = box,
        .subject = { .policy = policy,
                     .workspace = box->workspace,
                     .commands_origin = policy->notes[POLICY_NOTE_COMMANDS],
                     .network_origin = policy->notes[POLICY_NOTE_NETWORK],
                     .profile_origin = policy->notes[POLICY_NOTE_PROFILE],
                     .look = look,
                     .decide_syscall = decide_plan_syscall,
                     .has_program = decide_plan_has_program },
    };

    for (size_t i = 0; i < box->records.n; i++)
        if (!box->records.items[i].rule_text)
            speak(&speaker, &box->records.items[i]);
    decide_paths_free(speaker.paths);
    records_drop_wordless(&box->records);
}
