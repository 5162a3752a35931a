/*
 * view.c - what a command sees, as mounts
 *
 * One table: the host's tools, the few files of /etc that programs cannot do without, private
 * writable places, the workspace, and what the policy adds. Sorted so that each mount comes after
 * the one it lies in; the most specific target wins, and a policy's mount replaces the default one
 * of the same target. Mount points are made only in file systems of our own: where one would have
 * to be made in a directory of the host, the mount is refused.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/fd.h"
#include "plan/enforce.h"
#include "plan/plan.h"
#include "plan/project.h"
#include "plan/protect.h"
#include "policy/path.h"

enum view_kind {
    VIEW_BIND,
    VIEW_PRIVATE,
    VIEW_TMPFS,
    VIEW_PROC,
    VIEW_PTS,
    VIEW_HIDE,
    VIEW_ENTRY, /* of a project that is the root */
    VIEW_LINK   /* no mount: a link of the skeleton where a mount could be */
};

struct view_mount {
    enum view_kind kind;
    bool is_directory;
    bool by_seal; /* made read-only together with the root */
    unsigned flags;
    unsigned order;
    int fd;
    dev_t dev;
    ino_t ino;
    uint64_t size;
    const char *source; /* host path; for VIEW_PRIVATE the directory beside the skeleton */
    const char *target;
};

struct view {
    struct plan *plan;
    struct view_mount *mounts;
    size_t n, capacity;
    size_t n_of_box;       /* of them, before those of a project that is the root */
    const char *last_made; /* directory of the skeleton that was made last, "" at first */
};

/* Directories of programs: bound where they are directories, copied where they are links. */
static const char *const tool_directories[] = { "/usr",   "/bin",   "/sbin",   "/lib",
                                                "/lib64", "/lib32", "/libx32", "/nix/store" };

/* Of /etc, what programs cannot do without. */
static const struct {
    const char *path;
    bool is_directory;
} etc_entries[] = {
    { "/etc/ld.so.cache", false },
    { "/etc/alternatives", true },
    { "/etc/ssl/certs", true },
    { "/etc/ssl/openssl.cnf", false },
    { "/etc/pki", true },
    { "/etc/localtime", false },
    { "/etc/os-release", false },
    { "/etc/fonts", true },
    { "/etc/java", true },
    { "/etc/java-8-openjdk", true },
    { "/etc/java-11-openjdk", true },
    { "/etc/java-17-openjdk", true },
    { "/etc/java-21-openjdk", true },
    { "/etc/java-25-openjdk", true },
};

static const char *const devices[] = { "/dev/null",   "/dev/zero",    "/dev/full",
                                       "/dev/random", "/dev/urandom", "/dev/tty" };

static const struct {
    const char *target, *text;
} device_links[] = {
    { "dev/fd", "/proc/self/fd" },       { "dev/stdin", "/proc/self/fd/0" },
    { "dev/stdout", "/proc/self/fd/1" }, { "dev/stderr", "/proc/self/fd/2" },
    { "dev/ptmx", "pts/ptmx" },          { "dev/shm", "/run/shm" },
};

/*
 * Private writable places: directories of one file system in memory, one budget for all. /var/tmp
 * and /dev/shm are links into them: a mount costs ten times what a link does.
 */
static const struct {
    const char *target, *pool;
    mode_t mode;
} private_places[] = {
    { "/tmp", "../t", 01777 },
    { "/run", "../u", 0755 },
};

/*
 * Entries of /proc to hide. Most of the usual list is closed already: nobody in a box is root of the
 * host, so kcore, kmsg, timer_list, latency_stats and sysrq-trigger are refused by their modes, and
 * the whole of /proc is mounted read-only. These are open to everybody: they name the user's keys and
 * describe the machine.
 */
static const char *const hidden_of_proc[] = { "/proc/keys", "/proc/acpi", "/proc/asound",
                                              "/proc/scsi" };

static struct view_mount *view_add(struct view *view, enum view_kind kind, const char *source,
                                   const char *target)
{
    static struct view_mount spill;

    if (view->n == view->capacity) {
        size_t capacity = view->capacity ? 2 * view->capacity : 64;
        struct view_mount *grown = reallocarray(view->mounts, capacity, sizeof *grown);

        if (!grown) {
            view->plan->failed = true;
            return &spill;
        }
        view->mounts = grown;
        view->capacity = capacity;
    }
    struct view_mount *mount = &view->mounts[view->n];
    *mount = (struct view_mount){ .kind = kind,
                                  .source = source,
                                  .target = target,
                                  .order = (unsigned)view->n,
                                  .is_directory = true,
                                  .fd = -1 };
    view->n++;
    return mount;
}

static void add_skeleton_directory(struct plan *plan, const char *target, mode_t mode)
{
    struct step *step = plan_add(plan, STEP_MAKE_DIRECTORY, STAGE_BOX);

    step->target = target;
    step->mode = mode;
}

static void add_skeleton_link(struct plan *plan, const char *target, const char *text)
{
    struct step *step = plan_add(plan, STEP_MAKE_LINK, STAGE_BOX);

    step->target = target;
    step->source = text;
}

static void add_skeleton_file(struct plan *plan, const char *target, const char *data)
{
    struct step *step = plan_add(plan, STEP_MAKE_FILE, STAGE_BOX);

    step->target = target;
    step->mode = 0644;
    step->source = data;
    step->length = data ? strlen(data) : 0;
}

/* A host path of ours to show: bound, or its link copied. Absent ones are left out. */
static void add_host_entry(struct view *view, const char *path, bool is_directory)
{
    char text[1024];
    ssize_t n =
        readlink(path, text, sizeof text - 1); /* tells absent, link and other in one call */

    if (n < 0 && errno != EINVAL)
        return;
    path = plan_copy(view->plan, path);
    if (n > 0) {
        text[n] = '\0';
        /* Links into what the view shows stay links; others are followed once, at the mount. */
        if (strncmp(text, "usr/", 4) == 0 || strncmp(text, "/usr/", 5) == 0 ||
            strncmp(text, "../usr/", 7) == 0) {
            if (path)
                add_skeleton_link(view->plan, path + 1, plan_copy(view->plan, text));
            return;
        }
        if (access(path, F_OK) < 0)
            return;
    }
    struct view_mount *mount = view_add(view, VIEW_BIND, path, path);
    mount->is_directory = is_directory;
    mount->flags = STEP_READ_ONLY;
    mount->by_seal = true;
}

static const char *user_name(const struct plan *plan)
{
    const char *name = getenv("USER");
    size_t n = name ? strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") : 0;

    if (plan->inside_uid == 0)
        return "root";
    return n > 0 && n < 32 && name[n] == '\0' && strcmp(name, "root") != 0 ? name : "user";
}

/* passwd, group, hosts and nsswitch.conf are made up: the host's tell about its users. */
static void add_made_up_files(struct view *view)
{
    struct plan *plan = view->plan;
    const char *name = user_name(plan);
    const char *home = plan->workspace_view;
    bool is_root = plan->inside_uid == 0;

    add_skeleton_file(plan, "etc/passwd",
                      is_root ? plan_text(plan,
                                          "root:x:0:0:root:%s:/bin/sh\n"
                                          "nobody:x:65534:65534:nobody:/:/bin/false\n",
                                          home)
                              : plan_text(plan,
                                          "root:x:0:0:root:/:/bin/sh\n"
                                          "nobody:x:65534:65534:nobody:/:/bin/false\n"
                                          "%s:x:%u:%u::%s:/bin/sh\n",
                                          name, plan->inside_uid, plan->inside_gid, home));
    add_skeleton_file(
        plan, "etc/group",
        is_root || plan->inside_gid == 0
            ? "root:x:0:\nnogroup:x:65534:\n"
            : plan_text(plan, "root:x:0:\nnogroup:x:65534:\n%s:x:%u:\n", name, plan->inside_gid));
    add_skeleton_file(plan, "etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n");
    add_skeleton_file(plan, "etc/hosts",
                      plan_text(plan, "127.0.0.1 localhost %s\n::1 localhost ip6-localhost\n",
                                plan->policy->hostname));
    add_skeleton_link(plan, "etc/mtab", "/proc/self/mounts");
}

static void add_etc(struct view *view)
{
    add_skeleton_directory(view->plan, "etc", 0755);
    add_skeleton_directory(view->plan, "etc/ssl", 0755);
    add_made_up_files(view);
    for (size_t i = 0; i < COUNT(etc_entries); i++)
        add_host_entry(view, etc_entries[i].path, etc_entries[i].is_directory);
    if (view->plan->policy->network == COOP_NETWORK_HOST)
        add_host_entry(view, "/etc/resolv.conf", false);
}

static void add_dev(struct view *view)
{
    struct plan *plan = view->plan;

    add_skeleton_directory(plan, "dev", 0755);
    for (size_t i = 0; i < COUNT(devices); i++) {
        struct view_mount *mount = view_add(view, VIEW_BIND, devices[i], devices[i]);

        mount->flags = STEP_DEVICE;
        mount->is_directory = false;
    }
    for (size_t i = 0; i < COUNT(device_links); i++)
        add_skeleton_link(plan, device_links[i].target, device_links[i].text);
}

/* The object found now is the one that must be mounted. */
static int note_source(struct view_mount *mount, int fd, coop_error **err)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return fail(err, errno, "look at the mount source '%s'", mount->source);
    mount->fd = fd;
    mount->dev = st.st_dev;
    mount->ino = st.st_ino;
    mount->is_directory = S_ISDIR(st.st_mode);
    mount->flags |= STEP_RECHECK;
    return 0;
}

static int open_source(struct view *view, struct view_mount *mount, coop_error **err)
{
    int fd = open(mount->source, O_PATH | O_CLOEXEC);

    if (fd < 0)
        return fail_as(err, fail(err, errno, "open the mount source '%s'", mount->source),
                       COOP_ERROR_BAD_POLICY);
    int r = fd_lift(&fd);
    if (r < 0 || plan_hold_fd(view->plan, fd) < 0) {
        (void)close(fd);
        return fail_no_memory(err);
    }
    return note_source(mount, fd, err);
}

static int add_policy_binds(struct view *view, coop_error **err)
{
    const coop_policy *policy = view->plan->policy;

    for (size_t i = 0; i < policy->n_mounts; i++) {
        const struct policy_mount *from = &policy->mounts[i];

        if (from->kind != POLICY_BLOCK && strcmp(from->target, view->plan->workspace_view) == 0)
            return fail_kind(err, COOP_ERROR_BAD_POLICY, EEXIST,
                             "the mount target '%s' is the workspace's own place", from->target);
        if (from->kind != POLICY_BIND)
            continue;
        struct view_mount *mount = view_add(view, VIEW_BIND, from->source, from->target);
        int r = open_source(view, mount, err);
        if (r < 0)
            return r;
        if (from->read_only)
            mount->flags |= STEP_READ_ONLY;
    }
    return 0;
}

static const char *in_workspace(struct plan *plan, const char *path)
{
    return plan_text(plan, "%s/%s", plan->is_root_view ? "" : plan->workspace_view, path);
}

static void add_policy_own(struct view *view)
{
    const coop_policy *policy = view->plan->policy;

    for (size_t i = 0; i < policy->n_mounts; i++) {
        const struct policy_mount *from = &policy->mounts[i];
        struct view_mount *mount;

        if (from->kind == POLICY_TMPFS) {
            mount = view_add(view, VIEW_TMPFS, NULL, from->target);
            mount->size = from->size ? from->size : policy->limits[COOP_LIMIT_TMP_SIZE];
            mount->flags = from->read_only ? STEP_READ_ONLY : 0;
        } else if (from->kind == POLICY_BLOCK) {
            view_add(view, VIEW_HIDE, NULL,
                     *from->target == '/' ? from->target : in_workspace(view->plan, from->target));
        }
    }
}

/* Order of a walk through the tree: '/' before every other byte, so that /a/b precedes /a-b. */
static int compare_mounts(const void *a, const void *b)
{
    const struct view_mount *x = a;
    const struct view_mount *y = b;
    const unsigned char *p = (const unsigned char *)x->target;
    const unsigned char *q = (const unsigned char *)y->target;

    while (*p && *p == *q)
        p++, q++;
    if (*p == *q)
        return x->order < y->order ? -1 : 1;
    if (!*p || !*q)
        return *p ? 1 : -1;
    if (*p == '/' || *q == '/')
        return *p == '/' ? -1 : 1;
    return *p < *q ? -1 : 1;
}

/* Of several mounts with one target the policy's own wins; hiding comes on top of either. */
static void drop_replaced(struct view *view)
{
    size_t kept = 0;

    for (size_t i = 0; i < view->n; i++) {
        struct view_mount *mount = &view->mounts[i];
        bool replaced = i + 1 < view->n && mount->kind != VIEW_HIDE &&
                        view->mounts[i + 1].kind != VIEW_HIDE &&
                        strcmp(mount->target, view->mounts[i + 1].target) == 0;

        if (!replaced)
            view->mounts[kept++] = *mount;
    }
    view->n = kept;
}

/* Makes the directories of the skeleton that lead to `target`, those not made for the one before. */
static void make_parents(struct view *view, const char *target)
{
    const char *last = view->last_made;
    size_t same = 0;

    for (size_t i = 0;; i++) {
        bool end_of_last = last[i] == '\0' || last[i] == '/';

        if ((target[i] == '/' || target[i] == '\0') && end_of_last && i > 0)
            same = i;
        if (target[i] == '\0' || target[i] != last[i])
            break;
    }
    for (const char *p = target + same + 1; (p = strchr(p, '/')); p++)
        add_skeleton_directory(
            view->plan, plan_text(view->plan, "%.*s", (int)(p - target - 1), target + 1), 0755);
    view->last_made = target;
}

/* The mount point for `mount`, which lies in `container` (NULL: in our own root). */
static int make_mount_point(struct view *view, const struct view_mount *mount,
                            const struct view_mount *container, coop_error **err)
{
    struct plan *plan = view->plan;
    const char *place;

    if (mount->kind == VIEW_HIDE || mount->kind == VIEW_ENTRY ||
        (container && (container->kind == VIEW_BIND || container->kind == VIEW_ENTRY))) {
        /* The mount point must be there already; the step itself says so if it is not. */
        (void)err;
        return 0;
    }
    if (!container) {
        make_parents(view, mount->target);
        place = mount->target + 1;
    } else if (container->kind == VIEW_PRIVATE) {
        const char *rest = mount->target + strlen(container->target) + 1;
        const char *pool = container->source;

        for (const char *p = rest; (p = strchr(p, '/')); p++)
            add_skeleton_directory(plan, plan_text(plan, "%s/%.*s", pool, (int)(p - rest), rest),
                                   0755);
        place = plan_text(plan, "%s/%s", pool, rest);
    } else {
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "the mount target '%s' lies in '%s', where coop cannot make it",
                         mount->target, container->target);
    }
    if (mount->kind == VIEW_LINK)
        add_skeleton_link(plan, place, mount->source);
    else if (mount->is_directory)
        add_skeleton_directory(plan, place, 0755);
    else
        add_skeleton_file(plan, place, NULL);
    return 0;
}

static const enum step_kind step_of_view[] = {
    [VIEW_BIND] = STEP_BIND,  [VIEW_PRIVATE] = STEP_PRIVATE, [VIEW_TMPFS] = STEP_TMPFS,
    [VIEW_PROC] = STEP_PROC,  [VIEW_PTS] = STEP_TERMINALS,   [VIEW_HIDE] = STEP_HIDE,
    [VIEW_ENTRY] = STEP_SHOW,
};

static void emit_mount(struct plan *plan, const struct view_mount *mount)
{
    assert(mount->kind != VIEW_LINK);
    struct step *step = plan_add(plan, step_of_view[mount->kind], STAGE_BOX);

    step->source = mount->source;
    step->target = mount->target + 1;
    step->flags = mount->flags | (mount->by_seal ? STEP_SEALED_LATER : 0);
    step->fd = mount->fd;
    step->dev = mount->dev;
    step->ino = mount->ino;
    step->value = mount->size;
}

static int emit_mount_points(struct view *view, coop_error **err)
{
    const struct view_mount *stack[PLAN_MAX_NESTING];
    size_t depth = 0;

    view->last_made = "";
    for (size_t i = 0; i < view->n; i++) {
        const struct view_mount *mount = &view->mounts[i];

        while (depth > 0 && !path_is_within(mount->target, stack[depth - 1]->target))
            depth--;
        int r = make_mount_point(view, mount, depth ? stack[depth - 1] : NULL, err);
        if (r < 0)
            return r;
        if (depth == PLAN_MAX_NESTING)
            return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                             "the mount target '%s' lies in more than %d others", mount->target,
                             PLAN_MAX_NESTING);
        if (mount->kind != VIEW_HIDE && mount->kind != VIEW_LINK)
            stack[depth++] = mount;
    }
    return 0;
}

static bool is_of_skeleton(const struct step *step)
{
    return (step->kind == STEP_MAKE_DIRECTORY || step->kind == STEP_MAKE_LINK ||
            step->kind == STEP_MAKE_FILE) &&
           strncmp(step->target, "../", 3) != 0;
}

/* What of the box is not the project's: all that has a place in the skeleton, and what is mounted
 * or hidden over an entry. */
static void note_outside(struct view *view)
{
    struct plan *plan = view->plan;
    const char *entry = NULL;

    for (size_t i = 0; i < plan->n_steps; i++) {
        const struct step *step = &plan->steps[i];

        if (is_of_skeleton(step)) {
            const char *path = plan_text(plan, "/%s", step->target);

            if (path)
                plan_strings_add(plan, &plan->outside, path, 1 + strcspn(path + 1, "/"));
        }
    }
    for (size_t i = 0; i < view->n; i++) {
        const struct view_mount *mount = &view->mounts[i];
        const char *target = mount->target;

        if (mount->kind == VIEW_ENTRY)
            entry = target;
        else if (!entry || !path_is_within(target, entry))
            plan_strings_add(plan, &plan->outside, target, 1 + strcspn(target + 1, "/"));
        else if (mount->kind != VIEW_HIDE || strcmp(target, entry) == 0)
            plan_strings_add(plan, &plan->outside, target, strlen(target));
    }
}

/* The project, before /proc covers the place that it is kept at; its entries; what is protected. */
static void emit_project(struct view *view)
{
    struct plan *plan = view->plan;

    note_outside(view);
    plan_project_exclude(plan);
    add_skeleton_file(plan, "../u/coop-git-exclude", plan->git_excludes);
    plan_project_take(plan);
    for (size_t i = 0; i < view->n; i++) {
        struct view_mount *mount = &view->mounts[i];

        if (mount->kind != VIEW_ENTRY)
            continue;
        if (plan_project_hides(plan, mount->target + 1))
            mount->flags |= STEP_HIDDEN;
        emit_mount(plan, mount);
    }
    plan_protect_emit(plan, "/");
}

/*
 * First every mount point, then the root, then the host's own read-only directories, which one
 * recursive call seals together with the root; then everything else, outer before inner.
 */
static int emit_mounts(struct view *view, enum plan_part part, coop_error **err)
{
    struct plan *plan = view->plan;
    int r = emit_mount_points(view, err);

    if (r < 0)
        return r;
    plan_add(plan, STEP_ROOT, STAGE_BOX);
    for (size_t i = 0; i < view->n; i++)
        if (view->mounts[i].by_seal)
            emit_mount(plan, &view->mounts[i]);
    plan_add(plan, STEP_SEAL_ROOT, STAGE_BOX);
    if (plan->is_root_view)
        emit_project(view);
    for (size_t i = 0; i < view->n; i++) {
        struct view_mount *mount = &view->mounts[i];

        /* A template needs a /proc that hides nothing and can be written to, or the kernel would
         * let no box mount its own over it. It is of a pid namespace in which nobody lives. */
        if (part == PLAN_TEMPLATE && mount->kind == VIEW_PROC)
            mount->flags = 0;
        if (mount->by_seal || mount->kind == VIEW_LINK || mount->kind == VIEW_ENTRY ||
            (part == PLAN_TEMPLATE && mount->kind != VIEW_BIND && mount->kind != VIEW_PROC))
            continue;
        emit_mount(plan, mount);
        if (mount->kind == VIEW_BIND)
            plan_protect_emit(plan, mount->target);
    }
    return 0;
}

/* The workspace's git directory, and a link for what it says of the workspace's own place. */
static int add_git(struct view *view, coop_error **err)
{
    const struct plan_git *git = &view->plan->git;
    bool is_free = git->link != NULL;

    if (git->target) {
        struct view_mount *mount = view_add(view, VIEW_BIND, git->source, git->target);
        int r = note_source(mount, git->fd, err);

        if (r < 0)
            return r;
    }
    for (size_t i = 0; is_free && i < view->n; i++)
        is_free = !path_is_within(view->mounts[i].target, git->link);
    for (size_t i = 0; is_free && i < view->plan->policy->n_mounts; i++)
        is_free = !path_is_within(view->plan->policy->mounts[i].target, git->link);
    if (is_free)
        view_add(view, VIEW_LINK, view->plan->workspace_view, git->link);
    return 0;
}

/* Whether the box has something of its own under this name of the root. */
static bool is_taken(const struct view *view, const char *name)
{
    static const char *const later[] = { "proc", "tmp", "run" };
    size_t n = strlen(name);

    for (size_t i = 0; i < COUNT(later); i++)
        if (strcmp(name, later[i]) == 0)
            return true;
    for (size_t i = 0; i < view->n_of_box; i++) {
        const char *target = view->mounts[i].target + 1;

        if (strncmp(target, name, n) == 0 && (target[n] == '/' || !target[n]))
            return true;
    }
    for (size_t i = 0; i < view->plan->n_steps; i++) {
        const struct step *step = &view->plan->steps[i];

        if (is_of_skeleton(step) && strncmp(step->target, name, n) == 0 &&
            (step->target[n] == '/' || !step->target[n]))
            return true;
    }
    return false;
}

static int add_project(struct view *view, coop_error **err)
{
    struct plan *plan = view->plan;
    auto_free struct project_entry *entries = NULL;
    size_t n = 0;
    int r = plan_project_list(plan, &entries, &n, err);

    view->n_of_box = view->n;
    for (size_t i = 0; r == 0 && i < n; i++) {
        if (is_taken(view, entries[i].name)) {
            plan_strings_add(plan, &plan->not_shown, entries[i].name, strlen(entries[i].name));
            continue;
        }
        view_add(view, VIEW_ENTRY, NULL, plan_text(plan, "/%s", entries[i].name))->is_directory =
            entries[i].is_directory;
    }
    return r;
}

static int add_workspace(struct view *view, coop_error **err)
{
    struct plan *plan = view->plan;

    if (plan->is_root_view)
        return add_project(view, err);
    struct view_mount *workspace = view_add(view, VIEW_BIND, plan->workspace, plan->workspace_view);
    return note_source(workspace, plan->workspace_fd, err);
}

/* Directories of programs that hold the allowed ones only, and what else may be code. */
static int add_enforced(struct view *view, coop_error **err)
{
    static const enum view_kind kinds[] = { [ENFORCE_DIRECTORY] = VIEW_PRIVATE,
                                            [ENFORCE_LINK] = VIEW_LINK,
                                            [ENFORCE_FILE] = VIEW_BIND,
                                            [ENFORCE_TREE] = VIEW_BIND,
                                            [ENFORCE_PLAIN] = VIEW_BIND };
    const struct plan_enforce *enforce = view->plan->enforce;
    int r = 0;

    for (size_t i = 0; enforce && i < enforce->n && r == 0; i++) {
        const struct enforce_entry *entry = &enforce->entries[i];
        const char *source = entry->source;

        if (entry->kind == ENFORCE_DIRECTORY) {
            source = plan_text(view->plan, "../x%zu", i);
            add_skeleton_directory(view->plan, source, 0755);
        }
        struct view_mount *mount = view_add(view, kinds[entry->kind], source, entry->target);
        mount->is_directory = entry->kind != ENFORCE_FILE;
        mount->flags = STEP_READ_ONLY;
        if (entry->kind == ENFORCE_FILE || entry->kind == ENFORCE_TREE)
            mount->flags |= STEP_PROGRAMS;
        if (entry->is_mount)
            r = open_source(view, mount, err);
    }
    return r;
}

/* What depends on the policy alone. */
static int add_shared(struct view *view, coop_error **err)
{
    for (size_t i = 0; i < COUNT(tool_directories); i++)
        add_host_entry(view, tool_directories[i], true);
    add_etc(view);
    add_dev(view);
    int r = add_enforced(view, err);
    if (r == 0)
        r = add_workspace(view, err);
    if (r == 0)
        r = add_git(view, err);
    return r < 0 ? r : add_policy_binds(view, err);
}

/* What every box has for itself. Masks too: what there is to hide may change between two boxes. */
static void add_own(struct view *view)
{
    view_add(view, VIEW_PROC, NULL, "/proc")->flags = STEP_READ_ONLY;
    for (size_t i = 0; i < COUNT(hidden_of_proc); i++)
        if (access(hidden_of_proc[i], F_OK) == 0 || errno != ENOENT)
            view_add(view, VIEW_HIDE, NULL, hidden_of_proc[i]);
    view_add(view, VIEW_PTS, NULL, "/dev/pts");
    for (size_t i = 0; i < COUNT(private_places); i++)
        view_add(view, VIEW_PRIVATE, private_places[i].pool, private_places[i].target);
    add_policy_own(view);
}

static void add_pool(struct plan *plan)
{
    struct step *pool = plan_add(plan, STEP_POOL, STAGE_BOX);
    uint64_t size = plan->policy->limits[COOP_LIMIT_TMP_SIZE];

    pool->value = size;
    /* A file of one page each, and never so few that an ordinary build runs out. */
    pool->value2 = size == COOP_LIMIT_NONE ? 0 : size / 4096 < 16384 ? 16384 : size / 4096;
    pool->value2 += pool->value2 ? plan->n_mask_inodes : 0;
    for (size_t i = 0; i < COUNT(private_places); i++)
        add_skeleton_directory(plan, private_places[i].pool, private_places[i].mode);
    add_skeleton_directory(plan, "../u/shm", 01777);
    if (plan->git_excludes && !plan->is_root_view)
        add_skeleton_file(plan, "../u/coop-git-exclude", plan->git_excludes);
}

static int sort_mounts(struct view *view, coop_error **err)
{
    if (view->plan->failed)
        return fail_no_memory(err);
    qsort(view->mounts, view->n, sizeof *view->mounts, compare_mounts);
    drop_replaced(view);
    return 0;
}

static int build_whole(struct view *view, enum plan_part part, coop_error **err)
{
    struct plan *plan = view->plan;

    add_pool(plan);
    add_skeleton_directory(plan, "var", 0755);
    add_skeleton_link(plan, "var/tmp", "../tmp");
    int r = add_shared(view, err);
    if (r < 0)
        return r;
    add_own(view);
    r = sort_mounts(view, err);
    if (r < 0)
        return r;
    r = emit_mounts(view, part, err);
    if (r < 0)
        return r;
    plan_add(plan, STEP_ENTER_ROOT, STAGE_BOX);
    /* The kernel waits for all processors here; the command's process can use that time. */
    plan_add(plan, STEP_DROP_HOST_ROOT, part == PLAN_TEMPLATE ? STAGE_BOX : STAGE_SEAL);
    return 0;
}

static int build_on_template(struct view *view, coop_error **err)
{
    add_pool(view->plan);
    plan_protect_emit_all(view->plan); /* before our own /proc covers what is out of sight */
    add_own(view);
    int r = sort_mounts(view, err);
    for (size_t i = 0; r == 0 && i < view->n; i++)
        emit_mount(view->plan, &view->mounts[i]);
    return r;
}

int plan_view(struct plan *plan, const struct plan_request *request, coop_error **err)
{
    struct view view = { .plan = plan };
    int r = request->part == PLAN_ON_TEMPLATE ? build_on_template(&view, err)
                                              : build_whole(&view, request->part, err);

    free(view.mounts);
    plan_enforce_seal(plan);
    if (r == 0 && request->part != PLAN_TEMPLATE)
        plan_add(plan, STEP_HOSTNAME, STAGE_BOX)->source = plan->policy->hostname;
    return r;
}
