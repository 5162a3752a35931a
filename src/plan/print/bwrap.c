/*
 * bwrap.c - the nearest bubblewrap command line, and what it cannot express
 *
 * It can be copied into a shell as it stands. bubblewrap makes the mount points that are missing, also
 * in directories of the host, where they stay: what would need one is left out, and that is said.
 */
#include <ctype.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/shell_word.h"
#include "plan/print/place.h"
#include "plan/print/print.h"
#include "policy/credentials.h"
#include "policy/env_rules.h"
#include "policy/network_mode.h"

struct bwrap {
    const struct plan *plan;
    struct buffer *out;
    struct buffer left_out; /* comment lines */
    const char *protected;  /* the directory whose masks come next, without its leading slash */
};

static void option(struct bwrap *bwrap, const char *name, const char *source, const char *target)
{
    buffer_printf(bwrap->out, " \\\n  %s", name);
    if (source) {
        buffer_append_char(bwrap->out, ' ');
        shell_word_append(bwrap->out, source);
    }
    if (target) {
        buffer_append_string(bwrap->out, " /");
        shell_word_append(bwrap->out, target);
    }
}

/* A comment ends with its line, so a name with a newline in it must not be in one. */
static void leave_out(struct bwrap *bwrap, const char *target, const char *why)
{
    buffer_append_string(&bwrap->left_out, "#  - /");
    for (const char *p = target; *p; p++)
        buffer_append_char(&bwrap->left_out, (unsigned char)*p < ' ' ? '?' : *p);
    buffer_printf(&bwrap->left_out, ": %s\n", why);
}

/* ---- the environment */

/* The policy's own value, which may be a secret: the shell must have it. */
static bool is_of_policy(const coop_policy *policy, const char *entry, size_t n)
{
    for (size_t i = 0; i < policy->n_variables; i++)
        if (strlen(policy->variables[i].name) == n &&
            strncmp(policy->variables[i].name, entry, n) == 0 &&
            strcmp(policy->variables[i].value, entry + n + 1) == 0)
            return true;
    for (size_t i = 0; i < policy->n_secrets; i++)
        if (policy->secrets[i].n_variable == n && strncmp(policy->secrets[i].entry, entry, n) == 0)
            return true;
    return false;
}

/* The caller's value, whatever it is: the shell has it too. */
static bool is_of_caller(const char *name, const char *value)
{
    enum env_source source;
    const char *own = getenv(name);

    return own && strcmp(own, value) == 0 &&
           !(env_is_inherited(name, &source) && source == ENV_FROM_COOP);
}

/* What each run has for itself. */
static const char *made_at_run(const struct plan *plan, const char *name)
{
    static const char *const prefixes[] = { ENV_PREFIX, NULL };
    const char *second = plan->policy->second_prefix;

    for (size_t i = 0; i < COUNT(prefixes); i++) {
        const char *prefix = prefixes[i] ? prefixes[i] : second;
        size_t n = prefix ? strlen(prefix) : 0;

        if (!prefix || strncmp(name, prefix, n) != 0)
            continue;
        if (strcmp(name + n, "SESSION") == 0)
            return "\"$(od -An -N16 -tx1 /dev/urandom | tr -d ' \\n')\"";
        if (strcmp(name + n, "CREATED") == 0)
            return "\"$(date -u +%Y-%m-%dT%H:%M:%SZ)\"";
    }
    return NULL;
}

static bool is_shell_name(const char *name)
{
    for (const char *p = name; *p; p++)
        if (!isalnum((unsigned char)*p) && *p != '_')
            return false;
    return true;
}

static void print_variable(struct bwrap *bwrap, const char *entry)
{
    struct buffer *out = bwrap->out;
    size_t n = strcspn(entry, "=");
    auto_free char *name = strndup(entry, n);
    const char *value = entry + n + 1;

    if (!name) {
        out->failed = true;
        return;
    }
    const char *at_run = *value ? NULL : made_at_run(bwrap->plan, name);
    bool is_hidden = is_of_policy(bwrap->plan->policy, entry, n);

    buffer_append_string(out, " \\\n  --setenv ");
    shell_word_append(out, name);
    buffer_append_char(out, ' ');
    if (at_run)
        buffer_append_string(out, at_run);
    else if (!is_hidden && !is_of_caller(name, value))
        shell_word_append(out, value);
    else if (!is_shell_name(name))
        buffer_printf(out, "\"$(printenv %s)\"", name);
    else
        buffer_printf(out, is_hidden ? "\"${%s?}\"" : "\"$%s\"", name);
}

/* ---- mounts */

/* An empty thing that nobody may open; a device node is closed by nodev. */
static void hide(struct bwrap *bwrap, const char *target, bool is_directory)
{
    if (!is_directory) {
        option(bwrap, "--ro-bind /dev/null", NULL, target);
        return;
    }
    option(bwrap, "--perms 0000 --tmpfs", NULL, target);
    option(bwrap, "--remount-ro", NULL, target);
}

static void print_hide(struct bwrap *bwrap, size_t index, const char *target)
{
    struct print_place place = print_place_find(bwrap->plan, index, target);

    if (place.kind == PLACE_ABSENT)
        leave_out(bwrap, target, "nothing is there to hide, and bubblewrap would make it");
    else if (place.kind == PLACE_LINK)
        leave_out(bwrap, target, "a symbolic link, which coop run refuses to hide");
    else
        hide(bwrap, target, place.kind == PLACE_DIRECTORY);
}

/* Whether it can be mounted without something being made on the host. */
static bool has_place(struct bwrap *bwrap, size_t index)
{
    const char *target = bwrap->plan->steps[index].target;
    struct print_place place = print_place_find(bwrap->plan, index, target);

    if (!place.is_host || place.kind == PLACE_DIRECTORY || place.kind == PLACE_FILE)
        return true;
    leave_out(bwrap, target,
              place.kind == PLACE_LINK ? "a symbolic link, which coop run refuses to mount on"
                                       : "not there to be mounted on: coop run refuses, and "
                                         "bubblewrap would make it on the host");
    return false;
}

/* An entry of the directory that is the root. */
static void print_entry(struct bwrap *bwrap, const struct step *step)
{
    const struct plan *plan = bwrap->plan;
    auto_buffer struct buffer source = { 0 };

    if (step->flags & STEP_HIDDEN)
        return;
    buffer_printf(&source, "%s/%s", plan->workspace, step->target);
    if (!source.failed)
        option(bwrap, plan->policy->read_only ? "--ro-bind" : "--bind", source.data, step->target);
}

static void print_tmpfs(struct bwrap *bwrap, const struct step *step)
{
    if (step->kind == STEP_TMPFS && step->value != COOP_LIMIT_NONE)
        buffer_printf(bwrap->out, " \\\n  --size %llu", (unsigned long long)step->value);
    option(bwrap, strcmp(step->target, "run") == 0 ? "--tmpfs" : "--perms 1777 --tmpfs", NULL,
           step->target);
    if (step->flags & STEP_READ_ONLY)
        option(bwrap, "--remount-ro", NULL, step->target);
}

/* What is protected and there now: its path in the box, and on the host. */
static void print_protected(struct bwrap *bwrap, size_t index, const struct step *step)
{
    auto_buffer struct buffer target = { 0 };
    auto_buffer struct buffer source = { 0 };

    buffer_printf(&target, "%s%s%s", bwrap->protected, *bwrap->protected ? "/" : "", step->target);
    if (target.failed)
        return;
    struct print_place place = print_place_find(bwrap->plan, index, target.data);
    if (step->kind != STEP_KEEP) {
        hide(bwrap, target.data, S_ISDIR(step->mode));
        return;
    }
    if (!place.source)
        return;
    buffer_printf(&source, "%s%s%s", place.source, *place.below ? "/" : "", place.below);
    if (!source.failed)
        option(bwrap, "--ro-bind", source.data, target.data);
}

static void print_dev(struct bwrap *bwrap)
{
    option(bwrap, "--dev /dev", NULL, NULL);
    option(bwrap, "--perms 1777 --tmpfs /dev/shm", NULL, NULL);
    option(bwrap, "--remount-ro /dev", NULL, NULL);
}

static void print_step(struct bwrap *bwrap, size_t index)
{
    const struct step *step = &bwrap->plan->steps[index];

    switch ((int)step->kind) {
    case STEP_SHOW:
        print_entry(bwrap, step);
        break;
    case STEP_BIND:
        if (!(step->flags & STEP_DEVICE) && has_place(bwrap, index)) /* --dev makes the devices */
            option(bwrap, step->flags & STEP_READ_ONLY ? "--ro-bind" : "--bind", step->source,
                   step->target);
        break;
    case STEP_MAKE_LINK:
        if (strncmp(step->target, "dev/", 4) != 0 && strncmp(step->target, "../", 3) != 0)
            option(bwrap, "--symlink", step->source, step->target);
        break;
    case STEP_PRIVATE:
    case STEP_TMPFS:
        if (has_place(bwrap, index))
            print_tmpfs(bwrap, step);
        break;
    case STEP_HIDE:
        print_hide(bwrap, index, step->target);
        break;
    case STEP_PRISTINE:
        bwrap->protected = step->target;
        break;
    case STEP_MASK:
    case STEP_COVER:
    case STEP_KEEP:
        print_protected(bwrap, index, step);
        break;
    case STEP_PROC:
        option(bwrap, "--proc", NULL, step->target);
        break;
    case STEP_TERMINALS:
        print_dev(bwrap);
        break;
    case STEP_HOSTNAME:
        option(bwrap, "--hostname", step->source, NULL);
        break;
    case STEP_CHANGE_DIRECTORY:
        option(bwrap, "--chdir", step->source, NULL);
        break;
    default:
        break;
    }
}

/* ---- what is beyond it */

static const char always_missing[] =
    "#  - Landlock rules; the seccomp program (it takes a compiled one: --seccomp FD), which also\n"
    "#    keeps setuid bits from being set\n"
    "#  - limits of memory, processes, CPU, files and time\n"
    "#  - one size for /tmp, /var/tmp, /run and /dev/shm together\n"
    "#  - the made-up /etc/passwd, group, hosts and nsswitch.conf\n"
    "#  - a session keyring of the box's own\n"
    "#  - output and input through pipes of its own, a terminal of the box's own\n"
    "#  - sources checked by inode between policy and mount\n"
    "#  - that the first process, and its arguments, are not seen in /proc\n";

static void print_missing(const struct bwrap *bwrap)
{
    const struct plan *plan = bwrap->plan;
    struct buffer *out = bwrap->out;

    buffer_append_string(out, "# bubblewrap cannot express:\n");
    buffer_append_string(out, always_missing);
    if (plan->n_write_rules > 0 || bwrap->protected)
        buffer_append_string(
            out,
            "#  - protected paths, beyond those that are there now: that nobody makes, moves or\n"
            "#    replaces them; files shown without the secrets in them (here they are hidden)\n");
    if (!plan->policy->host_sockets)
        buffer_append_string(
            out,
            "#  - that unix sockets of the host's services, where it sees them, are refused\n");
    if (!network_mode(plan->policy)->has_sockets)
        buffer_append_string(
            out, "#  - --network off: bubblewrap raises the loopback, and sockets stay allowed\n");
    if (policy_n_credentials(plan->policy) > 0)
        buffer_append_string(
            out, "#  - requests that are sent on with a secret which the box does not have\n");
    if (plan->map_owners)
        buffer_append_string(
            out, "#  - that the box of root is somebody else on the host, with owners mapped\n");
    if (plan->enforce)
        buffer_append_string(out,
                             "#  - noexec mounts, so that nothing but the allowed programs runs\n");
    if (plan->is_root_view)
        buffer_append_string(out, "#  - names that come and go at the top of the root\n");
    if (bwrap->left_out.length > 0)
        buffer_printf(out, "# Left out:\n%s", bwrap->left_out.data);
}

void plan_print_bwrap(const struct plan *plan, struct buffer *out)
{
    struct bwrap bwrap = { .plan = plan, .out = out };

    /* Its first process shows its own environment to the box: it shall have none. */
    buffer_append_string(
        out, "env -i PATH=\"$PATH\" bwrap --unshare-user --unshare-pid --unshare-ipc --unshare-uts "
             "--unshare-cgroup --die-with-parent --new-session --cap-drop ALL");
    if (plan->namespaces & CLONE_NEWNET)
        buffer_append_string(out, " --unshare-net");
    buffer_printf(out, " --uid %u --gid %u --clearenv", plan->inside_uid, plan->inside_gid);
    for (size_t i = 0; i < plan->n_environment; i++)
        print_variable(&bwrap, plan->environment[i]);
    for (size_t i = 0; i < plan->n_steps; i++)
        print_step(&bwrap, i);
    option(&bwrap, "--remount-ro /proc", NULL, NULL);
    option(&bwrap, "--remount-ro /", NULL, NULL);
    buffer_append_string(out, " \\\n  --");
    for (char *const *a = plan->argv; *a; a++) {
        buffer_append_char(out, ' ');
        shell_word_append(out, *a);
    }
    buffer_append_string(out, "\n# For bubblewrap 0.7 or newer. Values that the policy sets are "
                              "not printed: \"${NAME?}\" takes them\n# from the shell.\n");
    print_missing(&bwrap);
    if (bwrap.left_out.failed)
        out->failed = true;
    buffer_done(&bwrap.left_out);
}
