#include "survey/git_index.h"

#include <stdint.h>
#include <string.h>

#include "test/check.h"

static char bytes[4096];
static size_t size;
static char names[256];
static char shared[GIT_INDEX_SHARED];

static void note(void *context, const char *name, size_t n)
{
    (void)context;
    strncat(names, name, n);
    strcat(names, " ");
}

static void put(uint32_t value, size_t n)
{
    while (n-- > 0)
        bytes[size++] = (char)(value >> (8 * n));
}

static void begin(uint32_t version, uint32_t n)
{
    memset(bytes, 0, sizeof bytes);
    size = 0;
    put(0x44495243, 4);
    put(version, 4);
    put(n, 4);
}

/* `extended`: such flags, or 0. */
static void entry(size_t hash_size, const char *path, unsigned extended)
{
    size_t start = size;

    memset(bytes + size, 'h', 40 + hash_size);
    size += 40 + hash_size;
    put((uint32_t)strlen(path) | (extended ? 0x4000 : 0), 2);
    if (extended)
        put(extended, 2);
    memcpy(bytes + size, path, strlen(path));
    size += strlen(path) + 1;
    size = start + ((size - start + 7) & ~(size_t)7);
}

static bool parse(size_t hash_size, size_t n)
{
    names[0] = '\0';
    return git_index_parse(bytes, n, hash_size, note, NULL, shared);
}

TEST(split)
{
    for (size_t hash = 20; hash <= 32; hash += 12) {
        begin(2, 2);
        entry(hash, "a", 0);
        entry(hash, "", 0); /* stands for one of the other file */
        memcpy(bytes + size, "TREE\0\0\0\2xxlink", 14);
        size += 14;
        put((uint32_t)hash + 3, 4);
        memset(bytes + size, 0xab, hash);
        size += hash + 3;
        memset(bytes + size, 'e', hash);
        CHECK(parse(hash, size + hash));
        CHECK_STR(names, "a ");
        CHECK(strncmp(shared, "sharedindex.abab", 16) == 0 && strlen(shared) == 12 + 2 * hash);
        for (size_t n = 0; n < size + hash; n++) /* cut off anywhere */
            (void)parse(hash, n);
        memcpy(bytes + size - hash - 11, "LINK", 4);
        CHECK(parse(hash, size + hash));
        CHECK_STR(shared, "");
    }
}

TEST(names_at_the_top)
{
    for (size_t hash = 20; hash <= 32; hash += 12) {
        begin(3, 5);
        entry(hash, "a", 0);
        entry(hash, "dir/b", 0);
        entry(hash, "dir/c/d", 0x2000);
        entry(hash, "skipped/d", 0x4000);
        entry(hash, "tmp/t", 0);
        CHECK(parse(hash, size) && strcmp(names, "a dir tmp ") == 0);
        CHECK(!parse(52 - hash, size) && !*names);
        for (size_t n = 0; n + 8 < size; n++)
            CHECK(!parse(hash, n));
    }
}

/* A path is what is left of the one before, and more. */
TEST(version_4)
{
    static const struct {
        unsigned length, left_out;
        const char *rest;
    } entries[] = { { 5, 0, "dir/a" }, { 5, 1, "b" }, { 5, 5, "tmp/x" } };

    begin(4, 3);
    for (size_t i = 0; i < 3; i++) {
        size += 60;
        put(entries[i].length, 2);
        put(entries[i].left_out, 1);
        memcpy(bytes + size, entries[i].rest, strlen(entries[i].rest));
        size += strlen(entries[i].rest) + 1;
    }
    CHECK(parse(20, size) && strcmp(names, "dir tmp ") == 0);
    bytes[12 + 62] = 1; /* there is no path before the first */
    CHECK(!parse(20, size));
}

TEST(no_index)
{
    begin(2, UINT32_MAX);
    CHECK(!parse(20, size) && !*names);
    begin(5, 0);
    CHECK(!parse(20, size));
    begin(2, 1);
    entry(20, "a", 0x2000); /* version 2 has no such flags */
    CHECK(!parse(20, size));
    CHECK(!parse(20, 3));
}
