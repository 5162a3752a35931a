/*
 * landlock.c - Landlock: its version, its features, and that it holds
 */
#include "survey/probe/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/buffer.h"
#include "sys/kernel.h"
#include "sys/raw.h"

/* Each feature by what must be asked for to have it. */
static const struct feature {
    const char *name;
    const char *gives;
    int abi;
    const char *kernel;
    struct kernel_landlock_attr attr;
} refer = { "renames", "files move between directories", 2, "5.19", { .fs = LANDLOCK_REFER } },
  truncate_ = { "truncate", "truncation is restricted", 3, "6.2", { .fs = LANDLOCK_TRUNCATE } },
  tcp = { "TCP",
          "bind and connect by port",
          4,
          "6.7",
          { .net = LANDLOCK_TCP_BIND | LANDLOCK_TCP_CONNECT } },
  ioctl_dev = { "ioctl", "device ioctls are restricted", 5, "6.10", { .fs = LANDLOCK_IOCTL_DEV } },
  scopes = { "scopes",
             "signals and abstract sockets stay inside",
             6,
             "6.12",
             { .scoped = LANDLOCK_SCOPE_ABSTRACT | LANDLOCK_SCOPE_SIGNAL } },
  audit = { "audit", "denials are logged", 7, "6.15", { .fs = LANDLOCK_EXECUTE } };

struct trial {
    long r;
    long opened;
};

/* With every right handled and no rule, not even the root may be read. */
static int restrict_child(void *arg)
{
    struct trial *trial = arg;
    struct kernel_landlock_attr attr = { .fs = LANDLOCK_ALL_ABI1 };

    trial->r = raw(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (trial->r < 0)
        return 0;
    long fd = raw(NR_LANDLOCK_CREATE_RULESET, &attr, sizeof attr.fs, 0);
    trial->r = fd < 0 ? fd : raw(NR_LANDLOCK_RESTRICT_SELF, fd, 0);
    trial->opened = raw(SYS_openat, AT_FDCWD, "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    return 0;
}

void probe_landlock_try(struct coop_probe *probe)
{
    struct trial trial = { PROBE_NOT_TRIED, 0 };
    long abi = raw(NR_LANDLOCK_CREATE_RULESET, NULL, 0, LANDLOCK_VERSION_FLAG);

    if (abi < 0) {
        probe->landlock = abi;
        return;
    }
    long r = probe_child(0, restrict_child, &trial);
    if (r < 0)
        probe->landlock = r;
    else if (trial.r < 0)
        probe->landlock = trial.r;
    else if (trial.opened != -EACCES)
        probe->landlock = -EXDEV;
    else
        probe->landlock_abi = (int)abi;
}

static void why_not(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    const struct probe_host *host = &probe->host;
    char option = probe_kernel_config(probe, "CONFIG_SECURITY_LANDLOCK");
    char words[sizeof host->lsm + 32];

    if (probe->landlock == -EOPNOTSUPP) {
        verdict_no(verdict, "built into kernel %s but not enabled (lsm=%s)", host->kernel,
                   host->lsm[0] ? host->lsm : "?");
        (void)snprintf(words, sizeof words, "lsm=landlock,%s",
                       host->lsm[0] ? host->lsm : "lockdown,yama,integrity,apparmor");
        probe_fix_boot(probe, verdict, words);
    } else if (probe->landlock == -EXDEV) {
        verdict_no(verdict, "a ruleset without rules does not prevent reading '/'");
    } else if (probe->landlock == -ENOSYS && option == 'n') {
        verdict_no(verdict, "kernel %s was built without CONFIG_SECURITY_LANDLOCK", host->kernel);
    } else if (probe->landlock == -ENOSYS && host->seccomp != 2) {
        verdict_no(verdict, "not in kernel %s; introduced in Linux 5.13 (CONFIG_SECURITY_LANDLOCK)",
                   host->kernel);
    } else if (host->seccomp == 2) {
        verdict_no(verdict, "%s; a seccomp filter is on this process",
                   strerror((int)-probe->landlock));
        if (host->container)
            verdict_fix(verdict, "%s run --security-opt seccomp=unconfined ...", host->container);
    } else {
        verdict_refused(verdict, probe, probe->landlock, "restrict a process", "5.13");
    }
}

void probe_landlock(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    if (probe->landlock_abi)
        verdict_yes(verdict, "ABI %d", probe->landlock_abi);
    else
        why_not(probe, verdict);
}

static void judge(const struct coop_probe *probe, const struct feature *feature,
                  struct probe_verdict *verdict)
{
    size_t size = feature->attr.scoped ? 24 : feature->attr.net ? 16 : 8;

    if (!probe->landlock_abi) {
        verdict_no(verdict, "needs Landlock");
        return;
    }
    long fd = raw(NR_LANDLOCK_CREATE_RULESET, &feature->attr, size, 0);
    if (fd >= 0)
        (void)raw(SYS_close, fd);
    if (fd >= 0 && probe->landlock_abi >= feature->abi)
        verdict_yes(verdict, "%s", feature->gives);
    else
        verdict_no(verdict, "introduced in Linux %s (ABI %d); this is %s (ABI %d)", feature->kernel,
                   feature->abi, probe->host.kernel, probe->landlock_abi);
}

void probe_landlock_refer(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    judge(probe, &refer, verdict);
}

void probe_landlock_truncate(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    judge(probe, &truncate_, verdict);
}

void probe_landlock_tcp(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    judge(probe, &tcp, verdict);
}

void probe_landlock_ioctl(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    judge(probe, &ioctl_dev, verdict);
}

void probe_landlock_scopes(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    judge(probe, &scopes, verdict);
}

void probe_landlock_audit(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    judge(probe, &audit, verdict);
}
