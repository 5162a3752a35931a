/*
 * attack_race.c - something is exchanged while a call is on its way
 */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_bool is_over;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *run_until_over(void *act)
{
    void (*once)(void) = *(void (**)(void))act;

    while (!is_over)
        once();
    return NULL;
}

/* Both as often as they can, until the time is up or something has come into being. */
static void race(const char *name, unsigned seconds, void (*disturb)(void), void (*ask)(void))
{
    double end = now() + seconds;
    unsigned long n = 0;
    pthread_t thread;
    const char *wrong = NULL;

    pthread_create(&thread, NULL, run_until_over, &disturb);
    for (; !wrong && now() < end; n++) {
        ask();
        wrong = attack_look();
    }
    is_over = true;
    pthread_join(thread, NULL);
    if (!wrong)
        wrong = attack_look();
    printf("%s %s: %lu rounds%s%s\n", wrong ? "BROKEN" : "held", name, n, wrong ? ", " : "",
           wrong ? wrong : "");
}

/* ---- the string */

static char name[16] = "okname";

static void swap_string(void)
{
    memcpy(name, ".envrc", 6);
    memcpy(name, "okname", 6);
}
static void use_string(void)
{
    int fd = open(name, O_WRONLY | O_CREAT, 0644);

    if (fd >= 0)
        close(fd);
    if (mkdir(name, 0755) == 0)
        rmdir("okname");
    (void)!rename("file", name);
    (void)!rename(name, "file");
    (void)unlink("okname");
    fd = open("file", O_WRONLY | O_CREAT, 0644);
    if (fd >= 0)
        close(fd);
}
static void race_string(unsigned seconds)
{
    race("string", seconds, swap_string, use_string);
}

/* ---- a link on the way */

static void swap_link(void)
{
    (void)syscall(SYS_renameat2, AT_FDCWD, "scratch/a", AT_FDCWD, "scratch/b", RENAME_EXCHANGE);
}
static void use_link(void)
{
    (void)mkdir("scratch/a/hooks", 0755);
    (void)rmdir("scratch/a/hooks");
    (void)rmdir("scratch/b/hooks");
    int fd = open("scratch/a/commondir", O_WRONLY | O_CREAT, 0644);
    if (fd >= 0)
        close(fd);
    fd = open("scratch/a/l", O_WRONLY | O_CREAT, 0644);
    if (fd >= 0)
        close(fd);
}
static void race_link(unsigned seconds)
{
    mkdir("scratch/a", 0755);
    (void)!symlink("../.git", "scratch/b");
    (void)!symlink("commondir", "scratch/a/l");
    race("link", seconds, swap_link, use_link);
}

/* ---- the directory that the call is about is moved to where the name means something */

static void move_there(void)
{
    mkdir("scratch/x", 0755);
    if (rename("scratch/x", "sub2/.git") == 0)
        rmdir("sub2/.git");
}
static void make_inside(void)
{
    mkdir("scratch/x/modules", 0755);
    mkdir("scratch/x/modules/m", 0755);
    int fd = open("scratch/x/modules/m", O_RDONLY | O_DIRECTORY);
    mkdirat(fd, "hooks", 0755);
    struct stat st;
    if (fstatat(attack_fd, "sub2/.git/modules/m/hooks", &st, 0) == 0)
        puts("BROKEN move: sub2/.git/modules/m/hooks");
    unlinkat(fd, "hooks", AT_REMOVEDIR);
    close(fd);
    (void)rmdir("scratch/x/modules/m");
    (void)rmdir("scratch/x/modules");
    (void)rmdir("sub2/.git/modules/m");
    (void)rmdir("sub2/.git/modules");
    (void)rmdir("sub2/.git");
}
static void race_move(unsigned seconds)
{
    race("move", seconds, move_there, make_inside);
}

/*
 * ---- a FIFO that is gone when the open that waits for it goes on
 *
 * The name is free where it is, the open waits; then the FIFO is removed and the directory moved to
 * where the name is protected. Whoever opens it late must not make it.
 */
static void *wait_at_fifo(void *unused)
{
    int fd = open("scratch/x/modules/m/hooks", O_WRONLY | O_CREAT, 0755);

    (void)unused;
    if (fd >= 0)
        close(fd);
    return NULL;
}
static void fifo_once(void)
{
    pthread_t thread;

    mkdir("scratch/x", 0755);
    mkdir("scratch/x/modules", 0755);
    mkdir("scratch/x/modules/m", 0755);
    mkfifo("scratch/x/modules/m/hooks", 0644);
    int fifo = open("scratch/x/modules/m/hooks", O_PATH);
    pthread_create(&thread, NULL, wait_at_fifo, NULL);
    for (int i = rand() % 2000; i > 0; i--)
        sched_yield();
    unlink("scratch/x/modules/m/hooks");
    (void)!rename("scratch/x", "sub2/.git");
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fifo);
    int reader = open(path, O_RDONLY | O_NONBLOCK); /* lets the other go on */
    pthread_join(thread, NULL);
    close(reader);
    close(fifo);
    struct stat st;
    if (fstatat(attack_fd, "sub2/.git/modules/m/hooks", &st, 0) == 0)
        puts("BROKEN fifo: sub2/.git/modules/m/hooks");
    unlink("scratch/x/modules/m/hooks");
    static const char *const made[] = { "scratch/x/modules/m", "scratch/x/modules", "scratch/x",
                                        "sub2/.git/modules/m", "sub2/.git/modules", "sub2/.git" };
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        (void)rmdir(made[i]);
}
static void do_nothing(void)
{
    sched_yield();
}
static void race_fifo(unsigned seconds)
{
    race("fifo", seconds, do_nothing, fifo_once);
}

const struct race attack_races[] = {
    { "race-string", race_string },
    { "race-link", race_link },
    { "race-move", race_move },
    { "race-fifo", race_fifo },
    { NULL, NULL },
};
