#include "config_review.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "git_config/review.h"
#include "init/structure_lock.h"
#include "policy/path/path.h"
#include "supervise/box.h"
#include "supervise/denial/box_denials.h"
#include "supervise/guard.h"
#include "supervise/supervise.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define TEXT_MAX ((size_t)1 << 20)

static int read_text(int fd, struct buffer *out)
{
    char piece[16384];

    for (off_t at = 0;;) {
        ssize_t n = pread(fd, piece, sizeof piece, at);

        if (n < 0)
            return -errno;
        if (n == 0)
            return out->failed ? -ENOMEM : 0;
        buffer_append(out, piece, (size_t)n);
        if (out->length > TEXT_MAX)
            return -EFBIG;
        at += n;
    }
}

/* The protected root that the path lies in, and the rest of it. */
static const struct box_root *find_root(const struct coop_box *box, const char *path,
                                        const char **out_rest)
{
    const struct box_root *found = NULL;
    size_t longest = 0;

    for (size_t i = 0; i < box->n_roots; i++) {
        const struct box_root *root = &box->roots[i];
        size_t n = strcmp(root->path, "/") == 0 ? 0 : strlen(root->path);

        if (path_is_within(path, root->path) && path[n] == '/' && (!found || n > longest)) {
            *out_rest = path + n + 1;
            found = root;
            longest = n;
        }
    }
    return found;
}

/* No link is followed: whoever put one there could mean any file of the owner's. */
static int open_beneath(int root_fd, const char *path, int flags, mode_t mode)
{
    const struct kernel_open_how how = {
        .flags = (uint64_t)(flags | O_CLOEXEC | (flags & O_PATH ? 0 : O_NONBLOCK)),
        .mode = mode,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };

    return (int)raw(NR_OPENAT2, root_fd, path, &how, sizeof how);
}

/* A new file belongs to whom its directory does, also if root runs this. */
static int create(int root_fd, const char *path)
{
    char directory[4096];
    struct stat st;
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 0;

    if (n >= sizeof directory)
        return -ENAMETOOLONG;
    memcpy(directory, path, n);
    directory[n] = '\0';
    auto_close int parent = open_beneath(root_fd, n ? directory : ".", O_PATH | O_DIRECTORY, 0);
    if (parent < 0)
        return parent;
    auto_close int fd = open_beneath(root_fd, path, O_RDWR | O_CREAT | O_EXCL, 0644);
    if (fd < 0)
        return fd;
    if (fstat(parent, &st) < 0 || (geteuid() == 0 && fchown(fd, st.st_uid, st.st_gid) < 0))
        return -errno;
    return take_fd(&fd);
}

/* In place: a mask in the box lies on this very file, and what replaced it would lie bare. */
static int replace_text(int fd, const struct buffer *text)
{
    if (pwrite(fd, text->data, text->length, 0) != (ssize_t)text->length)
        return errno ? -errno : -EIO;
    return ftruncate(fd, (off_t)text->length) < 0 ? -errno : 0;
}

static unsigned count_directories(const char *path)
{
    unsigned n = 0;

    for (; *path; path++)
        n += *path == '/';
    return n;
}

/* The path in the work tree of a submodule's git directory; NULL: it is none. */
static const char *module_path(const char *rest)
{
    static const char modules[] = ".git/modules/";
    const char *found = strstr(rest, modules);

    while (found && found > rest && found[-1] != '/')
        found = strstr(found + 1, modules);
    return found;
}

/* A submodule's git directory says where its work tree is, and may have been cloned from a path; so may
 * what the box has made. */
static struct git_config_place place_of(const char *rest, bool is_new)
{
    const char *module = module_path(rest);

    return (struct git_config_place){ .depth = module ? count_directories(module) : 0,
                                      .local_urls = module || is_new,
                                      .is_new = is_new };
}

int config_review(struct coop_box *box, const struct protocol_event_message *question, int fd)
{
    const char *path = question->text;
    auto_error coop_error *err = NULL;
    auto_buffer struct buffer new_text = { 0 };
    auto_buffer struct buffer old_text = { 0 };
    auto_buffer struct buffer passed = { 0 };
    const char *rest = NULL;
    const struct box_root *root = find_root(box, path, &rest);

    if (!root)
        return -EACCES;
    auto_structure_lock int lock = structure_lock_take(false, &err);
    if (lock < 0)
        return lock;
    auto_close int file = open_beneath(root->fd, rest, O_RDWR, 0);
    if (file < 0 && file != -ENOENT)
        return file;
    int r = read_text(fd, &new_text);
    if (r == 0 && file >= 0)
        r = read_text(file, &old_text);
    if (r < 0)
        return r;
    bool is_new = question->status;
    const struct git_config_place place = place_of(rest, is_new);
    r = git_config_review(&place, old_text.data ? old_text.data : "", old_text.length,
                          new_text.data ? new_text.data : "", new_text.length, &passed, &err);
    if (r == 0 && !is_new)
        r = git_config_mark_remotes(old_text.data ? old_text.data : "", old_text.length, &passed,
                                    &err);
    if (r < 0) {
        box_denials_note_refusal(box, question->rule, path, coop_error_message(err));
        return -EACCES;
    }
    if (file < 0)
        file = create(root->fd, rest);
    if (file < 0)
        return file;
    r = passed.failed ? -ENOMEM : replace_text(file, &passed);
    if (r == 0) /* where it is shown without its credentials, a copy is seen */
        guard_show_config(box, path);
    return r;
}
