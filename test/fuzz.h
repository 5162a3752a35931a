/*
 * fuzz.h - what every fuzzer needs: its one function, and claims that end it
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Unlike assert(), also there when NDEBUG is defined. `text` is what it is claimed of; NULL: nothing. */
static inline void fuzz_require(bool claim, const char *what, const char *text)
{
    if (claim)
        return;
    if (text)
        (void)fprintf(stderr, "does not hold for '%s': %s\n", text, what);
    else
        (void)fprintf(stderr, "does not hold: %s\n", what);
    abort();
}

#define REQUIRE(claim)          fuzz_require(claim, #claim, NULL)
#define REQUIRE_OF(text, claim) fuzz_require(claim, #claim, text)
