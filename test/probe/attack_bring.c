/*
 * attack_bring.c - what is protected comes along with something else
 *
 * In a workspace without .git: trees, links and files are prepared in scratch/, where their names
 * mean nothing, and then moved to where they do.
 */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int exchange(const char *a, const char *b)
{
    return (int)syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE);
}

/* scratch/x, as a git directory that has everything. */
static void make_repository(const char *path)
{
    static const char *const directories[] = { "",         "/hooks",     "/objects",
                                               "/modules", "/modules/m", "/modules/m/hooks" };
    char name[256];

    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++) {
        snprintf(name, sizeof name, "%s%s", path, directories[i]);
        if (mkdir(name, 0755) < 0 && errno != EEXIST)
            printf("# cannot make %s: %s\n", name, strerror(errno));
    }
    snprintf(name, sizeof name, "%s/hooks/pre-commit", path);
    attack_file(name);
    snprintf(name, sizeof name, "%s/modules/m/hooks/pre-commit", path);
    attack_file(name);
}

static void make_modules(const char *path)
{
    char name[256];

    mkdir(path, 0755);
    snprintf(name, sizeof name, "%s/m", path);
    mkdir(name, 0755);
    snprintf(name, sizeof name, "%s/m/hooks", path);
    mkdir(name, 0755);
}

static int bring_repository(const char *t)
{
    (void)t;
    make_repository("scratch/x");
    return rename("scratch/x", ".git");
}
static int bring_over_empty(const char *t)
{
    (void)t;
    make_repository("scratch/x");
    mkdir(".git", 0755);
    return rename("scratch/x", ".git");
}
static int bring_by_exchange(const char *t)
{
    (void)t;
    make_repository("scratch/x");
    mkdir(".git", 0755);
    return exchange("scratch/x", ".git");
}
static int bring_by_exchange_back(const char *t)
{
    (void)t;
    make_repository("scratch/x");
    mkdir(".git", 0755);
    return exchange(".git", "scratch/x");
}
static int bring_commondir(const char *t)
{
    (void)t;
    mkdir("scratch/x", 0755);
    attack_file("scratch/x/commondir");
    return rename("scratch/x", ".git");
}
static int bring_hooks_as_link(const char *t)
{
    (void)t;
    mkdir("scratch/x", 0755);
    mkdir("scratch/h", 0755);
    (void)!symlink("../scratch/h", "scratch/x/hooks");
    return rename("scratch/x", ".git");
}
static int bring_dangling_hooks(const char *t)
{
    (void)t;
    mkdir("scratch/x", 0755);
    (void)!symlink("../scratch/h", "scratch/x/hooks");
    int r = rename("scratch/x", ".git");
    mkdir("scratch/h", 0755);
    return r;
}
static int bring_link(const char *t)
{
    (void)t;
    make_repository("scratch/x");
    (void)!symlink("scratch/x", "scratch/l");
    return rename("scratch/l", ".git");
}
static int bring_made_link(const char *t)
{
    (void)t;
    make_repository("scratch/x");
    return symlink("scratch/x", ".git");
}
static int bring_gitfile(const char *t)
{
    (void)t;
    attack_file("scratch/f");
    return rename("scratch/f", ".git");
}
static int bring_linked_gitfile(const char *t)
{
    (void)t;
    attack_file("scratch/f");
    return link("scratch/f", ".git");
}
static int bring_made_gitfile(const char *t)
{
    (void)t;
    return attack_write(open(".git", O_WRONLY | O_CREAT, 0644));
}
static int bring_node(const char *t)
{
    (void)t;
    return mkfifo(".git", 0644);
}
static int bring_later(const char *t)
{
    /* Empty when it is moved, filled by a descriptor from before. */
    (void)t;
    mkdir("scratch/x", 0755);
    int fd = open("scratch/x", O_RDONLY | O_DIRECTORY);
    (void)!rename("scratch/x", ".git");
    return mkdirat(fd, "hooks", 0755);
}
static int bring_later_from_inside(const char *t)
{
    (void)t;
    mkdir("scratch/x", 0755);
    (void)!chdir("scratch/x");
    (void)!rename("../../scratch/x", "../../.git");
    return attack_write(open("hooks", O_WRONLY | O_CREAT, 0755));
}
static int bring_module(const char *t)
{
    (void)t;
    make_modules("scratch/x");
    mkdir("sub2/.git", 0755);
    return rename("scratch/x", "sub2/.git/modules");
}
static int bring_module_one_up(const char *t)
{
    (void)t;
    make_repository("scratch/x");
    return rename("scratch/x", "sub2/.git");
}
static int bring_module_one_down(const char *t)
{
    (void)t;
    mkdir("sub2/.git", 0755);
    mkdir("sub2/.git/modules", 0755);
    mkdir("scratch/m", 0755);
    mkdir("scratch/m/hooks", 0755);
    return rename("scratch/m", "sub2/.git/modules/m");
}
static int bring_module_by_exchange(const char *t)
{
    (void)t;
    make_repository("scratch/x");
    mkdir("sub2/.git", 0755);
    return exchange("sub2/.git", "scratch/x");
}
static int bring_module_link(const char *t)
{
    (void)t;
    mkdir("sub2/.git", 0755);
    mkdir("sub2/.git/modules", 0755);
    mkdir("scratch/m", 0755);
    mkdir("scratch/m/hooks", 0755);
    return symlink("../../../scratch/m", "sub2/.git/modules/m");
}
static int bring_modules_link(const char *t)
{
    (void)t;
    make_modules("scratch/x");
    mkdir("sub2/.git", 0755);
    return symlink("../../scratch/x", "sub2/.git/modules");
}
static int bring_moved_module_link(const char *t)
{
    (void)t;
    make_modules("scratch/x");
    mkdir("scratch/g", 0755);
    (void)!symlink("../../scratch/x", "scratch/g/modules");
    return rename("scratch/g", "sub2/.git");
}
static int bring_repository_link(const char *t)
{
    (void)t;
    make_repository("scratch/x");
    return symlink("../scratch/x", "sub2/.git");
}
static int bring_module_deep(const char *t)
{
    /* What is to come along stands far behind other names. */
    char name[64];

    (void)t;
    mkdir("scratch/x", 0755);
    mkdir("scratch/x/modules", 0755);
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "scratch/x/modules/d%d", i);
        mkdir(name, 0755);
    }
    mkdir("scratch/x/modules/m", 0755);
    mkdir("scratch/x/modules/m/hooks", 0755);
    return rename("scratch/x", "sub2/.git");
}
static int bring_module_unreadable(const char *t)
{
    (void)t;
    make_repository("scratch/x");
    chmod("scratch/x/modules/m", 0100);
    int r = rename("scratch/x", "sub2/.git");
    chmod("scratch/x/modules/m", 0700);
    chmod("sub2/.git/modules/m", 0700);
    return r;
}

const struct way attack_brings[] = {
    { "a repository", bring_repository },
    { "a repository over an empty directory", bring_over_empty },
    { "a repository by exchange", bring_by_exchange },
    { "a repository by exchange, the other way", bring_by_exchange_back },
    { "a common directory", bring_commondir },
    { "hooks as a link", bring_hooks_as_link },
    { "hooks as a dangling link", bring_dangling_hooks },
    { "a link to a repository", bring_link },
    { "a link made there", bring_made_link },
    { "a file, moved", bring_gitfile },
    { "a file, linked", bring_linked_gitfile },
    { "a file, made", bring_made_gitfile },
    { "a fifo", bring_node },
    { "an empty directory, filled by its descriptor", bring_later },
    { "an empty directory, filled from inside", bring_later_from_inside },
    { "modules", bring_module },
    { "a directory with modules", bring_module_one_up },
    { "one module", bring_module_one_down },
    { "a directory with modules by exchange", bring_module_by_exchange },
    { "a link to a module", bring_module_link },
    { "a link to modules", bring_modules_link },
    { "a directory with a link to modules", bring_moved_module_link },
    { "a link to a directory with modules", bring_repository_link },
    { "a module among many", bring_module_deep },
    { "a module that cannot be listed", bring_module_unreadable },
    { NULL, NULL },
};
