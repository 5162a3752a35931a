/*
 * probe.c - what this host can enforce: the table of capabilities and the walk over it
 */
#include "coop/probe.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "survey/probe/probe.h"

/* What a capability is for; a tier stands when all of its parts are there. */
enum part { PART_NAMESPACES = 1, PART_LANDLOCK = 2, PART_SECCOMP = 4, PART_NONE = 0 };

static const struct entry {
    const char *name;
    const char *title;
    enum part part; /* not PART_NONE: the full tier needs it */
    probe_fn *try;
} entries[] = {
    { "user-namespaces", "User namespaces", PART_NAMESPACES, probe_user_namespaces },
    { "id-maps", "Id maps", PART_NAMESPACES, probe_id_maps },
    { "mount-namespace", "Mount namespace", PART_NAMESPACES, probe_mount_namespace },
    { "pid-namespace", "Pid namespace", PART_NAMESPACES, probe_pid_namespace },
    { "ipc-namespace", "IPC namespace", PART_NAMESPACES, probe_ipc_namespace },
    { "uts-namespace", "UTS namespace", PART_NAMESPACES, probe_uts_namespace },
    { "network-namespace", "Network namespace", PART_NAMESPACES, probe_network_namespace },
    { "loopback", "Private loopback", PART_NAMESPACES, probe_loopback },
    { "cgroup-namespace", "Cgroup namespace", PART_NAMESPACES, probe_cgroup_namespace },
    { "mount-api", "New mount API", PART_NAMESPACES, probe_mount_api },
    { "mount-setattr", "Recursive read-only", PART_NONE, probe_mount_setattr },
    { "idmapped-mounts", "Idmapped mounts", PART_NONE, probe_idmapped_mounts },
    { "fresh-proc", "Fresh /proc", PART_NAMESPACES, probe_fresh_proc },
    { "overlay", "Overlay file system", PART_NONE, probe_overlay },
    { "devpts", "Private terminals", PART_NAMESPACES, probe_devpts },
    { "landlock", "Landlock", PART_LANDLOCK, probe_landlock },
    { "landlock-refer", "Landlock renames", PART_NONE, probe_landlock_refer },
    { "landlock-truncate", "Landlock truncate", PART_NONE, probe_landlock_truncate },
    { "landlock-tcp", "Landlock TCP", PART_NONE, probe_landlock_tcp },
    { "landlock-ioctl", "Landlock ioctl", PART_NONE, probe_landlock_ioctl },
    { "landlock-scopes", "Landlock scopes", PART_NONE, probe_landlock_scopes },
    { "landlock-audit", "Landlock audit", PART_NONE, probe_landlock_audit },
    { "seccomp", "Seccomp filter", PART_SECCOMP, probe_seccomp },
    { "seccomp-notify", "Seccomp notification", PART_NONE, probe_seccomp_notify },
    { "clone3", "clone3", PART_NONE, probe_clone3 },
    { "pidfd", "pidfd", PART_NONE, probe_pidfd },
    { "close-range", "close_range", PART_NONE, probe_close_range },
    { "openat2", "openat2", PART_NONE, probe_openat2 },
    { "memfd-exec", "Executable memfd", PART_NONE, probe_memfd },
    { "cgroup-v2", "Cgroup v2", PART_NONE, probe_cgroup_v2 },
    { "cgroup-v1", "Cgroup v1", PART_NONE, probe_cgroup_v1 },
    { "cgroup-memory", "Memory limit", PART_NONE, probe_limit_memory },
    { "cgroup-pids", "Process limit", PART_NONE, probe_limit_pids },
    { "cgroup-cpu", "CPU limit", PART_NONE, probe_limit_cpu },
    { "nat", "Network 'nat'", PART_NONE, probe_nat },
    { "newuidmap", "Id range (newuidmap)", PART_NONE, probe_newuidmap },
    { "systemd-scope", "Systemd user scope", PART_NONE, probe_systemd_scope },
    { "fuse", "FUSE", PART_NONE, probe_fuse },
    { "yama", "Yama", PART_NONE, probe_yama },
};

static const struct {
    coop_tier tier;
    unsigned parts;
    const char *summary;
} tiers[] = {
    { COOP_TIER_FULL, PART_NAMESPACES | PART_LANDLOCK | PART_SECCOMP,
      "linux (namespaces + landlock + seccomp)" },
    { COOP_TIER_NAMESPACES, PART_NAMESPACES | PART_SECCOMP, "linux (namespaces + seccomp)" },
    { COOP_TIER_LANDLOCK, PART_LANDLOCK | PART_SECCOMP, "linux (landlock + seccomp)" },
    { COOP_TIER_NONE, PART_NONE, "none" },
};

__attribute__((format(printf, 3, 0))) static void put(char **slot, bool *no_memory,
                                                      const char *format, va_list args)
{
    free(*slot);
    if (vasprintf(slot, format, args) < 0) {
        *slot = NULL;
        *no_memory = true;
    }
}

void verdict_yes(struct probe_verdict *verdict, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    verdict->available = true;
    put(&verdict->detail, &verdict->no_memory, format, args);
    va_end(args);
}

void verdict_no(struct probe_verdict *verdict, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    verdict->available = false;
    put(&verdict->detail, &verdict->no_memory, format, args);
    va_end(args);
}

void verdict_fix(struct probe_verdict *verdict, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    put(&verdict->fix, &verdict->no_memory, format, args);
    va_end(args);
}

void verdict_refused(struct probe_verdict *verdict, const struct coop_probe *probe, long r,
                     const char *what, const char *since)
{
    if (r == PROBE_NOT_TRIED)
        verdict_no(verdict, "not tried: an earlier step failed");
    else if (r == -ENOSYS && since)
        verdict_no(verdict, "%s was introduced in Linux %s; this is %s", what, since,
                   probe->host.kernel);
    else
        verdict_no(verdict, "%s: %s", what, strerror((int)-r));
}

static int judge_all(struct coop_probe *probe, unsigned *out_parts, coop_error **err)
{
    unsigned missing = 0;

    for (size_t i = 0; i < COUNT(entries); i++) {
        struct probe_verdict verdict = { 0 };
        coop_capability *capability = &probe->capabilities[i];

        entries[i].try(probe, &verdict);
        capability->name = entries[i].name;
        capability->title = entries[i].title;
        capability->needed = entries[i].part != PART_NONE;
        capability->available = verdict.available;
        capability->detail = verdict.detail;
        capability->fix = verdict.fix;
        probe->n_capabilities = i + 1;
        if (verdict.no_memory)
            return fail_no_memory(err);
        if (!verdict.available)
            missing |= entries[i].part;
    }
    *out_parts = (PART_NAMESPACES | PART_LANDLOCK | PART_SECCOMP) & ~missing;
    return 0;
}

static int probe_all(struct coop_probe *probe, coop_error **err)
{
    unsigned parts = 0;

    probe_host_look(probe);
    probe_box_try(probe);
    probe_landlock_try(probe);
    probe_cgroup_try(probe);
    int r = judge_all(probe, &parts, err);
    if (r < 0)
        return r;
    size_t i = 0;
    while ((tiers[i].parts & parts) != tiers[i].parts)
        i++;
    probe->tier = tiers[i].tier;
    (void)snprintf(probe->summary, sizeof probe->summary, "%s", tiers[i].summary);
    return 0;
}

int coop_probe_new(coop_probe **out, coop_error **err)
{
    int cancel_state;

    if (!out)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "probe: no place for the result");
    coop_probe *probe = calloc(1, sizeof *probe);
    if (!probe)
        return fail_no_memory(err);
    probe->capabilities = calloc(COUNT(entries), sizeof *probe->capabilities);
    if (!probe->capabilities) {
        coop_probe_free(probe);
        return fail_no_memory(err);
    }
    /* A thread cancelled half-way would leave a child and descriptors behind. */
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    int saved = errno;
    int r = probe_all(probe, err);
    errno = saved;
    (void)pthread_setcancelstate(cancel_state, NULL);
    if (r < 0) {
        coop_probe_free(probe);
        return r;
    }
    *out = probe;
    return 0;
}

void coop_probe_free(coop_probe *probe)
{
    if (!probe)
        return;
    for (size_t i = 0; i < probe->n_capabilities; i++) {
        free((char *)probe->capabilities[i].detail);
        free((char *)probe->capabilities[i].fix);
    }
    free(probe->capabilities);
    free(probe);
}

coop_tier coop_probe_tier(const coop_probe *probe)
{
    return probe ? probe->tier : COOP_TIER_NONE;
}

const char *coop_probe_summary(const coop_probe *probe)
{
    return probe ? probe->summary : "none";
}

const char *coop_probe_kernel(const coop_probe *probe)
{
    return probe ? probe->host.kernel : "unknown";
}

int coop_probe_landlock_abi(const coop_probe *probe)
{
    return probe ? probe->landlock_abi : 0;
}

size_t coop_probe_n_capabilities(const coop_probe *probe)
{
    return probe ? probe->n_capabilities : 0;
}

const coop_capability *coop_probe_capability(const coop_probe *probe, size_t i)
{
    return probe && i < probe->n_capabilities ? &probe->capabilities[i] : NULL;
}

const coop_capability *coop_probe_find(const coop_probe *probe, const char *name)
{
    for (size_t i = 0; probe && name && i < probe->n_capabilities; i++) {
        if (strcmp(probe->capabilities[i].name, name) == 0)
            return &probe->capabilities[i];
    }
    return NULL;
}
