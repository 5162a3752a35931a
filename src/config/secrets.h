/*
 * secrets.h - fetches what [secrets] describes
 *
 *   auto_secret char *value = NULL;
 *   if (secrets_read(config, "token", places, &value, findings) == 0) ... a text in secret memory
 *
 * By value, from a file of the owner's that nobody else can read, from a command of the host, or
 * from a variable of the caller. What is wrong is a finding that names the secret and the place in
 * the configuration, never what is written there: it may be the secret itself, in the wrong key.
 */
#pragma once

#include "base/finding.h"
#include "config/config.h"
#include "sys/source.h"

#define SECRETS_MAX ((size_t)64 << 10) /* bytes of a value */

/* -EINVAL: among the findings. No file may lie in the places, where commands write, nor be found
 * through a link there; NULL: there are none. */
int secrets_read(const struct config *config, const char *name, const struct source_places *places,
                 char **out, struct findings *findings);

/* What can be told without running anything or looking at values of others: of a file whether it is
 * there and private, of a variable whether it is set, of a value whether it is long enough to be
 * found in output. */
void secrets_check(const struct config *config, const char *name,
                   const struct source_places *places, struct findings *findings);

/* The variable that the command has it in; the caller's to free. NULL: out of memory. */
char *secrets_variable(const struct config *config, const char *name);

/* Where the secret is written. */
struct origin secrets_origin(const struct config *config, const char *name);
