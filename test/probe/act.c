/*
 * act.c - does one thing to a file, as a program would
 *
 *   act read PATH | write PATH TEXT | mkdir PATH | rename PATH PATH | remove PATH | symlink TARGET PATH
 *
 * Ends with 0, or prints why not and ends with 1. Between two mounts a file or link is copied instead
 * of renamed, as mv(1) does it; of a directory, or by a detour, the answer is 3, which is none.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int act_read(const char *path, const char *unused)
{
    char byte;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    (void)unused;
    return fd < 0 || (read(fd, &byte, 1) < 0 && errno != EISDIR) ? -1 : 0;
}

static int act_write(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

    return fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) ? -1 : 0;
}

static int act_mkdir(const char *path, const char *unused)
{
    (void)unused;
    return mkdir(path, 0777);
}

static int copy_link(const char *from, const char *to)
{
    char text[4096];
    ssize_t n = readlink(from, text, sizeof text - 1);

    text[n > 0 ? n : 0] = '\0';
    return n < 0 || (unlink(to) < 0 && errno != ENOENT) ? -1 : symlink(text, to);
}

static int copy_file(const char *from, const char *to)
{
    char text[4096];
    int in = open(from, O_RDONLY | O_CLOEXEC);
    ssize_t n = in < 0 ? -1 : read(in, text, sizeof text);
    int out = n < 0 || (unlink(to) < 0 && errno != ENOENT)
                  ? -1
                  : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

    return out < 0 || write(out, text, (size_t)n) != n ? -1 : 0;
}

static int act_rename(const char *from, const char *to)
{
    struct stat st;

    if (rename(from, to) == 0)
        return 0;
    if (errno != EXDEV)
        return -1;
    if (strstr(from, "../") || lstat(from, &st) < 0 || S_ISDIR(st.st_mode))
        _exit(3);
    if ((S_ISLNK(st.st_mode) ? copy_link(from, to) : copy_file(from, to)) < 0)
        return -1;
    return unlink(from);
}

static int act_remove(const char *path, const char *unused)
{
    (void)unused;
    return remove(path);
}

static const struct {
    const char *name;
    int (*run)(const char *, const char *);
} acts[] = {
    { "read", act_read },     { "write", act_write },   { "mkdir", act_mkdir },
    { "rename", act_rename }, { "remove", act_remove }, { "symlink", symlink },
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc >= 3 && i < sizeof acts / sizeof *acts; i++)
        if (strcmp(acts[i].name, argv[1]) == 0) {
            if (acts[i].run(argv[2], argc > 3 ? argv[3] : "") == 0)
                return 0;
            puts(strerror(errno));
            return 1;
        }
    return 2;
}
