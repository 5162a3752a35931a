/*
 * sandbox.c - the public life cycle: policy → plan → jail → result
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/redact.h"
#include "coop/version.h"
#include "init/runner.h"
#include "launch/init_image.h"
#include "plan/secret_hide.h"
#include "policy/digest.h"
#include "policy/env_rules.h"
#include "supervise/box.h"
#include "supervise/command_admit.h"
#include "supervise/guard.h"
#include "supervise/log.h"
#include "supervise/network/nat.h"
#include "supervise/supervise.h"

#define STACKS_SIZE        (4 * CHILD_STACK_SIZE)
#define TRIES              1
#define TRIES_AMONG_OTHERS 50

const char *coop_version(void)
{
    return COOP_VERSION;
}

int coop_sandbox_new(const coop_policy *policy, coop_sandbox **out, coop_error **err)
{
    if (!policy || !out)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "coop_sandbox_new needs a policy");
    coop_sandbox *sandbox = calloc(1, sizeof *sandbox);
    if (!sandbox)
        return fail_no_memory(err);
    sandbox->init_fd = -1;
    int r = policy_copy(policy, &sandbox->policy, err);
    if (r == 0)
        r = secret_hide(sandbox->policy, NULL, err);
    if (r < 0) {
        coop_policy_free(sandbox->policy);
        free(sandbox);
        return r;
    }
    host_look(&sandbox->host);
    *out = sandbox;
    return 0;
}

void coop_sandbox_free(coop_sandbox *sandbox)
{
    if (!sandbox)
        return;
    template_free(sandbox->template);
    shared_tmp_free(sandbox->tmp);
    coop_policy_free(sandbox->policy);
    close_fd(&sandbox->init_fd);
    if (sandbox->stacks)
        (void)munmap(sandbox->stacks, STACKS_SIZE);
    free(sandbox);
}

int sandbox_share_tmp(coop_sandbox *sandbox, const char **why, coop_error **err)
{
    struct plan plan = { 0 };
    int r = plan_locate(&plan, sandbox->policy, &sandbox->host, err);

    *why = r == 0 ? shared_tmp_why_not(&plan, &sandbox->host) : NULL;
    if (r == 0 && *why)
        r = fail_kind(err, COOP_ERROR_SETUP, ENOTSUP, "keep a /tmp for all boxes: %s", *why);
    if (r == 0)
        r = shared_tmp_new(&plan, &sandbox->host, &sandbox->tmp, err);
    plan_done(&plan);
    return r < 0 ? r : sandbox->tmp->root_fd;
}

static bool meet_neighbours(void *box, int workspace_fd)
{
    return neighbours_meet(&((struct coop_box *)box)->neighbours, workspace_fd);
}

/* What is read-only in the box, and not for the caller outside, or cannot be executed there: then
 * attempts are worth looking for. */
static bool refuses_what_host_would_not(const coop_policy *policy)
{
    bool refuses = policy->read_only || policy->commands.strength == COOP_COMMANDS_ENFORCE ||
                   access("/usr", W_OK) == 0;

    for (size_t i = 0; !refuses && i < policy->n_mounts; i++)
        refuses = policy->mounts[i].kind == POLICY_BIND && policy->mounts[i].read_only &&
                  access(policy->mounts[i].source, W_OK) == 0;
    return refuses;
}

static enum plan_watch watch_of(const struct coop_box *box)
{
    if (box->options.explain == COOP_EXPLAIN_NONE)
        return PLAN_WATCH_NOTHING;
    if (box->options.explain == COOP_EXPLAIN_ALL)
        return PLAN_WATCH_LOOKUPS;
    return box->options.explain == COOP_EXPLAIN_WRITES ||
                   refuses_what_host_would_not(box->sandbox->policy)
               ? PLAN_WATCH_WRITES
               : PLAN_WATCH_REFUSED;
}

/* Looks at every path see more; and where nobody can open the device there is no use in asking. */
static bool wants_watchfs(const struct coop_box *box)
{
    return (box->options.explain == COOP_EXPLAIN_WRITES ||
            box->options.explain == COOP_EXPLAIN_HIDDEN) &&
           access("/dev/fuse", R_OK | W_OK) == 0;
}

static void request_of(struct coop_box *box, char *const argv[], struct plan_request *out)
{
    *out = (struct plan_request){
        .argv = argv,
        .env_pass = box->options.env_pass,
        .directory = box->options.directory,
        .session = box->session,
        .created = box->created,
        .is_shared = meet_neighbours,
        .context = box,
        .keep_fds = box->options.keep_fds,
        .n_keep_fds = box->options.n_keep_fds,
        .tty = box->options.terminal,
        .watch = watch_of(box),
        .watchfs = wants_watchfs(box),
        .cgroup_memory = box->cgroup.has[CGROUP_MEMORY],
        .cgroup_pids = box->cgroup.has[CGROUP_PIDS],
        .cgroup_cpu = box->cgroup.has[CGROUP_CPU],
        .cgroup_kind = cgroup_kind(&box->cgroup),
    };
}

/* Names that never reach a box are refused: leaving them out would surprise later. */
static int check_env_pass(const coop_policy *policy, const coop_run_options *options,
                          coop_error **err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && options->env_pass && options->env_pass[i]; i++)
        r = env_check_pass(options->env_pass[i], strlen(options->env_pass[i]),
                           policy->second_prefix, err);
    return r;
}

/* Callers may be older than the library: what they did not know is zero. */
int box_take_options(coop_run_options *to, const coop_run_options *from, const coop_policy *policy,
                     coop_error **err)
{
    *to = (coop_run_options){ 0 };
    if (!from)
        return 0;
    if (from->size < sizeof from->size || from->size > sizeof *to)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "coop_run_options.size is %zu: set it to sizeof(coop_run_options)",
                         from->size);
    memcpy(to, from, from->size);
    for (size_t i = 0; i < to->n_keep_fds; i++) {
        if (to->keep_fds[i] >= 0 && to->keep_fds[i] <= 2)
            return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                             "the descriptor %d cannot be kept: standard input, output and error "
                             "belong to the box",
                             to->keep_fds[i]);
        if (fcntl(to->keep_fds[i], F_GETFD) < 0)
            return fail_kind(err, COOP_ERROR_BAD_POLICY, EBADF,
                             "the descriptor %d to keep is not open", to->keep_fds[i]);
    }
    if ((unsigned)to->explain > COOP_EXPLAIN_HIDDEN)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "coop_run_options.explain is %d, which is not a coop_explain value",
                         (int)to->explain);
    return check_env_pass(policy, to, err);
}

static int make_cgroup(struct coop_box *box, coop_error **err)
{
    coop_sandbox *sandbox = box->sandbox;

    if (sandbox->has_no_cgroup || sandbox->policy->mode == COOP_MODE_DISABLED)
        return 0;
    cgroup_find(&box->cgroup);
    if (box->cgroup.version == CGROUP_NONE) {
        /* Whoever is moved elsewhere later finds the same there, as far as one can tell. */
        sandbox->has_no_cgroup = !cgroup_is_likely();
        return 0;
    }
    if (sandbox->init_fd < 0) {
        sandbox->init_fd = init_image_open(err);
        if (sandbox->init_fd < 0)
            return sandbox->init_fd;
    }
    return cgroup_make(&box->cgroup, sandbox->policy, sandbox->init_fd, err);
}

/*
 * A sandbox that is used once pays for no template; one that is used again saves half of each
 * start. Where a template cannot be made, boxes are made whole, and that says what is wrong.
 */
static void choose_template(struct coop_box *box, struct plan_request *request)
{
    coop_sandbox *sandbox = box->sandbox;

    if (!sandbox->has_run || sandbox->template_failed ||
        !template_is_possible(sandbox->policy, &sandbox->host))
        return;
    if (sandbox->template && (!template_is_current(sandbox->template) ||
                              sandbox->template->has_watchfs != request->watchfs)) {
        template_free(sandbox->template);
        sandbox->template = NULL;
    }
    if (!sandbox->template && template_new(sandbox->policy, &sandbox->host, request->watchfs,
                                           &sandbox->template, NULL) < 0) {
        sandbox->template_failed = true;
        return;
    }
    box->on_template = true;
    request->part = PLAN_ON_TEMPLATE;
    request->template = &sandbox->template->plan;
    request->shares_network = sandbox->template->network_fd >= 0;
}

static int try_launch(struct coop_box *box, char *const argv[], coop_error **err)
{
    struct plan_request request;
    auto_close int tmp_fd = -1;

    request_of(box, argv, &request);
    if (box->sandbox->tmp && box->sandbox->host.namespaces) {
        tmp_fd = shared_tmp_mount(box->sandbox->tmp, err);
        if (tmp_fd < 0)
            return tmp_fd;
        request.tmp_fd = &tmp_fd;
    }
    choose_template(box, &request);
    int r = plan_compile(&box->plan, box->sandbox->policy, &box->sandbox->host, &request, err);
    if (r == 0 && !box->is_runner)
        r = command_admit(&box->plan, argv, err);
    if (r == 0 && box->plan.gate)
        r = network_gate_prepare(&box->gate, "coop-gate", err);
    if (r == 0 && box->plan.gate)
        r = network_credential_prepare(&box->gate.credential, box->sandbox->policy, err);
    if (r == 0 && box->plan.nat)
        r = network_nat_start(&box->gate, box->plan.nat, &box->sandbox->host, err);
    if (r == 0)
        r = launch(box, err);
    if (r < 0 && box->plan.nat)
        r = network_nat_explain(&box->gate, r, err);
    if (r < 0)
        network_gate_drop(&box->gate);
    if (r == 0)
        box->sandbox->has_run = true;
    return r;
}

/* Somebody may change the tree between the look at it and the mounts: then once more; and more often
 * where other boxes are at work in it, who may do nothing else. */
static int compile_and_launch(struct coop_box *box, char *const argv[], coop_error **err)
{
    for (int tries = 0;; tries++) {
        auto_error coop_error *tried = NULL;
        int r = try_launch(box, argv, &tried);

        if (r < 0 && box->tree_changed &&
            tries < (box->plan.is_shared ? TRIES_AMONG_OTHERS : TRIES)) {
            plan_done(&box->plan);
            continue;
        }
        if (r < 0 && err)
            *err = take_ptr(tried);
        return r;
    }
}

/* `preferred`: where the host refuses namespaces, once more with what is left. */
static int start_at_best_tier(struct coop_box *box, char *const argv[], coop_error **err)
{
    auto_error coop_error *first = NULL;
    int r = compile_and_launch(box, argv, &first);

    if (r < 0 && box->sandbox->policy->mode == COOP_MODE_PREFERRED &&
        coop_error_get_kind(first) == COOP_ERROR_NOT_AVAILABLE && box->sandbox->host.namespaces) {
        box->sandbox->host.namespaces = false;
        plan_done(&box->plan);
        return compile_and_launch(box, argv, err);
    }
    if (r < 0 && err)
        *err = take_ptr(first);
    return r;
}

static struct coop_box *box_new(coop_sandbox *sandbox)
{
    struct coop_box *box = calloc(1, sizeof *box);

    if (!box)
        return NULL;
    box->sandbox = sandbox;
    box->pidfd = box->control_fd = box->input_fd = box->unread_fd = box->terminal_fd = -1;
    box->gate.fd = box->gate.their_fd = box->gate.tables_fd = -1;
    box->gate.credential.gate_fd = box->gate.credential.their_fd = -1;
    box->gate.wait.epoll_fd = -1;
    box->gate.orders = (struct network_orders){ -1, -1, -1 };
    box->epoll_fd = box->timer_fd = box->output_fds[0] = box->output_fds[1] = -1;
    for (int i = 0; i < CGROUP_CONTROLLERS; i++)
        box->cgroup.parent_fds[i] = box->cgroup.fds[i] = box->cgroup.procs_fds[i] = -1;
    box->cgroup.janitor_fd = box->cgroup.janitor_pidfd = -1;
    return box;
}

void box_free(struct coop_box *box)
{
    if (!box)
        return;
    close_fd(&box->pidfd);
    close_fd(&box->control_fd);
    close_fd(&box->input_fd);
    close_fd(&box->unread_fd);
    close_fd(&box->output_fds[0]);
    close_fd(&box->output_fds[1]);
    close_fd(&box->terminal_fd);
    close_fd(&box->epoll_fd);
    close_fd(&box->timer_fd);
    cgroup_remove(&box->cgroup);
    for (size_t i = 0; i < box->n_roots; i++) {
        free(box->roots[i].path);
        (void)close(box->roots[i].fd);
    }
    free(box->roots);
    guard_free(box->guard);
    idle_free(&box->idle);
    network_gate_drop(&box->gate);
    neighbours_leave(&box->neighbours);
    root_marks_done(&box->marks);
    denials_done(&box->denials);
    denial_host_done(&box->denial_host);
    free(box->workspace);
    free(box->watchfs);
    redact_free(box->redacts[0]);
    redact_free(box->redacts[1]);
    capture_done(&box->captures[0]);
    capture_done(&box->captures[1]);
    plan_done(&box->plan);
    free(box);
}

/* The facts of this run that coop finds out itself. */
static int take_facts(struct coop_box *box, coop_error **err)
{
    const bool *tells = box->sandbox->policy->tells;
    unsigned char bytes[(sizeof box->session - 1) / 2];
    time_t now = time(NULL);
    struct tm utc;

    if (tells[COOP_FACT_SESSION]) {
        if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
            return fail(err, errno, "get random bytes for an id of the run");
        for (size_t i = 0; i < sizeof bytes; i++)
            (void)snprintf(box->session + 2 * i, 3, "%02x", bytes[i]);
    }
    if (tells[COOP_FACT_CREATED] && gmtime_r(&now, &utc))
        (void)strftime(box->created, sizeof box->created, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return 0;
}

static int take_redacts(struct coop_box *box, coop_error **err)
{
    int r = policy_redact(box->sandbox->policy, false, &box->redacts[0], err);

    return r < 0 ? r : policy_redact(box->sandbox->policy, false, &box->redacts[1], err);
}

/* For the gate (config_review.h). Without them it lets nothing pass. */
static void take_roots(struct coop_box *box)
{
    const struct plan *plan = &box->plan;

    box->roots = plan->n_write_roots ? calloc(plan->n_write_roots, sizeof *box->roots) : NULL;
    for (size_t i = 0; box->roots && i < plan->n_write_roots; i++) {
        if (plan->write_roots[i].fd < 0)
            continue;
        struct box_root root = { strdup(plan->write_roots[i].path),
                                 fcntl(plan->write_roots[i].fd, F_DUPFD_CLOEXEC, 3) };

        if (!root.path || root.fd < 0) {
            free(root.path);
            close_fd(&root.fd);
            return;
        }
        fd_settle(&root.fd);
        box->roots[box->n_roots++] = root;
    }
}

/* For reports: where it is on the host. */
static void take_workspace(struct coop_box *box)
{
    char own[64];
    char path[PATH_MAX];

    (void)snprintf(own, sizeof own, "/proc/self/fd/%d", box->plan.workspace_fd);
    ssize_t n = readlink(own, path, sizeof path - 1);
    if (n > 0 && path[0] == '/') {
        path[n] = '\0';
        box->workspace = strdup(path);
    }
}

static int start_box(coop_sandbox *sandbox, char *const argv[], const coop_run_options *options,
                     bool is_runner, coop_box **out, coop_error **err)
{
    struct coop_box *box = box_new(sandbox);
    if (!box)
        return fail_no_memory(err);
    box->is_runner = is_runner;
    int r = box_take_options(&box->options, options, sandbox->policy, err);
    log_span_begin(&box->span, box->options.log, "sandbox_exec");
    if (r == 0) {
        capture_init(&box->captures[0], (size_t)box->options.capture_max);
        capture_init(&box->captures[1], (size_t)box->options.capture_max);
        r = take_facts(box, err);
    }
    if (r == 0)
        r = take_redacts(box, err);
    if (r == 0)
        r = make_cgroup(box, err);
    if (r == 0)
        r = start_at_best_tier(box, argv, err);
    if (r == 0) {
        guard_take(box, box->plan.is_shared && !box->plan.is_still);
        if (box->plan.gate)
            r = network_gate_start(&box->gate, box->plan.gate, err);
        if (r == 0)
            r = supervise_start(box, err);
        if (r < 0) {
            supervise_abort(box);
        } else if (box->options.terminal) {
            (void)supervise_read_control(box); /* the terminal is the first thing init sent */
        }
        if (r == 0) {
            take_roots(box);
            take_workspace(box);
        }
        if (r == 0)
            box_log_start(box, argv);
        /* While the command starts nobody waits for us; at its end somebody does. */
        plan_release(&box->plan);
        digest_policy(sandbox->policy, box->digest);
    }
    if (r < 0) {
        box_log_failure(box, argv, r, err ? *err : NULL);
        box_free(box);
        return r;
    }
    *out = box;
    return 0;
}

int coop_start(coop_sandbox *sandbox, char *const argv[], const coop_run_options *options,
               coop_box **out, coop_error **err)
{
    if (!sandbox || !out)
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "coop_start needs a sandbox");
    return start_box(sandbox, argv, options, false, out, err);
}

int box_start_runner(coop_sandbox *sandbox, const coop_run_options *options, int socket_fd,
                     coop_box **out, coop_error **err)
{
    coop_run_options with = *options;
    char image[64];
    char number[16];
    char own[16];
    char *const argv[] = { image, (char *)RUNNER_WORD, number, own, NULL };

    if (sandbox->init_fd < 0) {
        sandbox->init_fd = init_image_open(err);
        if (sandbox->init_fd < 0)
            return sandbox->init_fd;
    }
    const int keep[] = { sandbox->init_fd, socket_fd };
    with.keep_fds = keep;
    with.n_keep_fds = COUNT(keep);
    (void)snprintf(image, sizeof image, "/proc/self/fd/%d", sandbox->init_fd);
    (void)snprintf(number, sizeof number, "%d", socket_fd);
    (void)snprintf(own, sizeof own, "%d", sandbox->init_fd);
    int r = start_box(sandbox, argv, &with, true, out, err);
    if (r == 0) { /* they were borrowed */
        (*out)->options.keep_fds = NULL;
        (*out)->options.n_keep_fds = 0;
    }
    return r;
}

static int wait_for_result(coop_box *box, coop_result **out, coop_error **err)
{
    int r = supervise_wait(box, err);

    if (r == 0)
        r = network_gate_check(&box->gate, err);
    if (r == 0)
        r = box_result(box, out, err);
    else
        box_kill(box);
    if (r == 0)
        box_log_end(box, *out);
    return r;
}

int coop_wait(coop_box *box, coop_result **out, coop_error **err)
{
    int r = wait_for_result(box, out, err);

    box_free(box);
    return r;
}

int box_wait_and_end(struct coop_box *box, coop_result **out, coop_error **err)
{
    int r = wait_for_result(box, out, err);

    cgroup_remove(&box->cgroup);
    network_gate_drop(&box->gate);
    return r;
}

int coop_run(coop_sandbox *sandbox, char *const argv[], const coop_run_options *options,
             coop_result **out, coop_error **err)
{
    coop_box *box = NULL;
    int r = coop_start(sandbox, argv, options, &box, err);

    return r < 0 ? r : coop_wait(box, out, err);
}
