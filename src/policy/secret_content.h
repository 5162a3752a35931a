/*
 * secret_content.h - keys and tokens, recognised by what is in a file
 *
 * Private keys in their usual forms, configuration that holds a password or token, and tokens of known
 * services by their prefixes. Pure: whoever asks has read the beginning of a file. Meant for files that
 * are worth a look, by their name or by their mode; text that merely speaks of keys is not taken for one,
 * as far as that can be told.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* How much of a file is looked at. */
#define SECRET_CONTENT_MAX ((size_t)64 << 10)

/* What the bytes hold, in words ("a private key"); NULL: nothing that is known. */
const char *secret_content(const char *bytes, size_t n);

/* Whether a regular file may hold a secret whatever its name is: nobody but its owner may read it, and it
 * is small. */
bool secret_is_private(mode_t mode, off_t size);
