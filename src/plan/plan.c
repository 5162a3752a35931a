#include "plan.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "plan/enforce.h"
#include "plan/protect.h"
#include "plan/root_view.h"
#include "plan/seccomp/seccomp.h"
#include "policy/network_mode.h"
#include "policy/protect.h"
#include "sys/kernel.h"
#include "sys/raw.h"

/* Root of a container or of `unshare -r` is somebody's ordinary user, and must be treated as one. */
static bool is_host_root(void)
{
    char text[64] = "";
    unsigned inside = 1, outside = 1, count = 0;

    if (geteuid() != 0)
        return false;
    auto_close int fd = open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, text, sizeof text - 1) <= 0)
        return true;
    return sscanf(text, "%u %u %u", &inside, &outside, &count) == 3 && inside == 0 &&
           outside == 0 && count == UINT32_MAX;
}

void host_look(struct host *host)
{
    long abi = raw(NR_LANDLOCK_CREATE_RULESET, NULL, 0, LANDLOCK_VERSION_FLAG);

    *host = (struct host){
        .uid = geteuid(),
        .gid = getegid(),
        .is_root = is_host_root(),
        .landlock_abi = abi > 0 ? (int)abi : 0,
        .namespaces = true,
        .mount_setattr = raw(NR_MOUNT_SETATTR, -1, "", 0, NULL, 0) != -ENOSYS,
        /* process_mrelease came with 5.15, one release after the change that matters here */
        .nproc_by_namespace = raw(448, -1, 0) != -ENOSYS,
    };
}

/* A plan's texts are many, small, and all go together: they are cut from a few large pieces. */
struct plan_chunk {
    struct plan_chunk *next;
    size_t used, capacity;
    char data[];
};

#define CHUNK_SIZE (16 * 1024 - sizeof(struct plan_chunk))

/* Room for `size` bytes in the newest chunk, not yet taken; NULL and `failed` if there is none. */
static char *make_room(struct plan *plan, size_t size)
{
    struct plan_chunk *chunk = plan->chunks;

    if (!chunk || chunk->capacity - chunk->used < size) {
        size_t capacity = size > CHUNK_SIZE ? size : CHUNK_SIZE;

        chunk = malloc(sizeof *chunk + capacity);
        if (!chunk) {
            plan->failed = true;
            return NULL;
        }
        *chunk = (struct plan_chunk){ .next = plan->chunks, .capacity = capacity };
        plan->chunks = chunk;
    }
    return chunk->data + chunk->used;
}

static void take_room(struct plan *plan, size_t size)
{
    plan->chunks->used += size;
}

void *plan_memory(struct plan *plan, size_t size)
{
    size_t misfit = plan->chunks ? plan->chunks->used % 16 : 0;
    size_t padding = misfit ? 16 - misfit : 0;
    char *memory = make_room(plan, size + 16);

    if (!memory)
        return NULL;
    if (plan->chunks->used == 0)
        padding = 0;
    take_room(plan, padding + size);
    return memset(memory + padding, 0, size);
}

char *plan_copy(struct plan *plan, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = make_room(plan, size);

    if (!copy)
        return NULL;
    take_room(plan, size);
    return memcpy(copy, text, size);
}

int plan_hold_fd(struct plan *plan, int fd)
{
    if (plan->n_fds == plan->fds_capacity) {
        size_t capacity = plan->fds_capacity ? 2 * plan->fds_capacity : 16;
        int *grown = reallocarray(plan->fds, capacity, sizeof *grown);

        if (!grown)
            return -ENOMEM;
        plan->fds = grown;
        plan->fds_capacity = capacity;
    }
    plan->fds[plan->n_fds++] = fd;
    return 0;
}

char *plan_text(struct plan *plan, const char *format, ...)
{
    va_list args;
    char *text = make_room(plan, 1);
    size_t room = text ? plan->chunks->capacity - plan->chunks->used : 0;

    if (!text)
        return NULL;
    va_start(args, format);
    int n = vsnprintf(text, room, format, args);
    va_end(args);
    if (n >= 0 && (size_t)n >= room) {
        text = make_room(plan, (size_t)n + 1);
        if (!text)
            return NULL;
        va_start(args, format);
        n = vsnprintf(text, (size_t)n + 1, format, args);
        va_end(args);
    }
    if (n < 0) {
        plan->failed = true;
        return NULL;
    }
    take_room(plan, (size_t)n + 1);
    return text;
}

struct step *plan_add(struct plan *plan, enum step_kind kind, enum step_phase phase)
{
    static struct step spill; /* what is written after a failure is never read */

    if (plan->n_steps == plan->steps_capacity) {
        size_t capacity = plan->steps_capacity ? 2 * plan->steps_capacity : 96;
        struct step *grown = reallocarray(plan->steps, capacity, sizeof *grown);

        if (!grown) {
            plan->failed = true;
            return &spill;
        }
        plan->steps = grown;
        plan->steps_capacity = capacity;
    }
    struct step *step = &plan->steps[plan->n_steps++];
    *step = (struct step){ .kind = kind, .phase = phase, .fd = -1 };
    return step;
}

void plan_release(struct plan *plan)
{
    struct plan left = {
        .tier = plan->tier,
        .outside_uid = plan->outside_uid,
        .outside_gid = plan->outside_gid,
        .policy = plan->policy,
        .enforced = plan->enforced,
        .watch = plan->watch,
        .watch_memory = plan->watch_memory,
        .counts_pids = plan->counts_pids,
        .is_root_view = plan->is_root_view,
        .has_tty = plan->has_tty,
        .n_write_rules = plan->n_write_rules,
        .write_rule_texts = take_ptr(plan->write_rule_texts),
        .note = take_ptr(plan->note),
    };

    plan_done(plan);
    *plan = left;
}

void plan_done(struct plan *plan)
{
    while (plan->chunks) {
        struct plan_chunk *next = plan->chunks->next;

        free(plan->chunks);
        plan->chunks = next;
    }
    plan_protect_done(plan);
    plan_enforce_done(plan);
    plan_gate_done(plan);
    plan_nat_done(plan);
    sources_done(&plan->sources);
    for (size_t i = 0; i < plan->n_fds; i++)
        (void)close(plan->fds[i]);
    free(plan->fds);
    free(plan->steps);
    free(plan->write_rule_texts);
    free(plan->note);
    free(plan->packed_rules);
    *plan = (struct plan){ 0 };
}

static void choose_tier(struct plan *plan, const struct host *host)
{
    if (plan->policy->mode == COOP_MODE_DISABLED)
        plan->tier = COOP_TIER_NONE;
    else if (host->namespaces)
        plan->tier = host->landlock_abi ? COOP_TIER_FULL : COOP_TIER_NAMESPACES;
    else
        plan->tier = host->landlock_abi ? COOP_TIER_LANDLOCK : COOP_TIER_NONE;
}

static void plan_identity(struct plan *plan, const struct host *host)
{
    const coop_policy *policy = plan->policy;

    plan->inside_uid = policy->has_uid ? policy->uid : host->uid;
    plan->inside_gid = policy->has_uid ? policy->uid : host->gid;
    struct step *step = plan_add(plan, STEP_ID_MAP, PHASE_BOX);
    step->source = plan_text(plan, "%u %u 1", plan->inside_uid, plan->outside_uid);
    step->target = plan_text(plan, "%u %u 1", plan->inside_gid, plan->outside_gid);
}

static void plan_seccomp(struct plan *plan)
{
    const struct network_mode *mode = network_mode(plan->policy);
    bool unix_only =
        !mode->has_sockets || (plan->tier == COOP_TIER_LANDLOCK && mode->has_namespace);
    unsigned variant = (plan->policy->profile == COOP_PROFILE_DEV ? SECCOMP_PROFILE_DEV : 0) |
                       (unix_only ? SECCOMP_UNIX_ONLY : 0);
    bool has_listener = plan->tier >= COOP_TIER_NAMESPACES; /* only there is an init to listen */

    if (!has_listener)
        plan->watch = PLAN_WATCH_REFUSED;
    if (plan->watch == PLAN_WATCH_WRITES || plan->watch == PLAN_WATCH_LOOKUPS)
        variant |= SECCOMP_WATCH_WRITES;
    if (plan->watch == PLAN_WATCH_LOOKUPS)
        variant |= SECCOMP_WATCH_LOOKUPS;
    if (has_listener)
        variant |=
            (plan->watch == PLAN_WATCH_NOTHING && !plan->is_root_view ? 0 : SECCOMP_NOTIFY_DENIED) |
            (plan->policy->host_sockets ? 0 : SECCOMP_NOTIFY_CONNECT) |
            (plan->n_write_rules > 0 || plan->is_root_view ? SECCOMP_PROTECT : 0) |
            (plan->is_root_view ? SECCOMP_ROOT : 0);
    const struct seccomp_program *program = seccomp_program_for(variant);

    plan->seccomp = program->filter;
    plan->seccomp_length = program->length;
    plan_add(plan, STEP_SECCOMP, PHASE_EARLY)->value = has_listener;
}

/* Namespaces of their own for everything; the network's only where the policy keeps it apart. */
static void plan_namespaces(struct plan *plan)
{
    plan->namespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS;
    if (network_mode(plan->policy)->has_namespace)
        plan->namespaces |= CLONE_NEWNET;
}

static void plan_walls(struct plan *plan, const struct host *host)
{
    const char **walls = plan->enforced.walls;
    bool namespaces = plan->tier >= COOP_TIER_NAMESPACES;
    bool landlock = plan->tier == COOP_TIER_FULL || plan->tier == COOP_TIER_LANDLOCK;

    if (plan->tier == COOP_TIER_NONE)
        return;
    walls[COOP_WALL_FILES] = !namespaces ? "landlock, but not against chmod, utime and setxattr"
                             : landlock  ? "mount namespace + landlock"
                                         : "mount namespace";
    /* Without a pid namespace others are seen; from ABI 6 on they can at least not be signalled. */
    if (namespaces)
        walls[COOP_WALL_PROCESSES] = "pid, ipc and uts namespaces";
    else if (host->landlock_abi >= 6)
        walls[COOP_WALL_PROCESSES] = "landlock scope of signals + seccomp; others are visible";
    if (network_mode(plan->policy)->has_namespace)
        walls[COOP_WALL_NETWORK] = namespaces                ? plan_network_layer(plan)
                                   : host->landlock_abi >= 4 ? "seccomp + landlock"
                                                             : "seccomp";
    walls[COOP_WALL_SYSCALLS] = "seccomp";
    walls[COOP_WALL_PRIVILEGES] =
        namespaces ? "user namespace, no capabilities, no_new_privs" : "no_new_privs";
    if (plan->enforce)
        walls[COOP_WALL_COMMANDS] = !namespaces ? "landlock, but not against ld.so"
                                    : landlock  ? "noexec mounts + landlock"
                                                : "noexec mounts";
    if (plan->n_write_rules > 0)
        walls[COOP_WALL_PROTECTED] = "mounts + landlock + init acting on behalf";
    else if (namespaces && protect_is_wanted(plan->policy))
        walls[COOP_WALL_PROTECTED] = "mounts, only over what exists at the start";
}

/* What the box's init does: everything that needs capabilities over mounts. */
static int compile_box(struct plan *plan, const struct host *host,
                       const struct plan_request *request, coop_error **err)
{
    plan_namespaces(plan);
    if (request->cgroup_kind)
        plan_add(plan, STEP_JOIN_CGROUP, PHASE_BOX);
    if (request->part != PLAN_TEMPLATE)
        plan_add(plan, STEP_CGROUP_NAMESPACE, PHASE_BOX);
    if (request->part == PLAN_ON_TEMPLATE)
        plan_add(plan, STEP_ENTER_TEMPLATE, PHASE_BOX);
    plan_identity(plan, host);
    if (request->part != PLAN_ON_TEMPLATE) /* those of a template share its own */
        plan_watches(plan);
    int r = request->part == PLAN_TEMPLATE ? 0 : plan_protect(plan, request, err);
    if (r == 0)
        r = plan_view(plan, request, err);
    if (r < 0 || request->part == PLAN_TEMPLATE)
        return r;
    if (plan->is_root_view) {
        plan_root_view_reserve(plan);
        plan_write_root(plan, plan->workspace_view, plan->workspace_fd);
    }
    if (request->tty)
        plan_add(plan, STEP_PTY, PHASE_BOX);
    return plan_network(plan, request, err);
}

/* There, nobody could tell one socket from another. */
static void note_sockets(struct plan *plan)
{
    for (size_t i = 0; i < plan->policy->n_mounts && !plan->note; i++)
        if (plan->policy->mounts[i].is_socket)
            plan->note = strdup("without namespaces no unix socket of the host can be connected "
                                "to, not even those that the policy names");
}

/*
 * What the command's process does. Early, beside the mounts: what does not need them. The filter
 * refuses nothing that comes after it: a directory, the Landlock rules, exec.
 */
static int compile_command(struct plan *plan, const struct host *host,
                           const struct plan_request *request, coop_error **err)
{
    enum step_phase with_terminal = request->tty ? PHASE_COMMAND : PHASE_EARLY;

    plan_add(plan, STEP_SESSION, with_terminal);
    plan_add(plan, STEP_STDIO, with_terminal);
    if (plan->tier > COOP_TIER_NONE) {
        plan_limits(plan, host, request);
        plan_add(plan, STEP_KEYRING, PHASE_EARLY);
    }
    plan_add(plan, STEP_CLOSE, PHASE_EARLY);
    if (plan->tier > COOP_TIER_NONE) {
        plan_add(plan, STEP_CAPABILITIES, PHASE_EARLY);
        plan_seccomp(plan);
        if (plan->enforce)
            plan_add(plan, STEP_NO_CODE_FILES, PHASE_EARLY);
        if (plan->tier == COOP_TIER_LANDLOCK)
            plan_add(plan, STEP_NO_SHARED_OBJECTS, PHASE_EARLY);
        if (plan->tier == COOP_TIER_LANDLOCK && !plan->policy->host_sockets) {
            plan_add(plan, STEP_NO_UNIX_SOCKETS, PHASE_EARLY);
            note_sockets(plan);
        }
    }
    plan_add(plan, STEP_CHANGE_DIRECTORY, PHASE_COMMAND)->source = plan->directory;
    if (plan->tier == COOP_TIER_NONE)
        return 0;
    if (host->landlock_abi) {
        int r = plan_landlock(plan, host, request, err);

        if (r < 0)
            return r;
        plan_add(plan, STEP_LANDLOCK, PHASE_COMMAND);
        r = plan_backstop(plan, host, request, err);
        if (r < 0)
            return r;
    }
    plan_last_limits(plan);
    return 0;
}

int plan_locate(struct plan *plan, const coop_policy *policy, const struct host *host,
                coop_error **err)
{
    static char *const nothing[] = { NULL };
    const struct plan_request request = { .argv = nothing, .is_for_reading = true };

    plan->policy = policy;
    choose_tier(plan, host);
    return plan_workspace(plan, host, &request, err);
}

int plan_compile(struct plan *plan, const coop_policy *policy, const struct host *host,
                 const struct plan_request *request, coop_error **err)
{
    plan->policy = policy;
    plan->has_tty = request->tty;
    plan->watch = request->watch;
    choose_tier(plan, host);
    if (policy->mode == COOP_MODE_REQUIRED && plan->tier != COOP_TIER_FULL) {
        int r = fail_kind(err, COOP_ERROR_NOT_AVAILABLE, ENOTSUP,
                          "the sandbox is required, but this host offers only the tier '%s'",
                          coop_tier_name(plan->tier));
        return fail_hint(err, r,
                         "'coop doctor' says what is missing and how to fix it; '--mode preferred' "
                         "runs with what is available");
    }
    int r = plan_workspace(plan, host, request, err);
    if (r == 0)
        r = plan_enforce(plan, request->argv, err);
    if (r == 0 && plan->tier >= COOP_TIER_NAMESPACES)
        r = compile_box(plan, host, request, err);
    if (request->part == PLAN_TEMPLATE)
        return r == 0 && plan->failed ? fail_no_memory(err) : r;
    if (r == 0)
        r = plan_environment(plan, request, err);
    if (r == 0)
        r = plan_command(plan, request, err);
    if (r == 0)
        r = compile_command(plan, host, request, err);
    /* The backstop has said what else is notify's. */
    if (r == 0 && plan->tier >= COOP_TIER_NAMESPACES)
        r = plan_packed_rules(plan, plan->ignores_case, err);
    if (r == 0)
        plan_walls(plan, host);
    if (r == 0 && plan->failed)
        r = fail_no_memory(err);
    return r;
}
