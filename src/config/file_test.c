#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "config/node.h"
#include "test/check.h"

static char directory[64];

/* Everything happens in a directory of its own that is gone afterwards. */
static void enter(void)
{
    const char *base = getenv("TMPDIR");

    (void)snprintf(directory, sizeof directory, "%.40s/coop-XXXXXX", base ? base : "/tmp");
    CHECK(mkdtemp(directory) && chdir(directory) == 0);
}

static void leave(void)
{
    static const char *const names[] = { "file", "fifo", "socket", "loop", "link", "gone" };

    for (size_t i = 0; i < COUNT(names); i++)
        (void)unlink(names[i]);
    (void)rmdir("dir");
    CHECK(chdir("/") == 0 && rmdir(directory) == 0);
}

static void put(const char *path, const char *text, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    CHECK(fd >= 0 && write(fd, text, n) == (ssize_t)n);
    (void)close(fd);
}

static void check_refused(const char *path, int errnum, const char *fragment)
{
    struct buffer text = { 0 };
    coop_error *err = NULL;

    int r = config_read_file(path, &text, &err);
    if (r != -errnum || !strstr(coop_error_message(err), fragment))
        printf("# %s: %d, %s\n", path, r, coop_error_message(err));
    CHECK(r == -errnum);
    CHECK(strstr(coop_error_message(err), fragment));
    CHECK(strstr(coop_error_message(err), path));
    CHECK(text.length == 0);
    coop_error_free(err);
    buffer_done(&text);
}

TEST(reads_a_file_as_it_is)
{
    struct buffer text = { 0 };
    coop_error *err = NULL;

    enter();
    put("file", "a\0b\xFF\r\n", 6);
    CHECK(symlink("file", "link") == 0);
    CHECK(config_read_file("file", &text, &err) == 0);
    CHECK(text.length == 6 && memcmp(text.data, "a\0b\xFF\r\n", 7) == 0);
    CHECK(config_read_file("link", &text, &err) == 0);
    CHECK(text.length == 12 && memcmp(text.data, "a\0b\xFF\r\na\0b\xFF\r\n", 13) == 0);
    put("file", "", 0);
    text.length = 0;
    CHECK(config_read_file("file", &text, &err) == 0);
    CHECK(text.length == 0 && text.data[0] == '\0' && !err);
    buffer_done(&text);
    leave();
}

TEST(refuses_what_is_no_file)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "socket" };

    enter();
    CHECK(mkdir("dir", 0700) == 0 && mkfifo("fifo", 0600) == 0);
    CHECK(symlink("loop", "loop") == 0 && symlink("nothing", "gone") == 0);
    auto_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(fd, (struct sockaddr *)&address, sizeof address) == 0);

    check_refused("dir", EISDIR, "it is a directory");
    check_refused("fifo", EINVAL, "it is a FIFO");
    check_refused("socket", EINVAL, "it is a socket");
    check_refused("/dev/null", EINVAL, "it is a device");
    check_refused("loop", ELOOP, "symbolic links lead in a circle");
    check_refused("gone", ENOENT, "No such file");
    check_refused("fifo/file", ENOTDIR, "Not a directory");
    check_refused("", ENOENT, "No such file");
    check_refused("/proc/self/status", EBUSY, "changed"); /* it has more bytes than its size */
    leave();
}

TEST(takes_the_largest_size_and_no_more)
{
    struct buffer text = { 0 };
    coop_error *err = NULL;

    enter();
    put("file", "", 0);
    CHECK(truncate("file", (off_t)NODE_TEXT_MAX) == 0);
    CHECK(config_read_file("file", &text, &err) == 0);
    CHECK(text.length == NODE_TEXT_MAX && !err);
    CHECK(truncate("file", (off_t)NODE_TEXT_MAX + 1) == 0);
    check_refused("file", EFBIG, "larger than 16 MiB");
    CHECK(truncate("file", (off_t)1 << 40) == 0);
    check_refused("file", EFBIG, "larger than 16 MiB");
    buffer_done(&text);
    leave();
}

/* Opened, then changed in some way, then read. */
static void check_change(void (*change)(void))
{
    struct config_file file = { .fd = -1 };
    struct buffer text = { 0 };
    coop_error *err = NULL;

    put("file", "before", 6);
    CHECK(config_file_open("file", &file, &err) == 0);
    change();
    buffer_append_string(&text, "kept");
    CHECK(config_file_read(&file, &text, &err) == -EBUSY);
    CHECK(strstr(coop_error_message(err), "'file': it was changed while it was being read"));
    CHECK_STR(text.data, "kept");
    CHECK(text.length == 4);
    config_file_done(&file);
    CHECK(file.fd == -1);
    buffer_done(&text);
    coop_error_free(err);
}

static void grow(void)
{
    CHECK(truncate("file", 7) == 0);
}

static void grow_much(void)
{
    CHECK(truncate("file", 100000000) == 0);
}

static void shrink(void)
{
    CHECK(truncate("file", 5) == 0);
}

/* The size stays; the clock of a file system is coarse, so the time is set outright. */
static void overwrite(void)
{
    const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = 1 } };
    int fd = open("file", O_WRONLY | O_CLOEXEC);

    CHECK(fd >= 0 && write(fd, "BEFORE", 6) == 6 && futimens(fd, times) == 0);
    (void)close(fd);
}

TEST(notices_a_file_that_changes_meanwhile)
{
    enter();
    check_change(grow);
    check_change(grow_much);
    check_change(shrink);
    check_change(overwrite);
    leave();
}

TEST(descriptors_are_closed_at_exec)
{
    struct config_file file = { .fd = -1 };
    coop_error *err = NULL;

    enter();
    put("file", "text", 4);
    CHECK(config_file_open("file", &file, &err) == 0);
    CHECK(fcntl(file.fd, F_GETFD) & FD_CLOEXEC);
    config_file_done(&file);
    leave();
}
