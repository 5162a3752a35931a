/*
 * tries.c - tries what it is asked about, for real, and says how that went
 *
 *   tries              reads questions from standard input, a line each: ACT TARGET; answers with a
 *                      line each: "ok", or the number of the errno
 *   tries listen PATH  listens on the unix socket PATH and on a port of 127.0.0.1, whose number it
 *                      prints; ends when its standard input does
 *
 * Acts: read, write, exec, connect, bind, env, syscall. Nothing is left of an attempt: what it makes
 * it removes. A directory that is hidden is an empty one, so reading one means to find something in
 * it. A program is executed with the argument --version; a system call is made with arguments that
 * no kernel accepts. Relative paths begin at $HOME, which is the workspace.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plan/seccomp/seccomp.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static int read_directory(const char *path)
{
    DIR *directory = opendir(path);
    int r = ENOENT;

    if (!directory)
        return errno;
    for (const struct dirent *entry; (entry = readdir(directory));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            r = 0;
    (void)closedir(directory);
    return r;
}

static int try_read(const char *path)
{
    struct stat st;
    char byte;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    int r = 0;

    if (fd < 0)
        return errno;
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
        r = read_directory(path);
    else if (read(fd, &byte, 1) < 0 && errno != EAGAIN)
        r = errno;
    (void)close(fd);
    return r;
}

static int make_and_remove(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0)
        return errno;
    (void)close(fd);
    return unlink(path) < 0 ? errno : 0;
}

/* With the directories that it takes. */
static int make_below(const char *path)
{
    char copy[PATH_MAX];
    size_t n = strlen(path);
    size_t ends[64];
    size_t n_made = 0;
    int r = 0;

    if (n >= sizeof copy)
        return ENAMETOOLONG;
    memcpy(copy, path, n + 1);
    for (char *p = copy + 1; r == 0 && (p = strchr(p, '/')); *p++ = '/') {
        *p = '\0';
        if (access(copy, F_OK) == 0)
            continue;
        if (mkdir(copy, 0700) < 0)
            r = errno;
        else if (n_made < COUNT(ends))
            ends[n_made++] = (size_t)(p - copy);
    }
    if (r == 0)
        r = make_and_remove(path);
    memcpy(copy, path, n + 1);
    while (n_made > 0) {
        copy[ends[--n_made]] = '\0';
        (void)rmdir(copy);
    }
    return r;
}

static int try_write(const char *path)
{
    char inner[PATH_MAX];
    struct stat st;

    if (stat(path, &st) < 0)
        return errno == ENOENT ? make_below(path) : errno;
    if (S_ISDIR(st.st_mode)) {
        int n = snprintf(inner, sizeof inner, "%s/.tries-%d", path, (int)getpid());

        return n < 0 || (size_t)n >= sizeof inner ? ENAMETOOLONG : make_and_remove(inner);
    }
    int fd = open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    (void)close(fd);
    return 0;
}

static void execute(const char *path, int report_fd)
{
    char *const argv[] = { (char *)(uintptr_t)path, (char *)(uintptr_t) "--version", NULL };
    char *const env[] = { (char *)(uintptr_t) "PATH=/usr/bin:/bin", NULL };
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int fd = 0; fd < 3; fd++)
        (void)dup2(null_fd, fd);
    (void)execve(path, argv, env);
    int error = errno;
    (void)!write(report_fd, &error, sizeof error);
    _exit(127);
}

static int try_exec(const char *path)
{
    int report[2];
    int error = 0;
    int status;

    if (pipe2(report, O_CLOEXEC) < 0)
        return errno;
    pid_t pid = fork();
    if (pid == 0)
        execute(path, report[1]);
    (void)close(report[1]);
    if (pid < 0)
        error = errno;
    else if (read(report[0], &error, sizeof error) != (ssize_t)sizeof error)
        error = 0;
    (void)close(report[0]);
    if (pid > 0)
        (void)waitpid(pid, &status, 0);
    return error;
}

/* 127.0.0.1:80 */
static bool read_address(const char *target, struct sockaddr_in *out)
{
    char host[64];
    const char *colon = strrchr(target, ':');
    size_t n = colon ? (size_t)(colon - target) : sizeof host;

    if (n >= sizeof host)
        return false;
    memcpy(host, target, n);
    host[n] = '\0';
    *out = (struct sockaddr_in){ .sin_family = AF_INET,
                                 .sin_port = htons((uint16_t)strtoul(colon + 1, NULL, 10)) };
    return inet_pton(AF_INET, host, &out->sin_addr) == 1;
}

static int connect_to(int fd, const void *address, socklen_t n)
{
    int r = fd < 0 || connect(fd, address, n) < 0 ? errno : 0;

    if (fd >= 0)
        (void)close(fd);
    return r;
}

static int try_connect(const char *target)
{
    struct sockaddr_in address;
    struct sockaddr_un file = { .sun_family = AF_UNIX };

    if (strchr(target, '/')) {
        if (strlen(target) >= sizeof file.sun_path)
            return ENAMETOOLONG;
        memcpy(file.sun_path, target, strlen(target) + 1);
        return connect_to(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), &file, sizeof file);
    }
    if (!read_address(target, &address))
        return EINVAL;
    return connect_to(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), &address, sizeof address);
}

static int try_bind(const char *target)
{
    struct sockaddr_in address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int r = 0;

    if (fd < 0)
        return errno;
    if (!read_address(target, &address))
        r = EINVAL;
    else if (bind(fd, (const struct sockaddr *)&address, sizeof address) < 0)
        r = errno;
    (void)close(fd);
    return r;
}

static int try_env(const char *name)
{
    return getenv(name) ? 0 : ENOENT;
}

/* What is no refusal is none of the filter's answers. */
static int try_syscall(const char *name)
{
    int nr = seccomp_call_number(name);

    if (nr < 0)
        return EINVAL;
    if (syscall(nr, -1L, -1L, -1L, -1L, -1L, -1L) >= 0)
        return 0;
    return errno == EPERM || errno == ENOSYS ? errno : 0;
}

static const struct {
    const char *act;
    int (*attempt)(const char *target);
} acts[] = {
    { "read ", try_read },       { "write ", try_write }, { "exec ", try_exec },
    { "connect ", try_connect }, { "bind ", try_bind },   { "env ", try_env },
    { "syscall ", try_syscall },
};

static int attempt(const char *line)
{
    for (size_t i = 0; i < COUNT(acts); i++)
        if (strncmp(line, acts[i].act, strlen(acts[i].act)) == 0)
            return acts[i].attempt(line + strlen(acts[i].act));
    fprintf(stderr, "tries: what is '%s'?\n", line);
    exit(2);
}

static int listen_at(const char *path)
{
    struct sockaddr_un file = { .sun_family = AF_UNIX };
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t n = sizeof address;
    int file_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct pollfd fds[] = { { .fd = 0, .events = POLLIN },
                            { .fd = file_fd, .events = POLLIN },
                            { .fd = fd, .events = POLLIN } };

    if (strlen(path) >= sizeof file.sun_path)
        return 1;
    memcpy(file.sun_path, path, strlen(path) + 1);
    if (bind(file_fd, (const struct sockaddr *)&file, sizeof file) < 0 || listen(file_fd, 8) < 0 ||
        bind(fd, (const struct sockaddr *)&address, sizeof address) < 0 || listen(fd, 8) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &n) < 0) {
        perror("tries: listen");
        return 1;
    }
    printf("%d\n", ntohs(address.sin_port));
    (void)fflush(stdout);
    for (;;) {
        if (poll(fds, COUNT(fds), -1) < 0 && errno != EINTR)
            return 1;
        for (size_t i = 1; i < COUNT(fds); i++)
            if (fds[i].revents)
                (void)close(accept4(fds[i].fd, NULL, NULL, SOCK_CLOEXEC));
        if (fds[0].revents)
            return 0;
    }
}

int main(int argc, char **argv)
{
    static char line[2 * PATH_MAX];
    const char *home = getenv("HOME");

    if (argc == 3 && strcmp(argv[1], "listen") == 0)
        return listen_at(argv[2]);
    if (!home || chdir(home) < 0) {
        perror("tries: HOME");
        return 2;
    }
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        int error = attempt(line);

        if (error)
            printf("%d\n", error);
        else
            printf("ok\n");
    }
    return 0;
}
