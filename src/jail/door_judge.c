/*
 * door_judge.c - what the rules say about a place
 *
 * Names that nobody may make are decided as for everybody (policy/never.h). A directory that moves is
 * looked through. The door serves one call at a time, and nothing can be made without it: the tree
 * stays as it was seen.
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
#include "policy/never.h"
#include "policy/path_set.h"
#include "sys/raw.h"

#define ROOTS_MAX 64

static const char *roots[ROOTS_MAX];
static size_t root_lengths[ROOTS_MAX];
static size_t n_roots;
static const char *outside, *hidden; /* lists of strings, each ends with an empty one */
static const char *aliases;          /* likewise */
static const void *held;             /* policy/path_set.h */
static bool ignores_case;
static char hidden_later[8192]; /* as `hidden` */
static size_t hidden_later_length;
static const char *gates; /* by pattern: 1 if it has one */
static void *patterns;
static struct never_rules never; /* once they are unpacked */
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
        if (n_roots == 0 || n_names(root) < never.n_root_names)
            never.n_root_names = n_names(root); /* of the shortest */
        root += root_lengths[n_roots] + 1;
    }
    outside = rules + header.outside_at;
    hidden = rules + header.hidden_at;
    held = rules + header.held_at;
    ignores_case = header.ignore_case;
    aliases = rules + header.aliases_at;
    gates = rules + header.gates_at;
    patterns = rules + header.patterns_at;
    never.patterns = patterns;
    never.n = header.n_rules;
    if (header.exceptions_at)
        never.exceptions = (const void *)(rules + header.exceptions_at);
    return true;
}

/* Most commands ask for nothing that needs deciding: unpacking, which writes, waits for the first. */
static const struct never_rules *rules_ready(void)
{
    if (!is_unpacked)
        glob_unpack(patterns);
    is_unpacked = true;
    return &never;
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

/* Nothing inside can change what is there while it is asked about. */
static enum never_kind kind_at(const char *path)
{
    struct stat st;

    if (raw(SYS_newfstatat, AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return NEVER_KIND_UNKNOWN;
    return S_ISDIR(st.st_mode) ? NEVER_KIND_DIRECTORY : NEVER_KIND_FILE;
}

static int first_rule(const char *path, enum never_act act)
{
    static struct never_path subject;
    const struct never_rules *rules = rules_ready();

    never_path_init(&subject, rules, path);
    int rule = never_rule(rules, &subject, act);
    if (rule < 0 || act != NEVER_THIS || !never_minds_kind(rules))
        return rule;
    subject.kind = kind_at(path);
    return never_rule(rules, &subject, act);
}

int place_rule(const char *path)
{
    return place_is_inside(path) ? first_rule(path, NEVER_THIS) : -1;
}

int place_gate(const char *path)
{
    int rule = place_is_inside(path) ? never_rule_of(rules_ready(), path + 1) : -1;

    return rule >= 0 && gates[rule] ? rule : -1;
}

int place_rule_below(const char *path)
{
    return first_rule(path, NEVER_ON_THE_WAY);
}

int place_rule_link(const char *path)
{
    return first_rule(path, NEVER_LINK);
}

/* ---- two places */

static struct never_move move;

bool place_is_stricter(const char *path, const char *other)
{
    return never_is_stricter(&move, rules_ready(), path, other);
}

static enum never_type type_of(int fd, const struct dirent64 *entry)
{
    struct stat st;

    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type == DT_DIR   ? NEVER_DIRECTORY
               : entry->d_type == DT_LNK ? NEVER_SYMLINK
                                         : NEVER_FILE;
    if (raw(SYS_newfstatat, fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return NEVER_FILE; /* gone */
    return S_ISDIR(st.st_mode) ? NEVER_DIRECTORY : S_ISLNK(st.st_mode) ? NEVER_SYMLINK : NEVER_FILE;
}

static int look_through(int fd, const struct never_place *place);

static int look_at(int fd, const struct dirent64 *entry, const struct never_place *place)
{
    struct never_place below;
    int rule = never_move_look(&move, place, entry->d_name, type_of(fd, entry), &below);

    if (rule != NEVER_LOOK_BELOW)
        return rule;
    long below_fd =
        raw(SYS_openat, fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (below_fd < 0)
        return move.unclear;
    rule = look_through((int)below_fd, &below);
    (void)raw(SYS_close, below_fd);
    return rule;
}

static int look_through(int fd, const struct never_place *place)
{
    _Alignas(struct dirent64) char buffer[2048];
    long n;

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

int place_rule_within(const char *path, const char *other, int directory_fd)
{
    struct never_place top;
    int rule = never_move_begin(&move, rules_ready(), path, other, &top);

    if (rule != NEVER_LOOK_BELOW)
        return rule;
    long fd = raw(SYS_openat, directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return move.unclear;
    rule = look_through((int)fd, &top);
    (void)raw(SYS_close, fd);
    return rule;
}
