/*
 * scan.h - what there is to protect in a tree, at this moment
 *
 *   protect_scan() -> found, git directories ... -> protect_scan_done()
 *
 * Looks at a directory of the host and everything below it, other file systems that are mounted there
 * included, because they come along into the box. Changes nothing. A tree that is large is remembered
 * in a file, so that the next look costs one stat for each of its directories; only what the kernel
 * itself notes is believed (device, inode, change time), never what a box can set.
 *
 * What cannot be searched (no permission, a path longer than the kernel opens) is hidden as a whole.
 * Where a limit is reached, the scan fails: half a search protects nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "coop/error.h"
#include "policy/protect.h"
#include "protect/scan/entries.h"

enum protect_found_kind {
    FOUND_HIDE,          /* a file or a directory that nobody may read */
    FOUND_KEEP,          /* one that nobody may write */
    FOUND_GIT_CONFIG,    /* likewise, and its credentials are not for reading */
    FOUND_GIT_DIRECTORY, /* one that must not be moved away */
    FOUND_LINK,     /* to what is hidden: without it, the next box would know of no secret there */
    FOUND_KEPT_LINK /* a link whose name nobody may write */
};

struct protect_found {
    enum protect_found_kind kind;
    bool is_gitfile;   /* a file .git that says where the git directory is */
    bool is_nested;    /* belongs to a repository other than that of the tree itself */
    const char *path;  /* relative to the root of the scan */
    const char *named; /* the name that the rule is about: this, or one that leads here */
    const struct protect_rule *rule;
    struct stat st;
};

struct protect_scan_options {
    bool is_git_directory;       /* the root is one: nothing in it is hidden, hooks and such kept */
    bool is_beside;              /* not the workspace: what is blocked in that is not here */
    const char *cache_directory; /* absolute; NULL: remember nothing */
    size_t cache_from; /* directories; smaller trees are not remembered. 0: by what a walk costs */
    time_t now;        /* 0: what the clock says */
    /* Of those who watch while they look (protect/scan/entries.h). Nothing is remembered in a file. */
    const struct scan_entries *old; /* from the look before; may be NULL */
    int (*opened)(void *context, int fd, size_t record);
    void (*depends)(void *context, size_t record); /* on what is written into a file there */
    void *context;
};

struct protect_scan {
    struct protect_found *found; /* outer before inner, no path twice */
    size_t n_found;
    const char **git_directories; /* other than the root's own .git; "": the root itself is one */
    size_t n_git_directories;
    const char **absent; /* what is kept leads there: nobody makes it */
    size_t n_absent;
    bool is_work_tree; /* has a .git */
    bool ignores_case; /* names of different case are the same in some directory of it */
    size_t n_directories, n_read, n_verified;
    struct scan_entries records;
    struct protect_scan_text *texts; /* holds the paths */
};

#define PROTECT_FOUND_MAX 50000 /* half of what the kernel mounts in one namespace by default */

/* Borrows `protect` until protect_scan_done(). */
int protect_scan(int root_fd, struct protect *protect, const struct protect_scan_options *options,
                 struct protect_scan *out, coop_error **err);
void protect_scan_done(struct protect_scan *scan);
