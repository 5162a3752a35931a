/*
 * The first line is a path, the others are patterns. A directory that is said to have nothing below it
 * must have nothing, and each pattern is as specific as itself. Plain patterns are compared with the
 * C library's fnmatch().
 */
#include "glob/glob.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "test/fuzz.h"

/* Whether fnmatch() means the same by it: no classes, no '**', no slashes too many, only ASCII. */
static bool is_plain(const char *text, bool is_pattern)
{
    for (const char *at = text; *at; at++) {
        if ((unsigned char)*at >= 0x80 || (is_pattern && *at == '['))
            return false;
    }
    size_t n = strlen(text);
    return n > 0 && n < 64 && text[0] != '/' && text[n - 1] != '/' && !strstr(text, "//") &&
           !(is_pattern && strstr(text, "**"));
}

static void check_finding(const struct findings *findings, const char *path)
{
    REQUIRE_OF(path, !findings->failed);
    REQUIRE_OF(path, findings->n > 0 && findings->n_errors == findings->n);
    for (size_t i = 0; i < findings->n; i++) {
        REQUIRE_OF(path, strncmp(findings->items[i].message, "the pattern '", 13) == 0);
        REQUIRE_OF(path, findings->items[i].fix != NULL);
    }
}

/* If the path matches, no directory above it may have been left out. */
static void check_above(const struct glob *glob, const char *path)
{
    char directory[2048];

    for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
        if (at[strspn(at, "/")] == '\0')
            break; /* only slashes follow: this is the path itself */
        (void)snprintf(directory, sizeof directory, "%.*s", (int)(at - path), path);
        REQUIRE_OF(path, glob_may_match_below(glob, directory));
    }
}

static void fuzz(const char *pattern, size_t length, const char *path, bool ignore_case)
{
    struct findings findings = { 0 };
    struct glob *glob = glob_new(pattern, length, ignore_case, (struct origin){ 0 }, &findings);

    if (!glob) {
        check_finding(&findings, path);
        findings_done(&findings);
        return;
    }
    REQUIRE_OF(path, findings.n == 0 && glob_compare(glob, glob) == 0);
    for (unsigned is_directory = 0; is_directory < 2; is_directory++) {
        bool is_match = glob_match(glob, path, is_directory);

        if (!ignore_case && is_plain(path, false) && is_plain(glob_text(glob), true))
            REQUIRE_OF(path, is_match == (fnmatch(glob_text(glob), path, FNM_PATHNAME) == 0));
        if (is_match)
            check_above(glob, path);
    }
    glob_free(glob);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[2048];

    if (size >= sizeof text || memchr(data, '\0', size))
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    char *next = strchr(text, '\n');
    while (next) {
        *next++ = '\0';
        char *end = strchr(next, '\n');
        size_t length = end ? (size_t)(end - next) : strlen(next);

        fuzz(next, length, text, false);
        fuzz(next, length, text, true);
        next = end;
    }
    return 0;
}
