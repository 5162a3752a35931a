#include "answer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"

static void flush(struct answer *answer)
{
    size_t done = 0;

    while (done < answer->length) {
        ssize_t n = write(STDOUT_FILENO, answer->bytes + done, answer->length - done);

        if (n < 0 && errno != EINTR)
            _exit(1);
        if (n > 0)
            done += (size_t)n;
    }
    answer->length = 0;
}

static void put(struct answer *answer, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;

    while (n > 0) {
        size_t room = sizeof answer->bytes - answer->length;
        size_t taken = n < room ? n : room;

        memcpy(answer->bytes + answer->length, at, taken);
        answer->length += taken;
        at += taken;
        n -= taken;
        if (answer->length == sizeof answer->bytes)
            flush(answer);
    }
}

static void put_number(struct answer *answer, size_t number)
{
    const unsigned char bytes[] = {
        (unsigned char)number,
        (unsigned char)(number >> 8),
        (unsigned char)(number >> 16),
        (unsigned char)(number >> 24),
    };

    put(answer, bytes, sizeof bytes);
}

void answer_record(struct answer *answer, enum yaml_kind kind, struct position place,
                   const void *text, size_t n)
{
    const unsigned char byte = (unsigned char)kind;

    put(answer, &byte, 1);
    put_number(answer, place.line);
    put_number(answer, place.column);
    put_number(answer, n);
    if (n > 0)
        put(answer, text, n);
}

void yaml_answer_error(struct answer *answer, struct position place, const char *fix,
                       const char *format, ...)
{
    char text[YAML_SENTENCE_MAX + 1];
    va_list args;

    if (answer_is_full(answer))
        return;
    answer->n_errors++;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t n = strlen(text);
    if (fix)
        (void)snprintf(text + n, sizeof text - n, "\n%s", fix);
    answer_record(answer, YAML_ERROR, place, text, utf8_valid_prefix(text, strlen(text)));
}

void answer_finish(struct answer *answer)
{
    answer_record(answer, YAML_DONE, (struct position){ 0, 0 }, NULL, 0);
    flush(answer);
}
