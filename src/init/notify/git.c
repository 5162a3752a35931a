#include "git.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "init/notify/review.h"
#include "init/protocol.h"
#include "sys/raw.h"

/* The path of what is in the directory of the place, as if that directory, or the one above it, were a
 * repository's work tree with a .git in it. */
static const char *path_in_git(const struct target *place, bool is_above, const char *rest)
{
    static char path[sizeof place->path + 16];
    size_t n = (size_t)(place->name - place->path) - 1;

    if (is_above)
        while (n > 0 && place->path[--n] != '/')
            ;
    if (strlen(rest) + 8 > sizeof path - n)
        return NULL;
    memcpy(path, place->path, n);
    (void)notify_append(notify_append(path + n, "/.git/"), rest);
    return path;
}

static bool is_in_hooks(const struct target *place)
{
    size_t n = (size_t)(place->name - place->path) - 1; /* of the directory */

    return n >= 6 && memcmp(place->path + n - 6, "/hooks", 6) == 0;
}

/* NULL: names have no meaning here. */
static const char *meaning(const struct target *place)
{
    const char *path = NULL;

    if (git_shape_is_named(place->name) && git_shape_is(place->act_fd))
        return path_in_git(place, false, place->name);
    if (!is_in_hooks(place))
        return NULL;
    long above = raw(SYS_openat, place->act_fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (above < 0)
        return NULL;
    if (git_shape_is((int)above)) {
        static char rest[300];

        (void)notify_append(notify_append(rest, "hooks/"), place->name);
        path = path_in_git(place, true, rest);
    }
    (void)raw(SYS_close, above);
    return path;
}

int notify_git_rule(const struct target *place)
{
    int rule = target_rule(place->path);
    const char *path = rule < 0 && place->is_inside ? meaning(place) : NULL;

    return path ? target_rule(path) : rule;
}

int notify_git_rule_of(long fd, const char *path)
{
    static struct target place;
    char link[64];
    char where[PLACE_PATH_MAX];
    int rule = target_rule(path);

    notify_own_path(fd, link);
    long n = raw(SYS_readlinkat, AT_FDCWD, link, where, sizeof where - 1);
    if (rule >= 0 || n <= 0)
        return rule;
    where[n] = '\0';
    while (n > 1 && where[n - 1] != '/')
        n--;
    where[n] = '\0';
    long directory = raw(SYS_openat, AT_FDCWD, where, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return rule;
    place = (struct target){ .parent_fd = -1, .act_fd = (int)directory, .is_inside = true };
    (void)notify_append(place.path, path);
    place.name = place.path + strlen(place.path);
    while (place.name > place.path && place.name[-1] != '/')
        place.name--;
    rule = notify_git_rule(&place);
    (void)raw(SYS_close, directory);
    return rule;
}

int notify_git_gate(const struct target *place, enum notify_review_kind *out)
{
    int rule = target_reviewed(place->path, out);
    const char *path = rule < 0 && place->is_inside ? meaning(place) : NULL;

    return path ? target_reviewed(path, out) : rule;
}

static bool is_in_git(const char *path)
{
    for (; *path; path++)
        if (strncmp(path, "/.git/", 6) == 0)
            return true;
    return false;
}

bool notify_git_is_about(const struct target *place)
{
    return git_shape_is_key(place->name) || git_shape_is_named(place->name) ||
           is_in_git(place->path) || git_shape_is_within(place->act_fd);
}

static bool is_asked(const struct target *place)
{
    const char *path = place->is_inside ? path_in_git(place, false, "hooks/x") : NULL;

    return path && target_rule(path) >= 0;
}

static bool is_symlink(const struct notify_request *request)
{
#ifdef SYS_symlink
    if (request->nr == SYS_symlink)
        return true;
#endif
    return request->nr == SYS_symlinkat;
}

/* A path that begins as that of the place, for another name in its directory. */
static const struct target *beside(const struct target *place, const char *name)
{
    static struct target other;
    size_t n = (size_t)(place->name - place->path);

    other = (struct target){ .parent_fd = -1, .act_fd = place->act_fd, .is_inside = true };
    memcpy(other.path, place->path, n);
    other.name = other.path + n;
    (void)notify_append(other.name, name);
    return &other;
}

static long judge(const struct notify_request *request, const struct target *place,
                  enum git_shape_kind kind, int moved_fd,
                  enum git_shape_verdict (*ask)(const struct git_shape_new *new))
{
    const struct git_shape_new new = {
        .fd = place->act_fd,
        .name = place->name,
        .kind = kind,
        .is_in_git = is_in_git(place->path),
        .moved_fd = moved_fd,
        .target = kind == GIT_SHAPE_LINK && is_symlink(request) ? request->text : NULL,
    };
    enum git_shape_verdict verdict = ask(&new);

    if (verdict == GIT_SHAPE_FINE || !is_asked(place))
        return 0;
    if (verdict == GIT_SHAPE_CONFIG && target_rule(beside(place, "config")->path) >= 0)
        return 0; /* it was there, and nobody inside has written it */
    if (verdict == GIT_SHAPE_CONFIG && kind == GIT_SHAPE_DIRECTORY && moved_fd < 0)
        return NOTIFY_GIT_CONFIG;
    return notify_refuse(request, place->path, PROTOCOL_RULE_GIT, -EACCES);
}

long notify_git_judge(const struct notify_request *request, const struct target *place,
                      enum git_shape_kind kind, int moved_fd)
{
    return judge(request, place, kind, moved_fd, git_shape_judge);
}

/* What passes is a new file. */
static long take_config(const struct notify_request *request, const struct target *place)
{
    const struct target *config = beside(place, "config");
    enum notify_review_kind kind;
    int rule = notify_git_gate(config, &kind);

    return rule < 0 ? 0 : notify_review_renew(request, config, rule);
}

long notify_git_made(const struct notify_request *request, const struct target *place,
                     enum git_shape_kind kind)
{
    const char *path = place->is_inside ? meaning(place) : NULL;
    int rule = path ? target_rule(path) : -1;

    if (rule >= 0)
        return notify_refuse(request, place->path, rule, -EACCES);
    long r = judge(request, place, kind, -1, git_shape_judge_made);
    return r == NOTIFY_GIT_CONFIG ? take_config(request, place) : r;
}
