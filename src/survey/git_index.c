#include "git_index.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

#define HEADER_SIZE   12
#define STAT_SIZE     40                  /* of an entry, before the hash */
#define SIZE_MAX_READ (UINT32_C(1) << 29) /* some five million files */

#define FLAG_LENGTH        0x0fff
#define FLAG_EXTENDED      0x4000
#define FLAG_SKIP_WORKTREE 0x4000 /* of the extended flags: not meant to be there */

struct index {
    const unsigned char *bytes;
    size_t size;
    size_t at;
    uint32_t version;
    size_t hash_size;
    char path[PATH_MAX]; /* version 4: of the entry before */
    size_t length;
};

static uint32_t number(const unsigned char *p, size_t n)
{
    uint32_t value = 0;

    for (size_t i = 0; i < n; i++)
        value = value << 8 | p[i];
    return value;
}

/* How many bytes of the path before are left out: git's own number format. */
static bool read_offset(struct index *index, size_t *out)
{
    size_t value = 0;

    for (int i = 0; i < 4; i++) {
        if (index->at >= index->size)
            return false;
        unsigned char byte = index->bytes[index->at++];

        value = (i ? (value + 1) << 7 : 0) | (byte & 0x7f);
        if (!(byte & 0x80)) {
            *out = value;
            return true;
        }
    }
    return false;
}

/* The path of an entry whose fixed part began at `start`. */
static bool read_path(struct index *index, size_t start)
{
    size_t left_out = index->length;

    if (index->version == 4 && (!read_offset(index, &left_out) || left_out > index->length))
        return false;
    size_t kept = index->length - left_out;
    const unsigned char *from = index->bytes + index->at;
    const unsigned char *end = memchr(from, '\0', index->size - index->at);
    size_t n = end ? (size_t)(end - from) : 0;

    if (!end || kept + n >= sizeof index->path) /* none: it replaces one of a shared index */
        return false;
    memcpy(index->path + kept, from, n);
    index->length = kept + n;
    index->at += n + 1;
    if (index->version < 4) /* entries are filled up to multiples of eight bytes */
        index->at = start + ((index->at - start + 7) & ~(size_t)7);
    return index->at <= index->size;
}

static bool read_entry(struct index *index, bool *is_wanted)
{
    size_t start = index->at;
    size_t fixed = STAT_SIZE + index->hash_size + 2;

    if (index->size - start < fixed + 2)
        return false;
    uint32_t flags = number(index->bytes + start + fixed - 2, 2);
    bool is_extended = flags & FLAG_EXTENDED;
    if (is_extended && index->version < 3)
        return false;
    *is_wanted = !is_extended || !(number(index->bytes + start + fixed, 2) & FLAG_SKIP_WORKTREE);
    index->at = start + fixed + (is_extended ? 2 : 0);
    if (!read_path(index, start))
        return false;
    size_t length = flags & FLAG_LENGTH; /* tells one size of hashes from another */
    return length == (index->length < FLAG_LENGTH ? index->length : FLAG_LENGTH);
}

static bool read_entries(struct index *index, git_index_each *each, void *context)
{
    char last[NAME_MAX + 1];
    size_t n_last = 0;

    if (index->size < HEADER_SIZE || memcmp(index->bytes, "DIRC", 4) != 0)
        return false;
    index->version = number(index->bytes + 4, 4);
    if (index->version < 2 || index->version > 4)
        return false;
    for (uint32_t left = number(index->bytes + 8, 4); left > 0; left--) {
        bool is_wanted = false;

        if (!read_entry(index, &is_wanted))
            return false;
        const char *slash = memchr(index->path, '/', index->length);
        size_t n = slash ? (size_t)(slash - index->path) : index->length;
        if (!is_wanted || n == 0 || n > NAME_MAX ||
            (n == n_last && memcmp(last, index->path, n) == 0))
            continue;
        memcpy(last, index->path, n);
        n_last = n;
        each(context, index->path, n);
    }
    return true;
}

bool git_index_parse(const char *bytes, size_t size, size_t hash_size, git_index_each *each,
                     void *context, char out_shared[GIT_INDEX_SHARED])
{
    struct index index = { .bytes = (const unsigned char *)bytes,
                           .size = size,
                           .at = HEADER_SIZE,
                           .hash_size = hash_size };

    out_shared[0] = '\0';
    if (!read_entries(&index, each, context))
        return false;
    /* Extensions: a name of four bytes, a length, and so many bytes. */
    while (index.size - index.at >= 8 + hash_size) {
        const unsigned char *extension = index.bytes + index.at;
        size_t n = number(extension + 4, 4);

        if (memcmp(extension, "link", 4) == 0 && n >= hash_size) {
            (void)strcpy(out_shared, "sharedindex.");
            for (size_t i = 0; i < hash_size; i++)
                (void)sprintf(out_shared + 12 + 2 * i, "%02x", extension[8 + i]);
        }
        if (n > index.size - index.at - 8)
            break;
        index.at += 8 + n;
    }
    return true;
}

/* ---- files */

/* 0: it is not there, or nothing that can be read. */
static int read_all(int directory_fd, const char *name, size_t limit, char **out, size_t *out_size)
{
    auto_close int fd =
        openat(directory_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat st;
    size_t n = 0;

    *out = NULL;
    *out_size = 0;
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return 0;
    if (st.st_size > (off_t)limit)
        return -EFBIG;
    auto_free char *bytes = malloc((size_t)st.st_size + 1);
    if (!bytes)
        return -ENOMEM;
    while (n < (size_t)st.st_size) {
        ssize_t got = read(fd, bytes + n, (size_t)st.st_size - n);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    bytes[n] = '\0';
    *out = take_ptr(bytes);
    *out_size = n;
    return 0;
}

/* The git directory itself, or the one that a file of that name leads to. */
static int open_git_directory(int root_fd)
{
    static const char word[] = "gitdir: ";
    auto_free char *text = NULL;
    size_t n = 0;
    int fd = openat(root_fd, ".git", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd >= 0 || read_all(root_fd, ".git", PATH_MAX, &text, &n) < 0 || !text ||
        strncmp(text, word, sizeof word - 1) != 0)
        return fd;
    text[strcspn(text, "\r\n")] = '\0';
    return openat(root_fd, text + sizeof word - 1, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* *out_shared: the file that has the rest of it; "": none. */
static int names_of(int fd, const char *name, git_index_each *each, void *context,
                    char out_shared[GIT_INDEX_SHARED])
{
    auto_free char *bytes = NULL;
    size_t size = 0;
    int r = read_all(fd, name, SIZE_MAX_READ, &bytes, &size);

    out_shared[0] = '\0';
    if (r < 0 || !bytes)
        return r;
    if (!git_index_parse(bytes, size, 20, each, context, out_shared)) /* SHA-1, or else SHA-256 */
        (void)git_index_parse(bytes, size, 32, each, context, out_shared);
    return 0;
}

int git_index_names(int root_fd, git_index_each *each, void *context)
{
    char shared[GIT_INDEX_SHARED] = "";
    char none[GIT_INDEX_SHARED];
    auto_close int fd = open_git_directory(root_fd);
    int r = fd < 0 ? 0 : names_of(fd, "index", each, context, shared);

    return r == 0 && *shared ? names_of(fd, shared, each, context, none) : r;
}
