#include "gate.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/credential.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/libexec.h"
#include "net/gate_protocol.h"
#include "net/inside/gate_inside.h"
#include "supervise/box.h"

#define LAST_WORDS_MS 1000
#define TIDY_MS       10000
#define ALLOW         "allow " /* a line of rules: gate/rules.h */

static int rules_file(const struct buffer *rules, coop_error **err)
{
    auto_close int fd = memfd_create("coop-gate-rules", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0)
        return fail(err, errno, "make a file in memory for the gate's rules");
    int r = fd_lift(&fd);
    if (r < 0)
        return fail(err, -r, "make a file in memory for the gate's rules");
    for (size_t at = 0; at < rules->length;) {
        ssize_t n = write(fd, rules->data + at, rules->length - at);

        if (n < 0)
            return fail(err, errno, "write the gate's rules");
        at += (size_t)n;
    }
    (void)lseek(fd, 0, SEEK_SET);
    return take_fd(&fd);
}

int network_gate_prepare(struct network_gate *gate, const char *name, coop_error **err)
{
    int pair[2] = { -1, -1 };
    int r = libexec_find(name, &gate->program);

    if (r == -ENOENT)
        return fail_hint(err,
                         fail_kind(err, COOP_ERROR_SETUP, ENOENT,
                                   "the network '%s' needs the program %s, which is not installed",
                                   name + strlen("coop-"), name),
                         "install all of coop with 'make install'");
    if (r < 0)
        return fail_no_memory(err);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return fail(err, errno, "make the gate's socket");
    gate->fd = pair[0];
    gate->their_fd = pair[1];
    r = fd_lift(&gate->fd);
    if (r == 0)
        r = fd_lift(&gate->their_fd);
    return r < 0 ? fail(err, -r, "make the gate's socket") : 0;
}

int network_gate_spawn(struct network_gate *gate, const struct buffer *rules, char *argument,
                       coop_error **err)
{
    char *const paths[] = { gate->program, NULL };
    char *const argv[] = { strrchr(gate->program, '/') + 1, argument, NULL };
    char *const environment[] = { NULL };
    auto_close int rules_fd = rules_file(rules, err);

    if (rules_fd < 0)
        return rules_fd;
    const struct spawn_program program = { .paths = paths,
                                           .argv = argv,
                                           .environment = environment,
                                           .fds = { gate->their_fd, rules_fd,
                                                    gate->credential.gate_fd },
                                           .is_detached = true };
    long r = spawn_start(&program, &gate->process);
    if (r < 0)
        return fail(err, (int)-r, "start '%s'", gate->program);
    gate->is_running = true;
    close_fd(&gate->their_fd);
    close_fd(&gate->credential.gate_fd);
    return 0;
}

/* Also for a box whose sockets nobody waits for. */
static int begin(struct network_gate *gate, coop_error **err)
{
    gate->tables_fd = network_wait_take_log(&gate->wait);
    network_wait_end(&gate->wait);
    return network_gate_spawn(gate, &gate->rules, NULL, err);
}

/* The sockets are waiting for it already, and connections wait in them. */
int network_gate_start(struct network_gate *gate, const struct plan_gate *plan, coop_error **err)
{
    int r = 0;

    buffer_append(&gate->rules, plan->rules.data, plan->rules.length);
    if (gate->rules.failed)
        return fail_no_memory(err);
    /* Who comes to a published port does not come through the box. */
    if (network_wait_begin(&gate->wait, gate->their_fd) < 0 || plan->inside.has_publish)
        r = begin(gate, err);
    if (r == 0)
        (void)network_orders_open(&gate->orders,
                                  &plan->rules); /* without it nothing can be changed later */
    return r;
}

void network_gate_wake(struct coop_box *box)
{
    struct network_gate *gate = &box->gate;
    auto_error coop_error *err = NULL;

    if (gate->is_running || gate->fd < 0) {
        network_wait_end(&gate->wait);
        return;
    }
    int r = begin(gate, &err);
    if (r == 0)
        return;
    gate->error = -r;
    (void)snprintf(gate->step, sizeof gate->step, "begin");
    box_kill(box);
}

/* "[2001:db8::1]:443", "example.org:80" */
static void print_target(const struct gate_event *event, char *out, size_t size)
{
    bool is_ipv6 = strchr(event->name, ':') != NULL;

    (void)snprintf(out, size, event->port ? "%s%s%s:%u%s" : "%s%s%s", is_ipv6 ? "[" : "",
                   event->name, is_ipv6 ? "]" : "", event->port, event->is_udp ? "/udp" : "");
}

/* Which rule, and where it stands; none: the list of those that are allowed. */
static void take_rule(const struct coop_box *box, const struct gate_event *event,
                      struct denial_note *note, char text[HOST_RULE_TEXT_MAX + 16],
                      struct buffer *origin)
{
    const coop_policy *policy = box->sandbox->policy;

    if (event->rule < 0) {
        note->rule_text = policy->network == COOP_NETWORK_NAT ? "network 'nat'" : "network.allow";
        return;
    }
    if ((size_t)event->rule >= policy->n_hosts) {
        note->rule_text = "coop net deny";
        return;
    }
    char rule[HOST_RULE_TEXT_MAX];
    (void)host_rule_format(&policy->hosts[event->rule].rule, rule);
    (void)snprintf(text, HOST_RULE_TEXT_MAX + 16, "%s %s",
                   policy->hosts[event->rule].is_denied ? "deny" : "allow", rule);
    note->rule_text = text;
    if (policy->hosts[event->rule].origin.name) {
        origin_print(origin, policy->hosts[event->rule].origin);
        note->origin = origin->data;
    }
}

/* A host or address that was not to be reached. */
static void say_why(const struct coop_box *box, const struct gate_event *event, char *out,
                    size_t size)
{
    uint8_t address[ADDRESS_BYTES];

    if (event->rule >= 0)
        (void)snprintf(out, size, "the host is denied");
    else if (box->sandbox->policy->network != COOP_NETWORK_NAT)
        (void)snprintf(out, size, "no rule allows this host and port");
    else if (!address_parse(event->name, strlen(event->name), address) ||
             !address_is_special(address))
        (void)snprintf(out, size, "it is an address of the host");
    else
        (void)snprintf(out, size, "it is not on the internet (%s), and no rule names it",
                       address_special_name(address));
}

/* Which credential, and where it stands. */
static void take_credential(const struct coop_box *box, const struct gate_event *event,
                            struct denial_note *note, char text[HOST_RULE_TEXT_MAX + 16],
                            struct buffer *origin)
{
    const coop_policy *policy = box->sandbox->policy;

    note->rule_text = "network.credentials";
    note->target = CREDENTIAL_DOMAIN;
    note->allow = NULL;
    if (event->rule < 0 || (size_t)event->rule >= policy->n_credentials)
        return;
    const struct policy_credential *credential = &policy->credentials[event->rule];
    (void)snprintf(text, HOST_RULE_TEXT_MAX + 16, "network.credentials.%s", credential->name);
    note->rule_text = text;
    if (*event->name) /* else no host was reached */
        note->target = NULL;
    if (credential->origin.name) {
        origin_print(origin, credential->origin);
        note->origin = origin->data;
    }
}

/* The box only sees that somebody hangs up: the gate accepts before it connects. The first is told. */
static void note_unreachable(struct coop_box *box, const struct gate_event *event,
                             const char *target)
{
    auto_buffer struct buffer text = { 0 };

    if (box->plan.note)
        return;
    buffer_printf(&text, "the host could not reach %s: %s", target,
                  *event->detail ? event->detail : strerror(event->error));
    box->plan.note = buffer_take_string(&text);
}

static void note_event(struct coop_box *box, const struct gate_event *event)
{
    char target[sizeof event->name + 16];
    char rule[HOST_RULE_TEXT_MAX + 16];
    char allow[sizeof target + 16];
    char why[sizeof event->detail + 160];
    auto_buffer struct buffer origin = { 0 };
    struct denial_note note = { .op = DENIAL_CONNECT,
                                .nr = -1,
                                .rule = DENIAL_NO_RULE,
                                .target = target,
                                .why = why,
                                .allow = allow,
                                .count = event->count,
                                .is_total = true,
                                .at_ms = (clock_now_ns() - box->started_ns) / 1000000 };

    print_target(event, target, sizeof target);
    take_rule(box, event, &note, rule, &origin);
    bool is_denied = event->rule >= 0;
    (void)snprintf(allow, sizeof allow, "--allow %s", target);
    if (is_denied && event->kind != GATE_EVENT_HEAD)
        note.allow = NULL;
    switch ((enum gate_event_kind)event->kind) {
    case GATE_EVENT_NAME:
        note.op = DENIAL_DNS;
        note.error = ENOENT;
        (void)snprintf(why, sizeof why, "%s",
                       is_denied ? "the name is denied" : "no rule allows this name");
        break;
    case GATE_EVENT_CONNECT:
    case GATE_EVENT_UDP:
        note.error = event->is_udp ? EPERM : ECONNREFUSED;
        say_why(box, event, why, sizeof why);
        break;
    case GATE_EVENT_HEAD:
        note.error = ECONNRESET;
        note.allow = NULL;
        (void)snprintf(why, sizeof why, "the connection was for another host: %s", event->detail);
        break;
    case GATE_EVENT_ANSWER:
        note.error = ECONNRESET;
        (void)snprintf(why, sizeof why, "the name leads to %s, and no rule names that address",
                       event->detail);
        /* The address is the first word. */
        (void)snprintf(allow, sizeof allow,
                       strchr(event->detail, ':') ? "--allow [%.*s]:%u%s" : "--allow %.*s:%u%s",
                       (int)strcspn(event->detail, " "), event->detail, event->port,
                       event->is_udp ? "/udp" : "");
        break;
    case GATE_EVENT_LIMIT:
        note.error = ECONNRESET;
        note.rule_text = "the gate's limits";
        note.allow = NULL;
        (void)snprintf(why, sizeof why, "%s", event->detail);
        break;
    case GATE_EVENT_CREDENTIAL:
        note.error = ECONNRESET;
        buffer_done(&origin);
        take_credential(box, event, &note, rule, &origin);
        if (!note.target)
            note.target = target;
        (void)snprintf(why, sizeof why, "the request was not sent with the secret: %s",
                       event->detail);
        break;
    case GATE_EVENT_UPSTREAM: /* nobody refused: the host is not there */
        note_unreachable(box, event, target);
        return;
    case GATE_EVENT_WANTS_CREDENTIALS:
    case GATE_EVENT_READY:
    default:
        return;
    }
    (void)denials_note(&box->denials, &note);
}

bool network_gate_read(struct coop_box *box)
{
    struct gate_event event;
    ssize_t n = recv(box->gate.fd, &event, sizeof event, MSG_DONTWAIT);

    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        box->gate.has_failed = !box->gate.is_told;
        return false;
    }
    if (n == (ssize_t)sizeof event && event.kind == GATE_EVENT_READY && event.error) {
        box->gate.error = event.error;
        (void)snprintf(box->gate.step, sizeof box->gate.step, "%.100s", event.detail);
        box_kill(box); /* it was not to be without */
    } else if (n == (ssize_t)sizeof event && event.kind == GATE_EVENT_WANTS_CREDENTIALS) {
        (void)network_credential_start(&box->gate.credential, box->sandbox->policy);
    } else if (n == (ssize_t)sizeof event) {
        event.name[sizeof event.name - 1] = event.detail[sizeof event.detail - 1] = '\0';
        note_event(box, &event);
    }
    return true;
}

/*
 * What no rule names is refused in the box's own tables, so a rule for addresses needs its place there.
 * We may change them, because the box's user namespace is ours, and the socket was made by one who
 * might. What the gate lets through, it decides itself: if this fails, they stay closed.
 */
static void open_addresses(const struct network_gate *gate, const char *order)
{
    auto_buffer struct buffer batch = { 0 };
    struct gate_network networks[2];
    struct host_rule rule;

    if (gate->tables_fd < 0 || strncmp(order, ALLOW, strlen(ALLOW)) != 0 ||
        host_rule_parse(order + strlen(ALLOW), &rule) || rule.is_udp)
        return;
    size_t n = gate_inside_networks(&rule, networks);
    if (n > 0 && gate_inside_open(&batch, networks, n) == 0)
        (void)send(gate->tables_fd, batch.data, batch.length, MSG_DONTWAIT);
}

void network_gate_obey(struct coop_box *box)
{
    struct network_gate *gate = &box->gate;
    char order[NETWORK_ORDER_SIZE];

    network_gate_wake(box); /* it has to be told of all of them */
    while (network_orders_take(&gate->orders, order))
        if (*order) {
            open_addresses(gate, order);
            (void)send(gate->fd, order, strlen(order), MSG_NOSIGNAL | MSG_DONTWAIT);
        }
}

static void wait_for_end(struct network_gate *gate)
{
    siginfo_t info;

    close_fd(&gate->their_fd);
    network_wait_end(&gate->wait);
    buffer_done(&gate->rules);
    free(take_ptr(gate->program));
    if (!gate->is_running) {
        network_credential_end(&gate->credential);
        return;
    }
    gate->is_running = false;
    if (spawn_await(&gate->process, clock_now_ms() + (gate->tidies_up ? TIDY_MS : LAST_WORDS_MS)) <
        0)
        spawn_kill(&gate->process);
    (void)spawn_wait(&gate->process, &info);
    spawn_done(&gate->process);
    network_credential_end(&gate->credential);
}

int network_gate_check(const struct network_gate *gate, coop_error **err)
{
    if (!gate->error)
        return 0;
    return fail_as(err, fail(err, gate->error, "start the network gate: %s", gate->step),
                   COOP_ERROR_SETUP);
}

/* Without it the box reaches nothing. What takes walls down at its end is not to end before the box. */
void network_gate_finish(struct network_gate *gate)
{
    if (gate->fd < 0 || !gate->is_running || gate->tidies_up || gate->is_told)
        return;
    gate->is_told = true;
    (void)shutdown(gate->fd, SHUT_WR);
}

void network_gate_end(struct coop_box *box)
{
    struct network_gate *gate = &box->gate;
    int64_t until = clock_now_ms() + LAST_WORDS_MS;

    if (gate->fd < 0)
        return;
    if (network_wait_is_over(&gate->wait)) /* at the last moment: it is told of all the same */
        network_gate_wake(box);
    if (!gate->is_running) {
        network_gate_drop(gate);
        return;
    }
    bool has_failed = gate->has_failed;
    (void)shutdown(gate->fd, SHUT_WR);
    for (;;) {
        struct pollfd words = { .fd = gate->fd, .events = POLLIN };
        int64_t left = until - clock_now_ms();

        if (left <= 0 || poll(&words, 1, (int)left) <= 0 || !network_gate_read(box))
            break;
    }
    gate->has_failed = has_failed;
    if (has_failed && !gate->error && !box->plan.note)
        box->plan.note = strdup(
            "the network gate ended before the command: nothing could be reached after that");
    close_fd(&gate->fd);
    close_fd(&gate->tables_fd);
    network_orders_close(&gate->orders);
    if (gate->tidies_up) /* what is left on the host is part of the box's end */
        wait_for_end(gate);
}

void network_gate_drop(struct network_gate *gate)
{
    close_fd(&gate->fd);
    close_fd(&gate->tables_fd);
    network_orders_close(&gate->orders);
    wait_for_end(gate);
}
