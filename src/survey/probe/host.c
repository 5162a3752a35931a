/*
 * host.c - what can be read about the host: kernel, privileges, container, security modules
 */
#include "survey/probe/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "sys/raw.h"

long probe_read(const char *path, char *out, size_t size)
{
    auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    out[0] = '\0';
    if (fd < 0)
        return -errno;
    ssize_t n = read(fd, out, size - 1);
    if (n < 0)
        return -errno;
    out[n] = '\0';
    while (n > 0 && out[n - 1] == '\n')
        out[--n] = '\0';
    return n;
}

long probe_read_number(const char *path, long fallback)
{
    char text[32];
    char *end;

    if (probe_read(path, text, sizeof text) <= 0)
        return fallback;
    long value = strtol(text, &end, 10);
    return *end == '\0' ? value : fallback;
}

char probe_kernel_config(const struct coop_probe *probe, const char *option)
{
    char path[192];
    char *line = NULL;
    size_t size = 0;
    size_t n = strlen(option);
    char answer = 'n'; /* an option that is off stands in a comment or nowhere */

    (void)snprintf(path, sizeof path, "/boot/config-%s", probe->host.kernel);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    while (answer == 'n' && getline(&line, &size, file) > 0) {
        if (strncmp(line, option, n) == 0 && line[n] == '=')
            answer = line[n + 1];
    }
    free(line);
    (void)fclose(file);
    return answer;
}

static bool has_admin(void)
{
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

    if (raw(SYS_capget, &header, data) < 0)
        return false;
    return data[0].effective & (1u << CAP_SYS_ADMIN);
}

static int seccomp_mode(void)
{
    char status[4096];

    if (probe_read("/proc/thread-self/status", status, sizeof status) <= 0)
        return 0;
    const char *line = strstr(status, "\nSeccomp:");
    return line ? atoi(line + strlen("\nSeccomp:")) : 0;
}

/* One file per container manager; systemd's own notion of it comes last. */
static const char *container_name(void)
{
    static const struct {
        const char *path, *name;
    } marks[] = {
        { "/.dockerenv", "docker" },     { "/run/.containerenv", "podman" },
        { "/.flatpak-info", "flatpak" }, { "/var/run/secrets/kubernetes.io", "kubernetes" },
        { "/dev/lxd/sock", "lxc" },
    };
    static const char *const names[] = { "docker", "podman", "lxc", "systemd-nspawn" };
    char text[64];

    for (size_t i = 0; i < COUNT(marks); i++) {
        if (access(marks[i].path, F_OK) == 0)
            return marks[i].name;
    }
    if (probe_read("/run/systemd/container", text, sizeof text) <= 0)
        return NULL;
    for (size_t i = 0; i < COUNT(names); i++) {
        if (strcmp(text, names[i]) == 0)
            return names[i];
    }
    return "container";
}

/*
 * CLONE_SIGHAND without CLONE_VM, and CLONE_NEWUSER with CLONE_FS, make no sense: the kernel answers
 * EINVAL before it looks at any permission. A seccomp filter that refuses new user namespaces
 * answers before the kernel does, with another error: that proves it.
 */
static long namespace_filter(void)
{
    long r = raw(SYS_clone, CLONE_NEWUSER | CLONE_FS | CLONE_SIGHAND, 0, 0, 0, 0);

    if (r == 0)
        (void)raw(SYS_exit_group, 0); /* a kernel that made sense of it after all */
    if (r > 0)
        (void)raw(SYS_wait4, r, NULL, __WALL, NULL);
    return r == -EINVAL || r >= 0 ? 0 : -r;
}

const char *probe_container_option(const struct coop_probe *probe, const char *docker,
                                   const char *podman)
{
    if (probe->host.container && strcmp(probe->host.container, "podman") == 0)
        return podman;
    return docker;
}

/* A command only where its tools are; elsewhere, and in a container, which words are missing. */
void probe_fix_boot(const struct coop_probe *probe, struct probe_verdict *verdict,
                    const char *words)
{
    if (probe->host.container)
        verdict_fix(verdict, "add '%s' to the kernel command line of the host, and reboot it",
                    words);
    else if (access("/etc/default/grub", F_OK) == 0 && access("/usr/sbin/update-grub", X_OK) == 0)
        verdict_fix(verdict,
                    "sudo sed -i 's/^GRUB_CMDLINE_LINUX=\"/&%s /' /etc/default/grub "
                    "&& sudo update-grub && sudo reboot",
                    words);
    else if (access("/usr/sbin/grubby", X_OK) == 0)
        verdict_fix(verdict, "sudo grubby --update-kernel=ALL --args='%s' && sudo reboot", words);
    else
        verdict_fix(
            verdict,
            "add '%s' to the kernel's command line in your boot loader's configuration, and reboot",
            words);
}

void probe_host_look(struct coop_probe *probe)
{
    struct probe_host *host = &probe->host;
    struct utsname name = { 0 };

    (void)uname(&name);
    (void)snprintf(host->kernel, sizeof host->kernel, "%s", name.release);
    host->uid = geteuid();
    host->gid = getegid();
    host->is_admin = has_admin();
    host->is_dumpable = prctl(PR_GET_DUMPABLE) == 1;
    host->seccomp = seccomp_mode();
    host->namespace_filter = namespace_filter();
    host->container = container_name();
    (void)probe_read("/sys/kernel/security/lsm", host->lsm, sizeof host->lsm);
    (void)probe_read("/proc/thread-self/attr/current", host->label, sizeof host->label);
}
