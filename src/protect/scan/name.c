#include "name.h"

#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "protect/scan/entries.h"

bool protect_name_is_git(const struct protect *protect, const char *name, size_t length)
{
    if (length != 4 || name[0] != '.')
        return false;
    return protect_ignores_case(protect) ? strncasecmp(name, ".git", 4) == 0
                                         : memcmp(name, ".git", 4) == 0;
}

static enum protect_scope scope_of(unsigned mode)
{
    return entry_hides_all(mode) ? PROTECT_ALL : PROTECT_OWN;
}

bool protect_name_is_candidate(struct protect *protect, const struct protect_place *directory,
                               const char *path, const char *name, size_t length, bool is_directory)
{
    if (protect_name_is_git(protect, name, length))
        return directory->mode != ENTRY_GIT;
    if (!protect_concerns_name(protect, name, length))
        return false;
    if (entry_is_in_git(directory->mode) &&
        protect_keeps_in_git(protect, path + directory->git_at, is_directory))
        return true;
    return protect_hides(protect, path, is_directory, scope_of(directory->mode)) ||
           protect_keeps(protect, path, is_directory);
}

bool protect_name_hides_directory(struct protect *protect, const struct protect_place *directory,
                                  const char *path)
{
    const struct protect_rule *rule = protect_hides(protect, path, true, scope_of(directory->mode));

    return rule && !(rule->conditions & PROTECT_FILES_ONLY);
}

static bool has_entry(int fd, const char *name)
{
    struct stat st;

    return fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/*
 * Objects and references of a .git are not searched: a branch may be called anything. Those of a git
 * directory of another name are: a box can make around an `objects` what such a directory is known by.
 */
static bool is_git_store(const struct protect_place *directory, int fd, const char *name)
{
    bool is_objects = strcmp(name, "objects") == 0;

    if (directory->mode != ENTRY_GIT || (!is_objects && strcmp(name, "refs") != 0))
        return false;
    return has_entry(fd, "HEAD") && has_entry(fd, is_objects ? "refs" : "objects");
}

bool protect_name_is_of_bare(const struct protect_place *directory, int fd, const char *name)
{
    return (name[0] == 'H' || name[0] == 'h') && strcasecmp(name, "HEAD") == 0 &&
           !entry_is_in_git(directory->mode) && has_entry(fd, "HEAD") && has_entry(fd, "objects") &&
           has_entry(fd, "refs");
}

bool protect_name_enters(struct protect *protect, const struct protect_place *directory, int fd,
                         const char *path, const char *name, size_t length,
                         struct protect_place *out)
{
    *out = *directory;
    if (is_git_store(directory, fd, name))
        return false;
    if (directory->mode != ENTRY_GIT && protect_name_is_git(protect, name, length)) {
        out->mode = ENTRY_GIT;
        out->git_at = (uint16_t)(strlen(path) + 1);
        return true;
    }
    if (entry_is_in_git(out->mode) && protect_may_keep_below_in_git(protect, path + out->git_at))
        return true;
    if (entry_hides_all(out->mode) && protect_has_defaults(protect) &&
        protect_is_dependencies(name, length))
        out->mode = ENTRY_DEPENDENCIES;
    return protect_may_apply_below(protect, path, scope_of(out->mode));
}
