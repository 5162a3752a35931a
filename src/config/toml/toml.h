/*
 * toml.h - reads TOML 1.0
 *
 * All of it, strictly: UTF-8 only, no control characters, no key twice. Time and memory are linear
 * in the text, the stack is bounded (node.h has the limits).
 */
#pragma once

#include <stddef.h>

#include "base/finding.h"
#include "config/node.h"

/*
 * *out is the caller's to free. Borrows `text` until it returns, and `name` for as long as the
 * document and the findings live. -EINVAL: each mistake is a finding with its place; after one that
 * leaves no doubt where the next line begins, reading goes on. -ENOMEM.
 */
int toml_parse(const char *name, const char *text, size_t n, struct document **out,
               struct findings *findings);
