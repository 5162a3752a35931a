/*
 * base.c - the rule's tree, copied
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "host_etc/private.h"
#include "host_etc/rule.h"

#define TOTAL_MAX ((size_t)128 << 20)
#define FORM      "coop etc 1" /* changes with what the rule decides otherwise than before */

struct build {
    int root_fd;
    int tree_fd;
    struct etc_stamps *stamps;
    struct sha256 hash; /* of what is in the tree, and when that was */
    size_t total;
    size_t n_admitted;
};

/* Whatever the umask is. */
static int make_directory(int tree_fd, const char *path)
{
    if (mkdirat(tree_fd, path, 0755) < 0)
        return errno == EEXIST ? 0 : -errno;
    return fchmodat(tree_fd, path, 0755, 0) < 0 ? -errno : 0;
}

static int make_parents(int tree_fd, const char *name)
{
    char path[HOST_ETC_MAX];

    for (const char *slash = name; (slash = strchr(slash, '/')); slash++) {
        memcpy(path, name, (size_t)(slash - name));
        path[slash - name] = '\0';
        int r = make_directory(tree_fd, path);
        if (r < 0)
            return r;
    }
    return 0;
}

static int write_file(int tree_fd, const struct etc_entry *entry)
{
    const struct timespec times[2] = { entry->st->st_mtim, entry->st->st_mtim };
    auto_close int fd =
        openat(tree_fd, entry->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return -errno;
    for (size_t done = 0; done < entry->n;) {
        ssize_t n = write(fd, entry->bytes + done, entry->n - done);

        if (n < 0 && errno != EINTR)
            return -errno;
        done += n > 0 ? (size_t)n : 0;
    }
    if (fchmod(fd, 0444 | (entry->st->st_mode & 0111)) < 0)
        return -errno;
    (void)futimens(fd, times);
    return 0;
}

static int copy(struct build *build, const struct etc_entry *entry)
{
    int r = make_parents(build->tree_fd, entry->name);

    sha256_update(&build->hash, entry->name, strlen(entry->name) + 1);
    sha256_update(&build->hash, entry->bytes, entry->n);
    build->total += entry->n;
    build->n_admitted++;
    if (r < 0)
        return r;
    if (build->total > TOTAL_MAX)
        return -EFBIG;
    if (S_ISLNK(entry->st->st_mode))
        return symlinkat(entry->bytes, build->tree_fd, entry->name) < 0 ? -errno : 0;
    return write_file(build->tree_fd, entry);
}

/* As it was when it was opened: what changes later is seen by the next check. */
static void stamp(struct etc_stamps *stamps, const char *name, const struct stat *st)
{
    char path[HOST_ETC_MAX + 8];

    if (strchr(name, '\n'))
        return;
    (void)snprintf(path, sizeof path, "etc/%s", name);
    long long changed = etc_stamp(&stamps->all, st, path);
    if (changed > stamps->newest)
        stamps->newest = changed;
}

static int visit(void *context, const struct etc_entry *entry)
{
    struct build *build = context;
    bool is_directory = S_ISDIR(entry->st->st_mode);

    if (is_directory || (S_ISREG(entry->st->st_mode) && entry->verdict != ETC_LOCAL &&
                         entry->verdict != ETC_REFUSED && entry->verdict != ETC_MADE_UP))
        stamp(build->stamps, entry->name, entry->st);
    if (entry->verdict != ETC_ADMITTED || !*entry->name)
        return 0;
    if (!is_directory)
        return copy(build, entry);
    if (!entry->is_shipped)
        return 0; /* made when something in it is admitted */
    int r = make_parents(build->tree_fd, entry->name);
    return r < 0 ? r : make_directory(build->tree_fd, entry->name);
}

int etc_base_make(int root_fd, int tree_fd, struct etc_stamps *stamps,
                  char digest[HOST_ETC_HEX + 1], coop_error **err)
{
    struct build build = { .root_fd = root_fd, .tree_fd = tree_fd, .stamps = stamps };
    struct etc_shipped shipped = { 0 };
    unsigned char bytes[SHA256_BYTES];
    char hex[SHA256_HEX_SIZE];

    sha256_init(&build.hash);
    sha256_update(&build.hash, FORM, sizeof FORM);
    etc_stamp_first(stamps, root_fd); /* before anything is read */
    int r = etc_shipped_load(root_fd, &shipped, err);
    if (r == 0)
        r = etc_walk(root_fd, &shipped, visit, &build, err);
    etc_shipped_done(&shipped);
    if (r < 0)
        return fail_within(err, r, "make a tree of /etc");
    if (build.n_admitted == 0)
        return fail(err, ENOENT, "find what packages ship in '/etc'");
    if (stamps->first.failed || stamps->all.failed)
        return fail_no_memory(err);
    sha256_update(&build.hash, stamps->first.data, stamps->first.length);
    sha256_update(&build.hash, stamps->all.data, stamps->all.length);
    sha256_final(&build.hash, bytes);
    sha256_hex(bytes, hex);
    memcpy(digest, hex, HOST_ETC_HEX);
    digest[HOST_ETC_HEX] = '\0';
    return 0;
}
