/*
 * check_host.c - does the host have what the policy asks for?
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "cli/check.h"
#include "policy/narrow.h"
#include "policy/path.h"
#include "policy/view_place.h"

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
        findings_add(findings, severity, origin, "'coop doctor' says what would mend it",
                     "this host cannot hold every wall, only the tier '%s' (%s)%s",
                     coop_tier_name(tier), coop_probe_summary(check->probe),
                     is_required ? ": with mode = \"required\" nothing runs"
                                 : ": commands run with what there is");
}

/* ---- sources and mount points */

static void check_source(struct check *check, const struct policy_mount *mount)
{
    struct stat st;

    if (stat(mount->source, &st) < 0)
        findings_add(&check->identity.findings, SEVERITY_ERROR, mount->origin,
                     errno == ENOENT ? "make it, or remove it from the list" : NULL,
                     "the mount source '%s' cannot be shown: %s", mount->source, strerror(errno));
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
                     "make it in the workspace, or choose a target elsewhere",
                     "the mount target '%s' lies in the workspace and is not there: coop makes "
                     "nothing in it",
                     mount->target);
}

void check_sources(struct check *check)
{
    for (size_t i = 0; i < check->policy->n_mounts; i++) {
        const struct policy_mount *mount = &check->policy->mounts[i];

        if (mount->kind == POLICY_BIND)
            check_source(check, mount);
        if (mount->kind != POLICY_BLOCK)
            check_mount_point(check, mount);
    }
}

/* ---- overrides */

/* The policy of the user of this number. */
static int policy_of_user(const struct identity *like, size_t i, struct identity *other,
                          coop_policy **out, coop_error **err)
{
    *other = (struct identity){ .config_file = like->config_file,
                                .workspace = like->workspace,
                                .is_for_reading = true };
    int r = identity_load(other, err);

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
static void take_findings(struct check *check, const struct identity *other, struct origin origin,
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
    struct identity other;
    coop_policy *policy = NULL;
    auto_free char *counter = NULL;
    int r = policy_of_user(&check->identity, i, &other, &policy, err);

    if (r == -EINVAL) {
        take_findings(check, &other, user->origin, user->name);
        r = 0;
    } else if (r == 0) {
        r = policy_is_within(policy, check->policy, &counter, err);
        if (r == 0)
            findings_add(&check->identity.findings, SEVERITY_INFO, user->origin, NULL,
                         "user '%s' has more than [sandbox] gives: %s", user->name, counter);
        r = r > 0 ? 0 : r;
    }
    coop_policy_free(policy);
    identity_done(&other);
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
        findings_add(&check->identity.findings, SEVERITY_INFO, (struct origin){ 0 }, NULL,
                     "%zu users have keys of their own; the first %d were compared with [sandbox]",
                     n, OVERRIDES_MAX);
    return r;
}
