/*
 * scrub.h - what looks like a secret is taken out of a text that is kept
 *
 * For command lines and messages that go into a log. Where the value of a secret is known, redact.h
 * takes it out; this is for those that nobody told coop of: what follows a name such as password,
 * token or api_key (NAME=VALUE, NAME: VALUE, --NAME VALUE), a Bearer or Basic authorization, what
 * stands before the '@' of a URL, and tokens that their own beginning gives away. It takes out too
 * much rather than too little, and it cannot know everything.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

/* Appends the text with "[hidden]" for each such value. */
void scrub_append(struct buffer *out, const char *text, size_t n);

/* A variable or an option of this name usually holds a secret. */
bool scrub_is_secret_name(const char *name, size_t n);
