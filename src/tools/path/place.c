/*
 * place.c - from a path to a descriptor
 *
 * Most paths hold no link and no "..": one openat2() of all of it. Where that meets a link, the path
 * is walked name by name. Each name is opened beneath its mount without following anything; if it is a
 * link, its text takes its place and the walk goes on, in the view again. So ".." behind a link is what
 * it is to the kernel, and a link that leads out of the view leads to a place that is not there.
 */
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "plan/workspace_check.h"
#include "policy/path/path.h"
#include "supervise/denial/denial_host.h"
#include "tools/path/private.h"

#define MAX_LINKS 40
#define TRIES     100 /* while somebody exchanges names under our feet */

/* ---- life */

int places_new(const struct places_options *options, struct places **out, coop_error **err)
{
    struct places *places = calloc(1, sizeof *places);

    if (!places)
        return fail_no_memory(err);
    places->policy = options->policy;
    places->on_host = options->on_host;
    places->takes_own_path = options->takes_own_path;
    int r = -pthread_mutex_init(&places->lock, NULL);
    places->has_lock = r == 0;
    if (r < 0)
        r = fail(err, -r, "make a lock");
    if (r == 0)
        r = place_roots_open(places, options, err);
    if (r == 0 && !places->on_host)
        r = protect_new(places->policy, &places->rules, err);
    if (r == 0 && places->rules)
        r = protect_take_blocks(places->rules, places->policy, places->view, err);
    if (r < 0) {
        places_free(places);
        return r;
    }
    *out = places;
    return 0;
}

void places_free(struct places *places)
{
    if (!places)
        return;
    for (size_t i = 0; i < places->n_trees; i++)
        place_search_free(places->trees[i].search);
    protect_free(places->rules);
    place_roots_done(places);
    if (places->has_lock)
        (void)pthread_mutex_destroy(&places->lock);
    free(places);
}

void place_done(struct place *place)
{
    int saved = errno;

    close_fd(&place->fd);
    free(place->path);
    *place = (struct place){ .fd = -1, .root_fd = -1 };
    errno = saved;
}

/* ---- walking */

struct walk {
    struct places *places;
    enum place_use use;
    const char *asked;
    bool has_slash;     /* at its end: a directory is meant */
    struct buffer done; /* without links; "" is "/" */
    struct buffer rest;
    unsigned n_links;
    struct place *out;
};

static bool follows(const struct walk *walk)
{
    return walk->use == PLACE_READ || walk->use == PLACE_CHANGE || walk->has_slash;
}

static bool may_be_absent(const struct walk *walk)
{
    return walk->use == PLACE_CHANGE || walk->use == PLACE_NAME;
}

/* Where a link led elsewhere, both names are told. */
static int fail_at(const struct walk *walk, int r, const char *path, coop_error **err)
{
    if (walk->n_links > 0 && strcmp(path, walk->asked) != 0)
        return fail_within(err, r, "'%s' leads elsewhere", walk->asked);
    return r;
}

/* Then it is the box's view that lacks it, and whoever asked may mean the host's. */
static bool host_has(const struct walk *walk, const char *path)
{
    struct denial_host host = { .policy = walk->places->policy };
    bool has = denial_host_permits(&host, DENIAL_READ, path, false, false);

    denial_host_done(&host);
    return has;
}

static int absent(const struct walk *walk, const struct place_root *root, const char *path,
                  bool is_last, coop_error **err)
{
    int r;

    if (may_be_absent(walk) && !is_last)
        r = place_fail(err, ENOENT, path, "does not exist: create the directory first");
    else if (root == &walk->places->tmp && host_has(walk, path))
        r = place_fail(
            err, ENOENT, path,
            "does not exist: the sandbox has its own '/tmp' and does not show the host's");
    else
        r = place_fail(err, ENOENT, path, "does not exist");

    return fail_at(walk, r, path, err);
}

static int system_failure(const struct walk *walk, int errnum, const char *path, coop_error **err)
{
    int r;

    if (errnum == ENOSYS)
        r = fail_kind(err, COOP_ERROR_NOT_AVAILABLE, ENOSYS,
                      "file tools need openat2(), which Linux has since 5.6");
    else if (errnum == ENOTDIR)
        r = place_fail(err, ENOTDIR, path, "goes through something that is not a directory");
    else if (errnum == EACCES || errnum == EPERM)
        r = place_fail(err, EACCES, path, "may not be opened by the user these tools run as");
    else
        r = place_fail(err, errnum, path, "cannot be opened: %s", strerror(errnum));
    return fail_at(walk, r, path, err);
}

/* The end of the walk: `path` is the place, `fd` (taken) what is there. */
static int arrive(struct walk *walk, const char *path, const struct place_root *root, size_t below,
                  int fd, coop_error **err)
{
    struct place *out = walk->out;
    int r = 0;

    out->places = walk->places;
    out->use = walk->use;
    out->root = root;
    out->root_fd = root->fd;
    out->is_writable = root->is_writable;
    out->fd = fd;
    out->exists = fd >= 0;
    out->path = strdup(path);
    if (!out->path)
        return fail_no_memory(err);
    out->below = out->path + below;
    if (fd >= 0 && fstat(fd, &out->st) < 0)
        return system_failure(walk, errno, path, err);
    if (walk->has_slash && fd >= 0 && !S_ISDIR(out->st.st_mode))
        return place_fail(err, ENOTDIR, path, "is not a directory");
    bool is_change = walk->use == PLACE_CHANGE || walk->use == PLACE_NAME;
    if (is_change && !root->is_writable)
        r = root == &walk->places->tools
                ? place_fail(err, EACCES, path,
                             "belongs to the host's programs and settings, which are read-only: "
                             "write in '%s'",
                             walk->places->view)
                : place_fail(err, EACCES, path,
                             "is in a read-only part of the view: write elsewhere in '%s'",
                             walk->places->view);
    if (r == 0)
        r = place_judge(out, err);
    return r < 0 ? fail_at(walk, r, path, err) : 0;
}

/* ---- one name of the way */

/* Takes the next name off the rest; false: there is none. */
static bool next_name(struct walk *walk, char name[NAME_MAX + 2], bool *is_last)
{
    char *p = walk->rest.data;
    size_t skip = p ? strspn(p, "/") : 0;

    if (!p || !p[skip])
        return false;
    size_t n = strcspn(p + skip, "/");
    size_t copied =
        n <= NAME_MAX ? n : NAME_MAX + 1; /* too long for any file system: it will say so */
    memcpy(name, p + skip, copied);
    name[copied] = '\0';
    walk->rest.length -= skip + n;
    memmove(p, p + skip + n, walk->rest.length + 1);
    *is_last = walk->rest.data[strspn(walk->rest.data, "/")] == '\0';
    return true;
}

static void go_up(struct buffer *done)
{
    while (done->length > 0 && done->data[--done->length] != '/')
        ;
    if (done->data)
        done->data[done->length] = '\0';
}

/* The text of a link takes its place: what is left of the way goes on behind it. */
static int go_on_at(struct walk *walk, const char *text, size_t n, coop_error **err)
{
    auto_buffer struct buffer rest = { 0 };

    if (walk->n_links++ == MAX_LINKS)
        return place_fail(err, ELOOP, walk->asked, "goes through more than %d links", MAX_LINKS);
    if (walk->rest.length + n > 4 * PATH_MAX)
        return place_fail(err, ENAMETOOLONG, walk->asked,
                          "becomes too long when its links are followed");
    buffer_append(&rest, text, n);
    buffer_append_char(&rest, '/');
    if (walk->rest.length > 0)
        buffer_append(&rest, walk->rest.data, walk->rest.length);
    if (rest.failed)
        return fail_no_memory(err);
    if (*text == '/')
        walk->done.length = 0;
    buffer_done(&walk->rest);
    walk->rest = rest;
    rest = (struct buffer){ 0 };
    return 0;
}

static int follow(struct walk *walk, int fd, coop_error **err)
{
    char text[PATH_MAX];
    ssize_t n = readlinkat(fd, "", text, sizeof text - 1);

    if (n <= 0)
        return fail(err, n < 0 ? errno : ENOENT, "read the link on the way to '%s'", walk->asked);
    text[n] = '\0';
    return go_on_at(walk, text, (size_t)n, err);
}

#define WALK_ON 1

/* What stands at `path`, which is `done` and one name more. WALK_ON, 0 (arrived), -errno; -EAGAIN:
 * the way is not any more what it was. */
static int step(struct walk *walk, const char *path, bool is_last, coop_error **err)
{
    const char *below = NULL;
    const struct place_root *root = place_roots_find(walk->places, path, &below);
    const char *link = place_roots_link(walk->places, path);
    struct stat st;

    if (link && (!is_last || follows(walk))) {
        walk->done.length = 0;
        int r = go_on_at(walk, link, strlen(link), err);

        return r < 0 ? r : WALK_ON;
    }
    /* What a mount stands on, such as /tmp above a workspace that is seen at its own path. */
    if (!root && !is_last &&
        (place_roots_is_nothing(walk->places, path) || place_roots_holds(walk->places, path))) {
        walk->done.length = 0;
        buffer_append_string(&walk->done, path);
        return walk->done.failed ? fail_no_memory(err) : WALK_ON;
    }
    if (!root)
        return fail_at(walk, place_roots_refuse(walk->places, path, err), path, err);
    auto_close int fd = place_roots_open_at(root, below, O_PATH, 0);
    if (fd == -ENOENT && is_last && may_be_absent(walk))
        return arrive(walk, path, root, (size_t)(below - path), -1, err);
    if (fd == -ENOENT)
        return absent(walk, root, path, is_last, err);
    if (fd == -ELOOP || fd == -EAGAIN)
        return -EAGAIN;
    if (fd < 0 || fstat(fd, &st) < 0)
        return system_failure(walk, fd < 0 ? -fd : errno, path, err);
    bool is_link = S_ISLNK(st.st_mode);
    if (is_last && !(is_link && follows(walk)))
        return arrive(walk, path, root, (size_t)(below - path), take_fd(&fd), err);
    /* Rules are about what a link leads to, and on the way that is a directory or nothing. */
    bool is_directory = S_ISDIR(st.st_mode) || (is_link && !is_last);
    int r = place_judge_way(walk->places, root, path, below, is_directory, err);
    if (r < 0)
        return fail_at(walk, r, path, err);
    if (is_link)
        r = follow(walk, fd, err);
    else if (!S_ISDIR(st.st_mode))
        r = place_fail(err, ENOTDIR, path, "is not a directory");
    if (r < 0 || is_link)
        return r < 0 ? r : WALK_ON;
    walk->done.length = 0;
    buffer_append_string(&walk->done, path);
    return walk->done.failed ? fail_no_memory(err) : WALK_ON;
}

/* The way ended in a directory that was passed already: "a/..", "a/.", "/". */
static int arrive_at_directory(struct walk *walk, coop_error **err)
{
    const char *path = walk->done.length > 0 ? walk->done.data : "/";
    const char *below = NULL;
    const struct place_root *root = place_roots_find(walk->places, path, &below);

    if (!root)
        return fail_at(walk, place_roots_refuse(walk->places, path, err), path, err);
    int fd = place_roots_open_at(root, below, O_PATH, 0);
    if (fd == -ELOOP || fd == -EAGAIN)
        return -EAGAIN;
    if (fd < 0)
        return fd == -ENOENT ? absent(walk, root, path, true, err)
                             : system_failure(walk, -fd, path, err);
    return arrive(walk, path, root, (size_t)(below - path), fd, err);
}

static int walk_all(struct walk *walk, const char *path, coop_error **err)
{
    char name[NAME_MAX + 2];
    bool is_last = false;
    int r = WALK_ON;

    walk->done.length = walk->rest.length = 0;
    walk->n_links = 0;
    buffer_append_string(&walk->rest, path);
    buffer_append_string(&walk->done, "");
    while (r == WALK_ON) {
        auto_buffer struct buffer next = { 0 };

        if (walk->rest.failed || walk->done.failed)
            return fail_no_memory(err);
        if (!next_name(walk, name, &is_last))
            return arrive_at_directory(walk, err);
        if (strcmp(name, ".") == 0)
            continue;
        if (strcmp(name, "..") == 0) {
            go_up(&walk->done);
            continue;
        }
        if (walk->done.length > 0)
            buffer_append(&next, walk->done.data, walk->done.length);
        buffer_append_char(&next, '/');
        buffer_append_string(&next, name);
        r = next.failed ? fail_no_memory(err) : step(walk, next.data, is_last, err);
    }
    return r;
}

/* ---- the straight way */

/* All of it at once, where it holds neither ".." nor links. -EAGAIN: it must be walked. */
static int try_straight(struct walk *walk, const char *path, coop_error **err)
{
    const char *below = NULL;
    const struct place_root *root = place_roots_find(walk->places, path, &below);
    struct stat st;

    if (!root || (walk->places->link && path_is_within(path, walk->places->link)))
        return -EAGAIN;
    auto_close int fd = place_roots_open_at(root, below, O_PATH, 0);
    if (fd < 0 || fstat(fd, &st) < 0 || (S_ISLNK(st.st_mode) && follows(walk)))
        return -EAGAIN;
    return arrive(walk, path, root, (size_t)(below - path), take_fd(&fd), err);
}

static bool has_dots(const char *path)
{
    for (const char *p = path; (p = strstr(p, "..")); p += 2)
        if ((p == path || p[-1] == '/') && (p[2] == '/' || !p[2]))
            return true;
    return false;
}

/* From the directory of relative paths, slashes and dots folded as far as text tells. */
static char *whole_path(const struct places *places, const char *path)
{
    auto_buffer struct buffer whole = { 0 };

    if (*path != '/')
        buffer_append_string(&whole, places->directory);
    for (const char *p = path; *p;) {
        size_t n = strcspn(p, "/");

        if (n > 0 && !(n == 1 && *p == '.')) {
            if (whole.length == 0 || whole.data[whole.length - 1] != '/')
                buffer_append_char(&whole, '/');
            buffer_append(&whole, p, n);
        }
        p += n + (p[n] == '/');
    }
    if (whole.length == 0)
        buffer_append_char(&whole, '/');
    return buffer_take_string(&whole);
}

/* People and their tools name files as the host has them. Where the view has something of that name the
 * path means that. */
static char *from_own_path(const struct places *places, char *whole)
{
    const char *host = places->workspace.host;

    if (!whole || places->on_host || !places->takes_own_path || places->policy->root ||
        strcmp(host, places->view) == 0 || !path_is_within(whole, host))
        return whole;
    enum view_what what = view_find(places->index, whole).what;
    if (what != VIEW_NOTHING && what != VIEW_IS_OWN)
        return whole;
    const char *below = whole + strlen(host);
    char *mapped = *below ? path_join(places->view, below + 1) : strdup(places->view);
    free(whole);
    return mapped;
}

char *places_path(const struct places *places, const char *path)
{
    return from_own_path(places, whole_path(places, path));
}

static bool ends_as_directory(const char *path)
{
    size_t n = strlen(path);

    return n > 0 && (path[n - 1] == '/' || (path[n - 1] == '.' && (n == 1 || path[n - 2] == '/')));
}

int place_find(struct places *places, const char *path, enum place_use use, struct place *out,
               coop_error **err)
{
    *out = (struct place){ .fd = -1, .root_fd = -1 };
    if (!*path)
        return fail_kind(err, COOP_ERROR_SYSTEM, ENOENT, "the path is empty");
    auto_free char *whole = places_path(places, path);
    if (!whole)
        return fail_no_memory(err);
    if (strlen(whole) >= PATH_MAX)
        return place_fail(err, ENAMETOOLONG, "the path", "is longer than %d bytes", PATH_MAX - 1);
    /* A name of the box's own may have come into a root since: then no command is run either. */
    if (!places->on_host && places->policy->root) {
        int checked =
            workspace_check(places->policy, places->workspace.fd, places->workspace.host, err);

        if (checked < 0)
            return checked;
    }
    struct walk walk = { .places = places,
                         .use = use,
                         .asked = whole,
                         .has_slash = ends_as_directory(path),
                         .out = out };
    int r = has_dots(whole) ? -EAGAIN : try_straight(&walk, whole, err);
    for (int i = 0; r == -EAGAIN && i < TRIES; i++) {
        place_done(out);
        r = walk_all(&walk, whole, err);
    }
    if (r == -EAGAIN)
        r = place_fail(err, EBUSY, path, "keeps changing: try again");
    buffer_done(&walk.done);
    buffer_done(&walk.rest);
    if (r < 0)
        place_done(out);
    return r;
}
