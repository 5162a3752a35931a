/*
 * layers.h - inside of struct config, for the files that build and narrow it
 */
#pragma once

#include "base/sha256.h"
#include "config/config.h"

#define LAYERS_MAX 8 /* system, user, override, two of the project, flags */

struct layer {
    enum config_layer kind;
    struct document *document;
    const struct node *overrides; /* CONFIG_OVERRIDE: the table that stands for [sandbox] */
    char *real;                   /* the path of its file, without links; NULL: not known */
    char digest[SHA256_HEX_SIZE]; /* by which a project's is approved; "" with secrets */
    bool is_approved;
    const struct node **hidden; /* values that an override outdoes */
    size_t n_hidden;
    const char **flags; /* CONFIG_FLAG: what was given; a place's column is the number of one */
    size_t n_flags;
};

struct config {
    struct layer *layers[LAYERS_MAX]; /* lowest first */
    size_t n_layers;
    char *paths[LAYERS_MAX]; /* names of documents */
    size_t n_paths;
};

/* The value in one layer alone, under either spelling; NULL: it has none. */
const struct node *layer_find(const struct layer *layer, const struct schema_row *row,
                              const char *name);

struct origin layer_origin(const struct layer *layer, struct position place);

/* Inserts above all layers of the same kind and below those of higher kinds. NULL: no memory. */
struct layer *layers_insert(struct config *config, enum config_layer kind,
                            struct document *document);

/* What the owner's layers alone say; it borrows everything from `config`. */
struct config layers_of_owner(const struct config *config);

/* What a layer makes of the network that those below it choose; *place: where, if it says anything. */
enum config_network layer_network(const struct layer *layer, enum config_network below,
                                  struct position *place);

/*
 * project.c: a finding of this severity for everything that the layer asks for beyond what `owner`
 * gives; `workspace` is canonical. And an error for what a project's file may never have.
 */
void project_narrow(const struct config *owner, const struct layer *layer, const char *workspace,
                    enum severity severity, struct findings *findings);
void project_refuse(const struct layer *layer, struct findings *findings);
