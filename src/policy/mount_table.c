#include "mount_table_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json_write.h"
#include "base/printable.h"
#include "policy/path.h"

/* ---- building */

void mount_table_free(struct mount_table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->n_entries; i++) {
        free((char *)table->entries[i].source);
        free((char *)table->entries[i].target);
    }
    free(table->entries);
    free(table->scope);
    free(table);
}

static void free_at_end(struct mount_table **table)
{
    mount_table_free(*table);
}

#define auto_table __attribute__((cleanup(free_at_end)))

static struct mount_table *table_new(size_t capacity, const char *scope)
{
    struct mount_table *table = calloc(1, sizeof *table);

    if (!table)
        return NULL;
    table->scope = strdup(scope);
    table->entries = calloc(capacity + 1, sizeof *table->entries);
    if (!table->scope || !table->entries) {
        mount_table_free(table);
        return NULL;
    }
    return table;
}

/* Once all entries are there. */
static void make_config(struct mount_table *table)
{
    const struct mount_entry *first = table->entries;
    bool has_root = table->n_entries > 0 && first->target[1] == '\0';

    table->config = (struct mount_config){
        .root = has_root ? first->source : NULL,
        .readonly = has_root && first->readonly,
        .restrict_to = table->scope[1] ? table->scope : NULL,
        .mounts = first + has_root,
        .n_mounts = table->n_entries - has_root,
        .origin = has_root ? first->origin : (struct origin){ 0 },
    };
}

/* The path in normal form, NULL and a finding if it has none. */
static char *check_path(const char *what, const char *path, struct origin origin,
                        struct findings *findings)
{
    auto_error coop_error *err = NULL;
    char *normal = NULL;
    int r = path_normalise(what, path, &normal, &err);

    if (r == -ENOMEM)
        findings->failed = true;
    else if (r < 0)
        findings_add(findings, SEVERITY_ERROR, origin, NULL, "%s", coop_error_message(err));
    return normal;
}

static void add_entry(struct mount_table *table, const char *source_name,
                      const struct mount_entry *entry, struct findings *findings)
{
    struct mount_entry *added = &table->entries[table->n_entries++];

    *added = *entry;
    added->source = check_path(source_name, entry->source, entry->origin, findings);
    added->target = check_path("mount target", entry->target, entry->origin, findings);
}

struct numbered_entry {
    struct mount_entry entry;
    size_t number;
};

static int by_target(const void *left, const void *right)
{
    const struct numbered_entry *a = left;
    const struct numbered_entry *b = right;
    int order = strcmp(a->entry.target, b->entry.target);

    return order != 0 ? order : (a->number > b->number) - (a->number < b->number);
}

/* Sorts the entries; of those with the same target the last one stays. */
static void settle(struct mount_table *table, struct findings *findings)
{
    size_t n = table->n_entries;
    auto_free struct numbered_entry *sorted = calloc(n + 1, sizeof *sorted);

    if (!sorted) {
        findings->failed = true;
        return;
    }
    for (size_t i = 0; i < n; i++)
        sorted[i] = (struct numbered_entry){ table->entries[i], i };
    qsort(sorted, n, sizeof *sorted, by_target);
    table->n_entries = 0;
    for (size_t i = 0; i < n; i++) {
        struct mount_entry *entry = &sorted[i].entry;

        if (i + 1 < n && strcmp(entry->target, sorted[i + 1].entry.target) == 0) {
            findings_add(findings, SEVERITY_WARNING, entry->origin, "remove one of them",
                         "the mount of '%s' at '%s' is hidden by a later one of '%s'",
                         entry->source, entry->target, sorted[i + 1].entry.source);
            free((char *)entry->source);
            free((char *)entry->target);
            continue;
        }
        table->entries[table->n_entries++] = *entry;
    }
}

static struct mount_table *collect(const struct mount_config *config, struct findings *findings)
{
    struct mount_table *table = table_new(config->n_mounts + 1, "/");
    size_t n_errors = findings->n_errors;

    if (!table) {
        findings->failed = true;
        return NULL;
    }
    if (config->root)
        add_entry(table, "root",
                  &(struct mount_entry){ config->root, "/", config->readonly, config->origin },
                  findings);
    for (size_t i = 0; i < config->n_mounts; i++)
        add_entry(table, "mount source", &config->mounts[i], findings);
    if (findings->n_errors == n_errors && !findings->failed)
        settle(table, findings);
    if (findings->n_errors == n_errors && !findings->failed)
        return table;
    mount_table_free(table);
    return NULL;
}

/* ---- looking up */

struct span {
    const char *text;
    size_t length;
};

static int compare_target(const void *key, const void *element)
{
    const struct span *path = key;
    const struct mount_entry *entry = element;
    int order = strncmp(path->text, entry->target, path->length);

    return order != 0 ? order : -(entry->target[path->length] != '\0');
}

/* The entry that a normal path is under: the path itself is looked up, then each of its ancestors. */
static const struct mount_entry *find(const struct mount_table *table, const char *path)
{
    struct span span = { path, strlen(path) };

    for (;;) {
        const struct mount_entry *entry = bsearch(&span, table->entries, table->n_entries,
                                                  sizeof *table->entries, compare_target);

        if (entry || span.length == 1)
            return entry;
        while (path[--span.length] != '/')
            ;
        if (span.length == 0)
            span.length = 1;
    }
}

const struct mount_entry *mount_table_find(const struct mount_table *table, const char *path)
{
    return path_is_within(path, table->scope) ? find(table, path) : NULL;
}

const char *mount_entry_below(const struct mount_entry *entry, const char *path)
{
    path += entry->target[1] ? strlen(entry->target) : 0;
    return path + (*path == '/');
}

/* For messages: paths and restrictions may be what a command chose. NULL without memory. */
static char *show(const char *path)
{
    auto_buffer struct buffer out = { 0 };

    printable_append(&out, path, strlen(path));
    return buffer_take_string(&out);
}

static int refuse_outside(const struct mount_table *table, const char *path, coop_error **err)
{
    auto_free char *shown = show(path);
    auto_free char *scope = show(table->scope);

    if (!shown || !scope)
        return fail_no_memory(err);
    if (!table->scope[1])
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EACCES,
                         "the path '%s' is outside the sandbox: nothing is mounted there", shown);
    return fail_kind(err, COOP_ERROR_BAD_POLICY, EACCES,
                     "the path '%s' is outside the sandbox, which is restricted to '%s'", shown,
                     scope);
}

static int refuse_writing(const struct mount_entry *entry, coop_error **err)
{
    auto_free char *shown = show(entry->target);

    if (!shown)
        return fail_no_memory(err);
    return fail_kind(err, COOP_ERROR_BAD_POLICY, EACCES,
                     "'%s' is read-only in the parent and cannot be made writable", shown);
}

int mount_table_resolve(const struct mount_table *table, const char *path, struct mount_place *out,
                        coop_error **err)
{
    auto_free char *normal = NULL;
    int r = path_resolve("path", path, &normal, err);

    if (r < 0)
        return r;
    const struct mount_entry *entry = mount_table_find(table, normal);
    if (!entry)
        return refuse_outside(table, path, err);
    const char *rest = mount_entry_below(entry, normal);
    char *host = path_join(entry->source, rest);
    if (!host)
        return fail_no_memory(err);
    *out = (struct mount_place){ entry, host, host + strlen(host) - strlen(rest) };
    return 0;
}

void mount_place_done(struct mount_place *place)
{
    free(place->host);
    *place = (struct mount_place){ 0 };
}

static const struct mount_entry *find_any(const struct mount_table *table, const char *path)
{
    auto_free char *normal = NULL;

    if (path_resolve("path", path, &normal, NULL) < 0)
        return NULL;
    return mount_table_find(table, normal);
}

bool mount_table_can_read(const struct mount_table *table, const char *path)
{
    return find_any(table, path) != NULL;
}

bool mount_table_can_write(const struct mount_table *table, const char *path)
{
    const struct mount_entry *entry = find_any(table, path);

    return entry && !entry->readonly;
}

/* ---- narrowing */

static int copy_entry(struct mount_table *child, const struct mount_entry *entry,
                      enum mount_readonly readonly, coop_error **err)
{
    if (readonly == MOUNT_READONLY_NO && entry->readonly)
        return refuse_writing(entry, err);
    struct mount_entry *copy = &child->entries[child->n_entries++];
    *copy = *entry;
    copy->source = strdup(entry->source);
    copy->target = strdup(entry->target);
    copy->readonly = entry->readonly || readonly == MOUNT_READONLY_YES;
    return copy->source && copy->target ? 0 : fail_no_memory(err);
}

int mount_table_restrict(const struct mount_table *parent, const struct mount_request *request,
                         struct mount_table **out, coop_error **err)
{
    auto_free char *scope = NULL;
    const char *asked = request->restrict_to ? request->restrict_to : parent->scope;
    int r = path_resolve("restriction", asked, &scope, err);

    if (r < 0)
        return r;
    const struct mount_entry *covering = mount_table_find(parent, scope);
    if (!covering)
        return refuse_outside(parent, asked, err);
    auto_table struct mount_table *child = table_new(parent->n_entries, scope);
    if (!child)
        return fail_no_memory(err);
    for (size_t i = 0; i < parent->n_entries; i++) {
        const struct mount_entry *entry = &parent->entries[i];

        if (entry != covering && !path_is_within(entry->target, scope))
            continue;
        r = copy_entry(child, entry, request->readonly, err);
        if (r < 0)
            return r;
    }
    make_config(child);
    *out = take_ptr(child);
    return 0;
}

struct mount_table *mount_table_new(const struct mount_config *config, struct findings *findings)
{
    auto_table struct mount_table *whole = collect(config, findings);
    auto_error coop_error *err = NULL;
    const struct mount_request request = { .restrict_to = config->restrict_to };
    struct mount_table *table = NULL;

    if (!whole)
        return NULL;
    if (!config->root && !config->restrict_to && !find(whole, "/")) {
        findings_add(findings, SEVERITY_ERROR, config->origin,
                     "write root = \"/path/of/the/project\"", "the sandbox has no root");
        return NULL;
    }
    int r = mount_table_restrict(whole, &request, &table, &err);
    if (r == -ENOMEM)
        findings->failed = true;
    else if (r < 0)
        findings_add(findings, SEVERITY_ERROR, config->origin, NULL, "%s", coop_error_message(err));
    return table;
}

/* ---- showing */

const struct mount_config *mount_table_config(const struct mount_table *table)
{
    return &table->config;
}

/* A JSON string is a TOML string. */
static void print_text(struct buffer *out, const char *key, const char *value)
{
    struct json_writer json;

    buffer_printf(out, "%s = ", key);
    json_write_init(&json, out, false);
    json_write_text(&json, value);
    json_write_finish(&json);
}

void mount_table_print(const struct mount_table *table, struct buffer *out)
{
    const struct mount_config *config = &table->config;

    if (config->root) {
        print_text(out, "root", config->root);
        buffer_printf(out, "\nreadonly = %s\n", config->readonly ? "true" : "false");
    }
    if (config->restrict_to) {
        print_text(out, "restrict", config->restrict_to);
        buffer_append_char(out, '\n');
    }
    if (config->n_mounts == 0)
        return;
    buffer_append_string(out, "mounts = [\n");
    for (size_t i = 0; i < config->n_mounts; i++) {
        const struct mount_entry *mount = &config->mounts[i];

        print_text(out, "    { source", mount->source);
        print_text(out, ", target", mount->target);
        buffer_printf(out, ", readonly = %s },\n", mount->readonly ? "true" : "false");
    }
    buffer_append_string(out, "]\n");
}
