/*
 * place.h - what stands at a path of the box, as far as the policy's text tells
 *
 *   struct view_index *index = view_index_new(policy, "/work");
 *   struct view_place place = view_find(index, "/data/list");
 *
 * The same rule as when the box is built: the most specific target wins, and hiding comes on top.
 * Nothing looks at the host, so links of the host are not followed. An index never changes; it
 * borrows the policy.
 */
#pragma once

#include "policy/policy.h"

#define VIEW_WORKSPACE "/work"

enum view_what {
    VIEW_NOTHING,      /* not there */
    VIEW_IS_WORKSPACE, /* `below` it, also where only a part of it is shown */
    VIEW_IS_BIND,      /* `below` the source of `mount` */
    VIEW_IS_TMPFS,     /* `mount`, empty at first */
    VIEW_IS_BLOCK,     /* `mount` hides it */
    VIEW_IS_TOOLS,     /* of the host's programs and settings, read-only, as on the host */
    VIEW_IS_OWN        /* /tmp, /proc, /dev, /etc/passwd: made for the box */
};

struct view_place {
    enum view_what what;
    const struct policy_mount *mount; /* NULL where there is none */
    const char *below;                /* the rest of the path that was asked for; "" is the place */
};

struct view_index;

/* `workspace_view`: where the workspace is shown, "/" for a root; NULL: nobody knows. NULL: without
 * memory. */
struct view_index *view_index_new(const coop_policy *policy, const char *workspace_view);
void view_index_free(struct view_index *index); /* NULL is fine */
void view_index_free_at_exit(struct view_index **index);
#define auto_view_index __attribute__((cleanup(view_index_free_at_exit)))

/* `path` is absolute and normal. */
struct view_place view_find(const struct view_index *index, const char *path);

/* "/work", "/", or the workspace's own place, which is `workspace` if it is not the policy's; NULL:
 * nobody knows. */
const char *view_of_workspace(const coop_policy *policy, const char *workspace);

/* What a box has there that no mount of the policy covers. */
enum view_what view_default(const coop_policy *policy, const char *path);
/* Whether what the box has there by itself can be written: /tmp, not /proc. */
bool view_own_is_writable(const coop_policy *policy, const char *path);

/* Whether the box has a directory there that leads to what is mounted in it. Not where something is. */
bool view_leads(const struct view_index *index, const char *path);

/* The targets, sorted; blocks of the workspace as the box sees them. The index's. */
size_t view_n_targets(const struct view_index *index);
const char *view_target(const struct view_index *index, size_t i);
const struct policy_mount *view_target_mount(const struct view_index *index, size_t i);
