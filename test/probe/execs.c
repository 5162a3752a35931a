/*
 * execs.c - one way to make a process of a file, tried from inside a box
 *
 *   execs exec PATH       execve
 *   execs copy PATH       a copy of ourselves there, then execve
 *   execs empty PATH      execveat of an open file
 *   execs fd PATH         execve of /proc/self/fd/N
 *   execs tmpfile DIR     a file there that has no name, filled with ourselves
 *   execs memfd           the same in memory
 *   execs memfd-noexec    that a program could not be anyway
 *   execs map PATH        as ld.so does it: mapped as code
 *   execs later PATH      mapped, and made code afterwards
 *
 * What was executed, if it is a copy of us, says "RAN"; what was mapped says "MAPPED"; else the name
 * of the errno is printed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOEXEC_SEAL 8u

static char *const ran[] = { (char *)"execs", (char *)"ran", NULL };
static char *const none[] = { NULL };

static int say(void)
{
    const char *name = strerrorname_np(errno);

    puts(name ? name : "?");
    return 1;
}

static int fill(int to)
{
    char bytes[65536];
    ssize_t n;
    int from = open("/proc/self/exe", O_RDONLY);

    while ((n = read(from, bytes, sizeof bytes)) > 0)
        if (write(to, bytes, (size_t)n) != n)
            return -1;
    close(from);
    return n < 0 ? -1 : fchmod(to, 0755);
}

static int run(const char *path)
{
    execve(path, ran, none);
    return say();
}

static int run_fd(int fd)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return run(path);
}

/* Whoever is open for writing cannot be executed: a second descriptor, and the first goes. */
static int run_filled(int fd)
{
    char path[64];

    if (fd < 0 || fill(fd) < 0)
        return say();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int again = open(path, O_RDONLY);
    if (again < 0)
        return say();
    close(fd);
    syscall(SYS_execveat, again, "", ran, none, AT_EMPTY_PATH);
    return run_fd(again);
}

static int map(const char *path, int protection, int later)
{
    int fd = open(path, O_RDONLY);
    void *at = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, protection, MAP_PRIVATE, fd, 0);

    if (at == MAP_FAILED || mprotect(at, 4096, later) < 0)
        return say();
    puts("MAPPED");
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    const char *path = argc > 2 ? argv[2] : "";
    int fd;

    if (strcmp(what, "ran") == 0) {
        puts("RAN");
        return 0;
    }
    if (strcmp(what, "exec") == 0)
        return run(path);
    if (strcmp(what, "copy") == 0) {
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);
        if (fd < 0 || fill(fd) < 0)
            return say();
        close(fd);
        return run(path);
    }
    if (strcmp(what, "empty") == 0) {
        fd = open(path, O_RDONLY);
        if (fd >= 0)
            syscall(SYS_execveat, fd, "", ran, none, AT_EMPTY_PATH);
        return say();
    }
    if (strcmp(what, "fd") == 0)
        return (fd = open(path, O_RDONLY)) < 0 ? say() : run_fd(fd);
    if (strcmp(what, "tmpfile") == 0)
        return run_filled(open(path, O_TMPFILE | O_RDWR, 0755));
    if (strcmp(what, "memfd") == 0)
        return run_filled((int)syscall(SYS_memfd_create, "x", 0));
    if (strcmp(what, "memfd-noexec") == 0)
        return run_filled((int)syscall(SYS_memfd_create, "x", NOEXEC_SEAL));
    if (strcmp(what, "map") == 0)
        return map(path, PROT_READ | PROT_EXEC, PROT_READ);
    if (strcmp(what, "later") == 0)
        return map(path, PROT_READ, PROT_READ | PROT_EXEC);
    return 2;
}
