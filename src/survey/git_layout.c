#include "git_layout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "git_config/git_config.h"
#include "policy/path/path.h"

#define TEXT_SIZE 4096

/* The kernel's own name of what is behind `fd`. */
static bool name_of(int fd, char out[PATH_MAX])
{
    char link[64];

    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, out, PATH_MAX - 1);
    out[n > 0 ? n : 0] = '\0';
    return out[0] == '/' && !strchr(out, '\n');
}

/* The first line of a small file, which may be a link no more than anything else here. */
static bool read_line(int directory_fd, const char *name, char out[TEXT_SIZE])
{
    auto_close int fd =
        openat(directory_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return false;
    ssize_t n = read(fd, out, TEXT_SIZE - 1);
    if (n <= 0)
        return false;
    out[n] = '\0';
    out[strcspn(out, "\r\n")] = '\0';
    return out[0] != '\0';
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_kind(int fd, const char *name, mode_t kind)
{
    struct stat st;

    return fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && (st.st_mode & S_IFMT) == kind;
}

static bool is_git_directory(int fd)
{
    return is_kind(fd, "objects", S_IFDIR) && is_kind(fd, "refs", S_IFDIR) &&
           (is_kind(fd, "HEAD", S_IFREG) || is_kind(fd, "HEAD", S_IFLNK));
}

static int open_directory(int from_fd, const char *path)
{
    int fd = openat(from_fd, path, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0 && fd_lift(&fd) < 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

/* worktrees/NAME/gitdir of the common directory names our own .git. */
static bool points_back(int git_fd, int workspace_fd)
{
    char text[TEXT_SIZE];
    struct stat there;
    struct stat here;

    if (!read_line(git_fd, "gitdir", text))
        return false;
    if (fstatat(git_fd, text, &there, AT_SYMLINK_NOFOLLOW) < 0 ||
        fstatat(workspace_fd, ".git", &here, AT_SYMLINK_NOFOLLOW) < 0 || !is_same(&there, &here))
        return false;
    char *slash = strrchr(text, '/');
    if (!slash)
        return false;
    *slash = '\0';
    auto_close int directory = open_directory(git_fd, *text ? text : "/");
    return directory >= 0 && fstat(directory, &there) == 0 && fstat(workspace_fd, &here) == 0 &&
           is_same(&there, &here);
}

/* The common directory of a linked worktree, whose own one must lie in its worktrees/. */
static int open_common(int git_fd, int workspace_fd)
{
    char text[TEXT_SIZE];
    struct stat above;
    struct stat common;

    if (!read_line(git_fd, "commondir", text) || !points_back(git_fd, workspace_fd))
        return -1;
    auto_close int fd = open_directory(git_fd, text);
    if (fd < 0 || fstat(fd, &common) < 0 || fstatat(git_fd, "../..", &above, 0) < 0 ||
        !is_same(&common, &above) || !is_git_directory(fd))
        return -1;
    auto_close int list = open_directory(git_fd, "..");
    char name[PATH_MAX];
    if (list < 0 || !name_of(list, name) || strlen(name) < 10 ||
        strcmp(name + strlen(name) - 10, "/worktrees") != 0)
        return -1;
    return take_fd(&fd);
}

/* core.worktree of a submodule's git directory is this workspace. */
static bool is_module_of(int git_fd, int workspace_fd)
{
    auto_git_config struct git_config config = { 0 };
    struct stat here;
    struct stat there;
    const char *tree = NULL;
    auto_close int fd =
        openat(git_fd, "config", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    auto_free char *text = malloc(GIT_CONFIG_SIZE_MAX);

    if (fd < 0 || !text || !is_git_directory(git_fd))
        return false;
    ssize_t n = read(fd, text, GIT_CONFIG_SIZE_MAX);
    if (n <= 0 || git_config_parse(text, (size_t)n, &config, NULL) < 0)
        return false;
    for (size_t i = 0; i < config.n; i++)
        if (config.items[i].kind == GIT_CONFIG_ENTRY &&
            strcmp(config.items[i].section, "core") == 0 &&
            strcmp(config.items[i].name, "worktree") == 0)
            tree = config.items[i].value;
    return tree && fstatat(git_fd, tree, &there, 0) == 0 && fstat(workspace_fd, &here) == 0 &&
           is_same(&there, &here);
}

/* Drops the last `n` components of an absolute path. */
static void go_up(char *path, int n)
{
    while (n-- > 0) {
        char *slash = strrchr(path, '/');

        if (slash && slash > path)
            *slash = '\0';
    }
}

/* Git inside finds it by the words of the file, where those are absolute. */
static bool choose_target(struct git_layout *out, const char *words, bool is_worktree)
{
    auto_free char *normal = NULL;

    out->needs_same_path = *words != '/';
    if (out->needs_same_path) {
        memcpy(out->target, out->source, sizeof out->target);
        return true;
    }
    if (path_normalise("git directory", words, &normal, NULL) < 0 || strlen(normal) >= PATH_MAX)
        return false;
    memcpy(out->target, normal, strlen(normal) + 1);
    go_up(out->target, is_worktree ? 2 : 0);
    return strcmp(out->target, "/") != 0;
}

void git_layout_find(int workspace_fd, struct git_layout *out)
{
    static const char prefix[] = "gitdir: ";
    char text[TEXT_SIZE];

    out->is_outside = false;
    out->fd = -1;
    out->has_worktrees = is_kind(workspace_fd, ".git/worktrees", S_IFDIR);
    if (out->has_worktrees) {
        out->has_worktrees = name_of(workspace_fd, out->workspace);
        return;
    }
    if (!is_kind(workspace_fd, ".git", S_IFREG) || !read_line(workspace_fd, ".git", text) ||
        strncmp(text, prefix, sizeof prefix - 1) != 0)
        return;
    const char *words = text + sizeof prefix - 1;
    auto_close int git_fd = open_directory(workspace_fd, words);
    if (git_fd < 0 || !name_of(workspace_fd, out->workspace))
        return;
    if (is_kind(git_fd, "worktrees", S_IFDIR) && name_of(git_fd, out->source) &&
        path_is_within(out->source, out->workspace)) {
        out->has_worktrees = true;
        return;
    }
    bool is_worktree = is_kind(git_fd, "commondir", S_IFREG);
    auto_close int fd = is_worktree                          ? open_common(git_fd, workspace_fd)
                        : is_module_of(git_fd, workspace_fd) ? take_fd(&git_fd)
                                                             : -1;
    if (fd < 0 || !name_of(fd, out->source) || path_is_within(out->source, out->workspace) ||
        path_is_within(out->workspace, out->source) || !choose_target(out, words, is_worktree))
        return;
    out->fd = take_fd(&fd);
    out->is_outside = true;
}
