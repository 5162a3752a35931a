#include "mark.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/printable.h"

static const struct {
    const char *utf8, *ascii, *colour;
} marks[] = {
    [MARK_YES] = { "\xe2\x9c\x93", "[ok]", "\033[32m" },
    [MARK_NO] = { "\xe2\x9c\x97", "[--]", "\033[31m" },
    [MARK_UNSURE] = { "?", "[??]", "\033[33m" },
};

/* The locale that would be in force, read as libc does; musl's own is UTF-8 always. */
static bool locale_is_utf8(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

struct mark_style mark_style_for(FILE *out)
{
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");

    return (struct mark_style){
        .is_utf8 = locale_is_utf8(),
        .is_coloured =
            isatty(fileno(out)) && !(no_color && *no_color) && !(term && strcmp(term, "dumb") == 0),
    };
}

void mark_text(FILE *out, const char *text)
{
    auto_buffer struct buffer safe = { 0 };

    printable_append(&safe, text, strlen(text));
    if (safe.data)
        (void)fputs(safe.data, out);
}

void mark_line(FILE *out, struct mark_style style, enum mark mark, const char *title, int width,
               const char *detail)
{
    (void)fprintf(out, "  %s%s%s ", style.is_coloured ? marks[mark].colour : "",
                  style.is_utf8 ? marks[mark].utf8 : marks[mark].ascii,
                  style.is_coloured ? "\033[0m" : "");
    if (detail && *detail) {
        (void)fprintf(out, "%-*s  ", width, title);
        mark_text(out, detail);
    } else {
        (void)fputs(title, out);
    }
    (void)fputc('\n', out);
}
