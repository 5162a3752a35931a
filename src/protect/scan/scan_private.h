/*
 * protect_scan_private.h - one scan, between its files
 */
#pragma once

#include <limits.h>
#include <time.h>

#include "plan/protect_records.h"
#include "plan/protect_scan.h"

struct scan {
    int root_fd;
    struct protect *protect;
    const struct protect_scan_options *options;
    struct protect_scan *out;
    time_t now;
    size_t capacity, git_capacity;
    char *content; /* space to read files into; NULL until first needed */
    bool depends;  /* what was decided last depends on what is in a file */
    bool has_root;
    char root[PATH_MAX]; /* where it is on the host, once somebody has asked */
};

/* The rule for a .git itself: it must stay. */
extern const struct protect_rule scan_git_rule;
/* And for what a link to something hidden leads through. */
extern const struct protect_rule scan_way_rule;

/* protect_found.c. Copies the paths. */
const char *scan_keep_text(struct scan *scan, const char *text);
int scan_add_found(struct scan *scan, const struct protect_found *found, coop_error **err);
int scan_add_git_directory(struct scan *scan, const char *path, coop_error **err);
/* The order of the tree. */
int scan_compare_paths(const char *left, const char *right);
/* Outer before inner, no path twice, and nothing inside what is hidden as a whole. */
void scan_put_in_order(struct protect_scan *scan);

/* protect_way.c. The kernel's own name of the root: what links lead to is compared with it. */
const char *scan_root_path(struct scan *scan);
/* The link at `path`, found as `kind`, and all that it leads through. */
int scan_hold_way(struct scan *scan, const char *path, enum protect_found_kind kind,
                  coop_error **err);

/* protect_examine.c: the names of one directory; then the gitfiles among what was found. */
int scan_examine_record(struct scan *scan, const struct scan_records *records, size_t i,
                        coop_error **err);
/* One name of a directory, by its path. */
int scan_examine_name(struct scan *scan, const struct scan_record *record, const char *path,
                      coop_error **err);
int scan_examine_gitfiles(struct scan *scan, coop_error **err);
