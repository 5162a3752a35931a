/*
 * template.h - a view made once, for a sandbox that is used again and again
 *
 * A template is a user namespace with a finished mount namespace in it, and for policies without
 * sockets an empty network namespace. Nobody lives there; descriptors keep it. Each box gets user,
 * mount, pid, ipc and uts namespaces of its own below it: what a box mounts or changes is its own,
 * and everything in the template is read-only or the policy's own writable place. Its price does
 * not grow with the host's mounts.
 */
#pragma once

#include "init/root_mark.h"
#include "plan/plan.h"

struct template_source {
    const char *path;
    dev_t dev;
    ino_t ino;
};

struct template
{
    int user_fd, mount_fd, network_fd; /* network_fd is -1 where each box makes its own */
    struct plan plan;
    struct template_source *sources;
    size_t n_sources;
    struct root_marks marks;
    bool has_watchfs; /* places for them, of which there may be none */
};

/* Whether boxes of this policy can be made from one. */
bool template_is_possible(const coop_policy *policy, const struct host *host);

int template_new(const coop_policy *policy, const struct host *host, bool has_watchfs,
                 struct template **out, coop_error **err);
/* Whether its sources are still the directories that stand at their paths. */
bool template_is_current(const struct template *template);
void template_free(struct template *template); /* NULL is fine */
