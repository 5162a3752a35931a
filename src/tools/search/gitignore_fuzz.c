/*
 * The first line is a path, the rest a .gitignore. The whole file must say what its last rule that
 * matches says, each alone; and nothing in front of a path changes what a rule says of its name.
 */
#include "gitignore.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/fuzz.h"

static bool ignores(const char *text, size_t n, size_t directory_length, const char *path,
                    bool is_directory, const struct gitignore *outer)
{
    struct gitignore *rules = gitignore_new(text, n, directory_length, outer);
    const char *slash = strrchr(path, '/');

    REQUIRE(rules);
    bool is_ignored = gitignore_ignores(rules, path, slash ? slash + 1 : path, is_directory);
    gitignore_free(rules);
    return is_ignored;
}

/* By its last line that says something: one that ignores, or turns around what "*" says. */
static bool ignores_singly(const char *text, size_t n, const char *path, bool is_directory)
{
    struct gitignore *all = gitignore_new("*", 1, 0, NULL);
    const char *end = text + n;
    bool is_decided = false;
    bool is_ignored = false;

    while (end > text && !is_decided) {
        const char *newline = memrchr(text, '\n', (size_t)(end - text));
        const char *line = newline ? newline + 1 : text;

        if (ignores(line, (size_t)(end - line), 0, path, is_directory, NULL))
            is_decided = is_ignored = true;
        else if (!ignores(line, (size_t)(end - line), 0, path, is_directory, all))
            is_decided = true;
        end = newline ? newline : text;
    }
    gitignore_free(all);
    return is_ignored;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[256];
    char below[512];
    const char *newline = size > 0 && size < 4096 ? memchr(data, '\n', size) : NULL;

    if (!newline || (size_t)(newline - (const char *)data) >= sizeof path)
        return 0;
    size_t n = (size_t)(newline - (const char *)data);
    memcpy(path, data, n);
    path[n] = '\0';
    bool is_directory = n > 0 && path[n - 1] == '/';
    path[n - is_directory] = '\0';
    if (!path[0] || path[0] == '/' || strstr(path, "//") || path[strlen(path) - 1] == '/')
        return 0;
    const char *text = newline + 1;
    size_t length = size - n - 1;
    bool is_ignored = ignores(text, length, 0, path, is_directory, NULL);
    if (!memmem(text, length, "\xEF\xBB\xBF", 3)) /* a mark is one at the beginning only */
        REQUIRE(is_ignored == ignores_singly(text, length, path, is_directory));
    (void)snprintf(below, sizeof below, "a/dir/%s", path);
    REQUIRE(is_ignored == ignores(text, length, 6, below, is_directory, NULL));
    return 0;
}
