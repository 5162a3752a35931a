/*
 * subject.h - what a configuration gives somebody, as policy/decide/decide.h asks about it
 */
#pragma once

#include "policy/decide/decide.h"
#include "run_config/run_config.h"

/* Borrows everything, also for as long as questions are asked. `env_pass` ends with NULL. */
void subject_make(struct decide_subject *out, const coop_policy *policy,
                  const struct run_config *identity, const char *const *env_pass);
