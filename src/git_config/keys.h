/*
 * keys.h - which entries of a git configuration are harmless, as tables
 */
#pragma once

#include <stdbool.h>

#include "git_config/git_config.h"
#include "git_config/review.h"

/* NULL: harmless for whoever reads it on the host. Otherwise why not, as the end of a sentence. */
const char *git_config_harm(const struct git_config_item *entry,
                            const struct git_config_place *place);
