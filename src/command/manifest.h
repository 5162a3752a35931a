/*
 * manifest.h - what a program says of its own sub-commands
 *
 *   {"commands": [{"name": "deploy", "agent": false}, {"name": "status", "agent": true}]}
 *   {"commands": {"deploy": false, "status": {"agent": true}}}
 *
 * Other members are for others, and ignored. What says nothing about agents is an error: nobody
 * shall guess.
 */
#pragma once

#include "command/rules.h"

#define MANIFEST_SIZE_MAX ((size_t)1 << 20)

/* Blocks in `rule` what is not for agents. -EINVAL: it makes no sense, and the rule is half done. */
int manifest_read(const char *text, size_t n, struct command_rule *rule, struct origin origin,
                  coop_error **err);
