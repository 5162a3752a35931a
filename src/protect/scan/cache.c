/*
 * The file: header, records, texts. Written beside its place and renamed, so that whoever reads sees
 * one or the other.
 */
#include "cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/sha256.h"

#define MAGIC      "coopscan"
#define FORM       7u /* changes with everything that a walk decides otherwise than before */
#define TEXT_MAX   (1u << 30)
#define PATH_SPACE 4096
#define KEPT_S     (30L * 24 * 60 * 60)

struct cache_header {
    char magic[8];
    uint32_t form;
    uint32_t record_size;
    struct cache_key key;
    uint64_t n_records;
    uint64_t n_text;
    uint64_t checksum; /* of what follows */
};

void cache_key_init(struct cache_key *key, const struct protect *protect, uint64_t dev,
                    uint64_t ino, bool is_git_directory, bool is_beside)
{
    struct sha256 hash;

    *key = (struct cache_key){
        .dev = dev, .ino = ino, .uid = geteuid(), .is_git = is_git_directory, .is_beside = is_beside
    };
    sha256_init(&hash);
    for (size_t i = 0; i < protect_n_rules(protect); i++) {
        const struct protect_rule *rule = protect_rule(protect, i);
        const unsigned char about[] = { (unsigned char)rule->action,
                                        (unsigned char)rule->conditions,
                                        protect_ignores_case(protect),
                                        protect_has_defaults(protect) };

        sha256_update(&hash, rule->pattern, strlen(rule->pattern) + 1);
        sha256_update(&hash, about, sizeof about);
    }
    sha256_final(&hash, key->rules);
}

static void name_of_file(const struct cache_key *key, char out[64])
{
    unsigned char digest[SHA256_BYTES];
    char hex[SHA256_HEX_SIZE];
    struct sha256 hash;

    sha256_init(&hash);
    sha256_update(&hash, key, sizeof *key);
    sha256_final(&hash, digest);
    sha256_hex(digest, hex);
    (void)snprintf(out, 64, "scan-%.32s", hex);
}

static uint64_t mix(uint64_t sum, const char *bytes)
{
    uint64_t word;

    memcpy(&word, bytes, sizeof word);
    sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
    return sum ^ sum >> 29;
}

/* Against a torn or damaged file, not against a forged one: who can forge it is the caller. Four
 * sums side by side, because each step waits for the one before it. */
static uint64_t checksum(uint64_t sum, const void *bytes, size_t n)
{
    uint64_t sums[4] = { sum, 1, 2, 3 };
    const char *p = bytes;

    for (; n >= 32; n -= 32, p += 32)
        for (size_t i = 0; i < 4; i++)
            sums[i] = mix(sums[i], p + 8 * i);
    sum = mix(mix(sums[0], (const char *)&sums[1]) ^ sums[2], (const char *)&sums[3]);
    for (; n > 0; n--, p++)
        sum = (sum ^ (unsigned char)*p) * 0x100000001b3u;
    return sum;
}

/* ---- reading */

static bool read_all(int fd, void *to, size_t n)
{
    for (char *at = to; n > 0;) {
        ssize_t got = read(fd, at, n);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        n -= (size_t)got;
    }
    return true;
}

static bool is_path(const char *path, size_t length)
{
    if (length >= PATH_SPACE || path[0] == '/')
        return false;
    return strstr(path, "..") == NULL || (strncmp(path, "../", 3) != 0 && !strstr(path, "/../"));
}

/* Text begins everywhere inside, and ends with a NUL: no offset leads out. */
static bool is_record(const struct scan_entries *records, size_t i)
{
    const struct scan_entry *record = &records->items[i];
    size_t n_text = records->text.length;

    if (record->path >= n_text || record->names >= n_text || record->mode > ENTRY_BARE)
        return false;
    if (i == 0 ? record->parent != ENTRY_NONE || *entries_path(records, 0) != '\0'
               : record->parent >= i)
        return false;
    size_t length = strlen(entries_path(records, i));
    if (!is_path(entries_path(records, i), length) ||
        (record->git_at > length + 1 && entry_is_in_git(record->mode)))
        return false;
    const char *name = records->text.data + record->names;
    for (uint32_t n = 0; n < record->n_names; n++) {
        if (name >= records->text.data + n_text || !*name || strlen(name) > 255 ||
            strchr(name, '/'))
            return false;
        name += strlen(name) + 1;
    }
    return true;
}

static bool has_form(const struct scan_entries *records)
{
    if (records->n == 0 || records->text.length == 0 ||
        records->text.data[records->text.length - 1] != '\0')
        return false;
    for (size_t i = 0; i < records->n; i++)
        if (!is_record(records, i))
            return false;
    return true;
}

static bool read_records(int fd, const struct cache_header *header, struct scan_entries *out)
{
    out->n = out->capacity = (size_t)header->n_records;
    out->items = calloc(out->n, sizeof *out->items);
    if (!out->items || !buffer_reserve(&out->text, (size_t)header->n_text))
        return false;
    out->text.length = (size_t)header->n_text;
    out->text.data[out->text.length] = '\0';
    size_t size = out->n * sizeof *out->items;
    if (!read_all(fd, out->items, size) || !read_all(fd, out->text.data, out->text.length))
        return false;
    uint64_t sum = checksum(1, out->items, size);
    return checksum(sum, out->text.data, out->text.length) == header->checksum && has_form(out);
}

static bool is_own(int fd, uint64_t *out_size)
{
    struct stat st;

    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
        st.st_mode & (S_IWGRP | S_IWOTH))
        return false;
    *out_size = (uint64_t)st.st_size;
    return true;
}

/* The caller's own, and closed to others. */
static int open_directory(const char *directory)
{
    struct stat st;
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
        !(st.st_mode & (S_IWGRP | S_IWOTH)))
        return fd;
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

bool cache_load(const char *directory, const struct cache_key *key, struct scan_entries *out)
{
    struct cache_header header;
    char name[64];
    uint64_t size = 0;

    auto_close int directory_fd = open_directory(directory);
    if (directory_fd < 0)
        return false;
    name_of_file(key, name);
    auto_close int fd = openat(directory_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || !is_own(fd, &size) || !read_all(fd, &header, sizeof header))
        return false;
    if (memcmp(header.magic, MAGIC, sizeof header.magic) != 0 || header.form != FORM ||
        header.record_size != sizeof(struct scan_entry) ||
        memcmp(&header.key, key, sizeof *key) != 0 || header.n_records > SCAN_ENTRIES_MAX ||
        header.n_text > TEXT_MAX ||
        size != sizeof header + header.n_records * sizeof(struct scan_entry) + header.n_text)
        return false;
    struct scan_entries records = { 0 };
    if (!read_records(fd, &header, &records)) {
        scan_entries_done(&records);
        return false;
    }
    *out = records;
    return true;
}

/* ---- writing */

static bool write_all(int fd, const void *bytes, size_t n)
{
    for (const char *at = bytes; n > 0;) {
        ssize_t done = write(fd, at, n);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        at += done;
        n -= (size_t)done;
    }
    return true;
}

/* The directory and the one above it, which may be missing in a new home. */
static int make_directory(const char *directory)
{
    char parent[PATH_SPACE];
    const char *slash = strrchr(directory, '/');

    if (mkdir(directory, 0700) < 0 && errno == ENOENT && slash && slash > directory &&
        (size_t)(slash - directory) < sizeof parent) {
        memcpy(parent, directory, (size_t)(slash - directory));
        parent[slash - directory] = '\0';
        (void)mkdir(parent, 0700);
        (void)mkdir(directory, 0700);
    }
    return open_directory(directory);
}

/* Trees that nobody has looked at for long; half-written files too. */
static void remove_old(int directory_fd)
{
    int fd = dup(directory_fd);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    struct stat st;

    if (!stream) {
        close_fd(&fd);
        return;
    }
    while ((entry = readdir(stream)))
        if (strncmp(entry->d_name, "scan-", 5) == 0 &&
            fstatat(directory_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            st.st_mtim.tv_sec < time(NULL) - KEPT_S)
            (void)unlinkat(directory_fd, entry->d_name, 0);
    (void)closedir(stream);
}

void cache_store(const char *directory, const struct cache_key *key,
                 const struct scan_entries *records)
{
    struct cache_header header = {
        .magic = MAGIC,
        .form = FORM,
        .record_size = sizeof(struct scan_entry),
        .key = *key,
        .n_records = records->n,
        .n_text = records->text.length,
    };
    size_t size = records->n * sizeof *records->items;
    char name[64];
    char temporary[96];

    if (records->text.length > TEXT_MAX)
        return;
    auto_close int directory_fd = make_directory(directory);
    if (directory_fd < 0)
        return;
    name_of_file(key, name);
    (void)snprintf(temporary, sizeof temporary, "%s.%ld", name, syscall(SYS_gettid));
    header.checksum =
        checksum(checksum(1, records->items, size), records->text.data, records->text.length);
    auto_close int fd = openat(directory_fd, temporary,
                               O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    if (!write_all(fd, &header, sizeof header) || !write_all(fd, records->items, size) ||
        !write_all(fd, records->text.data, records->text.length) ||
        renameat(directory_fd, temporary, directory_fd, name) < 0)
        (void)unlinkat(directory_fd, temporary, 0);
    remove_old(directory_fd);
}
