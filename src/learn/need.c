#include "need.h"

#include <stdlib.h>
#include <string.h>

static struct need *find(const struct learn_needs *needs, const struct need *need)
{
    for (size_t i = 0; i < needs->n; i++)
        if (needs->items[i].kind == need->kind && strcmp(needs->items[i].what, need->what) == 0)
            return &needs->items[i];
    return NULL;
}

bool learn_needs_add(struct learn_needs *needs, const struct need *need)
{
    struct need *known = find(needs, need);

    if (known) {
        known->last_count =
            (known->last_round == need->round ? known->last_count : 0) + need->count;
        known->last_round = need->round;
        if (known->count < known->last_count)
            known->count = known->last_count;
        if (known->verdict == NEED_OPEN && need->verdict != NEED_OPEN)
            known->verdict = need->verdict; /* it was opened, and is refused all the same */
        return false;
    }
    if (!needs->items && !needs->failed)
        needs->items = calloc(LEARN_NEEDS_MAX, sizeof *needs->items);
    if (!needs->items || needs->n == LEARN_NEEDS_MAX) {
        needs->failed = needs->failed || !needs->items;
        needs->more += need->count;
        return false;
    }
    struct need *added = &needs->items[needs->n];
    *added = *need;
    added->last_round = need->round;
    added->last_count = need->count;
    added->what = strdup(need->what);
    added->note = need->note ? strdup(need->note) : NULL;
    if (!added->what || (need->note && !added->note)) {
        free(added->what);
        free(added->note);
        needs->failed = true;
        needs->more += need->count;
        return false;
    }
    needs->n++;
    return true;
}

void learn_needs_done(struct learn_needs *needs)
{
    for (size_t i = 0; i < needs->n; i++) {
        free(needs->items[i].what);
        free(needs->items[i].note);
    }
    free(needs->items);
    *needs = (struct learn_needs){ 0 };
}
