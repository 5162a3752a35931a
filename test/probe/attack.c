/*
 * attack.c - tries to write or make what nobody inside may
 *
 *   attack absent | present | bare     every way of the tables, in the current directory
 *   attack RACE SECONDS                see attack_race.c
 *
 * Looks after each attempt whether something protected has come into being or has changed, and says
 * "BROKEN" with the attempt's name, else "held" and how it ended. What an attempt needs, it makes in
 * scratch/. The caller prepares the directory and looks once more from outside.
 */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/kernel.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

const char attack_text[6] = "evil\n";
char attack_root[4096];
int attack_fd;

/* Nothing of this may come into being where it is absent. */
static const char *const absent[] = {
    ".envrc",
    ".vscode",
    ".bashrc",
    ".git/hooks",
    ".git/commondir",
    "sub/.git/modules/m/hooks",
    "sub/.git/modules/m/deeper/hooks",
};
static const char *const brought[] = {
    ".git/hooks",
    ".git/config",
    ".git/commondir",
    "sub/.git/modules/m/hooks",
    "sub2/.git/modules/m/hooks",
};

/* This is there in the workspace "present", and holds just this. */
static const char *const kept[] = { ".git/config", ".git/hooks/pre-commit", ".envrc",
                                    ".vscode/tasks.json", "sub/.git/modules/m/hooks/pre-push" };
static const char kept_text[] = "# as it was\n";

static bool is_present;
static bool is_bare;

static bool is_as_it_was(const char *path)
{
    char text[64] = "";
    int fd = openat(attack_fd, path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

    if (fd >= 0)
        close(fd);
    return n == sizeof kept_text - 1 && strcmp(text, kept_text) == 0;
}

const char *attack_look(void)
{
    struct stat st;

    for (size_t i = 0; is_present && i < COUNT(kept); i++)
        if (!is_as_it_was(kept[i]))
            return kept[i];
    for (size_t i = 0; !is_present && !is_bare && i < COUNT(absent); i++)
        if (fstatat(attack_fd, absent[i], &st, AT_SYMLINK_NOFOLLOW) == 0)
            return absent[i];
    for (size_t i = 0; is_bare && i < COUNT(brought); i++)
        if (fstatat(attack_fd, brought[i], &st, 0) == 0)
            return brought[i];
    if (is_bare && fstatat(attack_fd, ".git", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        !S_ISDIR(st.st_mode))
        return ".git, not a directory";
    return NULL;
}

int attack_write(int fd)
{
    if (fd < 0)
        return -1;
    ssize_t n = write(fd, attack_text, sizeof attack_text - 1);
    close(fd);
    return n > 0 ? 0 : -1;
}

void attack_file(const char *path)
{
    if (attack_write(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755)) < 0)
        printf("# cannot make %s: %s\n", path, strerror(errno));
}

long attack_openat2(int fd, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve)
{
    struct kernel_open_how how = { flags, mode, resolve };

    return syscall(NR_OPENAT2, fd, path, &how, sizeof how);
}

const char *attack_joined(const char *before, const char *target)
{
    static char path[8400];

    snprintf(path, sizeof path, "%s%s", before, target);
    return path;
}

const char *attack_from_scratch(const char *target)
{
    static char path[4200];

    snprintf(path, sizeof path, "../%s", target);
    return path;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type;
    return ftw->level > 0 ? remove(path) : 0;
}

/* What the next attempt would trip over; `.git` of the workspace that has none. */
static void clean_up(void)
{
    (void)!fchdir(attack_fd);
    (void)!nftw("scratch", remove_one, 16, FTW_DEPTH | FTW_PHYS);
    for (size_t i = 0; !is_present && !is_bare && i < COUNT(absent); i++)
        (void)!remove(absent[i]);
    if (is_bare) {
        (void)!nftw(".git", remove_one, 16, FTW_DEPTH | FTW_PHYS);
        (void)!nftw("sub2/.git", remove_one, 16, FTW_DEPTH | FTW_PHYS);
        (void)!remove(".git");
        (void)!remove("sub2/.git");
    }
}

/* In a process of its own: some change their directory, limits or threads. */
static bool attempt(const struct way *way, const char *target)
{
    const char *name = target ? target : "";

    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        errno = 0;
        int r = way->act(target);
        const char *how = r < 0 ? strerror(errno) : "done";
        const char *wrong = attack_look();

        if (wrong)
            printf("BROKEN %s %s: %s (%s)\n", way->name, name, how, wrong);
        else
            printf("held %s %s: %s\n", way->name, name, how);
        fflush(stdout);
        _exit(wrong != NULL);
    }
    int status;
    waitpid(pid, &status, 0);
    if (WIFSIGNALED(status))
        printf("BROKEN %s %s: signal %d\n", way->name, name, WTERMSIG(status));
    clean_up();
    return status == 0;
}

/* Each way with each target. */
static int attempt_all(const struct way *ways, const char *const *targets, size_t n_targets)
{
    static const char *const none[] = { NULL };
    unsigned n = 0;
    unsigned n_broken = 0;

    for (const struct way *way = ways; way->name; way++)
        for (size_t i = 0; i < (targets ? n_targets : 1); i++, n++)
            n_broken += !attempt(way, (targets ? targets : none)[i]);
    printf("%u attempts, %u broken\n", n, n_broken);
    return n_broken > 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    attack_fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (!getcwd(attack_root, sizeof attack_root))
        return 2;
    is_present = strcmp(what, "present") == 0;
    is_bare = strcmp(what, "bare") == 0;
    if (strcmp(what, "absent") == 0)
        return attempt_all(attack_makes, absent, COUNT(absent));
    if (is_present)
        return attempt_all(attack_changes, kept, COUNT(kept));
    if (is_bare)
        return attempt_all(attack_brings, NULL, 0);
    for (const struct race *race = attack_races; race->name && argc > 2; race++)
        if (strcmp(what, race->name) == 0) {
            race->run((unsigned)atoi(argv[2]));
            return 0;
        }
    return 2;
}
