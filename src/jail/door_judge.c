/*
 * door_judge.c - what the rules say about a place
 *
 * `.git` may be made and moved to, hooks inside it may not be made: so nobody may prepare a directory
 * with hooks under another name and move it there either. Where a directory's new place is stricter
 * than its old one, it is looked through. The door serves one call at a time, and nothing can be made
 * without it: the tree stays as it was seen.
 */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "jail/door_place.h"
#include "jail/door_project.h"
#include "plan/door_rules.h"
#include "policy/glob_pack.h"
#include "policy/glob_reach.h"
#include "policy/path_set.h"
#include "sys/raw.h"

#define ROOTS_MAX   64
#define MAX_DEPTH   64
#define MAX_ENTRIES 200000u

static const char *roots[ROOTS_MAX];
static size_t root_lengths[ROOTS_MAX];
static size_t n_roots;
static size_t n_root_names;          /* of the shortest */
static const char *outside, *hidden; /* lists of strings, each ends with an empty one */
static const char *aliases;          /* likewise */
static const void *held;             /* policy/path_set.h */
static bool ignores_case;
static char hidden_later[8192]; /* as `hidden` */
static size_t hidden_later_length;
static const char *gates; /* by pattern: 1 if it has one */
static void *patterns;
static size_t n_patterns;
static bool is_unpacked;

static void *map_rules(int fd, struct door_rules_header *header)
{
    if (raw(SYS_pread64, fd, header, sizeof *header, 0) != (long)sizeof *header ||
        header->size > DOOR_RULES_MAX || header->n_roots > ROOTS_MAX)
        return NULL;
    long at = raw(SYS_mmap, NULL, header->size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    return at < 0 && at > -4096 ? NULL : (void *)at;
}

static size_t n_names(const char *path)
{
    size_t n = 0;

    for (; *path; path++)
        n += *path == '/' && path[1] && path[1] != '/';
    return n;
}

bool place_rules_load(int fd)
{
    struct door_rules_header header;
    char *rules = map_rules(fd, &header);

    if (!rules)
        return false;
    const char *root = rules + header.roots_at;
    for (n_roots = 0; n_roots < header.n_roots; n_roots++) {
        roots[n_roots] = root;
        root_lengths[n_roots] = strlen(root);
        if (n_roots == 0 || n_names(root) < n_root_names)
            n_root_names = n_names(root);
        root += root_lengths[n_roots] + 1;
    }
    outside = rules + header.outside_at;
    hidden = rules + header.hidden_at;
    held = rules + header.held_at;
    ignores_case = header.ignore_case;
    aliases = rules + header.aliases_at;
    gates = rules + header.gates_at;
    patterns = rules + header.patterns_at;
    n_patterns = glob_n_packed(patterns);
    return true;
}

/* Most commands ask for nothing that needs deciding: unpacking, which writes, waits for the first. */
static const struct glob *pattern_at(size_t i)
{
    if (!is_unpacked)
        glob_unpack(patterns);
    is_unpacked = true;
    return glob_packed(patterns, i);
}

static bool is_within(const char *path, const char *ancestor, size_t n)
{
    return strncmp(path, ancestor, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

/* Everything is judged, and told, by the one path that the rules know. */
void place_canonical(char *path, size_t size)
{
    for (const char *p = aliases; *p;) {
        size_t n = strlen(p);
        const char *canonical = p + n + 1;
        size_t length = strlen(canonical);

        if (is_within(path, p, n) && length + strlen(path + n) < size) {
            char rest[PLACE_PATH_MAX];

            (void)door_append(rest, path + n);
            (void)door_append(door_append(path, canonical), rest);
            return;
        }
        p = canonical + length + 1;
    }
}

bool place_holds_hidden(const char *path)
{
    return path_set_has(held, path, ignores_case);
}

bool place_is_outside(const char *path)
{
    for (const char *p = outside; *p; p += strlen(p) + 1)
        if (is_within(path, p, strlen(p)))
            return true;
    return false;
}

bool place_is_in_project(const char *path)
{
    return door_project_is_there() && !place_is_outside(path);
}

static bool has_name(const char *list, const char *name)
{
    for (const char *p = list; *p; p += strlen(p) + 1)
        if (strcmp(p, name) == 0)
            return true;
    return false;
}

bool place_is_hidden(const char *name)
{
    return has_name(hidden, name) || has_name(hidden_later, name);
}

bool place_hide(const char *name)
{
    size_t n = strlen(name) + 1;

    if (place_is_hidden(name))
        return true;
    if (hidden_later_length + n >= sizeof hidden_later)
        return false;
    memcpy(hidden_later + hidden_later_length, name, n);
    hidden_later_length += n;
    return true;
}

/* Of a root that is "/", all that is not outside. */
bool place_is_inside(const char *path)
{
    for (size_t i = 0; i < n_roots; i++)
        if (root_lengths[i] == 1 ? place_is_in_project(path)
                                 : is_within(path, roots[i], root_lengths[i]))
            return true;
    return false;
}

/* A path's names, made ready once for all patterns: they all mind case, or none does. */
struct subject {
    struct glob_path names;
    bool is_too_long; /* to be looked at: every rule's business */
};

static const struct subject *prepare(struct subject *subject, const char *path)
{
    subject->is_too_long =
        !glob_path_init(&subject->names, path, n_patterns > 0 && pattern_at(0)->ignore_case);
    return subject;
}

/* What a rule can say about a path. */
static bool matches(const struct glob *glob, const struct glob_path *path)
{
    struct glob_reach reach;

    return glob_reach(glob, path, &reach);
}

static bool is_meant(const struct glob *glob, const struct glob_path *path)
{
    struct glob_reach reach;

    return !glob_reach(glob, path, &reach) && glob_reach_is_meant(glob, &reach, n_root_names);
}

static int first_rule(const char *path, bool (*says)(const struct glob *, const struct glob_path *))
{
    static struct subject space;
    const struct subject *subject = prepare(&space, path);

    for (size_t i = 0; i < n_patterns; i++)
        if (subject->is_too_long || says(pattern_at(i), &subject->names))
            return (int)i;
    return -1;
}

int place_rule(const char *path)
{
    return place_is_inside(path) ? first_rule(path, matches) : -1;
}

int place_gate(const char *path)
{
    for (size_t i = 0; place_is_inside(path) && i < n_patterns; i++)
        if (glob_match(pattern_at(i), path + 1, true))
            return gates[i] ? (int)i : -1;
    return -1;
}

int place_rule_below(const char *path)
{
    return first_rule(path, glob_path_is_literal_ancestor);
}

int place_rule_link(const char *path)
{
    return first_rule(path, is_meant);
}

/* ---- two places */

static bool is_stricter(const struct glob *glob, const struct subject *here,
                        const struct subject *there)
{
    struct glob_reach from;
    struct glob_reach to;

    if (here->is_too_long || there->is_too_long || glob_reach(glob, &here->names, &to))
        return true;
    return !glob_reach(glob, &there->names, &from) && !glob_reach_is_within(glob, &to, &from);
}

static struct subject there;

static int first_stricter(const char *path, const char *other)
{
    static struct subject here;

    (void)prepare(&here, path);
    (void)prepare(&there, other);
    for (size_t i = 0; i < n_patterns; i++)
        if (is_stricter(pattern_at(i), &here, &there))
            return (int)i;
    return -1;
}

bool place_is_stricter(const char *path, const char *other)
{
    return first_stricter(path, other) >= 0;
}

/* A directory that is looked through, as if it stood at `path`, and not at `other`. */
static struct {
    char path[2 * PLACE_PATH_MAX];
    char other[2 * PLACE_PATH_MAX];
    unsigned n_entries;
    int unclear; /* the rule to name where it cannot be looked through */
} tree;

/* The rule about what would stand at tree.path, but says nothing about tree.other. */
static int judge_entry(bool is_link)
{
    static struct subject here;
    struct glob_reach reach;

    (void)prepare(&here, tree.path);
    (void)prepare(&there, tree.other);
    if (here.is_too_long || there.is_too_long)
        return tree.unclear;
    for (size_t i = 0; i < n_patterns; i++) {
        const struct glob *glob = pattern_at(i);
        bool concerns = glob_reach(glob, &here.names, &reach) ||
                        (is_link && glob_reach_is_meant(glob, &reach, n_root_names));

        if (concerns && !glob_reach(glob, &there.names, &reach) &&
            !(is_link && glob_reach_is_meant(glob, &reach, n_root_names)))
            return (int)i;
    }
    return -1;
}

static unsigned type_of(int fd, const struct dirent64 *entry)
{
    struct stat st;

    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type;
    if (raw(SYS_newfstatat, fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return DT_REG; /* gone */
    return S_ISDIR(st.st_mode) ? DT_DIR : S_ISLNK(st.st_mode) ? DT_LNK : DT_REG;
}

static int look_through(int fd, char *end, char *other_end, unsigned depth);

static int look_at(int fd, const struct dirent64 *entry, char *end, char *other_end, unsigned depth)
{
    unsigned type = type_of(fd, entry);
    size_t room = strlen(entry->d_name) + 2;

    if (end + room > tree.path + sizeof tree.path ||
        other_end + room > tree.other + sizeof tree.other || ++tree.n_entries > MAX_ENTRIES)
        return tree.unclear;
    *end++ = *other_end++ = '/';
    end = door_append(end, entry->d_name);
    other_end = door_append(other_end, entry->d_name);
    int rule = judge_entry(type == DT_LNK);
    if (rule >= 0 || type != DT_DIR || !place_is_stricter(tree.path, tree.other))
        return rule;
    long below =
        raw(SYS_openat, fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (below < 0 || depth == MAX_DEPTH)
        rule = tree.unclear;
    else
        rule = look_through((int)below, end, other_end, depth + 1);
    if (below >= 0)
        (void)raw(SYS_close, below);
    return rule;
}

static int look_through(int fd, char *end, char *other_end, unsigned depth)
{
    _Alignas(struct dirent64) char buffer[2048];
    long n;

    while ((n = raw(SYS_getdents64, fd, buffer, sizeof buffer)) > 0)
        for (long at = 0; at < n;) {
            const struct dirent64 *entry = (const void *)(buffer + at);
            int rule = -1;

            if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                rule = look_at(fd, entry, end, other_end, depth);
            if (rule >= 0)
                return rule;
            at += entry->d_reclen;
        }
    return n < 0 ? tree.unclear : -1;
}

int place_rule_within(const char *path, const char *other, int directory_fd)
{
    tree.unclear = first_stricter(path, other);
    if (tree.unclear < 0)
        return -1;
    long fd = raw(SYS_openat, directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return tree.unclear;
    tree.n_entries = 0;
    char *end = door_append(tree.path, path);
    int rule = look_through((int)fd, end, door_append(tree.other, other), 0);
    (void)raw(SYS_close, fd);
    return rule;
}
