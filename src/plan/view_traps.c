/*
 * view_traps.c - where the box lacks a directory of the host's root, a trap is put (jail/trap.h)
 */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "plan/view_private.h"

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

void view_add_traps(struct view *view)
{
    struct plan *plan = view->plan;
    auto_buffer struct buffer names = { 0 };

    if (plan->is_root_view)
        return;
    list_missing(view, &names);
    if (names.failed || !names.length)
        return;
    for (size_t at = 0; at < names.length;) {
        size_t n = strcspn(names.data + at, "/");

        view_make_directory(plan, plan_text(plan, "%.*s", (int)n, names.data + at), 0755);
        at += n + 1;
    }
    plan->traps = plan_text(plan, "%s", names.data);
}

void view_emit_traps(struct plan *plan)
{
    if (!plan->traps)
        return;
    plan->wants_traps = true;
    plan_add(plan, STEP_TRAPS, STAGE_BOX)->source = plan->traps;
}
