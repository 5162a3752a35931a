#include "authorize.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "mcp/revision.h"

static bool is_name_of_this_host(const char *name, size_t n)
{
    static const char *const names[] = { "127.0.0.1", "localhost" };

    for (size_t i = 0; i < COUNT(names); i++)
        if (strlen(names[i]) == n && strncasecmp(names[i], name, n) == 0)
            return true;
    return false;
}

/* A page of another host that made its name mean 127.0.0.1 still sends its own name. */
static bool is_right_host(unsigned port_here, const char *host)
{
    char port[16];

    if (!host)
        return false;
    size_t n = strcspn(host, ":");
    (void)snprintf(port, sizeof port, ":%u", port_here);
    return is_name_of_this_host(host, n) && strcmp(host + n, port) == 0;
}

static bool is_right_origin(const struct http_head *head)
{
    bool is_given = false;

    for (size_t i = 0; i < head->n_fields; i++)
        is_given |= strcmp(head->fields[i].name, "origin") == 0;
    if (!is_given) /* no browser */
        return true;
    const char *origin = http_head_field(head, "origin");
    if (!origin || strncasecmp(origin, "http://", 7) != 0)
        return false;
    origin += 7;
    size_t n = strcspn(origin, ":");
    const char *port = origin + n + (origin[n] == ':');
    return is_name_of_this_host(origin, n) && strspn(port, "0123456789") == strlen(port);
}

int http_authorize(const struct http_token *token, unsigned port, const struct http_head *head,
                   const char **why)
{
    const char *version = http_head_field(head, "mcp-protocol-version");

    if (!is_right_host(port, http_head_field(head, "host"))) {
        *why = "'Host' must be this server's address";
        return 403;
    }
    if (!is_right_origin(head)) {
        *why = "'Origin' must be a page on this machine";
        return 403;
    }
    if (!http_token_fits(token, http_head_field(head, "authorization"))) {
        *why = "a bearer token is needed";
        return 401;
    }
    if (strncmp(head->target, HTTP_PATH, strlen(HTTP_PATH)) != 0 ||
        (head->target[strlen(HTTP_PATH)] && head->target[strlen(HTTP_PATH)] != '?')) {
        *why = "the address ends with " HTTP_PATH;
        return 404;
    }
    if (version && !revision_find(version)) {
        *why = "'MCP-Protocol-Version' is not supported by this server";
        return 400;
    }
    return 0;
}
