/*
 * http.h - the protocol over HTTP on the loopback interface (Streamable HTTP)
 *
 * Whoever is on this machine can connect, and a web page can make a browser try to. So every request
 * needs the bearer token, names this server as its host, and, if it comes from a page, comes from
 * one of this machine.
 */
#pragma once

#include "mcp/server.h"
#include "mcp/toolset.h"

struct http;

/* Listens; starts a thread that takes connections. Takes the toolset, which is for the first session. */
int http_start(struct server *server, struct toolset *toolset, struct http **out, coop_error **err);
/* Prints where, and the token if it was made up. */
void http_announce(const struct http *http);

/* Ends all sessions. */
void http_end(struct http *http);
