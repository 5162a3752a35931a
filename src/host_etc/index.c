/*
 * index.c - is the tree still of the host as it is?
 *
 * The index has a line for each thing that the tree was made from: device, inode, change time, path. The few that
 * nearly every change touches are compared at each start. The others, hundreds of files and directories, are
 * compared if that was not done for some seconds: an edit in place shows up that much later.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/fd.h"
#include "host_etc/private.h"

#define INDEX     "index"
#define MAGIC     "coop-etc-1 "
#define BETWEEN   "--\n"
#define END       "end\n"
#define INDEX_MAX ((size_t)16 << 20)
#define FIRST_MAX 4096
#define EVERY_S   5
#define TICK_NS   20000000 /* a file system's clock may be so coarse */
#define SECOND_NS 1000000000

static const char *const first[] = {
    "etc",     "etc/alternatives",    "etc/ssl/certs",        "etc/ld.so.cache",
    "etc/apt", "var/lib/dpkg/status", "var/lib/pacman/local",
};

long long etc_stamp(struct buffer *out, const struct stat *st, const char *path)
{
    buffer_printf(out, "%llx %llx %lld.%ld %s\n", (unsigned long long)st->st_dev,
                  (unsigned long long)st->st_ino, (long long)st->st_ctim.tv_sec,
                  st->st_ctim.tv_nsec, path);
    return (long long)st->st_ctim.tv_sec * SECOND_NS + st->st_ctim.tv_nsec;
}

/* What is not there has zeroes. */
static long long stamp_path(struct buffer *out, int root_fd, const char *path)
{
    struct stat st = { 0 };

    if (fstatat(root_fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
        st = (struct stat){ 0 };
    return etc_stamp(out, &st, path);
}

void etc_stamp_first(struct etc_stamps *stamps, int root_fd)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    stamps->begun = (long long)now.tv_sec * SECOND_NS + now.tv_nsec;
    for (size_t i = 0; i < COUNT(first); i++) {
        long long changed = stamp_path(&stamps->first, root_fd, first[i]);

        if (changed > stamps->newest)
            stamps->newest = changed;
    }
}

/* Each line, made anew from its path, must be the same. */
static bool are_current(const char *lines, const char *end, int root_fd)
{
    auto_buffer struct buffer now = { 0 };

    while (lines < end) {
        const char *newline = memchr(lines, '\n', (size_t)(end - lines));
        const char *path = lines;
        char text[HOST_ETC_MAX];

        for (int i = 0; path && i < 3; i++) {
            path = memchr(path, ' ', (size_t)(end - path));
            path = path ? path + 1 : NULL;
        }
        if (!newline || !path || path > newline || (size_t)(newline - path) >= sizeof text)
            return false;
        memcpy(text, path, (size_t)(newline - path));
        text[newline - path] = '\0';
        now.length = 0;
        (void)stamp_path(&now, root_fd, text);
        if (now.failed || now.length != (size_t)(newline + 1 - lines) ||
            memcmp(now.data, lines, now.length) != 0)
            return false;
        lines = newline + 1;
    }
    return true;
}

static bool is_digest(const char *text)
{
    return strspn(text, "0123456789abcdef") == HOST_ETC_HEX;
}

static bool was_checked_lately(const struct stat *st)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return st->st_mtim.tv_sec <= now.tv_sec && now.tv_sec - st->st_mtim.tv_sec < EVERY_S;
}

static bool check_all(int fd, const struct stat *st, int root_fd)
{
    auto_free char *text = malloc((size_t)st->st_size + 1);
    const char *at;

    if (!text || fd_read_start(fd, text, (size_t)st->st_size) != st->st_size)
        return false;
    text[st->st_size] = '\0';
    at = strstr(text, "\n" BETWEEN);
    const char *end = text + st->st_size - strlen(END);
    if (!at || at + 1 + strlen(BETWEEN) > end || strcmp(end, END) != 0 ||
        !are_current(at + 1 + strlen(BETWEEN), end, root_fd))
        return false;
    (void)futimens(fd, NULL);
    return true;
}

bool etc_index_is_current(int store_fd, int root_fd, char digest[HOST_ETC_HEX + 1])
{
    auto_close int fd = openat(store_fd, INDEX, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const size_t head = strlen(MAGIC) + HOST_ETC_HEX + 1;
    char text[FIRST_MAX + 1];
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
        st.st_mode & 022 || st.st_size > (off_t)INDEX_MAX)
        return false;
    ssize_t n = pread(fd, text, FIRST_MAX, 0);
    text[n > 0 ? n : 0] = '\0';
    const char *between = strstr(text, "\n" BETWEEN);
    if (n < (ssize_t)head || !between || strncmp(text, MAGIC, strlen(MAGIC)) != 0 ||
        !is_digest(text + strlen(MAGIC)) || text[head - 1] != '\n' ||
        !are_current(text + head, between + 1, root_fd))
        return false;
    memcpy(digest, text + strlen(MAGIC), HOST_ETC_HEX);
    digest[HOST_ETC_HEX] = '\0';
    return was_checked_lately(&st) || check_all(fd, &st, root_fd);
}

/* What changed just before, or meanwhile, may change once more without its time changing. */
static bool is_too_fresh(const struct etc_stamps *stamps)
{
    return stamps->newest > stamps->begun - TICK_NS;
}

int etc_index_write(int store_fd, const char *digest, const struct etc_stamps *stamps,
                    coop_error **err)
{
    auto_buffer struct buffer text = { 0 };
    char name[64];

    if (is_too_fresh(stamps))
        return 0; /* the next start makes the tree again, and an index then */
    buffer_printf(&text, MAGIC "%s\n", digest);
    buffer_append(&text, stamps->first.data, stamps->first.length);
    if (text.length + strlen(BETWEEN) >= FIRST_MAX)
        return fail(err, ENAMETOOLONG, "write the index of /etc");
    buffer_append_string(&text, BETWEEN);
    buffer_append(&text, stamps->all.data, stamps->all.length);
    buffer_append_string(&text, END);
    if (text.failed)
        return fail_no_memory(err);
    (void)snprintf(name, sizeof name, "t-index-%ld-%lx", (long)getpid(), (unsigned long)&text);
    auto_close int fd =
        openat(store_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail(err, errno, "write the index of /etc");
    if (write(fd, text.data, text.length) != (ssize_t)text.length ||
        renameat(store_fd, name, store_fd, INDEX) < 0) {
        int saved = errno;

        (void)unlinkat(store_fd, name, 0);
        return fail(err, saved ? saved : EIO, "write the index of /etc");
    }
    return 0;
}
