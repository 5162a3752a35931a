/*
 * host.c - does the host have what the policy asks for?
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "cli/check/check.h"
#include "plan/plan.h"
#include "plan/secret_hide.h"
#include "plan/workspace_check.h"
#include "policy/narrow/narrow.h"
#include "policy/path/path.h"
#include "policy/view/place.h"

#define OVERRIDES_MAX 100 /* users that are looked at: each means reading the files again */

/* ---- the sandbox */

static void check_user_namespaces(struct check *check, enum severity severity, struct origin origin)
{
    const coop_capability *capability = coop_probe_find(check->probe, "user-namespaces");

    if (capability && !capability->available)
        findings_add(&check->identity.findings, severity, origin, capability->fix,
                     "this host refuses user namespaces: %s", capability->detail);
}

void check_sandbox(struct check *check)
{
    struct config_value mode = config_get(check->identity.config, "sandbox.mode");
    struct origin origin = config_is_set(&mode) ? mode.origin : (struct origin){ 0 };
    struct findings *findings = &check->identity.findings;
    coop_tier tier = coop_probe_tier(check->probe);
    bool is_required = check->policy->mode == COOP_MODE_REQUIRED;
    enum severity severity = is_required ? SEVERITY_ERROR : SEVERITY_WARNING;

    if (check->policy->mode == COOP_MODE_DISABLED)
        return;
    check_user_namespaces(check, severity, origin);
    if (tier != COOP_TIER_FULL)
        findings_add(findings, severity, origin, "'coop doctor' says how to fix it",
                     "this host cannot provide all isolation layers, only the tier '%s' (%s)%s",
                     coop_tier_name(tier), coop_probe_summary(check->probe),
                     is_required ? ": with mode = \"required\" nothing runs"
                                 : ": commands run with what is available");
}

static const char *const limit_keys[COOP_LIMIT_COUNT] = {
    [COOP_LIMIT_MEMORY] = "sandbox.memory",       [COOP_LIMIT_PIDS] = "sandbox.pids_limit",
    [COOP_LIMIT_CPUS] = "sandbox.cpus",           [COOP_LIMIT_CPU_SECONDS] = "sandbox.cpu_seconds",
    [COOP_LIMIT_FILE_SIZE] = "sandbox.file_size", [COOP_LIMIT_OPEN_FILES] = "sandbox.open_files",
    [COOP_LIMIT_TMP_SIZE] = "sandbox.tmp_size",
};

static bool can(const struct check *check, const char *capability)
{
    const coop_capability *found = coop_probe_find(check->probe, capability);

    return found && found->available;
}

/* Whose limits, and where they stand; the origins of a configuration end with it. */
struct limits_of {
    const struct config *config;
    const coop_policy *policy;
    const struct trust_user *user; /* NULL: everybody */
};

/* What coop sets by itself is worth knowing, not more. */
static void report_limit(struct check *check, const struct limits_of *of, const char *key,
                         const char *by)
{
    struct config_value value = config_get(of->config, key);
    bool is_set = config_is_set(&value);
    struct origin origin = of->user ? of->user->origin
                           : is_set ? value.origin
                                    : (struct origin){ 0 };
    auto_buffer struct buffer whose = { 0 };

    if (of->user)
        buffer_printf(&whose, "for user '%s': ", of->user->name);
    findings_add(&check->identity.findings, is_set && !by ? SEVERITY_WARNING : SEVERITY_INFO,
                 origin, "'coop doctor' says how to fix it", "%s%s %s%s%s",
                 whose.data ? whose.data : "",
                 by ? "no cgroup can enforce" : "nothing on this host can enforce", key,
                 by ? " on this host; it is enforced more weakly, by: " : "", by ? by : "");
}

/* Which limits a box of that policy would have, though none is made. */
static void check_limits_of(struct check *check, const struct limits_of *of)
{
    const uint64_t *limits = of->policy->limits;
    struct plan plan = { .policy = of->policy, .tier = coop_probe_tier(check->probe) };
    const struct plan_request request = { .cgroup_memory = can(check, "cgroup-memory"),
                                          .cgroup_pids = can(check, "cgroup-pids"),
                                          .cgroup_cpu = can(check, "cgroup-cpu"),
                                          .cgroup_kind = "cgroup v2" };
    struct host host;

    if (of->policy->mode == COOP_MODE_DISABLED)
        return; /* there is no box */
    host_look(&host);
    plan_limits(&plan, &host, &request);
    for (int i = 0; i < COOP_LIMIT_COUNT; i++) {
        const char *by = plan.enforced.limits[i];
        bool is_known = of->user && check->policy->limits[i] == limits[i];

        if (limits[i] != COOP_LIMIT_NONE && !is_known &&
            (!by || plan_limit_fell_back(&plan, (coop_limit)i)))
            report_limit(check, of, limit_keys[i], by);
    }
    plan_done(&plan);
}

void check_limits(struct check *check)
{
    check_limits_of(check, &(struct limits_of){ check->identity.config, check->policy, NULL });
}

/* ---- sources and mount points */

static void check_source(struct check *check, const struct policy_mount *mount)
{
    struct stat st;

    if (stat(mount->source, &st) < 0)
        findings_add(&check->identity.findings, SEVERITY_ERROR, mount->origin,
                     errno == ENOENT ? "create it, or remove it from the list" : NULL,
                     "the mount source '%s' cannot be shown: %s", mount->source, strerror(errno));
}

static void check_width(struct check *check, const struct policy_mount *mount)
{
    const char *what = NULL;

    if (secret_is_wide(mount, &what))
        findings_add(&check->identity.findings, SEVERITY_WARNING, mount->origin,
                     "mount only the directories that are needed",
                     "the mount source '%s' shows %s: well-known secrets in it are hidden, other "
                     "private files are not",
                     mount->source, what);
}

/* Nothing is made in directories of the host, so the place must be there. */
static void check_mount_point(struct check *check, const struct policy_mount *mount)
{
    const char *workspace = check->identity.workspace_path;
    const char *view = view_of_workspace(check->policy, workspace);
    struct stat st;

    if (check->policy->root || check->policy->restrict_to || !view || !workspace ||
        !path_is_within(mount->target, view) || strcmp(mount->target, view) == 0)
        return;
    auto_free char *place = path_join(workspace, mount->target + strlen(view) + 1);
    if (place && stat(place, &st) < 0 && errno == ENOENT)
        findings_add(&check->identity.findings, SEVERITY_ERROR, mount->origin,
                     "create it in the workspace, or choose a target elsewhere",
                     "the mount target '%s' is in the workspace and does not exist: coop creates "
                     "nothing there",
                     mount->target);
}

/* What would be refused when a box is made. */
void check_workspace(struct check *check)
{
    auto_error coop_error *refusal = NULL;
    struct config_value value = config_get(
        check->identity.config, check->policy->root ? "sandbox.root" : "sandbox.workspace");

    if (check->policy->mode != COOP_MODE_DISABLED &&
        workspace_check_policy(check->policy, check->identity.workspace_path, &refusal) < 0)
        findings_add(&check->identity.findings, SEVERITY_ERROR,
                     config_is_set(&value) ? value.origin : (struct origin){ 0 },
                     coop_error_hint(refusal), "%s", coop_error_message(refusal));
}

void check_sources(struct check *check)
{
    for (size_t i = 0; i < check->policy->n_mounts; i++) {
        const struct policy_mount *mount = &check->policy->mounts[i];

        if (mount->kind == POLICY_BIND)
            check_source(check, mount);
        check_width(check, mount);
        if (mount->kind != POLICY_BLOCK)
            check_mount_point(check, mount);
    }
}

/* ---- overrides */

/* The policy of the user of this number. */
static int policy_of_user(const struct run_config *like, size_t i, struct run_config *other,
                          coop_policy **out, coop_error **err)
{
    *other = (struct run_config){ .config_file = like->config_file,
                                  .workspace = like->workspace,
                                  .is_for_reading = true };
    int r = run_config_load(other, err);

    if (r == 0)
        r = policy_people_new(other->config, &other->people, err);
    if (r == 0 && i < other->people.n_users)
        r = config_override(other->config, &other->people.overrides[i]);
    if (r == 0)
        r = coop_policy_new(out, err);
    if (r == 0)
        r = check_fill(other, *out, err);
    return r;
}

/* What is wrong with somebody's keys alone. */
static void take_findings(struct check *check, const struct run_config *other, struct origin origin,
                          const char *name)
{
    for (size_t i = 0; i < other->findings.n; i++)
        if (other->findings.items[i].severity == SEVERITY_ERROR)
            findings_add(&check->identity.findings, SEVERITY_ERROR, origin,
                         other->findings.items[i].fix, "for user '%s': %s", name,
                         other->findings.items[i].message);
}

static int check_override(struct check *check, const struct trust_user *user, size_t i,
                          coop_error **err)
{
    struct run_config other;
    coop_policy *policy = NULL;
    auto_free char *counter = NULL;
    int r = policy_of_user(&check->identity, i, &other, &policy, err);

    if (r == -EINVAL) {
        take_findings(check, &other, user->origin, user->name);
        r = 0;
    } else if (r == 0) {
        check_limits_of(check, &(struct limits_of){ other.config, policy, user });
        r = policy_is_within(policy, check->policy, &counter, err);
        if (r == 0)
            findings_add(&check->identity.findings, SEVERITY_INFO, user->origin, NULL,
                         "user '%s' gets more than [sandbox] allows: %s", user->name, counter);
        r = r > 0 ? 0 : r;
    }
    coop_policy_free(policy);
    run_config_done(&other);
    return r;
}

int check_overrides(struct check *check, coop_error **err)
{
    const struct policy_people *people = &check->identity.people;
    size_t n = 0;
    int r = 0;

    for (size_t i = 0; r == 0 && i < people->n_users; i++)
        if (config_is_set(&people->overrides[i]) && n++ < OVERRIDES_MAX)
            r = check_override(check, &people->users[i], i, err);
    if (n > OVERRIDES_MAX)
        findings_add(
            &check->identity.findings, SEVERITY_INFO, (struct origin){ 0 }, NULL,
            "%zu users have their own settings; only the first %d were compared with [sandbox]", n,
            OVERRIDES_MAX);
    return r;
}
