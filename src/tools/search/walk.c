#include "walk.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/fd.h"
#include "sys/kernel.h"
#include "tools/search/gitignore.h"
#include "tools/search/walk_ignore.h"

#define READ_SIZE  (32 * 1024)
#define PATH_SIZE  4096
#define FDS_MAX    16 /* open directories */
#define WATCH_EACH 64 /* entries between two looks at the watch */

struct directory_entry {
    uint64_t ino;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
};

struct item {
    const char *name;
    uint8_t type; /* DT_... */
};

/* A directory that is being walked through. */
struct frame {
    int fd; /* -1: closed for others, reopened when needed */
    size_t path_length;
    struct buffer names;
    struct item *items;
    size_t n_items, at;
    struct walk_ignore ignore;
};

struct walk {
    const struct place *place;
    const struct walk_options *options;
    struct walk_watch *watch;
    struct walk_result *result;
    coop_error **err;
    struct frame *frames;
    size_t depth;        /* frames in use */
    size_t start_length; /* of the path in the mount where it began, with a '/' behind it */
    char path[PATH_SIZE + 1];
    char buffer[READ_SIZE] __attribute__((aligned(8)));
};

/* ---- the watch */

static int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void walk_watch_init(struct walk_watch *watch, const struct tool_call *call)
{
    *watch = (struct walk_watch){ .call = call, .end_ms = now_ms() + (int64_t)WALK_SECONDS * 1000 };
}

bool walk_watch_ends(struct walk_watch *watch)
{
    watch->is_cancelled = watch->is_cancelled || tool_is_cancelled(watch->call);
    watch->is_late = watch->is_late || now_ms() >= watch->end_ms;
    return watch->is_cancelled || watch->is_late;
}

/* ---- opening */

int walk_open_file(int directory_fd, const char *name, struct stat *st)
{
    auto_close int fd =
        openat(directory_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    int r = fd_lift(&fd);
    if (r < 0)
        return r;
    if (fstat(fd, st) < 0)
        return -errno;
    return S_ISREG(st->st_mode) ? take_fd(&fd) : -EINVAL;
}

static int open_directory(int directory_fd, const char *name)
{
    int fd = openat(directory_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    int r = fd_lift(&fd);
    if (r < 0)
        (void)close(fd);
    return r < 0 ? r : fd;
}

/* The directory of a frame, opened again from where the walk began if it had to be closed. */
static int frame_fd(struct walk *walk, struct frame *frame)
{
    if (frame->fd >= 0)
        return frame->fd;
    char path[PATH_SIZE + 1];
    const struct kernel_open_how how = {
        .flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS,
    };
    size_t n = frame->path_length - walk->start_length - 1; /* without the '/' */
    memcpy(path, walk->path + walk->start_length, n);
    path[n] = '\0';
    int fd = (int)syscall(NR_OPENAT2, walk->frames[0].fd, path, &how, sizeof how);
    if (fd < 0)
        return -errno;
    int r = fd_lift(&fd);
    if (r < 0) {
        (void)close(fd);
        return r;
    }
    frame->fd = fd;
    return fd;
}

/* ---- reading */

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct item *)a)->name, ((const struct item *)b)->name);
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Where the file system does not tell. */
static uint8_t type_of(int fd, const char *name)
{
    struct stat st;

    if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return DT_UNKNOWN;
    return (uint8_t)IFTODT(st.st_mode);
}

/* Each name, behind a byte that tells its type. */
static int read_names(struct walk *walk, struct frame *frame)
{
    for (;;) {
        long n = syscall(SYS_getdents64, frame->fd, walk->buffer, sizeof walk->buffer);

        if (n == 0)
            return 0;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        for (long at = 0; at < n;) {
            const struct directory_entry *entry = (const void *)(walk->buffer + at);

            at += entry->length;
            if (is_dots(entry->name))
                continue;
            if (walk->result->n_entries == WALK_ENTRIES_MAX) {
                walk->result->is_cut = true;
                return 0;
            }
            walk->result->n_entries++;
            frame->n_items++;
            buffer_append_char(
                &frame->names,
                (char)(entry->type != DT_UNKNOWN ? entry->type : type_of(frame->fd, entry->name)));
            buffer_append(&frame->names, entry->name, strlen(entry->name) + 1);
        }
        if (walk_watch_ends(walk->watch))
            return 0;
    }
}

static int read_directory(struct walk *walk, struct frame *frame)
{
    int r = read_names(walk, frame);

    if (r < 0)
        return r;
    frame->items = calloc(frame->n_items + 1, sizeof *frame->items);
    if (!frame->items || frame->names.failed)
        return -ENOMEM;
    const char *name = frame->names.data;
    for (size_t i = 0; i < frame->n_items; i++) {
        frame->items[i] = (struct item){ name + 1, (uint8_t)*name };
        name += strlen(name + 1) + 2;
    }
    qsort(frame->items, frame->n_items, sizeof *frame->items, compare);
    return 0;
}

static bool has_name(const struct frame *frame, const char *name)
{
    const struct item wanted = { name, 0 };

    return frame->n_items > 0 &&
           bsearch(&wanted, frame->items, frame->n_items, sizeof *frame->items, compare) != NULL;
}

/* ---- frames */

static void frame_done(struct frame *frame)
{
    close_fd(&frame->fd);
    buffer_done(&frame->names);
    free(frame->items);
    walk_ignore_done(&frame->ignore);
    *frame = (struct frame){ .fd = -1 };
}

/* Takes fd, a directory whose path (with a '/' behind it) is path_length long. */
static int enter(struct walk *walk, int fd, size_t path_length)
{
    struct frame *frame = &walk->frames[walk->depth];
    const struct gitignore *outer = walk->depth > 0 ? frame[-1].ignore.rules : NULL;

    *frame = (struct frame){ .fd = fd, .path_length = path_length };
    int r = read_directory(walk, frame);
    if (r == 0 && !walk->options->includes_ignored) {
        bool is_repository = has_name(frame, ".git");

        if (walk->depth == 0 && !is_repository)
            r = walk_ignore_load_above(&frame->ignore, walk->place);
        else
            frame->ignore.rules = is_repository ? NULL : outer;
        if (r == 0 && is_repository)
            r = walk_ignore_load(&frame->ignore, fd, WALK_IGNORE_EXCLUDE, path_length);
        if (r == 0 && has_name(frame, WALK_IGNORE_FILE))
            r = walk_ignore_load(&frame->ignore, fd, WALK_IGNORE_FILE, path_length);
    }
    if (r < 0) {
        frame_done(frame);
        return r;
    }
    if (walk->depth > FDS_MAX)
        close_fd(&walk->frames[walk->depth - FDS_MAX].fd);
    walk->depth++;
    return 0;
}

static int descend(struct walk *walk, struct frame *frame, size_t length, const char *name)
{
    if (walk->depth == WALK_DEPTH_MAX || length + 1 >= PATH_SIZE) {
        walk->result->is_cut = true;
        return 0;
    }
    int directory_fd = frame_fd(walk, frame);
    int fd = directory_fd < 0 ? directory_fd : open_directory(directory_fd, name);
    if (fd < 0) {
        walk->result->n_unreadable++;
        return 0;
    }
    walk->path[length] = '/';
    walk->path[length + 1] = '\0';
    int r = enter(walk, fd, length + 1);
    if (r == -ENOMEM)
        return fail_no_memory(walk->err);
    walk->result->n_unreadable += r < 0;
    return 0;
}

/* ---- entries */

static bool kind_of(uint8_t type, enum walk_kind *out)
{
    if (type != DT_REG && type != DT_DIR && type != DT_LNK)
        return false;
    *out = type == DT_REG ? WALK_FILE : type == DT_DIR ? WALK_DIRECTORY : WALK_LINK;
    return true;
}

/* One entry of the innermost directory; WALK_ON, WALK_STOP or negative. */
static int visit(struct walk *walk, struct frame *frame, const struct item *item, walk_fn *each,
                 void *context)
{
    size_t n = strlen(item->name);
    size_t length = frame->path_length + n;
    struct walk_entry entry = { .path = walk->path + walk->start_length,
                                .name = walk->path + frame->path_length };

    if (!kind_of(item->type, &entry.kind) || strcmp(item->name, ".git") == 0)
        return WALK_ON;
    if (length > PATH_SIZE - 1) {
        walk->result->is_cut = true;
        return WALK_ON;
    }
    memcpy(walk->path + frame->path_length, item->name, n + 1);
    bool is_directory = entry.kind == WALK_DIRECTORY;
    if (gitignore_ignores(frame->ignore.rules, walk->path, entry.name, is_directory))
        return WALK_ON;
    entry.directory_fd = frame_fd(walk, frame);
    if (entry.directory_fd < 0) { /* moved away meanwhile */
        walk->result->n_unreadable++;
        frame->at = frame->n_items;
        return WALK_ON;
    }
    if (!place_shows(walk->place, walk->path, entry.directory_fd, entry.name, is_directory))
        return WALK_ON;
    int r = each(context, &entry, walk->err);
    if (r != WALK_ON || !is_directory)
        return r == WALK_PASS_OVER ? WALK_ON : r;
    return descend(walk, frame, length, item->name);
}

static int run(struct walk *walk, walk_fn *each, void *context)
{
    size_t n = 0;

    while (walk->depth > 0) {
        struct frame *frame = &walk->frames[walk->depth - 1];

        if (n++ % WATCH_EACH == 0 && walk_watch_ends(walk->watch))
            break;
        if (frame->at == frame->n_items) {
            frame_done(frame);
            walk->depth--;
            continue;
        }
        int r = visit(walk, frame, &frame->items[frame->at++], each, context);
        if (r == WALK_STOP)
            return 0;
        if (r < 0)
            return r;
    }
    if (walk->watch->is_cancelled)
        return fail_kind(walk->err, COOP_ERROR_CANCELLED, ECANCELED, "the search was cancelled");
    walk->result->is_cut |= walk->watch->is_late;
    return 0;
}

int walk_place(const struct place *place, const struct walk_options *options,
               struct walk_watch *watch, walk_fn *each, void *context, struct walk_result *result,
               coop_error **err)
{
    size_t n = strlen(place->below);
    auto_free struct walk *walk = calloc(1, sizeof *walk);

    *result = (struct walk_result){ 0 };
    if (!walk)
        return fail_no_memory(err);
    auto_free struct frame *frames = calloc(WALK_DEPTH_MAX, sizeof *frames);
    if (!frames)
        return fail_no_memory(err);
    if (n + 2 > PATH_SIZE)
        return fail(err, ENAMETOOLONG, "search a directory");
    *walk = (struct walk){ .place = place,
                           .options = options,
                           .watch = watch,
                           .result = result,
                           .err = err,
                           .frames = frames,
                           .start_length = n > 0 ? n + 1 : 0 };
    memcpy(walk->path, place->below, n);
    if (n > 0)
        walk->path[n] = '/';
    int fd = place_open(place, O_RDONLY | O_DIRECTORY, 0, err);
    if (fd < 0)
        return fd;
    int r = enter(walk, fd, walk->start_length);
    if (r < 0)
        return fail(err, -r, "read the directory '%s'", place->path);
    r = run(walk, each, context);
    while (walk->depth > 0)
        frame_done(&walk->frames[--walk->depth]);
    return r;
}
