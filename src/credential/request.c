#include "request.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

#define FRAME 256 /* bytes of what is added, but for the texts of the route */

const char *credential_request_refuse(const struct http_request *request)
{
    /* The answer's body would be the request, with the secret in it. */
    static const char *const echoing[] = { "TRACE", "TRACK" };

    if (request->form != HTTP_ORIGIN && request->form != HTTP_ABSOLUTE)
        return "the target is no path";
    for (size_t i = 0; i < COUNT(echoing); i++)
        if (http_span_is(request->method, echoing[i]))
            return "this method would show the secret";
    return NULL;
}

size_t credential_request_room(const struct credential_route *route)
{
    /* "a:" becomes "a: ", so a head of many short fields grows by a quarter. */
    return HTTP_REQUEST_MAX + HTTP_REQUEST_MAX / 4 + FRAME + strlen(route->host) +
           strlen(route->header) + strlen(route->prefix) + strlen(route->value);
}

/* Whether a server could take the one name for the other: some do not tell '_' from '-'. */
static bool is_like(struct http_span name, const char *text)
{
    if (strlen(text) != name.n)
        return false;
    for (size_t i = 0; i < name.n; i++) {
        char a = (char)(name.at[i] >= 'A' && name.at[i] <= 'Z' ? name.at[i] | 0x20 : name.at[i]);
        char b = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] | 0x20 : text[i]);

        if (a != b && !(a == '_' && b == '-') && !(a == '-' && b == '_'))
            return false;
    }
    return true;
}

/* What is ours to say, or was between the box and us. */
static bool is_left_out(const struct credential_route *route, const struct http_request *request,
                        struct http_span name)
{
    static const char *const ours[] = {
        "Host",          "Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization",
        "HTTP2-Settings"
    };

    for (size_t i = 0; i < COUNT(ours); i++)
        if (is_like(name, ours[i]))
            return true;
    return is_like(name, route->header) || (!request->is_upgrade && is_like(name, "Upgrade"));
}

static char *put(char *at, const char *bytes, size_t n)
{
    memcpy(at, bytes, n);
    return at + n;
}

static char *put_field(char *at, const char *name, struct http_span value)
{
    at = stpcpy(stpcpy(at, name), ": ");
    return stpcpy(put(at, value.at, value.n), "\r\n");
}

size_t credential_request_write(const struct credential_route *route, const char *bytes,
                                const struct http_request *request, char *out)
{
    const char *connection = request->is_upgrade ? "Upgrade" : "close";
    struct http_header field;
    size_t next = 0;
    char *at = put(out, request->method.at, request->method.n);

    *at++ = ' ';
    at = put(at, request->path.at, request->path.n); /* the host is another there */
    at = stpcpy(at, request->is_old ? " HTTP/1.0\r\nHost: " : " HTTP/1.1\r\nHost: ");
    at = stpcpy(at, route->host);
    if (route->port != 443)
        at += snprintf(at, sizeof ":65535", ":%u", route->port);
    at = stpcpy(at, "\r\n");
    while (http_request_next_field(bytes, request, &next, &field)) {
        if (is_left_out(route, request, field.name))
            continue;
        at = put(at, field.name.at, field.name.n);
        at = put_field(at, "", field.value);
    }
    at = put_field(at, "Connection", (struct http_span){ connection, strlen(connection) });
    at = stpcpy(stpcpy(at, route->header), ": ");
    at = stpcpy(stpcpy(stpcpy(at, route->prefix), route->value), "\r\n\r\n");
    return (size_t)(at - out);
}
