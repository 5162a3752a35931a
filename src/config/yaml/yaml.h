/*
 * yaml.h - reads YAML, through the program coop-yaml
 *
 * A small YAML: no anchors and aliases, no tags, no merge keys, one document, text for keys, no key
 * twice. What a plain scalar means is for the schema to say: it is a NODE_TEXT, also where it reads
 * `no`, `0o7`, `~` or nothing at all. One in quotes, or a block with | or >, is a NODE_STRING.
 *
 * libyaml is not part of coop: coop-yaml has it, is started for each text, gives up nearly every
 * right before it reads a byte of it, and answers in the form of config/yaml/stream.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/finding.h"
#include "config/node.h"

/*
 * *out is the caller's to free. Borrows `text` until it returns, and `name` for as long as the
 * document and the findings live. -EINVAL: the mistakes are findings with their places. -ENOPKG:
 * coop-yaml is not installed; -ETIME: it took too long; -EIO, or what starting it gave: it did not
 * work; -ENOMEM. Each of these is a finding about the file as a whole, but for the last.
 *
 * Safe in a program with threads: the child is known by its own descriptor, only that is waited
 * for, and no signal is raised by writing to it.
 */
int yaml_read(const char *name, const char *text, size_t n, struct document **out,
              struct findings *findings);

/* Ends in .yaml or .yml: what else is a configuration file is TOML. */
bool yaml_is_name(const char *path);
