#include "shell_word.h"

#include <string.h>

void shell_word_append(struct buffer *out, const char *text)
{
    size_t plain = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "/._-+:,=@%");

    if (text[plain] == '\0' && plain > 0) {
        buffer_append_string(out, text);
        return;
    }
    buffer_append_char(out, '\'');
    for (; *text; text++) {
        if (*text == '\'')
            buffer_append_string(out, "'\\''");
        else
            buffer_append_char(out, *text);
    }
    buffer_append_char(out, '\'');
}
