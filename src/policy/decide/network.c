/*
 * network.c - may it connect there, may it listen here?
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "policy/decide/decide.h"
#include "policy/network_mode.h"

static bool is_loopback(const char *target)
{
    return strncmp(target, "127.", 4) == 0 || strncmp(target, "localhost:", 10) == 0 ||
           strncmp(target, "[::1]:", 6) == 0;
}

/* "HOST:PORT", "[::1]:PORT" */
static int check_address(const char *target, coop_error **err)
{
    const char *colon = strrchr(target, ':');
    size_t n = colon ? strspn(colon + 1, "0123456789") : 0;
    long port = n > 0 && n < 6 ? strtol(colon + 1, NULL, 10) : -1;
    bool is_number = n > 0 && colon[1 + n] == '\0' && port >= 0 && port <= 65535;

    if (is_number && colon > target && (*target == '[') == (colon[-1] == ']'))
        return 0;
    return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                     "'%.60s' is no address: expected HOST:PORT, for example localhost:80", target);
}

/* With network = host it is allowed, else not. */
static int say_network(const struct decide_subject *subject, const char *why,
                       struct decide_answer *out)
{
    coop_network network = subject->policy->network;
    bool is_allowed = !network_modes[network].has_namespace;
    int r = decide_say(out, is_allowed, &subject->network_origin,
                       is_allowed ? "write network = \"none\"" : "write network = \"host\"", why,
                       "network '%s'", policy_network_names[network]);

    return r < 0 ? r : decide_flag(out, is_allowed ? "--network none" : "--network host", NULL);
}

/* By its name on the host, or in the box. */
static const struct policy_mount *find_socket(const coop_policy *policy, const char *path,
                                              const char *place)
{
    for (size_t i = 0; i < policy->n_mounts; i++) {
        const struct policy_mount *mount = &policy->mounts[i];

        if (mount->is_socket &&
            (strcmp(mount->source, path) == 0 || (place && strcmp(mount->target, place) == 0)))
            return mount;
    }
    return NULL;
}

/* A socket that is a file: it must be seen, be it read-only. One that the box makes itself is another
 * matter: it always may. */
static int decide_socket(const struct decide_subject *subject, const char *path,
                         struct decide_answer *out, coop_error **err)
{
    int r = decide_path(subject, DECIDE_READ, path, out, err);

    if (r < 0 || subject->policy->host_sockets)
        return r;
    if (!out->is_allowed) /* to show it would not be enough */
        return !out->flag || strncmp(out->flag, "--ro ", 5) != 0 ? r
               : decide_flag(out, "--socket", out->flag + 5) < 0 ? fail_no_memory(err)
                                                                 : 0;
    const struct policy_mount *socket = find_socket(subject->policy, path, out->place);
    auto_free char *place = out->place;
    out->place = NULL;
    if (socket)
        r = decide_say(out, true, &socket->origin, "take it out of sandbox.sockets",
                       "this socket of the host may be connected to", "sandbox.sockets '%s'",
                       socket->source);
    else
        r = decide_say(
            out, false, NULL, "write allow_sockets = true in [sandbox]",
            "services of the host may not be connected to, even if their socket is visible",
            "sandbox.allow_sockets 'false'");
    if (r == 0 && !socket)
        r = decide_flag(out, "--allow-sockets", NULL);
    out->place = place;
    place = NULL;
    return r < 0 ? fail_no_memory(err) : 0;
}

int decide_connect(const struct decide_subject *subject, const char *target,
                   struct decide_answer *out, coop_error **err)
{
    if (*target == '/' || *target == '~')
        return decide_socket(subject, target, out, err);
    int r = check_address(target, err);
    if (r < 0)
        return r;
    const struct network_mode *mode = network_mode(subject->policy);
    if (mode->has_rules)
        return decide_host(subject, target, out, err);
    if (mode->has_way_out || !mode->has_sockets)
        r = say_network(subject, mode->why, out);
    else
        r = decide_would_allow(
            subject, target,
            is_loopback(target)
                ? "the loopback is the box's own: no service of the host answers there"
                : mode->why,
            out);
    return r < 0 ? fail_no_memory(err) : 0;
}

/* What a network namespace begins with: below, a capability is needed, and nobody in a box has one. */
#define FIRST_FREE_PORT 1024

static bool is_privileged(const char *target)
{
    const char *colon = strrchr(target, ':');
    unsigned long port = colon ? strtoul(colon + 1, NULL, 10) : 0;

    return port > 0 && port < FIRST_FREE_PORT;
}

/* Other ports of the private loopback are free for all. */
int decide_bind(const struct decide_subject *subject, const char *target, struct decide_answer *out,
                coop_error **err)
{
    const struct network_mode *mode = network_mode(subject->policy);
    bool is_any = strncmp(target, "0.0.0.0:", 8) == 0 || strncmp(target, "[::]:", 5) == 0;
    int r = check_address(target, err);

    if (r < 0)
        return r;
    if (!mode->has_namespace || !mode->has_sockets)
        r = say_network(subject, mode->why, out);
    else if (!is_loopback(target) && !is_any)
        r = say_network(subject, "the box has no other address than those of its private loopback",
                        out);
    else if (is_privileged(target))
        r = decide_say(out, false, NULL, "choose a port from 1024 on",
                       "ports below 1024 need a privilege that nobody in a box has",
                       "the box's own privileges");
    else if ((r = decide_say(out, true, &subject->network_origin, "write network = \"off\"",
                             "the loopback is the box's own: nobody outside reaches it",
                             "network 'none'")) == 0)
        r = decide_flag(out, "--network off", NULL);
    return r < 0 ? fail_no_memory(err) : 0;
}
