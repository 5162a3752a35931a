#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "audit/chain.h"
#include "base/error.h"

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static int add(struct audit_files *files, uint64_t first)
{
    uint64_t *grown = (files->n & (files->n - 1)) == 0
                          ? reallocarray(files->first, files->n ? 2 * files->n : 1, sizeof *grown)
                          : files->first;

    if (!grown)
        return -ENOMEM;
    files->first = grown;
    files->first[files->n++] = first;
    return 0;
}

int audit_files_list(int dir_fd, struct audit_files *out, coop_error **err)
{
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;
    int r = 0;

    if (!dir) {
        int errnum = errno;

        if (fd >= 0)
            (void)close(fd);
        return fail(err, errnum, "list the files of the audit log");
    }
    while (r == 0 && (errno = 0, entry = readdir(dir))) {
        uint64_t first = chain_file_seq(entry->d_name);

        if (first)
            r = add(out, first);
    }
    if (r == 0 && errno != 0)
        r = fail(err, errno, "list the files of the audit log");
    else if (r < 0)
        r = fail_no_memory(err);
    (void)closedir(dir);
    if (r == 0 && out->n > 0)
        qsort(out->first, out->n, sizeof *out->first, compare);
    return r;
}

void audit_files_done(struct audit_files *files)
{
    free(files->first);
    *files = (struct audit_files){ 0 };
}
