/*
 * standard.h - the protocol on standard input and output: a message is a line
 */
#pragma once

#include "mcp/server.h"
#include "mcp/session.h"

/* Starts a thread that reads. When there is nothing more to read, or nobody who listens, the server
 * is stopped. Takes the toolset; *out is the caller's. */
int standard_start(struct server *server, struct toolset *toolset, struct session **out,
                   coop_error **err);
