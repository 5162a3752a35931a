/*
 * watchfs.c - where the box lacks a directory of the host's root, a watched directory is put, and over what is
 * blocked a node that nobody may open (init/watchfs/watchfs.h)
 */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "plan/view/private.h"
#include "policy/path/path.h"

#define LIST_MAX 512 /* all names together; init has room for no more */

static bool is_directory(int root_fd, const struct dirent *entry)
{
    struct stat st;

    if (entry->d_type == DT_DIR)
        return true;
    return (entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN) &&
           fstatat(root_fd, entry->d_name, &st, AT_NO_AUTOMOUNT) == 0 && S_ISDIR(st.st_mode);
}

/* "home/root/srv" */
static void list_missing(const struct view *view, struct buffer *out)
{
    DIR *root = opendir("/");
    const struct dirent *entry;

    while (root && (entry = readdir(root))) {
        const char *name = entry->d_name;

        if (name[0] == '.' || out->length + strlen(name) + 2 > LIST_MAX ||
            view_has_name(view, view->n, name) || !is_directory(dirfd(root), entry))
            continue;
        if (out->length)
            buffer_append_char(out, '/');
        buffer_append_string(out, name);
    }
    if (root)
        (void)closedir(root);
}

void view_add_watchfs(struct view *view)
{
    struct plan *plan = view->plan;
    auto_buffer struct buffer names = { 0 };

    if (plan->is_root_view || !plan->watchfs)
        return;
    list_missing(view, &names);
    if (names.failed || !names.length)
        return;
    const char *directories = plan->watchfs->directories = plan_copy(plan, names.data);
    for (const char *at = directories; at && *at;) {
        size_t n = strcspn(at, "/");
        const char *path = plan_text(plan, "%.*s", (int)n, at);

        (void)plan_watchfs_add(plan,
                               &(struct watchfs_node){ .path = path, .mode = S_IFDIR | 0755 });
        view_make_directory(plan, path, 0755);
        at += n + (at[n] == '/');
    }
}

void view_take_watchfs(struct plan *plan, const struct plan_watchfs *from)
{
    if (!plan->watchfs || !from)
        return;
    plan->watchfs->directories = from->directories ? plan_copy(plan, from->directories) : NULL;
    plan->watchfs->has_places = from->has_places;
    for (size_t i = 0; i < from->n && from->nodes[i].kind != WATCHFS_MASK; i++) {
        struct watchfs_node node = from->nodes[i];

        node.path = plan_copy(plan, node.path);
        node.is_there = node.kind == WATCHFS_MOUNT_POINT;
        node.link = node.link ? plan_copy(plan, node.link) : NULL;
        (void)plan_watchfs_add(plan, &node);
    }
}

void view_emit_watchfs(struct plan *plan)
{
    bool has_masks = plan->protected || plan->policy->n_mounts > 0; /* perhaps */

    if (!plan->watchfs || (!plan->watchfs->n && !has_masks))
        return;
    plan->wants_watchfs = true;
    plan_add(plan, STEP_WATCHFS, PHASE_BOX);
}

unsigned view_watch_beneath(struct plan *plan, const char *target)
{
    if (!plan->watchfs)
        return 0;
    return plan_watchfs_add(plan, &(struct watchfs_node){ .path = target + 1,
                                                          .kind = WATCHFS_BENEATH,
                                                          .mode = S_IFDIR | 01777,
                                                          .size = WATCHFS_EMPTY });
}

unsigned view_watch_hidden(struct plan *plan, const char *target)
{
    struct watchfs_node node = { .path = target + 1, .kind = WATCHFS_MASK, .mode = S_IFREG };
    struct timespec now = { 0 };

    if (!plan->watchfs || path_is_within(target, "/proc")) /* what nobody asks for */
        return 0;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    node.mtime_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    unsigned number = plan_watchfs_add(plan, &node);
    node.mode = S_IFDIR;
    node.size = WATCHFS_EMPTY;
    return number && plan_watchfs_add(plan, &node) ? number : 0;
}
