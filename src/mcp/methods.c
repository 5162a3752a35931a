#include "methods.h"

#include <string.h>

#include "base/cleanup.h"

static const struct method methods[] = {
    { .name = "initialize", .run = method_initialize, .is_early = true },
    { .name = "ping", .run = method_ping, .is_early = true },
    { .name = "logging/setLevel", .run = method_set_level },
    { .name = "tools/list", .run = method_tools_list },
    { .name = "tools/call", .run = method_tools_call, .is_long = true },
    { .name = "resources/list", .run = method_resources_list, .is_long = true },
    { .name = "resources/read", .run = method_resources_read, .is_long = true },
    { .name = "resources/templates/list", .run = method_resource_templates },
};

const struct method *method_find(const char *name)
{
    for (size_t i = 0; i < COUNT(methods); i++)
        if (strcmp(methods[i].name, name) == 0)
            return &methods[i];
    return NULL;
}

static void cancelled(struct session *session, const struct rpc_message *rpc)
{
    const struct json_value *id = json_get(rpc->params, "requestId");

    (void)pthread_mutex_lock(&session->lock);
    for (struct call *call = session->calls; call; call = call->next)
        if (rpc_same_id(call->rpc.id, id))
            call_cancel(call, true);
    (void)pthread_cond_broadcast(&session->has_changed);
    (void)pthread_mutex_unlock(&session->lock);
}

static void roots_changed(struct session *session, const struct rpc_message *rpc)
{
    (void)rpc;
    roots_ask(session);
}

void method_notified(struct session *session, const struct rpc_message *rpc)
{
    static const struct {
        const char *name;
        void (*run)(struct session *session, const struct rpc_message *rpc);
    } known[] = {
        { "notifications/initialized", roots_changed },
        { "notifications/roots/list_changed", roots_changed },
        { "notifications/cancelled", cancelled },
    };

    for (size_t i = 0; i < COUNT(known); i++)
        if (strcmp(known[i].name, rpc->method) == 0)
            known[i].run(session, rpc);
}

int method_ping(struct call *call, struct buffer *out)
{
    (void)call;
    buffer_append_string(out, "{}");
    return 0;
}

int method_set_level(struct call *call, struct buffer *out)
{
    bool is_wrong = false;
    const char *name = call_text(call, "level", &is_wrong);
    int level = name ? log_level_find(name) : -1;

    if (level < 0)
        return call_fault(call, RPC_INVALID_PARAMS,
                          "'level' must be one of debug, info, notice, warning, error, critical, "
                          "alert, emergency");
    (void)pthread_mutex_lock(&call->session->lock);
    call->session->level = (enum log_level)level;
    (void)pthread_mutex_unlock(&call->session->lock);
    buffer_append_string(out, "{}");
    return 0;
}
