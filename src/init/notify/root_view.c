#include "root_view.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <poll.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>

#include "init/protocol.h"
#include "init/root_entries.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define EVENTS_SIZE  16384
#define PAIR_WAIT_NS 20000000 /* the second half of a move comes right after the first */

static struct root_entries view; /* all 0: there is no project */

bool notify_root_view_is_there(void)
{
    return view.root_view_fd > 0;
}

int notify_root_view_fd(void)
{
    return view.root_view_fd;
}

bool notify_root_view_owns(const char *name)
{
    char path[ROOT_ENTRY_NAME_MAX + 1] = "/";

    if (strlen(name) >= ROOT_ENTRY_NAME_MAX)
        return false;
    (void)notify_append(path + 1, name);
    return !target_is_outside(path);
}

bool notify_root_view_hides(const char *name)
{
    return target_is_hidden(name);
}

bool notify_root_view_hide(const char *name)
{
    return notify_root_view_is_there() && target_hide(name) && notify_root_view_show(name) == 0;
}

long notify_root_view_show(const char *name)
{
    char path[ROOT_ENTRY_NAME_MAX + 1] = "/";
    unsigned flags = 0;

    if (!notify_root_view_owns(name))
        return 0;
    (void)notify_append(path + 1, name);
    if (notify_root_view_hides(name))
        flags |= ROOT_ENTRY_HIDDEN;
    if (target_rule(path) >= 0)
        flags |= ROOT_ENTRY_READ_ONLY;
    return root_entry_show(&view, name, flags);
}

long notify_root_view_made(const char *name, bool is_directory)
{
    long r = notify_root_view_show(name);

    if (r < 0) /* no room for it in the root */
        (void)raw(SYS_unlinkat, view.root_view_fd, name, is_directory ? AT_REMOVEDIR : 0);
    return r;
}

/* ---- what the host changes */

static void show_each(void *context, const char *name)
{
    (void)context;
    (void)notify_root_view_show(name);
}

static void show_all(void)
{
    (void)root_entry_list(view.root_view_fd, show_each, NULL);
    (void)root_entry_list(view.skeleton_fd, show_each, NULL); /* what is gone */
}

static const struct inotify_event *event_at(const char *bytes, long at)
{
    return (const struct inotify_event *)(const void *)(bytes + at);
}

static bool is_first_half(const struct inotify_event *event)
{
    return (event->mask & (IN_MOVED_FROM | IN_ISDIR)) == (IN_MOVED_FROM | IN_ISDIR);
}

/* Both halves of a directory's move must be seen together: its masks are to move along. */
static long read_events(char *bytes)
{
    const struct timespec wait = { 0, PAIR_WAIT_NS };
    struct pollfd watch = { .fd = PROTOCOL_WATCH_FD, .events = POLLIN };
    long n = raw(SYS_read, PROTOCOL_WATCH_FD, bytes, EVENTS_SIZE / 2);
    long last = 0;

    if (n <= 0)
        return 0;
    for (long at = 0; at < n; at += (long)(sizeof(struct inotify_event) + event_at(bytes, at)->len))
        last = at;
    if (is_first_half(event_at(bytes, last))) {
        struct timespec left = wait;

        if (raw(SYS_ppoll, &watch, 1, &left, NULL, 0) > 0) {
            long more = raw(SYS_read, PROTOCOL_WATCH_FD, bytes + n, EVENTS_SIZE / 2);

            n += more > 0 ? more : 0;
        }
    }
    return n;
}

static void move_along(const char *bytes, long n, long first)
{
    const struct inotify_event *from = event_at(bytes, first);

    for (long at = first; at < n;
         at += (long)(sizeof(struct inotify_event) + event_at(bytes, at)->len)) {
        const struct inotify_event *to = event_at(bytes, at);

        if (to->mask & IN_MOVED_TO && to->cookie == from->cookie && from->len && to->len &&
            notify_root_view_owns(from->name) && notify_root_view_owns(to->name) &&
            !notify_root_view_hides(to->name))
            (void)root_entry_move(&view, from->name, to->name);
    }
}

bool notify_root_view_changed(void)
{
    static char bytes[EVENTS_SIZE] __attribute__((aligned(8)));
    long n = read_events(bytes);

    for (long at = 0; at < n; at += (long)(sizeof(struct inotify_event) + event_at(bytes, at)->len))
        if (is_first_half(event_at(bytes, at)))
            move_along(bytes, n, at);
    for (long at = 0; at < n;
         at += (long)(sizeof(struct inotify_event) + event_at(bytes, at)->len)) {
        const struct inotify_event *event = event_at(bytes, at);

        if (event->mask & IN_Q_OVERFLOW)
            show_all();
        else if (event->len)
            (void)notify_root_view_show(event->name);
    }
    return n > 0;
}

bool notify_root_view_start(void)
{
    long root = raw(SYS_openat, AT_FDCWD, "/", O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (root < 0)
        return false;
    view.root_fd = (int)root;
    view.root_view_fd = PROTOCOL_ROOT_VIEW_FD;
    view.skeleton_fd = PROTOCOL_SKELETON_FD;
    show_all();
    return true;
}

/* ---- from one entry to another */

static bool is_same_file(int a_fd, const char *a, int b_fd, const char *b)
{
    struct stat x;
    struct stat y;

    return root_entry_look(a_fd, a, &x) == 0 && root_entry_look(b_fd, b, &y) == 0 &&
           x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

long notify_root_view_directory(const struct target *place)
{
    struct kernel_open_how how = {
        .flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    char path[PLACE_PATH_MAX + 2];
    size_t n = (size_t)(place->name - place->path);
    struct stat here;
    struct stat there;

    if (place->is_top)
        return raw(SYS_fcntl, view.root_view_fd, F_DUPFD_CLOEXEC, 3);
    if (!notify_root_view_is_there() || !target_is_in_root_view(place->path) || n < 3 ||
        n - 1 >= sizeof path)
        return -EXDEV;
    memcpy(path, place->path + 1, n - 2); /* less both slashes */
    path[n - 2] = '\0';
    long fd = raw(NR_OPENAT2, view.root_view_fd, path, &how, sizeof how);
    if (fd < 0)
        return -EXDEV;
    if (raw(SYS_fstat, place->parent_fd, &here) == 0 && raw(SYS_fstat, fd, &there) == 0 &&
        here.st_dev == there.st_dev && here.st_ino == there.st_ino)
        return fd;
    (void)raw(SYS_close, fd);
    return -EXDEV;
}

/* One character of a line of mountinfo, where odd ones are written as \040; its length. */
static size_t mountinfo_char(const char *text, size_t n, char *out)
{
    if (n >= 4 && text[0] == '\\') {
        *out = (char)((text[1] - '0') * 64 + (text[2] - '0') * 8 + (text[3] - '0'));
        return 4;
    }
    *out = text[0];
    return 1;
}

/* Whether the fifth field of the line is a path below `path`. */
static bool line_is_below(const char *line, size_t n, const char *path)
{
    size_t at = 0;

    for (int field = 1; field < 5; field++) {
        while (at < n && line[at] != ' ')
            at++;
        at++;
    }
    for (; *path; path++) {
        char c;

        if (at >= n || line[at] == ' ')
            return false;
        at += mountinfo_char(line + at, n - at, &c);
        if (c != *path)
            return false;
    }
    return at < n && line[at] == '/';
}

/* A mount that lies on something below the path: a mask, most often. Also if nobody can say. */
static bool has_mounts_below(const char *path)
{
    static char text[32768];
    size_t have = 0;
    bool found = false;
    long fd = raw(SYS_openat, AT_FDCWD, "/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return true;
    while (!found) {
        long n = raw(SYS_read, fd, text + have, sizeof text - have);
        size_t start = 0;

        if (n == 0)
            break;
        if (n < 0) {
            found = true;
            break;
        }
        have += (size_t)n;
        for (size_t i = 0; i < have; i++)
            if (text[i] == '\n') {
                found |= line_is_below(text + start, i - start, path);
                start = i + 1;
            }
        if (start == 0 && have == sizeof text) /* a line that long is not for us to read */
            found = true;
        for (size_t i = start; i < have; i++)
            text[i - start] = text[i];
        have -= start;
    }
    (void)raw(SYS_close, fd);
    return found;
}

static bool holds_later;

void notify_root_view_hold_later(void)
{
    holds_later = true;
}

bool notify_root_view_holds_later(const char *path)
{
    return holds_later && has_mounts_below(path);
}

static bool is_directory(int directory_fd, const char *name)
{
    struct stat st;

    return root_entry_look(directory_fd, name, &st) == 0 && S_ISDIR(st.st_mode);
}

/* A link at the top is shown as a copy. */
static bool is_shown_link(const struct target *place)
{
    struct stat st;

    return place->is_top && !notify_root_view_hides(place->name) &&
           root_entry_look(view.root_view_fd, place->name, &st) == 0 && S_ISLNK(st.st_mode);
}

/* What is shown at the place is what the project has there: no mask lies on it. */
static bool is_shown(const struct target *place, int directory_fd)
{
    return is_shown_link(place) ||
           is_same_file(place->parent_fd, place->name, directory_fd, place->name);
}

/* Nor below it. */
static bool is_bare(const struct target *place, int directory_fd)
{
    if (!is_shown(place, directory_fd))
        return false;
    return !is_directory(directory_fd, place->name) || !has_mounts_below(place->path);
}

long notify_root_view_rename(const struct target *from, const struct target *to, unsigned flags)
{
    struct stat st;
    long from_fd = notify_root_view_directory(from);
    long to_fd = from_fd < 0 ? from_fd : notify_root_view_directory(to);
    long r = to_fd < 0 ? to_fd : 0;

    if (r == 0)
        r = root_entry_look((int)from_fd, from->name, &st);
    if (r == 0 && !is_bare(from, (int)from_fd))
        r = -EXDEV;
    if (r == 0 && root_entry_look((int)to_fd, to->name, &st) == 0 && !is_bare(to, (int)to_fd))
        r = -EXDEV;
    if (r == 0)
        r = raw(SYS_renameat2, from_fd, from->name, to_fd, to->name, flags);
    if (from_fd >= 0)
        (void)raw(SYS_close, from_fd);
    if (to_fd >= 0)
        (void)raw(SYS_close, to_fd);
    return r;
}

long notify_root_view_link(const struct target *from, const struct target *to)
{
    long from_fd = notify_root_view_directory(from);
    long to_fd = from_fd < 0 ? from_fd : notify_root_view_directory(to);
    long r = to_fd < 0 ? to_fd : 0;

    struct stat st;

    if (r == 0)
        r = root_entry_look((int)from_fd, from->name, &st);
    if (r == 0 && !is_shown(from, (int)from_fd))
        r = -EXDEV;
    if (r == 0)
        r = raw(SYS_linkat, from_fd, from->name, to_fd, to->name, 0);
    if (from_fd >= 0)
        (void)raw(SYS_close, from_fd);
    if (to_fd >= 0)
        (void)raw(SYS_close, to_fd);
    return r;
}

/* Room is made beforehand: what has happened in the project must be seen in the root as well. */
long notify_root_view_may_rename(const struct target *from, const struct target *to,
                                 bool is_exchange)
{
    if (is_exchange)
        return is_bare(from, from->act_fd) && is_bare(to, to->act_fd) ? 0 : -EBUSY;
    return is_directory(from->act_fd, from->name) ? root_entry_reserve(&view, to->name) : 0;
}

/* A directory moves with the masks in it. If it cannot, it goes back; or else the box ends. */
static long move_directory(const struct target *from, const struct target *to)
{
    long r = root_entry_move(&view, from->name, to->name);

    if (r == 0 || !has_mounts_below(from->path))
        return 0;
    if (raw(SYS_renameat2, view.root_view_fd, to->name, view.root_view_fd, from->name,
            RENAME_NOREPLACE) < 0)
        for (;;)
            (void)raw(SYS_exit_group, 1);
    return r;
}

long notify_root_view_renamed(const struct target *from, const struct target *to, bool is_exchange)
{
    long r = 0;

    if (from->is_top && to->is_top && !is_exchange && is_directory(to->act_fd, to->name))
        r = move_directory(from, to);
    if (to->is_top)
        (void)notify_root_view_show(to->name);
    if (from->is_top)
        (void)notify_root_view_show(from->name);
    return r;
}
