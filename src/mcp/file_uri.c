#include "file_uri.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
        return (c | 0x20) - 'a' + 10;
    return -1;
}

static char *decode(const char *text)
{
    auto_free char *path = malloc(strlen(text) + 1);
    char *to = path;

    for (; path && *text; text++) {
        if (*text == '?' || *text == '#') /* a file has neither */
            return NULL;
        if (*text != '%') {
            *to++ = *text;
            continue;
        }
        int high = hex_digit(text[1]);
        int low = high < 0 ? -1 : hex_digit(text[2]);
        if (low < 0 || (high | low) == 0)
            return NULL;
        *to++ = (char)(high << 4 | low);
        text += 2;
    }
    if (path)
        *to = '\0';
    return take_ptr(path);
}

char *file_uri_path(const char *uri)
{
    if (strncasecmp(uri, "file:", 5) != 0)
        return NULL;
    uri += 5;
    if (strncmp(uri, "//", 2) == 0) {
        uri += 2;
        if (strncasecmp(uri, "localhost/", 10) == 0)
            uri += 9;
    }
    return *uri == '/' ? decode(uri) : NULL;
}

void file_uri_append(struct buffer *out, const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-._~/!$&'()*+,;=:@";

    buffer_append_string(out, "file://");
    while (*path) {
        size_t n = strspn(path, plain);

        buffer_append(out, path, n);
        path += n;
        if (*path)
            buffer_printf(out, "%%%02X", (unsigned char)*path++);
    }
}
