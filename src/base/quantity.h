/*
 * quantity.h - sizes, durations and counts as people write them
 *
 *   size       512  64k  2g  2G  2GiB  2gb  1.5g     k, m, g and t are powers of 1024, however
 *                                                    they are spelled (k, ki, kb, kib; b is bytes)
 *   duration   30  30s  500ms  2m  1h  1.5s  1d      without a unit: seconds
 *              1h30m  1d12h                          larger first, a fraction only in the last
 *   count      512
 *   decimal    1.5                                   at most three decimals, more than 0
 *
 * The whole text must be the quantity: no sign, no space, nothing behind it. Case does not matter
 * in units. What does not come out even is rounded down, but a size or duration above 0 that would
 * come out as 0 is refused, because 0 means something else to most callers; whether 0 itself is
 * welcome is for the caller to say. A refusal is -EINVAL of kind COOP_ERROR_BAD_POLICY, with one
 * sentence that names the value and what was expected.
 */
#pragma once

#include <stdint.h>

#include "coop/error.h"

/* A size fits off_t, and is never RLIM_INFINITY by accident. */
#define QUANTITY_SIZE_MAX ((uint64_t)INT64_MAX)
/* 100,000 days: in nanoseconds, it still fits int64_t. */
#define QUANTITY_DURATION_MAX_MS (UINT64_C(100000) * 24 * 60 * 60 * 1000)
/* A million, in thousandths. */
#define QUANTITY_DECIMAL_MAX_MILLI UINT64_C(1000000000)

int quantity_size(const char *text, uint64_t *out, coop_error **err);
int quantity_duration_ms(const char *text, uint64_t *out, coop_error **err);
int quantity_count(const char *text, uint64_t min, uint64_t max, uint64_t *out, coop_error **err);
int quantity_decimal_milli(const char *text, uint64_t *out, coop_error **err);

/* "0 B", "1.5 KiB", "512 MiB", "2 GiB": at most one decimal, to the nearest. */
void quantity_format_size(uint64_t size, char out[32]);
/* "850us", "12.3ms", "1.5s", "2m5s", "1h30m", "3d4h": the two leading units, to the nearest. */
void quantity_format_duration_us(uint64_t us, char out[32]);
