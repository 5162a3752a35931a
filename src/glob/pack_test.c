/* worlds: user */
#include "glob/pack.h"

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

/* Every other one is made first and added as bytes. */
static void *packed_copy(struct buffer *out, struct glob **globs, size_t n)
{
    struct glob_packing packing;

    glob_pack_begin(&packing, out, n);
    for (size_t i = 0; i < n; i++) {
        auto_buffer struct buffer record = { 0 };

        if (i % 2) {
            glob_pack_record(&record, globs[i]);
            CHECK(record.length % 8 == 0);
            glob_pack_add_record(&packing, record.data, record.length);
        } else {
            glob_pack_add(&packing, globs[i]);
        }
    }
    char *copy = aligned_alloc(8, (out->length + 7) & ~(size_t)7);
    memcpy(copy, out->data, out->length);
    CHECK(glob_n_packed(copy) == n);
    glob_unpack(copy);
    return copy;
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
    void *again = packed_copy(&out, globs, COUNT(patterns));
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
    free(again);
}
