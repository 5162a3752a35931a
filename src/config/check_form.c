/*
 * check_form.c - what texts look like that name paths, variables, hosts and expectations
 *
 * Nothing here looks at the host, and what a pattern or an identity means is for the policy to say.
 */
#include "check.h"

#include <limits.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/host/host_rule.h"
#include "base/utf8.h"

static bool is_between(char c, char first, char last)
{
    return c >= first && c <= last;
}

static bool is_letter(char c)
{
    return is_between(c, 'a', 'z') || is_between(c, 'A', 'Z');
}

static const char *path_form(const char *path)
{
    if (!*path)
        return "is empty";
    if (strchr(path, '\n'))
        return "has a newline in it";
    if (strlen(path) >= PATH_MAX)
        return "is longer than a path can be";
    if (*path == '~' && path[1] != '\0' && path[1] != '/')
        return "begins with '~' and a name: write the directory itself";
    return NULL;
}

static const char *target_form(const char *path)
{
    const char *wrong = path_form(path);

    if (wrong)
        return wrong;
    return *path == '/' ? NULL : "is relative: write it from '/'";
}

static const char *variable_form(const char *name)
{
    if (!is_letter(*name) && *name != '_')
        return "is no name of a variable: it begins with a letter or '_'";
    for (; *name; name++)
        if (!is_letter(*name) && !is_between(*name, '0', '9') && *name != '_')
            return "is no name of a variable: letters, digits and '_' only";
    return NULL;
}

static const char *host_form(const char *text)
{
    struct host_rule rule;

    return host_rule_parse(text, &rule);
}

/* ---- expectations */

static const char *any_form(const char *text)
{
    return *text ? NULL : "names nothing";
}

static const char *connect_form(const char *text)
{
    struct host_rule rule;
    const char *wrong = host_rule_parse(text, &rule);

    if (!wrong && (rule.first_port != rule.last_port || rule.is_udp))
        return "wants a host and a port, as in connect example.org:443";
    return wrong;
}

static const char *connect_or_socket_form(const char *text)
{
    return *text == '/' || *text == '~' ? path_form(text) : connect_form(text);
}

static const struct {
    const char *verb;
    const char *(*form)(const char *);
} expectations[] = {
    { "read ", path_form },    { "write ", path_form },
    { "exec ", path_form },    { "connect ", connect_or_socket_form },
    { "bind ", connect_form }, { "env ", variable_form },
    { "syscall ", any_form },  { "-- ", any_form },
};

static const char *expectation_form(const char *text)
{
    for (size_t i = 0; i < COUNT(expectations); i++) {
        size_t n = strlen(expectations[i].verb);

        if (strncmp(text, expectations[i].verb, n) == 0)
            return expectations[i].form(text + n + strspn(text + n, " "));
    }
    return "says none of: read PATH, write PATH, exec PATH, connect HOST:PORT, connect /SOCKET, "
           "bind HOST:PORT, env NAME, syscall NAME, -- COMMAND";
}

const char *check_form(const struct schema_row *row, const char *text)
{
    switch (row->type) {
    case SCHEMA_PATH:
        return path_form(text);
    case SCHEMA_TARGET:
        return target_form(text);
    case SCHEMA_VARIABLE:
        return variable_form(text);
    case SCHEMA_HOST:
        return host_form(text);
    case SCHEMA_EXPECTATION:
        return expectation_form(text);
    case SCHEMA_COMMAND:
        return any_form(text);
    case SCHEMA_TEXT:
        if (strcmp(row->path, "secrets.*.from") == 0)
            return *text == '$' ? variable_form(text + 1) : "does not begin with '$'";
        return !*text && row->flags & (SCHEMA_LIST | SCHEMA_REQUIRED) ? "is empty" : NULL;
    case SCHEMA_TABLE:
    case SCHEMA_TABLES:
    case SCHEMA_BOOL:
    case SCHEMA_WORD:
    case SCHEMA_COUNT:
    case SCHEMA_DECIMAL:
    case SCHEMA_SIZE:
    case SCHEMA_DURATION:
        break;
    }
    return NULL;
}
