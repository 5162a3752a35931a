/*
 * two.c - one box makes names in `t`, another makes `t` to a directory where they are protected
 *
 *   two make NAME SECONDS [READY]   makes t/config and t/hooks in every way there is
 *   two move NAME SECONDS [READY]   moves t to NAME, as often as it is let
 *   two swap NAME SECONDS [READY]   the same, exchanging t and NAME
 *   two watch NAME                  on the host: looks until the file `over` is there
 *   two hold NAME                   locks all that it can open and that others might lock, as long
 *
 * With READY, a file that it makes, it waits for the file `go` first. The last line says whether
 * NAME/config or NAME/hooks was ever seen, and how often was tried.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static const char poison[] = "[core]\n\tfsmonitor = ./evil\n";
static char target[256], target_config[300], target_hooks[300], target_hook[320];

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool is_there(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

/* Where nothing may come into being; git may make its own there, and an empty configuration is none. */
static bool is_poisoned(void)
{
    char text[64] = "";
    struct stat st;
    int fd = open(target_config, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);

    if (fd >= 0) {
        (void)!read(fd, text, sizeof text - 1);
        close(fd);
    }
    return strstr(text, "fsmonitor") || is_there(target_hook) ||
           (lstat(target_config, &st) == 0 && !S_ISREG(st.st_mode)) ||
           (lstat(target_hooks, &st) == 0 && !S_ISDIR(st.st_mode));
}

static bool is_broken(void)
{
    return strcmp(target, ".git") == 0 ? is_poisoned()
                                       : is_there(target_config) || is_there(target_hooks);
}

static bool close_made(int fd)
{
    if (fd < 0)
        return false;
    (void)!write(fd, poison, sizeof poison - 1);
    close(fd);
    return true;
}

/* ---- ways to make a name; own names end with a number, for there may be two of us */

static char own_file[64], own_directory[64], own_inside[80];

static bool way_open(void)
{
    return close_made(open("t/config", O_CREAT | O_WRONLY, 0644));
}

static bool way_alone(void)
{
    return close_made(open("t/config", O_CREAT | O_EXCL | O_RDWR, 0644));
}

static bool way_directory_fd(void)
{
    int fd = open("t", O_RDONLY | O_DIRECTORY);
    bool is_made = fd >= 0 && close_made(openat(fd, "config", O_CREAT | O_WRONLY | O_TRUNC, 0644));

    if (fd >= 0)
        close(fd);
    return is_made;
}

static bool way_link(void)
{
    close_made(open(own_file, O_CREAT | O_WRONLY, 0644));
    return link(own_file, "t/config") == 0;
}

static bool way_rename(void)
{
    close_made(open(own_file, O_CREAT | O_WRONLY, 0644));
    return rename(own_file, "t/config") == 0;
}

static bool way_unnamed(void)
{
    char path[64];
    int fd = open(".", O_TMPFILE | O_WRONLY, 0644);

    if (fd < 0)
        return false;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    bool is_made = linkat(AT_FDCWD, path, AT_FDCWD, "t/config", AT_SYMLINK_FOLLOW) == 0;
    close(fd);
    return is_made;
}

static bool way_node(void)
{
    return mknod("t/config", S_IFREG | 0644, 0) == 0;
}

static bool way_socket(void)
{
    struct sockaddr_un address = { AF_UNIX, "t/config" };
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    bool is_made = bind(fd, (struct sockaddr *)&address, sizeof address) == 0;

    close(fd);
    return is_made;
}

static bool way_symlink(void)
{
    return symlink("../elsewhere", "t/hooks") == 0;
}

static bool way_mkdir(void)
{
    return mkdir("t/hooks", 0755) == 0;
}

/* A directory with something in it: both calls move one. */
static bool way_tree(void)
{
    mkdir(own_directory, 0755);
    close_made(open(own_inside, O_CREAT | O_WRONLY, 0755));
    return rename(own_directory, "t/hooks") == 0;
}

static bool (*const ways[])(void) = { way_open,    way_alone,   way_directory_fd, way_link,
                                      way_rename,  way_unnamed, way_node,         way_socket,
                                      way_symlink, way_mkdir,   way_tree };
#define N_WAYS (sizeof ways / sizeof *ways)

static unsigned long make_once(unsigned long n)
{
    return ways[n % N_WAYS]();
}

/* ---- moving; what was made is taken away first, or nothing would move */

static void clear(const char *directory)
{
    static const char *const names[] = { "config", "hooks/pre-commit", "hooks" };
    char path[320];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        if (unlink(path) < 0 && errno == EISDIR)
            rmdir(path);
    }
}

static unsigned long move_once(unsigned long n)
{
    (void)n;
    mkdir("t", 0755);
    bool is_moved = rename("t", target) == 0;

    clear("t");
    if (!is_broken()) {
        clear(target);
        rmdir(target);
    }
    return is_moved;
}

static unsigned long swap_once(unsigned long n)
{
    (void)n;
    mkdir("t", 0755);
    mkdir(target, 0755);
    if (syscall(SYS_renameat2, AT_FDCWD, "t", AT_FDCWD, target, RENAME_EXCHANGE) == 0)
        return 1;
    clear("t");
    return 0;
}

static unsigned long look(unsigned long n)
{
    (void)n;
    return 1;
}

static unsigned long hold_all(unsigned long n)
{
    static const char *const names[] = { "user", "pid",    "mnt",
                                         "net",  "uts",    "ipc",
                                         "time", "cgroup", "pid_for_children" };
    static const char *const others[] = { ".", "..", "/", "/proc", "/tmp", "t", "/proc/self/exe" };
    unsigned long n_held = 0;
    char path[64];

    if (n > 0) {
        usleep(1000);
        return 0;
    }
    for (size_t i = 0; i < 3 * sizeof names / sizeof *names; i++) {
        static const char *const whose[] = { "self", "1", "thread-self" };

        snprintf(path, sizeof path, "/proc/%s/ns/%s", whose[i % 3], names[i / 3]);
        n_held += flock(open(path, O_RDONLY), LOCK_EX | LOCK_NB) == 0;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        n_held += flock(open(others[i], O_RDONLY), LOCK_EX | LOCK_NB) == 0;
    for (int fd = 0; fd < 64; fd++) { /* of init, by whatever way */
        snprintf(path, sizeof path, "/proc/1/fd/%d", fd);
        n_held += flock(open(path, O_RDONLY), LOCK_EX | LOCK_NB) == 0;
    }
    close(open("held", O_CREAT | O_WRONLY, 0644));
    return n_held;
}

static const struct {
    const char *word;
    unsigned long (*once)(unsigned long n);
} roles[] = { { "make", make_once },
              { "move", move_once },
              { "swap", swap_once },
              { "watch", look },
              { "hold", hold_all } };

static void name_own(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    snprintf(own_file, sizeof own_file, "file-%ld", t.tv_nsec);
    snprintf(own_directory, sizeof own_directory, "directory-%ld", t.tv_nsec);
    snprintf(own_inside, sizeof own_inside, "%s/pre-commit", own_directory);
}

/* Says that it is here, and goes on when the file `go` says that all are. */
static void wait_for_others(const char *own_name)
{
    close(open(own_name, O_CREAT | O_WRONLY, 0644));
    while (!is_there("go"))
        usleep(1000);
}

int main(int argc, char **argv)
{
    unsigned long n_done = 0;
    unsigned long n = 0;
    bool broke = false;

    if (argc < 3)
        return 2;
    snprintf(target, sizeof target, "%s", argv[2]);
    snprintf(target_config, sizeof target_config, "%s/config", target);
    snprintf(target_hooks, sizeof target_hooks, "%s/hooks", target);
    snprintf(target_hook, sizeof target_hook, "%s/pre-commit", target_hooks);
    name_own();
    if (argc > 4)
        wait_for_others(argv[4]);
    double end = argc > 3 ? now() + atof(argv[3]) : 1e300;
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        while (strcmp(argv[1], roles[i].word) == 0 && !broke && now() < end &&
               !(argc == 3 && is_there("over"))) {
            n_done += roles[i].once(n++);
            broke = is_broken();
        }
    printf("%s %s: %lu of %lu\n", broke ? "BROKEN" : "held", argv[1], n_done, n);
    return broke;
}
