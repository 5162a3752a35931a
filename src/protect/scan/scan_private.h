/*
 * scan_private.h - one scan, between its files
 */
#pragma once

#include <limits.h>
#include <time.h>

#include "protect/scan/cache.h"
#include "protect/scan/entries.h"
#include "protect/scan/scan.h"

struct scan {
    int root_fd;
    struct protect *protect;
    const struct protect_scan_options *options;
    struct protect_scan *out;
    time_t now;
    size_t capacity, git_capacity;
    char *content; /* space to read files into; NULL until first needed */
    bool depends;  /* what was decided last depends on what is in a file */
    bool has_key, has_root;
    struct cache_key key; /* of what is remembered of the tree */
    struct scan_entries old;
    char root[PATH_MAX]; /* where it is on the host, once somebody has asked */
};

/* The rule for a .git itself: it must stay. */
extern const struct protect_rule scan_git_rule;
/* And for what a link to something hidden leads through. */
extern const struct protect_rule scan_way_rule;

/* protect/scan/found.c. Copies the paths. */
const char *scan_keep_text(struct scan *scan, const char *text);
int scan_add_found(struct scan *scan, const struct protect_found *found, coop_error **err);
int scan_add_git_directory(struct scan *scan, const char *path, coop_error **err);
/* The order of the tree. */
int scan_compare_paths(const char *left, const char *right);
/* Outer before inner, no path twice, and nothing inside what is hidden as a whole. */
void scan_put_in_order(struct protect_scan *scan);

/* protect/scan/way.c. The kernel's own name of the root: what links lead to is compared with it. */
const char *scan_root_path(struct scan *scan);
/* The link at `path`, found as `kind`, and all that it leads through. */
int scan_hold_way(struct scan *scan, const char *path, enum protect_found_kind kind,
                  coop_error **err);

/* protect/scan/examine.c: the names of one directory; then the gitfiles among what was found. */
int scan_examine_entry(struct scan *scan, const struct scan_entries *records, size_t i,
                       coop_error **err);
/* One name of a directory, by its path. */
int scan_examine_name(struct scan *scan, const struct scan_entry *record, const char *path,
                      coop_error **err);
int scan_examine_gitfiles(struct scan *scan, coop_error **err);
/* What the path leads to, if that is in the tree: its path there. */
int scan_follow(struct scan *scan, const char *path, char out[PATH_MAX], struct stat *st,
                bool *out_inside, coop_error **err);

/* protect_led.c: what the kept among it lead to. */
int scan_find_led(struct scan *scan, coop_error **err);
