#include "root_view.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "plan/protect.h"
#include "policy/view/defaults.h"

#define ENTRIES_MAX 50000 /* half of what the kernel mounts in one namespace by default */

static void close_directory(DIR **directory)
{
    if (*directory)
        (void)closedir(*directory);
}

static bool is_directory(int directory_fd, const struct dirent *entry)
{
    struct stat st;

    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type == DT_DIR;
    return fstatat(directory_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(st.st_mode);
}

static int by_name(const void *a, const void *b)
{
    const struct root_entry *x = a;
    const struct root_entry *y = b;

    return strcmp(x->name, y->name);
}

int plan_root_view_list(struct plan *plan, struct root_entry **out, size_t *out_n, coop_error **err)
{
    __attribute__((cleanup(close_directory))) DIR *directory = NULL;
    auto_free struct root_entry *entries = NULL;
    size_t n = 0;
    size_t capacity = 0;
    int fd = openat(plan->workspace_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    directory = fd < 0 ? NULL : fdopendir(fd);
    if (!directory)
        return fail_as(err, fail(err, errno, "read the directory '%s'", plan->workspace),
                       COOP_ERROR_BAD_POLICY);
    for (const struct dirent *entry; (errno = 0, entry = readdir(directory));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (n == ENTRIES_MAX)
            return fail_kind(err, COOP_ERROR_BAD_POLICY, E2BIG,
                             "the directory '%s' has more than %d entries: too many for a root",
                             plan->workspace, ENTRIES_MAX);
        if (n == capacity) {
            capacity = capacity ? 2 * capacity : 64;
            struct root_entry *grown = reallocarray(entries, capacity, sizeof *grown);

            if (!grown)
                return fail_no_memory(err);
            entries = grown;
        }
        entries[n++] =
            (struct root_entry){ plan_copy(plan, entry->d_name), is_directory(fd, entry) };
    }
    if (errno)
        return fail(err, errno, "read the directory '%s'", plan->workspace);
    if (plan->failed)
        return fail_no_memory(err);
    if (n > 0)
        qsort(entries, n, sizeof *entries, by_name);
    *out = take_ptr(entries);
    *out_n = n;
    return 0;
}

void plan_strings_add(struct plan *plan, struct plan_strings *strings, const char *text, size_t n)
{
    const char *last = strings->text + strings->length - (strings->length > n ? n + 1 : 0);

    if (strings->length > n && memcmp(last, text, n) == 0 && last[n] == '\0' &&
        (last == strings->text || last[-1] == '\0'))
        return;
    if (strings->length + n + 2 > strings->capacity) {
        size_t capacity = 2 * strings->capacity + n + 256;
        char *more = plan_memory(plan, capacity);

        if (!more)
            return;
        if (strings->length)
            memcpy(more, strings->text, strings->length);
        strings->text = more;
        strings->capacity = capacity;
    }
    memcpy(strings->text + strings->length, text, n);
    strings->length += n + 1;
    strings->text[strings->length - 1] = strings->text[strings->length] = '\0';
}

static bool has_string(const char *list, const char *text, size_t n)
{
    for (; list && *list; list += strlen(list) + 1)
        if (strncmp(list, text, n) == 0 && list[n] == '\0')
            return true;
    return false;
}

static void add_hidden(void *context, const char *name)
{
    struct plan *plan = context;

    plan_strings_add(plan, &plan->hidden, name, strlen(name));
}

void plan_root_view_take(struct plan *plan)
{
    struct step *step = plan_add(plan, STEP_ROOT_VIEW, PHASE_BOX);
    struct stat st;

    if (fstat(plan->workspace_fd, &st) < 0)
        plan->failed = true;
    step->source = plan->workspace;
    step->target = "";
    step->fd = plan->workspace_fd;
    step->dev = st.st_dev;
    step->ino = st.st_ino;
    step->flags = STEP_RECHECK | (plan->policy->read_only ? STEP_READ_ONLY : 0);
    plan_protect_each_hidden(plan, add_hidden, plan);
}

void plan_root_view_reserve(struct plan *plan)
{
    const struct origin origin = { "built in", 0, 0 };

    for (const struct view_default *row = view_rows(plan->policy); row->path; row++) {
        size_t n = 1 + strcspn(row->path + 1, "/");

        if (has_string(plan->outside.text, row->path, n)) /* there, and what is mounted in it */
            continue;
        const char *name = plan_text(plan, "%.*s", (int)n - 1, row->path + 1);
        if (name)
            plan_write_rule_add(plan, &(struct plan_write_rule){ .root = plan->workspace_view,
                                                                 .pattern = name,
                                                                 .origin = origin });
    }
}

bool plan_root_view_hides(const struct plan *plan, const char *name)
{
    return has_string(plan->hidden.text, name, strlen(name));
}

/* Patterns that begin with a slash are about the top level only. */
void plan_root_view_exclude(struct plan *plan)
{
    auto_buffer struct buffer text = { 0 };

    for (const char *p = plan->outside.text; p && *p; p += strlen(p) + 1) {
        if (strchr(p, '\n'))
            continue;
        for (const char *c = p; *c; c++) {
            if (strchr("\\*?[ ", *c))
                buffer_append_char(&text, '\\');
            buffer_append_char(&text, *c);
        }
        buffer_append_char(&text, '\n');
    }
    buffer_append_string(&text, plan->git_excludes ? plan->git_excludes : "");
    plan->failed |= text.failed;
    if (!text.failed)
        plan->git_excludes = plan_copy(plan, text.data);
}
