/*
 * import.c - coop config import: older configurations as they are written now
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "cli/config/config.h"
#include "config/file.h"
#include "config/toml/toml.h"
#include "config/value.h"
#include "config/yaml/yaml.h"
#include "policy/path/mount_table.h"
#include "policy/path/zones.h"

struct import {
    const struct document *document;
    struct findings *findings;
};

static struct origin at(const struct import *import, struct position place)
{
    return node_origin(import->document, place);
}

static const char *text_of(const struct import *import, const struct node *table, const char *what,
                           const char *key)
{
    const struct node *node = node_get(table, key);
    const char *text = node ? value_text(node) : NULL;

    if (!node)
        findings_add(import->findings, SEVERITY_ERROR, at(import, table->place), NULL,
                     "%s has no '%s'", what, key);
    else if (!text || strlen(text) != node->string.length)
        findings_add(import->findings, SEVERITY_ERROR, at(import, node->place), NULL,
                     "'%s' of %s is no text", key, what);
    return text ? text : "";
}

static void read_zone(const struct import *import, const struct node_entry *entry, struct zone *out)
{
    const struct node *writable = node_get(&entry->value, "writable");

    *out = (struct zone){ .name = entry->key.bytes, .origin = at(import, entry->key_place) };
    if (strlen(entry->key.bytes) != entry->key.length || entry->value.kind != NODE_TABLE) {
        findings_add(import->findings, SEVERITY_ERROR, out->origin,
                     "write { path = \"...\", writable = true }", "the zone '%s' is no table",
                     entry->key.bytes);
        return;
    }
    out->path = text_of(import, &entry->value, "a zone", "path");
    if (writable && value_bool(writable, &out->writable) < 0)
        findings_add(import->findings, SEVERITY_ERROR, at(import, writable->place),
                     "write true or false", "'writable' of the zone '%s' is neither true nor false",
                     out->name);
}

/* NULL: mistakes, all among the findings. */
static struct mount_table *convert(const struct import *import, const struct node *from)
{
    const struct node *list = node_get(from, "zones");
    struct zones zones = { .origin = at(import, from->place) };
    size_t n_errors = import->findings->n_errors;

    zones.base_path = text_of(import, from, "the configuration", "basePath");
    if (!list || list->kind != NODE_TABLE || list->table->n == 0) {
        findings_add(import->findings, SEVERITY_ERROR, zones.origin, NULL, "there are no 'zones'");
        return NULL;
    }
    auto_free struct zone *items = calloc(list->table->n, sizeof *items);
    if (!items) {
        import->findings->failed = true;
        return NULL;
    }
    for (const struct node_entry *entry = list->table->first; entry; entry = entry->next)
        read_zone(import, entry, &items[zones.n_zones++]);
    zones.zones = items;
    if (import->findings->n_errors > n_errors)
        return NULL;
    return zones_convert(&zones, import->findings);
}

/* JSON is YAML too. */
static bool is_yaml(const char *path)
{
    size_t n = strlen(path);

    return yaml_is_name(path) || (n > 5 && strcmp(path + n - 5, ".json") == 0);
}

static int import_zones(const char *path, struct findings *findings, coop_error **err)
{
    auto_buffer struct buffer text = { 0 };
    auto_buffer struct buffer out = { 0 };
    struct document *document = NULL;
    int r = config_read_file(path, &text, err);

    if (r < 0)
        return r;
    r = is_yaml(path) ? yaml_read(path, text.data, text.length, &document, findings)
                      : toml_parse(path, text.data, text.length, &document, findings);
    if (r < 0)
        return r;
    const struct import import = { document, findings };
    const struct node *sandbox = node_get(&document->root, "sandbox");
    struct mount_table *table = convert(&import, sandbox ? sandbox : &document->root);
    if (table) {
        buffer_append_string(&out, "[sandbox]\n");
        mount_table_print(table, &out);
        r = config_print(&out, err);
    } else {
        r = -EINVAL;
    }
    mount_table_free(table);
    document_free(document);
    return r;
}

static int set_zones(void *context, const char *value, coop_error **err)
{
    (void)err;
    *(const char **)context = value;
    return 0;
}

static int import_main(int argc, char **argv)
{
    auto_error coop_error *err = NULL;
    auto_findings struct findings findings = { 0 };
    const char *zones = NULL;
    int n = command_parse(&config_import, argc, argv, &zones, &err);

    if (n == -ECANCELED)
        return 0;
    if (n >= 0 && (n < argc || !zones))
        n = fail_kind(&err, COOP_ERROR_BAD_POLICY, EINVAL,
                      zones ? "takes no operand" : "needs --zones and the name of a file");
    if (n < 0 || !zones) {
        command_complain("config import", err);
        return 2;
    }
    int r = import_zones(zones, &findings, &err);
    config_print_findings(&findings);
    if (err)
        command_complain("config import", err);
    return r < 0;
}

static const struct command_option options[] = {
    { "zones", 0, "FILE", "a file (TOML, YAML, JSON) with basePath and zones", set_zones },
    { "help", 'h', NULL, "show this help", NULL },
    { 0 },
};

const struct command config_import = {
    .name = "config import",
    .arguments = "--zones FILE",
    .summary = "convert an older configuration with zones to the current format",
    .options = options,
    .run = import_main,
};
