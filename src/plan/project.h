/*
 * project.h - a directory of the host as the box's root
 *
 * Its entries stand beside /usr and the rest. Where a name is taken by the box itself, the project's
 * is not shown; `coop plan` says which. Nothing is made in the directory.
 */
#pragma once

#include "plan/plan.h"

struct project_entry {
    const char *name; /* the plan's */
    bool is_directory;
};

/* What the directory holds now, by name; *out is the caller's to free. */
int plan_project_list(struct plan *plan, struct project_entry **out, size_t *out_n,
                      coop_error **err);

/* The first `n` bytes of the text; adding the last one once more does nothing. */
void plan_strings_add(struct plan *plan, struct plan_strings *strings, const char *text, size_t n);

/* The step that takes the directory, and the names of it that may not be read. */
void plan_project_take(struct plan *plan);

/* Where names are not shown: the sentence that says so. */
void plan_project_note(struct plan *plan);

/* For git: /usr and the rest are nobody's new files. */
void plan_project_exclude(struct plan *plan);

/* Whether a path of the project is seen in the box. */
bool plan_project_shows(const struct plan *plan, const char *path);
bool plan_project_hides(const struct plan *plan, const char *name);
