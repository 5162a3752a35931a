#include "text.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"

static const struct position nowhere = { 0, 0 };

/* ---- reading */

static bool grow(char **bytes, size_t *size)
{
    size_t wanted = *size ? *size * 2 : 1 << 16;
    char *larger = realloc(*bytes, wanted);

    if (!larger)
        return false;
    *bytes = larger;
    *size = wanted;
    return true;
}

/* Without the mark, the first character of the file is in column 1. */
static void drop_mark(struct text *text)
{
    static const char mark[] = "\xEF\xBB\xBF";

    if (text->length < 3 || memcmp(text->bytes, mark, 3) != 0)
        return;
    text->length -= 3;
    memmove(text->bytes, text->bytes + 3, text->length);
}

bool text_read(struct text *text, struct answer *answer)
{
    size_t size = 0;
    ssize_t n = 1;

    while (n != 0 && text->length <= NODE_TEXT_MAX) {
        if (text->length == size && !grow(&text->bytes, &size)) {
            yaml_answer_error(answer, nowhere, NULL, "there is not enough memory to read the file");
            return false;
        }
        n = read(STDIN_FILENO, text->bytes + text->length, size - text->length);
        if (n < 0 && errno != EINTR) {
            yaml_answer_error(answer, nowhere, NULL, "read the file: %s", strerror(errno));
            return false;
        }
        if (n > 0)
            text->length += (size_t)n;
    }
    if (text->length > NODE_TEXT_MAX) {
        yaml_answer_error(answer, nowhere, NULL, "the file is larger than %zu MiB",
                          NODE_TEXT_MAX >> 20);
        return false;
    }
    drop_mark(text);
    return true;
}

/* ---- checking */

static bool is_line_separator(uint32_t cp)
{
    return cp == 0x85 || cp == 0x2028 || cp == 0x2029;
}

/* As libyaml has it, less what it takes for the end of a line. */
static bool is_allowed(uint32_t cp)
{
    if (cp < 0x20)
        return cp == '\t' || cp == '\n';
    if (cp < 0xA0)
        return cp < 0x7F;
    return !is_line_separator(cp) && cp != 0xFEFF && cp != 0xFFFE && cp != 0xFFFF;
}

static void refuse_character(struct answer *answer, struct position place, uint32_t cp)
{
    if (cp == '\r')
        yaml_answer_error(answer, place, "end lines with LF or CRLF",
                          "a carriage return without a line feed cannot stand here");
    else if (is_line_separator(cp))
        yaml_answer_error(answer, place, "end lines with LF or CRLF",
                          "the line separator U+%04X cannot stand here", (unsigned)cp);
    else if (cp < 0xA0)
        yaml_answer_error(answer, place, "write it as an escape in double quotes",
                          "the control character U+%04X cannot stand here", (unsigned)cp);
    else
        yaml_answer_error(answer, place, "write it as an escape in double quotes",
                          "the character U+%04X cannot stand here", (unsigned)cp);
}

bool text_check(const struct text *text, struct answer *answer)
{
    const unsigned char *bytes = (const unsigned char *)text->bytes;
    size_t n_valid = utf8_valid_prefix(text->bytes, text->length);
    struct position place = { 1, 1 };

    for (size_t i = 0; i < n_valid; place.column++) {
        uint32_t cp = bytes[i];

        i += cp < 0x80 ? 1 : utf8_decode(bytes + i, n_valid - i, &cp);
        bool is_crlf = cp == '\r' && i < n_valid && bytes[i] == '\n';
        if (!is_crlf && !is_allowed(cp)) {
            refuse_character(answer, place, cp);
            return false;
        }
        if (cp == '\n')
            place = (struct position){ place.line + 1, 0 };
    }
    if (n_valid == text->length)
        return true;
    yaml_answer_error(answer, place, "save the file as UTF-8",
                      "the byte 0x%02X is not part of valid UTF-8", bytes[n_valid]);
    return false;
}

/* ---- looking */

int text_char(struct text *text, size_t index)
{
    const unsigned char *bytes = (const unsigned char *)text->bytes;

    while (text->index < index && text->at < text->length) {
        do
            text->at++;
        while (text->at < text->length && utf8_is_continuation(bytes[text->at]));
        text->index++;
    }
    while (text->index > index && text->at > 0) {
        do
            text->at--;
        while (text->at > 0 && utf8_is_continuation(bytes[text->at]));
        text->index--;
    }
    return text->at < text->length ? bytes[text->at] : -1;
}
