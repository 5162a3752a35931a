#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "config/node.h"

/* What is no regular file, by its type. */
static const struct {
    mode_t type;
    int errnum;
    const char *name;
} others[] = {
    { S_IFDIR, EISDIR, "a directory" }, { S_IFIFO, EINVAL, "a FIFO" },
    { S_IFSOCK, EINVAL, "a socket" },   { S_IFCHR, EINVAL, "a device" },
    { S_IFBLK, EINVAL, "a device" },
};

static int check_type(const char *path, const struct stat *stat, coop_error **err)
{
    if (S_ISREG(stat->st_mode))
        return 0;
    for (size_t i = 0; i < COUNT(others); i++)
        if ((stat->st_mode & S_IFMT) == others[i].type)
            return fail_kind(err, COOP_ERROR_BAD_POLICY, others[i].errnum,
                             "read '%s': it is %s, not a regular file", path, others[i].name);
    return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "read '%s': it is not a regular file",
                     path);
}

static int fail_size(const char *path, coop_error **err)
{
    return fail_kind(err, COOP_ERROR_BAD_POLICY, EFBIG, "read '%s': it is larger than %zu MiB",
                     path, NODE_TEXT_MAX >> 20);
}

static int fail_change(const char *path, coop_error **err)
{
    return fail_kind(err, COOP_ERROR_BAD_POLICY, EBUSY,
                     "read '%s': it was changed while it was being read", path);
}

static int fail_lookup(const char *path, int errnum, coop_error **err)
{
    if (errnum == ELOOP) /* the C libraries have different words for it */
        return fail_kind(err, COOP_ERROR_BAD_POLICY, ELOOP,
                         "read '%s': its symbolic links lead in a circle", path);
    return fail(err, errnum, "read '%s'", path);
}

/*
 * Opening a device may already do something, so a name that leads to one is not opened at all; what
 * decides is what was opened. O_NONBLOCK is for the FIFO that takes the file's place in between.
 */
int config_file_open(const char *path, struct config_file *out, coop_error **err)
{
    struct stat stat_buffer;

    if (stat(path, &stat_buffer) < 0)
        return fail_lookup(path, errno, err);
    int r = check_type(path, &stat_buffer, err);
    if (r < 0)
        return r;
    auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || fstat(fd, &stat_buffer) < 0)
        return fail(err, errno, "read '%s'", path);
    r = check_type(path, &stat_buffer, err);
    if (r < 0)
        return r;
    if (stat_buffer.st_size > (off_t)NODE_TEXT_MAX)
        return fail_size(path, err);
    *out = (struct config_file){ path, take_fd(&fd), stat_buffer };
    return 0;
}

static bool is_same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* Up to the end, or one byte more than the file had: then it has grown. */
static int read_bytes(struct config_file *file, struct buffer *out, coop_error **err)
{
    size_t wanted = (size_t)file->stat.st_size + 1;

    if (!buffer_reserve(out, wanted))
        return fail_no_memory(err);
    while (wanted > 0) {
        ssize_t n = read(file->fd, out->data + out->length, wanted);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(err, errno, "read '%s'", file->path);
        if (n == 0)
            break;
        out->length += (size_t)n;
        wanted -= (size_t)n;
    }
    out->data[out->length] = '\0';
    return wanted == 1 ? 0 : fail_change(file->path, err);
}

int config_file_read(struct config_file *file, struct buffer *out, coop_error **err)
{
    const struct stat *before = &file->stat;
    struct stat after;
    size_t length = out->length;
    int r = read_bytes(file, out, err);

    if (r == 0 && fstat(file->fd, &after) < 0)
        r = fail(err, errno, "read '%s'", file->path);
    if (r == 0 &&
        (before->st_size != after.st_size || !is_same_time(before->st_mtim, after.st_mtim) ||
         !is_same_time(before->st_ctim, after.st_ctim)))
        r = fail_change(file->path, err);
    if (r < 0 && out->data) {
        out->length = length;
        out->data[length] = '\0';
    }
    return r;
}

void config_file_done(struct config_file *file)
{
    close_fd(&file->fd);
}

int config_read_file(const char *path, struct buffer *out, coop_error **err)
{
    auto_config_file struct config_file file = { .fd = -1 };
    int r = config_file_open(path, &file, err);

    return r < 0 ? r : config_file_read(&file, out, err);
}
