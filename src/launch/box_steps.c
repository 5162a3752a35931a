/*
 * box_steps.c - the steps of init-to-be that are no mounts: cgroup, ids, limits, terminal
 *
 * All of it runs in the child: system calls only, no decisions beyond the step's own fields.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "init/protocol.h"
#include "launch/steps.h"
#include "net/inside/inside.h"
#include "sys/kernel.h"
#include "sys/raw.h"

static size_t length_of(const char *text)
{
    size_t n = 0;

    while (text[n])
        n++;
    return n;
}

static long write_file(int directory_fd, const char *path, const char *text)
{
    long fd = raw(SYS_openat, directory_fd, path, O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return fd;
    long r = raw(SYS_write, fd, text, length_of(text));
    (void)raw(SYS_close, fd);
    return r < 0 ? r : 0;
}

long step_join_cgroup(struct child *child, const struct step *step)
{
    (void)step;
    for (size_t i = 0; i < 3; i++)
        if (child->cgroup_fds[i] >= 0) {
            long r = raw(SYS_write, child->cgroup_fds[i], "0", 1);

            if (r < 0)
                return r;
        }
    return 0;
}

long step_cgroup_namespace(struct child *child, const struct step *step)
{
    (void)child;
    (void)step;
    return raw(SYS_unshare, CLONE_NEW_CGROUP);
}

static long write_maps(int proc_fd, const struct step *step)
{
    long r = write_file(proc_fd, "self/setgroups", "deny");

    if (r == 0)
        r = write_file(proc_fd, "self/uid_map", step->source);
    if (r == 0)
        r = write_file(proc_fd, "self/gid_map", step->target);
    return r;
}

/* In a template's view /proc is nobody's: there our own is made first. */
static long write_maps_anywhere(struct child *child, const struct step *step)
{
    if (child->has_map)
        return 0;
    if (child->proc_fd >= 0)
        return write_maps(child->proc_fd, step);
    long fd = raw(SYS_openat, AT_FDCWD, "/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return fd;
    long r = write_maps((int)fd, step);
    (void)raw(SYS_close, fd);
    return r;
}

long step_id_map(struct child *child, const struct step *step)
{
    long r = write_maps_anywhere(child, step);

    if (r == 0)
        child_tell(&child->map_ready, 1);
    return r;
}

long step_hostname(struct child *child, const struct step *step)
{
    (void)child;
    return raw(SYS_sethostname, step->source, length_of(step->source));
}

/* A decimal number at the end of `buffer`; returns its start. */
const char *step_decimal(uint64_t number, char *end)
{
    *--end = '\0';
    do
        *--end = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    return end;
}

/* In some containers these files cannot be written: then the host's own limits must do. */
static long write_limit(const char *path, uint64_t value)
{
    char text[24];
    const char *number = step_decimal(value, text + sizeof text);
    long fd = raw(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return fd == -EROFS || fd == -EACCES || fd == -EPERM || fd == -ENOENT ? 0 : fd;
    long r = raw(SYS_write, fd, number, (size_t)(text + sizeof text - 1 - number));
    (void)raw(SYS_close, fd);
    return r < 0 ? r : 0;
}

/* The files speak of the user namespace of the one who opens them. */
long step_limit_watches(struct child *child, const struct step *step)
{
    long r = write_limit("/proc/sys/user/max_inotify_instances", step->value);

    (void)child;
    return r < 0 ? r : write_limit("/proc/sys/user/max_inotify_watches", step->value2);
}

static long send_descriptor(int socket_fd, int fd)
{
    const struct protocol_event_message message = { .event = EVENT_TERMINAL };

    return inside_send_fds(socket_fd, &message, sizeof message, &fd, 1);
}

/*
 * A terminal of the box's own devpts; its master goes to the supervisor. init leads the session, so
 * that the command's process group has a parent in it and can be stopped by Ctrl-Z.
 */
long step_pty(struct child *child, const struct step *step)
{
    int unlock = 0;

    (void)step;
    long master = raw(SYS_openat, AT_FDCWD, "/dev/pts/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0)
        return master;
    long r = raw(SYS_ioctl, master, TIOCSPTLCK, &unlock);
    long slave = r < 0 ? r : raw(SYS_ioctl, master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (slave < 0)
        return slave;
    child->terminal_fd = (int)slave;
    const struct winsize size = { .ws_row = child->rows, .ws_col = child->columns };
    (void)raw(SYS_ioctl, slave, TIOCSWINSZ, &size);
    struct kernel_termios settings;
    if (child->terminal_settings) {
        (void)raw(SYS_ioctl, slave, TCSETS, child->terminal_settings);
    } else if (raw(SYS_ioctl, slave, TCGETS, &settings) == 0) {
        settings.input |= IUTF8;
        (void)raw(SYS_ioctl, slave, TCSETS, &settings);
    }
    r = send_descriptor(child->control_fd, (int)master);
    (void)raw(SYS_close, master);
    if (r == 0)
        r = raw(SYS_setsid);
    if (r >= 0)
        r = raw(SYS_ioctl, slave, TIOCSCTTY, 0);
    return r < 0 ? r : 0;
}
