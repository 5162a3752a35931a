#include "denial_host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "policy/path/path.h"
#include "sys/raw.h"

#define NR_FACCESSAT2 439 /* 5.8 */

static bool may(const char *path, int rights)
{
    long r = raw(NR_FACCESSAT2, AT_FDCWD, path, rights, AT_EACCESS);

    if (r == -ENOSYS)
        r = access(path, rights);
    return r == 0;
}

static bool look_at(const char *path, struct stat *st)
{
    return fstatat(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) == 0;
}

/* What is hidden lies in a directory that may be another of the host's. NULL: it does not. */
static char *behind_block(const struct denial_host *host, struct view_place place, const char *path)
{
    auto_free char *above = strdup(path);

    while (above && place.what == VIEW_IS_BLOCK) {
        char *slash = strrchr(above, '/');

        if (!slash || slash == above)
            return NULL;
        *slash = '\0';
        place = view_find(host->index, above);
    }
    if (!above || place.what != VIEW_IS_BIND || !place.mount->source)
        return NULL;
    auto_free char *directory = path_join(place.mount->source, place.below);
    return directory ? path_join(directory, path + strlen(above) + 1) : NULL;
}

/* Where the host has what the box shows there, or would. */
static char *host_path(struct denial_host *host, const char *path)
{
    const char *view = view_of_workspace(host->policy, host->workspace);

    if (!host->index)
        host->index = view_index_new(host->policy, view);
    if (!host->index)
        return NULL;
    struct view_place place = view_find(host->index, path);
    if (place.what == VIEW_IS_BIND && place.mount->source)
        return path_join(place.mount->source, place.below);
    if (view && host->workspace && path_is_within(path, view) &&
        (place.what == VIEW_IS_WORKSPACE || place.what == VIEW_IS_BLOCK ||
         host->policy->restrict_to)) {
        const char *below = path + (view[1] ? strlen(view) : 0);

        return path_join(host->workspace, below + (*below == '/'));
    }
    char *behind = behind_block(host, place, path);
    return behind ? behind : strdup(path);
}

/* A name is made, moved and removed in its directory. */
static bool may_change_name(char *path, bool must_exist)
{
    struct stat st;
    char *slash = strrchr(path, '/');

    if (must_exist && !look_at(path, &st))
        return false;
    if (!slash)
        return false;
    if (slash == path)
        return may("/", W_OK | X_OK);
    *slash = '\0';
    return may(path, W_OK | X_OK);
}

/* What the box made in a place of its own is nowhere on the host: it would be there as it is here. */
static bool is_own(const struct denial_host *host, const char *path)
{
    struct view_place place = view_find(host->index, path);

    return place.what == VIEW_IS_TMPFS ||
           (place.what == VIEW_IS_OWN && view_own_is_writable(host->policy, path));
}

static bool is_slow_type(const char *type)
{
    static const char *const slow[] = { "autofs", "nfs",  "nfs4", "cifs", "smb3",
                                        "smbfs",  "ceph", "afs",  "9p",   "glusterfs" };

    if (strncmp(type, "fuse", 4) == 0)
        return strcmp(type, "fuseblk") != 0;
    for (size_t i = 0; i < COUNT(slow); i++)
        if (strcmp(type, slow[i]) == 0)
            return true;
    return false;
}

/* "36 35 98:0 / /mnt rw - nfs host:/x rw": the fifth word, and the one behind the dash. */
static void note_slow(struct denial_host *host, char *line)
{
    char *words[5] = { NULL };
    char *rest = line;
    char *dash = strstr(line, " - ");
    size_t n = 0;

    if (!dash)
        return;
    char *type = dash + 3;
    type[strcspn(type, " \n")] = '\0';
    while (n < COUNT(words) && (words[n] = strsep(&rest, " ")))
        n++;
    if (n == COUNT(words) && is_slow_type(type))
        buffer_append(&host->slow, words[4], strlen(words[4]) + 1);
}

/* A box must not make its supervisor wait for a server, or mount something, by asking for a path. */
static bool is_slow(struct denial_host *host, const char *path)
{
    if (!host->knows_slow) {
        FILE *mounts = fopen("/proc/self/mountinfo", "re");
        auto_free char *line = NULL;
        size_t size = 0;

        while (mounts && getline(&line, &size, mounts) > 0)
            note_slow(host, line);
        if (mounts)
            (void)fclose(mounts);
        host->knows_slow = true;
    }
    for (size_t at = 0; at < host->slow.length; at += strlen(host->slow.data + at) + 1)
        if (path_is_within(path, host->slow.data + at))
            return true;
    return host->slow.failed;
}

bool denial_host_has(struct denial_host *host, const char *path)
{
    auto_free char *real = host_path(host, path);
    struct stat st;

    return real && !is_slow(host, real) && look_at(real, &st);
}

bool denial_host_permits(struct denial_host *host, enum denial_op op, const char *path,
                         bool is_there, bool is_look)
{
    auto_free char *real = host_path(host, path);
    struct stat st;

    if (!real || is_slow(host, real))
        return false;
    if (op == DENIAL_EXEC && is_there && is_own(host, path))
        return true;
    switch ((int)op) {
    case DENIAL_READ:
        return may(real, is_look ? F_OK : R_OK);
    case DENIAL_WRITE:
        return may(real, W_OK);
    case DENIAL_EXEC:
        return stat(real, &st) == 0 && S_ISREG(st.st_mode) && may(real, X_OK);
    case DENIAL_CREATE:
        return may_change_name(real, false);
    case DENIAL_RENAME:
    case DENIAL_DELETE:
        return may_change_name(real, !is_there);
    case DENIAL_CHMOD:
        return stat(real, &st) == 0 && (host->is_root || st.st_uid == geteuid());
    case DENIAL_CONNECT:
        return stat(real, &st) == 0 && S_ISSOCK(st.st_mode) && may(real, W_OK);
    default:
        return false;
    }
}

void denial_host_done(struct denial_host *host)
{
    view_index_free(host->index);
    host->index = NULL;
    buffer_done(&host->slow);
}
