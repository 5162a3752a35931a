#include "parse.h"

#include <string.h>
#include <strings.h>

#include "net/wire/http_head.h"

_Static_assert(HTTP_HEAD_MAX == HTTP_REQUEST_MAX, "what is read is what can be parsed");

size_t http_head_length(const char *bytes, size_t n)
{
    const char *end = n >= 4 ? memmem(bytes, n, "\r\n\r\n", 4) : NULL;

    return end ? (size_t)(end - bytes) + 4 : 0;
}

/* The span as a string: the byte behind it is a blank, a colon or a line end, and is not needed. */
static char *terminate(char *bytes, struct http_span span)
{
    char *text = bytes + (span.at - bytes);

    text[span.n] = '\0';
    return text;
}

int http_head_parse(char *bytes, size_t n, struct http_head *out)
{
    struct http_request request;
    struct http_header field;
    size_t at = 0;

    *out = (struct http_head){ 0 };
    if (http_request_parse(bytes, n, &request) != HTTP_COMPLETE)
        return request.status;
    if (request.form != HTTP_ORIGIN)
        return 400;
    while (http_request_next_field(bytes, &request, &at, &field)) {
        if (out->n_fields == HTTP_FIELDS_MAX)
            return 431;
        char *name = terminate(bytes, field.name);
        for (char *c = name; *c; c++)
            if (*c >= 'A' && *c <= 'Z')
                *c |= 0x20;
        out->fields[out->n_fields++] = (struct http_field){ name, terminate(bytes, field.value) };
    }
    out->method = terminate(bytes, request.method);
    out->target = terminate(bytes, request.target);
    out->length = request.content_length;
    out->is_chunked = request.is_chunked;
    out->keeps_alive = !request.is_last && !request.is_old;
    out->expects_continue = request.expects_continue;
    return 0;
}

const char *http_head_field(const struct http_head *head, const char *name)
{
    const char *value = NULL;

    for (size_t i = 0; i < head->n_fields; i++)
        if (strcmp(head->fields[i].name, name) == 0) {
            if (value)
                return NULL;
            value = head->fields[i].value;
        }
    return value;
}

bool http_accepts(const char *list, const char *type)
{
    size_t group = strcspn(type, "/") + 1;

    while (*list) {
        list += strspn(list, " \t,");
        size_t n = strcspn(list, " \t,;");

        if (n == 3 && strncmp(list, "*/*", 3) == 0)
            return true;
        if (n == strlen(type) && strncasecmp(list, type, n) == 0)
            return true;
        if (n == group + 1 && list[group] == '*' && strncasecmp(list, type, group) == 0)
            return true;
        list += strcspn(list, ",");
    }
    return false;
}
