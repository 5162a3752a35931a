#include "buffer.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALLEST = 64 };

void buffer_done(struct buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct buffer){ 0 };
}

void buffer_wipe(struct buffer *buffer)
{
    if (buffer->data)
        explicit_bzero(buffer->data, buffer->capacity);
    buffer_done(buffer);
}

bool buffer_reserve(struct buffer *buffer, size_t more)
{
    if (buffer->failed)
        return false;
    if (more >= SIZE_MAX - buffer->length) {
        buffer->failed = true;
        return false;
    }
    size_t needed = buffer->length + more + 1;
    if (needed <= buffer->capacity)
        return true;

    size_t capacity = buffer->capacity <= SIZE_MAX / 2 ? buffer->capacity * 2 : SIZE_MAX;
    if (capacity < needed)
        capacity = needed;
    if (capacity < SMALLEST)
        capacity = SMALLEST;
    char *data = realloc(buffer->data, capacity);
    if (!data) {
        buffer->failed = true;
        return false;
    }
    data[buffer->length] = '\0';
    buffer->data = data;
    buffer->capacity = capacity;
    return true;
}

void buffer_append(struct buffer *buffer, const void *bytes, size_t n)
{
    if (n == 0 || !buffer_reserve(buffer, n))
        return;
    memcpy(buffer->data + buffer->length, bytes, n);
    buffer->length += n;
    buffer->data[buffer->length] = '\0';
}

void buffer_append_char(struct buffer *buffer, char c)
{
    buffer_append(buffer, &c, 1);
}

void buffer_append_string(struct buffer *buffer, const char *string)
{
    buffer_append(buffer, string, strlen(string));
}

void buffer_vprintf(struct buffer *buffer, const char *format, va_list args)
{
    va_list again;

    if (!buffer_reserve(buffer, SMALLEST))
        return;
    size_t room = buffer->capacity - buffer->length;
    va_copy(again, args);
    int n = vsnprintf(buffer->data + buffer->length, room, format, args);
    if (n >= 0 && (size_t)n >= room) {
        buffer->data[buffer->length] = '\0'; /* in case the larger room cannot be had */
        if (buffer_reserve(buffer, (size_t)n))
            n = vsnprintf(buffer->data + buffer->length, (size_t)n + 1, format, again);
    }
    va_end(again);
    if (n < 0)
        buffer->failed = true;
    if (buffer->failed)
        buffer->data[buffer->length] = '\0';
    else
        buffer->length += (size_t)n;
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    buffer_vprintf(buffer, format, args);
    va_end(args);
}

char *buffer_take_string(struct buffer *buffer)
{
    char *string = NULL;

    if (buffer_reserve(buffer, 0)) {
        string = buffer->data;
        buffer->data = NULL;
    }
    buffer_done(buffer);
    return string;
}
