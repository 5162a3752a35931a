/*
 * revision.h - the revisions of the protocol, and what came with which
 */
#pragma once

#include <stdbool.h>

struct revision {
    const char *name;
    bool has_batches;          /* only one has them */
    bool has_annotations;      /* of tools */
    bool has_sounds;           /* as content, beside pictures */
    bool has_progress_message; /* words, beside the number */
    bool has_structure;        /* structured content and its schema; titles */
};

extern const struct revision *const revision_newest;

/* The one of that name; NULL: not known here. */
const struct revision *revision_find(const char *name);
