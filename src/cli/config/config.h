/*
 * config.h - the subcommands of coop config, and what they share
 */
#pragma once

#include "base/buffer.h"
#include "base/finding.h"
#include "cli/command.h"

extern const struct command config_show;
extern const struct command config_schema;
extern const struct command config_import;

/* All of them on stderr, a line each. */
void config_print_findings(const struct findings *findings);

/* What a command has to say, on stdout. */
int config_print(const struct buffer *text, coop_error **err);
