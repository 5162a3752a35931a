/*
 * kernel.c - system calls that are there or not, and facts that are good to know
 */
#include "survey/probe/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/kernel.h"
#include "sys/raw.h"

#define MEMFD_CLOSE_ON_EXEC 1u

void probe_clone3(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    long r = raw(NR_CLONE3, NULL, 0); /* too small a structure: EINVAL where the call exists */

    if (r == -EINVAL)
        verdict_yes(verdict, "into a cgroup and with a pidfd at once");
    else if (r == -ENOSYS && probe->host.seccomp == 2)
        verdict_no(verdict, "hidden by a seccomp filter; clone is used");
    else
        verdict_refused(verdict, probe, r, "clone3", "5.3");
}

static int nothing_child(void *arg)
{
    (void)arg;
    return 0;
}

void probe_pidfd(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    long fd = raw(NR_PIDFD_OPEN, getpid(), 0);
    long r = fd < 0 ? fd : raw(NR_PIDFD_SEND_SIGNAL, fd, 0, NULL, 0);

    if (fd >= 0)
        (void)raw(SYS_close, fd);
    if (r < 0) {
        verdict_refused(verdict, probe, r, "pidfd_open", "5.3");
        return;
    }
    r = probe_child(0, nothing_child, NULL);
    if (r < 0)
        verdict_refused(verdict, probe, r, "wait by pidfd", "5.4");
    else
        verdict_yes(verdict, "open, signal and wait");
}

void probe_close_range(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    long r =
        raw(NR_CLOSE_RANGE, ~0u, ~0u, CLOSE_RANGE_SET_CLOEXEC); /* no descriptor is that high */

    if (r == -EINVAL)
        verdict_no(verdict, "CLOSE_RANGE_CLOEXEC was introduced in Linux 5.11; this is %s",
                   probe->host.kernel);
    else if (r < 0)
        verdict_refused(verdict, probe, r, "close_range", "5.9");
    else
        verdict_yes(verdict, "with CLOSE_RANGE_CLOEXEC");
}

void probe_openat2(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    struct kernel_open_how how = { .flags = O_PATH | O_CLOEXEC,
                                   .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS };
    long fd = raw(NR_OPENAT2, AT_FDCWD, "/", &how, sizeof how);

    if (fd < 0) {
        verdict_refused(verdict, probe, fd, "openat2", "5.6");
        return;
    }
    (void)raw(SYS_close, fd);
    verdict_yes(verdict, "with RESOLVE_*");
}

/* vm.memfd_noexec=2 refuses the flag; older kernels do not know it and always allow. */
void probe_memfd(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    long fd = raw(SYS_memfd_create, "coop-probe", MEMFD_CLOSE_ON_EXEC | MEMFD_EXECUTABLE);

    if (fd == -EINVAL)
        fd = raw(SYS_memfd_create, "coop-probe", MEMFD_CLOSE_ON_EXEC);
    if (fd == -EACCES) {
        verdict_no(verdict, "vm.memfd_noexec is 2");
        verdict_fix(verdict, "sudo sysctl vm.memfd_noexec=1");
        return;
    }
    if (fd < 0) {
        verdict_refused(verdict, probe, fd, "memfd_create", "3.17");
        return;
    }
    long r = raw(SYS_ftruncate, fd, 4096);
    void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, (int)fd, 0);
    if (r == 0 && code == MAP_FAILED)
        r = -errno;
    if (code != MAP_FAILED)
        (void)munmap(code, 4096);
    (void)raw(SYS_close, fd);
    if (r < 0)
        verdict_refused(verdict, probe, r, "map it executable", NULL);
    else
        verdict_yes(verdict, "can be mapped executable");
}

static long try_connect(const char *directory, const char *name)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int n = snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", directory, name);

    if (n < 0 || (size_t)n >= sizeof address.sun_path)
        return -ENAMETOOLONG;
    auto_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    return connect(fd, (struct sockaddr *)&address, sizeof address) < 0 ? -errno : 0;
}

void probe_systemd_scope(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    char fallback[64];

    (void)snprintf(fallback, sizeof fallback, "/run/user/%u", probe->host.uid);
    if (!runtime || !*runtime)
        runtime = fallback;
    long r = try_connect(runtime, "systemd/private");
    if (r == 0) {
        verdict_yes(verdict, "the user's systemd answers in '%s'", runtime);
        return;
    }
    if (try_connect(runtime, "bus") == 0) {
        verdict_yes(verdict, "the user's bus answers in '%s'", runtime);
        return;
    }
    if (access("/run/systemd/system", F_OK) < 0) {
        verdict_no(verdict, "systemd is not running here");
        return;
    }
    verdict_no(verdict, "no user manager in '%s': %s", runtime, strerror((int)-r));
    verdict_fix(verdict, "sudo loginctl enable-linger %u", probe->host.uid);
}

/* A box does not depend on it, but its records do: init/watchfs/watchfs.h. */
void probe_fuse(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    auto_close int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

    (void)probe;
    if (fd >= 0) {
        verdict_yes(
            verdict,
            "/dev/fuse works: --explain and the tools report attempts to read hidden files");
        return;
    }
    int error = errno;
    verdict_no(
        verdict,
        "open '/dev/fuse': %s; attempts to read hidden files are reported only with --explain=all",
        strerror(error));
    if (error == EACCES)
        verdict_fix(verdict, "sudo chmod 666 /dev/fuse   # the default on most distributions");
    else if (error == ENOENT || error == ENODEV || error == ENXIO)
        verdict_fix(verdict, "sudo modprobe fuse");
}

/* A fact more than a capability: how far processes of one user may look into each other. */
void probe_yama(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    static const char *const scopes[] = { "classic ptrace", "ptrace of descendants only",
                                          "ptrace by administrators only", "no ptrace" };
    long scope = probe_read_number("/proc/sys/kernel/yama/ptrace_scope", -1);

    (void)probe;
    if (scope < 0 || (size_t)scope >= COUNT(scopes))
        verdict_no(verdict, "not in this kernel; a box does not depend on it");
    else
        verdict_yes(verdict, "scope %ld: %s", scope, scopes[scope]);
}
