/*
 * check_form.c - what texts look like that name paths, variables, hosts and expectations
 *
 * Nothing here looks at the host, and what a pattern or an identity means is for the policy to say.
 */
#include "check.h"

#include <arpa/inet.h>
#include <limits.h>
#include <string.h>

#include "base/cleanup.h"
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

/* ---- hosts */

static bool is_number(const char *text, size_t n, unsigned min, unsigned max)
{
    unsigned value = 0;

    if (n == 0 || n > 5)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!is_between(text[i], '0', '9'))
            return false;
        value = value * 10 + (unsigned)(text[i] - '0');
    }
    return value >= min && value <= max;
}

/* ADDRESS or ADDRESS/BITS. */
static bool is_address(const char *text, int family)
{
    char address[INET6_ADDRSTRLEN];
    unsigned char bytes[16];
    size_t n = strcspn(text, "/");

    if (n >= sizeof address)
        return false;
    memcpy(address, text, n);
    address[n] = '\0';
    if (inet_pton(family, address, bytes) != 1)
        return false;
    return !text[n] ||
           is_number(text + n + 1, strlen(text + n + 1), 0, family == AF_INET ? 32 : 128);
}

static const char *label_form(const char *label, size_t n)
{
    if (n == 0 || n > 63)
        return "is no host name: between its dots are 1 to 63 characters";
    if (label[0] == '-' || label[n - 1] == '-')
        return "is no host name: no part begins or ends with '-'";
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)label[i] >= 0x80)
            return "has letters outside ASCII: write it as the name service does, with xn--";
        if (!is_letter(label[i]) && !is_between(label[i], '0', '9') && label[i] != '-' &&
            label[i] != '_')
            return "is no host name: letters, digits, '-' and '.', and '*.' at the beginning only";
    }
    return NULL;
}

static const char *name_form(const char *name)
{
    const char *last = strrchr(name, '.');

    if (strcmp(name, "*") == 0)
        return NULL;
    if (strncmp(name, "*.", 2) == 0)
        name += 2;
    if (strlen(name) > 253)
        return "is longer than a host name can be";
    last = last && last >= name ? last + 1 : name;
    if (*last && last[strspn(last, "0123456789")] == '\0')
        return "is neither a host name nor an address";
    for (;;) {
        size_t n = strcspn(name, ".");
        const char *wrong = label_form(name, n);

        if (wrong || !name[n])
            return wrong;
        name += n + 1;
    }
}

/* Cuts ":PORT" off; false if it is none. An IPv6 address with a port stands in brackets. */
static bool cut_port(char *rule)
{
    char *colon = strrchr(rule, ':');
    char *bracket = strrchr(rule, ']');

    if (!colon || (bracket && colon < bracket) || (!bracket && strchr(rule, ':') != colon))
        return true;
    *colon = '\0';
    return is_number(colon + 1, strlen(colon + 1), 1, 65535);
}

static const char *host_form(const char *text)
{
    auto_free char *rule = strdup(text);

    if (!rule)
        return "does not fit into memory";
    if (!*rule)
        return "is empty";
    if (strstr(rule, "://"))
        return "is an address of the web: write the host alone";
    if (!cut_port(rule))
        return "has no port from 1 to 65535 behind its ':'";
    size_t n = strlen(rule);
    if (*rule == '[') {
        if (rule[n - 1] != ']')
            return "has a '[' without its ']'";
        rule[n - 1] = '\0';
        return is_address(rule + 1, AF_INET6) ? NULL : "has no IPv6 address in its brackets";
    }
    if (is_address(rule, AF_INET) || is_address(rule, AF_INET6))
        return NULL;
    return strchr(rule, '/') ? "is no address with the number of its bits" : name_form(rule);
}

/* ---- expectations */

static const char *any_form(const char *text)
{
    return *text ? NULL : "names nothing";
}

static const char *connect_form(const char *text)
{
    const char *colon = strrchr(text, ':');

    if (!colon || !is_number(colon + 1, strlen(colon + 1), 1, 65535))
        return "wants a host and a port, as in connect example.org:443";
    return host_form(text);
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
