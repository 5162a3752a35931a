/*
 * root_view.h - a directory of the host as the box's root
 *
 * Its entries stand beside /usr and the rest. Where a name is taken by the box itself, the
 * directory is refused (plan/workspace_check.h). Nothing is made in it.
 */
#pragma once

#include "plan/plan.h"

struct root_entry {
    const char *name; /* the plan's */
    bool is_directory;
};

/* What the directory holds now, by name; *out is the caller's to free. */
int plan_root_view_list(struct plan *plan, struct root_entry **out, size_t *out_n,
                        coop_error **err);

/* The first `n` bytes of the text; adding the last one once more does nothing. */
void plan_strings_add(struct plan *plan, struct plan_strings *strings, const char *text, size_t n);

/* The step that takes the directory, and the names of it that may not be read. */
void plan_root_view_take(struct plan *plan);

/* Nobody makes names at its top that are the box's own elsewhere: the next box would be refused. */
void plan_root_view_reserve(struct plan *plan);

/* For git: /usr and the rest are nobody's new files. */
void plan_root_view_exclude(struct plan *plan);

bool plan_root_view_hides(const struct plan *plan, const char *name);
