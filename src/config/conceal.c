#include "conceal.h"

#include <stdlib.h>
#include <string.h>

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '[' || *at == '"' || *at == '\''))
        at++;
    return at;
}

/* [secrets], [secrets.x], secrets.x.value = ..., secrets: and the same in quotes. */
static bool names_secrets(const char *line, const char *end)
{
    static const char word[] = "secrets";
    const char *at = skip_blanks(line, end);

    return (size_t)(end - at) >= sizeof word - 1 && memcmp(at, word, sizeof word - 1) == 0;
}

/* A line that begins a section, or in YAML a key of the top. */
static bool is_heading(const char *line, const char *end, bool is_yaml)
{
    if (line == end || *line == '\n' || *line == '\r' || *line == '#')
        return false;
    if (is_yaml)
        return *line != ' ' && *line != '\t';
    while (line < end && (*line == ' ' || *line == '\t'))
        line++;
    return line < end && *line == '[';
}

/* Whether the line of this number, from 1, is about secrets. */
static bool is_secret_line(const char *text, size_t n, bool is_yaml, unsigned wanted)
{
    const char *end = text + n;
    bool is_secret = false;

    for (unsigned line = 1; text < end; line++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        bool is_here = names_secrets(text, end);

        if (is_heading(text, end, is_yaml))
            is_secret = is_here;
        if (line == wanted)
            return is_secret || is_here;
        if (!newline)
            break;
        text = newline + 1;
    }
    return is_secret;
}

void conceal_secrets(const char *text, size_t n, bool is_yaml, struct findings *findings,
                     size_t first)
{
    for (size_t i = first; i < findings->n; i++) {
        struct finding *finding = &findings->items[i];

        if (!is_secret_line(text, n, is_yaml, finding->origin.line))
            continue;
        char *message = strdup("this cannot be read; it is about secrets, so it is not shown");
        if (!message) {
            findings->failed = true;
            findings_done(findings); /* nothing that might hold one */
            return;
        }
        free(finding->message);
        finding->message = message;
        free(finding->fix);
        finding->fix = strdup("look for missing quotes");
        if (!finding->fix)
            findings->failed = true;
    }
}
