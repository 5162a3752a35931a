#include "libexec.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

static bool is_program(const char *path, struct stat *out)
{
    return stat(path, out) == 0 && S_ISREG(out->st_mode) && (out->st_mode & 0111) != 0;
}

/* The name with another last part; NULL: out of memory. */
static char *beside(const char *executable, const char *slash, const char *name)
{
    char *path = NULL;

    return asprintf(&path, "%.*s/%s", (int)(slash - executable), executable, name) < 0 ? NULL
                                                                                       : path;
}

int libexec_search(const char *executable, const char *directory, const char *name, char **out)
{
    const char *slash = executable ? strrchr(executable, '/') : NULL;
    struct stat own;
    struct stat other;

    if (slash && strcmp(slash + 1, "coop") == 0 && is_program(executable, &own)) {
        auto_free char *path = beside(executable, slash, name);

        if (!path)
            return -ENOMEM;
        if (is_program(path, &other) && own.st_uid == other.st_uid) {
            *out = take_ptr(path);
            return 0;
        }
    }
    auto_free char *path = NULL;
    if (asprintf(&path, "%s/%s", directory, name) < 0) {
        path = NULL;
        return -ENOMEM;
    }
    if (!is_program(path, &other))
        return -ENOENT;
    *out = take_ptr(path);
    return 0;
}

int libexec_find(const char *name, char **out)
{
    char executable[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", executable, sizeof executable - 1);

    if (n > 0)
        executable[n] = '\0';
    return libexec_search(n > 0 ? executable : NULL, libexec_directory, name, out);
}
