#include "policy/glob_pack.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "test/check.h"

static const char *const patterns[] = {
    "work/.git/hooks", "work/**/*.pem",  "work/[a-c]x?[!0-9é]*", "**/.env",
    "work/*secret*",   "work/a\\*b/*/c", "work/.vscode/",
};
static const char *const paths[] = {
    "work",           "work/.git",     "work/.git/hooks", "work/.git/hooks/x", "work/k.pem",
    "work/a/b/k.pem", "work/bxyz",     "work/bxy1",       "work/dxyz",         ".env",
    "work/q/.env",    "work/mysecret", "work/a*b/q/c",    "work/aXb/q/c",      "work/.vscode",
};

static const struct glob *packed_copy(struct buffer *out, struct glob **globs, size_t n)
{
    size_t n_out = 0;

    glob_pack(out, (const struct glob *const *)globs, n);
    char *copy = aligned_alloc(8, (out->length + 7) & ~(size_t)7);
    memcpy(copy, out->data, out->length);
    const struct glob *again = glob_unpack(copy, &n_out);
    CHECK(n_out == n);
    return again;
}

TEST(packed_patterns_decide_as_before)
{
    auto_findings struct findings findings = { 0 };
    auto_buffer struct buffer out = { 0 };
    struct glob *globs[COUNT(patterns)];

    for (size_t i = 0; i < COUNT(patterns); i++) {
        globs[i] =
            glob_new(patterns[i], strlen(patterns[i]), i % 2, (struct origin){ 0 }, &findings);
        CHECK(globs[i]);
    }
    const struct glob *again = packed_copy(&out, globs, COUNT(patterns));
    unsigned n_matches = 0;
    for (size_t i = 0; i < COUNT(patterns); i++)
        for (size_t j = 0; j < COUNT(paths); j++) {
            bool before = glob_match(globs[i], paths[j], true);

            n_matches += before;
            CHECK(glob_match(glob_packed(again, i), paths[j], true) == before);
        }
    CHECK(n_matches > 8);
    for (size_t i = 0; i < COUNT(patterns); i++)
        glob_free(globs[i]);
    free((char *)(uintptr_t)again - 8);
}
