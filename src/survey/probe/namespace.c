/*
 * namespace.c - the other namespaces, and what is mounted in them: verdicts on probe_box's tries
 */
#include "survey/probe/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "sys/kernel.h"
#include "sys/raw.h"

static const struct {
    const char *config;
    const char *sysctl;
} namespace_words[PROBE_NAMESPACES] = {
    [PROBE_MOUNT_NS] = { "CONFIG_NAMESPACES", "user.max_mnt_namespaces" },
    [PROBE_PID_NS] = { "CONFIG_PID_NS", "user.max_pid_namespaces" },
    [PROBE_IPC_NS] = { "CONFIG_IPC_NS", "user.max_ipc_namespaces" },
    [PROBE_UTS_NS] = { "CONFIG_UTS_NS", "user.max_uts_namespaces" },
    [PROBE_NETWORK_NS] = { "CONFIG_NET_NS", "user.max_net_namespaces" },
    [PROBE_CGROUP_NS] = { "CONFIG_CGROUPS", "user.max_cgroup_namespaces" },
};

/* Whether the namespace was made; a verdict is given when not. */
static bool is_made(const struct coop_probe *probe, enum probe_namespace which,
                    struct probe_verdict *verdict)
{
    long r = probe->namespaces[which];

    if (probe->box.clone < 0) {
        verdict_no(verdict, "needs user namespaces");
    } else if (r == 0) {
        return true;
    } else if (r == -ENOSPC) {
        verdict_no(verdict, "the limit %s is reached", namespace_words[which].sysctl);
        verdict_fix(verdict, "sudo sysctl %s=15000", namespace_words[which].sysctl);
    } else if (r == -EINVAL) {
        verdict_no(verdict, "kernel %s was built without %s", probe->host.kernel,
                   namespace_words[which].config);
    } else {
        verdict_no(verdict, "clone: %s", strerror((int)-r));
    }
    return false;
}

/* A mount was refused although the namespace is ours: who did it? */
static void refused_mount(const struct coop_probe *probe, struct probe_verdict *verdict, long r,
                          const char *what, const char *since)
{
    const char *label = probe->box.label;
    bool is_confined = label[0] != '\0' && strncmp(label, "unconfined", 10) != 0;

    if (probe->box.clone < 0) {
        verdict_no(verdict, "needs user namespaces");
    } else if ((r == -EACCES || r == -EPERM) && is_confined) {
        verdict_no(verdict, "%s: refused to the security label '%s'", what, label);
        if (probe->host.container)
            verdict_fix(verdict, "%s run --security-opt %s ...", probe->host.container,
                        strchr(label, ':') ? "label=disable" : "apparmor=unconfined");
    } else if ((r == -EPERM || r == -ENOSYS) && probe->host.seccomp == 2) {
        verdict_no(verdict, "%s: %s; a seccomp filter is on this process", what, strerror((int)-r));
        if (probe->host.container)
            verdict_fix(verdict, "%s run --security-opt seccomp=unconfined ...",
                        probe->host.container);
    } else {
        verdict_refused(verdict, probe, r, what, since);
    }
}

void probe_mount_namespace(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    if (!is_made(probe, PROBE_MOUNT_NS, verdict))
        return;
    if (probe->box.make_private < 0)
        refused_mount(probe, verdict, probe->box.make_private, "make mounts private", NULL);
    else
        verdict_yes(verdict, "private propagation");
}

void probe_pid_namespace(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    if (is_made(probe, PROBE_PID_NS, verdict))
        verdict_yes(verdict, "own process tree");
}

void probe_ipc_namespace(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    if (is_made(probe, PROBE_IPC_NS, verdict))
        verdict_yes(verdict, "own System V and POSIX queues");
}

void probe_uts_namespace(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    if (is_made(probe, PROBE_UTS_NS, verdict))
        verdict_yes(verdict, "own host name");
}

void probe_network_namespace(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    if (is_made(probe, PROBE_NETWORK_NS, verdict))
        verdict_yes(verdict, "own interfaces and abstract sockets");
}

void probe_cgroup_namespace(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    if (is_made(probe, PROBE_CGROUP_NS, verdict))
        verdict_yes(verdict, "own root of the cgroup tree");
}

void probe_loopback(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    if (!is_made(probe, PROBE_NETWORK_NS, verdict))
        return;
    if (probe->box.loopback < 0)
        refused_mount(probe, verdict, probe->box.loopback, "raise 'lo'", NULL);
    else
        verdict_yes(verdict, "'lo' can be raised");
}

void probe_mount_api(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    const struct probe_box *box = &probe->box;
    const struct {
        const char *what;
        long r;
    } steps[] = { { "fsopen", box->fsopen },
                  { "fsmount", box->fsmount },
                  { "move_mount", box->attach },
                  { "open_tree", box->clone_tree } };

    for (size_t i = 0; i < COUNT(steps); i++) {
        if (steps[i].r != 0) {
            refused_mount(probe, verdict, steps[i].r, steps[i].what, "5.2");
            return;
        }
    }
    verdict_yes(verdict, "fsopen, fsmount, open_tree, move_mount");
}

void probe_mount_setattr(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    long r = probe->box.setattr;

    if (r == 0)
        verdict_yes(verdict, "mount_setattr, submounts included");
    else if (r == -EXDEV)
        verdict_no(verdict, "mount_setattr succeeds but leaves submounts writable");
    else
        refused_mount(probe, verdict, r, "mount_setattr", "5.12");
}

/* Containers cover parts of /proc; the kernel then refuses an instance that would show them. */
static void why_no_proc(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    auto_free char *text = probe_mounts_read();
    auto_buffer struct buffer covers = { 0 };
    char *cursor = text;
    struct probe_mount mount;
    int n = 0;

    while (text && probe_mounts_next(&cursor, &mount)) {
        if (strncmp(mount.target, "/proc/", 6) != 0)
            continue;
        if (n++ < 3)
            buffer_printf(&covers, "%s%s", n > 1 ? ", " : "", mount.target);
    }
    if (n == 0 || !covers.data) {
        refused_mount(probe, verdict, probe->box.proc, "mount a new /proc", NULL);
        return;
    }
    verdict_no(verdict, "refused because parts of /proc are covered here (%s%s)", covers.data,
               n > 3 ? ", ..." : "");
    verdict_fix(verdict, "%s run --security-opt %s ...",
                probe->host.container ? probe->host.container : "docker",
                probe_container_option(probe, "systempaths=unconfined", "unmask=ALL"));
}

void probe_fresh_proc(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    if (!is_made(probe, PROBE_MOUNT_NS, verdict) || !is_made(probe, PROBE_PID_NS, verdict))
        return;
    if (probe->box.proc == 0)
        verdict_yes(verdict, "of the box's own process tree");
    else if (probe->box.proc == -EPERM)
        why_no_proc(probe, verdict);
    else
        refused_mount(probe, verdict, probe->box.proc, "mount a new /proc", NULL);
}

void probe_overlay(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    long r = probe->box.overlay;

    if (r == 0) {
        verdict_yes(verdict, "in a user namespace");
    } else if (r == -ENODEV) {
        verdict_no(verdict, "kernel %s has no overlayfs loaded", probe->host.kernel);
        verdict_fix(verdict, "sudo modprobe overlay");
    } else if (r == -EPERM || r == -EINVAL) {
        /* 5.10 knows overlayfs but neither the option userxattr nor mounts by ordinary users */
        verdict_no(verdict,
                   "%s: overlayfs in a user namespace was introduced in Linux 5.11; this is %s",
                   strerror((int)-r), probe->host.kernel);
    } else {
        refused_mount(probe, verdict, r, "mount overlayfs", NULL);
    }
}

void probe_devpts(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    if (probe->box.devpts == 0)
        verdict_yes(verdict, "own devpts");
    else
        refused_mount(probe, verdict, probe->box.devpts, "mount devpts and open its ptmx", NULL);
}

static long write_map(pid_t pid, const char *name)
{
    char path[64];

    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    auto_close int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    return write(fd, "0 1 1", 5) < 0 ? -errno : 0;
}

/* Whether the file system at `path` lets itself be seen with other owners. */
static long try_idmap(const char *path, int userns_fd)
{
    struct kernel_mount_attr attr = { .set = MOUNT_IDMAP, .userns_fd = (uint64_t)userns_fd };
    long tree = raw(NR_OPEN_TREE, AT_FDCWD, path, OPEN_TREE_CLONE_TREE | O_CLOEXEC);

    if (tree < 0)
        return tree;
    long r = raw(NR_MOUNT_SETATTR, tree, "", AT_EMPTY_PATH, &attr, sizeof attr);
    (void)raw(SYS_close, tree);
    return r;
}

void probe_idmapped_mounts(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    struct probe_held held;
    char path[64];

    if (!probe->host.is_admin) {
        verdict_no(verdict, "only an administrator may create them");
        return;
    }
    long r = probe_hold(&held);
    if (r < 0) {
        verdict_no(verdict, "needs user namespaces");
        return;
    }
    (void)snprintf(path, sizeof path, "/proc/%d/ns/user", (int)held.pid);
    auto_close int userns_fd = open(path, O_RDONLY | O_CLOEXEC);
    r = userns_fd < 0 ? -errno : write_map(held.pid, "uid_map");
    if (r == 0)
        r = write_map(held.pid, "gid_map");
    if (r == 0)
        r = try_idmap("/", userns_fd);
    probe_let_go(&held);
    if (r == 0)
        verdict_yes(verdict, "the root file system supports them");
    else if (r == -EINVAL)
        verdict_no(verdict, "the root file system does not support them in Linux %s",
                   probe->host.kernel);
    else
        verdict_refused(verdict, probe, r, "mount_setattr", "5.12");
}
