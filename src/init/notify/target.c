#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "init/notify/lock.h"
#include "init/notify/root_view.h"
#include "init/watchfs/serve.h"
#include "sys/kernel.h"
#include "sys/raw.h"

static long open_start(const struct seccomp_notif *asked, int directory, int flags)
{
    char path[64];
    char rest[32];

    if (directory == AT_FDCWD) {
        notify_proc_path(asked, "/cwd", path);
    } else if (directory >= 0) {
        (void)notify_append_number(notify_append(rest, "/fd/"), (unsigned long)directory);
        notify_proc_path(asked, rest, path);
    } else {
        return -EBADF;
    }
    return raw(SYS_openat, AT_FDCWD, path, O_PATH | O_CLOEXEC | flags);
}

long target_start(const struct seccomp_notif *asked, int directory)
{
    return open_start(asked, directory, 0);
}

static const char *skip_own_number(const char *at)
{
    unsigned long number = 0;

    while (*at >= '0' && *at <= '9')
        number = number * 10 + (unsigned long)(*at++ - '0');
    return number == 1 || watchfs_is(number) ? at : NULL;
}

/* "/proc/1/fd", "/proc/1/task/1/fd", and the same of init's other thread. */
static bool is_own_descriptors(const char *path)
{
    const char *at = strncmp(path, "/proc/", 6) == 0 ? skip_own_number(path + 6) : NULL;

    if (at && strncmp(at, "/task/", 6) == 0)
        at = skip_own_number(at + 6);
    return at && strcmp(at, "/fd") == 0;
}

/* What the rules say of the directory's path. */
static void look_up(struct target *place)
{
    place->is_inside = target_is_inside(place->path);
    place->is_top = notify_root_view_is_there() && strcmp(place->path, "/") == 0;
    place->is_taken = false;
    place->act_fd = place->parent_fd;
    place->is_own_descriptors = is_own_descriptors(place->path);
}

/* Where the kernel sees it, as a path of the box. */
static long locate(struct target *place)
{
    long r = raw(SYS_fchdir, place->parent_fd);

    if (r == 0)
        r = raw(SYS_getcwd, place->path, PLACE_PATH_MAX);
    if (r < 0)
        return NOTIFY_CONTINUE;
    if (place->path[0] != '/') /* "(unreachable)": of no mount of ours */
        return -EACCES;
    target_canonical(place->path, PLACE_PATH_MAX);
    look_up(place);
    return 0;
}

/* Cuts `path` before its last component; false if that is none that could be made. */
static bool split(char *path, struct target *place, char **out_last)
{
    size_t n = strlen(path);

    place->had_slash = false;
    while (n > 1 && path[n - 1] == '/') {
        path[--n] = '\0';
        place->had_slash = true;
    }
    char *last = path + n;
    while (last > path && last[-1] != '/')
        last--;
    *out_last = last;
    return *last && strcmp(last, ".") != 0 && strcmp(last, "..") != 0;
}

static void set_name(struct target *place, const char *name)
{
    char *end = place->path + strlen(place->path);

    if (end > place->path + 1)
        *end++ = '/';
    place->name = end;
    (void)notify_append(end, name);
    if (!place->is_top)
        return;
    place->is_top = place->is_inside = notify_root_view_owns(name);
    place->is_taken = !place->is_top;
    if (place->is_top)
        place->act_fd = notify_root_view_fd();
}

/*
 * Where the place is must stay true until the call has acted, so the lock comes first. But only who
 * means a place of the rules waits for others.
 */
static long locate_name(struct target *place, const char *name)
{
    bool is_locked = notify_lock_try();
    long r = locate(place);

    if (r == 0)
        set_name(place, name);
    if (r != 0 || is_locked || !place->is_inside)
        return r;
    r = notify_lock_wait();
    if (r == 0)
        r = locate(place);
    if (r == 0)
        set_name(place, name);
    return r;
}

long target_find_from(struct target *place, int start_fd, const char *path)
{
    struct kernel_open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
                                   .resolve = RESOLVE_NO_MAGICLINKS };
    char directory[PLACE_PATH_MAX];
    char name[256];
    char *last;
    size_t n = strlen(path);

    place->parent_fd = -1;
    place->is_borrowed = false;
    if (n == 0 || n >= sizeof directory)
        return NOTIFY_CONTINUE;
    memcpy(directory, path, n + 1);
    if (!split(directory, place, &last) || strlen(last) >= sizeof name)
        return NOTIFY_CONTINUE;
    (void)notify_append(name, last);
    *last = '\0';
    long fd = raw(NR_OPENAT2, start_fd, *directory ? directory : ".", &how, sizeof how);
    if (fd < 0) /* the kernel finds the right error itself; a magic link ends here too */
        return NOTIFY_CONTINUE;
    place->parent_fd = (int)fd;
    return locate_name(place, name);
}

/* A name and no more, as most are: the directory is the one that it is found from. */
static bool is_name(const char *path)
{
    size_t n = strcspn(path, "/");

    return n > 0 && n < 256 && path[n] == '\0' && strcmp(path, ".") != 0 && strcmp(path, "..") != 0;
}

static long find_name(struct target *place, const struct seccomp_notif *asked, int directory,
                      const char *name)
{
    long fd = open_start(asked, directory, O_DIRECTORY);

    place->parent_fd = -1;
    place->is_borrowed = place->had_slash = false;
    if (fd < 0)
        return NOTIFY_CONTINUE;
    place->parent_fd = (int)fd;
    return notify_is_waiting(asked->id) ? locate_name(place, name) : -ESRCH;
}

long target_find(struct target *place, const struct seccomp_notif *asked, int directory,
                 const char *path)
{
    if (is_name(path))
        return find_name(place, asked, directory, path);
    long start = *path == '/' ? AT_FDCWD : target_start(asked, directory);
    long r = -ESRCH;

    place->parent_fd = -1;
    if (start < 0 && start != AT_FDCWD)
        return NOTIFY_CONTINUE;
    /* What was read so far by the caller's number was the caller's, if it still waits. */
    if (notify_is_waiting(asked->id))
        r = target_find_from(place, (int)start, path);
    if (start >= 0)
        (void)raw(SYS_close, start);
    return r;
}

bool target_beside(struct target *place, const struct target *other, const char *path)
{
    size_t n = (size_t)(other->name - other->path);

    if (!is_name(path))
        return false;
    while (n > 1 && other->path[n - 1] == '/')
        n--;
    memcpy(place->path, other->path, n);
    place->path[n] = '\0';
    place->parent_fd = other->parent_fd;
    place->is_borrowed = true;
    place->had_slash = false;
    look_up(place);
    set_name(place, path);
    return true;
}

long target_of_directory(struct target *place, int fd)
{
    place->parent_fd = fd;
    place->is_borrowed = false;
    long r = locate(place);
    if (r == 0 && place->is_top)
        place->act_fd = notify_root_view_fd(), place->is_inside = true;
    place->name = place->path + strlen(place->path);
    return r;
}

void target_done(struct target *place)
{
    if (place->parent_fd >= 0 && !place->is_borrowed)
        (void)raw(SYS_close, place->parent_fd);
    place->parent_fd = -1;
}
