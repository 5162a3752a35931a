/*
 * describe.c - a plan in words
 */
#include <stdio.h>
#include <string.h>

#include "base/quantity.h"
#include "plan/plan.h"
#include "policy/credentials.h"

static const char *const names[STEP_KINDS] = {
    [STEP_JOIN_CGROUP] = "join the cgroup",
    [STEP_CGROUP_NAMESPACE] = "cgroup namespace",
    [STEP_ID_MAP] = "map ids",
    [STEP_HOSTNAME] = "set the host name",
    [STEP_POOL] = "make a file system in memory",
    [STEP_MAKE_DIRECTORY] = "make directory",
    [STEP_MAKE_LINK] = "make link",
    [STEP_MAKE_FILE] = "make file",
    [STEP_ROOT] = "make the root",
    [STEP_ENTER_TEMPLATE] = "enter the prepared view",
    [STEP_BIND] = "bind",
    [STEP_PROJECT] = "take as the root's content",
    [STEP_SHOW] = "show",
    [STEP_PRIVATE] = "private directory",
    [STEP_TMPFS] = "mount tmpfs",
    [STEP_PROC] = "mount proc",
    [STEP_TERMINALS] = "mount devpts",
    [STEP_HIDE] = "hide",
    [STEP_PRISTINE] = "set a copy aside of",
    [STEP_HOLD] = "hold in its place",
    [STEP_FREEZE] = "make the copy read-only",
    [STEP_KEEP] = "keep read-only",
    [STEP_MASK] = "hide",
    [STEP_COVER] = "show without its secrets",
    [STEP_SEAL_ROOT] = "make the root read-only",
    [STEP_TRAPS] = "watch what is hidden",
    [STEP_ENTER_ROOT] = "enter the root",
    [STEP_DROP_HOST_ROOT] = "drop the host's root",
    [STEP_NETWORK] = "private network",
    [STEP_GATE] = "lead every address to the gate",
    [STEP_NAT] = "lead to the internet and nothing nearer",
    [STEP_JOIN_NETWORK] = "join the private network",
    [STEP_PTY] = "make a terminal",
    [STEP_SESSION] = "new session",
    [STEP_STDIO] = "connect standard input and output",
    [STEP_LIMIT] = "limit",
    [STEP_KEYRING] = "new session keyring",
    [STEP_CHANGE_DIRECTORY] = "change directory",
    [STEP_CLOSE] = "close descriptors",
    [STEP_LANDLOCK] = "landlock",
    [STEP_WALL] = "wall around protected paths",
    [STEP_CAPABILITIES] = "drop capabilities",
    [STEP_SECCOMP] = "seccomp",
    [STEP_NO_CODE_FILES] = "seccomp, no programs from memory",
    [STEP_NO_SHARED_OBJECTS] = "seccomp, no objects shared with the host",
    [STEP_NO_UNIX_SOCKETS] = "seccomp, no unix sockets",
};

const char *step_name(enum step_kind kind)
{
    return names[kind];
}

static void describe_source(const struct step *step, char *out, size_t size)
{
    (void)snprintf(out, size, "%s%s%s%s '%s'%s%s%s", names[step->kind],
                   step->flags & STEP_SOCKET ? " to be connected to," : "",
                   step->flags & STEP_READ_ONLY ? " read-only" : "",
                   step->flags & STEP_NO_EXEC ? " noexec" : "", step->source,
                   strcmp(step->source + 1, step->target) ? " at '/" : "",
                   strcmp(step->source + 1, step->target) ? step->target : "",
                   strcmp(step->source + 1, step->target) ? "'" : "");
}

void plan_describe_step(const struct plan *plan, size_t index, char *out, size_t size)
{
    if (index >= plan->n_steps) {
        (void)snprintf(out, size, "execute '%s'", plan->argv ? plan->argv[0] : "");
        return;
    }
    const struct step *step = &plan->steps[index];
    const char *name = names[step->kind];

    switch (step->kind) {
    case STEP_BIND:
        describe_source(step, out, size);
        return;
    case STEP_PRIVATE:
    case STEP_TMPFS:
    case STEP_HIDE:
    case STEP_PROC:
    case STEP_TERMINALS:
        (void)snprintf(out, size, "%s '/%s'", name, step->target);
        return;
    case STEP_PRISTINE:
        (void)snprintf(out, size, "%s '/%s'", name, step->target);
        return;
    case STEP_PROJECT:
        (void)snprintf(out, size, "%s%s '%s'", name,
                       step->flags & STEP_READ_ONLY ? ", read-only," : "", step->source);
        return;
    case STEP_SHOW:
        (void)snprintf(out, size, "%s '/%s'", step->flags & STEP_HIDDEN ? "hide" : name,
                       step->target);
        return;
    case STEP_HOLD:
    case STEP_KEEP:
    case STEP_MASK:
    case STEP_COVER:
        (void)snprintf(out, size, "%s '%s'%s%s%s", name, step->target,
                       step->kind != STEP_COVER && step->source ? " (" : "",
                       step->kind != STEP_COVER && step->source ? step->source : "",
                       step->kind != STEP_COVER && step->source ? ")" : "");
        return;
    case STEP_MAKE_DIRECTORY:
    case STEP_MAKE_FILE:
        (void)snprintf(out, size, "%s '%s%s'", name,
                       strncmp(step->target, "../", 3) ? "/" : "memory:",
                       strncmp(step->target, "../", 3) ? step->target : step->target + 3);
        return;
    case STEP_MAKE_LINK:
        (void)snprintf(out, size, "%s '/%s' to '%s'", name, step->target, step->source);
        return;
    case STEP_CHANGE_DIRECTORY:
    case STEP_HOSTNAME:
        (void)snprintf(out, size, "%s '%s'", name, step->source);
        return;
    case STEP_TRAPS:
        (void)snprintf(out, size, "%s", name);
        return;
    case STEP_ID_MAP:
        (void)snprintf(out, size, "%s: user '%s', group '%s' (inside outside count)", name,
                       step->source, step->target);
        return;
    case STEP_LIMIT:
        (void)snprintf(out, size, "%s %s %llu", name, step->target,
                       (unsigned long long)step->value);
        return;
    case STEP_POOL: {
        char text[32];

        quantity_format_size(step->value, text);
        (void)snprintf(out, size, "%s, %s", name,
                       step->value == COOP_LIMIT_NONE ? "no limit of its own" : text);
        return;
    }
    case STEP_NETWORK:
        (void)snprintf(out, size, "%s, %s", name, step->value ? "loopback up" : "loopback down");
        return;
    case STEP_GATE:
    case STEP_NAT: {
        size_t n = policy_n_credentials(plan->policy);
        char credentials[48] = "";

        if (n > 0)
            (void)snprintf(credentials, sizeof credentials, ", %zu credential%s", n,
                           n == 1 ? "" : "s");
        (void)snprintf(out, size, "%s, %zu rules%s", name, plan->policy->n_hosts, credentials);
        return;
    }
    case STEP_LANDLOCK:
        (void)snprintf(out, size, "%s, %zu rules", name, plan->landlock.n_rules);
        return;
    case STEP_WALL:
        (void)snprintf(out, size, "%s, %zu names", name, plan->n_never);
        return;
    case STEP_SECCOMP:
        (void)snprintf(out, size, "%s, %u instructions", name, plan->seccomp_length);
        return;
    case STEP_JOIN_CGROUP:
    case STEP_CGROUP_NAMESPACE:
    case STEP_ROOT:
    case STEP_FREEZE:
    case STEP_ENTER_TEMPLATE:
    case STEP_SEAL_ROOT:
    case STEP_ENTER_ROOT:
    case STEP_DROP_HOST_ROOT:
    case STEP_JOIN_NETWORK:
    case STEP_PTY:
    case STEP_SESSION:
    case STEP_STDIO:
    case STEP_KEYRING:
    case STEP_CLOSE:
    case STEP_CAPABILITIES:
    case STEP_NO_CODE_FILES:
    case STEP_NO_SHARED_OBJECTS:
    case STEP_NO_UNIX_SOCKETS:
    case STEP_KINDS:
        break;
    }
    (void)snprintf(out, size, "%s", name);
}
