/*
 * http_guard.h - who may ask
 *
 * Anybody on this machine can connect, and a page can make a browser do so; see http.h.
 */
#pragma once

#include "mcp/http_parse.h"
#include "mcp/http_token.h"

#define HTTP_PATH "/mcp"

/* 0, or the status that refuses it, and *why. `port` is where this server listens. */
int http_guard(const struct http_token *token, unsigned port, const struct http_head *head,
               const char **why);
