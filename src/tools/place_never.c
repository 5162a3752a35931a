/*
 * place_never.c - names that nobody may make, as the door of a box judges them
 *
 * The patterns are the door's own (plan/door_rules.h), and so is what they say (policy/never.h).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tools/place_private.h"

int place_never(const struct never_rules *rules, const char *path, enum never_act act,
                enum never_kind kind)
{
    auto_free struct never_path *subject = malloc(sizeof *subject);

    if (!subject)
        return -ENOMEM;
    never_path_init(subject, rules, path);
    subject->kind = kind;
    return never_rule(rules, subject, act);
}

/* ---- a tree that moves */

static void close_directory(DIR **directory)
{
    if (*directory)
        (void)closedir(*directory);
}

static int look_through(struct never_move *move, int fd, const struct never_place *place);

static int look_at(struct never_move *move, int fd, const char *name,
                   const struct never_place *place)
{
    struct never_place below;
    struct stat st;

    if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? NEVER_NONE : move->unclear;
    enum never_type type = S_ISDIR(st.st_mode)   ? NEVER_DIRECTORY
                           : S_ISLNK(st.st_mode) ? NEVER_SYMLINK
                                                 : NEVER_FILE;
    int rule = never_move_look(move, place, name, type, &below);
    if (rule != NEVER_LOOK_BELOW)
        return rule;
    int below_fd = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return below_fd < 0 ? move->unclear : look_through(move, below_fd, &below);
}

/* Takes the descriptor. */
static int look_through(struct never_move *move, int fd, const struct never_place *place)
{
    __attribute__((cleanup(close_directory))) DIR *directory = fdopendir(fd);
    const struct dirent *entry;
    int rule = NEVER_NONE;

    if (!directory) {
        (void)close(fd);
        return move->unclear;
    }
    while (rule == NEVER_NONE && (errno = 0, entry = readdir(directory)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            rule = look_at(move, fd, entry->d_name, place);
    return rule == NEVER_NONE && errno ? move->unclear : rule;
}

static int within(struct never_move *move, const struct never_rules *rules, const char *path,
                  const char *other, int fd)
{
    struct never_place top;
    int rule = never_move_begin(move, rules, path, other, &top);

    if (rule != NEVER_LOOK_BELOW)
        return rule;
    int directory = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return directory < 0 ? move->unclear : look_through(move, directory, &top);
}

int place_never_moved(const struct never_rules *rules, const char *from, const char *to, int fd)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return rules->n > 0 ? 0 : NEVER_NONE;
    if (!S_ISDIR(st.st_mode))
        return place_never(rules, to, S_ISLNK(st.st_mode) ? NEVER_LINK : NEVER_ON_THE_WAY,
                           NEVER_KIND_UNKNOWN);
    auto_free struct never_move *move = malloc(sizeof *move);
    if (!move)
        return -ENOMEM;
    int rule = within(move, rules, to, from, fd);
    return rule >= 0 ? rule : within(move, rules, from, to, fd);
}
