/*
 * context.c - for whom a set of tools is, what they may use, and where it acts
 *
 *   owner       on the host                        full        everything, in a box
 *   inner       commands and files, in a box       familiar    reads files
 *   public      nothing                            nobody      everything, in a box
 *
 * With the sandbox disabled, commands of those who may run any, and their file tools, act on the
 * host. Whoever may only read sees what a box would show, for nothing else limits it there. Nor could
 * what the caller narrows (read-only, roots) be held on the host, so then there is a box, which shows
 * the workspace at its own path.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/printable.h"
#include "plan/plan.h"
#include "plan/secret_hide.h"
#include "policy/network_mode.h"
#include "policy/path/path.h"
#include "policy/policy.h"
#include "run_config/run_config.h"
#include "tools/tools.h"

/* By enum tool_need. */
static const enum trust_tools wanted[] = {
    [TOOL_READS] = TRUST_TOOLS_READ_FILES,
    [TOOL_WRITES] = TRUST_TOOLS_BASH_AND_FILES,
    [TOOL_COMMANDS] = TRUST_TOOLS_BASH_AND_FILES,
    [TOOL_ALL] = TRUST_TOOLS_ALL,
};

static enum trust_tools tools_open(const struct run_config *identity)
{
    return !identity->as ? TRUST_TOOLS_ALL : trust_meanings[identity->decision.trust].tools;
}

/* ---- refusals */

enum refusal { OPEN, NOT_TRUSTED, NOT_WRITABLE, NOTHING_LEFT, NO_NETWORK };

static bool has_network(const coop_policy *policy)
{
    return network_mode(policy)->has_way_out;
}

/* The box holds it to reading. */
static bool acts_in_box(const struct tool *tool)
{
    return tool->run == tool_bash || tool->run == tool_job_input || tool->run == tool_job_stop;
}

static enum refusal refusal_of(const coop_tools *tools, const struct tool *tool)
{
    if (wanted[tool->need] > tools_open(tools->identity))
        return NOT_TRUSTED;
    if (tools->read_only && !acts_in_box(tool) && !(tool->face.flags & COOP_TOOL_READ_ONLY))
        return NOT_WRITABLE;
    if (tools->no_commands && tool->need >= TOOL_COMMANDS)
        return NOTHING_LEFT;
    if (tool->need == TOOL_ALL && !tools->on_host && !has_network(tools->policy))
        return NO_NETWORK;
    return OPEN;
}

static void print_open(const coop_tools *tools, struct buffer *out)
{
    const char *before = "use ";

    for (size_t i = 0; tool_row(i); i++)
        if (refusal_of(tools, tool_row(i)) == OPEN) {
            buffer_printf(out, "%s%s", before, tool_row(i)->face.name);
            before = ", ";
        }
    if (strcmp(before, ", ") != 0)
        buffer_append_string(
            out, "no tool is available to them; the owner of this machine can change that");
}

static void print_trust(const coop_tools *tools, struct buffer *out)
{
    const struct trust_decision *decision = &tools->identity->decision;

    buffer_append_char(out, '\'');
    printable_append(out, tools->identity->as, strlen(tools->identity->as));
    buffer_append_string(out, "' may not use it: ");
    if (decision->user)
        printable_append(out, decision->user->name, strlen(decision->user->name));
    else
        buffer_append_string(out, "the identity is unknown and");
    buffer_printf(out, " has the trust '%s'%s (%s)", tools->level,
                  decision->has_ceiling ? " in a group" : "",
                  trust_meanings[decision->trust].summary);
}

static char *refusal_text(const coop_tools *tools, const struct tool *tool, enum refusal refusal)
{
    struct buffer text = { 0 };

    buffer_printf(&text, "%s is refused: ", tool->face.name);
    if (refusal == NOT_TRUSTED)
        print_trust(tools, &text);
    else if (refusal == NOT_WRITABLE)
        buffer_append_string(&text, "these tools only read");
    else if (refusal == NOTHING_LEFT)
        buffer_append_string(&text, "no part of the workspace is available to these tools");
    else
        buffer_printf(
            &text, "the sandbox has no network (network = \"%s\"); commit, and let the user push",
            policy_network_names[tools->policy->network]);
    buffer_append_string(&text, ". Instead, ");
    print_open(tools, &text);
    return buffer_take_string(&text);
}

static int decide(coop_tools *tools, coop_error **err)
{
    for (size_t i = 0; tool_row(i); i++) {
        enum refusal refusal = refusal_of(tools, tool_row(i));

        if (refusal == OPEN)
            continue;
        tools->refusals[i] = refusal_text(tools, tool_row(i), refusal);
        if (!tools->refusals[i])
            return fail_no_memory(err);
    }
    return 0;
}

/* ---- where it acts */

static int place_workspace(coop_tools *tools, coop_error **err)
{
    struct host host;
    struct plan plan = { 0 };

    host_look(&host);
    int r = plan_locate(&plan, tools->policy, &host, err);
    free(take_ptr(tools->workspace));
    free(take_ptr(tools->workspace_view));
    tools->lowers_rights = host.is_root && !tools->on_host;
    tools->files_uid = plan.workspace_uid;
    tools->files_gid = plan.workspace_gid;
    if (r == 0) {
        tools->workspace = strdup(plan.workspace);
        tools->workspace_view = strdup(plan.workspace_view);
        if (!tools->workspace || !tools->workspace_view)
            r = fail_no_memory(err);
    }
    plan_done(&plan);
    return r;
}

/* An absolute path, so that the caller may change its directory. */
static int set_workspace(coop_tools *tools, const coop_tools_context *context, coop_error **err)
{
    const struct run_config *identity = tools->identity;

    if (tools->policy->root)
        return 0;
    if (!identity->workspace_path && context->workspace)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, ENOENT,
                         "the workspace '%s' is not an accessible directory", context->workspace);
    return identity->workspace_path
               ? coop_policy_set_workspace(tools->policy, identity->workspace_path, err)
               : 0;
}

/* What the caller adds: the workspace at its own path, and further directories at theirs. */
static int show_more(coop_tools *tools, const coop_tools_context *context, coop_error **err)
{
    int r = context->same_path && !tools->policy->root
                ? coop_policy_set_same_path(tools->policy, true, err)
                : 0;

    /* For commands that name files as the host has them. Where boxes share a /tmp, links in it are made
     * there: execute.c. */
    tools->policy->links_own_path = !context->identity;
    if (r == 0 && context->whole_home)
        r = coop_policy_set_whole_home(tools->policy, true, err);
    for (size_t i = 0; r == 0 && context->directories && context->directories[i]; i++) {
        auto_free char *real = realpath(context->directories[i], NULL);

        /* Named as it was given: the plan follows no link that a command may have made. */
        r = real ? coop_policy_add_bind(tools->policy, context->directories[i], real, false, err)
                 : fail(err, errno, "open the directory '%s'", context->directories[i]);
    }
    return r;
}

static int act_on_host(coop_tools *tools, coop_error **err)
{
    if (tools->identity->as && tools->identity->decision.trust == TRUST_OWNER)
        (void)coop_policy_set_command_strength(tools->policy, COOP_COMMANDS_OFF, NULL);
    return coop_policy_set_mode(tools->policy, COOP_MODE_DISABLED, err);
}

/* Places that a box has itself, as links: nothing can be shown behind one. */
static bool can_stay(const coop_tools *tools)
{
    static const char *const links[] = { "/var/tmp", "/dev/shm", "/var/run" };
    const char *path = tools->identity->workspace_path;

    for (size_t i = 0; path && i < COUNT(links); i++)
        if (path_is_within(path, links[i]))
            return false;
    return path && !tools->policy->root;
}

static int route(coop_tools *tools, const coop_tools_context *context, coop_error **err)
{
    enum run_config_route route = run_config_route(tools->identity);
    bool is_disabled = tools->policy->mode == COOP_MODE_DISABLED;
    bool plainly = route == ROUTE_HOST || (is_disabled && route != ROUTE_REFUSED);
    bool narrowed = context->read_only || context->roots;

    tools->read_only = context->read_only;
    tools->on_host = plainly && !narrowed;
    if (tools->on_host)
        return act_on_host(tools, err);
    int r = 0;
    if (plainly) /* the box does not show the host's directory */
        policy_forget_fact(tools->policy, COOP_FACT_MEMORY);
    if (plainly || is_disabled)
        r = coop_policy_set_mode(tools->policy, COOP_MODE_REQUIRED, err);
    if (r == 0 && plainly && can_stay(tools))
        r = coop_policy_set_same_path(tools->policy, true, err);
    return r < 0 ? r : tools_narrow(tools, context, err);
}

static bool has_variable(const coop_policy *policy, const char *name)
{
    for (size_t i = 0; i < policy->n_variables; i++)
        if (strcmp(policy->variables[i].name, name) == 0)
            return true;
    return false;
}

static int fill_policy(coop_tools *tools, const coop_tools_context *context, coop_error **err)
{
    int r = coop_policy_new(&tools->policy, err);

    if (r == 0)
        r = run_config_fill(tools->identity, tools->policy, err);
    if (r < 0)
        return r;
    r = set_workspace(tools, context, err);
    if (r == 0)
        r = show_more(tools, context, err);
    if (r == 0)
        r = route(tools, context, err);
    if (r == 0)
        r = coop_policy_set_fact(tools->policy, COOP_FACT_SESSION, context->session, err);
    /* Nobody is there to type a password. */
    if (r == 0 && !has_variable(tools->policy, "GIT_TERMINAL_PROMPT"))
        r = coop_policy_set_env(tools->policy, "GIT_TERMINAL_PROMPT", "0", err);
    return r;
}

static int identify(coop_tools *tools, const coop_tools_context *context, coop_error **err)
{
    struct run_config *identity = tools->identity = calloc(1, sizeof *tools->identity);

    if (!identity)
        return fail_no_memory(err);
    identity->as = context->identity;
    identity->group = context->group;
    identity->workspace = context->workspace;
    identity->config_file = context->config_file;
    identity->writable = context->directories;
    while (identity->writable && identity->writable[identity->n_writable])
        identity->n_writable++;
    int r = run_config_load(identity, err);
    if (r < 0)
        return r;
    tools->level = identity->as ? trust_names[identity->decision.trust] : trust_names[TRUST_FULL];
    tools->is_enabled = !identity->as || config_bool(identity->config, "sandbox.enabled");
    tools->user = identity->as && identity->decision.user ? identity->decision.user->name : NULL;
    return 0;
}

/* What they do is recorded, where no box of theirs sees it. */
static int prepare_audit(coop_tools *tools, const coop_tools_context *context, coop_error **err)
{
    tools->log = context->log;
    if (context->identity) {
        tools->identity_text = strdup(context->identity);
        if (!tools->identity_text)
            return fail_no_memory(err);
    }
    int r = audit_settings_read(tools->identity->config, &tools->audit, err);
    if (r == 0)
        r = audit_hide(&tools->audit, tools->identity->workspace_path, false, tools->policy, err);
    if (r == 0)
        r = secret_hide(tools->policy, tools->identity->workspace_path, err);
    if (r == 0)
        memcpy(tools->digest, coop_policy_digest(tools->policy), sizeof tools->digest);
    return r;
}

int tools_load(coop_tools *tools, const coop_tools_context *context, coop_error **err)
{
    auto_error coop_error *why = NULL;
    int r = context->identity ? trust_identity_check(context->identity, err) : 0;

    if (r < 0)
        return r;
    r = identify(tools, context, &why);
    if (r == 0)
        r = fill_policy(tools, context, &why);
    if (r == 0)
        r = prepare_audit(tools, context, &why);
    if (r == -EINVAL && !why)
        return findings_fail(&tools->identity->findings, err);
    if (r == 0)
        r = place_workspace(tools, &why);
    if (r == 0)
        r = decide(tools, &why);
    if (r < 0 && err)
        *err = take_ptr(why);
    if (r < 0)
        return r;
    /* The caller's texts were borrowed; what was found out through them stays. */
    struct run_config *identity = tools->identity;
    identity->as = identity->group = identity->workspace = identity->config_file = NULL;
    tools->timeout_ms = identity->run.timeout_ms;
    tools->shell =
        access("/bin/bash", X_OK) == 0 || access("/usr/bin/bash", X_OK) == 0 ? "bash" : "sh";
    return 0;
}

int tools_stay(coop_tools *tools, coop_error **err)
{
    int r = coop_policy_set_same_path(tools->policy, true, err);

    return r < 0 ? r : place_workspace(tools, err);
}

void tools_unload(coop_tools *tools)
{
    for (size_t i = 0; i < TOOLS_MAX; i++)
        free(tools->refusals[i]);
    if (tools->identity)
        run_config_done(tools->identity);
    free(tools->identity);
    coop_policy_free(tools->policy);
    audit_settings_done(&tools->audit);
    free(tools->identity_text);
    free(tools->workspace);
    free(tools->workspace_view);
}
