/*
 * steps.c - from the kind of a step to the function that does it
 */
#include "launch/steps.h"

static long (*const apply[STEP_KINDS])(struct child *child, const struct step *step) = {
#define STEP(kind, handler, name, form, traits) [STEP_##kind] = handler,
    STEP_KIND_ROWS(STEP)
#undef STEP
};

int step_apply(struct child *child, const struct step *step)
{
    return (int)apply[step->kind](child, step);
}
