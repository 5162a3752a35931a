/*
 * protect_records.h - the directories of a tree, and the names in them that a rule may be about
 *
 * The form in memory is the form in the file (protect_cache.h), texts apart from the rest. Whether a
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

#define RECORD_NONE UINT32_MAX

enum record_mode {
    RECORD_PLAIN,
    RECORD_DEPENDENCIES, /* other people's files: only rules that somebody wrote */
    RECORD_GIT,          /* a git directory, or below one */
    RECORD_BARE,         /* likewise, known by what is in it: a box can make one around anything, so
                          * what is hidden elsewhere is hidden in it too */
};

#define RECORD_UNSEARCHABLE 1u /* it cannot be read, or what is in it cannot be named */
#define RECORD_PSEUDO       2u /* a file system that holds no files, such as /proc */
#define RECORD_IGNORES_CASE 4u /* names of different case are the same in it */

struct scan_record {
    uint64_t dev, ino;
    int64_t ctime_sec; /* 0: not to be believed, always read again */
    uint32_t ctime_nsec;
    uint32_t parent;
    uint32_t path;  /* offset in the texts */
    uint32_t names; /* offset of the first name; the others follow, each with its NUL */
    uint32_t n_names;
    uint16_t git_at; /* RECORD_GIT, RECORD_BARE: where the path in the git directory begins */
    uint8_t mode;
    uint8_t flags;
};

struct scan_records {
    struct scan_record *items; /* a directory after its parent */
    size_t n, capacity;
    struct buffer text;
};

static inline bool record_is_in_git(unsigned mode)
{
    return mode == RECORD_GIT || mode == RECORD_BARE;
}

static inline bool record_hides_all(unsigned mode)
{
    return mode == RECORD_PLAIN || mode == RECORD_BARE;
}

static inline const char *records_path(const struct scan_records *records, size_t i)
{
    return records->text.data + records->items[i].path;
}

void scan_records_done(struct scan_records *records);

/* ---- protect_walk.c */

#define SCAN_RECORDS_MAX 8000000u

struct records_walk {
    int root_fd;
    struct protect *protect;
    bool is_git_directory;
    time_t now; /* change times from shortly before are not believed */
    /*
     * May be NULL: called with a descriptor of each directory before it is read, and with the number
     * that its record will have; 0 or -errno. Then `verified` is not asked: what is as the old
     * records say is not read again.
     */
    int (*opened)(void *context, int fd, size_t record);
    void *context;
};

/*
 * Reads the tree. Of `old`, those that are `verified` (an array of their number) are
 * taken over unread; both may be NULL. `out` is empty before. 1 if there are more than `most`
 * directories: then not all were read.
 */
int records_walk(const struct records_walk *how, size_t most, const struct scan_records *old,
                 const bool *verified, struct scan_records *out, size_t *out_read,
                 coop_error **err);

/*
 * A directory `name` has come into the one of record `parent`: it and what is below are appended to
 * the records, if there is anything to look for.
 */
int records_walk_below(const struct records_walk *how, size_t parent, const char *name,
                       struct scan_records *records, coop_error **err);

/* ---- protect_old.c */

struct old_records {
    const struct scan_records *records;   /* NULL: there are none */
    uint32_t *first_child, *next_sibling; /* by record; RECORD_NONE ends */
    uint32_t *by_path;                    /* a hash table */
    size_t by_path_mask;
};

/* Borrows the records. False: without memory; then, too, old_records_done() is to be called. */
bool old_records_init(struct old_records *old, const struct scan_records *records);
void old_records_done(struct old_records *old);
/* RECORD_NONE: there is none. */
uint32_t old_records_find(const struct old_records *old, const char *path);

/* ---- protect_verify.c */

/* Whether the directory is what the record says. */
bool record_is_current(const struct scan_record *record, const struct stat *st);

/* Asks the kernel whether each directory is as it was. True if all are. */
bool records_verify(int root_fd, const struct scan_records *records, bool *out_verified);
