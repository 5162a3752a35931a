/*
 * execute.c - one call of a tool: found, permitted, checked, run
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/printable.h"
#include "coop/probe.h"
#include "policy/path/path.h"
#include "policy/policy.h"
#include "supervise/box.h"
#include "survey/probe/log.h"
#include "tools/arguments.h"
#include "tools/audit.h"
#include "tools/jobs.h"
#include "tools/lifetime.h"
#include "tools/path/place.h"
#include "tools/result.h"
#include "tools/rights.h"
#include "tools/tools.h"

/* ---- a set of tools */

static int parse_schemas(coop_tools *tools, coop_error **err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && tool_row(i); i++) {
        const char *text = tool_row(i)->face.input_schema;

        r = json_read(text, strlen(text), &tools->schemas[i], err);
    }
    return r;
}

static int share(coop_tools *tools, const coop_tools_context *context, coop_error **err)
{
    coop_policy *boxes = NULL;

    tools->shared = calloc(1, sizeof *tools->shared);
    if (!tools->shared)
        return fail_no_memory(err);
    (void)pthread_mutex_init(&tools->shared->lock, NULL);
    (void)pthread_mutex_init(&tools->shared->jobs_lock, NULL);
    if (!tools->has_several_roots)
        return coop_sandbox_new(tools->policy, &tools->shared->sandbox, err);
    int r = policy_copy(tools->policy, &boxes, err);
    if (r == 0)
        r = tools_show_roots(tools, context->roots, boxes, err);
    if (r == 0)
        r = coop_sandbox_new(boxes, &tools->shared->sandbox, err);
    coop_policy_free(boxes);
    return r;
}

/* A workspace in the host's /tmp is found at its own path in the boxes' /tmp too. Commands can remove
 * the link: it leads nowhere that they cannot go anyway, and without it the path is just not there. */
static void link_own_path(const coop_tools *tools)
{
    const char *below = tools->workspace + strlen("/tmp/");
    auto_free char *path = strdup(below);
    struct stat top;

    if (!path || fstat(tools->tmp_fd, &top) < 0)
        return;
    for (char *slash = path; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        if (mkdirat(tools->tmp_fd, path, 0755) == 0)
            (void)!fchownat(tools->tmp_fd, path, top.st_uid, top.st_gid, AT_SYMLINK_NOFOLLOW);
        *slash = '/';
    }
    if (symlinkat(tools->workspace_view, tools->tmp_fd, path) == 0)
        (void)!fchownat(tools->tmp_fd, path, top.st_uid, top.st_gid, AT_SYMLINK_NOFOLLOW);
}

/* Where that cannot be, commands have a /tmp each, and what they are told says why. */
static int share_tmp(coop_tools *tools, const coop_tools_context *context, coop_error **err)
{
    size_t bash = 0;

    if (tools->on_host)
        tools->tmp_why = "the command ran on the host, where output is not kept";
    if (tools->on_host || !tool_find("bash", &bash) || tools->refusals[bash])
        return 0;
    int fd = sandbox_share_tmp(tools->shared->sandbox, &tools->tmp_why, NULL);
    if (fd == -ENOMEM)
        return fail_no_memory(err);
    if (fd >= 0) {
        tools->tmp_fd = fd;
        if (!context->identity && path_is_within(tools->workspace, "/tmp") &&
            strcmp(tools->workspace, tools->workspace_view) != 0)
            link_own_path(tools);
        return 0;
    }
    if (tools->tmp_why)
        return 0;
    tools->tmp_why = "this host refuses the namespaces that it needs";
    return tools->policy->mode == COOP_MODE_PREFERRED ? tools_stay(tools, err) : 0;
}

static int open_places(coop_tools *tools, const coop_tools_context *context, coop_error **err)
{
    const struct places_options options = {
        .policy = tools->policy,
        .workspace = tools->workspace,
        .on_host = tools->on_host,
        .takes_own_path = !context->identity, /* others need not know where it is */
        .tmp_fd = tools->tmp_fd,
        .roots = context->roots,
    };

    return places_new(&options, &tools->places, err);
}

int coop_tools_new(const coop_tools_context *given, coop_tools **out, coop_error **err)
{
    coop_tools_context context = { 0 };

    if (!out || (given && (given->size < sizeof given->size || given->size > sizeof context)))
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "coop_tools_context.size must be sizeof(coop_tools_context)");
    if (given)
        memcpy(&context, given, given->size);
    coop_tools *tools = calloc(1, sizeof *tools);
    if (!tools)
        return fail_no_memory(err);
    tools->tmp_fd = -1;
    int r = tools_load(tools, &context, err);
    if (r == 0)
        r = parse_schemas(tools, err);
    if (r == 0)
        r = share(tools, &context, err);
    if (r == 0 && context.before)
        lifetime_continue(tools, context.before);
    if (r == 0)
        r = share_tmp(tools, &context, err);
    if (r == 0)
        r = open_places(tools, &context, err);
    if (r < 0) {
        coop_tools_free(tools);
        return r;
    }
    *out = tools;
    return 0;
}

void coop_tools_free(coop_tools *tools)
{
    if (!tools)
        return;
    if (tools->shared) /* before what their box uses */
        jobs_end(tools);
    places_free(tools->places);
    if (tools->shared) {
        coop_sandbox_free(tools->shared->sandbox);
        (void)pthread_mutex_destroy(&tools->shared->lock);
        (void)pthread_mutex_destroy(&tools->shared->jobs_lock);
        free(tools->shared->banner);
    }
    free(tools->shared);
    for (size_t i = 0; i < TOOLS_MAX; i++)
        json_document_done(&tools->schemas[i]);
    tools_unload(tools);
    free(tools);
}

bool coop_tools_may(const coop_tools *tools, const char *name, const char **why)
{
    size_t i = 0;
    const char *refusal = tool_find(name, &i) ? tools->refusals[i] : "unknown tool";

    if (why && refusal)
        *why = refusal;
    return !refusal;
}

const char *coop_tools_level(const coop_tools *tools)
{
    return tools->level;
}

const char *coop_tools_user(const coop_tools *tools)
{
    return tools->user;
}

bool coop_tools_on_host(const coop_tools *tools)
{
    return tools->on_host;
}

const char *coop_tools_workspace(const coop_tools *tools)
{
    return tools->workspace_view;
}

const char *coop_tools_memory(const coop_tools *tools)
{
    return tools->policy->facts[COOP_FACT_MEMORY];
}

static char *make_banner(const coop_tools *tools)
{
    struct buffer text = { 0 };
    coop_probe *probe = NULL;

    if (!tools->is_enabled)
        return strdup("Sandbox: disabled by the configuration; commands run on the host");
    if (coop_probe_new(&probe, NULL) < 0)
        return strdup("Sandbox: unknown; the host could not be probed");
    buffer_printf(&text, "Sandbox: %s", coop_probe_summary(probe));
    if (coop_probe_tier(probe) != COOP_TIER_FULL)
        buffer_printf(&text, ", and the mode is '%s'", policy_mode_names[tools->policy->mode]);
    buffer_append_string(&text, " \xe2\x80\x94 owner bypasses");
    probe_log(tools->log, probe);
    coop_probe_free(probe);
    return buffer_take_string(&text);
}

/* Asking the host takes a few milliseconds, so nobody does until somebody wants to know. */
const char *coop_tools_banner(const coop_tools *tools)
{
    struct tools_shared *shared = tools->shared;

    (void)pthread_mutex_lock(&shared->lock);
    if (!shared->banner)
        shared->banner = make_banner(tools);
    const char *banner = shared->banner;
    (void)pthread_mutex_unlock(&shared->lock);
    return banner ? banner : "Sandbox: out of memory";
}

/* ---- a call */

bool tool_is_cancelled(const struct tool_call *call)
{
    const coop_execute_options *options = call->options;

    if (!options->can_cancel)
        return false;
    struct pollfd cancel = { .fd = options->cancel_fd, .events = POLLIN };
    return poll(&cancel, 1, 0) == 1;
}

/* What went wrong, and what to do about it, for the model. */
static void reply_error(struct tool_reply *reply, const coop_error *err)
{
    reply_done(reply);
    *reply = (struct tool_reply){ .is_error = true };
    buffer_append_string(&reply->text, coop_error_message(err));
    if (coop_error_hint(err))
        buffer_printf(&reply->text, "\n%s", coop_error_hint(err));
}

static int unknown_tool(const char *name, coop_error **err)
{
    auto_buffer struct buffer shown = { 0 };
    const char *near = tool_suggest(name);

    printable_append(&shown, name, strnlen(name, 100));
    int r = fail_kind(err, COOP_ERROR_BAD_POLICY, ENOENT, "unknown tool '%s'",
                      shown.data ? shown.data : "");
    return near ? fail_hint(err, r, "did you mean '%s'?", near) : r;
}

static int take_options(coop_execute_options *to, const coop_execute_options *from,
                        coop_error **err)
{
    if (!from)
        return 0;
    if (from->size < sizeof from->size || from->size > sizeof *to)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "coop_execute_options.size must be sizeof(coop_execute_options)");
    memcpy(to, from, from->size);
    return 0;
}

static int read_arguments(const char *text, size_t length, struct json_document *out,
                          coop_error **err)
{
    if (!text || length == 0) {
        text = "{}";
        length = 2;
    }
    int r = json_read(text, length, out, err);
    if (r < 0)
        return fail_as(err, fail_within(err, r, "the arguments are not JSON"),
                       COOP_ERROR_BAD_POLICY);
    if (out->root->kind != JSON_OBJECT)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "the arguments are not an object");
    return 0;
}

static int run_tool(struct tool_call *call, size_t i, coop_error **err)
{
    const struct tool *tool = tool_row(i);
    const char *refusal = call->tools->refusals[i];

    if (refusal)
        return fail_kind(err, COOP_ERROR_DENIED, EACCES, "%s", refusal);
    int r = lifetime_check(call->tools, err);
    if (r == 0)
        r = arguments_check(tool->face.name, call->tools->schemas[i].root, call->arguments, err);
    auto_rights struct rights rights = { 0 };
    if (r == 0 && tool->need < TOOL_COMMANDS)
        r = rights_lower_for(&rights, call->tools, err);
    return r == 0 ? tool->run(call, err) : r;
}

int coop_execute(coop_tools *tools, const char *name, const char *arguments, size_t length,
                 const coop_execute_options *options, coop_tool_result **out, coop_error **err)
{
    coop_execute_options known = { 0 };
    auto_json_document struct json_document document = { 0 };
    auto_reply struct tool_reply reply = { 0 };
    auto_error coop_error *problem = NULL;
    size_t i = 0;

    if (!tools || !name || !out)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "coop_execute needs tools and a name");
    if (!tool_find(name, &i))
        return unknown_tool(name, err);
    int r = take_options(&known, options, err);
    if (r == 0)
        r = read_arguments(arguments, length, &document, err);
    if (r < 0)
        return r;
    struct tool_call call = { tools, tools->places, document.root, &known, &reply };
    r = tools_audit(&call, i, run_tool, &problem);
    if (r == -ENOMEM)
        return fail_no_memory(err);
    if (r < 0)
        reply_error(&reply, problem);
    coop_tool_result *result = result_of(&reply);
    if (!result)
        return fail_no_memory(err);
    *out = result;
    return 0;
}
