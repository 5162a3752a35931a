/*
 * userns.c - user namespaces, and why not
 *
 * The kernel says EPERM or ENOSPC for half a dozen reasons. Each cause below is proved, not guessed
 * from the error: a seccomp filter by a call that the kernel itself would answer otherwise, AppArmor
 * by the label that the child got, a sysctl by its value. The first that holds is the answer, and
 * the order is that in which the system meets them.
 */
#include "survey/probe/probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

#define SYSCTL_DEBIAN   "/proc/sys/kernel/unprivileged_userns_clone"
#define SYSCTL_MAX      "/proc/sys/user/max_user_namespaces"
#define SYSCTL_APPARMOR "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"
#define APPARMOR_FILE   "packaging/apparmor/coop"
#define APPARMOR_PATH   "/usr/{,local/}bin/coop" /* what the profile is attached to */

/* Which `docker run` options would lift it; other containers are named by what must change. */
static void fix_container_seccomp(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    const char *name = probe->host.container;

    if (name && strcmp(name, "kubernetes") == 0)
        verdict_fix(verdict, "kubectl patch deployment NAME --type json -p '[{\"op\":\"add\","
                             "\"path\":\"/spec/template/spec/containers/0/securityContext\","
                             "\"value\":{\"seccompProfile\":{\"type\":\"Unconfined\"}}}]'");
    else if (name && strcmp(name, "lxc") == 0)
        verdict_fix(verdict, "lxc config set NAME security.nesting true && lxc restart NAME");
    else if (name && (strcmp(name, "docker") == 0 || strcmp(name, "podman") == 0))
        verdict_fix(verdict, "%s run --security-opt seccomp=unconfined %s", name,
                    probe_container_option(probe,
                                           "--security-opt apparmor=unconfined "
                                           "--security-opt systempaths=unconfined ...",
                                           "--security-opt unmask=ALL ..."));
}

static bool because_of_seccomp(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    const struct probe_host *host = &probe->host;

    if (!host->namespace_filter)
        return false;
    verdict_no(verdict, "refused by the seccomp filter on this process (%s%s%s)",
               strerror((int)host->namespace_filter), host->container ? "; container: " : "",
               host->container ? host->container : "");
    fix_container_seccomp(probe, verdict);
    return true;
}

static bool because_of_option(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    if (probe->box.clone != -EINVAL || access("/proc/self/ns/user", F_OK) == 0)
        return false;
    verdict_no(verdict, "kernel %s was built without CONFIG_USER_NS", probe->host.kernel);
    return true;
}

static bool because_of_debian_sysctl(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    if (probe->host.is_admin || probe_read_number(SYSCTL_DEBIAN, 1) != 0)
        return false;
    verdict_no(verdict, "kernel.unprivileged_userns_clone is 0");
    verdict_fix(verdict, "sudo sysctl kernel.unprivileged_userns_clone=1");
    return true;
}

static bool because_of_count(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    long max = probe_read_number(SYSCTL_MAX, -1);

    if (probe->box.clone == -EUSERS || (probe->box.clone == -ENOSPC && max >= INT32_MAX)) {
        verdict_no(verdict, "too many user namespaces inside each other: the kernel allows 32");
        return true;
    }
    if (probe->box.clone == -ENOSPC && max > 0) {
        verdict_no(verdict, "the maximum number of user namespaces exists: %ld", max);
        verdict_fix(verdict, "sudo sysctl user.max_user_namespaces=%ld", 2 * max);
        return true;
    }
    if (probe->box.clone != -ENOSPC)
        return false;
    verdict_no(verdict, "user.max_user_namespaces is 0");
    verdict_fix(verdict, "sudo sysctl user.max_user_namespaces=15000");
    return true;
}

/* The profile that coop ships; its path must be that of the program which runs us. */
static void fix_apparmor(struct probe_verdict *verdict)
{
    char program[512] = "";
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);

    if (n <= 0 || strcmp(program, "/usr/bin/coop") == 0 ||
        strcmp(program, "/usr/local/bin/coop") == 0)
        verdict_fix(verdict, "sudo install -m 644 " APPARMOR_FILE " /etc/apparmor.d/coop && "
                             "sudo apparmor_parser -r /etc/apparmor.d/coop");
    else
        verdict_fix(verdict,
                    "sed 's#" APPARMOR_PATH "#\"%s\"#' " APPARMOR_FILE
                    " | sudo tee /etc/apparmor.d/coop && "
                    "sudo apparmor_parser -r /etc/apparmor.d/coop",
                    program);
}

/*
 * Ubuntu lets the namespace be made but moves the process into the profile unprivileged_userns,
 * which has no capabilities; where that profile is not loaded, clone itself says EACCES.
 */
static bool because_of_apparmor(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    const struct probe_box *box = &probe->box;
    bool is_moved = strstr(box->label, "unprivileged_userns") != NULL;

    if (!is_moved && probe_read_number(SYSCTL_APPARMOR, 0) != 1)
        return false;
    if (!is_moved && box->clone != -EACCES && box->clone != -EPERM)
        return false;
    verdict_no(verdict, "%s",
               is_moved
                   ? "AppArmor removes their capabilities with its profile unprivileged_userns "
                     "(kernel.apparmor_restrict_unprivileged_userns)"
                   : "kernel.apparmor_restrict_unprivileged_userns is 1: AppArmor refuses them "
                     "to programs without a profile");
    fix_apparmor(verdict);
    return true;
}

/* A process whose own id has no number in its namespace may not make another. */
static bool because_of_unmapped_id(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    char text[4096];
    unsigned long first, outside, count;
    char *save = NULL;

    if (probe->box.clone != -EPERM || probe_read("/proc/self/uid_map", text, sizeof text) < 0)
        return false;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        if (sscanf(line, "%lu %lu %lu", &first, &outside, &count) == 3 &&
            probe->host.uid >= first && probe->host.uid - first < count)
            return false;
    }
    verdict_no(verdict, "user %u is not mapped in the user namespace we are in", probe->host.uid);
    return true;
}

static bool because_of_label(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    const struct probe_host *host = &probe->host;

    if (host->label[0] == '\0' || strncmp(host->label, "unconfined", 10) == 0)
        return false;
    verdict_no(verdict, "refused by a security module (%s), which labels this process '%s'",
               host->lsm[0] ? host->lsm : "names unknown", host->label);
    if (host->container)
        verdict_fix(verdict, "%s run --security-opt %s ...", host->container,
                    strstr(host->lsm, "selinux") ? "label=disable" : "apparmor=unconfined");
    return true;
}

/* In a chroot the kernel refuses: the namespace would let us out of it. */
static bool because_of_chroot(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    auto_free char *text = probe_mounts_read();
    char *cursor = text;
    struct probe_mount mount;

    if (probe->box.clone != -EPERM || !text)
        return false;
    while (probe_mounts_next(&cursor, &mount)) {
        if (strcmp(mount.target, "/") == 0)
            return false;
    }
    verdict_no(verdict, "we are in a chroot: no file system is mounted at our '/'");
    verdict_fix(verdict, "sudo systemd-nspawn --directory=DIR ... instead of sudo chroot DIR ...");
    return true;
}

static void why_not(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    static bool (*const causes[])(const struct coop_probe *, struct probe_verdict *) = {
        because_of_seccomp,  because_of_option,      because_of_debian_sysctl, because_of_count,
        because_of_apparmor, because_of_unmapped_id, because_of_chroot,        because_of_label,
    };

    for (size_t i = 0; i < COUNT(causes); i++) {
        if (causes[i](probe, verdict))
            return;
    }
    if (access("/proc/self/status", F_OK) < 0) {
        verdict_no(verdict, "clone with CLONE_NEWUSER: %s; /proc is not mounted, which hides why",
                   strerror((int)-probe->box.clone));
        verdict_fix(verdict, "sudo mount -t proc proc /proc");
        return;
    }
    verdict_no(verdict, "clone with CLONE_NEWUSER: %s%s", strerror((int)-probe->box.clone),
               probe->box.clone == -EPERM
                   ? "; no sysctl, filter or label explains it: a chroot to a mount point, or a "
                     "security module that does not show itself"
                   : "");
}

void probe_user_namespaces(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    const struct probe_box *box = &probe->box;

    if (box->clone < 0) {
        why_not(probe, verdict);
        return;
    }
    if (box->write_uid_map < 0 && because_of_apparmor(probe, verdict))
        return;
    verdict_yes(verdict, "%s", probe->host.is_admin ? "as administrator" : "unprivileged");
}

void probe_id_maps(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    const struct probe_box *box = &probe->box;
    long r = box->write_uid_map < 0 ? box->write_uid_map : box->write_gid_map;

    if (box->clone < 0) {
        verdict_no(verdict, "needs user namespaces");
    } else if (r == 0) {
        verdict_yes(verdict, "user %u, group %u", box->uid, box->gid);
    } else if (because_of_apparmor(probe, verdict)) {
        return;
    } else if (r == -EACCES && !probe->host.is_dumpable) {
        verdict_no(verdict, "this process is not dumpable, so its /proc/self belongs to root");
        verdict_fix(verdict, "call prctl(PR_SET_DUMPABLE, 1) first");
    } else if (r == -ENOENT) {
        verdict_no(verdict, "/proc is not mounted here");
        verdict_fix(verdict, "sudo mount -t proc proc /proc");
    } else if (r == -EROFS) {
        verdict_no(verdict, "/proc is mounted read-only here");
        verdict_fix(verdict, "sudo mount -o remount,rw /proc");
    } else {
        verdict_no(verdict, "write '/proc/self/%s': %s",
                   box->write_uid_map < 0 ? "uid_map" : "gid_map", strerror((int)-r));
    }
}
