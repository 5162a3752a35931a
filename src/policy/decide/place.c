/*
 * place.c - what stands at a path of the box, and what may be done with it
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "policy/decide/private.h"
#include "policy/protect_path.h"
#include "policy/secret_places.h"
#include "policy/view/defaults.h"

/* ---- protected names */

static ssize_t first_bytes(void *opaque, const char *below, char *bytes, size_t size)
{
    const struct decide_asked *asked = opaque;
    const struct decide_subject *subject = asked->subject;
    auto_free char *path = asked->base ? path_join(asked->base, below) : NULL;

    if (!subject->read_file || (asked->base && !path))
        return -1;
    return subject->read_file(subject->opaque, path ? path : below, bytes, size);
}

/* What is there, below a directory of the host. */
static enum decide_kind look(const struct decide_subject *subject, const char *base,
                             const char *below)
{
    auto_free char *path = base && subject->look ? path_join(base, below) : NULL;

    return path ? subject->look(subject->opaque, path) : DECIDE_UNKNOWN;
}

static const char *base_of(const struct decide_asked *asked)
{
    return asked->base ? asked->base : asked->subject->workspace;
}

static bool exists(void *opaque, const char *below)
{
    const struct decide_asked *asked = opaque;

    return look(asked->subject, base_of(asked), below) != DECIDE_NOTHING;
}

static const struct protect_rule *protected_by(const struct decide_asked *asked, const char *below)
{
    static const enum protect_kind kinds[] = { [DECIDE_NOTHING] = PROTECT_EITHER,
                                               [DECIDE_FILE] = PROTECT_A_FILE,
                                               [DECIDE_PRIVATE] = PROTECT_A_FILE,
                                               [DECIDE_DIRECTORY] = PROTECT_A_DIRECTORY,
                                               [DECIDE_UNKNOWN] = PROTECT_EITHER };
    enum decide_kind kind =
        asked->is_directory ? DECIDE_DIRECTORY : look(asked->subject, base_of(asked), below);
    const struct protect_question question = {
        .protect = asked->protect,
        .kind = kinds[kind],
        .is_writing = asked->act == DECIDE_WRITE,
        .is_private = kind == DECIDE_PRIVATE && asked->protect &&
                      protect_looks_at_modes(asked->protect, below, asked->base != NULL),
        .read_file = first_bytes,
        .exists = asked->is_strict ? NULL : exists,
        .opaque = (void *)(uintptr_t)asked,
    };

    return protect_path_rule(&question, below);
}

/* ---- places */

/* Whether this exception would do. */
static int try_exception(const struct decide_asked *asked, const char *below, const char *pattern)
{
    coop_policy *copy = NULL;
    struct protect *protect = NULL;
    int r = policy_copy(asked->subject->policy, &copy, NULL);

    if (r == 0)
        r = coop_policy_add_protect(copy, pattern, COOP_PROTECT_SHOW, NULL);
    if (r == 0)
        r = protect_new(copy, &protect, NULL);
    if (r == 0) {
        struct decide_asked other = *asked;

        other.protect = protect;
        r = protected_by(&other, below) == NULL;
    }
    protect_free(protect);
    coop_policy_free(copy);
    return r == -EINVAL ? 0 : r; /* it is no pattern: no exception either */
}

/* The smallest exception: the path itself, or else a directory above it. */
static int say_exception(const struct decide_asked *asked, const char *below,
                         struct decide_answer *out)
{
    auto_free char *path = strdup(below);

    if (!path)
        return -ENOMEM;
    for (;;) {
        int r = *path ? try_exception(asked, below, path) : 0;

        if (r < 0)
            return r;
        if (r == 1)
            return decide_flag(out, "--unprotect", path);
        char *slash = strrchr(path, '/');
        if (!slash)
            return 0;
        *slash = '\0';
    }
}

static int say_protected(const struct decide_asked *asked, const struct protect_rule *rule,
                         const char *below, struct decide_answer *out)
{
    bool is_hidden = rule->action == COOP_PROTECT_HIDE;
    bool is_git = rule->conditions & PROTECT_GIT_CONFIG;
    int r = decide_say(out, false, &rule->origin, "list it in protect.allow",
                       rule == &protect_private
                           ? "only its owner may read it, and it seems to hold a key or a token"
                       : is_hidden ? "the name is hidden"
                       : is_git    ? "it is git's configuration: only git may write it, and only "
                                     "settings that cannot execute anything"
                                   : "the name is write-protected",
                       "protect.%s '%s'", is_hidden ? "deny" : "no_write", rule->pattern);

    return r < 0 ? r : say_exception(asked, below, out);
}

static bool is_flag(const struct origin *origin)
{
    return origin->name && strncmp(origin->name, "--", 2) == 0;
}

/* "SOURCE:TARGET", as the flag wants it. */
static int say_writable(const struct policy_mount *mount, struct decide_answer *out)
{
    auto_buffer struct buffer both = { 0 };

    if (!mount->source)
        return 0;
    buffer_append_string(&both, mount->source);
    if (strcmp(mount->source, mount->target) != 0)
        buffer_printf(&both, ":%s", mount->target);
    return both.failed ? -ENOMEM : decide_flag(out, "--rw", both.data);
}

static int judge_mount(const struct decide_asked *asked, const struct policy_mount *mount,
                       const char *path, struct decide_answer *out)
{
    const char *from = mount->source ? mount->source : "a file system in memory";
    bool is_ours = is_flag(&mount->origin);
    int r;

    if (mount->is_own)
        return decide_say(out, false, &mount->origin, NULL,
                          "it belongs to coop, and no box may see it", "secret '%s'",
                          mount->target);
    if (mount->is_secret) {
        r = decide_say(
            out, false, &mount->origin, "mount it, or the part that is needed, explicitly",
            "it contains secrets and is hidden in every mount", "secret '%s'", mount->target);
        return r < 0 ? r : decide_flag(out, "--no-protect", NULL);
    }
    if (mount->kind == POLICY_BLOCK)
        return decide_say(out, false, &mount->origin,
                          is_ours ? "leave the flag out" : "remove it from blocked_paths",
                          "it is hidden", "blocked_paths '%s'", mount->target);
    if (asked->act == DECIDE_WRITE && mount->read_only) {
        r = decide_say(out, false, &mount->origin,
                       is_ours ? "use a flag that mounts it read-write instead"
                               : "list it in extra_rw_paths",
                       "the mount is read-only", "mount '%s' at '%s'", from, mount->target);
        return r < 0 ? r : say_writable(mount, out);
    }
    r = decide_say(out, true, &mount->origin, "list it in blocked_paths",
                   mount->read_only ? "it is mounted read-only" : "it is mounted",
                   "mount '%s' at '%s'", from, mount->target);
    return r < 0 ? r : decide_flag(out, "--block", path);
}

/* 1: it would be hidden if it were there, and *out says so. */
static int say_absent(const struct decide_asked *asked, const char *below,
                      struct decide_answer *out)
{
    struct decide_asked strict = *asked;

    strict.is_strict = true;
    const struct protect_rule *rule = asked->is_strict ? NULL : protected_by(&strict, below);
    if (!rule)
        return 0;
    int r = decide_say(
        out, true, &rule->origin, "list it in protect.no_write",
        "an existing file would be protected, but there is none: the box may create it",
        "protect.%s '%s'", rule->action == COOP_PROTECT_HIDE ? "deny" : "no_write", rule->pattern);
    if (r == 0)
        r = decide_flag(out, "--protect-write", below);
    return r < 0 ? r : 1;
}

static const struct origin *origin_of(const struct decide_asked *asked, enum setting what,
                                      const char *key, struct origin *space)
{
    const struct config *config = asked->subject->config;
    const struct origin *note = &asked->subject->policy->notes[what];

    if (note->name)
        return note;
    if (!config)
        return NULL;
    struct config_value value = config_get(config, key);
    *space = value.origin;
    return config_is_set(&value) ? space : NULL;
}

static int say_read_only(const struct decide_asked *asked, struct decide_answer *out)
{
    const char *root = asked->subject->policy->root;
    struct origin origin;
    int r = decide_say(
        out, false, origin_of(asked, SETTING_SANDBOX_READONLY, "sandbox.readonly", &origin),
        "write readonly = false in [sandbox]",
        root ? "the root is read-only" : "the workspace is read-only", "sandbox.readonly");

    return r < 0 || !root ? r : decide_flag(out, "--root", root);
}

static int say_restricted(const struct decide_asked *asked, const char *path,
                          struct decide_answer *out)
{
    struct origin origin;
    int r;

    if (asked->act != DECIDE_WRITE && view_leads(asked->index, path))
        return decide_say(out, true, NULL, NULL, "it leads to the visible part of the workspace",
                          "sandbox.restrict '%s'", asked->subject->policy->restrict_to);
    r = decide_say(out, false,
                   origin_of(asked, SETTING_SANDBOX_RESTRICT, "sandbox.restrict", &origin),
                   "remove restrict from [sandbox]",
                   "only part of the workspace is shown, and it is outside that part",
                   "sandbox.restrict '%s'", asked->subject->policy->restrict_to);

    return r < 0 ? r : decide_flag(out, "--restrict", "/");
}

static int judge_workspace(const struct decide_asked *asked, const char *below,
                           struct decide_answer *out)
{
    bool is_writing = asked->act == DECIDE_WRITE;
    const struct protect_rule *rule = protected_by(asked, below);
    int r;

    if (rule)
        return say_protected(asked, rule, below, out);
    if (is_writing && asked->subject->policy->read_only)
        return say_read_only(asked, out);
    r = say_absent(asked, below, out);
    if (r != 0)
        return r < 0 ? r : 0;
    r = decide_say(out, true, NULL,
                   is_writing ? "list it in protect.no_write" : "list it in protect.deny",
                   "it is in the workspace", "the workspace");
    return r < 0 || !*below ? r
                            : decide_flag(out, is_writing ? "--protect-write" : "--protect", below);
}

/* The workspace's rules, relative to the mount: plan/protect_binds.h. */
static int judge_bind(const struct decide_asked *asked, const struct policy_mount *mount,
                      const char *below, const char *path, struct decide_answer *out)
{
    const char *workspace = asked->subject->workspace;
    struct decide_asked there = *asked;
    auto_free char *whole = path_join(mount->source, below);

    if (!whole)
        return -ENOMEM;
    if (!*below) /* named outright */
        return judge_mount(asked, mount, path, out);
    there.base = mount->source;
    if (workspace && path_is_within(whole, workspace)) {
        there.base = NULL;
        below = decide_rest(whole, workspace);
    } else if (mount->is_store || secret_is_system(mount->source)) {
        return judge_mount(asked, mount, path, out);
    }
    const struct protect_rule *rule = protected_by(&there, below);

    return rule ? say_protected(&there, rule, below, out) : judge_mount(asked, mount, path, out);
}

/* A mount that lies there is reason enough for the box to have a directory. */
static bool holds_mount(const struct decide_asked *asked, const char *path)
{
    for (size_t i = 0; i < view_n_targets(asked->index); i++) {
        const struct policy_mount *mount = view_target_mount(asked->index, i);

        if ((!mount || mount->kind != POLICY_BLOCK) &&
            path_is_within(view_target(asked->index, i), path))
            return true;
    }
    return false;
}

/* What would be at a path if it were not blocked: as in the directory that the block stands in. */
static struct view_place without_block(const struct decide_asked *asked, const char *blocked,
                                       const char *path)
{
    auto_free char *parent = strdup(blocked);
    char *slash = parent ? strrchr(parent, '/') : NULL;

    if (!slash)
        return (struct view_place){ VIEW_NOTHING, NULL, "" };
    slash[slash == parent] = '\0';
    struct view_place place = view_find(asked->index, parent);
    if (place.what == VIEW_IS_WORKSPACE)
        place.below = decide_rest(path, asked->view ? asked->view : VIEW_WORKSPACE);
    else
        place.below = place.mount ? decide_rest(path, place.mount->target) : "";
    return place;
}

/* Whether there is something to hide: coop makes nothing in order to hide it. */
static bool block_holds(const struct decide_asked *asked, const char *blocked)
{
    struct view_place place = without_block(asked, blocked, blocked);
    enum decide_kind kind = DECIDE_UNKNOWN;

    if (asked->subject->policy->root && path_depth(blocked) == 1)
        return true; /* names at the top of a root are the box's to give */
    if (place.what == VIEW_IS_WORKSPACE)
        kind = look(asked->subject, asked->subject->workspace, place.below);
    else if (place.what == VIEW_IS_BIND)
        kind = look(asked->subject, place.mount->source, place.below);
    else if (place.what == VIEW_IS_TMPFS ||
             (place.what == VIEW_IS_OWN && view_own_is_writable(asked->subject->policy, blocked)))
        kind = DECIDE_NOTHING; /* empty at first */
    return kind != DECIDE_NOTHING || holds_mount(asked, blocked);
}

static struct view_place find_place(const struct decide_asked *asked, const char *path)
{
    struct view_place place = view_find(asked->index, path);
    auto_free char *blocked = NULL;

    while (place.what == VIEW_IS_BLOCK && !asked->is_strict && !place.mount->is_own) {
        const char *target = place.mount->target;

        free(blocked);
        blocked = *target == '/' ? strdup(target)
                                 : path_join(asked->view ? asked->view : VIEW_WORKSPACE, target);
        if (!blocked || block_holds(asked, blocked))
            break;
        place = without_block(asked, blocked, path);
    }
    return place;
}

/*
 * Two places of the box's own are links to others. With the workspace in one of them it is a
 * directory instead, and nothing else is made there.
 */
static bool is_around_workspace(const struct decide_asked *asked, struct view_place place,
                                const char *path)
{
    if (place.mount || place.what != VIEW_IS_OWN || !asked->view || !asked->view[1])
        return false;
    auto_free char *top = strdup(path);
    for (char *slash; top && (slash = strrchr(top, '/')) && slash > top;) {
        *slash = '\0';
        if (view_default(asked->subject->policy, top) != VIEW_IS_OWN) {
            *slash = '/';
            break;
        }
    }
    return top && (strcmp(top, "/var/tmp") == 0 || strcmp(top, "/dev/shm") == 0) &&
           path_is_within(asked->view, top);
}

/* In a root the directories above a mount are the box's own, unless the project has them too. */
static bool is_above_mount(const struct decide_asked *asked, const char *path)
{
    const char *root = asked->subject->policy->root;
    auto_free char *top = root ? strndup(path, 1 + strcspn(path + 1, "/")) : NULL;

    return top && top[1] && holds_mount(asked, top) &&
           look(asked->subject, asked->subject->workspace, top + 1) == DECIDE_NOTHING;
}

static int say_around_workspace(const struct decide_asked *asked, struct decide_answer *out)
{
    return decide_say(out, false, NULL, "show the workspace elsewhere: same_path = false",
                      "the workspace is there, and nothing else can be", "the workspace at '%s'",
                      asked->view);
}

/* In the workspace's place, but not in the part of it that is shown. */
static bool is_left_out(const struct decide_asked *asked, struct view_place place, const char *path)
{
    const coop_policy *policy = asked->subject->policy;

    if (!policy->restrict_to || !asked->view || !path_is_within(path, asked->view) || place.mount)
        return false;
    return policy->root ? place.what == VIEW_NOTHING && !view_default_takes(view_rows(policy), path)
                        : place.what == VIEW_NOTHING ||
                              (place.what == VIEW_IS_OWN && asked->act != DECIDE_WRITE);
}

static int judge_place(const struct decide_asked *asked, const char *path,
                       struct decide_answer *out)
{
    struct view_place place = find_place(asked, path);
    bool is_writing = asked->act == DECIDE_WRITE;
    int r;

    if (is_left_out(asked, place, path))
        return say_restricted(asked, path, out);
    if (is_writing && is_around_workspace(asked, place, path))
        return say_around_workspace(asked, out);
    if (place.what == VIEW_IS_WORKSPACE && is_above_mount(asked, path))
        return decide_say(
            out, false, NULL, NULL,
            "the box creates this directory itself, read-only, to mount something in it",
            "the box's own view");
    switch (place.what) {
    case VIEW_IS_BIND:
        return judge_bind(asked, place.mount, place.below, path, out);
    case VIEW_IS_TMPFS:
    case VIEW_IS_BLOCK:
        return judge_mount(asked, place.mount, path, out);
    case VIEW_IS_WORKSPACE:
        return judge_workspace(asked, place.below, out);
    case VIEW_IS_TOOLS:
        if (is_writing)
            return decide_say(out, false, NULL, NULL,
                              "the host's programs and settings are read-only in a box",
                              "the box's own view");
        r = decide_say(out, true, NULL, "list it in blocked_paths",
                       "it belongs to the host's programs and settings, which every box has",
                       "the box's own view");
        return r < 0 ? r : decide_flag(out, "--block", path);
    case VIEW_IS_OWN:
        return is_writing && !view_own_is_writable(asked->subject->policy, path)
                   ? decide_say(out, false, NULL, NULL, "the box creates it itself, read-only",
                                "the box's own view")
                   : decide_say(out, true, NULL, NULL, "the box has its own, not the host's",
                                "the box's own view");
    case VIEW_NOTHING:
        break;
    }
    r = decide_say(out, false, NULL,
                   is_writing ? "list it in extra_rw_paths" : "list it in extra_ro_paths",
                   "the box does not have it", "the box's own view");
    return r < 0 ? r : decide_flag(out, is_writing ? "--rw" : "--ro", path);
}

int decide_place(const struct decide_asked *asked, const char *path, struct decide_answer *out)
{
    int r = judge_place(asked, path, out);

    if (r == 0)
        out->place = strdup(path);
    return r < 0 || !out->place ? -ENOMEM : 0;
}
