/*
 * secret_command.h - a command of the host that prints a secret
 *
 * It runs with the caller's rights and environment, in '/', in a session of its own, without input.
 * What it writes to standard error is thrown away, since that may be the secret too; so errors tell
 * how it ended and nothing that it said.
 */
#pragma once

#include <sys/types.h>

#include "coop/error.h"

#define SECRET_COMMAND_TIMEOUT_MS 10000

/*
 * argv[0] is searched in the caller's PATH. Returns how many bytes it wrote to `out`, of `room`
 * bytes; more than that is an error. Errors are the end of a sentence about the command: "ended
 * with the exit status 1".
 */
ssize_t secret_command_run(char *const argv[], int timeout_ms, char *out, size_t room,
                           coop_error **err);
