#include "guard.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "init/file_id.h"
#include "init/protocol.h"
#include "plan/protect_config.h"
#include "plan/protect_watch.h"
#include "policy/path/path.h"
#include "supervise/box.h"
#include "supervise/denial/box_denials.h"
#include "supervise/guard_mount.h"
#include "supervise/supervise.h"

#define FIRST_NS 50000000u /* shorter runs pay nothing */
#define DIRECTORY_NS \
    25000u /* about five times what one costs: of a large tree, a part of the time */
#define N_QUESTIONS 64
/* A box that makes many files is not to wake its supervisor for each. */
#define QUICK_NS 1000000u
#define PAUSE_NS 2000000u

/* Something that is to be hidden unless the box made it. */
struct question {
    bool is_asked;
    struct file_id identity;
    struct protect_found found; /* its texts are copies */
    int root_fd;
};

struct guard {
    struct protect_watch *watch;
    uint64_t due_ns, last_ns;
    bool has_notify, is_root_view, has_hidden;
    struct guard_mount mount;
    struct question questions[N_QUESTIONS];
    struct file_id *own;
    size_t n_own, own_capacity;
    int gave_up; /* the errno of what could not be hidden, 0: nothing; and its path */
    char what[512];
};

void guard_take(struct coop_box *box, bool at_once)
{
    struct plan *plan = &box->plan;

    if (plan->tier < COOP_TIER_NAMESPACES)
        return;
    struct protect_watch *watch = protect_watch_take(plan);
    struct guard *guard = watch ? calloc(1, sizeof *guard) : NULL;
    if (!guard) {
        protect_watch_free(watch);
        return;
    }
    uint64_t wait = protect_watch_n_directories(watch) * DIRECTORY_NS;
    guard->watch = watch;
    guard->due_ns = clock_now_ns() + (at_once ? 0 : wait > FIRST_NS ? wait : FIRST_NS);
    guard->has_notify = plan->n_write_rules > 0;
    guard->is_root_view = plan->is_root_view;
    guard->mount = (struct guard_mount){
        .pidfd = box->pidfd,
        .takes_ids = box->sandbox->host.is_root,
        .inside_uid = plan->inside_uid,
        .inside_gid = plan->inside_gid,
        .stack = box->sandbox->stacks,
        .masks_fd = -1,
    };
    box->guard = guard;
    /* Meanwhile init makes the box, so nothing waits for this. If it fails, guard_go_on() tries again
     * and says so. */
    (void)protect_watch_open(watch, NULL);
}

static void forget(struct question *question)
{
    free((char *)(uintptr_t)question->found.path);
    *question = (struct question){ 0 };
}

void guard_free(struct guard *guard)
{
    if (!guard)
        return;
    for (size_t i = 0; i < N_QUESTIONS; i++)
        forget(&guard->questions[i]);
    protect_watch_free(guard->watch);
    close_fd(&guard->mount.masks_fd);
    free(guard->own);
    free(guard);
}

uint64_t guard_due(const struct guard *guard)
{
    return guard ? guard->due_ns : 0;
}

/* ---- ends */

/* It could be read, and cannot be hidden. */
static void give_up(struct coop_box *box, const char *what, long error)
{
    struct guard *guard = box->guard;

    if (!guard->gave_up) {
        guard->gave_up = (int)-error;
        (void)snprintf(guard->what, sizeof guard->what, "%s", what);
    }
    box_kill(box);
}

/* Where the command had ended by itself, there was nothing left to mount on, and nobody to read. */
void guard_end(struct coop_box *box)
{
    const struct guard *guard = box->guard;
    char why[256];

    if (!guard || !guard->gave_up || box->has_status)
        return;
    (void)snprintf(why, sizeof why, "it could not be hidden (%s), so the box was ended",
                   strerror(guard->gave_up));
    box_denials_note_late(box, NULL, guard->what, why);
}

static void watch_no_more(struct coop_box *box, int error)
{
    char why[256];

    (void)snprintf(why, sizeof why,
                   "files that others create while the command runs are not watched (%s); existing "
                   "ones are hidden",
                   error == ENOSPC ? "the user has no inotify watch left"
                                   : "the user has no inotify instance or descriptor left");
    box_denials_note_late(box, NULL, "files that appear later", why);
    const char **layer = &box->plan.enforced.walls[COOP_WALL_PROTECTED];

    *layer = box->guard->has_notify ? "mounts + landlock + init acting on behalf; files that "
                                      "others create meanwhile are not watched"
                                    : "mounts, only over what exists at the start; files that "
                                      "others create meanwhile are not watched";
}

/* ---- hiding */

static long send_order(struct coop_box *box, const struct protocol_order_message *order)
{
    return send(box->control_fd, order, sizeof *order, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno
                                                                                        : 0;
}

/* Whether the policy mounts something else there. */
static bool is_covered(const struct coop_box *box, const char *path, const char *target)
{
    const coop_policy *policy = box->plan.policy;

    for (size_t i = 0; i < policy->n_mounts; i++) {
        const struct policy_mount *mount = &policy->mounts[i];

        if (mount->kind != POLICY_BLOCK && path_is_within(path, mount->target) &&
            path_is_within(mount->target, target) && strcmp(mount->target, target) != 0)
            return true;
    }
    return false;
}

/* Wherever it is seen. How often something was put there, or -errno. */
static long put_everywhere(struct coop_box *box, int root_fd, const struct protect_found *found,
                           const struct buffer *text, bool only_replaces)
{
    struct guard *guard = box->guard;
    char path[2 * PATH_MAX];
    const char *target = NULL;
    long n = 0;

    for (size_t i = 0;
         protect_watch_place(guard->watch, root_fd, found->path, i, path, sizeof path, &target);
         i++) {
        if (!*path || is_covered(box, path, target))
            continue;
        guard->mount.path = path;
        guard->mount.st = &found->st;
        guard->mount.text = text ? text->data : NULL;
        guard->mount.length = text ? text->length : 0;
        guard->mount.replaces = text != NULL;
        guard->mount.only_replaces = only_replaces;
        long r = guard_mount_put(&guard->mount);
        if (r < 0)
            return r;
        n += r;
    }
    return n;
}

/* The top level of a project that is the root is init's own. */
static long hide_at_top(struct coop_box *box, const char *name)
{
    struct protocol_order_message order = { .order = ORDER_HIDE };

    (void)snprintf(order.text, sizeof order.text, "%s", name);
    return send_order(box, &order);
}

static long hide(struct coop_box *box, int root_fd, const struct protect_found *found)
{
    bool is_at_top = box->guard->is_root_view && !strchr(found->path, '/');
    long r = is_at_top ? hide_at_top(box, found->path) : 0;

    if (r < 0)
        return r;
    long n = put_everywhere(box, root_fd, found, NULL, false);
    return n < 0 ? n : n + is_at_top;
}

/* As it is, or without its credentials; hidden where git itself would not read it. */
static long show_config(struct coop_box *box, int root_fd, const struct protect_found *found)
{
    auto_buffer struct buffer shown = { 0 };

    enum protect_config how = protect_config_show(root_fd, found->path, &shown);

    if (how == PROTECT_CONFIG_UNREADABLE)
        return hide(box, root_fd, found);
    buffer_append_char(&shown, '\0'); /* so that there is always something */
    shown.length--;
    if (shown.failed)
        return -ENOMEM;
    return put_everywhere(box, root_fd, found, &shown, how == PROTECT_CONFIG_PLAIN);
}

static void act(struct coop_box *box, int root_fd, const struct protect_found *found)
{
    bool is_config = found->kind == FOUND_GIT_CONFIG;
    long r = is_config ? show_config(box, root_fd, found) : hide(box, root_fd, found);

    if (r == -ESRCH || r == -EPIPE || r == -ECONNRESET) /* the box has ended */
        return;
    if (r < 0) {
        give_up(box, found->path, r);
        return;
    }
    if (r == 0 || is_config)
        return;
    char path[2 * PATH_MAX];
    const char *target;
    if (protect_watch_place(box->guard->watch, root_fd, found->path, 0, path, sizeof path, &target))
        box_denials_note_late(
            box, found->rule, path,
            "it appeared while the command ran, and could be read until it was hidden");
    if (!box->guard->has_hidden) {
        const struct protocol_order_message order = { .order = ORDER_HOLD };

        box->guard->has_hidden = true;
        (void)send_order(box, &order);
    }
}

/* ---- whose it is */

static bool is_own(const struct guard *guard, const struct file_id *identity)
{
    for (size_t i = 0; i < guard->n_own; i++)
        if (file_id_equal(&guard->own[i], identity))
            return true;
    return false;
}

static void note_own(struct guard *guard, const struct file_id *identity)
{
    if (guard->n_own == guard->own_capacity) {
        size_t capacity = guard->own_capacity ? 2 * guard->own_capacity : 16;
        struct file_id *more = reallocarray(guard->own, capacity, sizeof *more);

        if (!more) /* init will be asked again */
            return;
        guard->own = more;
        guard->own_capacity = capacity;
    }
    guard->own[guard->n_own++] = *identity;
}

static struct question *free_question(struct guard *guard)
{
    for (size_t i = 0; i < N_QUESTIONS; i++)
        if (!guard->questions[i].is_asked)
            return &guard->questions[i];
    return NULL;
}

static void ask(struct coop_box *box, struct question *question, const struct protect_news *news,
                const struct file_id *identity)
{
    struct guard *guard = box->guard;
    const struct protocol_order_message order = {
        .order = ORDER_WHOSE,
        .slot = (uint32_t)(question - guard->questions),
        .dev = identity->dev,
        .ino = identity->ino,
        .birth = identity->birth,
    };
    char *path = strdup(news->found->path);

    if (!path || send_order(box, &order) < 0) { /* nobody to say that it is the box's own */
        free(path);
        act(box, news->root_fd, news->found);
        return;
    }
    *question = (struct question){ true, *identity, *news->found, news->root_fd };
    question->found.path = question->found.named = path;
}

/* As many as there is room for; the others wait until an answer comes. */
static void ask_all(struct coop_box *box)
{
    struct guard *guard = box->guard;
    struct protect_news news;
    struct question *question;

    while ((question = free_question(guard)) && protect_watch_next(guard->watch, &news)) {
        struct file_id identity;

        if (!file_id_of(news.root_fd, news.found->named, &identity) || is_own(guard, &identity))
            continue;
        if (news.was_hidden) /* the box itself could not have replaced it: no time is lost */
            act(box, news.root_fd, news.found);
        else if (guard->has_notify)
            ask(box, question, &news, &identity);
        else if (news.found->kind == FOUND_GIT_CONFIG)
            act(box, news.root_fd, news.found);
    }
}

void guard_answered(struct coop_box *box, unsigned slot, bool is_boxs_own)
{
    struct guard *guard = box->guard;

    if (!guard || slot >= N_QUESTIONS || !guard->questions[slot].is_asked)
        return;
    struct question question = guard->questions[slot];
    guard->questions[slot] = (struct question){ 0 };
    if (is_boxs_own)
        note_own(guard, &question.identity);
    else
        act(box, question.root_fd, &question.found);
    forget(&question);
    ask_all(box);
}

/* ---- the watch */

static bool watched(struct coop_box *box, int r, const coop_error *err)
{
    if (r == 0)
        return true;
    if (r == -ENOSPC || r == -EMFILE || r == -ENFILE)
        watch_no_more(box, -r);
    else
        give_up(box, coop_error_message(err), r);
    return false;
}

void guard_serve(struct coop_box *box)
{
    struct guard *guard = box->guard;
    auto_error coop_error *err = NULL;
    uint64_t now = clock_now_ns();

    if (now - guard->last_ns < QUICK_NS)
        guard->due_ns = now + PAUSE_NS;
    guard->last_ns = now;
    int r = protect_watch_read(guard->watch, &err);
    if (watched(box, r, err))
        ask_all(box);
}

void guard_go_on(struct coop_box *box)
{
    struct guard *guard = box->guard;
    auto_error coop_error *err = NULL;

    guard->due_ns = 0;
    if (protect_watch_is_started(guard->watch)) {
        guard_serve(box);
        return;
    }
    int r = protect_watch_start(guard->watch, &err);
    if (watched(box, r, err))
        ask_all(box);
}

int guard_fd(const struct guard *guard)
{
    return protect_watch_is_started(guard->watch) ? protect_watch_fd(guard->watch) : -1;
}

void guard_show_config(struct coop_box *box, const char *path)
{
    struct protect_found found = { .kind = FOUND_GIT_CONFIG };
    char rest[PATH_MAX];

    if (!box->guard)
        return;
    int root_fd = protect_watch_locate(box->guard->watch, path, rest, sizeof rest);
    if (root_fd < 0 || fstatat(root_fd, rest, &found.st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    found.path = found.named = rest;
    act(box, root_fd, &found);
}
