/*
 * steps.c - one function per kind of step: namespaces and mounts (the command's are in
 * command_steps.c)
 *
 * All of it runs in the child: system calls only, no decisions beyond the step's own fields.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>

#include "jail/child.h"
#include "jail/command_steps.h"
#include "jail/mask_steps.h"
#include "jail/project_steps.h"
#include "jail/protocol.h"
#include "jail/remount.h"
#include "jail/trap_steps.h"
#include "net/gate_inside.h"
#include "net/inside.h"
#include "net/nat_inside.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define TMPFS_ATTRIBUTES (MOUNT_NO_SUID | MOUNT_NO_DEV)

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

static long join_cgroup(struct child *child, const struct step *step)
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

static long cgroup_namespace(struct child *child, const struct step *step)
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

static long id_map(struct child *child, const struct step *step)
{
    long r = write_maps_anywhere(child, step);

    if (r == 0)
        child_tell(&child->map_ready, 1);
    return r;
}

static long set_hostname(struct child *child, const struct step *step)
{
    (void)child;
    return raw(SYS_sethostname, step->source, length_of(step->source));
}

/* A decimal number at the end of `buffer`; returns its start. */
static const char *decimal(uint64_t number, char *end)
{
    *--end = '\0';
    do
        *--end = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    return end;
}

struct fs_option {
    const char *name;
    uint64_t value; /* 0: not set */
};

/* A new file system as a detached mount: its descriptor, or -errno. */
static long new_mount(const char *type, const struct fs_option *options, unsigned attributes)
{
    char number[24];
    long fs = raw(NR_FSOPEN, type, FSOPEN_CLOSE_ON_EXEC);
    long r = 0;

    if (fs < 0)
        return fs;
    for (; r >= 0 && options && options->name; options++)
        if (options->value)
            r = raw(NR_FSCONFIG, fs, FSCONFIG_STRING, options->name,
                    decimal(options->value, number + sizeof number), 0);
    if (r >= 0)
        r = raw(NR_FSCONFIG, fs, FSCONFIG_CREATE, NULL, NULL, 0);
    if (r >= 0)
        r = raw(NR_FSMOUNT, fs, FSMOUNT_CLOSE_ON_EXEC, attributes);
    (void)raw(SYS_close, fs);
    return r;
}

static long attach(struct child *child, long mount_fd, const char *target)
{
    long r = raw(NR_MOVE_MOUNT, mount_fd, "", child->root_fd, target, MOVE_MOUNT_EMPTY_PATH);

    (void)raw(SYS_close, mount_fd);
    return r;
}

/* Through directories of the host nothing may lead elsewhere: no links on the way to the target. */
static long attach_checked(struct child *child, long mount_fd, const char *target)
{
    struct kernel_open_how how = {
        .flags = O_PATH | O_CLOEXEC,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    long place = raw(NR_OPENAT2, child->root_fd, target, &how, sizeof how);

    if (place < 0) {
        (void)raw(SYS_close, mount_fd);
        return place;
    }
    long r = raw(NR_MOVE_MOUNT, mount_fd, "", place, "",
                 MOVE_MOUNT_EMPTY_PATH | MOVE_MOUNT_TO_EMPTY_PATH);
    (void)raw(SYS_close, mount_fd);
    (void)raw(SYS_close, place);
    return r;
}

/*
 * A mount that is attached nowhere makes the last close of its descriptor wait for every processor.
 * So it is put where nobody looks: on the host's /sys, which goes with the host's root, or on the
 * template's /proc, which our own covers. Where neither is there, it stays detached.
 */
static void park_pool(struct child *child)
{
    if (child->root_fd >= 0)
        (void)raw(NR_MOVE_MOUNT, child->pool_fd, "", child->root_fd, "proc", MOVE_MOUNT_EMPTY_PATH);
    else
        (void)raw(NR_MOVE_MOUNT, child->pool_fd, "", AT_FDCWD, "/sys", MOVE_MOUNT_EMPTY_PATH);
}

static long pool(struct child *child, const struct step *step)
{
    const struct fs_option options[] = {
        { "size", step->value == COOP_LIMIT_NONE ? 0 : step->value },
        { "nr_inodes", step->value2 },
        { "mode", 755 },
        { NULL, 0 },
    };
    long fd = new_mount("tmpfs", options,
                        TMPFS_ATTRIBUTES | (step->flags & STEP_NO_EXEC ? MOUNT_NO_EXEC : 0));

    if (fd < 0)
        return fd;
    child->pool_fd = (int)fd;
    park_pool(child);
    long r = raw(SYS_mkdirat, fd, "r", 0755);
    if (r == 0)
        r = raw(SYS_mkdirat, fd, "e", 0755);
    if (r == 0)
        r = raw(SYS_mkdirat, fd, "e/d", 0);
    if (r == 0)
        r = raw(SYS_mknodat, fd, "e/f", S_IFREG, 0);
    if (r == 0)
        r = raw(SYS_openat, fd, "r", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (r >= 0)
        child->skeleton_fd = (int)r;
    return r < 0 ? r : 0;
}

static long make_directory(struct child *child, const struct step *step)
{
    long r = raw(SYS_mkdirat, child->skeleton_fd, step->target, step->mode);

    return r == -EEXIST ? 0 : r;
}

static long make_link(struct child *child, const struct step *step)
{
    return raw(SYS_symlinkat, step->source, child->skeleton_fd, step->target);
}

static long make_file(struct child *child, const struct step *step)
{
    if (!step->source) {
        long r = raw(SYS_mknodat, child->skeleton_fd, step->target, S_IFREG | 0644, 0);

        return r == -EEXIST ? 0 : r;
    }
    long fd = raw(SYS_openat, child->skeleton_fd, step->target,
                  O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, step->mode);
    if (fd < 0)
        return fd;
    long r = raw(SYS_write, fd, step->source, step->length);
    (void)raw(SYS_close, fd);
    return r < 0 ? r : 0;
}

/* Before 6.15 a detached mount cannot be cloned in parts: then it is attached out of sight. */
long step_clone_of_pool(struct child *child, const char *path)
{
    long fd = raw(NR_OPEN_TREE, child->pool_fd, path, OPEN_TREE_CLONE_TREE | O_CLOEXEC);

    if (fd != -EINVAL)
        return fd;
    long r = raw(NR_MOVE_MOUNT, child->pool_fd, "", AT_FDCWD, "/", MOVE_MOUNT_EMPTY_PATH);
    if (r < 0)
        return r;
    child->pool_is_attached = true;
    return raw(NR_OPEN_TREE, child->pool_fd, path, OPEN_TREE_CLONE_TREE | O_CLOEXEC);
}

static long make_root(struct child *child, const struct step *step)
{
    (void)step;
    long fd = step_clone_of_pool(child, "r");
    if (fd < 0)
        return fd;
    child->root_fd = (int)fd;
    return raw(NR_MOVE_MOUNT, fd, "", AT_FDCWD, "/", MOVE_MOUNT_EMPTY_PATH);
}

long step_set_attributes(long mount_fd, unsigned flags, uint64_t set)
{
    struct kernel_mount_attr attributes = { .set = set, .propagation = MOUNT_PROPAGATE_PRIVATE };

    return raw(NR_MOUNT_SETATTR, mount_fd, "", AT_EMPTY_PATH | flags, &attributes,
               sizeof attributes);
}

/* A node of the host's /dev; what is bound is what is looked at. Another device, or a file that
 * somebody put there, would be open to the box without nodev. */
static long open_device(const struct step *step)
{
    struct stat st;
    long fd = raw(NR_OPEN_TREE, AT_FDCWD, step->source, OPEN_TREE_CLONE_TREE | O_CLOEXEC);

    if (fd < 0)
        return fd;
    long r = raw(SYS_fstat, fd, &st);
    if (r == 0 && (!S_ISCHR(st.st_mode) || st.st_rdev != step->dev))
        r = -ENODEV;
    if (r == 0)
        return fd;
    (void)raw(SYS_close, fd);
    return r;
}

/* The source as a detached copy of its mounts; what was opened before must still be there. */
long step_open_source(const struct step *step)
{
    struct stat now;

    if (step->flags & STEP_TREE_FD)
        return raw(SYS_fcntl, step->fd, F_DUPFD_CLOEXEC, 3);
    if (step->flags & STEP_DEVICE)
        return open_device(step);
    if (!(step->flags & STEP_RECHECK))
        return raw(NR_OPEN_TREE, AT_FDCWD, step->source,
                   OPEN_TREE_CLONE_TREE | O_CLOEXEC | AT_RECURSIVE_TREE);
    long fd = raw(SYS_openat, AT_FDCWD, step->source, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return fd;
    long r = raw(SYS_fstat, fd, &now);
    if (r == 0 && (now.st_dev != step->dev || now.st_ino != step->ino))
        r = -ESTALE;
    if (r == 0)
        r = raw(NR_OPEN_TREE, fd, "",
                OPEN_TREE_CLONE_TREE | O_CLOEXEC | AT_RECURSIVE_TREE | AT_EMPTY_PATH);
    (void)raw(SYS_close, fd);
    return r;
}

static long bind_mount(struct child *child, const struct step *step)
{
    long fd = step_open_source(step);

    if (fd < 0)
        return fd;
    if (step->flags & (STEP_DEVICE | STEP_SEALED_LATER))
        return attach(child, fd, step->target);
    uint64_t attributes = MOUNT_NO_SUID | MOUNT_NO_DEV |
                          (step->flags & STEP_READ_ONLY ? MOUNT_READ_ONLY : 0) |
                          (step->flags & STEP_NO_EXEC ? MOUNT_NO_EXEC : 0);
    long set = step_set_attributes(fd, AT_RECURSIVE_TREE, attributes);
    if (set < 0 && set != -ENOSYS) {
        (void)raw(SYS_close, fd);
        return set;
    }
    long r = step->flags & (STEP_RECHECK | STEP_TREE_FD) ? attach_checked(child, fd, step->target)
                                                         : attach(child, fd, step->target);
    if (r == 0 && set == -ENOSYS)
        r = remount_below(child->root_fd, step->target, attributes);
    return r;
}

static long private_directory(struct child *child, const struct step *step)
{
    long fd = trap_lay_beneath(child, step,
                               TMPFS_ATTRIBUTES | (step->flags & STEP_NO_EXEC ? MOUNT_NO_EXEC : 0));

    if (fd >= 0)
        child->watches_tmp = 1;
    else                                                  /* it is the same directory, unwatched */
        fd = step_clone_of_pool(child, step->source + 3); /* less its "../" */
    if (fd < 0 || !(step->flags & STEP_READ_ONLY))
        return fd < 0 ? fd : attach(child, fd, step->target);
    const uint64_t attributes = TMPFS_ATTRIBUTES | MOUNT_READ_ONLY;
    long set = step_set_attributes(fd, 0, attributes);
    if (set < 0 && set != -ENOSYS) {
        (void)raw(SYS_close, fd);
        return set;
    }
    long r = attach(child, fd, step->target);
    if (r == 0 && set == -ENOSYS)
        r = remount_exactly(child->root_fd, step->target, attributes);
    return r;
}

static long tmpfs(struct child *child, const struct step *step)
{
    const struct fs_option options[] = { { "size", step->value }, { "mode", 1777 }, { NULL, 0 } };
    long fd = new_mount("tmpfs", options,
                        TMPFS_ATTRIBUTES | (step->flags & STEP_READ_ONLY ? MOUNT_READ_ONLY : 0) |
                            (step->flags & STEP_NO_EXEC ? MOUNT_NO_EXEC : 0));

    return fd < 0 ? fd : attach_checked(child, fd, step->target);
}

/*
 * Of processes only those are shown that whoever looks may trace, whatever groups it is in. init-to-be and
 * its helper share the caller's memory when the command begins, and everybody could read the caller's
 * arguments.
 */
static const struct fs_option proc_options[] = { { "hidepid", 4 }, { NULL, 0 } };

static long proc(struct child *child, const struct step *step)
{
    if (child->proc_fd < 0) {
        long fd = new_mount("proc", proc_options,
                            MOUNT_NO_SUID | MOUNT_NO_DEV | MOUNT_NO_EXEC |
                                (step->flags & STEP_READ_ONLY ? MOUNT_READ_ONLY : 0));

        return fd < 0 ? fd : attach(child, fd, step->target);
    }
    /* Kept open, the command's process may need it still. The maps are written: now read-only. */
    long r = step_set_attributes(child->proc_fd, 0, MOUNT_READ_ONLY);
    if (r == 0)
        r = raw(NR_MOVE_MOUNT, child->proc_fd, "", child->root_fd, step->target,
                MOVE_MOUNT_EMPTY_PATH);
    return r;
}

/* The view that a template made is our root already; what is our own is put on top of it. */
static long enter_template(struct child *child, const struct step *step)
{
    (void)step;
    long root = raw(SYS_openat, AT_FDCWD, "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return root;
    child->root_fd = (int)root;
    /* Not read-only yet: the id maps are written through it. */
    long fd = new_mount("proc", proc_options, MOUNT_NO_SUID | MOUNT_NO_DEV | MOUNT_NO_EXEC);
    if (fd >= 0)
        child->proc_fd = (int)fd;
    child_tell(&child->proc_ready, 1);
    return fd < 0 ? fd : 0;
}

static long terminals(struct child *child, const struct step *step)
{
    const struct fs_option options[] = { { "ptmxmode", 666 }, { "mode", 620 }, { NULL, 0 } };
    long fd = new_mount("devpts", options, MOUNT_NO_SUID | MOUNT_NO_EXEC);

    return fd < 0 ? fd : attach(child, fd, step->target);
}

/* One that tells when somebody wants it: trap.h. */
static long hide_by_node(const struct child *child, size_t index, long place)
{
    long fd = trap_clone_node(child, index);

    if (fd < 0)
        return fd;
    long r =
        raw(NR_MOVE_MOUNT, fd, "", place, "", MOVE_MOUNT_EMPTY_PATH | MOVE_MOUNT_TO_EMPTY_PATH);
    (void)raw(SYS_close, fd);
    return r;
}

static long hide_by_pool(struct child *child, const struct step *step, bool is_directory,
                         long place)
{
    const uint64_t attributes = MOUNT_READ_ONLY | MOUNT_NO_SUID | MOUNT_NO_DEV | MOUNT_NO_EXEC;
    long fd = step_clone_of_pool(child, is_directory ? "e/d" : "e/f");

    if (fd < 0)
        return fd;
    long set = step_set_attributes(fd, 0, attributes);
    long r = set == -ENOSYS ? 0 : set;
    if (r >= 0)
        r = raw(NR_MOVE_MOUNT, fd, "", place, "", MOVE_MOUNT_EMPTY_PATH | MOVE_MOUNT_TO_EMPTY_PATH);
    if (r == 0 && set == -ENOSYS)
        r = remount_below(child->root_fd, step->target, attributes);
    (void)raw(SYS_close, fd);
    return r;
}

/* An empty thing of the same sort that nobody may open. What is not there needs no hiding. */
static long hide(struct child *child, const struct step *step)
{
    struct kernel_open_how how = {
        .flags = O_PATH | O_CLOEXEC,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    struct stat st;
    long place = raw(NR_OPENAT2, child->root_fd, step->target, &how, sizeof how);

    if (place == -ENOENT || place == -ENOTDIR)
        return 0;
    if (place < 0)
        return place;
    long r = raw(SYS_fstat, place, &st);
    if (r == 0 && step->node && child->trap_fd >= 0)
        r = hide_by_node(child, step->node - 1 + S_ISDIR(st.st_mode), place);
    else if (r == 0)
        r = hide_by_pool(child, step, S_ISDIR(st.st_mode), place);
    (void)raw(SYS_close, place);
    return r;
}

static long seal_root(struct child *child, const struct step *step)
{
    const uint64_t attributes = MOUNT_READ_ONLY | MOUNT_NO_SUID | MOUNT_NO_DEV |
                                (step->flags & STEP_NO_EXEC ? MOUNT_NO_EXEC : 0);
    long r = step_set_attributes(child->root_fd, AT_RECURSIVE_TREE, attributes);

    return r == -ENOSYS ? remount_below(child->root_fd, "", attributes) : r;
}

static long enter_root(struct child *child, const struct step *step)
{
    (void)step;
    long r = raw(SYS_fchdir, child->root_fd);

    /* Mounts of a host that shares its own are its slaves until now: those of single files, say. */
    if (r == 0)
        r = raw(SYS_mount, NULL, ".", NULL, MS_REC | MS_PRIVATE, NULL);
    return r < 0 ? r : raw(SYS_pivot_root, ".", ".");
}

static long drop_host_root(struct child *child, const struct step *step)
{
    long r = 0;

    (void)step;
    /* The host's root now lies on top of ours, and on top of that the pool, if it was attached. */
    if (child->pool_is_attached)
        r = raw(SYS_umount2, ".", MNT_DETACH);
    if (r == 0)
        r = raw(SYS_umount2, ".", MNT_DETACH);
    if (r == 0)
        r = raw(SYS_chdir, "/");
    return r;
}

static long raise_loopback(void)
{
    struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
    long fd = raw(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return fd;
    long r = raw(SYS_ioctl, fd, SIOCSIFFLAGS, &request);
    (void)raw(SYS_close, fd);
    return r;
}

/* Without it a program that asks for a name waits, and says that the name server does not answer. */
static int make_resolver(void)
{
    const struct sockaddr_in own = { .sin_family = AF_INET,
                                     .sin_port = htons(53),
                                     .sin_addr = { htonl(INADDR_LOOPBACK) } };
    long fd = raw(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd >= 0 && raw(SYS_bind, fd, &own, sizeof own) < 0) {
        (void)raw(SYS_close, fd);
        fd = -1;
    }
    return fd < 0 ? -1 : (int)fd;
}

/* A namespace of our own, through whichever /proc knows us: its path there. */
static long open_namespace(struct child *child, const char *path)
{
    child_wait(&child->proc_ready, 0);
    if (child->proc_fd >= 0)
        return raw(SYS_openat, child->proc_fd, path, O_RDONLY | O_CLOEXEC);
    long proc_fd = raw(SYS_openat, AT_FDCWD, "/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (proc_fd < 0)
        return proc_fd;
    long fd = raw(SYS_openat, proc_fd, path, O_RDONLY | O_CLOEXEC);
    (void)raw(SYS_close, proc_fd);
    return fd;
}

/*
 * A network namespace takes the kernel as long as all the mounts together, so the command's process
 * makes it while init makes those, and hands it over as a descriptor: they share their table.
 */
static long network(struct child *child, const struct step *step)
{
    long r = raw(SYS_unshare, CLONE_NEWNET);

    if (r == 0 && step->value)
        r = raise_loopback();
    if (r == 0 && step->flags & STEP_NAMES)
        child->names_fd = make_resolver();
    if (r == 0)
        r = open_namespace(child, "thread-self/ns/net");
    child->network_fd = (int)r;
    child_tell(&child->network_done, 1);
    return r < 0 ? r : 0;
}

static long lead_to_gate(struct child *child, const struct step *step)
{
    (void)step;
    return gate_inside_make(&child->plan->gate->inside, child->gate_fd);
}

/* Somebody else joins the user namespace, so it must be whole: init writes its maps meanwhile. */
static long lead_out(struct child *child, const struct step *step)
{
    (void)step;
    child_wait(&child->map_ready, 0);
    long user_fd = open_namespace(child, "thread-self/ns/user");
    if (user_fd < 0)
        return user_fd;
    long r = nat_inside_make(&child->plan->nat->inside, child->gate_fd, child->network_fd,
                             (int)user_fd, &child->nat_method);
    (void)raw(SYS_close, user_fd);
    return r;
}

static long join_network(struct child *child, const struct step *step)
{
    (void)step;
    child_wait(&child->network_done, 0);
    if (child->network_fd < 0)
        return child->network_fd;
    return raw(SYS_setns, child->network_fd, CLONE_NEWNET);
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
static long make_terminal(struct child *child, const struct step *step)
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

static long (*const apply[STEP_KINDS])(struct child *child, const struct step *step) = {
    [STEP_JOIN_CGROUP] = join_cgroup,
    [STEP_CGROUP_NAMESPACE] = cgroup_namespace,
    [STEP_ID_MAP] = id_map,
    [STEP_HOSTNAME] = set_hostname,
    [STEP_POOL] = pool,
    [STEP_MAKE_DIRECTORY] = make_directory,
    [STEP_MAKE_LINK] = make_link,
    [STEP_MAKE_FILE] = make_file,
    [STEP_ROOT] = make_root,
    [STEP_ENTER_TEMPLATE] = enter_template,
    [STEP_BIND] = bind_mount,
    [STEP_PROJECT] = project_take,
    [STEP_SHOW] = project_show,
    [STEP_PRIVATE] = private_directory,
    [STEP_TMPFS] = tmpfs,
    [STEP_PROC] = proc,
    [STEP_TERMINALS] = terminals,
    [STEP_HIDE] = hide,
    [STEP_PRISTINE] = mask_pristine,
    [STEP_HOLD] = mask_hold,
    [STEP_FREEZE] = mask_freeze,
    [STEP_KEEP] = mask_keep,
    [STEP_MASK] = mask_hide,
    [STEP_COVER] = mask_cover,
    [STEP_SEAL_ROOT] = seal_root,
    [STEP_TRAPS] = trap_make,
    [STEP_ENTER_ROOT] = enter_root,
    [STEP_DROP_HOST_ROOT] = drop_host_root,
    [STEP_NETWORK] = network,
    [STEP_GATE] = lead_to_gate,
    [STEP_NAT] = lead_out,
    [STEP_JOIN_NETWORK] = join_network,
    [STEP_PTY] = make_terminal,
    [STEP_SESSION] = command_session,
    [STEP_STDIO] = command_stdio,
    [STEP_LIMIT] = command_limit,
    [STEP_KEYRING] = command_keyring,
    [STEP_CHANGE_DIRECTORY] = command_change_directory,
    [STEP_CLOSE] = command_close_descriptors,
    [STEP_LANDLOCK] = command_landlock,
    [STEP_WALL] = command_wall,
    [STEP_CAPABILITIES] = command_capabilities,
    [STEP_SECCOMP] = command_seccomp,
    [STEP_NO_CODE_FILES] = command_no_code_files,
    [STEP_NO_SHARED_OBJECTS] = command_no_shared_objects,
    [STEP_NO_UNIX_SOCKETS] = command_no_unix_sockets,
};

int step_apply(struct child *child, const struct step *step)
{
    return (int)apply[step->kind](child, step);
}
