/*
 * project_steps.h - a directory of the host as the box's root, step by step
 *
 * The directory itself is mounted where the box's own /proc will cover it: there nobody inside can
 * reach it, and init can still take parts of it. Its entries are shown one by one (project_view.h).
 */
#pragma once

#include "jail/child.h"

long project_take(struct child *child, const struct step *step);
long project_show(struct child *child, const struct step *step);
