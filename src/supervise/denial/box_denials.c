#include "box_denials.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "policy/protect.h"
#include "protect/quiet.h"
#include "supervise/denial/denial_words.h"

#define IGNORED (-2) /* no refusal of ours */

static uint64_t ms_since_start(const struct coop_box *box, uint64_t at_ns)
{
    return at_ns > box->started_ns ? (at_ns - box->started_ns) / 1000000u : 0;
}

static const char *family_name(unsigned family, char number[32])
{
    static const struct {
        unsigned family;
        const char *name;
    } families[] = {
        { AF_UNIX, "AF_UNIX" },
        { AF_INET, "AF_INET" },
        { AF_INET6, "AF_INET6" },
        { AF_PACKET, "AF_PACKET" },
        { AF_NETLINK, "AF_NETLINK" },
        { AF_VSOCK, "AF_VSOCK" },
        { AF_ALG, "AF_ALG" },
        { AF_KEY, "AF_KEY" },
        { AF_BLUETOOTH, "AF_BLUETOOTH" },
        { AF_CAN, "AF_CAN" },
        { AF_TIPC, "AF_TIPC" },
        { AF_RDS, "AF_RDS" },
        { AF_X25, "AF_X25" },
        { AF_APPLETALK, "AF_APPLETALK" },
        { AF_XDP, "AF_XDP" },
    };

    for (size_t i = 0; i < COUNT(families); i++)
        if (families[i].family == family)
            return families[i].name;
    (void)snprintf(number, 32, "family %u", family);
    return number;
}

static void print_socket(int value, char out[64])
{
    unsigned family = (unsigned)value & 0xff;
    unsigned type = (unsigned)value >> 8 & 0xf;
    unsigned protocol = (unsigned)value >> 16 & 0xff;
    char number[32];
    const char *name = family_name(family, number);

    if (family == AF_UNIX)
        (void)snprintf(out, 64, "%s, %s", name, type == SOCK_STREAM ? "stream" : "datagram");
    else if (family == AF_NETLINK)
        (void)snprintf(out, 64, "%s, protocol %u", name, protocol);
    else
        (void)snprintf(out, 64, "%s", name);
}

/* A program may have a lower limit that it gave itself. */
static bool is_own_limit(const struct coop_box *box, const struct protocol_denied *message)
{
    const uint64_t *limits = box->plan.policy->limits;

    switch ((int)message->op) {
    case DENIAL_OPEN_FILES:
        return limits[COOP_LIMIT_OPEN_FILES] != (uint64_t)(unsigned)message->value;
    case DENIAL_CPU:
        return limits[COOP_LIMIT_CPU_SECONDS] != strtoull(message->text, NULL, 10);
    case DENIAL_FILE_SIZE:
        return message->text[0] /* else init found it, and knows no other */
               && limits[COOP_LIMIT_FILE_SIZE] != strtoull(message->text, NULL, 10);
    default:
        return false;
    }
}

/* With nat that is no refusal: the host has no way there. What nat refuses, coop-nat tells. */
static bool is_without_way(const struct coop_box *box, const struct denial_note *note)
{
    return box->plan.policy->network == COOP_NETWORK_NAT && note->op == DENIAL_CONNECT &&
           (note->error == ENETUNREACH || note->error == EADDRNOTAVAIL);
}

static void take_refusal(struct coop_box *box, const struct protocol_denied *message)
{
    char text[64] = "";
    struct denial_note note = {
        .op = (enum denial_op)message->op,
        .error = message->error,
        .nr = message->nr,
        .rule = message->rule,
        .session = message->session,
        .target = message->text,
        .at_ms = ms_since_start(box, message->at_ns),
    };

    if (note.op == DENIAL_SOCKET) {
        note.value = message->value & 0xff;
        print_socket(message->value, text);
        note.target = text;
    }
    if (note.op == DENIAL_CPU || note.op == DENIAL_FILE_SIZE)
        note.target = ""; /* as of the command itself */
    int index = is_own_limit(box, message) || is_without_way(box, &note)
                    ? IGNORED
                    : denials_note(&box->denials, &note);
    if (message->slot >= 0 && message->slot < DENIALS_MAX)
        box->slots[message->slot] = (short)(index + 1);
}

/* It fails in the box. What the host would refuse as well, or does not have, is no refusal of ours. */
static void take_question(struct coop_box *box, const struct protocol_denied *message)
{
    if (message->op >= DENIAL_OPS || message->text[0] != '/' ||
        (message->error == ENOENT && quiet_is(message->text)))
        return;
    box->denial_host.policy = box->sandbox->policy;
    box->denial_host.workspace = box->workspace;
    box->denial_host.is_root = box->sandbox->host.is_root;
    enum denial_op op = (enum denial_op)message->op;
    if (op == DENIAL_CREATE && message->error == EACCES &&
        denial_host_has(&box->denial_host, message->text))
        op = DENIAL_WRITE; /* init could not look */
    if (denial_host_permits(&box->denial_host, op, message->text, message->error != ENOENT,
                            message->value == PROTOCOL_LOOKED)) {
        struct protocol_denied refusal = *message;

        refusal.op = (uint32_t)op;
        refusal.nr = -1; /* the same thing, whichever call asked for it */
        take_refusal(box, &refusal);
    }
}

static void take_count(struct coop_box *box, const struct protocol_denied *message)
{
    int denial = message->slot >= 0 && message->slot < DENIALS_MAX ? box->slots[message->slot] : 0;

    if (denial > 0)
        denials_count(&box->denials, denial - 1, message->count);
    else if (denial == 0 && message->count > 0)
        box->denials.more += message->count - 1; /* the first was counted when it came */
}

void box_denials_take(struct coop_box *box, struct protocol_denied *message, size_t length)
{
    size_t n = length - PROTOCOL_DENIED_HEAD;

    message->text[n > 0 ? n - 1 : 0] = '\0';
    if (message->op >= DENIAL_OPS)
        return;
    switch ((int)message->event) {
    case EVENT_DENIED:
        take_refusal(box, message);
        break;
    case EVENT_MAYBE:
        take_question(box, message);
        break;
    case EVENT_COUNT:
        take_count(box, message);
        break;
    case EVENT_MORE:
        box->denials.more += message->count;
        break;
    default:
        break;
    }
}

void box_denials_note_refusal(struct coop_box *box, int rule, const char *path, const char *why)
{
    (void)denials_note(&box->denials,
                       &(struct denial_note){ .op = DENIAL_WRITE,
                                              .error = EACCES,
                                              .nr = -1,
                                              .rule = rule,
                                              .target = path,
                                              .why = why,
                                              .at_ms = ms_since_start(box, clock_now_ns()) });
}

void box_denials_note_late(struct coop_box *box, const struct protect_rule *rule, const char *path,
                           const char *why)
{
    auto_buffer struct buffer text = { 0 };
    auto_buffer struct buffer origin = { 0 };

    buffer_append_string(&text, "protect.deny");
    if (rule) {
        buffer_printf(&text, " '%s'", rule->pattern);
        origin_print(&origin, rule->origin);
    }
    (void)denials_note(&box->denials,
                       &(struct denial_note){ .op = DENIAL_READ,
                                              .nr = -1,
                                              .rule = PROTOCOL_RULE_LATE,
                                              .target = path,
                                              .rule_text = text.failed ? "protect.deny" : text.data,
                                              .origin = origin.failed ? NULL : origin.data,
                                              .why = why,
                                              .allow = "--unprotect PATTERN",
                                              .at_ms = ms_since_start(box, clock_now_ns()) });
}

/* ---- limits */

static bool is_limited(const struct coop_box *box, coop_limit limit)
{
    return box->plan.policy->limits[limit] != COOP_LIMIT_NONE;
}

static void note_limit(struct coop_box *box, enum denial_op op, int error, uint64_t at_ns,
                       uint64_t count)
{
    (void)denials_note(&box->denials, &(struct denial_note){ .op = op,
                                                             .error = error,
                                                             .nr = -1,
                                                             .rule = DENIAL_NO_RULE,
                                                             .count = count,
                                                             .is_total = true,
                                                             .at_ms = ms_since_start(box, at_ns) });
}

static bool is_cpu_hit(const struct coop_box *box, int number)
{
    uint64_t seconds = box->plan.policy->limits[COOP_LIMIT_CPU_SECONDS];
    bool is_killed_otherwise =
        box->timed_out || box->memory_killed || box->usage.oom_kills > 0 || box->cancelled;

    return is_limited(box, COOP_LIMIT_CPU_SECONDS) &&
           (number == SIGXCPU ||
            (number == SIGKILL && !is_killed_otherwise && box->cpu_us >= seconds * 1000000u));
}

static void note_limits(struct coop_box *box)
{
    int number = WIFSIGNALED(box->status) ? WTERMSIG(box->status) : 0;

    if (box->memory_killed || box->usage.oom_kills > 0)
        note_limit(box, DENIAL_MEMORY, ENOMEM, box->ended_ns, box->usage.oom_kills);
    if (box->usage.pids_refused > 0)
        note_limit(box, DENIAL_PIDS, EAGAIN, box->ended_ns, box->usage.pids_refused);
    if (box->timed_out)
        note_limit(box, DENIAL_TIME, ETIMEDOUT,
                   box->started_ns + box->options.timeout_ms * 1000000u, 1);
    if (is_cpu_hit(box, number))
        note_limit(box, DENIAL_CPU, 0, box->ended_ns, 1);
    if (number == SIGXFSZ && is_limited(box, COOP_LIMIT_FILE_SIZE))
        note_limit(box, DENIAL_FILE_SIZE, EFBIG, box->ended_ns, 1);
}

void box_denials_finish(struct coop_box *box)
{
    note_limits(box);
    denial_words(box);
}
