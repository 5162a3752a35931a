/*
 * request.h - the request that goes to the host in place of the box's own
 *
 * The method, the target and nearly all fields are the box's. Host is the host's own, the secret's
 * field is ours and stands there once, and the connection ends after this one request, unless it
 * turns to another protocol. Pure.
 */
#pragma once

#include "net/wire/http_head.h"

struct credential_route {
    const char *host;
    uint16_t port;
    const char *header; /* name of the field */
    const char *prefix; /* before the value */
    const char *value;  /* the secret */
};

/* NULL, or why it is not sent on, as a sentence. */
const char *credential_request_refuse(const struct http_request *request);

/* How many bytes credential_request_write() may need, whatever the request. */
size_t credential_request_room(const struct credential_route *route);

/* `bytes` hold the complete head. Returns the length. */
size_t credential_request_write(const struct credential_route *route, const char *bytes,
                                const struct http_request *request, char *out);
