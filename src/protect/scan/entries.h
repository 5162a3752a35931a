/*
 * entries.h - the directories of a tree, and the names in them that a rule may be about
 *
 * The form in memory is the form in the file (protect/scan/cache.h), texts apart from the rest. Whether a
 * name is really there and what it is, is asked each time: a directory's change time says nothing
 * about its files.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "base/buffer.h"
#include "coop/error.h"
#include "policy/protect.h"

#define ENTRY_NONE UINT32_MAX

enum entry_mode {
    ENTRY_PLAIN,
    ENTRY_DEPENDENCIES, /* other people's files: only rules that somebody wrote */
    ENTRY_GIT,          /* a git directory, or below one */
    ENTRY_BARE,         /* likewise, known by what is in it: a box can make one around anything, so
                          * what is hidden elsewhere is hidden in it too */
};

#define ENTRY_UNSEARCHABLE 1u /* it cannot be read, or what is in it cannot be named */
#define ENTRY_PSEUDO       2u /* a file system that holds no files, such as /proc */
#define ENTRY_IGNORES_CASE 4u /* names of different case are the same in it */

struct scan_entry {
    uint64_t dev, ino;
    int64_t ctime_sec; /* 0: not to be believed, always read again */
    uint32_t ctime_nsec;
    uint32_t parent;
    uint32_t path;  /* offset in the texts */
    uint32_t names; /* offset of the first name; the others follow, each with its NUL */
    uint32_t n_names;
    uint16_t git_at; /* ENTRY_GIT, ENTRY_BARE: where the path in the git directory begins */
    uint8_t mode;
    uint8_t flags;
};

struct scan_entries {
    struct scan_entry *items; /* a directory after its parent */
    size_t n, capacity;
    struct buffer text;
};

static inline bool entry_is_in_git(unsigned mode)
{
    return mode == ENTRY_GIT || mode == ENTRY_BARE;
}

static inline bool entry_hides_all(unsigned mode)
{
    return mode == ENTRY_PLAIN || mode == ENTRY_BARE;
}

static inline const char *entries_path(const struct scan_entries *records, size_t i)
{
    return records->text.data + records->items[i].path;
}

void scan_entries_done(struct scan_entries *records);

/* ---- protect/scan/walk.c */

#define SCAN_ENTRIES_MAX 8000000u

struct entries_walk {
    int root_fd;
    struct protect *protect;
    bool is_git_directory;
    bool is_beside; /* as in struct protect_scan_options */
    time_t now;     /* change times from shortly before are not believed */
    /*
     * May be NULL: called with a descriptor of each directory before it is read, and with the number
     * that its record will have; 0 or -errno. Then `verified` is not asked: what is as the old
     * records say is not read again.
     */
    int (*opened)(void *context, int fd, size_t record);
    /* May be NULL: called once, when so much is spent; false ends the walk. */
    bool (*goes_on)(void *context);
    size_t asks_at;
    void *context;
};

/* What a walk has done. Reading a directory costs about as much as ENTRIES_COST names in one. */
struct entries_spent {
    size_t n_read; /* directories */
    size_t cost;
};
#define ENTRIES_COST 8u

/*
 * Reads the tree. Of `old`, those that are `verified` (an array of their number) are
 * taken over unread; both may be NULL. `out` is empty before. 1 if it was not to go on: then not
 * all were read.
 */
int entries_walk(const struct entries_walk *how, const struct scan_entries *old,
                 const bool *verified, struct scan_entries *out, struct entries_spent *out_spent,
                 coop_error **err);

/*
 * A directory `name` has come into the one of record `parent`: it and what is below are appended to
 * the records, if there is anything to look for.
 */
int entries_walk_below(const struct entries_walk *how, size_t parent, const char *name,
                       struct scan_entries *records, coop_error **err);

/* ---- protect/scan/old.c */

struct old_entries {
    const struct scan_entries *records;   /* NULL: there are none */
    uint32_t *first_child, *next_sibling; /* by record; ENTRY_NONE ends */
    uint32_t *by_path;                    /* a hash table */
    size_t by_path_mask;
};

/* Borrows the records. False: without memory; then, too, old_entries_done() is to be called. */
bool old_entries_init(struct old_entries *old, const struct scan_entries *records);
void old_entries_done(struct old_entries *old);
/* ENTRY_NONE: there is none. */
uint32_t old_entries_find(const struct old_entries *old, const char *path);

/* ---- protect/scan/verify.c */

/* Whether the directory is what the record says. */
bool entry_is_current(const struct scan_entry *record, const struct stat *st);

/* Asks the kernel whether each directory is as it was. True if all are. */
bool entries_verify(int root_fd, const struct scan_entries *records, bool *out_verified);
