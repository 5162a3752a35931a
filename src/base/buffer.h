/*
 * buffer.h - bytes that grow at the end
 *
 *   auto_buffer struct buffer text = { 0 };
 *   buffer_append_string(&text, "mounts: ");
 *   buffer_printf(&text, "%zu", n);
 *   char *string = buffer_take_string(&text);     NULL if any step ran out of memory
 *
 * Running out of memory is remembered in `failed`, and everything appended after that is ignored:
 * a caller appends freely and looks once, at the end. A zeroed struct is an empty buffer. Where
 * `data` is not NULL, a NUL that is not counted in `length` follows the bytes.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct buffer {
    char *data;
    size_t length;
    size_t capacity; /* allocated, the NUL included */
    bool failed;
};

#define auto_buffer __attribute__((cleanup(buffer_done)))

void buffer_done(struct buffer *buffer); /* frees, leaves an empty buffer */
/* The same for what may have held a secret. Where it has grown, older copies are not reached. */
void buffer_wipe(struct buffer *buffer);

/* Makes room for `more` bytes; false, and `failed`, if there is none. */
bool buffer_reserve(struct buffer *buffer, size_t more);

/* What is appended must not lie in the buffer itself. */
void buffer_append(struct buffer *buffer, const void *bytes, size_t n);
void buffer_append_char(struct buffer *buffer, char c);
void buffer_append_string(struct buffer *buffer, const char *string);
void buffer_printf(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void buffer_vprintf(struct buffer *buffer, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* The bytes as a string, the caller's to free; NULL if the buffer failed. Leaves it empty. */
char *buffer_take_string(struct buffer *buffer);
