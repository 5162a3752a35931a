#include "denial_words.h"

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
#include "init/protocol.h"
#include "plan/decide_plan.h"
#include "plan/seccomp/seccomp.h"
#include "policy/decide/decide.h"
#include "supervise/box.h"
#include "supervise/denial/denial_kinds.h"

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

static void say(struct denial *denial, const char *rule, struct origin origin, const char *why,
                const char *allow)
{
    free(denial->rule_text);
    free(denial->origin);
    free(denial->allow);
    denial->rule_text = strdup(rule);
    denial->origin = origin_text(origin);
    if (!denial->why)
        denial->why = strdup(why);
    denial->allow = allow ? strdup(allow) : NULL;
}

/* An answer of `coop why`; false: it says that this is allowed. */
static bool say_answer(struct denial *denial, const struct decide_answer *answer)
{
    if (answer->is_allowed)
        return false;
    say(denial, answer->rule, answer->has_origin ? answer->origin : (struct origin){ 0 },
        answer->why, answer->flag ? answer->flag : answer->change);
    return true;
}

/* ---- paths */

static enum decide_act act_of(enum denial_op op)
{
    return op == DENIAL_READ || op == DENIAL_CONNECT ? DECIDE_READ
           : op == DENIAL_EXEC                       ? DECIDE_EXEC
                                                     : DECIDE_WRITE;
}

static bool ask_path(struct speaker *speaker, struct denial *denial, enum decide_act act)
{
    auto_decide_answer struct decide_answer answer = { 0 };

    if (!speaker->paths && decide_paths_new(&speaker->subject, &speaker->paths, NULL) < 0)
        return false;
    return decide_box_path(speaker->paths, act, denial->target, &answer, NULL) == 0 &&
           say_answer(denial, &answer);
}

/* The same of a path of the host: the box has something else there. */
static bool ask_host_path(struct speaker *speaker, struct denial *denial)
{
    auto_decide_answer struct decide_answer answer = { 0 };

    return denial->error == ENOENT &&
           decide_path(&speaker->subject, DECIDE_READ, denial->target, &answer, NULL) == 0 &&
           say_answer(denial, &answer);
}

/* What stands above it may be the reason: what is hidden cannot be written either. */
static bool ask_about_path(struct speaker *speaker, struct denial *denial)
{
    enum decide_act act = act_of(denial->op);

    return ask_path(speaker, denial, act) ||
           ask_path(speaker, denial, act == DECIDE_WRITE ? DECIDE_READ : DECIDE_WRITE) ||
           ask_host_path(speaker, denial);
}

static void say_held(const struct speaker *speaker, struct denial *denial)
{
    bool has_mounts = speaker->box->plan.policy->n_mounts > 0; /* then it may be one of these */

    say(denial, "the box's own view", (struct origin){ 0 },
        "something in it is hidden or mounted and must not move",
        has_mounts ? NULL : "--no-protect");
}

/* A flag needs a source that is there, and names are made, moved and removed in their directory. */
static void allow_writing(struct denial *denial)
{
    struct buffer flag = { 0 };
    auto_free char *path = strdup(denial->target);
    bool is_name =
        denial->op == DENIAL_CREATE || denial->op == DENIAL_RENAME || denial->op == DENIAL_DELETE;
    char *slash = path ? strrchr(path, '/') : NULL;

    if (is_name && slash && slash != path)
        *slash = '\0';
    if (!slash || (is_name && slash == path && look(NULL, path) == DECIDE_NOTHING))
        return;
    buffer_append_string(&flag, "--rw ");
    shell_word_append(&flag, path);
    free(denial->allow);
    denial->allow = buffer_take_string(&flag);
}

static void allow_sockets_too(const struct speaker *speaker, struct denial *denial)
{
    struct buffer flags = { 0 };

    if (!denial->allow || speaker->subject.policy->host_sockets)
        return;
    buffer_printf(&flags, "--socket %s", denial->allow + strlen("--ro "));
    free(denial->allow);
    denial->allow = buffer_take_string(&flags);
}

/* The box has a read-only directory in its place, to watch it: init/watchfs/watchfs.h. */
static bool is_in_watchfs(const struct speaker *speaker, const char *path)
{
    const char *at = speaker->box->watchfs ? speaker->box->watchfs : "";

    for (size_t n; *at; at += n + (at[n] == '/')) {
        n = strcspn(at, "/");
        if (path[0] == '/' && strncmp(path + 1, at, n) == 0 && path[1 + n] == '/')
            return true;
    }
    return false;
}

static void speak_of_path(struct speaker *speaker, struct denial *denial)
{
    const char *pattern;
    const char *origin;
    auto_buffer struct buffer rule = { 0 };

    if (denial->rule == PROTOCOL_RULE_HELD) {
        say_held(speaker, denial);
        return;
    }
    if (denial->rule == PROTOCOL_RULE_BUSY) {
        say(denial, "the lock shared by all boxes", (struct origin){ 0 },
            "another box or program holds it: try again", NULL);
        return;
    }
    if (denial->rule == PROTOCOL_RULE_GIT) {
        say(denial, "protect.no_write", (struct origin){ 0 },
            "git on the host would treat it as part of a repository, and execute or follow what it "
            "finds",
            "--no-protect");
        return;
    }
    if (ask_about_path(speaker, denial)) {
        bool is_hidden =
            (denial->error == ENOENT || is_in_watchfs(speaker, denial->target)) && denial->allow &&
            (strncmp(denial->allow, "--ro ", 5) == 0 || strncmp(denial->allow, "--rw ", 5) == 0);

        if (is_hidden && act_of(denial->op) == DECIDE_WRITE)
            allow_writing(denial);
        if (is_hidden && denial->op == DENIAL_CONNECT)
            allow_sockets_too(speaker, denial);
        return;
    }
    if (!plan_write_rule_text(&speaker->box->plan, denial->rule, &pattern, &origin))
        return; /* no rule: it is the file's own mode, say, which stops all but the host's root */
    buffer_printf(&rule, "protect.no_write '%s'", pattern);
    say(denial, rule.failed ? "protect.no_write" : rule.data, (struct origin){ 0 },
        "the name, or one below it, is write-protected", "--no-protect");
    free(denial->origin);
    denial->origin = strdup(origin);
}

/* ---- calls and sockets */

static void speak_of_call(struct speaker *speaker, struct denial *denial)
{
    auto_decide_answer struct decide_answer answer = { 0 };
    const char *name = seccomp_call_name(denial->nr);

    free(denial->target);
    denial->target = strdup(name ? name : "unknown");
    if (!name || decide_plan_syscall(&speaker->subject, name, &answer, NULL) < 0) {
        say(denial, "the system call filter", (struct origin){ 0 }, "it is refused", NULL);
        return;
    }
    answer.is_allowed = false; /* with other arguments it is */
    (void)say_answer(denial, &answer);
}

static void speak_of_sockets(const struct speaker *speaker, struct denial *denial, const char *why)
{
    say(denial, "sandbox.allow_sockets 'false'",
        speaker->subject.policy->notes[SETTING_SANDBOX_ALLOW_SOCKETS], why, "--allow-sockets");
}

static void speak_of_family(struct speaker *speaker, struct denial *denial)
{
    auto_decide_answer struct decide_answer answer = { 0 };
    bool is_network = denial->value == AF_INET || denial->value == AF_INET6;

    if (denial->value == AF_UNIX) {
        speak_of_sockets(speaker, denial,
                         "a datagram socket can send to any visible service of the host");
        return;
    }
    if (is_network && decide_connect(&speaker->subject, "192.0.2.1:1", &answer, NULL) == 0 &&
        say_answer(denial, &answer))
        return;
    say(denial, "the system call filter, 'socket'", (struct origin){ 0 },
        "only AF_UNIX, AF_INET, AF_INET6 and AF_NETLINK routes are allowed", NULL);
}

/* As everybody writes it: "[2001:db8::1]:443". */
static void shorten_address(struct denial *denial)
{
    struct in6_addr address;
    char text[INET6_ADDRSTRLEN];
    struct buffer both = { 0 };
    char *end = denial->target[0] == '[' ? strchr(denial->target, ']') : NULL;

    if (!end)
        return;
    *end = '\0';
    bool is_address = inet_pton(AF_INET6, denial->target + 1, &address) == 1 &&
                      inet_ntop(AF_INET6, &address, text, sizeof text);
    *end = ']';
    if (!is_address)
        return;
    buffer_printf(&both, "[%s%s", text, end);
    char *shorter = buffer_take_string(&both);
    if (shorter) {
        free(denial->target);
        denial->target = shorter;
    }
}

static void speak_of_address(struct speaker *speaker, struct denial *denial)
{
    auto_decide_answer struct decide_answer answer = { 0 };

    shorten_address(denial);
    int r = denial->op == DENIAL_BIND
                ? decide_bind(&speaker->subject, denial->target, &answer, NULL)
                : decide_connect(&speaker->subject, denial->target, &answer, NULL);
    if (r < 0 || !say_answer(denial, &answer))
        say(denial, "network", speaker->subject.network_origin,
            "the box's network has no route there", "--network host");
}

/* The name alone: any port of it would do. */
static void speak_of_name(struct speaker *speaker, struct denial *denial)
{
    auto_decide_answer struct decide_answer answer = { 0 };

    if (decide_would_allow(&speaker->subject, denial->target,
                           "the box has a private loopback and nothing else", &answer) == 0)
        (void)say_answer(denial, &answer);
}

static void speak_of_connect(struct speaker *speaker, struct denial *denial)
{
    if (denial->target[0] == '@')
        speak_of_sockets(speaker, denial, "abstract names belong to the host");
    else if (denial->error == ENOENT)
        speak_of_path(speaker, denial);
    else if (denial->target[0] == '/' || !strchr(denial->target, ':'))
        speak_of_sockets(
            speaker, denial,
            "services of the host may not be connected to, even if their socket is visible");
    else
        speak_of_address(speaker, denial);
}

/* ---- limits */

static void speak_of_limit(struct speaker *speaker, struct denial *denial)
{
    const coop_policy *policy = speaker->subject.policy;
    auto_buffer struct buffer why = { 0 };

    for (const struct limit_words *words = denial_limits; words->target; words++) {
        if (words->op != denial->op)
            continue;
        if (policy->limits[words->limit] == COOP_LIMIT_NONE)
            buffer_append_string(&why, "the host has no more");
        else
            buffer_printf(&why, "%s%" PRIu64 "%s", words->before, policy->limits[words->limit],
                          words->after);
        free(denial->target);
        denial->target = strdup(words->target);
        say(denial, words->rule, policy->notes[policy_limit_setting(words->limit)],
            why.failed ? "" : why.data, words->allow);
    }
}

static void speak_of_time(struct speaker *speaker, struct denial *denial)
{
    struct origin origin = speaker->subject.policy->notes[SETTING_SANDBOX_TIMEOUT];
    auto_buffer struct buffer why = { 0 };

    if (!origin.name)
        origin.name = "the caller";
    buffer_printf(&why, "it may run for %" PRIu64 " ms", speaker->box->options.timeout_ms);
    free(denial->target);
    denial->target = strdup("more time than the timeout");
    say(denial, "timeout", origin, why.failed ? "" : why.data, "--timeout DURATION");
}

static void (*const speak_of[])(struct speaker *speaker, struct denial *denial) = {
    [DENIAL_OF_PATH] = speak_of_path,       [DENIAL_OF_CALL] = speak_of_call,
    [DENIAL_OF_FAMILY] = speak_of_family,   [DENIAL_OF_CONNECT] = speak_of_connect,
    [DENIAL_OF_ADDRESS] = speak_of_address, [DENIAL_OF_NAME] = speak_of_name,
    [DENIAL_OF_LIMIT] = speak_of_limit,     [DENIAL_OF_TIME] = speak_of_time,
};

void denial_words_so_far(struct coop_box *box)
{
    const coop_policy *policy = box->sandbox->policy;
    struct speaker speaker = {
        .box = box,
        .subject = { .policy = policy,
                     .workspace = box->workspace,
                     .commands_origin = policy->notes[SETTING_COMMANDS_STRENGTH],
                     .network_origin = policy->notes[SETTING_SANDBOX_NETWORK],
                     .profile_origin = policy->notes[SETTING_SANDBOX_PROFILE],
                     .look = look,
                     .decide_syscall = decide_plan_syscall,
                     .has_program = decide_plan_has_program },
    };

    for (size_t i = 0; i < box->denials.n; i++)
        if (!box->denials.items[i].rule_text)
            speak_of[denial_subjects[box->denials.items[i].op]](&speaker, &box->denials.items[i]);
    decide_paths_free(speaker.paths);
}

void denial_words(struct coop_box *box)
{
    denial_words_so_far(box);
    denials_drop_wordless(&box->denials);
}
