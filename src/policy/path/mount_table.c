#include "mount_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json/write.h"
#include "policy/path/path.h"

struct mount_table {
    struct mount_entry *entries; /* sorted by target, which are all different; the root is "/" */
    size_t n_entries;
};

void mount_table_free(struct mount_table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->n_entries; i++) {
        free((char *)table->entries[i].source);
        free((char *)table->entries[i].target);
    }
    free(table->entries);
    free(table);
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

struct mount_table *mount_table_new(const struct mount_config *config, struct findings *findings)
{
    struct mount_table *table = calloc(1, sizeof *table);
    size_t n_errors = findings->n_errors;

    if (table)
        table->entries = calloc(config->n_mounts + 1, sizeof *table->entries);
    if (!table || !table->entries) {
        findings->failed = true;
        free(table);
        return NULL;
    }
    if (config->root)
        add_entry(table, "root",
                  &(struct mount_entry){ config->root, "/", config->readonly, config->origin },
                  findings);
    for (size_t i = 0; i < config->n_mounts; i++)
        add_entry(table, "mount source", &config->mounts[i], findings);
    bool is_good = findings->n_errors == n_errors && !findings->failed;
    if (is_good)
        settle(table, findings);
    if (is_good && !findings->failed &&
        (table->n_entries == 0 || strcmp(table->entries[0].target, "/") != 0))
        findings_add(findings, SEVERITY_ERROR, config->origin,
                     "write root = \"/path/of/the/project\"", "the sandbox has no root");
    if (findings->n_errors == n_errors && !findings->failed)
        return table;
    mount_table_free(table);
    return NULL;
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
    const struct mount_entry *root = table->entries;

    print_text(out, "root", root->source);
    buffer_printf(out, "\nreadonly = %s\n", root->readonly ? "true" : "false");
    if (table->n_entries == 1)
        return;
    buffer_append_string(out, "mounts = [\n");
    for (size_t i = 1; i < table->n_entries; i++) {
        const struct mount_entry *mount = &table->entries[i];

        print_text(out, "    { source", mount->source);
        print_text(out, ", target", mount->target);
        buffer_printf(out, ", readonly = %s },\n", mount->readonly ? "true" : "false");
    }
    buffer_append_string(out, "]\n");
}
