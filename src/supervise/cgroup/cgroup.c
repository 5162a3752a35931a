#include "cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "init/janitor.h"
#include "supervise/cgroup/private.h"

#define DIRECTORY (O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static const coop_limit limit_of[CGROUP_CONTROLLERS] = {
    [CGROUP_MEMORY] = COOP_LIMIT_MEMORY,
    [CGROUP_PIDS] = COOP_LIMIT_PIDS,
    [CGROUP_CPU] = COOP_LIMIT_CPUS,
};

/* Errors that say "not here, not for you". Others, as too many open files, end the run. */
static bool is_refusal(int error)
{
    static const int refusals[] = { EPERM, EACCES, EROFS,      ENOENT, ENODEV,
                                    EBUSY, EINVAL, EOPNOTSUPP, ERANGE };

    for (size_t i = 0; i < COUNT(refusals); i++)
        if (error == refusals[i])
            return true;
    return false;
}

static uint64_t limit_for(const struct cgroup *cgroup, const coop_policy *policy, int controller)
{
    uint64_t limit = policy->limits[limit_of[controller]];

    return limit < cgroup->ceilings[controller] ? limit : cgroup->ceilings[controller];
}

/* As openat(), but never one of the three standard descriptors. -errno on failure. */
static int open_above_stdio(int dir_fd, const char *name, int flags)
{
    auto_close int fd = openat(dir_fd, name, flags);

    if (fd < 0)
        return -errno;
    if (fd > 2)
        return take_fd(&fd);
    int higher = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    return higher < 0 ? -errno : higher;
}

/*
 * What is switched on in a directory is so for all its children, other boxes too, and therefore
 * never switched off again.
 */
static int switch_on(const struct cgroup *cgroup, int controller)
{
    char order[16];

    (void)snprintf(order, sizeof order, "+%s", cgroup_controller_names[controller]);
    return cgroup_write(cgroup->parent_fds[0], "cgroup.subtree_control", order);
}

/* Clears `has` where the host refuses; other failures come back as -errno. */
static int set_limit(struct cgroup *cgroup, const coop_policy *policy, int controller, int fd)
{
    uint64_t limit = limit_for(cgroup, policy, controller);

    if (!cgroup->has[controller] || limit == COOP_LIMIT_NONE)
        return 0;
    int r = cgroup_set_limit(cgroup->version, controller, fd, limit);
    if (r == -ENOENT && cgroup->version == CGROUP_V2 && switch_on(cgroup, controller) == 0)
        r = cgroup_set_limit(cgroup->version, controller, fd, limit);
    if (r < 0 && is_refusal(-r)) {
        cgroup->has[controller] = false;
        return 0;
    }
    return r;
}

/* The group in slot `i`: 0 also when the host refuses it, then without a descriptor. */
static int make_group(struct cgroup *cgroup, int i)
{
    /* v1 lets one thread alone move without stopping all forks of the host meanwhile; the box
     * is one thread yet. */
    const char *list = cgroup->version == CGROUP_V1 ? "tasks" : "cgroup.procs";

    if (mkdirat(cgroup->parent_fds[i], cgroup->name, 0755) < 0)
        return is_refusal(errno) ? 0 : -errno;
    int r = cgroup->fds[i] = open_above_stdio(cgroup->parent_fds[i], cgroup->name, DIRECTORY);
    if (r >= 0)
        r = cgroup->procs_fds[i] = open_above_stdio(cgroup->fds[i], list, O_WRONLY | O_CLOEXEC);
    if (r >= 0)
        return 0;
    close_fd(&cgroup->procs_fds[i]);
    close_fd(&cgroup->fds[i]);
    (void)unlinkat(cgroup->parent_fds[i], cgroup->name, AT_REMOVEDIR);
    return is_refusal(-r) ? 0 : r;
}

/* Another box's group cannot have this name: the janitor removes whatever does. */
static int choose_name(struct cgroup *cgroup, coop_error **err)
{
    unsigned long long number = 0;

    if (getrandom(&number, sizeof number, 0) != sizeof number)
        return fail(err, errno, "get a random number");
    (void)snprintf(cgroup->name, sizeof cgroup->name, "coop-%ld-%016llx", (long)getpid(), number);
    return 0;
}

/* v2: where all three controllers are, if the policy needs the third. */
static void choose_parent(struct cgroup *cgroup, const coop_policy *policy)
{
    if (limit_for(cgroup, policy, CGROUP_CPU) == COOP_LIMIT_NONE)
        return;
    close_fd(&cgroup->parent_fds[0]);
    cgroup->parent_fds[0] = take_fd(&cgroup->parent_fds[CGROUP_CPU]);
}

static void remove_group(struct cgroup *cgroup, int i)
{
    if (cgroup->fds[i] < 0)
        return;
    close_fd(&cgroup->procs_fds[i]);
    close_fd(&cgroup->fds[i]);
    (void)janitor_clear(cgroup->parent_fds[i], cgroup->name);
}

void cgroup_remove(struct cgroup *cgroup)
{
    for (int i = 0; i < CGROUP_CONTROLLERS; i++)
        remove_group(cgroup, i);
    cgroup_stop_janitor(cgroup);
    for (int i = 0; i < CGROUP_CONTROLLERS; i++)
        close_fd(&cgroup->parent_fds[i]);
    cgroup_init(cgroup);
}

/* One group holds all controllers. */
static int make_v2(struct cgroup *cgroup, const coop_policy *policy)
{
    int r = make_group(cgroup, 0);

    for (int i = 0; r == 0 && i < CGROUP_CONTROLLERS; i++) {
        if (cgroup->fds[0] < 0)
            cgroup->has[i] = false;
        r = set_limit(cgroup, policy, i, cgroup->fds[0]);
    }
    return r;
}

/* One group for each controller that has something to do; that of memory also measures. */
static int make_v1(struct cgroup *cgroup, const coop_policy *policy)
{
    int r = 0;

    for (int i = 0; r == 0 && i < CGROUP_CONTROLLERS; i++) {
        if (!cgroup->has[i] ||
            (i != CGROUP_MEMORY && limit_for(cgroup, policy, i) == COOP_LIMIT_NONE))
            continue;
        r = make_group(cgroup, i);
        if (cgroup->fds[i] < 0)
            cgroup->has[i] = false;
        if (r == 0)
            r = set_limit(cgroup, policy, i, cgroup->fds[i]);
        if (!cgroup->has[i]) /* a group without its limit serves nothing */
            remove_group(cgroup, i);
    }
    return r;
}

int cgroup_make(struct cgroup *cgroup, const coop_policy *policy, int init_fd, coop_error **err)
{
    if (cgroup->version == CGROUP_NONE)
        return 0;
    if (cgroup->version == CGROUP_V2 && cgroup->parent_fds[CGROUP_CPU] >= 0)
        choose_parent(cgroup, policy);
    int r = choose_name(cgroup, err);
    if (r == 0)
        r = cgroup_start_janitor(cgroup, init_fd, err);
    if (r < 0) {
        cgroup_remove(cgroup);
        return fail_within(err, r, "make a cgroup");
    }
    r = cgroup->version == CGROUP_V2 ? make_v2(cgroup, policy) : make_v1(cgroup, policy);
    if (r < 0) {
        cgroup_remove(cgroup);
        return fail(err, -r, "make a cgroup");
    }
    for (int i = 0; i < CGROUP_CONTROLLERS; i++)
        cgroup->is_made |= cgroup->has[i] && cgroup->fds[cgroup->version == CGROUP_V2 ? 0 : i] >= 0;
    if (!cgroup->is_made)
        cgroup_remove(cgroup);
    return 0;
}

const char *cgroup_kind(const struct cgroup *cgroup)
{
    static const char *const kinds[] = {
        [CGROUP_NONE] = NULL,
        [CGROUP_V1] = "cgroup v1",
        [CGROUP_V2] = "cgroup v2",
    };

    return kinds[cgroup->version];
}
