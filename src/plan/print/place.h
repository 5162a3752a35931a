/*
 * place.h - what will stand at a path of the box when a step of the plan comes to it
 *
 * Only for plans that are printed: a run does not ask, it tries.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "plan/plan.h"

enum print_place_kind { PLACE_ABSENT, PLACE_LINK, PLACE_DIRECTORY, PLACE_FILE, PLACE_UNSEEN };

struct print_place {
    enum print_place_kind kind;
    bool is_host;       /* in a directory of the host: what is made there stays there */
    const char *source; /* of the mount that it lies in, on the host; NULL: it is the box's own */
    const char *below;  /* the path in `source`, "" for itself */
};

/* `target` is a path of the box without its leading slash; only the steps before `index` count. */
struct print_place print_place_find(const struct plan *plan, size_t index, const char *target);
