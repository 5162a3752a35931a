#include "door_place.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "plan/door_rules.h"
#include "policy/glob_pack.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define ROOTS_MAX 64

static const char *roots[ROOTS_MAX];
static size_t root_lengths[ROOTS_MAX];
static size_t n_roots;
static const char *gates; /* by pattern: 1 if it has one */
static const struct glob *globs;
static size_t n_globs;

static void *map_rules(int fd, struct door_rules_header *header)
{
    if (raw(SYS_pread64, fd, header, sizeof *header, 0) != (long)sizeof *header ||
        header->size > DOOR_RULES_MAX || header->n_roots > ROOTS_MAX)
        return NULL;
    long at = raw(SYS_mmap, NULL, header->size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    return at < 0 && at > -4096 ? NULL : (void *)at;
}

bool place_rules_load(int fd)
{
    struct door_rules_header header;
    char *rules = map_rules(fd, &header);

    if (!rules)
        return false;
    const char *root = rules + header.roots_at;
    for (n_roots = 0; n_roots < header.n_roots; n_roots++) {
        roots[n_roots] = root;
        root_lengths[n_roots] = strlen(root);
        root += root_lengths[n_roots] + 1;
    }
    gates = rules + header.gates_at;
    globs = glob_unpack(rules + header.patterns_at, &n_globs);
    return true;
}

static bool is_in_root(const char *path)
{
    for (size_t i = 0; i < n_roots; i++)
        if (strncmp(path, roots[i], root_lengths[i]) == 0 &&
            (path[root_lengths[i]] == '/' || path[root_lengths[i]] == '\0'))
            return true;
    return false;
}

static int match(const char *path)
{
    for (size_t i = 0; i < n_globs; i++)
        if (glob_match(glob_packed(globs, i), path + 1, true))
            return (int)i;
    return -1;
}

int place_rule(const char *path)
{
    char prefix[sizeof((struct place *)0)->path];

    for (size_t n = 1;; n++) {
        if (path[n] == '/' || path[n] == '\0') {
            memcpy(prefix, path, n);
            prefix[n] = '\0';
            int rule = is_in_root(prefix) ? match(prefix) : -1;
            if (rule >= 0)
                return rule;
        }
        if (path[n] == '\0')
            return -1;
    }
}

int place_gate(const char *path)
{
    int rule = match(path);

    return rule >= 0 && gates[rule] ? rule : -1;
}

int place_rule_below(const char *path)
{
    for (size_t i = 0; i < n_globs; i++)
        if (glob_is_literal_ancestor(glob_packed(globs, i), path + 1))
            return (int)i;
    return -1;
}

static size_t depth_of(const char *path)
{
    size_t n = 0;

    for (; *path; path++)
        n += *path == '/' && path[1] && path[1] != '/';
    return n;
}

int place_rule_brought(const char *path, int directory_fd)
{
    char rest[PLACE_PATH_MAX];

    for (size_t i = 0; i < n_globs; i++) {
        const struct glob *glob = glob_packed(globs, i);

        if (!glob_is_literal_ancestor(glob, path + 1))
            continue;
        struct kernel_open_how how = { .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC };
        if (glob_literal_rest(glob, depth_of(path), rest, sizeof rest) == 0)
            return (int)i;
        long fd = raw(NR_OPENAT2, directory_fd, rest, &how, sizeof how);
        if (fd >= 0)
            (void)raw(SYS_close, fd);
        if (fd != -ENOENT && fd != -ENOTDIR)
            return (int)i;
    }
    return -1;
}

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
    long fd = raw(SYS_openat, AT_FDCWD, path, O_PATH | O_CLOEXEC);
    if (fd >= 0 &&
        !door_is_waiting(asked->id)) { /* else the number may be somebody else's by now */
        (void)raw(SYS_close, fd);
        return -ESRCH;
    }
    return fd;
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
    place->is_inside = is_in_root(place->path);
    place->is_own_descriptors =
        strcmp(place->path, "/proc/1/fd") == 0 || strcmp(place->path, "/proc/1/task/1/fd") == 0;
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

    place->parent_fd = -1;
    if (start < 0 && start != AT_FDCWD)
        return start == -ESRCH ? start : DOOR_CONTINUE;
    long r = place_find_from(place, (int)start, path);
    if (start >= 0)
        (void)raw(SYS_close, start);
    return r;
}

long place_of_directory(struct place *place, int fd)
{
    place->parent_fd = fd;
    long r = locate(place);
    place->name = place->path + strlen(place->path);
    return r;
}

void place_done(struct place *place)
{
    if (place->parent_fd >= 0)
        (void)raw(SYS_close, place->parent_fd);
    place->parent_fd = -1;
}
