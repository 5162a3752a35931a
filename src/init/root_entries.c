#include "root_entries.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mount.h>

#include "sys/kernel.h"
#include "sys/raw.h"

#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif

#define TARGET_MAX    4096
#define NEW_LINK      "../n" /* beside the skeleton */
#define NEW_DIRECTORY "../d"
#define NO_REPLACE    1u /* RENAME_NOREPLACE */
#define MAX_TRIES     8
#define DENTS_SIZE    8192
#define PLACE_SIZE    (ROOT_ENTRY_NAME_MAX + 48)

long root_entry_look(int directory_fd, const char *name, struct stat *out)
{
    return raw(SYS_newfstatat, directory_fd, name, out, AT_SYMLINK_NOFOLLOW);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* "/proc/self/fd/7/name": umount knows no directory to begin at. */
static void place_of(int root_fd, const char *name, char out[PLACE_SIZE])
{
    const char *prefix = "/proc/self/fd/";
    char digits[12];
    int n = 0;

    while (*prefix)
        *out++ = *prefix++;
    do
        digits[n++] = (char)('0' + root_fd % 10);
    while ((root_fd /= 10) > 0);
    while (n > 0)
        *out++ = digits[--n];
    *out++ = '/';
    for (n = 0; name[n] && n < ROOT_ENTRY_NAME_MAX - 1; n++)
        *out++ = name[n];
    *out = '\0';
}

static long detach_one(const struct root_entries *view, const char *name)
{
    char place[PLACE_SIZE];

    place_of(view->root_fd, name, place);
    return raw(SYS_umount2, place, MNT_DETACH | UMOUNT_NOFOLLOW);
}

static void detach_all(const struct root_entries *view, const char *name)
{
    while (detach_one(view, name) == 0)
        ;
}

/* Takes the name out of the root, and whatever is mounted there. */
static long forget(const struct root_entries *view, const char *name)
{
    struct stat made;
    long r = root_entry_look(view->skeleton_fd, name, &made);

    if (r == -ENOENT)
        return 0;
    if (r < 0)
        return r;
    if (!S_ISLNK(made.st_mode))
        detach_all(view, name);
    r = raw(SYS_unlinkat, view->skeleton_fd, name, S_ISDIR(made.st_mode) ? AT_REMOVEDIR : 0);
    return r == -ENOENT ? 0 : r;
}

static void copy_times(int directory_fd, const char *name, const struct stat *st)
{
    const struct timespec times[2] = { st->st_mtim, st->st_mtim };

    (void)raw(SYS_utimensat, directory_fd, name, times, AT_SYMLINK_NOFOLLOW);
}

static bool is_text(const char *a, const char *b, long n)
{
    for (long i = 0; i < n; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

/* A link has no content to follow, so it is copied; one becomes another at one stroke. */
static long show_link(const struct root_entries *view, const char *name, const struct stat *wanted)
{
    char text[TARGET_MAX];
    char old[TARGET_MAX];
    struct stat made;
    long n = raw(SYS_readlinkat, view->root_view_fd, name, text, sizeof text - 1);

    if (n < 0)
        return n == -EINVAL || n == -ENOENT ? -EAGAIN : n;
    text[n] = '\0';
    if (raw(SYS_readlinkat, view->skeleton_fd, name, old, sizeof old) == n && is_text(text, old, n))
        return 0;
    long r = raw(SYS_symlinkat, text, view->skeleton_fd, NEW_LINK);
    if (r < 0)
        return r;
    copy_times(view->skeleton_fd, NEW_LINK, wanted);
    if (root_entry_look(view->skeleton_fd, name, &made) == 0 && !S_ISLNK(made.st_mode))
        r = forget(view, name);
    if (r == 0)
        r = raw(SYS_renameat2, view->skeleton_fd, NEW_LINK, view->skeleton_fd, name, 0);
    if (r < 0)
        (void)raw(SYS_unlinkat, view->skeleton_fd, NEW_LINK, 0);
    return r;
}

static long make_place(const struct root_entries *view, const char *name, bool is_directory,
                       mode_t mode)
{
    return is_directory ? raw(SYS_mkdirat, view->skeleton_fd, name, mode)
                        : raw(SYS_mknodat, view->skeleton_fd, name, S_IFREG | mode, 0);
}

/* An empty file of no mode, as large and as old as what it stands for: git looks at no more. */
static long show_hidden(const struct root_entries *view, const char *name,
                        const struct stat *wanted)
{
    bool is_directory = S_ISDIR(wanted->st_mode);
    struct stat shown;
    struct stat made;
    long r = root_entry_look(view->skeleton_fd, name, &made);

    if (r == 0 && S_ISDIR(made.st_mode) == is_directory &&
        root_entry_look(view->root_fd, name, &shown) == 0 && is_same(&shown, &made) &&
        (shown.st_mode & 0666) == 0)
        return 0;
    r = forget(view, name);
    if (r < 0 || is_directory)
        return r < 0 ? r : make_place(view, name, true, 0);
    long fd = raw(SYS_openat, view->skeleton_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                  wanted->st_mode & 0111);
    if (fd < 0)
        return fd;
    if (S_ISREG(wanted->st_mode))
        (void)raw(SYS_ftruncate, fd, wanted->st_size);
    (void)raw(SYS_close, fd);
    copy_times(view->skeleton_fd, name, wanted);
    return 0;
}

/*
 * On the place of another mount, at one stroke: beneath it (Linux 6.5), then that one away. Whoever
 * has found the old file and not yet opened it is refused (EACCES): Landlock looks for rules upwards
 * from a mount that hangs nowhere now. It cannot be moved aside instead: its file is unlinked.
 */
static long exchange(const struct root_entries *view, const char *name, long tree)
{
    long r =
        raw(NR_MOVE_MOUNT, tree, "", view->root_fd, name, MOVE_MOUNT_EMPTY_PATH | MOVE_MOUNT_UNDER);

    return r < 0 ? r : detach_one(view, name);
}

static long put(const struct root_entries *view, const char *name, long tree, bool is_directory)
{
    struct stat made;
    long r = root_entry_look(view->skeleton_fd, name, &made);
    bool is_there = r == 0;

    if (is_there && (S_ISLNK(made.st_mode) || S_ISDIR(made.st_mode) != is_directory ||
                     !(made.st_mode & 0666))) {
        r = forget(view, name);
        if (r < 0)
            return r;
        is_there = false;
    }
    if (is_there && exchange(view, name, tree) == 0)
        return 0;
    if (is_there)
        detach_all(view, name);
    else
        r = make_place(view, name, is_directory, is_directory ? 0755 : 0644);
    if (r < 0)
        return r;
    return raw(NR_MOVE_MOUNT, tree, "", view->root_fd, name, MOVE_MOUNT_EMPTY_PATH);
}

static long show_mount(const struct root_entries *view, const char *name, const struct stat *wanted,
                       unsigned flags)
{
    struct kernel_mount_attr read_only = { .set = MOUNT_READ_ONLY };
    struct stat found;

    if (root_entry_look(view->root_fd, name, &found) == 0 && is_same(&found, wanted))
        return 0;
    long tree = raw(NR_OPEN_TREE, view->root_view_fd, name,
                    OPEN_TREE_CLONE_TREE | O_CLOEXEC | AT_RECURSIVE_TREE | AT_SYMLINK_NOFOLLOW);
    if (tree < 0)
        return tree == -ENOENT ? -EAGAIN : tree;
    long r = raw(SYS_fstat, tree, &found);
    if (r == 0 && S_ISLNK(found.st_mode)) /* it has just become one */
        r = -EAGAIN;
    if (r == 0 && flags & ROOT_ENTRY_READ_ONLY) {
        r = raw(NR_MOUNT_SETATTR, tree, "", AT_EMPTY_PATH | AT_RECURSIVE_TREE, &read_only,
                sizeof read_only);
        if (r == -ENOSYS) /* whoever writes goes through notify, where the name is enough */
            r = 0;
    }
    if (r == 0)
        r = put(view, name, tree, S_ISDIR(found.st_mode));
    (void)raw(SYS_close, tree);
    return r;
}

static long show_once(const struct root_entries *view, const char *name, unsigned flags)
{
    struct stat wanted;
    long r = root_entry_look(view->root_view_fd, name, &wanted);

    if (r == -ENOENT)
        return forget(view, name);
    if (r < 0)
        return r;
    if (flags & ROOT_ENTRY_HIDDEN)
        return show_hidden(view, name, &wanted);
    if (S_ISLNK(wanted.st_mode))
        return show_link(view, name, &wanted);
    return show_mount(view, name, &wanted, flags);
}

long root_entry_show(const struct root_entries *view, const char *name, unsigned flags)
{
    long r = -EAGAIN;

    for (int i = 0; r == -EAGAIN && i < MAX_TRIES; i++)
        r = show_once(view, name, flags);
    return r;
}

/* Beside the skeleton, and so that it can be had there at once. */
long root_entry_reserve(const struct root_entries *view, const char *name)
{
    struct stat made;

    if (root_entry_look(view->skeleton_fd, name, &made) == 0)
        return 0;
    long r = raw(SYS_mkdirat, view->skeleton_fd, NEW_DIRECTORY, 0755);
    return r == -EEXIST ? 0 : r;
}

static long make_reserved(const struct root_entries *view, const char *name)
{
    long r =
        raw(SYS_renameat2, view->skeleton_fd, NEW_DIRECTORY, view->skeleton_fd, name, NO_REPLACE);

    return r == -ENOENT ? make_place(view, name, true, 0755) : r;
}

long root_entry_move(const struct root_entries *view, const char *from, const char *to)
{
    struct stat made;
    struct stat shown;
    struct stat wanted;
    long r = root_entry_look(view->root_view_fd, to, &wanted);

    if (r == 0)
        r = root_entry_look(view->root_fd, from, &shown);
    if (r < 0 || !is_same(&shown, &wanted) || !S_ISDIR(shown.st_mode))
        return -ESTALE;
    r = root_entry_look(view->skeleton_fd, to, &made);
    if (r == 0 && !S_ISDIR(made.st_mode)) {
        r = forget(view, to);
        if (r == 0)
            r = -ENOENT;
    }
    if (r == 0)
        detach_all(view, to);
    else if (r == -ENOENT)
        r = make_reserved(view, to);
    if (r == 0)
        r = raw(NR_MOVE_MOUNT, view->root_fd, from, view->root_fd, to, 0);
    return r < 0 ? r : forget(view, from);
}

struct directory_entry {
    uint64_t ino;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
};

long root_entry_list(int directory_fd, void (*each)(void *context, const char *name), void *context)
{
    char bytes[DENTS_SIZE] __attribute__((aligned(8)));
    long fd = raw(SYS_openat, directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long n;

    if (fd < 0)
        return fd;
    while ((n = raw(SYS_getdents64, fd, bytes, sizeof bytes)) > 0)
        for (long at = 0; at < n;) {
            const struct directory_entry *entry =
                (const struct directory_entry *)(const void *)(bytes + at);
            const char *name = entry->name;
            bool is_dots = name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));

            if (!is_dots)
                each(context, name);
            at += entry->length;
        }
    (void)raw(SYS_close, fd);
    return n;
}
