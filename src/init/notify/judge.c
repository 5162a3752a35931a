/*
 * judge.c - what the rules say about a place
 *
 * Names that nobody may make are decided as for everybody (protect/write_rules.h). A directory that moves is
 * looked through. Notify serves one call at a time, and nothing can be made without it: the tree
 * stays as it was seen.
 */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "glob/pack.h"
#include "init/notify/root_view.h"
#include "init/notify/target.h"
#include "init/root_mark.h"
#include "plan/rules/packed.h"
#include "policy/path/path_set.h"
#include "protect/write_rules.h"
#include "sys/raw.h"

static const char *roots[NOTIFY_ROOTS_MAX];
static size_t root_lengths[NOTIFY_ROOTS_MAX];
static size_t n_roots;
static const char *outside, *hidden; /* lists of strings, each ends with an empty one */
static const char *aliases;          /* likewise */
static const void *held;             /* policy/path/path_set.h */
static bool ignores_case;
static char hidden_later[8192]; /* as `hidden` */
static size_t hidden_later_length;
static const char *gates; /* by pattern: enum notify_review_kind */
static void *patterns;
static struct write_rules write_rules; /* once they are unpacked */
static bool is_unpacked;

static size_t n_names(const char *path)
{
    size_t n = 0;

    for (; *path; path++)
        n += *path == '/' && path[1] && path[1] != '/';
    return n;
}

bool target_rules_load(char *rules)
{
    struct packed_rules_header header;

    memcpy(&header, rules, sizeof header);
    if (header.n_roots > NOTIFY_ROOTS_MAX)
        return false;
    const char *root = rules + header.roots_at;
    for (n_roots = 0; n_roots < header.n_roots; n_roots++) {
        roots[n_roots] = root;
        root_lengths[n_roots] = strlen(root);
        if (n_roots == 0 || n_names(root) < write_rules.n_root_names)
            write_rules.n_root_names = n_names(root); /* of the shortest */
        root += root_lengths[n_roots] + 1;
    }
    outside = rules + header.outside_at;
    hidden = rules + header.hidden_at;
    held = rules + header.held_at;
    ignores_case = header.ignore_case;
    aliases = rules + header.aliases_at;
    gates = rules + header.reviewed_at;
    patterns = rules + header.patterns_at;
    write_rules.patterns = patterns;
    write_rules.n = header.n_rules;
    if (header.exceptions_at)
        write_rules.exceptions = (const void *)(rules + header.exceptions_at);
    return true;
}

/* Most commands ask for nothing that needs deciding: unpacking, which writes, waits for the first. */
static const struct write_rules *rules_ready(void)
{
    if (!is_unpacked)
        glob_unpack(patterns);
    is_unpacked = true;
    return &write_rules;
}

static bool is_within(const char *path, const char *ancestor, size_t n)
{
    return strncmp(path, ancestor, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

/* Everything is judged, and told, by the one path that the rules know. */
void target_canonical(char *path, size_t size)
{
    for (const char *p = aliases; *p;) {
        size_t n = strlen(p);
        const char *canonical = p + n + 1;
        size_t length = strlen(canonical);

        if (is_within(path, p, n) && length + strlen(path + n) < size) {
            char rest[PLACE_PATH_MAX];

            (void)notify_append(rest, path + n);
            (void)notify_append(notify_append(path, canonical), rest);
            return;
        }
        p = canonical + length + 1;
    }
}

bool target_holds_hidden(const char *path)
{
    return path_set_has(held, path, ignores_case);
}

bool target_is_outside(const char *path)
{
    for (const char *p = outside; *p; p += strlen(p) + 1)
        if (is_within(path, p, strlen(p)))
            return true;
    return false;
}

bool target_is_in_root_view(const char *path)
{
    return notify_root_view_is_there() && !target_is_outside(path);
}

static bool has_name(const char *list, const char *name)
{
    for (const char *p = list; *p; p += strlen(p) + 1)
        if (strcmp(p, name) == 0)
            return true;
    return false;
}

bool target_is_hidden(const char *name)
{
    return has_name(hidden, name) || has_name(hidden_later, name);
}

bool target_hide(const char *name)
{
    size_t n = strlen(name) + 1;

    if (target_is_hidden(name))
        return true;
    if (hidden_later_length + n >= sizeof hidden_later)
        return false;
    memcpy(hidden_later + hidden_later_length, name, n);
    hidden_later_length += n;
    return true;
}

/* Of a root that is "/", all that is not outside. */
bool target_is_inside(const char *path)
{
    for (size_t i = 0; i < n_roots; i++)
        if (root_lengths[i] == 1 ? target_is_in_root_view(path)
                                 : is_within(path, roots[i], root_lengths[i]))
            return true;
    return false;
}

/* Nothing inside can change what is there while it is asked about. */
static enum write_rule_kind kind_at(const char *path)
{
    struct stat st;

    if (raw(SYS_newfstatat, AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return WRITE_RULE_KIND_UNKNOWN;
    return S_ISDIR(st.st_mode) ? WRITE_RULE_KIND_DIRECTORY : WRITE_RULE_KIND_FILE;
}

static int first_rule(const char *path, enum write_rule_act act)
{
    static struct write_rule_path subject;
    const struct write_rules *rules = rules_ready();

    write_rule_path_init(&subject, rules, path);
    int rule = write_rule_find(rules, &subject, act);
    if (rule < 0 || act != WRITE_RULE_THIS || !write_rule_minds_kind(rules))
        return rule;
    subject.kind = kind_at(path);
    return write_rule_find(rules, &subject, act);
}

int target_rule(const char *path)
{
    return target_is_inside(path) ? first_rule(path, WRITE_RULE_THIS) : -1;
}

int target_reviewed(const char *path, enum notify_review_kind *out)
{
    int rule = target_is_inside(path) ? write_rule_of(rules_ready(), path + 1) : -1;

    *out = rule >= 0 ? (enum notify_review_kind)gates[rule] : NOTIFY_GATE_NONE;
    return *out == NOTIFY_GATE_NONE ? -1 : rule;
}

int target_rule_below(const char *path)
{
    return first_rule(path, WRITE_RULE_ON_THE_WAY);
}

int target_rule_link(const char *path)
{
    return first_rule(path, WRITE_RULE_LINK);
}

/* ---- two places */

static struct write_rule_move move;

bool target_is_stricter(const char *path, const char *other)
{
    return write_rule_is_stricter(&move, rules_ready(), path, other);
}

static enum write_rule_type type_of(int fd, const struct dirent64 *entry)
{
    struct stat st;

    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type == DT_DIR   ? WRITE_RULE_DIRECTORY
               : entry->d_type == DT_LNK ? WRITE_RULE_SYMLINK
                                         : WRITE_RULE_FILE;
    if (raw(SYS_newfstatat, fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return WRITE_RULE_FILE; /* gone */
    return S_ISDIR(st.st_mode)   ? WRITE_RULE_DIRECTORY
           : S_ISLNK(st.st_mode) ? WRITE_RULE_SYMLINK
                                 : WRITE_RULE_FILE;
}

static int look_through(int fd, const struct write_rule_place *place);

static int look_at(int fd, const struct dirent64 *entry, const struct write_rule_place *place)
{
    struct write_rule_place below;
    int rule = write_rule_move_look(&move, place, entry->d_name, type_of(fd, entry), &below);

    if (rule != WRITE_RULE_LOOK_BELOW)
        return rule;
    long below_fd =
        raw(SYS_openat, fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (below_fd < 0)
        return move.unclear;
    rule = look_through((int)below_fd, &below);
    (void)raw(SYS_close, below_fd);
    return rule;
}

/* Another box may write it, and judges by where it lay. */
static bool is_marked(int fd)
{
    struct flock others = { .l_type = F_WRLCK, .l_start = ROOT_MARK_AT, .l_len = 1 };

    return raw(SYS_fcntl, fd, F_OFD_GETLK, &others) < 0 || others.l_type != F_UNLCK;
}

static int look_through(int fd, const struct write_rule_place *place)
{
    _Alignas(struct dirent64) char buffer[2048];
    long n;

    if (is_marked(fd))
        return move.unclear;
    while ((n = raw(SYS_getdents64, fd, buffer, sizeof buffer)) > 0)
        for (long at = 0; at < n;) {
            const struct dirent64 *entry = (const void *)(buffer + at);
            int rule = -1;

            if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                rule = look_at(fd, entry, place);
            if (rule >= 0)
                return rule;
            at += entry->d_reclen;
        }
    return n < 0 ? move.unclear : -1;
}

int target_rule_within(const char *path, const char *other, int directory_fd)
{
    struct write_rule_place top;
    int rule = write_rule_move_begin(&move, rules_ready(), path, other, &top);

    if (rule != WRITE_RULE_LOOK_BELOW)
        return rule;
    long fd = raw(SYS_openat, directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return move.unclear;
    rule = look_through((int)fd, &top);
    (void)raw(SYS_close, fd);
    return rule;
}
