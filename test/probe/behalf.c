/*
 * behalf.c - the same calls in two places, to see that nobody notices who does them
 *
 *   behalf calls DIRECTORY      a list of calls and how each ended: flags, modes, errors
 *   behalf umasks DIRECTORY     modes of what several processes and threads make at once
 *   behalf signals DIRECTORY N  N files made under a storm of signals; each once and right
 *   behalf fifo DIRECTORY       who waits at a FIFO holds up nobody else
 *   behalf kill DIRECTORY       who waits at a FIFO can be interrupted and killed
 *   behalf many DIRECTORY N     N calls of all sorts
 *   behalf time DIRECTORY N     microseconds per call
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sys/kernel.h"

static int fail(const char *what)
{
    printf("FAILED %s: %s\n", what, strerror(errno));
    return 1;
}

/* ---- calls */

static void show(const char *what, long r)
{
    if (r < 0)
        printf("%s: %s\n", what, strerrorname_np(errno));
    else
        printf("%s: %ld\n", what, r);
}
#define SHOW(call) show(#call, call)

/* A descriptor: what its owner can see of it. */
static int show_open(const char *what, long fd)
{
    struct stat st;

    if (fd < 0) {
        show(what, fd);
        return -1;
    }
    fstat((int)fd, &st);
    printf("%s: fd %ld flags %o fdflags %d mode %o size %ld links %lu gid %u pos %ld\n", what, fd,
           (unsigned)fcntl((int)fd, F_GETFL), fcntl((int)fd, F_GETFD), st.st_mode, (long)st.st_size,
           (unsigned long)st.st_nlink, st.st_gid, (long)lseek((int)fd, 0, SEEK_CUR));
    return (int)fd;
}
#define OPEN(call) close(show_open(#call, call))

static void show_file(const char *path)
{
    char link[64] = "";
    struct stat st;
    bool is_there = lstat(path, &st) == 0;

    (void)!readlink(path, link, sizeof link - 1);
    printf("  %s: %s mode %o size %ld links %lu uid %u gid %u -> %s\n", path,
           is_there ? "there" : "absent", is_there ? st.st_mode : 0,
           is_there && !S_ISDIR(st.st_mode) ? (long)st.st_size : 0,
           is_there && !S_ISDIR(st.st_mode) ? (unsigned long)st.st_nlink : 0,
           is_there ? st.st_uid : 0, is_there ? st.st_gid : 0, link);
}

static long openat2_(int fd, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve)
{
    struct kernel_open_how how = { flags, mode, resolve };

    return syscall(NR_OPENAT2, fd, path, &how, sizeof how);
}

static void write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        printf("FAILED write %s: %s\n", path, strerrorname_np(errno));
    close(fd);
}

static void calls_open(void)
{
    static const int flags[] = {
        O_WRONLY,
        O_RDWR,
        O_WRONLY | O_APPEND,
        O_WRONLY | O_TRUNC,
        O_WRONLY | O_CREAT,
        O_RDONLY | O_CREAT,
        O_RDONLY | O_TRUNC,
        O_RDWR | O_CREAT | O_EXCL,
        O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC,
        O_WRONLY | O_NOFOLLOW,
        O_WRONLY | O_CREAT | O_NOFOLLOW,
        O_WRONLY | O_DIRECTORY,
        O_WRONLY | O_CREAT | O_DIRECTORY,
        O_WRONLY | O_NONBLOCK,
        O_WRONLY | O_SYNC,
        O_WRONLY | O_DSYNC,
        O_WRONLY | O_NOATIME,
        O_WRONLY | O_ASYNC,
        O_WRONLY | O_NOCTTY | O_CREAT,
        O_WRONLY | O_PATH,
        O_WRONLY | O_CREAT | O_PATH,
        3,
        3 | O_CREAT,
        O_RDWR | O_TMPFILE,
        O_WRONLY | O_TMPFILE | O_EXCL,
        O_RDONLY | O_TMPFILE,
        O_WRONLY | 0x40000000,
    };
    static const char *const paths[] = {
        "file",      "new",      "dir",    "link",     "dangling", "loop",     "dirlink",
        "dirlink/x", "file/",    "new/",   "dir/",     "link/",    "file/x",   "absent/x",
        ".",         "..",       "dir/..", "dir/../y", "noaccess", "noexec/x", "nodir/x",
        "socket",    "readonly", "",       "dir//z",   "./file",   "chain19",  "deep41",
    };
    char what[128];

    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        for (size_t j = 0; j < sizeof paths / sizeof *paths; j++) {
            write_text("file", "0123456789");
            snprintf(what, sizeof what, "open %s %o", paths[j], (unsigned)flags[i]);
            close(show_open(what, open(paths[j], flags[i], 0755)));
            snprintf(what, sizeof what, "openat2 %s %o", paths[j], (unsigned)flags[i]);
            close(show_open(what, openat2_(AT_FDCWD, paths[j], (uint64_t)flags[i],
                                           flags[i] & O_CREAT ? 0640 : 0, 0)));
            static const char *const made[] = { "new",   "target", "x",        "y",
                                                "dir/z", "dir/x",  "noexec/x", "nodir/x" };
            for (size_t k = 0; k < sizeof made / sizeof *made; k++) {
                struct stat st;

                if (lstat(made[k], &st) == 0)
                    show_file(made[k]);
                unlink(made[k]);
            }
        }
}

static void calls_openat2(void)
{
    static const uint64_t resolves[] = { 1, 2, 4, 8, 16, 4 | 8, 64, 8 | 16 };
    static const char *const paths[] = { "file",    "new",        "link",         "dangling",
                                         "dir/q",   "dirlink/q",  "../area/file", "/file",
                                         "abslink", "dir/../file" };
    char what[128];

    for (size_t i = 0; i < sizeof resolves / sizeof *resolves; i++)
        for (size_t j = 0; j < sizeof paths / sizeof *paths; j++) {
            if (strcmp(paths[j], "dangling") == 0 && resolves[i] & (1 | 8 | 16))
                continue; /* a link that the door cannot make a file of */
            int fd = open(".", O_PATH | O_DIRECTORY);
            snprintf(what, sizeof what, "openat2 %s resolve %x", paths[j], (unsigned)resolves[i]);
            close(show_open(what, openat2_(fd, paths[j], O_WRONLY | O_CREAT, 0640, resolves[i])));
            close(fd);
            unlink("new"), unlink("target"), unlink("dir/q");
        }
    SHOW(openat2_(AT_FDCWD, "file", O_WRONLY, 0644, 0));
    SHOW(openat2_(AT_FDCWD, "file", O_WRONLY | 0x40000000, 0, 0));
    SHOW(openat2_(AT_FDCWD, "file", O_WRONLY | (UINT64_C(1) << 40), 0, 0));
    SHOW(openat2_(AT_FDCWD, "new", O_WRONLY | O_CREAT, 010000, 0));
    SHOW(openat2_(-1, "file", O_WRONLY, 0, 0));
}

static void calls_names(void)
{
    int dir = open("dir", O_RDONLY | O_DIRECTORY);
    int file = open("file", O_RDONLY);

    SHOW(mkdir("d", 02777));
    show_file("d");
    SHOW(mkdir("d", 0777));
    SHOW(mkdir("d/", 0777));
    SHOW(mkdir("d/e/f", 0777));
    SHOW(mkdir("d/e///", 0700));
    SHOW(mkdir("dangling", 0700));
    SHOW(mkdir("file/x", 0700));
    SHOW(mkdir("", 0700));
    SHOW(mkdir(".", 0700));
    SHOW(mkdir("d/..", 0700));
    SHOW(mkdir("/", 0700));
    SHOW(mkdirat(dir, "m", 01777));
    show_file("dir/m");
    SHOW(mkdirat(file, "m", 0700));
    SHOW(mkdirat(99, "m", 0700));
    SHOW(mkdirat(-7, "m", 0700));
    SHOW(mkdir((const char *)8, 0700));
    SHOW(mkdir("noaccessdir/x", 0700));
    SHOW(mknod("n", S_IFREG | 06755, 0));
    show_file("n");
    SHOW(mknod("n/", S_IFREG | 0644, 0));
    SHOW(mknod("n2", 0604, 0));
    SHOW(mknod("p", S_IFIFO | 0622, 0));
    show_file("p");
    SHOW(mknod("c", S_IFCHR | 0666, 0x103));
    SHOW(mknod("b", S_IFBLK | 0666, 0x103));
    SHOW(mknod("w", S_IFCHR | 0666, 0));
    SHOW(mknod("s", S_IFSOCK | 0666, 0));
    SHOW(mknod("dd", S_IFDIR | 0777, 0));
    SHOW(mknodat(dir, "nn", S_IFREG | 0644, 0));
    SHOW(symlink("text/that leads/nowhere", "l"));
    show_file("l");
    SHOW(symlink("", "l2"));
    SHOW(symlink("x", "l"));
    SHOW(symlink("x", "l3/"));
    SHOW(symlink("x", ""));
    SHOW(symlinkat("../file", dir, "l"));
    SHOW(link("file", "h"));
    show_file("h");
    SHOW(link("file", "h"));
    SHOW(link("file/", "h3"));
    SHOW(link("file", "h3/"));
    SHOW(link("link", "hl"));
    show_file("hl");
    SHOW(link("dir", "hd"));
    SHOW(link("absent", "ha"));
    SHOW(linkat(AT_FDCWD, "link", AT_FDCWD, "hf", AT_SYMLINK_FOLLOW));
    show_file("hf");
    SHOW(linkat(AT_FDCWD, "dangling", AT_FDCWD, "hg", AT_SYMLINK_FOLLOW));
    SHOW(linkat(AT_FDCWD, "loop", AT_FDCWD, "hg", AT_SYMLINK_FOLLOW));
    SHOW(linkat(file, "", dir, "he", AT_EMPTY_PATH));
    show_file("dir/he");
    SHOW(linkat(99, "", dir, "hx", AT_EMPTY_PATH));
    SHOW(linkat(AT_FDCWD, "", dir, "hx", 0));
    SHOW(linkat(AT_FDCWD, "file", dir, "hx", 0x80));
    int unnamed = open("dir", O_TMPFILE | O_RDWR, 0640);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", unnamed);
    SHOW(linkat(AT_FDCWD, path, AT_FDCWD, "t", AT_SYMLINK_FOLLOW));
    show_file("t");
    SHOW(linkat(unnamed, "", AT_FDCWD, "t2", AT_EMPTY_PATH));
    show_file("t2");
    close(dir), close(file), close(unnamed);
}

static void calls_rename(void)
{
    SHOW(rename("h", "h2"));
    SHOW(rename("h2", "n"));
    show_file("n");
    SHOW(rename("d", "dir/moved"));
    SHOW(rename("dir/moved", "d/"));
    SHOW(rename("d/", "d2/"));
    SHOW(rename("n/", "n9"));
    SHOW(rename("n", "n9/"));
    SHOW(rename("d2", "n"));
    SHOW(rename("n", "d2"));
    SHOW(rename("d2", "d2/e/x"));
    SHOW(rename("d2/e", "d2"));
    SHOW(rename("absent", "x"));
    SHOW(rename("absent/x", "x"));
    SHOW(rename(".", "x"));
    SHOW(rename("dir", ".."));
    SHOW(rename("dirlink", "dl"));
    SHOW(rename("dl/", "dl2"));
    SHOW(rename("dl", "dirlink"));
    SHOW(rename("file", "file"));
    SHOW(rename("file", "/tmp/behalf"));
    SHOW(rename("file", ""));
    SHOW(rename("noaccessdir/x", "y"));
    write_text("a", "a"), write_text("b", "bb");
    SHOW(syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "b", RENAME_NOREPLACE));
    SHOW(syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "b", RENAME_EXCHANGE));
    show_file("a"), show_file("b");
    SHOW(syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "absent", RENAME_EXCHANGE));
    SHOW(syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "dir", RENAME_EXCHANGE));
    SHOW(syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "dir", RENAME_EXCHANGE));
    SHOW(syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "c", RENAME_EXCHANGE | RENAME_NOREPLACE));
    SHOW(syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "w2", RENAME_WHITEOUT));
    SHOW(syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "w2", 128));
    SHOW(rename("a", "dir/a"));
    show_file("dir/a");
}

static void on_signal(int signal)
{
    (void)signal;
}

static void calls_truncate(void)
{
    struct rlimit limit;

    write_text("file", "0123456789");
    SHOW(truncate("file", 4));
    show_file("file");
    SHOW(truncate("link", 8192));
    show_file("file");
    SHOW(truncate("file", -1));
    SHOW(truncate("dir", 0));
    SHOW(truncate("p", 0));
    SHOW(truncate("socket", 0));
    SHOW(truncate("absent", 0));
    SHOW(truncate("dangling", 0));
    SHOW(truncate("loop", 0));
    SHOW(truncate("file/", 0));
    SHOW(truncate("readonly", 0));
    struct sigaction act = { .sa_handler = SIG_IGN };
    sigaction(SIGXFSZ, &act, NULL);
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 1000;
    setrlimit(RLIMIT_FSIZE, &limit);
    SHOW(truncate("file", 5000)); /* larger than the limit, but smaller than it is */
    SHOW(truncate("file", 10000));
    SHOW(truncate("file", 500));
    SHOW(truncate("file", 1000));
    SHOW(truncate("file", 1001));
    OPEN(open("big", O_WRONLY | O_CREAT, 0644));
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static void calls_descriptors(void)
{
    char path[64];
    struct rlimit limit;

    write_text("file", "0123456789");
    int fd = open("file", O_RDONLY);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    OPEN(open(path, O_WRONLY | O_APPEND));
    OPEN(open(path, O_RDWR | O_CREAT | O_TRUNC, 0600));
    OPEN(open(path, O_RDWR | O_CREAT | O_EXCL, 0600));
    OPEN(open(path, O_RDWR | O_NOFOLLOW));
    OPEN(open(path, O_RDWR | O_DIRECTORY));
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    OPEN(open(path, O_WRONLY));
    snprintf(path, sizeof path, "/proc/thread-self/fd/%d", fd);
    OPEN(open(path, O_WRONLY));
    SHOW(truncate(path, 3));
    OPEN(open("/dev/fd/99", O_WRONLY));
    OPEN(open("/proc/self/fd/x", O_WRONLY));
    unlink("file");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    OPEN(open(path, O_RDWR)); /* has no name any more */
    close(fd);
    write_text("file", "0123456789");
    int pipes[2];
    (void)!pipe(pipes);
    snprintf(path, sizeof path, "/dev/fd/%d", pipes[1]);
    OPEN(open(path, O_WRONLY));
    close(pipes[0]), close(pipes[1]);
    fd = open("p", O_RDWR);
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    OPEN(open(path, O_WRONLY));
    OPEN(open(path, O_RDWR | O_NONBLOCK));
    close(fd);
    fd = open(".", O_RDONLY | O_DIRECTORY);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    OPEN(open(path, O_RDWR));
    OPEN(open(path, O_RDONLY | O_CREAT, 0600));
    close(fd);
    OPEN(open("/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0600));
    OPEN(open("/dev/full", O_WRONLY));
    OPEN(open("/dev/zero", O_RDWR));
    OPEN(open("/usr/x", O_WRONLY | O_CREAT, 0600));
    OPEN(open("/proc/self/oom_score_adj", O_WRONLY));
    OPEN(open("/proc/self/comm", O_WRONLY));
    OPEN(open("/tmp/behalf-x", O_WRONLY | O_CREAT, 0600));
    getrlimit(RLIMIT_NOFILE, &limit);
    struct rlimit few = { 3, limit.rlim_max };
    setrlimit(RLIMIT_NOFILE, &few);
    OPEN(open("file", O_WRONLY));
    setrlimit(RLIMIT_NOFILE, &limit);
}

static void calls_inside_directories(void)
{
    OPEN(open("setgid/f", O_WRONLY | O_CREAT, 0666));
    show_file("setgid/f");
    SHOW(mkdir("setgid/d", 0777));
    show_file("setgid/d");
    OPEN(open("setgid/x", O_WRONLY | O_CREAT, 02775));
    show_file("setgid/x");
    OPEN(open("acl/f", O_WRONLY | O_CREAT, 0666));
    show_file("acl/f");
    SHOW(mkdir("acl/d", 0777));
    show_file("acl/d");
    SHOW(mknod("acl/n", S_IFIFO | 0666, 0));
    show_file("acl/n");
    OPEN(open("acl", O_RDWR | O_TMPFILE, 0666));
}

static void calls_deep(void)
{
    char name[256];

    memset(name, 'n', sizeof name);
    name[255] = '\0';
    SHOW(mkdir(name, 0755));
    SHOW(rmdir(name));
    char longer[300];
    memset(longer, 'n', sizeof longer);
    longer[256] = '\0';
    SHOW(mkdir(longer, 0755));
    OPEN(open(longer, O_WRONLY | O_CREAT, 0644));
    static char path[5000];
    for (size_t i = 0; i < 4090; i += 2)
        memcpy(path + i, "./", 2);
    strcpy(path + 4090, "pppp");
    SHOW(mkdir(path, 0755)); /* 4094 */
    strcpy(path + 4090, "pppppp");
    SHOW(mkdir(path, 0755)); /* 4096: too long */
    SHOW(mkdir("gone", 0755));
    (void)!chdir("gone");
    SHOW(rmdir("../gone"));
    SHOW(mkdir("x", 0755));
    OPEN(open("x", O_WRONLY | O_CREAT, 0644));
    SHOW(mkdir("../backagain", 0755));
    SHOW(rename("x", "y"));
}

static void calls_use(void)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 5 };
    int fd = open("locked", O_RDWR | O_CREAT, 0644);
    int again = open("locked", O_RDWR);

    SHOW(fcntl(fd, F_SETLK, &lock));
    SHOW(fcntl(fd, F_OFD_SETLK, &lock));
    lock.l_pid = 0;
    SHOW(fcntl(again, F_OFD_SETLK, &lock));
    SHOW(ftruncate(fd, 8192));
    char *map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    memcpy(map + 4000, "mapped", 6);
    char text[7] = "";
    SHOW(pread(again, text, 6, 4000));
    printf("  %s\n", text);
    SHOW(fallocate(fd, 0, 0, 16384));
    SHOW(fchmod(fd, 0600));
    SHOW(fsync(fd));
    SHOW(fcntl(fd, F_SETLEASE, F_WRLCK));
    SHOW(fcntl(fd, F_SETFL, O_APPEND | O_NONBLOCK));
    SHOW(fcntl(fd, F_GETFL));
    close(again), close(fd);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* nobody may look into us */
    OPEN(open("secretive", O_WRONLY | O_CREAT, 0644));
    SHOW(rename("secretive", "still"));
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

static int do_calls(void)
{
    umask(027);
    calls_open();
    calls_openat2();
    calls_names();
    calls_rename();
    calls_truncate();
    calls_descriptors();
    calls_inside_directories();
    calls_use();
    calls_deep();
    return 0;
}

/* ---- umasks: the mode says whose mask was taken */

static int make_with_umask(unsigned mask, unsigned n)
{
    char path[64];
    struct stat st;
    int bad = 0;

    umask(mask);
    for (unsigned i = 0; i < n; i++) {
        snprintf(path, sizeof path, "u%o-%u", mask, i);
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0777);
        bad += fd < 0 || fstat(fd, &st) < 0 || (st.st_mode & 0777) != (0777 & ~mask);
        close(fd);
        unlink(path);
        bad +=
            mkdir(path, 0777) < 0 || stat(path, &st) < 0 || (st.st_mode & 0777) != (0777 & ~mask);
        rmdir(path);
        if (i % 16 == 0)
            bad += umask(mask) != mask;
    }
    return bad > 0;
}

static void *change_mask(void *mask)
{
    umask(*(mode_t *)mask);
    return NULL;
}

static int do_umasks(void)
{
    static const unsigned masks[] = { 0, 022, 077, 027, 0777 };
    int bad = 0;

    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++)
        if (fork() == 0)
            _exit(make_with_umask(masks[i], 300));
    for (int status; wait(&status) > 0;)
        bad += status != 0;
    /* A thread changes what its process has. */
    for (unsigned i = 0; i < 200; i++) {
        mode_t mask = i % 2 ? 077 : 022;
        pthread_t thread;
        struct stat st;

        pthread_create(&thread, NULL, change_mask, &mask);
        close(open("racing", O_WRONLY | O_CREAT, 0666)); /* either is right */
        pthread_join(thread, NULL);
        close(open("settled", O_WRONLY | O_CREAT, 0666));
        bad += stat("settled", &st) < 0 || (st.st_mode & 0777) != (0666 & ~mask);
        unlink("racing"), unlink("settled");
    }
    printf("umasks: %d wrong\n", bad);
    return bad > 0;
}

/* ---- signals */

static volatile unsigned n_signals;

static void count_signal(int signal)
{
    (void)signal;
    n_signals++;
}

/* A signal that comes before the call is looked at interrupts it: then nothing has been done. */
static int open_again(const char *path)
{
    int fd;

    do
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static unsigned make_in_storm(unsigned n, bool is_restarted)
{
    struct sigaction act = { .sa_handler = count_signal,
                             .sa_flags = is_restarted ? SA_RESTART : 0 };
    char path[64];
    unsigned bad = 0;

    sigaction(SIGALRM, &act, NULL);
    for (unsigned i = 0; i < n; i++) {
        snprintf(path, sizeof path, "s%u", i % 50);
        int fd = is_restarted ? open(path, O_WRONLY | O_CREAT | O_EXCL, 0644) : open_again(path);
        bad += fd < 0 || write(fd, "x", 1) != 1 || close(fd) < 0;
        for (unsigned j = 0; i % 50 == 49 && j < 50; j++) {
            snprintf(path, sizeof path, "s%u", j);
            while (rename(path, "renamed") < 0)
                if (errno != EINTR || is_restarted) {
                    bad++;
                    break;
                }
        }
    }
    return bad;
}

static int do_signals(unsigned n)
{
    struct timespec every = { 0, 30000 };
    struct sigaction act = { .sa_handler = count_signal };
    pid_t self = getpid();

    sigaction(SIGALRM, &act, NULL);
    pid_t storm = fork();
    while (storm == 0) {
        if (kill(self, SIGALRM) < 0 || getppid() != self)
            _exit(0);
        nanosleep(&every, NULL);
    }
    unsigned bad = make_in_storm(n / 2, true);
    unsigned bad2 = make_in_storm(n / 2, false);
    kill(storm, SIGKILL);
    waitpid(storm, NULL, 0);
    printf("signals: %u files, %u and %u wrong, signals %s, next descriptor %d\n", n, bad, bad2,
           n_signals > n / 100 ? "came" : "did not come", dup(0));
    return bad + bad2 > 0;
}

/* ---- FIFOs */

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Until the child waits in a call. */
static void await_sleep(pid_t pid)
{
    char path[64], text[512], state = 0;

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    for (int quiet = 0; quiet < 20;) {
        FILE *f = fopen(path, "r");
        if (f && fgets(text, sizeof text, f) && strrchr(text, ')'))
            state = strrchr(text, ')')[2];
        if (f)
            fclose(f);
        quiet = state == 'S' || state == 'D' ? quiet + 1 : 0;
        struct timespec pause = { 0, 1000000 };
        nanosleep(&pause, NULL);
    }
}

static pid_t start_writer(const char *text)
{
    pid_t pid = fork();

    if (pid == 0) {
        int fd = open("fifo", O_WRONLY);
        if (fd < 0 || write(fd, text, 1) != 1)
            _exit(1);
        _exit(0);
    }
    await_sleep(pid);
    return pid;
}

static int do_fifo(void)
{
    char text[8] = "";
    int status = -1, status2 = -1;

    mkfifo("fifo", 0600);
    SHOW(open("fifo", O_WRONLY | O_NONBLOCK));
    pid_t one = start_writer("1");
    pid_t two = start_writer("2");
    /* Both wait, and everybody else is served. */
    for (int i = 0; i < 100; i++) {
        int fd = open("beside", O_WRONLY | O_CREAT | O_EXCL, 0600);
        if (fd < 0)
            return fail("a file beside");
        close(fd);
        unlink("beside");
    }
    if (waitpid(one, NULL, WNOHANG) != 0 || waitpid(two, NULL, WNOHANG) != 0)
        return fail("they did not wait");
    int fd = open("fifo", O_RDONLY);
    waitpid(one, &status, 0);
    waitpid(two, &status2, 0);
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    printf("fifo: writers ended %d %d, %zd bytes\n", status, status2, n);
    /* The other way round: a reader waits. Many times: whoever opens twice, loses what was between. */
    int bad = 0;
    for (int i = 0; i < 200; i++) {
        pid_t reader = fork();
        if (reader == 0) {
            fd = open("fifo", O_RDONLY);
            _exit(read(fd, text, 1) == 1 ? 0 : 1);
        }
        fd = open("fifo", O_WRONLY);
        (void)!write(fd, "x", 1);
        close(fd);
        waitpid(reader, &status, 0);
        bad += status != 0;
    }
    printf("fifo: %d readers got nothing\n", bad);
    fd = open("fifo", O_RDWR);
    printf("fifo: open for both %s\n", fd >= 0 ? "does not wait" : strerrorname_np(errno));
    int read_fd = open("fifo", O_RDONLY | O_CREAT, 0600);
    printf("fifo: to read, with O_CREAT: %s, flags %o\n", read_fd >= 0 ? "open" : "failed",
           fcntl(read_fd, F_GETFL) & O_NONBLOCK);
    int write_fd = open("fifo", O_WRONLY);
    printf("fifo: flags %o\n", fcntl(write_fd, F_GETFL) & O_NONBLOCK);
    unlink("fifo");
    return bad;
}

static int do_kill(void)
{
    int status = 0;

    mkfifo("fifo", 0600);
    pid_t pid = start_writer("k");
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    printf("kill: signal %d\n", WTERMSIG(status));
    struct sigaction act = { .sa_handler = on_signal };
    sigaction(SIGALRM, &act, NULL);
    alarm(1);
    SHOW(open("fifo", O_WRONLY));
    act.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &act, NULL);
    pid_t parent = getpid();
    if (fork() == 0) {
        struct timespec pause = { 1, 0 };
        kill(parent, SIGALRM);
        nanosleep(&pause, NULL);
        int fd = open("fifo", O_RDONLY);
        _exit(fd < 0);
    }
    int fd = open("fifo", O_WRONLY);
    printf("kill: restarted and %s\n", fd >= 0 ? "open" : strerrorname_np(errno));
    wait(NULL);
    unlink("fifo");
    /* Nobody is left behind of those who waited: what remains are this and what was before. */
    unsigned n = 0;
    for (double end = now() + 5; now() < end; sched_yield()) {
        n = 0;
        DIR *proc = opendir("/proc");
        for (struct dirent *entry; (entry = readdir(proc));)
            n += entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
        closedir(proc);
        if (n == 2)
            break;
    }
    printf("kill: %u processes\n", n);
    return 0;
}

/* ---- many, and their price */

static void one_of_each(unsigned i)
{
    char path[64];

    snprintf(path, sizeof path, "m%u", i % 8);
    close(open(path, O_WRONLY | O_CREAT, 0644));
    close(open("absent/x", O_WRONLY | O_CREAT, 0644));
    close(open(".envrc", O_WRONLY | O_CREAT, 0644));
    (void)!symlink(path, "l");
    close(open("l", O_WRONLY | O_TRUNC));
    (void)!link("l", "h");
    (void)!linkat(AT_FDCWD, "l", AT_FDCWD, "h2", AT_SYMLINK_FOLLOW);
    (void)!rename("h", ".vscode");
    (void)!rename("h", "h3");
    unlink("h2"), unlink("h3"), unlink("h");
    mkdir("d", 0755);
    mkdir("d/hooks", 0755);
    (void)!rename("d", ".git");
    rmdir("d/hooks"), rmdir("d");
    (void)!truncate("l", 3);
    (void)!truncate("/dev/fd/0", 3);
    int fd = open(".", O_TMPFILE | O_RDWR, 0600);
    (void)!linkat(fd, "", AT_FDCWD, "t", AT_EMPTY_PATH);
    close(fd);
    unlink("t"), unlink("l");
    mkfifo("f", 0600);
    close(open("f", O_WRONLY | O_NONBLOCK));
    unlink("f");
    close((int)openat2_(AT_FDCWD, path, O_WRONLY, 0, RESOLVE_BENEATH));
    unlink(path);
}

static int do_many(unsigned n)
{
    for (unsigned i = 0; i < n / 20; i++)
        one_of_each(i);
    puts("many: done");
    fflush(stdout);
    return 0;
}

#define TIME(what, n, call)                                          \
    do {                                                             \
        double start = now();                                        \
        for (unsigned i = 0; i < (n); i++)                           \
            call;                                                    \
        printf("%-24s %6.2f us\n", what, (now() - start) / (n)*1e6); \
    } while (0)

static int do_time(unsigned n)
{
    char path[64];

    TIME("create", n,
         (snprintf(path, sizeof path, "t%u", i),
          close(open(path, O_WRONLY | O_CREAT | O_EXCL, 0644))));
    TIME("open to write", n, close(open("t0", O_WRONLY)));
    TIME("open O_CREAT, exists", n, close(open("t0", O_WRONLY | O_CREAT, 0644)));
    TIME("rename", n, (void)!rename(i % 2 ? "r1" : "t0", i % 2 ? "t0" : "r1"));
    TIME("mkdir", n, (snprintf(path, sizeof path, "d%u", i), mkdir(path, 0755)));
    TIME("rename of a directory", n, (void)!rename(i % 2 ? "e0" : "d0", i % 2 ? "d0" : "e0"));
    TIME("open to read", n, close(open("t1", O_RDONLY)));
    TIME("unlink", n, (snprintf(path, sizeof path, "t%u", i), unlink(path)));
    TIME("rmdir", n, (snprintf(path, sizeof path, "d%u", i), rmdir(path)));
    TIME("> /dev/null", n, close(open("/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0644)));
    return 0;
}

int main(int argc, char **argv)
{
    unsigned n = argc > 3 ? (unsigned)atoi(argv[3]) : 0;

    if (argc < 3 || chdir(argv[2]) < 0)
        return fail("arguments");
    setvbuf(stdout, NULL, _IONBF, 0);
    if (strcmp(argv[1], "calls") == 0)
        return do_calls();
    if (strcmp(argv[1], "umasks") == 0)
        return do_umasks();
    if (strcmp(argv[1], "signals") == 0)
        return do_signals(n);
    if (strcmp(argv[1], "fifo") == 0)
        return do_fifo();
    if (strcmp(argv[1], "kill") == 0)
        return do_kill();
    if (strcmp(argv[1], "many") == 0)
        return do_many(n);
    if (strcmp(argv[1], "time") == 0)
        return do_time(n);
    return 2;
}
