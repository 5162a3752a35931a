/*
 * token.h - the bearer token that every request must carry
 */
#pragma once

#include <stdbool.h>

#include "coop/error.h"

struct http_token {
    char text[513];
    bool is_made_up; /* nobody has it but who reads our standard error */
};

/* From the file, which must be its owner's alone (mode 0600) and hold at least 16 characters; NULL: a
 * random one. */
int http_token_get(const char *file, struct http_token *out, coop_error **err);

/* "Bearer TOKEN"; NULL is none. Takes as long for a wrong one as for the right one. */
bool http_token_fits(const struct http_token *token, const char *authorization);
