/*
 * walk.c - reads a tree, directory by directory
 *
 * One descriptor at a time, opened by its path from the root without following any link; the list of
 * what is still to be read is on the heap, so the tree's depth costs nothing but memory.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "protect/scan/entries.h"
#include "protect/scan/ignored_case.h"
#include "protect/scan/name.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define READ_SIZE (32 * 1024)
#define PATH_SIZE 4096
/* A directory whose names might not fit behind its path is not entered. */
#define DEEPEST   (PATH_SIZE - 256 - 2)
#define SETTLED_S 2 /* a change time younger than this may stand for two changes */

/* linux/magic.h has these under other names or not at all */
#define MAGIC_XFS     0x58465342
#define MAGIC_MQUEUE  0x19800202
#define MAGIC_CONFIG  0x62656570
#define MAGIC_FUSECTL 0x65735543

struct directory_entry {
    uint64_t ino;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
};

struct pending {
    uint32_t path;   /* offset in the texts */
    uint32_t parent; /* its record */
    uint32_t old;    /* its record in the old ones, or ENTRY_NONE */
    struct protect_place place;
};

struct walk {
    int root_fd;
    struct protect *protect;
    const struct entries_walk *how;
    struct old_entries old;
    const bool *verified;
    struct scan_entries *out;
    struct pending *stack;
    size_t n_stack, stack_capacity;
    size_t path_length; /* of the directory in `path` */
    time_t now;
    uint64_t known_dev; /* what follows is about this one */
    bool has_known, known_is_pseudo, known_keeps_ctime, known_ignores_case;
    struct entries_spent spent;
    bool has_asked;
    char path[PATH_SIZE];
    char buffer[READ_SIZE] __attribute__((aligned(8)));
};

void scan_entries_done(struct scan_entries *records)
{
    free(records->items);
    buffer_done(&records->text);
    *records = (struct scan_entries){ 0 };
}

/* ---- what a directory is */

static bool is_pseudo(const struct statfs *fs)
{
    static const unsigned long types[] = {
        PROC_SUPER_MAGIC,    SYSFS_MAGIC,    DEVPTS_SUPER_MAGIC, CGROUP_SUPER_MAGIC,
        CGROUP2_SUPER_MAGIC, DEBUGFS_MAGIC,  TRACEFS_MAGIC,      SECURITYFS_MAGIC,
        BPF_FS_MAGIC,        BINFMTFS_MAGIC, PSTOREFS_MAGIC,     EFIVARFS_MAGIC,
        MAGIC_MQUEUE,        MAGIC_CONFIG,   MAGIC_FUSECTL,
    };

    for (size_t i = 0; i < COUNT(types); i++)
        if ((unsigned long)fs->f_type == types[i])
            return true;
    return false;
}

/* File systems whose change times the kernel itself keeps, and nobody else. */
static bool keeps_ctime(const struct statfs *fs)
{
    static const unsigned long types[] = { EXT4_SUPER_MAGIC, MAGIC_XFS, BTRFS_SUPER_MAGIC,
                                           TMPFS_MAGIC };

    for (size_t i = 0; i < COUNT(types); i++)
        if ((unsigned long)fs->f_type == types[i])
            return true;
    return false;
}

static void know_device(struct walk *walk, int fd, uint64_t dev)
{
    struct statfs fs;

    if (walk->has_known && walk->known_dev == dev)
        return;
    walk->has_known = true;
    walk->known_dev = dev;
    bool is_told = fstatfs(fd, &fs) == 0;
    walk->known_is_pseudo = is_told && is_pseudo(&fs);
    walk->known_keeps_ctime = is_told && keeps_ctime(&fs);
    walk->known_ignores_case = is_told && ignored_case_by_type((unsigned long)fs.f_type);
}

/* ---- lists */

static int grow(void **array, size_t *capacity, size_t n, size_t size, coop_error **err)
{
    if (n < *capacity)
        return 0;
    size_t wanted = *capacity ? 2 * *capacity : 16;
    void *more = reallocarray(*array, wanted, size);
    if (!more)
        return fail_no_memory(err);
    *array = more;
    *capacity = wanted;
    return 0;
}

static int add_text(struct walk *walk, const char *text, size_t length, uint32_t *out,
                    coop_error **err)
{
    struct buffer *to = &walk->out->text;

    if (to->length > UINT32_MAX - PATH_SIZE)
        return fail(err, EOVERFLOW, "search the workspace for what to protect: it is too large");
    *out = (uint32_t)to->length;
    buffer_append(to, text, length + 1);
    return to->failed ? fail_no_memory(err) : 0;
}

static int push(struct walk *walk, const char *path, size_t length, struct pending pending,
                coop_error **err)
{
    int r =
        grow((void **)&walk->stack, &walk->stack_capacity, walk->n_stack, sizeof *walk->stack, err);

    if (r == 0)
        r = add_text(walk, path, length, &pending.path, err);
    if (r == 0)
        walk->stack[walk->n_stack++] = pending;
    return r;
}

static int add_record(struct walk *walk, struct scan_entry record, coop_error **err)
{
    struct scan_entries *out = walk->out;
    int r = grow((void **)&out->items, &out->capacity, out->n, sizeof *out->items, err);

    if (r < 0)
        return r;
    if (out->n >= SCAN_ENTRIES_MAX)
        return fail(err, EOVERFLOW,
                    "search the workspace for what to protect: it has more than %u directories",
                    SCAN_ENTRIES_MAX);
    out->items[out->n++] = record;
    return 0;
}

/* ---- one name */

/* The full path of `name` in the directory; "" if the kernel would not open it. */
static size_t name_path(struct walk *walk, const char *name, size_t length)
{
    size_t at = walk->path_length;

    if (at > 0)
        walk->path[at++] = '/';
    memcpy(walk->path + at, name, length + 1);
    return at + length;
}

struct reading {
    struct pending directory;
    struct scan_entry record;
    uint32_t index;      /* that the record will have */
    bool looks_at_modes; /* of its files */
};

static int add_name(struct walk *walk, struct reading *reading, const char *name, size_t length,
                    coop_error **err)
{
    uint32_t at = 0;
    int r = add_text(walk, name, length, &at, err);

    if (r == 0 && reading->record.n_names++ == 0)
        reading->record.names = at;
    return r;
}

static bool is_directory_entry(int fd, const struct directory_entry *entry)
{
    struct stat st;

    if (entry->type != DT_UNKNOWN)
        return entry->type == DT_DIR;
    return fstatat(fd, entry->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

/* Names of candidates must stand together in the texts, so directories to enter wait in `below`. */
static int look_at_entry(struct walk *walk, struct reading *reading, int fd,
                         const struct directory_entry *entry, struct buffer *below,
                         coop_error **err)
{
    const struct protect_place *place = &reading->directory.place;
    const char *name = entry->name;
    size_t length = strlen(name);

    if (name[0] == '.' && (length == 1 || (length == 2 && name[1] == '.')))
        return 0;
    bool is_directory = is_directory_entry(fd, entry);
    bool is_for_mode = reading->looks_at_modes && !is_directory && entry->type != DT_LNK &&
                       protect_name_applies(protect_private.conditions, name, length);
    if (!is_directory && !is_for_mode && !protect_name_is_git(walk->protect, name, length) &&
        !protect_concerns_name(walk->protect, name, length))
        return 0;
    size_t path_length = name_path(walk, name, length);
    int r = 0;
    /* A link may lead to a directory, and rules are about that. */
    if (is_for_mode ||
        protect_name_is_candidate(walk->protect, place, walk->path, name, length, is_directory) ||
        (!is_directory && entry->type != DT_REG &&
         protect_name_is_candidate(walk->protect, place, walk->path, name, length, true)))
        r = add_name(walk, reading, name, length, err);
    struct protect_place below_it;
    if (r == 0 && is_directory &&
        protect_name_enters(walk->protect, place, fd, walk->path, name, length, &below_it) &&
        !protect_name_hides_directory(walk->protect, place, walk->path)) {
        const struct pending next = {
            .path = (uint32_t)path_length, /* its length, until it is pushed */
            .parent = reading->index,
            .old = old_entries_find(&walk->old, walk->path),
            .place = below_it,
        };
        buffer_append(below, &next, sizeof next);
        buffer_append(below, walk->path, path_length + 1);
        r = below->failed ? fail_no_memory(err) : 0;
    }
    walk->path[walk->path_length] = '\0';
    return r;
}

static int push_below(struct walk *walk, const struct buffer *below, coop_error **err)
{
    int r = 0;

    for (size_t at = 0; r == 0 && at < below->length;) {
        struct pending next;

        memcpy(&next, below->data + at, sizeof next);
        at += sizeof next;
        size_t length = next.path;
        r = push(walk, below->data + at, length, next, err);
        at += length + 1;
    }
    return r;
}

/* What was decided of its names was decided of other ones. */
static int read_again_as_bare(const struct walk *walk, struct reading *reading, int fd,
                              struct buffer *below, coop_error **err)
{
    struct protect_place *place = &reading->directory.place;

    place->mode = ENTRY_BARE;
    place->git_at = (uint16_t)(walk->path_length ? walk->path_length + 1 : 0);
    reading->record.mode = place->mode;
    reading->record.git_at = place->git_at;
    reading->record.names = reading->record.path;
    reading->record.n_names = 0;
    below->length = 0;
    return lseek(fd, 0, SEEK_SET) < 0
               ? fail(err, errno, "read the directory '%s' of the workspace again", walk->path)
               : 0;
}

static int read_entries(struct walk *walk, struct reading *reading, int fd, struct buffer *below,
                        coop_error **err)
{
    for (;;) {
        long n = raw(SYS_getdents64, fd, walk->buffer, READ_SIZE);

        if (n == -ENOENT) /* removed meanwhile */
            return 0;
        if (n < 0)
            return fail(err, (int)-n, "read the directory '%s' of the workspace",
                        walk->path_length ? walk->path : ".");
        if (n == 0)
            return 0;
        for (long at = 0; at < n; walk->spent.cost++) {
            const struct directory_entry *entry =
                (const struct directory_entry *)(const void *)(walk->buffer + at);
            bool is_other = protect_name_is_of_bare(&reading->directory.place, fd, entry->name);
            int r = is_other ? read_again_as_bare(walk, reading, fd, below, err)
                             : look_at_entry(walk, reading, fd, entry, below, err);

            if (r < 0)
                return r;
            at = is_other ? n : at + entry->length;
        }
    }
}

/* ---- one directory */

static void note_stat(struct walk *walk, struct scan_entry *record, const struct stat *st)
{
    record->dev = st->st_dev;
    record->ino = st->st_ino;
    if (walk->known_keeps_ctime && st->st_ctim.tv_sec < walk->now - SETTLED_S) {
        record->ctime_sec = st->st_ctim.tv_sec;
        record->ctime_nsec = (uint32_t)st->st_ctim.tv_nsec;
    }
}

/* By path from the root, through no link; a rename somewhere may ask for another try. */
static int open_directory(const struct walk *walk, const char *path)
{
    const struct kernel_open_how how = {
        .flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK,
        .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    long fd;

    do
        fd = raw(NR_OPENAT2, walk->root_fd, *path ? path : ".", &how, sizeof how);
    while (fd == -EAGAIN || fd == -EINTR);
    return (int)fd;
}

/* It can be hidden as a whole, but not searched: noted with what identifies it. */
static int add_unsearchable(struct walk *walk, struct reading *reading, coop_error **err)
{
    struct stat st;

    if (fstatat(walk->root_fd, walk->path_length ? walk->path : ".", &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT || errno == ENOTDIR /* gone meanwhile */
                   ? 0
                   : fail(err, errno, "look at the directory '%s' of the workspace", walk->path);
    reading->record.flags = ENTRY_UNSEARCHABLE;
    note_stat(walk, &reading->record, &st);
    reading->record.ctime_sec = 0;
    return add_record(walk, reading->record, err);
}

static int take_over(struct walk *walk, struct reading *reading, coop_error **err);

/* Whether what the old record says was decided by the same rules. */
static bool is_known(const struct walk *walk, const struct pending *directory)
{
    if (directory->old == ENTRY_NONE)
        return false;
    const struct scan_entry *old = &walk->old.records->items[directory->old];
    return old->mode == directory->place.mode && old->git_at == directory->place.git_at;
}

/* Of the files in the directory. */
static bool looks_at_modes(struct walk *walk)
{
    (void)name_path(walk, "x", 1);
    bool looks = protect_looks_at_modes(walk->protect, walk->path, walk->how->is_beside);
    walk->path[walk->path_length] = '\0';
    return looks;
}

static int read_directory(struct walk *walk, struct reading *reading, coop_error **err)
{
    const struct entries_walk *how = walk->how;
    uint32_t old = reading->directory.old;
    auto_buffer struct buffer below = { 0 };
    struct stat st;

    if (walk->path_length > DEEPEST)
        return add_unsearchable(walk, reading, err);
    auto_close int fd = open_directory(walk, walk->path);
    if (fd == -EACCES || fd == -EPERM)
        return add_unsearchable(walk, reading, err);
    if (fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP) /* gone, or something else, meanwhile */
        return 0;
    if (fd < 0 || fstat(fd, &st) < 0)
        return fail(err, fd < 0 ? -fd : errno, "open the directory '%s' of the workspace",
                    walk->path_length ? walk->path : ".");
    int opened = how->opened ? how->opened(how->context, fd, reading->index) : 0;
    if (opened < 0)
        return fail(err, -opened, "watch the directory '%s' of the workspace",
                    walk->path_length ? walk->path : ".");
    if (how->opened && is_known(walk, &reading->directory) &&
        entry_is_current(&walk->old.records->items[old], &st))
        return take_over(walk, reading, err);
    know_device(walk, fd, st.st_dev);
    note_stat(walk, &reading->record, &st);
    walk->spent.n_read++;
    walk->spent.cost += ENTRIES_COST;
    if (walk->known_is_pseudo) {
        reading->record.flags = ENTRY_PSEUDO;
        return add_record(walk, reading->record, err);
    }
    if (walk->known_ignores_case || ignored_case_by_flag(fd))
        reading->record.flags |= ENTRY_IGNORES_CASE;
    reading->looks_at_modes =
        entry_hides_all(reading->directory.place.mode) && looks_at_modes(walk);
    int r = read_entries(walk, reading, fd, &below, err);
    if (r == 0)
        r = add_record(walk, reading->record, err);
    return r < 0 ? r : push_below(walk, &below, err);
}

/* As it was: its names, and below it the directories that it had. */
static int take_over(struct walk *walk, struct reading *reading, coop_error **err)
{
    const struct scan_entries *old = walk->old.records;
    const struct scan_entry *from = &old->items[reading->directory.old];
    const char *name = old->text.data + from->names;
    struct scan_entry record = *from;

    record.path = reading->record.path;
    record.parent = reading->record.parent;
    record.n_names = 0;
    reading->record = record;
    for (uint32_t i = 0; i < from->n_names; i++) {
        int r = add_name(walk, reading, name, strlen(name), err);

        if (r < 0)
            return r;
        name += strlen(name) + 1;
    }
    int r = add_record(walk, reading->record, err);
    for (uint32_t i = walk->old.first_child[reading->directory.old]; r == 0 && i != ENTRY_NONE;
         i = walk->old.next_sibling[i]) {
        const struct scan_entry *child = &old->items[i];

        r = push(walk, entries_path(old, i), strlen(entries_path(old, i)),
                 (struct pending){
                     .parent = reading->index, .old = i, .place = { child->git_at, child->mode } },
                 err);
    }
    return r;
}

static int visit(struct walk *walk, const struct pending *pending, coop_error **err)
{
    struct reading reading = {
        .directory = *pending,
        .index = (uint32_t)walk->out->n,
        .record = { .parent = pending->parent,
                    .path = pending->path,
                    .names = pending->path,
                    .git_at = pending->place.git_at,
                    .mode = pending->place.mode },
    };

    if (is_known(walk, pending) && !walk->how->opened && walk->verified[pending->old])
        return take_over(walk, &reading, err);
    const char *path = walk->out->text.data + pending->path;
    walk->path_length = strlen(path);
    memcpy(walk->path, path, walk->path_length + 1);
    return read_directory(walk, &reading, err);
}

static int run_walk(struct walk *walk, coop_error **err)
{
    const struct entries_walk *how = walk->how;
    int r = 0;

    while (r == 0 && walk->n_stack > 0) {
        if (how->goes_on && !walk->has_asked && walk->spent.cost >= how->asks_at) {
            walk->has_asked = true;
            if (!how->goes_on(how->context))
                return 1;
        }
        struct pending pending = walk->stack[--walk->n_stack];

        r = visit(walk, &pending, err);
    }
    return r;
}

/* Large: what is not set here is set before it is read. */
static void walk_init(struct walk *walk, const struct entries_walk *how, struct scan_entries *out)
{
    memset(walk, 0, offsetof(struct walk, path));
    walk->how = how;
    walk->root_fd = how->root_fd;
    walk->protect = how->protect;
    walk->now = how->now;
    walk->out = out;
}

static void walk_done(struct walk *walk)
{
    free(walk->stack);
    old_entries_done(&walk->old);
}

int entries_walk(const struct entries_walk *how, const struct scan_entries *old,
                 const bool *verified, struct scan_entries *out, struct entries_spent *out_spent,
                 coop_error **err)
{
    const struct pending root = { .parent = ENTRY_NONE,
                                  .old = old ? 0 : ENTRY_NONE,
                                  .place.mode = how->is_git_directory ? ENTRY_GIT : ENTRY_PLAIN };
    struct walk walk;

    walk_init(&walk, how, out);
    walk.verified = verified;
    int r = !old || old_entries_init(&walk.old, old) ? push(&walk, "", 0, root, err)
                                                     : fail_no_memory(err);
    if (r == 0)
        r = run_walk(&walk, err);
    *out_spent = walk.spent;
    walk_done(&walk);
    return r;
}

int entries_walk_below(const struct entries_walk *how, size_t parent, const char *name,
                       struct scan_entries *records, coop_error **err)
{
    const struct scan_entry *record = &records->items[parent];
    const struct protect_place directory = { record->git_at, record->mode };
    struct walk walk;
    struct pending next = { .parent = (uint32_t)parent, .old = ENTRY_NONE };
    int r = 0;

    walk_init(&walk, how, records);
    walk.path_length = strlen(entries_path(records, parent));
    memcpy(walk.path, entries_path(records, parent), walk.path_length + 1);
    if (walk.path_length > DEEPEST)
        return 0; /* hidden as a whole */
    auto_close int fd = open_directory(&walk, walk.path);
    if (fd < 0) /* gone, or closed to us: then it is hidden as a whole */
        return 0;
    size_t length = name_path(&walk, name, strlen(name));
    if (protect_name_enters(how->protect, &directory, fd, walk.path, name, strlen(name),
                            &next.place) &&
        !protect_name_hides_directory(how->protect, &directory, walk.path)) {
        r = push(&walk, walk.path, length, next, err);
        if (r == 0)
            r = run_walk(&walk, err);
    }
    walk_done(&walk);
    return r;
}
