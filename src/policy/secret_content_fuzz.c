/*
 * A secret is found wherever it stands: what is recognised in some bytes is recognised with lines before
 * and behind them, and in no less than all of it nothing else is said. The bytes are in memory of just
 * their size, so that a sanitizer sees who reads beyond.
 */
#include "secret_content.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "test/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char line[] = "\nname = value\n";
    size_t n = sizeof line - 1;
    char *exact = malloc(size ? size : 1);
    char *wide = malloc(size + 2 * n);

    REQUIRE(exact && wide);
    if (size > 0)
        memcpy(exact, data, size);
    memcpy(wide, line, n);
    if (size > 0)
        memcpy(wide + n, data, size);
    memcpy(wide + n + size, line, n);
    const char *found = secret_content(exact, size);
    const char *again = secret_content(wide, size + 2 * n);
    REQUIRE(!found || again);
    REQUIRE(!found || found == again);
    REQUIRE(found == secret_content(exact, size));
    free(exact);
    free(wide);
    return 0;
}
