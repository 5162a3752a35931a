/*
 * examine.c - a name that a rule may be about: what it is, and whether the rule means it
 *
 * What is gone meanwhile needs no protection. Any other failure to look is an error: what was not
 * looked at would not be hidden.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "policy/path/path.h"
#include "policy/secret_content.h"
#include "protect/scan/scan_private.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define GITFILE_MAX 4096

static const struct protect_rule unsearchable = {
    "a directory that cannot be searched", COOP_PROTECT_HIDE, 0, { NULL, 0, 0 }
};

/* Nothing is there any more, or nothing that leads anywhere: nothing to protect. */
static bool is_gone(int errnum)
{
    return errnum == ENOENT || errnum == ENOTDIR || errnum == ELOOP || errnum == ENAMETOOLONG;
}

static int fail_look(int errnum, const char *path, coop_error **err)
{
    return fail(err, errnum, "look at '%s' in the workspace", path);
}

/* ---- content */

/* Up to `size` bytes of a regular file, as many as there are; -errno. */
static long read_file(struct scan *scan, const char *path, char *to, size_t size)
{
    struct kernel_open_how how = {
        .flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | O_NOATIME,
        .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    long fd = raw(NR_OPENAT2, scan->root_fd, path, &how, sizeof how);
    size_t n = 0;

    if (fd == -EPERM) { /* not its owner */
        how.flags &= ~(uint64_t)O_NOATIME;
        fd = raw(NR_OPENAT2, scan->root_fd, path, &how, sizeof how);
    }
    if (fd < 0)
        return fd;
    while (n < size) {
        ssize_t got = read((int)fd, to + n, size - n);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            int error = errno;

            (void)close((int)fd);
            return -error;
        }
        if (got == 0)
            break;
        n += (size_t)got;
    }
    (void)close((int)fd);
    return (long)n;
}

/* What may not be read counts as secret. */
static int content_applies(struct scan *scan, unsigned conditions, const char *path,
                           const struct stat *st, bool *out, coop_error **err)
{
    *out = true;
    if (!S_ISREG(st->st_mode) || !protect_needs_content(conditions))
        return 0;
    scan->depends = true;
    if (!scan->content)
        scan->content = malloc(PROTECT_CONTENT_MAX + 1);
    if (!scan->content)
        return fail_no_memory(err);
    long n = read_file(scan, path, scan->content, PROTECT_CONTENT_MAX + 1);
    if (n == -EACCES || n == -EPERM || is_gone((int)-n))
        return 0;
    if (n < 0)
        return fail_look((int)-n, path, err);
    bool is_whole = (size_t)n <= PROTECT_CONTENT_MAX;
    *out = protect_content_applies(conditions, scan->content,
                                   is_whole ? (size_t)n : PROTECT_CONTENT_MAX, is_whole);
    return 0;
}

static const char *last_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Whether the conditions of the rule hold for what is at `path`, which is called `name`. */
static int rule_applies(struct scan *scan, const struct protect_rule *rule, const char *name,
                        const char *path, const struct stat *st, bool *out, coop_error **err)
{
    *out = !(rule->conditions & PROTECT_FILES_ONLY && !S_ISREG(st->st_mode)) &&
           protect_name_applies(rule->conditions, name, strlen(name));
    return *out ? content_applies(scan, rule->conditions, path, st, out, err) : 0;
}

/* ---- links */

/*
 * What a link leads to, if that is in the tree: its path there, relative to the root. Outside, the
 * box has nothing to show.
 */
int scan_follow(struct scan *scan, const char *path, char out[PATH_MAX], struct stat *st,
                bool *out_inside, coop_error **err)
{
    char link[64];
    char target[PATH_MAX];
    const char *root = scan_root_path(scan);
    size_t length = strlen(root);
    auto_close int fd = openat(scan->root_fd, path, O_PATH | O_CLOEXEC);

    *out_inside = false;
    if (fd < 0 && (is_gone(errno) || errno == EACCES))
        return 0;
    if (fd < 0 || fstat(fd, st) < 0 || length == 0)
        return fail_look(errno, path, err);
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, target, sizeof target - 1);
    if (n <= 0)
        return fail_look(errno, path, err);
    target[n] = '\0';
    *out_inside = strncmp(target, root, length) == 0 && target[length] == '/';
    if (*out_inside)
        memcpy(out, target + length + 1, strlen(target + length + 1) + 1);
    return 0;
}

/* ---- one name */

struct subject {
    const char *path;
    const char *name;
    const struct scan_entry *record; /* of its directory */
    const char *rule_path; /* what the rules are asked about: the link, where one led here */
    struct stat st;
};

static enum protect_scope scope_of(const struct scan_entry *record)
{
    return entry_hides_all(record->mode) ? PROTECT_ALL : PROTECT_OWN;
}

static int add(struct scan *scan, enum protect_found_kind kind, const struct subject *subject,
               const struct protect_rule *rule, bool is_nested, coop_error **err)
{
    return scan_add_found(scan,
                          &(struct protect_found){ .kind = kind,
                                                   .is_nested = is_nested,
                                                   .path = subject->path,
                                                   .named = subject->rule_path,
                                                   .rule = rule,
                                                   .st = subject->st },
                          err);
}

/* A branch of a bare repository, whatever it is called: it holds the name of an object and no more. */
static bool is_reference(struct scan *scan, const struct subject *subject)
{
    const struct scan_entry *record = subject->record;
    char text[80];

    if (record->mode != ENTRY_BARE || !S_ISREG(subject->st.st_mode) ||
        subject->st.st_size >= (off_t)sizeof text ||
        strncmp(subject->rule_path + record->git_at, "refs/", 5) != 0)
        return false;
    scan->depends = true;
    long n = read_file(scan, subject->path, text, sizeof text);
    if (n <= 0 || text[n - 1] != '\n')
        return false;
    size_t length = strspn(text, "0123456789abcdef");
    return (length == 40 || length == 64) && length == (size_t)n - 1;
}

static int examine_hiding(struct scan *scan, const struct subject *subject, bool *out_hidden,
                          coop_error **err)
{
    bool is_directory = S_ISDIR(subject->st.st_mode);
    enum protect_scope scope = scope_of(subject->record);

    if (is_reference(scan, subject))
        return 0;
    for (;; scope = PROTECT_OWN) {
        const struct protect_rule *rule =
            protect_hides(scan->protect, subject->rule_path, is_directory, scope);
        bool applies = false;

        if (!rule)
            return 0;
        int r = rule_applies(scan, rule, subject->name, subject->path, &subject->st, &applies, err);
        if (r < 0)
            return r;
        if (applies) {
            *out_hidden = true;
            return add(scan, FOUND_HIDE, subject, rule, false, err);
        }
        if (scope == PROTECT_OWN)
            return 0;
    }
}

/* Whatever it is called. Another's, nobody in the box can read either. */
static int examine_private(struct scan *scan, const struct subject *subject, bool *out_hidden,
                           coop_error **err)
{
    const struct stat *st = &subject->st;
    uid_t uid = geteuid();
    bool applies = false;

    if (!secret_is_private(st->st_mode, 1) || (uid != 0 && st->st_uid != uid) ||
        !entry_hides_all(subject->record->mode) ||
        !protect_looks_at_modes(scan->protect, subject->path, scan->options->is_beside))
        return 0;
    scan->depends = true;
    if (!secret_is_private(st->st_mode, st->st_size) ||
        protect_excepts(scan->protect, subject->path))
        return 0;
    int r = rule_applies(scan, &protect_private, subject->name, subject->path, st, &applies, err);
    if (r < 0 || !applies)
        return r;
    *out_hidden = true;
    return add(scan, FOUND_HIDE, subject, &protect_private, false, err);
}

static const struct protect_rule *keeping_rule(struct scan *scan, const struct subject *subject,
                                               bool *out_nested)
{
    bool is_directory = S_ISDIR(subject->st.st_mode);
    const struct scan_entry *record = subject->record;
    const struct protect_rule *rule =
        protect_keeps(scan->protect, subject->rule_path, is_directory);

    *out_nested = false;
    if (!rule && entry_is_in_git(record->mode) &&
        !protect_shows(scan->protect, subject->rule_path, is_directory)) {
        rule =
            protect_keeps_in_git(scan->protect, subject->rule_path + record->git_at, is_directory);
        *out_nested = rule && !scan->options->is_git_directory;
    }
    return rule;
}

/* The link itself; what it leads to is another matter. */
static int examine_kept_link(struct scan *scan, const struct subject *subject, coop_error **err)
{
    bool is_nested;
    const struct protect_rule *rule = keeping_rule(scan, subject, &is_nested);

    return rule ? add(scan, FOUND_KEPT_LINK, subject, rule, is_nested, err) : 0;
}

static int examine_keeping(struct scan *scan, const struct subject *subject, coop_error **err)
{
    bool is_directory = S_ISDIR(subject->st.st_mode);
    bool is_nested;
    const struct protect_rule *rule = keeping_rule(scan, subject, &is_nested);

    if (!rule)
        return 0;
    enum protect_found_kind kind =
        rule->conditions & PROTECT_GIT_CONFIG && !is_directory ? FOUND_GIT_CONFIG : FOUND_KEEP;
    scan->depends |= kind == FOUND_GIT_CONFIG;
    return add(scan, kind, subject, rule, is_nested, err);
}

static bool is_git(const struct scan *scan, const char *name)
{
    return (protect_ignores_case(scan->protect) ? strcasecmp(name, ".git")
                                                : strcmp(name, ".git")) == 0;
}

/* A .git in a work tree: the directory itself, or a file that says where it is. */
static int examine_git(struct scan *scan, const struct subject *subject, coop_error **err)
{
    bool is_top = is_git(scan, subject->path);

    if (is_top)
        scan->out->is_work_tree = true;
    if (!protect_has_defaults(scan->protect) ||
        protect_shows(scan->protect, subject->path, S_ISDIR(subject->st.st_mode)))
        return 0;
    if (!S_ISDIR(subject->st.st_mode))
        return S_ISREG(subject->st.st_mode)
                   ? add(scan, FOUND_KEEP, subject, &scan_git_rule, !is_top, err)
                   : 0;
    int r = add(scan, FOUND_GIT_DIRECTORY, subject, &scan_git_rule, !is_top, err);
    return r == 0 && !is_top ? scan_add_git_directory(scan, subject->path, err) : r;
}

static int examine_subject(struct scan *scan, const struct subject *subject, bool *out_hidden,
                           coop_error **err)
{
    *out_hidden = false;
    int r = examine_hiding(scan, subject, out_hidden, err);

    if (r == 0 && !*out_hidden)
        r = examine_private(scan, subject, out_hidden, err);
    return r < 0 || *out_hidden ? r : examine_keeping(scan, subject, err);
}

static int examine_pointed(struct scan *scan, const char *path, const struct stat *st,
                           coop_error **err);

/* A link .git that leads to a directory of another name in the tree. */
static int examine_linked_git(struct scan *scan, const char *path, const char *target,
                              const struct stat *st, coop_error **err)
{
    if (is_git(scan, path))
        scan->out->is_work_tree = true;
    if (!S_ISDIR(st->st_mode) || !protect_has_defaults(scan->protect))
        return 0;
    int r = examine_pointed(scan, target, st, err);
    return r == 0 ? scan_hold_way(scan, path, FOUND_KEPT_LINK, err) : r;
}

/* Most names of a mount: no rule is about them. */
static bool is_only_for_mode(const struct scan *scan, const struct subject *subject)
{
    return S_ISREG(subject->st.st_mode) && !is_git(scan, subject->name) &&
           !protect_concerns_name(scan->protect, subject->name, strlen(subject->name));
}

static int examine(struct scan *scan, const struct scan_entry *record, const char *path,
                   coop_error **err)
{
    char target[PATH_MAX];
    struct subject subject = {
        .path = path, .name = last_name(path), .record = record, .rule_path = path
    };

    if (fstatat(scan->root_fd, path, &subject.st, AT_SYMLINK_NOFOLLOW) < 0)
        return is_gone(errno) ? 0 : fail_look(errno, path, err);
    if (is_only_for_mode(scan, &subject) && !secret_is_private(subject.st.st_mode, 1))
        return 0;
    if (is_git(scan, subject.name) && record->mode != ENTRY_GIT && !S_ISLNK(subject.st.st_mode)) {
        bool is_hidden;
        int r = examine_subject(scan, &subject, &is_hidden, err);

        return r < 0 || is_hidden ? r : examine_git(scan, &subject, err);
    }
    if (S_ISLNK(subject.st.st_mode)) {
        bool is_inside = false;
        int r = examine_kept_link(scan, &subject, err);

        if (r == 0)
            r = scan_follow(scan, path, target, &subject.st, &is_inside, err);
        if (r < 0 || !is_inside)
            return r;
        if (is_git(scan, subject.name) && record->mode != ENTRY_GIT)
            return examine_linked_git(scan, path, target, &subject.st, err);
        subject.path = target;
    }
    bool is_hidden;
    int r = examine_subject(scan, &subject, &is_hidden, err);
    return r < 0 || !is_hidden || subject.path == path ? r
                                                       : scan_hold_way(scan, path, FOUND_LINK, err);
}

/* The directory itself, if it is not merely below one. */
static int examine_bare(struct scan *scan, const struct scan_entry *record, const char *directory,
                        coop_error **err)
{
    struct subject subject = { .path = directory, .rule_path = directory };

    if (record->git_at != (*directory ? strlen(directory) + 1 : 0) ||
        !protect_has_defaults(scan->protect) || protect_shows(scan->protect, directory, true))
        return 0;
    int r = scan_add_git_directory(scan, directory, err);
    if (r < 0 || !*directory) /* the workspace itself, which is not the box's to move */
        return r;
    if (fstatat(scan->root_fd, directory, &subject.st, AT_SYMLINK_NOFOLLOW) < 0)
        return is_gone(errno) ? 0 : fail_look(errno, directory, err);
    return add(scan, FOUND_GIT_DIRECTORY, &subject, &scan_git_rule, true, err);
}

int scan_examine_name(struct scan *scan, const struct scan_entry *record, const char *path,
                      coop_error **err)
{
    scan->depends = false;
    return examine(scan, record, path, err);
}

int scan_examine_entry(struct scan *scan, const struct scan_entries *records, size_t i,
                       coop_error **err)
{
    const struct scan_entry *record = &records->items[i];
    const char *directory = entries_path(records, i);
    const char *name = records->text.data + record->names;
    char path[PATH_MAX + 256];
    struct stat st;
    int r = 0;

    if (record->flags & ENTRY_UNSEARCHABLE && *directory) {
        if (fstatat(scan->root_fd, directory, &st, AT_SYMLINK_NOFOLLOW) == 0)
            return add(scan, FOUND_HIDE, &(struct subject){ directory, "", NULL, directory, st },
                       &unsearchable, false, err);
        return is_gone(errno) ? 0 : fail_look(errno, directory, err);
    }
    if (record->mode == ENTRY_BARE)
        r = examine_bare(scan, record, directory, err);
    for (uint32_t n = 0; r == 0 && n < record->n_names; n++) {
        (void)snprintf(path, sizeof path, "%s%s%s", directory, *directory ? "/" : "", name);
        r = examine(scan, record, path, err);
        name += strlen(name) + 1;
    }
    return r;
}

/* ---- a gitfile that leads to a git directory of another name in the tree: .git says .bare */

static int examine_pointed(struct scan *scan, const char *path, const struct stat *st,
                           coop_error **err)
{
    struct scan_entries records = { 0 };
    struct entries_spent spent;
    auto_close int fd =
        openat(scan->root_fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    char inner[2 * PATH_MAX];

    if (fd < 0)
        return 0;
    const struct entries_walk how = {
        .root_fd = fd, .protect = scan->protect, .is_git_directory = true, .now = scan->now
    };
    int r = scan_add_git_directory(scan, path, err);
    if (r == 0)
        r = add(scan, FOUND_GIT_DIRECTORY, &(struct subject){ path, "", NULL, path, *st },
                &scan_git_rule, false, err);
    if (r == 0)
        r = entries_walk(&how, NULL, NULL, &records, &spent, err);
    for (size_t i = 0; r == 0 && i < records.n; i++) {
        const struct scan_entry *record = &records.items[i];
        const char *name = records.text.data + record->names;
        const char *directory = entries_path(&records, i);

        for (uint32_t n = 0; r == 0 && n < record->n_names; n++, name += strlen(name) + 1) {
            struct scan_entry outside = *record;

            (void)snprintf(inner, sizeof inner, "%s/%s%s%s", path, directory, *directory ? "/" : "",
                           name);
            outside.git_at = (uint16_t)(strlen(path) + 1);
            r = strlen(inner) < PATH_MAX ? examine(scan, &outside, inner, err) : 0;
        }
    }
    scan_entries_done(&records);
    return r;
}

static bool is_below_git(const char *path)
{
    return strncmp(path, ".git/", 5) == 0 || strstr(path, "/.git/");
}

static int examine_gitfile(struct scan *scan, const char *path, coop_error **err)
{
    static const char prefix[] = "gitdir: ";
    char text[GITFILE_MAX + 1];
    char joined[2 * PATH_MAX];
    char target[PATH_MAX];
    struct stat st;
    long n = read_file(scan, path, text, GITFILE_MAX);

    if (n <= (long)sizeof prefix || strncmp(text, prefix, sizeof prefix - 1) != 0)
        return 0;
    text[n] = '\0';
    text[strcspn(text, "\r\n")] = '\0';
    const char *to = text + sizeof prefix - 1;
    if (*to == '/')
        (void)snprintf(joined, sizeof joined, "%s", to);
    else
        (void)snprintf(joined, sizeof joined, "%.*s%s", (int)(last_name(path) - path), path, to);
    bool is_inside = false;
    int r = scan_follow(scan, joined, target, &st, &is_inside, err);
    if (r < 0 || !is_inside || !S_ISDIR(st.st_mode) || is_below_git(target) ||
        strcmp(last_name(target), ".git") == 0)
        return r;
    return examine_pointed(scan, target, &st, err);
}

int scan_examine_gitfiles(struct scan *scan, coop_error **err)
{
    size_t n = scan->out->n_found;
    int r = 0;

    for (size_t i = 0; r == 0 && i < n; i++) {
        const struct protect_found *found = &scan->out->found[i];

        if (found->is_gitfile)
            r = examine_gitfile(scan, found->path, err);
    }
    return r;
}
