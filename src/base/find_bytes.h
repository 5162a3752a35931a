/*
 * find_bytes.h - a short text in a long one, fast
 *
 * Looks for two bytes of the text that are rare as a rule, sixteen places at a time where the machine
 * can; then compares. Never more than FIND_BYTES_MAX steps for a place, whatever the texts are.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FIND_BYTES_MAX 32
#define FIND_BYTES_NOT SIZE_MAX

struct find_bytes {
    unsigned char bytes[FIND_BYTES_MAX];
    unsigned char masks[FIND_BYTES_MAX]; /* 0x20 for a letter whose case is ignored */
    size_t n;
    size_t rare, rarer; /* offsets; the same one in a text of one byte */
};

/* 0 < n <= FIND_BYTES_MAX. `folds`: the case of ASCII letters is ignored. */
void find_bytes_init(struct find_bytes *find, const void *bytes, size_t n, bool folds);

/* The offset of the first one at or behind `from`, or FIND_BYTES_NOT. */
size_t find_bytes_in(const struct find_bytes *find, const char *text, size_t n, size_t from);

/* How many bytes `c` there are. */
size_t count_bytes(const char *text, size_t n, char c);
