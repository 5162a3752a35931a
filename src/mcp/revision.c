#include "revision.h"

#include <stddef.h>
#include <string.h>

#include "base/cleanup.h"

static const struct revision revisions[] = {
    { .name = "2024-11-05" },
    {
        .name = "2025-03-26",
        .has_batches = true,
        .has_annotations = true,
        .has_sounds = true,
        .has_progress_message = true,
    },
    {
        .name = "2025-06-18",
        .has_annotations = true,
        .has_sounds = true,
        .has_progress_message = true,
        .has_structure = true,
    },
    {
        .name = "2025-11-25",
        .has_annotations = true,
        .has_sounds = true,
        .has_progress_message = true,
        .has_structure = true,
    },
};

const struct revision *const revision_newest = &revisions[COUNT(revisions) - 1];

const struct revision *revision_find(const char *name)
{
    for (size_t i = 0; i < COUNT(revisions); i++)
        if (strcmp(revisions[i].name, name) == 0)
            return &revisions[i];
    return NULL;
}
