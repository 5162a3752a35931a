/*
 * place_never.c - names that nobody may make, as the door of a box judges them
 *
 * `.git` may be made and moved to, hooks inside it may not be made: so nobody may prepare a directory
 * with hooks under another name and move it there either. The patterns and what they reach are the
 * door's own (plan/door_rules.h, policy/glob_reach.h).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "policy/glob_pack.h"
#include "policy/glob_reach.h"
#include "tools/place_private.h"

#define MAX_DEPTH   64
#define MAX_ENTRIES 200000u

/* A path's names, made ready once for all patterns: they all mind case, or none does. */
struct subject {
    struct glob_path names;
    bool is_too_long; /* to be looked at: every rule's business */
};

static void prepare(struct subject *subject, const void *patterns, size_t n, const char *path)
{
    subject->is_too_long =
        !glob_path_init(&subject->names, path, n > 0 && glob_packed(patterns, 0)->ignore_case);
}

static bool concerns(const struct glob *glob, const struct glob_path *path, enum place_never what)
{
    struct glob_reach reach;

    if (what == PLACE_NEVER_ON_THE_WAY)
        return glob_path_is_literal_ancestor(glob, path);
    bool matches = glob_reach(glob, path, &reach);
    if (what == PLACE_NEVER_LINK)
        return !matches && glob_reach_is_meant(glob, &reach, 0);
    return matches;
}

int place_never(const void *patterns, size_t n, const char *path, enum place_never what)
{
    auto_free struct subject *subject = malloc(sizeof *subject);

    if (!subject)
        return -ENOMEM;
    prepare(subject, patterns, n, path);
    for (size_t i = 0; i < n; i++)
        if (subject->is_too_long || concerns(glob_packed(patterns, i), &subject->names, what))
            return (int)i;
    return -1;
}

/* ---- a tree that moves */

struct move {
    const void *patterns;
    size_t n;
    struct subject here, there;
    char path[2 * PATH_MAX]; /* where it comes to */
    char other[2 * PATH_MAX];
    unsigned n_entries;
    int unclear; /* the rule to name where it cannot be looked through */
};

static void prepare_both(struct move *move)
{
    prepare(&move->here, move->patterns, move->n, move->path);
    prepare(&move->there, move->patterns, move->n, move->other);
}

/* A pattern that may be about something below the one path and not below the other; -1: none. */
static int first_stricter(struct move *move)
{
    struct glob_reach from;
    struct glob_reach to;

    prepare_both(move);
    for (size_t i = 0; i < move->n; i++) {
        const struct glob *glob = glob_packed(move->patterns, i);

        if (move->here.is_too_long || move->there.is_too_long ||
            glob_reach(glob, &move->here.names, &to))
            return (int)i;
        if (!glob_reach(glob, &move->there.names, &from) && !glob_reach_is_within(glob, &to, &from))
            return (int)i;
    }
    return -1;
}

/* The rule about what would stand at `path`, but says nothing about `other`. */
static int judge_entry(struct move *move, bool is_link)
{
    struct glob_reach reach;

    prepare_both(move);
    if (move->here.is_too_long || move->there.is_too_long)
        return move->unclear;
    for (size_t i = 0; i < move->n; i++) {
        const struct glob *glob = glob_packed(move->patterns, i);
        bool is_meant = glob_reach(glob, &move->here.names, &reach) ||
                        (is_link && glob_reach_is_meant(glob, &reach, 0));

        if (is_meant && !glob_reach(glob, &move->there.names, &reach) &&
            !(is_link && glob_reach_is_meant(glob, &reach, 0)))
            return (int)i;
    }
    return -1;
}

static void close_directory(DIR **directory)
{
    if (*directory)
        (void)closedir(*directory);
}

static int look_through(struct move *move, int fd, size_t end, size_t other_end, unsigned depth);

static int look_at(struct move *move, int fd, const char *name, size_t end, size_t other_end,
                   unsigned depth)
{
    struct stat st;
    size_t n = strlen(name) + 1;

    if (end + n + 1 > sizeof move->path || other_end + n + 1 > sizeof move->other ||
        ++move->n_entries > MAX_ENTRIES)
        return move->unclear;
    if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? -1 : move->unclear;
    move->path[end] = move->other[other_end] = '/';
    memcpy(move->path + end + 1, name, n);
    memcpy(move->other + other_end + 1, name, n);
    int rule = judge_entry(move, S_ISLNK(st.st_mode));
    if (rule >= 0 || !S_ISDIR(st.st_mode) || first_stricter(move) < 0)
        return rule;
    if (depth == MAX_DEPTH)
        return move->unclear;
    int below = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return below < 0 ? move->unclear : look_through(move, below, end + n, other_end + n, depth + 1);
}

/* Takes the descriptor. */
static int look_through(struct move *move, int fd, size_t end, size_t other_end, unsigned depth)
{
    __attribute__((cleanup(close_directory))) DIR *directory = fdopendir(fd);
    const struct dirent *entry;
    int rule = -1;

    if (!directory) {
        (void)close(fd);
        return move->unclear;
    }
    while (rule < 0 && (errno = 0, entry = readdir(directory)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            rule = look_at(move, fd, entry->d_name, end, other_end, depth);
    return rule < 0 && errno ? move->unclear : rule;
}

static int within(struct move *move, const char *path, const char *other, int fd)
{
    size_t n = strlen(path);
    size_t other_n = strlen(other);

    if (n >= PATH_MAX || other_n >= PATH_MAX)
        return move->n > 0 ? 0 : -1;
    memcpy(move->path, path, n + 1);
    memcpy(move->other, other, other_n + 1);
    move->n_entries = 0;
    move->unclear = first_stricter(move);
    if (move->unclear < 0)
        return -1;
    int directory = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return directory < 0 ? move->unclear : look_through(move, directory, n, other_n, 0);
}

int place_never_moved(const void *patterns, size_t n, const char *from, const char *to, int fd)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return n > 0 ? 0 : -1;
    if (!S_ISDIR(st.st_mode))
        return place_never(patterns, n, to,
                           S_ISLNK(st.st_mode) ? PLACE_NEVER_LINK : PLACE_NEVER_ON_THE_WAY);
    auto_free struct move *move = malloc(sizeof *move);
    if (!move)
        return -ENOMEM;
    move->patterns = patterns;
    move->n = n;
    int rule = within(move, to, from, fd);
    return rule >= 0 ? rule : within(move, from, to, fd);
}
