/*
 * write_rules.c - names that nobody may make, as the notify part of init judges them
 *
 * The patterns are notify's own (plan/rules/packed.h), and so is what they say (protect/write_rules.h).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "init/root_mark.h"
#include "tools/path/private.h"

int place_write_rule(const struct write_rules *rules, const char *path, enum write_rule_act act,
                     enum write_rule_kind kind)
{
    auto_free struct write_rule_path *subject = malloc(sizeof *subject);

    if (!subject)
        return -ENOMEM;
    write_rule_path_init(subject, rules, path);
    subject->kind = kind;
    return write_rule_find(rules, subject, act);
}

/* ---- a tree that moves */

static void close_directory(DIR **directory)
{
    if (*directory)
        (void)closedir(*directory);
}

static int look_through(struct write_rule_move *move, int fd, const struct write_rule_place *place);

static int look_at(struct write_rule_move *move, int fd, const char *name,
                   const struct write_rule_place *place)
{
    struct write_rule_place below;
    struct stat st;

    if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? WRITE_RULE_NONE : move->unclear;
    enum write_rule_type type = S_ISDIR(st.st_mode)   ? WRITE_RULE_DIRECTORY
                                : S_ISLNK(st.st_mode) ? WRITE_RULE_SYMLINK
                                                      : WRITE_RULE_FILE;
    int rule = write_rule_move_look(move, place, name, type, &below);
    if (rule != WRITE_RULE_LOOK_BELOW)
        return rule;
    int below_fd = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return below_fd < 0 ? move->unclear : look_through(move, below_fd, &below);
}

/* Takes the descriptor. */
static int look_through(struct write_rule_move *move, int fd, const struct write_rule_place *place)
{
    __attribute__((cleanup(close_directory))) DIR *directory = fdopendir(fd);
    const struct dirent *entry;
    int rule = root_mark_is_there(fd) ? move->unclear : WRITE_RULE_NONE;

    if (!directory) {
        (void)close(fd);
        return move->unclear;
    }
    while (rule == WRITE_RULE_NONE && (errno = 0, entry = readdir(directory)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            rule = look_at(move, fd, entry->d_name, place);
    return rule == WRITE_RULE_NONE && errno ? move->unclear : rule;
}

static int within(struct write_rule_move *move, const struct write_rules *rules, const char *path,
                  const char *other, int fd)
{
    struct write_rule_place top;
    int rule = write_rule_move_begin(move, rules, path, other, &top);

    if (rule != WRITE_RULE_LOOK_BELOW)
        return rule;
    int directory = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return directory < 0 ? move->unclear : look_through(move, directory, &top);
}

int place_write_rule_moved(const struct write_rules *rules, const char *from, const char *to,
                           int fd)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return rules->n > 0 ? 0 : WRITE_RULE_NONE;
    if (!S_ISDIR(st.st_mode))
        return place_write_rule(rules, to,
                                S_ISLNK(st.st_mode) ? WRITE_RULE_LINK : WRITE_RULE_ON_THE_WAY,
                                WRITE_RULE_KIND_UNKNOWN);
    auto_free struct write_rule_move *move = malloc(sizeof *move);
    if (!move)
        return -ENOMEM;
    int rule = within(move, rules, to, from, fd);
    return rule >= 0 ? rule : within(move, rules, from, to, fd);
}
