/*
 * authorize.h - who may ask
 *
 * Anybody on this machine can connect, and a page can make a browser do so; see http.h.
 */
#pragma once

#include "mcp/http/parse.h"
#include "mcp/http/token.h"

#define HTTP_PATH "/mcp"

/* 0, or the status that refuses it, and *why. `port` is where this server listens. */
int http_authorize(const struct http_token *token, unsigned port, const struct http_head *head,
                   const char **why);
