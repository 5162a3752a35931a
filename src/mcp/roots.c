#include "roots.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json/read.h"
#include "mcp/file_uri.h"
#include "mcp/session.h"
#include "tools/path/place.h"

#define PATIENCE_MS 5000
#define ROOTS_MAX   64

void roots_ask(struct session *session)
{
    struct buffer message = { 0 };
    char id[32];

    (void)pthread_mutex_lock(&session->lock);
    bool can_ask = session->roots.can_ask && session->revision;
    if (can_ask) {
        (void)snprintf(id, sizeof id, "coop-roots-%u", ++session->roots.n_asked);
        /* Over HTTP the client may have no stream on which the question could reach it. */
        session->roots.is_awaited = session->stream;
        session->roots.deadline_ms = clock_now_ns() / 1000000 + PATIENCE_MS;
    }
    (void)pthread_mutex_unlock(&session->lock);
    if (!can_ask)
        return;
    rpc_request_begin(&message, id, "roots/list");
    buffer_append_string(&message, "{}");
    rpc_end(&message);
    session_send(session, &message);
}

int roots_await(struct session *session, struct call *call)
{
    int r = 0;

    (void)pthread_mutex_lock(&session->lock);
    while (r == 0 && session->roots.is_awaited && !call->is_cancelled && !call->is_ending) {
        struct timespec end = { .tv_sec = (time_t)(session->roots.deadline_ms / 1000),
                                .tv_nsec = (long)(session->roots.deadline_ms % 1000) * 1000000 };

        r = pthread_cond_timedwait(&session->has_changed, &session->lock, &end);
    }
    if (r == ETIMEDOUT)
        session->roots.is_awaited = false;
    bool is_broken = session->roots.is_broken;
    (void)pthread_mutex_unlock(&session->lock);
    return is_broken ? call_fault(call, RPC_INTERNAL,
                                  "the client's roots could not be applied, so calls are refused: "
                                  "fix the cause given in the log, then announce the roots again")
                     : 0;
}

static bool is_within(const char *path, const char *directory)
{
    size_t n = strlen(directory);

    if (strcmp(directory, "/") == 0)
        return true;
    return strncmp(path, directory, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

struct limits {
    char *paths[ROOTS_MAX + 1];
    size_t n;
};

static bool limits_add(struct limits *limits, const char *path)
{
    for (size_t i = 0; i < limits->n; i++)
        if (strcmp(limits->paths[i], path) == 0)
            return true;
    if (limits->n == ROOTS_MAX)
        return false;
    limits->paths[limits->n] = strdup(path);
    return limits->paths[limits->n] && ++limits->n;
}

static void limits_done(struct limits *limits)
{
    for (size_t i = 0; i < limits->n; i++)
        free(limits->paths[i]);
}

/* What of `base`, a directory that the tools reach, the root leaves. */
static bool limit_to(struct limits *limits, const char *base, const char *root)
{
    char real[PATH_MAX];

    if (!realpath(base, real))
        return false;
    if (is_within(root, real))
        return limits_add(limits, root);
    return is_within(real, root) && limits_add(limits, real);
}

static void take_root(struct session *session, const struct toolset *toolset,
                      const struct json_value *root, struct limits *limits)
{
    const struct json_value *uri = json_get(root, "uri");
    const char *address = uri && uri->kind == JSON_TEXT ? uri->text : "";
    auto_free char *path = file_uri_path(address);
    char real[PATH_MAX];
    bool counts = false;

    if (!path || !realpath(path, real)) {
        log_send(session, LOG_LEVEL_WARNING, "the root '%s' is ignored: %s", address,
                 path ? strerror(errno) : "it is not a file on this host");
        return;
    }
    counts = limit_to(limits, toolset->workspace, real);
    for (size_t i = 0; toolset->directories[i]; i++)
        counts |= limit_to(limits, toolset->directories[i], real);
    if (!counts)
        log_send(session, LOG_LEVEL_WARNING,
                 "the root '%s' is ignored: it is outside the workspace '%s'", address,
                 toolset->workspace);
}

static bool is_left(const struct limits *limits, const char *base)
{
    char real[PATH_MAX];

    for (size_t i = 0; realpath(base, real) && i < limits->n; i++)
        if (strcmp(limits->paths[i], real) == 0)
            return true;
    return false;
}

/* Whether the limits leave everything, which then is no limit. */
static bool is_everything(const struct limits *limits, const struct toolset *toolset)
{
    bool everything = is_left(limits, toolset->workspace);

    for (size_t i = 0; everything && toolset->directories[i]; i++)
        everything = is_left(limits, toolset->directories[i]);
    return everything;
}

static bool is_same(const char *const *a, const char *const *b)
{
    if (!a || !b)
        return a == b;
    while (*a && *b && strcmp(*a, *b) == 0)
        a++, b++;
    return !*a && !*b;
}

static void announce(struct session *session, const char *what)
{
    struct buffer message = { 0 };

    rpc_notification_begin(&message, what);
    buffer_append_string(&message, "{}");
    rpc_end(&message);
    session_send(session, &message);
}

static bool has_same_tools(const coop_tools *a, const coop_tools *b)
{
    for (size_t i = 0; coop_tool_at(i); i++)
        if (coop_tools_may(a, coop_tool_at(i)->name, NULL) !=
            coop_tools_may(b, coop_tool_at(i)->name, NULL))
            return false;
    return true;
}

/* Takes the toolset. Unless somebody else has replaced the old one. */
static void replace_toolset(struct session *session, const struct toolset *old,
                            struct toolset *fresh)
{
    (void)pthread_mutex_lock(&session->lock);
    struct toolset *replaced = session->toolset;
    bool is_expected = replaced == old;
    if (is_expected)
        session->toolset = toolset_ref(fresh);
    (void)pthread_mutex_unlock(&session->lock);
    if (!is_expected) {
        toolset_unref(fresh);
        return;
    }
    if (!has_same_tools(replaced->tools, fresh->tools))
        announce(session, "notifications/tools/list_changed");
    announce(session, "notifications/resources/list_changed");
    toolset_unref(replaced);
    toolset_unref(fresh);
}

/* Whoever asked for less than all must not get all, because something went wrong. */
static void set_broken(struct session *session, bool is_broken)
{
    (void)pthread_mutex_lock(&session->lock);
    session->roots.is_broken = is_broken;
    (void)pthread_mutex_unlock(&session->lock);
}

static void narrow(struct session *session, const struct json_value *result)
{
    auto_toolset struct toolset *old = session_toolset(session);
    auto_error coop_error *err = NULL;
    struct limits limits = { .n = 0 };
    struct toolset *fresh = NULL;
    const struct json_value *list = json_get(result, "roots");

    for (const struct json_value *root = list ? list->first : NULL; root; root = root->next)
        take_root(session, old, root, &limits);
    const char *const *paths =
        limits.n == 0 || is_everything(&limits, old) ? NULL : (const char *const *)limits.paths;
    bool is_broken = false;
    if (!is_same(paths, old->roots)) {
        is_broken = toolset_new(session->server->options, paths, old, &fresh, &err) < 0;
        if (is_broken) {
            log_send(session, LOG_LEVEL_ERROR, "the roots could not be applied: %s",
                     coop_error_message(err));
        } else {
            replace_toolset(session, old, fresh);
            log_send(session, LOG_LEVEL_INFO, "%zu roots limit the workspace", limits.n);
        }
    }
    set_broken(session, is_broken);
    limits_done(&limits);
}

void roots_refresh(struct session *session)
{
    auto_toolset struct toolset *old = session_toolset(session);
    auto_error coop_error *err = NULL;
    struct toolset *fresh = NULL;

    if (!places_are_stale(old->places))
        return;
    if (toolset_new(session->server->options, old->roots, old, &fresh, &err) < 0) {
        log_send(session, LOG_LEVEL_ERROR, "the new workspace cannot be used: %s",
                 coop_error_message(err));
        return;
    }
    replace_toolset(session, old, fresh);
    log_send(session, LOG_LEVEL_INFO, "another directory is at the workspace's path now");
}

bool roots_answer(struct session *session, const struct json_value *id,
                  const struct json_value *result)
{
    char expected[32];

    (void)pthread_mutex_lock(&session->lock);
    (void)snprintf(expected, sizeof expected, "coop-roots-%u", session->roots.n_asked);
    bool is_ours = id && id->kind == JSON_TEXT && strcmp(id->text, expected) == 0;
    (void)pthread_mutex_unlock(&session->lock);
    if (!is_ours)
        return false;
    if (result)
        narrow(session, result);
    (void)pthread_mutex_lock(&session->lock);
    session->roots.is_awaited = false;
    (void)pthread_cond_broadcast(&session->has_changed);
    (void)pthread_mutex_unlock(&session->lock);
    return true;
}
