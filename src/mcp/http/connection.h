/*
 * connection.h - one connection: requests, one after the other
 */
#pragma once

#include "mcp/http/sessions.h"
#include "mcp/http/token.h"
#include "mcp/http/visitors.h"

/* What all connections share. */
struct http_place {
    struct server *server;
    struct http_token token;
    unsigned port;
    struct http_sessions sessions;
    struct visitors visitors;
};

/* Serves it until its end; the descriptor is the caller's. */
void http_connection_serve(struct http_place *place, struct visitor *visitor, int fd);
