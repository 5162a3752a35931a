/*
 * The first line is a path, the second is not used, the others are targets of mounts. Whatever is
 * resolved must be normal, as a slow reading of the rules says, and every good table can be printed.
 */
#include "policy/path/path.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "policy/path/mount_table.h"
#include "test/fuzz.h"

#define MAX_MOUNTS 8

static bool is_normal(const char *path)
{
    size_t n = strlen(path);

    if (strcmp(path, "/") == 0)
        return true;
    return path[0] == '/' && path[n - 1] != '/' && !strstr(path, "//") && !strstr(path, "/./") &&
           !strstr(path, "/../") && (n < 2 || strcmp(path + n - 2, "/.") != 0) &&
           (n < 3 || strcmp(path + n - 3, "/..") != 0);
}

static bool has_dots(const char *path)
{
    for (const char *at = path; *at;) {
        size_t n = strcspn(at, "/");

        if (n == 2 && memcmp(at, "..", 2) == 0)
            return true;
        at += n;
        at += *at == '/';
    }
    return false;
}

static void check_message(const coop_error *err, const char *path)
{
    const char *message = coop_error_message(err);
    size_t n = strlen(message);

    REQUIRE_OF(path, utf8_valid_prefix(message, n) == n);
    for (size_t i = 0; i < n; i++)
        REQUIRE_OF(path, (unsigned char)message[i] >= 0x20 && message[i] != 0x7F);
}

/* Component by component, on a stack; false if it runs empty. */
static bool fold_slowly(const char *path, char *out)
{
    char copy[2048];
    char *stack[1024];
    size_t n = 0;
    char *save = NULL;

    (void)snprintf(copy, sizeof copy, "%s", path);
    for (char *at = strtok_r(copy, "/", &save); at; at = strtok_r(NULL, "/", &save)) {
        if (strcmp(at, ".") == 0)
            continue;
        if (strcmp(at, "..") != 0)
            stack[n++] = at;
        else if (n-- == 0)
            return false;
    }
    (void)strcpy(out, n == 0 ? "/" : "");
    for (size_t i = 0; i < n; i++)
        out += sprintf(out, "/%s", stack[i]);
    return true;
}

static void fuzz_path(const char *path)
{
    auto_error coop_error *err = NULL;
    auto_free char *strict = NULL;
    auto_free char *folded = NULL;
    auto_free char *again = NULL;
    char slow[2048];
    int r_strict = path_normalise("path", path, &strict, NULL);
    int r = path_resolve("path", path, &folded, &err);

    REQUIRE_OF(path, (r < 0) == (err != NULL) && (r < 0) == (folded == NULL));
    if (err)
        check_message(err, path);
    if (*path == '/')
        REQUIRE_OF(path, fold_slowly(path, slow) ? r == 0 && strcmp(folded, slow) == 0 : r < 0);
    if (!has_dots(path)) {
        REQUIRE_OF(path, r == r_strict);
        REQUIRE_OF(path, r < 0 || strcmp(strict, folded) == 0);
    } else {
        REQUIRE_OF(path, r_strict < 0);
    }
    if (r < 0)
        return;
    REQUIRE_OF(path, is_normal(folded));
    REQUIRE_OF(path, path_is_within(folded, "/") && path_is_within(folded, folded));
    REQUIRE_OF(path,
               path_normalise("path", folded, &again, NULL) == 0 && strcmp(again, folded) == 0);
}

static void fuzz_table(const char *path, const struct mount_entry *mounts, size_t n)
{
    struct findings findings = { 0 };
    const struct mount_config config = { .root = "/home/user/project",
                                         .mounts = mounts,
                                         .n_mounts = n };
    struct mount_table *table = mount_table_new(&config, &findings);

    REQUIRE_OF(path, !findings.failed && (table == NULL) == (findings.n_errors > 0));
    if (table) {
        auto_buffer struct buffer text = { 0 };

        mount_table_print(table, &text);
        REQUIRE_OF(path, !text.failed && text.length > 0);
    }
    mount_table_free(table);
    findings_done(&findings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const sources[] = { "/", "/home/user/.cache", "/home/user/project/src" };
    char text[2048];
    char *lines[MAX_MOUNTS + 2] = { text };
    size_t n = 1;
    struct mount_entry mounts[MAX_MOUNTS];

    if (size >= sizeof text || memchr(data, '\0', size))
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    for (char *end; n < COUNT(lines) && (end = strchr(lines[n - 1], '\n')) != NULL; n++) {
        *end = '\0';
        lines[n] = end + 1;
    }
    fuzz_path(text);
    for (size_t i = 2; i < n; i++)
        mounts[i - 2] = (struct mount_entry){ .source = sources[i % COUNT(sources)],
                                              .target = lines[i],
                                              .readonly = i % 2 };
    fuzz_table(text, mounts, n > 2 ? n - 2 : 0);
    return 0;
}
