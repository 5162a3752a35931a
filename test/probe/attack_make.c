/*
 * attack_make.c - one name that does not exist, and all ways to make it
 *
 * Each returns as system calls do.
 */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/kernel.h"

static int write_through(const char *path)
{
    return attack_write(open(path, O_WRONLY | O_CREAT, 0755));
}

/* A descriptor of the target's parent, and its last name. */
static int parent_of(const char *target, const char **out_name)
{
    char path[4096];

    snprintf(path, sizeof path, "%s", target);
    char *slash = strrchr(path, '/');
    *out_name = slash ? target + (slash - path) + 1 : target;
    if (slash)
        *slash = '\0';
    return open(slash ? path : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int by_mkdir(const char *t)
{
    return mkdir(t, 0755);
}
static int by_mkdirat(const char *t)
{
    const char *name;
    int fd = parent_of(t, &name);

    return mkdirat(fd, name, 0755);
}
static int by_mkdir_slash(const char *t)
{
    return mkdir(attack_joined(t, "///"), 0755);
}
static int by_creat(const char *t)
{
    return attack_write(creat(t, 0755));
}
static int by_old_open(const char *t)
{
#ifdef SYS_open
    return attack_write((int)syscall(SYS_open, t, O_WRONLY | O_CREAT, 0755));
#else
    return attack_write(open(t, O_WRONLY | O_CREAT, 0755));
#endif
}
static int by_openat(const char *t)
{
    return attack_write(openat(attack_fd, t, O_RDWR | O_CREAT, 0755));
}
static int by_open_exclusively(const char *t)
{
    return attack_write(open(t, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0755));
}
static int by_open_to_read(const char *t)
{
    return open(t, O_RDONLY | O_CREAT, 0755);
}
static int by_open_neither(const char *t)
{
    return open(t, 3 | O_CREAT, 0755);
}
static int by_open_truncating(const char *t)
{
    return open(t, O_RDONLY | O_CREAT | O_TRUNC, 0755);
}
static int by_open_path(const char *t)
{
    return open(t, O_PATH | O_CREAT, 0755);
}
static int by_openat2(const char *t)
{
    return attack_write((int)attack_openat2(AT_FDCWD, t, O_WRONLY | O_CREAT, 0755, 0));
}
static int by_openat2_beneath(const char *t)
{
    return attack_write(
        (int)attack_openat2(attack_fd, t, O_WRONLY | O_CREAT, 0755, RESOLVE_BENEATH));
}
static int by_openat2_in_root(const char *t)
{
    return attack_write((int)attack_openat2(attack_fd, attack_joined("/../", t), O_WRONLY | O_CREAT,
                                            0755, RESOLVE_IN_ROOT));
}
static int by_openat2_cached(const char *t)
{
    return attack_write((int)attack_openat2(attack_fd, t, O_WRONLY | O_CREAT, 0755, 0x20));
}
static int by_openat2_larger(const char *t)
{
    struct {
        struct kernel_open_how how;
        uint64_t more[4];
    } how = { { O_WRONLY | O_CREAT, 0755, 0 }, { 0 } };

    return attack_write((int)syscall(NR_OPENAT2, AT_FDCWD, t, &how, sizeof how));
}
static int by_mknod(const char *t)
{
    return mknod(t, S_IFREG | 0755, 0);
}
static int by_mknodat(const char *t)
{
    return mknodat(attack_fd, t, 0755, 0);
}
static int by_fifo(const char *t)
{
    return mkfifo(t, 0755);
}
static int by_node(const char *t)
{
    return mknod(t, S_IFCHR | 0666, 0); /* 0:0 needs no capability */
}
static int by_symlink(const char *t)
{
    return symlink("scratch", t);
}
static int by_symlinkat(const char *t)
{
    return symlinkat("scratch", attack_fd, t);
}
static int by_dangling_link(const char *t)
{
    if (symlink(attack_from_scratch(t), "scratch/l") < 0)
        printf("# no link: %s\n", strerror(errno));
    return write_through("scratch/l");
}
static int by_dangling_absolute_link(const char *t)
{
    char path[4200];

    snprintf(path, sizeof path, "%s/%s", attack_root, t);
    (void)!symlink(path, "scratch/l");
    return write_through("scratch/l");
}
static int by_chain_of_links(const char *t)
{
    (void)!symlink(attack_from_scratch(t), "scratch/l0");
    for (int i = 1; i < 10; i++) {
        char from[32], to[32];

        snprintf(from, sizeof from, "scratch/l%d", i);
        snprintf(to, sizeof to, "l%d", i - 1);
        (void)!symlink(to, from);
    }
    return write_through("scratch/l9");
}
static int by_linked_parent(const char *t)
{
    (void)!symlink("..", "scratch/up");
    return mkdir(attack_joined("scratch/up/", t), 0755);
}
static int by_linked_parent_of_name(const char *t)
{
    char parent[4096], path[4200];

    snprintf(parent, sizeof parent, "../%s", t);
    *strrchr(parent, '/') = '\0';
    (void)!symlink(parent, "scratch/p");
    snprintf(path, sizeof path, "scratch/p/%s", strrchr(attack_joined("/", t), '/') + 1);
    return write_through(path);
}
static int by_link(const char *t)
{
    attack_file("scratch/f");
    return link("scratch/f", t);
}
static int by_linkat(const char *t)
{
    attack_file("scratch/f");
    return linkat(attack_fd, "scratch/f", attack_fd, t, AT_SYMLINK_FOLLOW);
}
static int by_link_of_descriptor(const char *t)
{
    char path[64];

    attack_file("scratch/f");
    snprintf(path, sizeof path, "/proc/self/fd/%d", open("scratch/f", O_RDWR));
    return linkat(AT_FDCWD, path, AT_FDCWD, t, AT_SYMLINK_FOLLOW);
}
static int by_link_of_link(const char *t)
{
    (void)!symlink("f", "scratch/l");
    return link("scratch/l", t);
}
static int by_unnamed(const char *t)
{
    int fd = open(".", O_TMPFILE | O_RDWR, 0755);

    if (fd < 0)
        printf("# no O_TMPFILE: %s\n", strerror(errno));
    (void)!write(fd, attack_text, sizeof attack_text - 1);
    return linkat(fd, "", AT_FDCWD, t, AT_EMPTY_PATH);
}
static int by_unnamed_of_proc(const char *t)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", open("scratch", O_TMPFILE | O_RDWR, 0755));
    return linkat(AT_FDCWD, path, AT_FDCWD, t, AT_SYMLINK_FOLLOW);
}
static int by_unnamed_inside(const char *t)
{
    int fd = open(t, O_TMPFILE | O_RDWR, 0755);

    return linkat(fd, "", AT_FDCWD, attack_joined(t, "/pre-commit"), AT_EMPTY_PATH);
}
static int by_rename(const char *t)
{
    attack_file("scratch/f");
    return rename("scratch/f", t);
}
static int by_rename_directory(const char *t)
{
    mkdir("scratch/d", 0755);
    attack_file("scratch/d/pre-commit");
    return rename("scratch/d", t);
}
static int by_rename_slash(const char *t)
{
    mkdir("scratch/d", 0755);
    return rename("scratch/d/", attack_joined(t, "/"));
}
static int by_renameat(const char *t)
{
    attack_file("scratch/f");
    return renameat(attack_fd, "scratch/f", attack_fd, t);
}
static int by_rename_noreplace(const char *t)
{
    attack_file("scratch/f");
    return (int)syscall(SYS_renameat2, attack_fd, "scratch/f", attack_fd, t, RENAME_NOREPLACE);
}
static int by_exchange(const char *t)
{
    mkdir("scratch/d", 0755);
    return (int)syscall(SYS_renameat2, attack_fd, "scratch/d", attack_fd, t, RENAME_EXCHANGE);
}
static int by_exchange_back(const char *t)
{
    mkdir("scratch/d", 0755);
    return (int)syscall(SYS_renameat2, attack_fd, t, attack_fd, "scratch/d", RENAME_EXCHANGE);
}
static int by_whiteout(const char *t)
{
    attack_file("scratch/f");
    return (int)syscall(SYS_renameat2, attack_fd, "scratch/f", attack_fd, t, RENAME_WHITEOUT);
}
static int by_detour(const char *t)
{
    return mkdir(attack_joined("docs/../docs/./../", t), 0755);
}
static int by_detour_open(const char *t)
{
    return write_through(attack_joined("./docs/..//", t));
}
static int by_absolute(const char *t)
{
    char path[8200];

    snprintf(path, sizeof path, "//proc/../%s/./%s", attack_root, t);
    return write_through(path);
}
static int by_proc_cwd(const char *t)
{
    return mkdir(attack_joined("/proc/self/cwd/", t), 0755);
}
static int by_proc_cwd_open(const char *t)
{
    return write_through(attack_joined("/proc/self/cwd/", t));
}
static int by_proc_thread(const char *t)
{
    return write_through(attack_joined("/proc/thread-self/cwd/", t));
}
static int by_proc_root(const char *t)
{
    char path[8400];

    snprintf(path, sizeof path, "/proc/self/root%s/%s", attack_root, t);
    return write_through(path);
}
static int by_proc_fd(const char *t)
{
    char path[8400];

    snprintf(path, sizeof path, "/proc/self/fd/%d/%s", attack_fd, t);
    return write_through(path);
}
static int by_dev_fd(const char *t)
{
    char path[8400];

    snprintf(path, sizeof path, "/dev/fd/%d/%s", attack_fd, t);
    return mkdir(path, 0755);
}
static int by_proc_of_pid(const char *t)
{
    char path[8400];

    snprintf(path, sizeof path, "/proc/%d/fd/%d/%s", getpid(), attack_fd, t);
    return write_through(path);
}
static int by_proc_of_parent(const char *t)
{
    char path[8400];

    snprintf(path, sizeof path, "/proc/%d/cwd/%s", getppid(), t);
    return write_through(path);
}
static int by_link_to_proc(const char *t)
{
    (void)!symlink(attack_joined("/proc/self/cwd/", t), "scratch/l");
    return write_through("scratch/l");
}
static int by_unnamed_in_proc(const char *t)
{
    int fd = open("/proc/self/cwd", O_TMPFILE | O_RDWR, 0755);

    return linkat(fd, "", attack_fd, t, AT_EMPTY_PATH);
}
static int by_long_path(const char *t)
{
    static char path[4096];
    size_t n = sizeof path - 1 - strlen(t);

    for (size_t i = 0; i + 1 < n; i += 2)
        memcpy(path + i, "./", 2);
    n -= n % 2;
    strcpy(path + n, t);
    return write_through(path);
}
static int by_too_long_path(const char *t)
{
    static char path[9000];

    for (size_t i = 0; i < 8000; i += 2)
        memcpy(path + i, "./", 2);
    strcpy(path + 8000, t);
    return write_through(path);
}
static int by_page_border(const char *t)
{
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *path = pages + 4096 - strlen(t) - 1;

    munmap(pages + 4096, 4096);
    strcpy(path, t);
    return mkdir(path, 0755);
}
static int by_renamed_socket(const char *t)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "scratch/s" };

    (void)bind(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof address);
    return rename("scratch/s", t);
}
static int by_deleted_directory(const char *t)
{
    mkdir("scratch/gone", 0755);
    int fd = open("scratch/gone", O_PATH | O_DIRECTORY);
    (void)!fchdir(fd);
    rmdir("../gone");
    int r = mkdir(attack_joined("../../", t), 0755);
    if (r < 0)
        r = mkdirat(fd, attack_joined("../../", t), 0755);
    (void)!fchdir(attack_fd);
    return r;
}
static int by_moved_descriptor(const char *t)
{
    mkdir("scratch/a", 0755);
    mkdir("scratch/a/b", 0755);
    int fd = open("scratch/a/b", O_PATH | O_DIRECTORY);
    (void)!rename("scratch/a/b", "scratch/b");
    return mkdirat(fd, attack_joined("../../", t), 0755);
}
static int by_undumpable(const char *t)
{
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    int r = write_through(t);
    if (r < 0)
        r = mkdir(t, 0755);
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    return r;
}
static void *thread_makes(void *target)
{
    return (void *)(intptr_t)mkdir(target, 0755);
}
static int by_thread(const char *t)
{
    pthread_t thread;
    void *result = NULL;

    pthread_create(&thread, NULL, thread_makes, (void *)(uintptr_t)t);
    pthread_join(thread, &result);
    return (int)(intptr_t)result;
}
static int by_vfork(const char *t)
{
    volatile int r = -1;
    pid_t pid = vfork();

    if (pid == 0) {
        r = (int)syscall(SYS_mkdirat, AT_FDCWD, t, 0755);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    return r;
}
static int by_daemon(const char *t)
{
    int pipes[2], r = -1;

    (void)!pipe(pipes);
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            r = mkdir(t, 0755);
            (void)!write(pipes[1], &r, sizeof r);
        }
        _exit(0);
    }
    close(pipes[1]);
    (void)!read(pipes[0], &r, sizeof r);
    close(pipes[0]);
    wait(NULL);
    return r;
}
static int by_unshared_directory(const char *t)
{
    if (unshare(CLONE_FS) < 0 || chdir("docs") < 0)
        return -1;
    int r = mkdir(attack_joined("../", t), 0755);
    (void)!fchdir(attack_fd);
    return r;
}
static int by_bind_mount(const char *t)
{
    mkdir("scratch/d", 0755);
    return mount("scratch/d", t, NULL, MS_BIND, NULL);
}
static int by_open_tree(const char *t)
{
    (void)t;
    return (int)syscall(NR_OPEN_TREE, AT_FDCWD, "scratch", OPEN_TREE_CLONE_TREE);
}
static int by_namespace(const char *t)
{
    (void)t;
    return unshare(CLONE_NEWUSER | CLONE_NEWNS);
}
static int by_chroot(const char *t)
{
    (void)t;
    return chroot("scratch");
}
static int by_io_uring(const char *t)
{
    char parameters[256] = { 0 };

    (void)t;
    return (int)syscall(425, 4, parameters);
}
static int by_handle(const char *t)
{
    union {
        struct file_handle handle;
        char space[sizeof(struct file_handle) + 128];
    } u = { .handle.handle_bytes = 128 };
    int mount_id;

    (void)t;
    if (name_to_handle_at(AT_FDCWD, ".git/config", &u.handle, &mount_id, 0) < 0)
        return -1;
    return open_by_handle_at(attack_fd, &u.handle, O_WRONLY);
}
static int by_two_names(const char *t)
{
    /* The directory first under a name that is free, then two levels at once. */
    mkdir("scratch/d", 0755);
    mkdir("scratch/d/e", 0755);
    if (rename("scratch/d/e", t) == 0)
        return 0;
    return rename("scratch/d", t);
}

const struct way attack_makes[] = {
    { "mkdir", by_mkdir },
    { "mkdirat", by_mkdirat },
    { "mkdir with slashes behind", by_mkdir_slash },
    { "creat", by_creat },
    { "the old open", by_old_open },
    { "openat", by_openat },
    { "open O_EXCL", by_open_exclusively },
    { "open O_RDONLY O_CREAT", by_open_to_read },
    { "open with neither read nor write", by_open_neither },
    { "open O_RDONLY O_CREAT O_TRUNC", by_open_truncating },
    { "open O_PATH O_CREAT", by_open_path },
    { "openat2", by_openat2 },
    { "openat2 RESOLVE_BENEATH", by_openat2_beneath },
    { "openat2 RESOLVE_IN_ROOT", by_openat2_in_root },
    { "openat2 RESOLVE_CACHED", by_openat2_cached },
    { "openat2 with a larger structure", by_openat2_larger },
    { "mknod", by_mknod },
    { "mknodat", by_mknodat },
    { "mkfifo", by_fifo },
    { "mknod 0:0", by_node },
    { "symlink", by_symlink },
    { "symlinkat", by_symlinkat },
    { "a dangling link", by_dangling_link },
    { "a dangling link, absolute", by_dangling_absolute_link },
    { "a chain of links", by_chain_of_links },
    { "a linked parent", by_linked_parent },
    { "a link to the name's parent", by_linked_parent_of_name },
    { "link", by_link },
    { "linkat", by_linkat },
    { "linkat of a descriptor", by_link_of_descriptor },
    { "link of a link", by_link_of_link },
    { "O_TMPFILE, AT_EMPTY_PATH", by_unnamed },
    { "O_TMPFILE, /proc/self/fd", by_unnamed_of_proc },
    { "O_TMPFILE inside", by_unnamed_inside },
    { "O_TMPFILE in /proc/self/cwd", by_unnamed_in_proc },
    { "rename", by_rename },
    { "rename of a directory", by_rename_directory },
    { "rename with slashes", by_rename_slash },
    { "renameat", by_renameat },
    { "RENAME_NOREPLACE", by_rename_noreplace },
    { "RENAME_EXCHANGE", by_exchange },
    { "RENAME_EXCHANGE, the other way", by_exchange_back },
    { "RENAME_WHITEOUT", by_whiteout },
    { "docs/../", by_detour },
    { "docs/../, open", by_detour_open },
    { "an absolute path", by_absolute },
    { "/proc/self/cwd", by_proc_cwd },
    { "/proc/self/cwd, open", by_proc_cwd_open },
    { "/proc/thread-self/cwd", by_proc_thread },
    { "/proc/self/root", by_proc_root },
    { "/proc/self/fd/N/", by_proc_fd },
    { "/dev/fd/N/", by_dev_fd },
    { "/proc/PID/fd/N/", by_proc_of_pid },
    { "/proc/PPID/cwd", by_proc_of_parent },
    { "a link to /proc/self/cwd", by_link_to_proc },
    { "a path of 4095 bytes", by_long_path },
    { "a path of 8000 bytes", by_too_long_path },
    { "a string at the end of a page", by_page_border },
    { "rename of a socket", by_renamed_socket },
    { "from a deleted directory", by_deleted_directory },
    { "from a descriptor of a moved directory", by_moved_descriptor },
    { "a process that is not dumpable", by_undumpable },
    { "a thread", by_thread },
    { "a vforked child", by_vfork },
    { "a daemon", by_daemon },
    { "with a working directory of its own", by_unshared_directory },
    { "a bind mount", by_bind_mount },
    { "open_tree", by_open_tree },
    { "namespaces", by_namespace },
    { "chroot", by_chroot },
    { "io_uring", by_io_uring },
    { "file handles", by_handle },
    { "two renames", by_two_names },
    { NULL, NULL },
};
