/*
 * config.h - what all configuration files and flags say together
 *
 *   auto_config struct config *config = config_new();
 *   auto_findings struct findings findings = { 0 };       after the config: its names are borrowed
 *   if (!config || config_load(config, &request, &findings) < 0) ... every mistake is a finding
 *   config_bool(config, "sandbox.enabled");
 *   if (config_size(config, "sandbox.memory", &bytes)) ...
 *
 * Layers, later ones win: built in -> /etc/coop/coop.toml -> the user's coop.toml -> the overrides of
 * one user -> files of the project -> flags. Tables merge key by key; anything else replaces what
 * lower layers say, but a project's lists of what is forbidden are added to the owner's.
 * Nothing is merged in advance: a question walks the layers. Every answer knows where it was written.
 *
 * Keys are those of schema.h, and asking for one that is not there is a mistake of the caller
 * (asserted). What is answered has been checked: it has the type and form that the schema says.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/finding.h"
#include "config/node.h"
#include "config/schema.h"

struct config;
struct layer;

enum config_layer {
    CONFIG_BUILT_IN,
    CONFIG_SYSTEM,
    CONFIG_USER,     /* also the file of --config */
    CONFIG_OVERRIDE, /* the `sandbox` of a user or a cron entry */
    CONFIG_PROJECT,
    CONFIG_FLAG
};
extern const char *const config_layer_names[]; /* by enum config_layer: "built-in", "system" ... */

struct config *config_new(void);         /* NULL: out of memory */
void config_free(struct config *config); /* NULL is fine */
void config_free_at_exit(struct config **config);
#define auto_config __attribute__((cleanup(config_free_at_exit)))

/* ---- reading */

/* All borrowed until config_load() returns. */
struct config_request {
    const char *file;        /* --config: instead of the system's and the user's; NULL: those */
    const char *workspace;   /* a directory, whose project files are read; NULL: none are */
    const char *system_file; /* NULL: /etc/coop/coop.toml */
    const char *config_home; /* NULL: $XDG_CONFIG_HOME, or ~/.config */
    const char *state_home;  /* where approvals are; NULL: $XDG_STATE_HOME, or ~/.local/state */
    bool ignore_project;     /* for those whose configuration no project narrows */
    bool ask_only; /* what a project asks for beyond the owner's is information, no error */
};

/* Reads, checks and narrows. Files that do not exist are fine. -EINVAL: errors among the findings;
 * -ENOMEM (findings->failed). After a failure only config_free() and the findings are of use. */
int config_load(struct config *config, const struct config_request *request,
                struct findings *findings);

/*
 * One document as a layer, for tests and for those who have read it themselves; it is checked.
 * Takes the document in any case. Layers are added from the lowest to the highest.
 */
int config_add_document(struct config *config, enum config_layer layer, struct document *document,
                        struct findings *findings);

/* A flag, as if its value had been written for `key`; on a list, flags add up. Borrows `flag` and
 * copies `value`. */
int config_add_flag(struct config *config, const char *flag, const char *key, const char *value,
                    struct findings *findings);

/* The files that were read, lowest first. */
struct config_file_info {
    const char *path;
    const char *real; /* without links; NULL: not known, nobody opened it here */
    enum config_layer layer;
    bool is_approved; /* a project's file, by the owner */
    const char
        *digest; /* of path and content; "" for one with [secrets]. Approvals are called by it */
};
size_t config_n_files(const struct config *config);
struct config_file_info config_file_info(const struct config *config, size_t i);

/* ---- values */

/* Belongs to the config. */
struct config_value {
    const struct schema_row *row;
    const struct node
        *node; /* NULL: nobody wrote it, and row->fallback holds, which may be NULL too */
    const struct layer *source; /* for config_child() and the like */
    struct origin origin;
    enum config_layer layer;
};

struct config_value config_get(const struct config *config, const char *key);
/* Of a key with "*" in it, as "commands.*.blocked": `name` stands for the "*". */
struct config_value config_get_named(const struct config *config, const char *key,
                                     const char *name);
/* A key of a table that is an item of a list, as "trust" in an item of "users". */
struct config_value config_child(const struct config_value *table, const char *key);

/* The number of the layer that says so, from 1 on; 0: none does, it is built in. */
unsigned config_rank(const struct config *config, const struct config_value *value);

static inline bool config_is_set(const struct config_value *value)
{
    return value->node != NULL;
}

#define CONFIG_NONE UINT64_MAX /* the limit is lifted: "none" */

/* Each asserts that the row has its type. Where nobody wrote the value and there is no default:
 * NULL, -1, or false with *out untouched. */
const char *config_value_text(const struct config_value *value); /* also words and paths */
int config_value_word(const struct config_value *value);         /* index in row->words */
bool config_value_bool(const struct config_value *value);
/* Counts as they are, sizes in bytes, durations in ms, decimals in thousandths. */
bool config_value_number(const struct config_value *value, uint64_t *out);

const char *config_text(const struct config *config, const char *key);
int config_word(const struct config *config, const char *key);
bool config_bool(const struct config *config, const char *key);
bool config_number(const struct config *config, const char *key, uint64_t *out);
bool config_size(const struct config *config, const char *key, uint64_t *out);
bool config_duration_ms(const struct config *config, const char *key, uint64_t *out);

/* ---- lists and names */

/*
 *   struct config_items items = config_items(config, "sandbox.blocked_paths");
 *   for (struct config_value item; config_items_next(&items, &item);)
 *       config_value_text(&item);
 *
 * A single text of a SCHEMA_COMMAND is no list: node->kind tells them apart.
 */
struct config_items {
    const struct config *config; /* NULL: only the list of `value` */
    struct config_value value;
    const struct node *next;
    const char *name;
    size_t layer; /* of the project's lists that come next */
};
struct config_items config_items(const struct config *config, const char *key);
struct config_items config_items_named(const struct config *config, const char *key,
                                       const char *name);
struct config_items config_value_items(const struct config_value *list);
bool config_items_next(struct config_items *items, struct config_value *out);

/* The names in a table whose names the author chooses, each once: config_names(config, "commands"). */
struct config_names {
    const struct config *config;
    const struct schema_row *row;
    size_t layer;
    const struct node_entry *next;
};
struct config_names config_names(const struct config *config, const char *key);
const char *config_names_next(struct config_names *names); /* NULL: no more */

/* ---- what several keys say together */

/* In the order of sandbox.network's words. */
enum config_network {
    CONFIG_NETWORK_OFF,
    CONFIG_NETWORK_NONE,
    CONFIG_NETWORK_GATE,
    CONFIG_NETWORK_NAT,
    CONFIG_NETWORK_HOST
};
enum config_network config_network(const struct config *config, struct origin *out_origin);

/* From now on the keys of `table`, the `sandbox` of a user or a cron entry, stand above the owner's
 * other layers. Where a project asks for more than they give, they hold. Once, after loading. */
int config_override(struct config *config, const struct config_value *table);

/* Commands that may run where commands.defaults is true; NULL at the end. */
extern const char *const config_default_commands[];

/* A path as it is written, from ~ or relative to `base`, made absolute; the caller's to free. */
int config_expand_path(const char *path, const char *base, char **out, coop_error **err);
