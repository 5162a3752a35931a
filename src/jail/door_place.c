#include "door_place.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "jail/door_project.h"
#include "jail/door_trap.h"
#include "sys/kernel.h"
#include "sys/raw.h"

long place_start(const struct seccomp_notif *asked, int directory)
{
    char path[64];
    char rest[32];

    if (directory == AT_FDCWD) {
        door_proc_path(asked, "/cwd", path);
    } else if (directory >= 0) {
        (void)door_append_number(door_append(rest, "/fd/"), (unsigned long)directory);
        door_proc_path(asked, rest, path);
    } else {
        return -EBADF;
    }
    return raw(SYS_openat, AT_FDCWD, path, O_PATH | O_CLOEXEC);
}

static const char *skip_own_number(const char *at)
{
    unsigned long number = 0;

    while (*at >= '0' && *at <= '9')
        number = number * 10 + (unsigned long)(*at++ - '0');
    return number == 1 || door_trap_is(number) ? at : NULL;
}

/* "/proc/1/fd", "/proc/1/task/1/fd", and the same of init's other thread. */
static bool is_own_descriptors(const char *path)
{
    const char *at = strncmp(path, "/proc/", 6) == 0 ? skip_own_number(path + 6) : NULL;

    if (at && strncmp(at, "/task/", 6) == 0)
        at = skip_own_number(at + 6);
    return at && strcmp(at, "/fd") == 0;
}

/* Where the kernel sees it, as a path of the box. */
static long locate(struct place *place)
{
    long r = raw(SYS_fchdir, place->parent_fd);

    if (r == 0)
        r = raw(SYS_getcwd, place->path, PLACE_PATH_MAX);
    if (r < 0)
        return DOOR_CONTINUE;
    if (place->path[0] != '/') /* "(unreachable)": of no mount of ours */
        return -EACCES;
    place_canonical(place->path, PLACE_PATH_MAX);
    place->is_inside = place_is_inside(place->path);
    place->is_top = door_project_is_there() && strcmp(place->path, "/") == 0;
    place->is_taken = false;
    place->act_fd = place->parent_fd;
    place->is_own_descriptors = is_own_descriptors(place->path);
    return 0;
}

/* Cuts `path` before its last component; false if that is none that could be made. */
static bool split(char *path, struct place *place, char **out_last)
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

static void set_name(struct place *place, const char *name)
{
    char *end = place->path + strlen(place->path);

    if (end > place->path + 1)
        *end++ = '/';
    place->name = end;
    (void)door_append(end, name);
    if (!place->is_top)
        return;
    place->is_top = place->is_inside = door_project_owns(name);
    place->is_taken = !place->is_top;
    if (place->is_top)
        place->act_fd = door_project_fd();
}

long place_find_from(struct place *place, int start_fd, const char *path)
{
    struct kernel_open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
                                   .resolve = RESOLVE_NO_MAGICLINKS };
    char directory[PLACE_PATH_MAX];
    char name[256];
    char *last;
    size_t n = strlen(path);

    place->parent_fd = -1;
    if (n == 0 || n >= sizeof directory)
        return DOOR_CONTINUE;
    memcpy(directory, path, n + 1);
    if (!split(directory, place, &last) || strlen(last) >= sizeof name)
        return DOOR_CONTINUE;
    (void)door_append(name, last);
    *last = '\0';
    long fd = raw(NR_OPENAT2, start_fd, *directory ? directory : ".", &how, sizeof how);
    if (fd < 0) /* the kernel finds the right error itself; a magic link ends here too */
        return DOOR_CONTINUE;
    place->parent_fd = (int)fd;
    long r = locate(place);
    if (r == 0)
        set_name(place, name);
    return r;
}

long place_find(struct place *place, const struct seccomp_notif *asked, int directory,
                const char *path)
{
    long start = *path == '/' ? AT_FDCWD : place_start(asked, directory);
    long r = -ESRCH;

    place->parent_fd = -1;
    if (start < 0 && start != AT_FDCWD)
        return DOOR_CONTINUE;
    /* What was read so far by the caller's number was the caller's, if it still waits. */
    if (door_is_waiting(asked->id))
        r = place_find_from(place, (int)start, path);
    if (start >= 0)
        (void)raw(SYS_close, start);
    return r;
}

long place_of_directory(struct place *place, int fd)
{
    place->parent_fd = fd;
    long r = locate(place);
    if (r == 0 && place->is_top)
        place->act_fd = door_project_fd(), place->is_inside = true;
    place->name = place->path + strlen(place->path);
    return r;
}

void place_done(struct place *place)
{
    if (place->parent_fd >= 0)
        (void)raw(SYS_close, place->parent_fd);
    place->parent_fd = -1;
}
