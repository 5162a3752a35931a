/*
 * box.c - one child tries everything that a box is made of
 *
 * First all namespaces at once, as a box has them. Where that is refused, each one alone, to find
 * the culprit, and then as many as there are, for the tries that need them. All file systems made
 * here are in the child's own mount namespace and go away with it.
 */
#include "survey/probe/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/sockios.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/statfs.h>

#include "base/cleanup.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define STATFS_READ_ONLY 1

static const uint64_t namespace_flags[PROBE_NAMESPACES] = {
    [PROBE_MOUNT_NS] = CLONE_NEWNS,    [PROBE_PID_NS] = CLONE_NEWPID,
    [PROBE_IPC_NS] = CLONE_NEWIPC,     [PROBE_UTS_NS] = CLONE_NEWUTS,
    [PROBE_NETWORK_NS] = CLONE_NEWNET, [PROBE_CGROUP_NS] = CLONE_NEW_CGROUP,
};

static long write_child(const char *path, const char *text)
{
    long fd = raw(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0);

    if (fd < 0)
        return fd;
    long n = raw(SYS_write, fd, text, strlen(text));
    (void)raw(SYS_close, fd);
    return n < 0 ? n : 0;
}

static void label_child(struct probe_box *box)
{
    long fd = raw(SYS_openat, AT_FDCWD, "/proc/self/attr/current", O_RDONLY | O_CLOEXEC, 0);

    if (fd < 0)
        return;
    long n = raw(SYS_read, fd, box->label, sizeof box->label - 1);
    (void)raw(SYS_close, fd);
    box->label[n > 0 ? n : 0] = '\0';
}

static void id_maps_child(struct probe_box *box)
{
    box->setgroups = write_child("/proc/self/setgroups", "deny");
    box->write_uid_map = write_child("/proc/self/uid_map", box->uid_map);
    box->write_gid_map = write_child("/proc/self/gid_map", box->gid_map);
}

/* A new file system of `type`, not attached anywhere: its descriptor or -errno. */
static long mount_child(const char *type, const char *const options[][2], size_t n_options)
{
    long fs = raw(NR_FSOPEN, type, FSOPEN_CLOSE_ON_EXEC);
    long r = 0;

    if (fs < 0)
        return fs;
    for (size_t i = 0; i < n_options && r >= 0; i++) {
        const char *value = options[i][1];
        r = raw(NR_FSCONFIG, fs, value ? FSCONFIG_STRING : FSCONFIG_FLAG, options[i][0], value, 0);
    }
    if (r >= 0)
        r = raw(NR_FSCONFIG, fs, FSCONFIG_CREATE, NULL, NULL, 0);
    if (r >= 0)
        r = raw(NR_FSMOUNT, fs, FSMOUNT_CLOSE_ON_EXEC, 0);
    (void)raw(SYS_close, fs);
    return r;
}

static long attach_child(long tree, long directory, const char *path)
{
    return raw(NR_MOVE_MOUNT, tree, "", directory, path, MOVE_MOUNT_EMPTY_PATH);
}

/* A tmpfs over the root: the paths of the host stay as they are, the descriptor leads into it. */
static long mount_api_child(struct probe_box *box)
{
    box->make_private = raw(SYS_mount, NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
    long fs = raw(NR_FSOPEN, "tmpfs", FSOPEN_CLOSE_ON_EXEC);
    box->fsopen = fs < 0 ? fs : 0;
    if (fs < 0) {
        box->mount_old = raw(SYS_mount, "tmpfs", "/", "tmpfs", 0, NULL);
        return fs;
    }
    (void)raw(SYS_close, fs);
    long root = mount_child("tmpfs", NULL, 0);
    box->fsmount = root < 0 ? root : 0;
    if (root < 0)
        return root;
    box->attach = attach_child(root, AT_FDCWD, "/");
    return box->attach < 0 ? box->attach : root;
}

/* Read-only must reach a file system that is mounted below the one it is asked for. */
static void setattr_child(struct probe_box *box, long root)
{
    struct kernel_mount_attr attr = { .set = MOUNT_READ_ONLY };
    struct statfs below;

    (void)raw(SYS_mkdirat, root, "below", 0700);
    long inner = mount_child("tmpfs", NULL, 0);
    if (inner >= 0)
        inner = attach_child(inner, root, "below");
    long tree = raw(NR_OPEN_TREE, root, "",
                    OPEN_TREE_CLONE_TREE | AT_RECURSIVE_TREE | AT_EMPTY_PATH | O_CLOEXEC);
    box->clone_tree = inner < 0 ? inner : tree < 0 ? tree : 0;
    if (box->clone_tree < 0)
        return;
    box->setattr =
        raw(NR_MOUNT_SETATTR, tree, "", AT_EMPTY_PATH | AT_RECURSIVE_TREE, &attr, sizeof attr);
    if (box->setattr < 0)
        return;
    long fd = raw(SYS_openat, tree, "below", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
    long r = fd < 0 ? fd : raw(SYS_fstatfs, fd, &below);
    box->setattr = r < 0 ? r : below.f_flags & STATFS_READ_ONLY ? 0 : -EXDEV;
}

static void overlay_child(struct probe_box *box, long root)
{
    static const char *const options[][2] = { { "lowerdir", "lower" },
                                              { "upperdir", "upper" },
                                              { "workdir", "work" },
                                              { "userxattr", NULL } };

    if (raw(SYS_fchdir, root) < 0)
        return;
    (void)raw(SYS_mkdirat, root, "lower", 0700);
    (void)raw(SYS_mkdirat, root, "upper", 0700);
    (void)raw(SYS_mkdirat, root, "work", 0700);
    long fd = mount_child("overlay", options, COUNT(options));
    box->overlay = fd < 0 ? fd : 0;
}

static void devpts_child(struct probe_box *box)
{
    static const char *const options[][2] = { { "newinstance", NULL }, { "ptmxmode", "0666" } };
    long fd = mount_child("devpts", options, COUNT(options));

    if (fd >= 0)
        fd = raw(SYS_openat, fd, "ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC, 0);
    box->devpts = fd < 0 ? fd : 0;
}

static void loopback_child(struct probe_box *box)
{
    struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };
    long fd = raw(SYS_socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    box->loopback = fd < 0 ? fd : raw(SYS_ioctl, fd, SIOCSIFFLAGS, &request);
}

static int box_child(void *arg)
{
    struct probe_box *box = arg;

    label_child(box);
    id_maps_child(box);
    if (box->namespaces & CLONE_NEWNET)
        loopback_child(box);
    if (!(box->namespaces & CLONE_NEWNS))
        return 0;
    long root = mount_api_child(box);
    if (root < 0)
        return 0;
    setattr_child(box, root);
    overlay_child(box, root);
    devpts_child(box);
    if (box->namespaces & CLONE_NEWPID) {
        long fd = mount_child("proc", NULL, 0);
        box->proc = fd < 0 ? fd : 0;
    }
    return 0;
}

static int nothing_child(void *arg)
{
    (void)arg;
    return 0;
}

static void box_try(struct probe_box *box, uint64_t namespaces)
{
    box->namespaces = namespaces;
    box->setgroups = box->write_uid_map = box->write_gid_map = PROBE_NOT_TRIED;
    box->make_private = box->mount_old = PROBE_NOT_TRIED;
    box->fsopen = box->fsmount = box->attach = box->clone_tree = PROBE_NOT_TRIED;
    box->setattr = box->proc = box->overlay = box->devpts = box->loopback = PROBE_NOT_TRIED;
    long r = probe_child(namespaces, box_child, box);
    box->clone = r < 0 ? r : 0;
}

void probe_box_try(struct coop_probe *probe)
{
    struct probe_box *box = &probe->box;
    uint64_t all = CLONE_NEWUSER;
    uint64_t held = CLONE_NEWUSER;

    box->uid = probe->host.uid;
    box->gid = probe->host.gid;
    (void)snprintf(box->uid_map, sizeof box->uid_map, "%u %u 1", box->uid, box->uid);
    (void)snprintf(box->gid_map, sizeof box->gid_map, "%u %u 1", box->gid, box->gid);
    for (int i = 0; i < PROBE_NAMESPACES; i++)
        all |= namespace_flags[i];
    box_try(box, all);
    if (box->clone == 0)
        return; /* all of them are there: probe->namespaces is zero */
    for (int i = 0; i < PROBE_NAMESPACES; i++) {
        long r = probe_child(CLONE_NEWUSER | namespace_flags[i], nothing_child, NULL);
        probe->namespaces[i] = r < 0 ? r : 0;
        if (r >= 0)
            held |= namespace_flags[i];
    }
    box_try(box, held);
}
