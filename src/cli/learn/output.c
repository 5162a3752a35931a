#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "plan/sources.h"

#define TRIES 16

int learn_output_open(struct learn_output *output, const char *path, coop_error **err)
{
    struct stat st;

    if (!path)
        return 0;
    auto_free char *directory = strdup(path);
    if (!directory)
        return fail_no_memory(err);
    char *slash = strrchr(directory, '/');
    output->name = strdup(slash ? slash + 1 : directory);
    if (!output->name)
        return fail_no_memory(err);
    if (slash)
        slash[slash == directory] = '\0';
    auto_free char *real = NULL; /* no link that a command may have made leads there */
    int r = sources_find("the directory", slash ? directory : ".", ".", &real, err);
    if (r < 0)
        return fail_within(err, r, "write '%s'", path);
    output->directory_fd = open(real, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (output->directory_fd < 0)
        return fail(err, errno, "open the directory of '%s'", path);
    if (!*output->name ||
        (fstatat(output->directory_fd, output->name, &st, 0) == 0 && !S_ISREG(st.st_mode)))
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "'%s' is not a regular file", path);
    if (faccessat(output->directory_fd, ".", W_OK, AT_EACCESS) < 0)
        return fail(err, errno, "write in the directory of '%s'", path);
    return 0;
}

static int write_all(int fd, const struct buffer *text)
{
    for (size_t at = 0; at < text->length;) {
        ssize_t n = write(fd, text->data + at, text->length - at);

        if (n < 0 && errno != EINTR)
            return -errno;
        at += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static int make_new(const struct learn_output *output, char name[64])
{
    for (int i = 0; i < TRIES; i++) {
        (void)snprintf(name, 64, ".coop-learn-%d-%d", (int)getpid(), i);
        int fd = openat(output->directory_fd, name,
                        O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);

        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

int learn_output_write(struct learn_output *output, const struct buffer *text, coop_error **err)
{
    char name[64];

    if (!output->name) {
        int r = write_all(STDOUT_FILENO, text);

        return r < 0 ? fail(err, -r, "write the policy") : 0;
    }
    auto_close int fd = make_new(output, name);
    if (fd < 0)
        return fail(err, errno, "make '%s'", output->name);
    int r = write_all(fd, text);
    if (r == 0 && renameat(output->directory_fd, name, output->directory_fd, output->name) < 0)
        r = -errno;
    if (r < 0) {
        (void)unlinkat(output->directory_fd, name, 0);
        return fail(err, -r, "write '%s'", output->name);
    }
    return 0;
}

void learn_output_done(struct learn_output *output)
{
    close_fd(&output->directory_fd);
    free(take_ptr(output->name));
}
