#include "http_parse.h"

#include <string.h>
#include <strings.h>

size_t http_head_length(const char *bytes, size_t n)
{
    const char *end = n >= 4 ? memmem(bytes, n, "\r\n\r\n", 4) : NULL;

    return end ? (size_t)(end - bytes) + 4 : 0;
}

/* RFC 9110's token: what methods and names are made of. */
static bool is_token_char(char c)
{
    return c > ' ' && c < 0x7F && !strchr("\"(),/:;<=>?@[\\]{}", c);
}

static bool is_token(const char *text)
{
    size_t n = 0;

    while (text[n] && is_token_char(text[n]))
        n++;
    return n > 0 && !text[n];
}

/* The next line, ended by a NUL in place of its CR; NULL: there is none. */
static char *next_line(char **at, char *end)
{
    char *line = *at;
    char *stop = memmem(line, (size_t)(end - line), "\r\n", 2);

    if (!stop)
        return NULL;
    *stop = '\0';
    *at = stop + 2;
    return line;
}

static int parse_first_line(char *line, struct http_head *out)
{
    char *target = strchr(line, ' ');
    char *version = target ? strchr(target + 1, ' ') : NULL;

    if (!version)
        return 400;
    *target++ = '\0';
    *version++ = '\0';
    if (!is_token(line) || *target != '/' || strncmp(version, "HTTP/", 5) != 0)
        return 400;
    for (const char *c = target; *c; c++)
        if (*c <= ' ' || *c >= 0x7F)
            return 400;
    bool is_old = strcmp(version, "HTTP/1.0") == 0;
    if (!is_old && strcmp(version, "HTTP/1.1") != 0)
        return 505;
    out->method = line;
    out->target = target;
    out->keeps_alive = !is_old;
    return 0;
}

static char *trimmed(char *text)
{
    text += strspn(text, " \t");
    size_t n = strlen(text);
    while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t'))
        text[--n] = '\0';
    return text;
}

static int parse_field(char *line, struct http_head *out)
{
    char *colon = strchr(line, ':');

    if (!colon) /* also a line that continues the one before it */
        return 400;
    *colon = '\0';
    if (!is_token(line))
        return 400;
    for (char *c = line; *c; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c |= 0x20;
    char *value = trimmed(colon + 1);
    for (const char *c = value; *c; c++)
        if ((unsigned char)*c < ' ' && *c != '\t')
            return 400;
    if (out->n_fields == HTTP_FIELDS_MAX)
        return 431;
    out->fields[out->n_fields++] = (struct http_field){ line, value };
    return 0;
}

static bool parse_length(const char *text, uint64_t *out)
{
    uint64_t n = 0;

    if (!*text || strlen(text) > 18)
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return false;
        n = n * 10 + (uint64_t)(*text - '0');
    }
    *out = n;
    return true;
}

/* What the fields say of the message itself. */
static int understand(struct http_head *out)
{
    size_t n_lengths = 0;
    size_t n_codings = 0;

    for (size_t i = 0; i < out->n_fields; i++) {
        const struct http_field *field = &out->fields[i];

        if (strcmp(field->name, "content-length") == 0) {
            n_lengths++;
            if (!parse_length(field->value, &out->length))
                return 400;
        } else if (strcmp(field->name, "transfer-encoding") == 0) {
            n_codings++;
            if (strcasecmp(field->value, "chunked") != 0)
                return 501;
            out->is_chunked = true;
        } else if (strcmp(field->name, "connection") == 0) {
            if (strcasecmp(field->value, "close") == 0)
                out->keeps_alive = false;
        } else if (strcmp(field->name, "expect") == 0) {
            out->expects_continue = strcasecmp(field->value, "100-continue") == 0;
        }
    }
    return n_lengths + n_codings > 1 ? 400 : 0;
}

int http_head_parse(char *bytes, size_t n, struct http_head *out)
{
    char *at = bytes;
    char *end = bytes + n;

    *out = (struct http_head){ 0 };
    if (n < 2 || memchr(bytes, '\0', n))
        return 400;
    char *line = next_line(&at, end);
    int status = line ? parse_first_line(line, out) : 400;
    while (status == 0 && (line = next_line(&at, end)) && *line)
        status = strchr(line, '\n') || strchr(line, '\r') ? 400 : parse_field(line, out);
    return status ? status : understand(out);
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
