/*
 * way.c - how a link comes to what is protected
 *
 * A rule is about the name of the link, and what it leads to is protected with it. Whoever breaks the
 * way, has a next box that knows of nothing to protect. So whatever lies on it stays where it is: the
 * links, also those in the place of directories, and the directories that a ".." leads out of. Those
 * that hold the end or a link cannot be moved anyway.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "protect/scan/scan_private.h"

#define LINKS_MAX 40 /* as many as the kernel follows */

const struct protect_rule scan_way_rule = {
    "a link to what is hidden", COOP_PROTECT_KEEP, 0, { NULL, 0, 0 }
};

struct way {
    struct scan *scan;
    size_t n_before;              /* what was found before it began */
    enum protect_found_kind kind; /* of the links */
    char at[PATH_MAX];            /* so far, relative to the root and without links; "": the root */
    char rest[2 * PATH_MAX];      /* still to go */
    int n_links;
};

const char *scan_root_path(struct scan *scan)
{
    char link[64];

    if (!scan->has_root) {
        (void)snprintf(link, sizeof link, "/proc/self/fd/%d", scan->root_fd);
        ssize_t n = readlink(link, scan->root, sizeof scan->root - 1);

        scan->root[n > 0 ? n : 0] = '\0';
        scan->has_root = true;
    }
    return scan->root;
}

static int hold(struct way *way, const char *path, enum protect_found_kind kind,
                const struct stat *st, coop_error **err)
{
    return scan_add_found(
        way->scan,
        &(struct protect_found){
            .kind = kind, .path = path, .named = path, .rule = &scan_way_rule, .st = *st },
        err);
}

/* Whether a part of the way lies in it: then it cannot be moved. */
static bool holds_part(const struct way *way, const char *directory)
{
    const struct protect_scan *out = way->scan->out;
    size_t n = strlen(directory);

    for (size_t i = way->n_before; i < out->n_found; i++)
        if (strncmp(out->found[i].path, directory, n) == 0 && out->found[i].path[n] == '/')
            return true;
    return false;
}

/* 1: goes on in the directory above. */
static int go_up(struct way *way, coop_error **err)
{
    struct stat st;
    char *slash = strrchr(way->at, '/');
    int r = 0;

    if (!*way->at || fstatat(way->scan->root_fd, way->at, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    if (!holds_part(way, way->at))
        r = hold(way, way->at, FOUND_KEPT_LINK, &st, err);
    *(slash ? slash : way->at) = '\0';
    return r < 0 ? r : 1;
}

/* 1: goes on where the link at `path` leads, if that is in the tree. */
static int go_through(struct way *way, const char *path)
{
    char text[PATH_MAX];
    char rest[sizeof way->rest];
    const char *root = scan_root_path(way->scan);
    size_t length = strlen(root);
    ssize_t n = readlinkat(way->scan->root_fd, path, text, sizeof text - 1);

    if (n <= 0 || ++way->n_links > LINKS_MAX)
        return 0;
    text[n] = '\0';
    bool is_absolute = text[0] == '/';
    if (is_absolute && (length == 0 || strncmp(text, root, length) != 0 || text[length] != '/'))
        return 0;
    if (is_absolute)
        way->at[0] = '\0';
    int size = snprintf(rest, sizeof rest, "%s/%s", text + (is_absolute ? length : 0), way->rest);
    if (size < 0 || (size_t)size >= sizeof rest)
        return 0;
    memcpy(way->rest, rest, (size_t)size + 1);
    return 1;
}

/* One name of the way; 1: it goes on, 0: this is its end, or nothing is there. */
static int go_on(struct way *way, coop_error **err)
{
    char path[2 * PATH_MAX];
    struct stat st;
    char *rest = way->rest + strspn(way->rest, "/");
    size_t n = strcspn(rest, "/");
    bool is_up = n == 2 && memcmp(rest, "..", 2) == 0;

    if (n == 0)
        return 0;
    int size = snprintf(path, sizeof path, "%s%s%.*s", way->at, *way->at ? "/" : "", (int)n, rest);
    memmove(way->rest, rest + n, strlen(rest + n) + 1);
    if (n == 1 && path[size - 1] == '.' && (size == 1 || path[size - 2] == '/'))
        return 1;
    if (is_up)
        return go_up(way, err);
    if ((size_t)size >= sizeof way->at ||
        fstatat(way->scan->root_fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    if (!S_ISLNK(st.st_mode)) {
        memcpy(way->at, path, (size_t)size + 1);
        return 1;
    }
    int r = hold(way, path, way->kind, &st, err);
    return r < 0 ? r : go_through(way, path);
}

int scan_hold_way(struct scan *scan, const char *path, enum protect_found_kind kind,
                  coop_error **err)
{
    struct way way = { .scan = scan, .n_before = scan->out->n_found, .kind = kind };
    int r = 1;

    if (strlen(path) >= PATH_MAX)
        return 0;
    memcpy(way.rest, path, strlen(path) + 1);
    while (r > 0)
        r = go_on(&way, err);
    return r;
}
