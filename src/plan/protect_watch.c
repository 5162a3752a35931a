#include "protect_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/fd.h"
#include "plan/protect_private.h"
#include "protect/scan/scan_private.h"

#define NEW_NAMES  (IN_CREATE | IN_MOVED_TO | IN_ONLYDIR | IN_EXCL_UNLINK)
#define WRITTEN    IN_CLOSE_WRITE /* only where it matters: every file that is written would tell */
#define READ_SIZE  65536
#define MAX_ROUNDS 200    /* of looking before a box is made */
#define GROWTH     100000 /* directories that have come; then they are counted anew */

enum { WORKSPACE, GIT, N_TREES };

/* A tree, as it was when the box was made and as it is. */
struct tree {
    int root_fd; /* -1: there is none */
    bool is_git_directory;
    struct protect_scan first; /* what masks lie on since the start */
    struct protect_scan now;   /* its records are those that watches are numbered by */
    struct protect_scan *scan; /* where what is found is added: one of them */
    size_t n_told;             /* of what was found later */
    size_t n_started;          /* directories at the start */
    size_t *linked;            /* of `first`: what was found by the name of a link to it */
    size_t n_linked;
};

struct watched {
    uint32_t record; /* ENTRY_NONE: nothing */
    uint32_t tree;
};

struct place_copy {
    char *target, *below;
    uint32_t tree;
};

struct protect_watch {
    struct protect *rules;
    bool owns; /* rules, trees and places are its own; else the plan's, which is being made */
    struct tree trees[N_TREES];
    uint32_t current; /* the tree that is walked */
    struct place_copy *places;
    size_t n_places;
    int fd;                  /* inotify */
    struct watched *watched; /* by the kernel's number */
    size_t n_watched;
    bool is_started, has_overflowed;
    coop_error *trouble; /* in a call that cannot tell */
};

/* ---- life */

static struct protect_watch *watch_new(void)
{
    struct protect_watch *watch = calloc(1, sizeof *watch);

    if (!watch)
        return NULL;
    watch->fd = -1;
    for (size_t i = 0; i < N_TREES; i++) {
        watch->trees[i].root_fd = -1;
        watch->trees[i].scan = &watch->trees[i].now;
    }
    return watch;
}

void protect_watch_free(struct protect_watch *watch)
{
    if (!watch)
        return;
    for (size_t i = 0; i < N_TREES; i++) {
        if (watch->owns)
            close_fd(&watch->trees[i].root_fd);
        protect_scan_done(&watch->trees[i].first);
        protect_scan_done(&watch->trees[i].now);
        free(watch->trees[i].linked);
    }
    for (size_t i = 0; i < watch->n_places; i++)
        free(watch->places[i].target), free(watch->places[i].below);
    free(watch->places);
    if (watch->owns)
        protect_free(watch->rules);
    close_fd(&watch->fd);
    free(watch->watched);
    coop_error_free(watch->trouble);
    free(watch);
}

static bool copy_places(struct protect_watch *watch, const struct plan_protected *protected)
{
    watch->places = calloc(protected->n_places, sizeof *watch->places);
    for (size_t i = 0; watch->places && i < protected->n_places; i++) {
        const struct shown_tree *from = &protected->places[i];

        if (from->is_beside) /* what appears there during the run is not noticed */
            continue;
        struct place_copy *to = &watch->places[watch->n_places++];
        to->target = strdup(from->target);
        to->below = strdup(from->below);
        to->tree = from->scan == &protected->git ? GIT : WORKSPACE;
        if (!to->target || !to->below)
            return false;
    }
    return watch->places != NULL;
}

static bool take_tree(struct tree *tree, int fd, bool is_git_directory, struct protect_scan *scan)
{
    tree->is_git_directory = is_git_directory;
    tree->first = *scan;
    *scan = (struct protect_scan){ 0 };
    tree->scan = &tree->now;
    tree->root_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (tree->root_fd < 0)
        return false;
    fd_settle(&tree->root_fd);
    for (size_t i = 0; i < tree->first.n_found; i++) {
        if (tree->first.found[i].path == tree->first.found[i].named)
            continue;
        if (!tree->linked)
            tree->linked = calloc(tree->first.n_found, sizeof *tree->linked);
        if (!tree->linked)
            return false;
        tree->linked[tree->n_linked++] = i;
    }
    return true;
}

struct protect_watch *protect_watch_take(struct plan *plan)
{
    struct plan_protected *protected = plan->protected;

    if (!protected || protected->n_places == 0)
        return NULL;
    struct protect_watch *watch = watch_new();
    bool is_whole = watch && copy_places(watch, protected);
    if (is_whole) {
        watch->owns = true;
        watch->rules = take_ptr(protected->rules);
        is_whole =
            take_tree(&watch->trees[WORKSPACE], plan->workspace_fd, false, &protected->workspace) &&
            (!plan->git.target ||
             take_tree(&watch->trees[GIT], plan->git.fd, true, &protected->git));
    }
    if (!is_whole) {
        protect_watch_free(watch);
        plan->failed = true;
        return NULL;
    }
    return watch;
}

size_t protect_watch_n_directories(const struct protect_watch *watch)
{
    return watch->trees[WORKSPACE].first.n_directories + watch->trees[GIT].first.n_directories;
}

bool protect_watch_is_started(const struct protect_watch *watch)
{
    return watch->is_started;
}

int protect_watch_fd(const struct protect_watch *watch)
{
    return watch->fd;
}

/* ---- directories */

static int remember(struct protect_watch *watch, int number, size_t record)
{
    size_t n = (size_t)number;

    if (n >= watch->n_watched) {
        size_t wanted = n < 512 ? 1024 : 2 * n;
        struct watched *more = reallocarray(watch->watched, wanted, sizeof *more);

        if (!more)
            return -ENOMEM;
        for (size_t i = watch->n_watched; i < wanted; i++)
            more[i].record = ENTRY_NONE;
        watch->watched = more;
        watch->n_watched = wanted;
    }
    watch->watched[n] = (struct watched){ (uint32_t)record, watch->current };
    return 0;
}

static int add(const struct protect_watch *watch, int fd, uint32_t events)
{
    char path[64];

    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int number = inotify_add_watch(watch->fd, path, events);
    return number < 0 ? -errno : number;
}

/* Before it is read: what comes afterwards, the kernel tells. */
static int opened(void *context, int fd, size_t record)
{
    struct protect_watch *watch = context;
    int number = add(watch, fd, NEW_NAMES);

    return number < 0 ? number : remember(watch, number, record);
}

/* Something in it is judged by what it holds: that may be written after its name has come. */
static void depends(void *context, size_t record)
{
    struct protect_watch *watch = context;
    const struct tree *tree = &watch->trees[watch->current];
    const char *path = entries_path(&tree->scan->records, record);
    auto_close int fd = openat(tree->root_fd, *path ? path : ".",
                               O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd >= 0 && add(watch, fd, NEW_NAMES | WRITTEN | IN_MASK_ADD) < 0 && !watch->trouble)
        (void)fail(&watch->trouble, errno, "watch the directory '%s' of the workspace", path);
}

static struct protect_scan_options options_of(struct protect_watch *watch, const struct tree *tree,
                                              const struct scan_entries *old)
{
    return (struct protect_scan_options){
        .is_git_directory = tree->is_git_directory,
        .old = old,
        .opened = opened,
        .depends = depends,
        .context = watch,
    };
}

int protect_watch_open(struct protect_watch *watch, coop_error **err)
{
    if (watch->fd >= 0)
        return 0;
    watch->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (watch->fd < 0)
        return fail(err, errno, "watch the workspace");
    fd_settle(&watch->fd);
    return 0;
}

static int look_at_tree(struct protect_watch *watch, uint32_t i, const struct scan_entries *old,
                        struct protect_scan *out, coop_error **err)
{
    struct tree *tree = &watch->trees[i];
    const struct protect_scan_options options = options_of(watch, tree, old);

    watch->current = i;
    tree->scan = out;
    int r = protect_scan(tree->root_fd, watch->rules, &options, out, err);
    tree->n_started = out->records.n;
    if (r == 0 && watch->trouble) {
        r = -EIO;
        if (err)
            *err = take_ptr(watch->trouble);
    }
    return r;
}

int protect_watch_start(struct protect_watch *watch, coop_error **err)
{
    int r = protect_watch_open(watch, err);

    for (uint32_t i = 0; r == 0 && i < N_TREES; i++) {
        struct tree *tree = &watch->trees[i];
        struct protect_scan now = { 0 };

        if (tree->root_fd < 0)
            continue;
        r = look_at_tree(watch, i, watch->is_started ? &tree->now.records : &tree->first.records,
                         &now, err);
        protect_scan_done(&tree->now);
        tree->now = now;
        tree->scan = &tree->now;
        tree->n_told = 0;
    }
    watch->is_started |= r == 0;
    return r;
}

/* ---- events */

static int walk_new(struct protect_watch *watch, struct tree *tree, struct scan *scan,
                    size_t parent, const char *name, coop_error **err)
{
    struct scan_entries *records = &tree->scan->records;
    const struct entries_walk how = {
        .root_fd = tree->root_fd,
        .protect = watch->rules,
        .is_git_directory = tree->is_git_directory,
        .now = scan->now,
        .opened = opened,
        .context = watch,
    };
    size_t from = records->n;
    int r = entries_walk_below(&how, parent, name, records, err);

    for (size_t i = from; r == 0 && i < records->n; i++) {
        scan->depends = false;
        r = scan_examine_entry(scan, records, i, err);
        if (scan->depends)
            depends(watch, i);
    }
    return r;
}

/* What a link led to has been replaced: the link is asked again. */
static int look_at_target(struct tree *tree, struct scan *scan, const struct scan_entry *record,
                          const char *path, coop_error **err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < tree->n_linked; i++) {
        const struct protect_found *found = &tree->first.found[tree->linked[i]];

        if (strcmp(found->path, path) == 0)
            r = scan_examine_name(scan, record, found->named, err);
    }
    return r;
}

static int look_at_name(struct protect_watch *watch, struct tree *tree, size_t record,
                        const struct inotify_event *event, coop_error **err)
{
    const struct scan_entries *records = &tree->scan->records;
    const char *directory = entries_path(records, record);
    size_t length = strlen(event->name);
    char path[PATH_MAX + NAME_MAX + 2];
    const struct protect_scan_options options = options_of(watch, tree, NULL);
    struct scan scan; /* large: what is not set here is set before it is read */
    int r = 0;

    memset(&scan, 0, offsetof(struct scan, root));
    scan.root_fd = tree->root_fd;
    scan.protect = watch->rules;
    scan.options = &options;
    scan.out = tree->scan;
    scan.now = time(NULL);
    scan.capacity = tree->scan->n_found;
    scan.git_capacity = tree->scan->n_git_directories;
    (void)snprintf(path, sizeof path, "%s%s%s", directory, *directory ? "/" : "", event->name);
    bool concerns = protect_concerns_name(watch->rules, event->name, length) ||
                    protect_looks_at_modes(watch->rules, path, false);
    if (concerns)
        r = scan_examine_name(&scan, &records->items[record], path, err);
    if (r == 0 && scan.depends)
        depends(watch, record);
    if (r == 0)
        r = look_at_target(tree, &scan, &records->items[record], path, err);
    if (r == 0 && event->mask & IN_ISDIR)
        r = walk_new(watch, tree, &scan, record, event->name, err);
    if (r == 0 && concerns && scan.depends && !(event->mask & (IN_CLOSE_WRITE | IN_ISDIR)))
        r = scan_examine_name(&scan, &tree->scan->records.items[record], path, err);
    free(scan.content);
    return r;
}

static int take_event(struct protect_watch *watch, const struct inotify_event *event,
                      coop_error **err)
{
    size_t number = (size_t)event->wd;

    if (event->mask & IN_Q_OVERFLOW) {
        watch->has_overflowed = true;
        return 0;
    }
    if (event->wd < 0 || number >= watch->n_watched || watch->watched[number].record == ENTRY_NONE)
        return 0;
    const struct watched *watched = &watch->watched[number];
    if (event->mask & IN_IGNORED) {
        watch->watched[number].record = ENTRY_NONE;
        return 0;
    }
    if (!event->len)
        return 0;
    watch->current = watched->tree;
    return look_at_name(watch, &watch->trees[watched->tree], watched->record, event, err);
}

/* All that has happened so far: more than 0 if something has. */
static int read_events(struct protect_watch *watch, coop_error **err)
{
    char bytes[READ_SIZE] __attribute__((aligned(8)));
    int r = 0;
    ssize_t n = read(watch->fd, bytes, sizeof bytes);

    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : fail(err, errno, "watch the workspace");
    for (ssize_t at = 0; r == 0 && at < n;) {
        const struct inotify_event *event =
            (const struct inotify_event *)(const void *)(bytes + at);

        r = take_event(watch, event, err);
        at += (ssize_t)(sizeof *event + event->len);
    }
    return r < 0 ? r : n > 0;
}

static bool has_outgrown(const struct protect_watch *watch)
{
    for (size_t i = 0; i < N_TREES; i++) {
        const struct tree *tree = &watch->trees[i];

        if (tree->root_fd >= 0 && tree->scan->records.n > tree->n_started + GROWTH)
            return true;
    }
    return false;
}

int protect_watch_read(struct protect_watch *watch, coop_error **err)
{
    int r = read_events(watch, err);

    if (r >= 0 && (watch->has_overflowed || has_outgrown(watch))) {
        watch->has_overflowed = false;
        r = protect_watch_start(watch, err);
    }
    return r < 0 ? r : 0;
}

/* ---- news */

static const struct protect_found *find(const struct protect_scan *scan, const char *path)
{
    size_t low = 0;
    size_t high = scan->n_found;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = scan_compare_paths(scan->found[middle].path, path);

        if (order == 0)
            return &scan->found[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/*
 * An inode's number may come again, but not with its change time. What was only written to since counts
 * as news too: a mask lies on it already, and a cover has to be made anew.
 */
static bool is_same(const struct protect_found *a, const struct protect_found *b)
{
    return a->kind == b->kind && a->st.st_dev == b->st.st_dev && a->st.st_ino == b->st.st_ino &&
           a->st.st_ctim.tv_sec == b->st.st_ctim.tv_sec &&
           a->st.st_ctim.tv_nsec == b->st.st_ctim.tv_nsec;
}

static bool is_news(const struct protect_found *found, const struct protect_found *before)
{
    return (found->kind == FOUND_HIDE || found->kind == FOUND_GIT_CONFIG) &&
           (!before || !is_same(found, before));
}

bool protect_watch_next(struct protect_watch *watch, struct protect_news *out)
{
    for (size_t i = 0; i < N_TREES; i++) {
        struct tree *tree = &watch->trees[i];

        while (watch->is_started && tree->n_told < tree->now.n_found) {
            const struct protect_found *found = &tree->now.found[tree->n_told++];
            const struct protect_found *before = find(&tree->first, found->path);

            if (!is_news(found, before))
                continue;
            *out =
                (struct protect_news){ found, tree->root_fd, before && before->kind == FOUND_HIDE };
            return true;
        }
    }
    return false;
}

bool protect_watch_place(const struct protect_watch *watch, int root_fd, const char *path, size_t i,
                         char *out, size_t size, const char **out_target)
{
    for (size_t n = 0; n < watch->n_places; n++) {
        const struct place_copy *place = &watch->places[n];
        size_t below = strlen(place->below);

        if (watch->trees[place->tree].root_fd != root_fd ||
            (below > 0 && (strncmp(path, place->below, below) != 0 || path[below] != '/')) ||
            i-- > 0)
            continue;
        int length = snprintf(out, size, "%s/%s", place->target[1] ? place->target : "",
                              below > 0 ? path + below + 1 : path);
        if (length < 0 || (size_t)length >= size)
            out[0] = '\0'; /* nobody can open it by such a name */
        *out_target = place->target;
        return true;
    }
    return false;
}

int protect_watch_locate(const struct protect_watch *watch, const char *box_path, char *out,
                         size_t size)
{
    for (size_t i = 0; i < watch->n_places; i++) {
        const struct place_copy *place = &watch->places[i];
        size_t n = place->target[1] ? strlen(place->target) : 0;

        if (strncmp(box_path, place->target, n) != 0 || box_path[n] != '/')
            continue;
        int length =
            snprintf(out, size, "%s%s%s", place->below, *place->below ? "/" : "", box_path + n + 1);
        return length > 0 && (size_t)length < size ? watch->trees[place->tree].root_fd : -1;
    }
    return -1;
}

/* ---- before there is a box */

static int look_and_listen(struct protect_watch *watch, struct plan *plan, coop_error **err)
{
    struct plan_protected *protected = plan->protected;
    bool has_git = plan->git.target && protect_has_defaults(protected->rules);
    int r = protect_watch_open(watch, err);

    watch->rules = protected->rules;
    watch->trees[WORKSPACE].root_fd = plan->workspace_fd;
    watch->trees[GIT].root_fd = has_git ? plan->git.fd : -1;
    watch->trees[GIT].is_git_directory = true;
    if (r == 0)
        r = look_at_tree(watch, WORKSPACE, NULL, &protected->workspace, err);
    if (r == 0 && has_git)
        r = look_at_tree(watch, GIT, NULL, &protected->git, err);
    for (int round = 0; r >= 0 && round < MAX_ROUNDS; round++) {
        r = read_events(watch, err);
        if (r <= 0) /* nothing that was not looked at */
            break;
    }
    if (r < 0 || (r == 0 && !watch->has_overflowed))
        return r;
    return fail_hint(err,
                     fail_kind(err, COOP_ERROR_SETUP, EBUSY,
                               "look through the workspace: others change it faster than that"),
                     "run again when they are done");
}

int protect_watch_look(struct plan *plan, coop_error **err)
{
    struct plan_protected *protected = plan->protected;
    struct protect_watch *watch = watch_new();
    int r = watch ? look_and_listen(watch, plan, err) : fail_no_memory(err);

    protect_watch_free(watch);
    if (r == 0) {
        scan_put_in_order(&protected->workspace);
        scan_put_in_order(&protected->git);
    }
    return r;
}
