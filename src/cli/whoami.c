/*
 * whoami.c - coop whoami: who somebody is here, what they may do, and who said so
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json/write.h"
#include "base/printable.h"
#include "base/quantity.h"
#include "cli/command.h"
#include "cli/complain.h"
#include "policy/secret_grant.h"
#include "run_config/run_config.h"

struct whoami {
    struct run_config identity;
    bool json;
};

static int set_as(void *context, const char *value, coop_error **err)
{
    (void)err;
    ((struct whoami *)context)->identity.as = value;
    return 0;
}

static int set_cron(void *context, const char *value, coop_error **err)
{
    (void)err;
    ((struct whoami *)context)->identity.cron = value;
    return 0;
}

static int set_group(void *context, const char *value, coop_error **err)
{
    (void)err;
    ((struct whoami *)context)->identity.group = value ? value : "";
    return 0;
}

static int set_config(void *context, const char *value, coop_error **err)
{
    (void)err;
    ((struct whoami *)context)->identity.config_file = value;
    return 0;
}

static int set_workspace(void *context, const char *value, coop_error **err)
{
    (void)err;
    ((struct whoami *)context)->identity.workspace = value;
    return 0;
}

static int set_json(void *context, const char *value, coop_error **err)
{
    (void)value;
    (void)err;
    ((struct whoami *)context)->json = true;
    return 0;
}

/* clang-format off */
static const struct command_option options[] = {
    { "as", 0, "IDENTITY", "show this identity, for example signal:+15555550101 (default: terminal:default)", set_as },
    { "cron", 0, "NAME", "show the user of this [[cron]] entry, with its own settings", set_cron },
    { "group", 0, NULL, "in a group", set_group },
    { "group-name", 0, "NAME", "in the group of this name", set_group },
    { "workspace", 'w', "DIR", "read the project files of this workspace (default: the current directory)", set_workspace },
    { "config", 0, "FILE", "read this file instead of the system's and the user's", set_config },
    { "json", 0, NULL, "print a JSON document", set_json },
    { "help", 'h', NULL, "show this help" },
    { 0 },
};
/* clang-format on */

static const char *const shown_keys[] = {
    "sandbox.memory",      "sandbox.pids_limit", "sandbox.cpus",
    "sandbox.cpu_seconds", "sandbox.file_size",  "sandbox.open_files",
    "sandbox.tmp_size",    "sandbox.timeout",    "sandbox.mode",
};

static const char *whoami_text(const struct config_value *value)
{
    const char *text = NULL;

    if (value->node && (value->node->kind == NODE_STRING || value->node->kind == NODE_TEXT))
        text = value->node->string.bytes;
    return text ? text : value->row->fallback;
}

static bool is_disabled(const struct run_config *identity)
{
    struct config_value mode = config_get(identity->config, "sandbox.mode");

    return strcmp(whoami_text(&mode), "disabled") == 0;
}

static const char *route_text(const struct run_config *identity)
{
    switch (run_config_route(identity)) {
    case ROUTE_HOST:
        return trust_meanings[identity->decision.trust].is_sandboxed
                   ? "on the host: the sandbox is not enabled"
                   : "on the host, without a sandbox";
    case ROUTE_BOX:
        return is_disabled(identity) ? "on the host: the mode is 'disabled'" : "in a sandbox";
    case ROUTE_REFUSED:
        break;
    }
    return "not at all";
}

static void append_value(struct buffer *out, const struct config_value *value)
{
    const char *text = whoami_text(value);

    if (value->node && value->node->kind == NODE_INTEGER)
        buffer_printf(out, "%lld", (long long)value->node->integer);
    else if (value->node && value->node->kind == NODE_FLOAT)
        buffer_printf(out, "%g", value->node->number);
    else
        printable_append(out, text ? text : "none", strlen(text ? text : "none"));
}

static void line(struct buffer *out, const char *name, const char *text, const struct origin *from)
{
    buffer_printf(out, "%-12s ", name);
    printable_append(out, text, strlen(text));
    if (from) {
        buffer_append_string(out, "  (");
        origin_print(out, *from);
        buffer_append_char(out, ')');
    }
    buffer_append_char(out, '\n');
}

/* Their names: that somebody has one is no secret. */
static void append_secrets(const struct run_config *identity, struct buffer *out)
{
    struct config_names names = config_names(identity->config, "secrets");

    for (const char *name; (name = config_names_next(&names));)
        if (secret_is_granted(identity->config, name, &identity->decision))
            buffer_printf(out, "%s%s", out->length ? ", " : "", name);
}

static void json_secrets(const struct run_config *identity, struct json_writer *json)
{
    struct config_names names = config_names(identity->config, "secrets");

    json_write_key(json, "secrets");
    json_write_array_begin(json);
    for (const char *name; (name = config_names_next(&names));)
        if (secret_is_granted(identity->config, name, &identity->decision))
            json_write_text(json, name);
    json_write_array_end(json);
}

/* Where they are for this identity; NULL: nowhere. */
static char *stores_path(const struct run_config *identity)
{
    char *directory = NULL;

    if (!run_config_sees_stores(identity))
        return NULL;
    enum run_config_route route = run_config_route(identity);
    if (route == ROUTE_REFUSED || (route == ROUTE_BOX && !is_disabled(identity)))
        return strdup(IDENTITY_MEMORY);
    return run_config_store_directory(identity, &directory, NULL) == 0 ? directory : NULL;
}

static void print_text(const struct run_config *identity, struct buffer *out)
{
    const struct trust_decision *decision = &identity->decision;
    const struct trust_meaning *meaning = &trust_meanings[decision->trust];
    struct buffer stores = { 0 };

    line(out, "identity", identity->as, NULL);
    line(out, "user", decision->user ? decision->user->name : "not in the configuration",
         decision->pattern ? &decision->pattern->origin : NULL);
    line(out, "trust", trust_names[decision->user_trust],
         decision->user ? &decision->user->trust_origin : &(struct origin){ 0 });
    line(out, "ceiling", decision->has_ceiling ? trust_names[decision->ceiling] : "none",
         decision->group         ? &decision->group->origin
         : decision->has_ceiling ? &(struct origin){ 0 }
                                 : NULL);
    line(out, "level", trust_names[decision->trust], NULL);
    line(out, "tools", trust_tools_names[meaning->tools], NULL);
    line(out, "commands", route_text(identity), NULL);
    for (int i = 0; i < TRUST_STORE_COUNT; i++)
        if (meaning->sees[i])
            buffer_printf(&stores, "%s%s", stores.length ? ", " : "", trust_store_names[i]);
    auto_free char *directory = stores_path(identity);
    if (directory)
        buffer_printf(&stores, ", in %s", directory);
    line(out, "stores", stores.data ? stores.data : "none", NULL);
    buffer_done(&stores);
    append_secrets(identity, &stores);
    line(out, "secrets", stores.data ? stores.data : "none", NULL);
    buffer_done(&stores);
    struct origin network;
    const char *const *words = schema_find("sandbox.network")->words;
    line(out, "network", words[config_network(identity->config, &network)], &network);
    for (size_t i = 0; i < COUNT(shown_keys); i++) {
        struct config_value value = config_get(identity->config, shown_keys[i]);
        struct buffer text = { 0 };

        append_value(&text, &value);
        if (text.data)
            line(out, shown_keys[i] + strlen("sandbox."), text.data, &value.origin);
        buffer_done(&text);
    }
}

static void json_origin(struct json_writer *json, struct origin origin)
{
    struct buffer text = { 0 };

    origin_print(&text, origin);
    json_write_key(json, "origin");
    json_write_text(json, text.data ? text.data : "");
    buffer_done(&text);
}

static void print_json(const struct run_config *identity, struct buffer *out)
{
    const struct trust_decision *decision = &identity->decision;
    const struct trust_meaning *meaning = &trust_meanings[decision->trust];
    struct json_writer json;

    json_write_init(&json, out, true);
    json_write_object_begin(&json);
    json_write_key(&json, "identity");
    json_write_text(&json, identity->as);
    json_write_key(&json, "user");
    if (decision->user)
        json_write_text(&json, decision->user->name);
    else
        json_write_null(&json);
    json_write_key(&json, "trust");
    json_write_text(&json, trust_names[decision->user_trust]);
    json_write_key(&json, "ceiling");
    if (decision->has_ceiling)
        json_write_text(&json, trust_names[decision->ceiling]);
    else
        json_write_null(&json);
    json_write_key(&json, "level");
    json_write_text(&json, trust_names[decision->trust]);
    json_write_key(&json, "tools");
    json_write_text(&json, trust_tools_names[meaning->tools]);
    json_write_key(&json, "commands");
    json_write_text(&json, route_text(identity));
    json_write_key(&json, "stores");
    json_write_array_begin(&json);
    for (int i = 0; i < TRUST_STORE_COUNT; i++)
        if (meaning->sees[i])
            json_write_text(&json, trust_store_names[i]);
    json_write_array_end(&json);
    auto_free char *directory = stores_path(identity);
    json_write_key(&json, "store_directory");
    json_write_text(&json, directory);
    json_secrets(identity, &json);
    struct origin network;
    const char *const *words = schema_find("sandbox.network")->words;
    json_write_key(&json, "network");
    json_write_object_begin(&json);
    json_write_key(&json, "value");
    json_write_text(&json, words[config_network(identity->config, &network)]);
    json_origin(&json, network);
    json_write_object_end(&json);
    json_write_key(&json, "limits");
    json_write_object_begin(&json);
    for (size_t i = 0; i < COUNT(shown_keys); i++) {
        struct config_value value = config_get(identity->config, shown_keys[i]);
        struct buffer text = { 0 };

        append_value(&text, &value);
        json_write_key(&json, shown_keys[i] + strlen("sandbox."));
        json_write_object_begin(&json);
        json_write_key(&json, "value");
        json_write_text(&json, text.data ? text.data : "");
        json_origin(&json, value.origin);
        json_write_object_end(&json);
        buffer_done(&text);
    }
    json_write_object_end(&json);
    json_write_object_end(&json);
    json_write_finish(&json);
}

static int whoami_main(int argc, char **argv)
{
    auto_error coop_error *err = NULL;
    struct whoami whoami = { .identity = { .as = TRUST_TERMINAL } };
    struct buffer out = { 0 };
    int r = command_parse(&command_whoami, argc, argv, &whoami, &err);

    if (r == -ECANCELED && !err)
        return 0;
    if (r >= 0 && r < argc)
        r = fail_kind(&err, COOP_ERROR_BAD_POLICY, EINVAL, "unexpected word '%s'", argv[r]);
    if (r >= 0)
        r = run_config_load(&whoami.identity, &err);
    cli_complain(&whoami.identity.findings, false);
    if (r >= 0 && whoami.json)
        print_json(&whoami.identity, &out);
    else if (r >= 0)
        print_text(&whoami.identity, &out);
    if (out.data && !out.failed)
        (void)fputs(out.data, stdout);
    if (r < 0 && err)
        command_complain("whoami", err);
    buffer_done(&out);
    run_config_done(&whoami.identity);
    return r >= 0 ? 0 : coop_error_get_kind(err) == COOP_ERROR_BAD_POLICY ? 2 : 1;
}

const struct command command_whoami = {
    .name = "whoami",
    .arguments = "[options]",
    .summary = "show a user's trust and permissions, and where they are set",
    .options = options,
    .run = whoami_main,
};
