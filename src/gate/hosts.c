#include "hosts.h"

#include <string.h>
#include <strings.h>

/* The next word of a line; false: none, or a comment. */
static bool next_word(const char **at, const char *end, const char **word, size_t *n)
{
    while (*at < end && (**at == ' ' || **at == '\t' || **at == '\r'))
        (*at)++;
    if (*at == end || **at == '#' || **at == ';')
        return false;
    *word = *at;
    while (*at < end && **at != ' ' && **at != '\t' && **at != '\r' && **at != '#')
        (*at)++;
    *n = (size_t)(*at - *word);
    return true;
}

static const char *end_of_line(const char *at, const char *end)
{
    const char *line_end = memchr(at, '\n', (size_t)(end - at));

    return line_end ? line_end : end;
}

static bool line_names(const char *at, const char *end, const char *name)
{
    size_t length = strlen(name);
    const char *word = NULL;
    size_t n = 0;

    while (next_word(&at, end, &word, &n)) {
        if (n > 0 && word[n - 1] == '.')
            n--;
        if (n == length && strncasecmp(word, name, n) == 0)
            return true;
    }
    return false;
}

size_t gate_hosts_find(const char *text, size_t length, const char *name,
                       uint8_t out[][ADDRESS_BYTES], size_t n, size_t most)
{
    const char *end = text + length;

    for (const char *line = text; line < end && n < most; line = end_of_line(line, end) + 1) {
        const char *line_end = end_of_line(line, end);
        const char *at = line;
        const char *word = NULL;
        size_t size = 0;

        if (next_word(&at, line_end, &word, &size) && line_names(at, line_end, name) &&
            address_parse(word, size, out[n]))
            n++;
    }
    return n;
}

void gate_servers_read(const char *text, size_t length, struct gate_servers *out)
{
    static const char keyword[] = "nameserver";
    const char *end = text + length;

    out->n = 0;
    for (const char *line = text; line < end && out->n < GATE_SERVERS_MOST;
         line = end_of_line(line, end) + 1) {
        const char *line_end = end_of_line(line, end);
        const char *at = line;
        const char *word = NULL;
        size_t n = 0;

        if (next_word(&at, line_end, &word, &n) && n == sizeof keyword - 1 &&
            memcmp(word, keyword, n) == 0 && next_word(&at, line_end, &word, &n) &&
            address_parse(word, n, out->addresses[out->n]))
            out->n++;
    }
}
