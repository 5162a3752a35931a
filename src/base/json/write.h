/*
 * write.h - JSON written as a stream onto a buffer
 *
 *   struct json_writer json;
 *   json_write_init(&json, &buffer, true);
 *   json_write_object_begin(&json);
 *   json_write_key(&json, "exit_code");
 *   json_write_int(&json, 0);
 *   json_write_object_end(&json);
 *   json_write_finish(&json);
 *
 * The output is always valid JSON in valid UTF-8, whatever bytes the strings hold: malformed UTF-8
 * becomes U+FFFD, control characters (also DEL and C1, which JSON would let pass but a terminal
 * obeys) are escaped. A writer owns nothing. Running out of memory shows in the buffer. Calls out
 * of order (a key in an array, a value without its key, a second value at the top) are asserted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

#define JSON_WRITE_MAX_DEPTH 640 /* a multiple of 64 */

struct json_writer {
    struct buffer *out;
    bool is_pretty;
    bool has_key;   /* a key stands there and waits for its value */
    bool is_ended;  /* the one value at the top is complete */
    unsigned depth; /* open objects and arrays; bit depth-1 below is about the innermost */
    uint64_t is_object[JSON_WRITE_MAX_DEPTH / 64];
    uint64_t has_members[JSON_WRITE_MAX_DEPTH / 64];
};

/* Borrows `out` until json_write_finish(). Pretty: two spaces a level, a newline at the end. */
void json_write_init(struct json_writer *json, struct buffer *out, bool is_pretty);
void json_write_finish(struct json_writer *json);

void json_write_object_begin(struct json_writer *json);
void json_write_object_end(struct json_writer *json);
void json_write_array_begin(struct json_writer *json);
void json_write_array_end(struct json_writer *json);

void json_write_key(struct json_writer *json, const char *key);
void json_write_key_bytes(struct json_writer *json, const char *key, size_t n);
void json_write_string(struct json_writer *json, const char *bytes, size_t n);
void json_write_text(struct json_writer *json, const char *text); /* NULL is written as null */
void json_write_int(struct json_writer *json, int64_t value);
void json_write_uint(struct json_writer *json, uint64_t value);
void json_write_bool(struct json_writer *json, bool value);
void json_write_null(struct json_writer *json);
/* A value that is JSON already, copied as it is. */
void json_write_raw(struct json_writer *json, const char *bytes, size_t n);
