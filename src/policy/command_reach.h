/*
 * command_reach.h - whether a path that a command names leads to something that the box shows
 *
 * For command_context.check_path. Whether it may be written, or is protected, is not asked here: that
 * is the kernel's business, with a message of its own.
 */
#pragma once

#include "policy/view/place.h"

struct command_reach {
    struct view_index *index;
    const char *workspace_view; /* borrowed */
    char *directory;            /* in which the command starts */
    bool is_root_view;
};

/* Borrows the policy and the view. -ENOMEM; to be undone in any case. */
int command_reach_init(struct command_reach *reach, const coop_policy *policy,
                       const char *workspace_view);
void command_reach_done(struct command_reach *reach);
#define auto_command_reach __attribute__((cleanup(command_reach_done)))

/* `opaque` is a struct command_reach. */
int command_reach_check(void *opaque, const char *path, bool may_write);
