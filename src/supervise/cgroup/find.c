/*
 * find.c - where a box's cgroup may be made
 *
 * On the path of every start, so: one small file is read, the usual mount points are tried, and
 * who may write nothing has paid for some eight system calls: each directory is asked for the right
 * to write first, and only one that gives it is looked at.
 *
 * Version 2 gives controllers to the children of a cgroup only while that has no processes itself
 * (the root of all excepted). Our own cgroup has us, and we do not move: we may be a library in
 * somebody's program. So the box's goes beside ours, into the nearest directory above that we may
 * write, as within a subtree that somebody delegated to us. What limits our own cgroup would not
 * hold for the box there; therefore these limits are collected as ceilings.
 *
 * Version 1 knows no such rule: the box's groups are made below our own, per controller.
 */
#include "private.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"

#define MOUNTS    "/sys/fs/cgroup"
#define MAGIC_V1  0x27e0eb
#define MAGIC_V2  0x63677270
#define ALL       ((1u << CGROUP_CONTROLLERS) - 1)
#define ESSENTIAL (1u << CGROUP_MEMORY | 1u << CGROUP_PIDS)

const char *const cgroup_controller_names[CGROUP_CONTROLLERS] = {
    [CGROUP_MEMORY] = "memory",
    [CGROUP_PIDS] = "pids",
    [CGROUP_CPU] = "cpu",
};

static const char *const limit_files[CGROUP_CONTROLLERS] = {
    [CGROUP_MEMORY] = "memory.max",
    [CGROUP_PIDS] = "pids.max",
    [CGROUP_CPU] = "cpu.max",
};

void cgroup_init(struct cgroup *cgroup)
{
    memset(cgroup, 0, sizeof *cgroup);
    cgroup->version = CGROUP_NONE;
    cgroup->janitor_fd = cgroup->janitor_pidfd = -1;
    for (int i = 0; i < CGROUP_CONTROLLERS; i++) {
        cgroup->parent_fds[i] = cgroup->fds[i] = cgroup->procs_fds[i] = -1;
        cgroup->ceilings[i] = COOP_LIMIT_NONE;
    }
}

/* The content of a small file as a string: its length, or -errno. */
static ssize_t read_text(int dir_fd, const char *name, char *text, size_t size)
{
    auto_close int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    ssize_t n = read(fd, text, size - 1);
    if (n < 0)
        return -errno;
    text[n] = '\0';
    return n;
}

static bool has_word(const char *list, const char *word, const char *separators)
{
    size_t n = strlen(word);

    for (const char *at = list; *at; at += strspn(at, separators)) {
        size_t length = strcspn(at, separators);

        if (length == n && strncmp(at, word, n) == 0)
            return true;
        at += length;
    }
    return false;
}

/* A line of /proc/self/cgroup: "4:cpu,cpuacct:/a" in v1, "0::/a" in v2. */
struct own {
    char names[128];
    char path[PATH_MAX];
};

static bool parse_line(const char *line, const char *end, struct own *own)
{
    const char *names = memchr(line, ':', (size_t)(end - line));
    const char *path = names ? memchr(names + 1, ':', (size_t)(end - names - 1)) : NULL;

    if (!path || (size_t)(path - names) > sizeof own->names ||
        (size_t)(end - path) > sizeof own->path) /* the colon makes room for the NUL */
        return false;
    *(char *)mempcpy(own->names, names + 1, (size_t)(path - names - 1)) = '\0';
    *(char *)mempcpy(own->path, path + 1, (size_t)(end - path - 1)) = '\0';
    return true;
}

/* Our cgroup in the hierarchy of a v1 controller, or (NULL) in v2. */
static bool find_own(const char *text, const char *controller, struct own *own)
{
    const char *end;

    for (const char *line = text; (end = strchr(line, '\n')); line = end + 1) {
        if (!parse_line(line, end, own) ||
            (controller ? !has_word(own->names, controller, ",") : own->names[0] != '\0'))
            continue;
        if (strcmp(own->path, "/") == 0)
            own->path[0] = '\0';
        /* Above the root of our cgroup namespace: nothing that a path could name. */
        return strncmp(own->path, "/..", 3) != 0;
    }
    return false;
}

static bool is_mounted(const char *path, long magic)
{
    struct statfs fs;

    return statfs(path, &fs) == 0 && (long)fs.f_type == magic;
}

static bool is_writable(const char *path)
{
    return access(path, W_OK | X_OK) == 0;
}

/* A descriptor that is none of the three standard ones, even if the caller closed those. */
static int open_directory(const char *path)
{
    int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0 || fd > 2)
        return fd;
    int higher = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    (void)close(fd);
    return higher;
}

static unsigned controllers_in(int dir_fd, const char *file)
{
    char text[256];
    unsigned set = 0;

    if (read_text(dir_fd, file, text, sizeof text) <= 0)
        return 0;
    for (unsigned i = 0; i < CGROUP_CONTROLLERS; i++)
        if (has_word(text, cgroup_controller_names[i], " \n"))
            set |= 1u << i;
    return set;
}

enum nature { NATURE_ROOT, NATURE_DOMAIN, NATURE_THREADED };

/* The root of the whole tree has no type; in a threaded tree no domain can be made. */
static enum nature nature_of(int dir_fd)
{
    char text[32];
    ssize_t n = read_text(dir_fd, "cgroup.type", text, sizeof text);

    if (n == -ENOENT)
        return NATURE_ROOT;
    return n > 0 && strcmp(text, "domain\n") == 0 ? NATURE_DOMAIN : NATURE_THREADED;
}

/* What a group made in this directory could hold: what is switched on there, or could be by us. */
static unsigned offer_of(int dir_fd, enum nature nature)
{
    char text[16];

    if (nature == NATURE_THREADED || faccessat(dir_fd, "cgroup.procs", W_OK, 0) < 0)
        return 0;
    unsigned on = controllers_in(dir_fd, "cgroup.subtree_control");
    if (on == ALL || faccessat(dir_fd, "cgroup.subtree_control", W_OK, 0) < 0)
        return on;
    if (nature != NATURE_ROOT && read_text(dir_fd, "cgroup.procs", text, sizeof text) != 0)
        return on;
    return on | controllers_in(dir_fd, "cgroup.controllers");
}

/* "max", "1000", or for CPUs "max 100000", "50000 100000": quota and period. */
static uint64_t parse_limit(const char *text, bool is_cpu)
{
    unsigned long long value;
    unsigned long long period;
    int n = sscanf(text, "%llu %llu", &value, &period);

    if (n < 1 || (is_cpu && (n < 2 || period == 0)))
        return COOP_LIMIT_NONE;
    return is_cpu ? value * 1000 / period : value;
}

static void note_ceilings(struct cgroup *cgroup, const char *path)
{
    auto_close int dir_fd = open_directory(path);
    char text[64];

    if (dir_fd < 0)
        return;
    for (int i = 0; i < CGROUP_CONTROLLERS; i++) {
        if (read_text(dir_fd, limit_files[i], text, sizeof text) <= 0)
            continue;
        uint64_t limit = parse_limit(text, i == CGROUP_CPU);
        if (limit < cgroup->ceilings[i])
            cgroup->ceilings[i] = limit;
    }
}

/*
 * Takes the directory if it offers more than what is there: the nearest with memory and pids, and
 * the nearest with all. True when nothing better can come.
 */
static bool consider(struct cgroup *cgroup, const char *path, bool is_own, unsigned *near)
{
    if (!is_writable(path) || !is_mounted(path, MAGIC_V2))
        return false;
    auto_close int fd = open_directory(path);
    if (fd < 0)
        return false;
    enum nature nature = nature_of(fd);
    unsigned offer = is_own && nature != NATURE_ROOT ? 0 : offer_of(fd, nature);
    bool is_nearer = __builtin_popcount(offer & ESSENTIAL) > __builtin_popcount(*near & ESSENTIAL);
    if (is_nearer || (offer && !*near)) {
        close_fd(&cgroup->parent_fds[0]);
        cgroup->parent_fds[0] = take_fd(&fd);
        *near = offer;
    } else if (offer == ALL) {
        cgroup->parent_fds[CGROUP_CPU] = take_fd(&fd);
    }
    return offer == ALL;
}

/*
 * Where v2 would be mounted and, in `path`, where our cgroup is then; 0 if nowhere, else the length
 * of the mount's path. Beside version 1 the place is known and only looked at if it can be written.
 */
static size_t locate_v2(const char *text, char *path, size_t size)
{
    struct own own;

    if (!find_own(text, NULL, &own))
        return 0;
    const char *mount = is_mounted(MOUNTS, MAGIC_V2) ? MOUNTS : MOUNTS "/unified";
    int n = snprintf(path, size, "%s%s", mount, own.path);
    return n > 0 && (size_t)n < size ? strlen(mount) : 0;
}

/* The length of the path of the directory above. */
static size_t above(const char *path)
{
    return (size_t)(strrchr(path, '/') - path);
}

static void find_v2(struct cgroup *cgroup, const char *text)
{
    char own[PATH_MAX];
    char path[PATH_MAX];
    unsigned near = 0;
    size_t root = locate_v2(text, own, sizeof own);

    if (root == 0)
        return;
    (void)strcpy(path, own);
    bool is_own = strlen(own) == root; /* else we are a process too many for it */
    if (!is_own)
        path[above(path)] = '\0';
    while (!consider(cgroup, path, is_own, &near) && strlen(path) > root)
        path[above(path)] = '\0';
    if (!near)
        return;
    cgroup->version = CGROUP_V2;
    unsigned set = cgroup->parent_fds[CGROUP_CPU] >= 0 ? ALL : near;
    for (unsigned i = 0; i < CGROUP_CONTROLLERS; i++)
        cgroup->has[i] = set & (1u << i);
    for (size_t top = strlen(path); strlen(own) > top; own[above(own)] = '\0')
        note_ceilings(cgroup, own);
}

/* -1 and errno; ENOENT: nothing is mounted under this name. */
static int open_v1(const char *name, const char *path)
{
    char whole[PATH_MAX];
    int n = snprintf(whole, sizeof whole, MOUNTS "/%s%s", name, path);

    if (n < 0 || (size_t)n >= sizeof whole || !is_writable(whole) || !is_mounted(whole, MAGIC_V1))
        return -1;
    return open_directory(whole);
}

static void find_v1(struct cgroup *cgroup, const char *text)
{
    struct own own;

    for (int i = 0; i < CGROUP_CONTROLLERS; i++) {
        const char *name = cgroup_controller_names[i];

        if (!find_own(text, name, &own))
            continue;
        errno = 0;
        int fd = open_v1(name, own.path);
        if (fd < 0 && errno == ENOENT && strcmp(own.names, name) != 0)
            fd = open_v1(own.names, own.path);
        cgroup->parent_fds[i] = fd;
        cgroup->has[i] = fd >= 0;
        if (fd >= 0)
            cgroup->version = CGROUP_V1;
    }
}

static int count(const struct cgroup *cgroup)
{
    int n = 0;

    for (int i = 0; i < CGROUP_CONTROLLERS; i++)
        n += cgroup->has[i];
    return n;
}

bool cgroup_is_likely(void)
{
    return geteuid() == 0 || access(MOUNTS "/cgroup.controllers", F_OK) == 0;
}

void cgroup_find(struct cgroup *cgroup)
{
    struct cgroup v1;
    char text[8192];

    cgroup_init(cgroup);
    if (read_text(AT_FDCWD, "/proc/self/cgroup", text, sizeof text) <= 0)
        return;
    find_v2(cgroup, text);
    if (count(cgroup) == CGROUP_CONTROLLERS)
        return;
    cgroup_init(&v1);
    find_v1(&v1, text);
    if (count(&v1) > count(cgroup)) {
        struct cgroup v2 = *cgroup;

        *cgroup = v1;
        v1 = v2;
    }
    for (int i = 0; i < CGROUP_CONTROLLERS; i++)
        close_fd(&v1.parent_fds[i]);
}
