/*
 * protect_binds.h - protected names in the directories that are mounted beside the workspace
 *
 * The same rules, relative to each of them. The host's programs and settings are not searched: what is
 * secret there is in a table (policy/secret_places.h). Nor is a single file, which is what the owner named.
 */
#pragma once

#include "plan/protect_private.h"

/* Searches each and adds the places where it is seen. */
int protect_binds(struct plan *plan, coop_error **err);
void protect_binds_done(struct plan_protected *protected);

/* Whether a directory in one of the searched ones turned out to ignore case. */
bool protect_binds_ignore_case(const struct plan_protected *protected);
size_t protect_binds_n_found(const struct plan_protected *protected);
