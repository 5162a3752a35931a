#include "newidmap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "survey/probe/probe.h"
#include "sys/raw.h"

/* What useradd(8) begins with and hands out. The highest number is no id. */
#define FIRST_UNUSED 100000ul
#define UNUSED_SIZE  65536ul
#define LAST_ID      4294967294ul

/* The caller's login name from /etc/passwd: libc would load whatever nsswitch.conf names. */
void newidmap_login_name(uid_t uid, char *out, size_t size)
{
    FILE *file = fopen("/etc/passwd", "re");
    char *line = NULL;
    size_t line_size = 0;

    out[0] = '\0';
    while (file && out[0] == '\0' && getline(&line, &line_size, file) > 0) {
        char *password = strchr(line, ':');
        char *id = password ? strchr(password + 1, ':') : NULL;
        if (!id || strtoul(id + 1, NULL, 10) != uid)
            continue;
        *password = '\0';
        (void)snprintf(out, size, "%s", line);
    }
    free(line);
    if (file)
        (void)fclose(file);
}

/* NAME:FIRST:COUNT, where NAME may be the number. */
static bool find_range(const char *path, const char *name, uid_t uid, struct newidmap_range *out)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t size = 0;
    bool is_found = false;
    char number[16];

    (void)snprintf(number, sizeof number, "%u", uid);
    while (file && !is_found && getline(&line, &size, file) > 0) {
        char *colon = strchr(line, ':');
        if (!colon)
            continue;
        *colon = '\0';
        if ((name[0] && strcmp(line, name) == 0) || strcmp(line, number) == 0)
            is_found = sscanf(colon + 1, "%lu:%lu", &out->first, &out->count) == 2;
    }
    free(line);
    if (file)
        (void)fclose(file);
    return is_found;
}

const char *const newidmap_files[2] = { "/etc/subuid", "/etc/subgid" };

struct ranges {
    struct newidmap_range *all;
    size_t n, capacity;
};

static bool add_range(struct ranges *ranges, const struct newidmap_range *range)
{
    if (ranges->n == ranges->capacity) {
        size_t capacity = ranges->capacity ? 2 * ranges->capacity : 16;
        struct newidmap_range *grown = reallocarray(ranges->all, capacity, sizeof *grown);

        if (!grown)
            return false;
        ranges->all = grown;
        ranges->capacity = capacity;
    }
    ranges->all[ranges->n++] = *range;
    return true;
}

static bool read_ranges(const char *path, struct ranges *ranges)
{
    FILE *file = fopen(path, "re");
    struct newidmap_range range;
    char *line = NULL;
    size_t size = 0;
    bool is_good = true;

    if (!file)
        return errno == ENOENT;
    while (is_good && getline(&line, &size, file) > 0) {
        const char *colon = strchr(line, ':');

        if (colon && sscanf(colon + 1, "%lu:%lu", &range.first, &range.count) == 2)
            is_good = add_range(ranges, &range);
    }
    free(line);
    (void)fclose(file);
    return is_good;
}

static int by_first(const void *a, const void *b)
{
    unsigned long x = ((const struct newidmap_range *)a)->first;
    unsigned long y = ((const struct newidmap_range *)b)->first;

    return (x > y) - (x < y);
}

bool newidmap_find_unused(const char *const files[], size_t n, struct newidmap_range *out)
{
    struct ranges ranges = { 0 };
    unsigned long first = FIRST_UNUSED;
    bool is_good = true;

    for (size_t i = 0; is_good && i < n; i++)
        is_good = read_ranges(files[i], &ranges);
    if (ranges.n)
        qsort(ranges.all, ranges.n, sizeof *ranges.all, by_first);
    for (size_t i = 0; i < ranges.n && ranges.all[i].first <= LAST_ID; i++) {
        const struct newidmap_range *range = &ranges.all[i];
        unsigned long count = range->count <= LAST_ID ? range->count : LAST_ID;

        if (range->first < first + UNUSED_SIZE && range->first + count > first)
            first = range->first + count;
    }
    free(ranges.all);
    *out = (struct newidmap_range){ first, UNUSED_SIZE };
    return is_good && first + UNUSED_SIZE - 1 <= LAST_ID;
}

bool newidmap_find(uid_t uid, struct newidmap_range *users, struct newidmap_range *groups)
{
    char name[64];

    newidmap_login_name(uid, name, sizeof name);
    return find_range(newidmap_files[0], name, uid, users) &&
           find_range(newidmap_files[1], name, uid, groups);
}

struct helper {
    char *argv[12];
    int null_fd;
};

static int exec_child(void *arg)
{
    struct helper *helper = arg;
    char *no_environment[] = { NULL };
    uint64_t none = 0;

    for (int fd = 0; fd < 3; fd++)
        (void)raw(SYS_dup3, helper->null_fd, fd, 0);
    (void)raw(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, 8);
    (void)raw(SYS_execve, helper->argv[0], helper->argv, no_environment);
    return 127;
}

/* Runs `program` to map `id` as `inside`, and the range behind it. */
static long run_helper(const char *program, pid_t pid, unsigned inside, unsigned id,
                       const struct newidmap_range *range)
{
    char texts[6][24];
    struct helper helper = { .argv = { (char *)(uintptr_t)program } };
    const unsigned long numbers[] = { inside, id, 1, inside + 1, range->first, range->count };
    char target[16];

    auto_close int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null_fd < 0)
        return -errno;
    helper.null_fd = null_fd;
    (void)snprintf(target, sizeof target, "%d", (int)pid);
    helper.argv[1] = target;
    for (size_t i = 0; i < COUNT(numbers); i++) {
        (void)snprintf(texts[i], sizeof texts[i], "%lu", numbers[i]);
        helper.argv[2 + i] = texts[i];
    }
    return probe_child(0, exec_child, &helper);
}

long newidmap_run(pid_t pid, uid_t inside, uid_t uid, gid_t gid, const struct newidmap_range *users,
                  const struct newidmap_range *groups)
{
    long r = run_helper(NEWIDMAP_USERS, pid, inside, uid, users);

    return r == 0 ? run_helper(NEWIDMAP_GROUPS, pid, inside, gid, groups) : r;
}
