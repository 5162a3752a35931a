/*
 * media.h - what bytes are, by how they begin
 *
 * A guess for showing: a file may begin like a picture and be none. The first 4 KiB are enough.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define MEDIA_SAMPLE 4096 /* as many bytes as it takes to tell */

/* The MIME type of a picture or sound that a model may be shown (PNG, JPEG, GIF, WebP, BMP, WAV, MP3);
 * NULL: it is none of them. Static. */
const char *media_type(const void *bytes, size_t n);

/* In words, for a note: "PNG picture", "ELF program", "gzip data"; NULL: nothing known. Static. */
const char *media_name(const void *bytes, size_t n);

/* Whether it makes no sense to show this as text: a NUL, many control characters, or a known format
 * that is no text. Text in a legacy encoding is text; UTF-16 is not. Looks at all n bytes. */
bool media_is_binary(const void *bytes, size_t n);
