/*
 * redact.h - a git configuration without the credentials in it
 *
 * Redacted, wherever it stands (values, sub-sections, comments):
 *   userinfo in URLs       https://user:token@host/ becomes https://REDACTED@host/, and so does
 *                          https://token@host/, because a token needs no password beside it. A mere
 *                          user name stays where it is only the account: ssh://git@host, git@host:
 *   whole values           http.*.extraheader; names that end in password, passphrase, pass, token,
 *                          secret and the like; and any value that spells out a header of
 *                          authorization, a password= or a token=
 *   proxies                user:password@proxy:3128, also without a scheme
 *   comments               wholly, when they speak of such things: a line commented out is still there
 *
 * Every other byte is kept, so git reads the same keys in the same order.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "coop/error.h"

#define GIT_CONFIG_REDACTED "REDACTED"

/* Appends to `out`. What git would not read is an error: nothing of it may be shown. */
int git_config_redact(const char *text, size_t size, struct buffer *out, bool *out_redacted,
                      coop_error **err);
