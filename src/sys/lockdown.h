/*
 * lockdown.h - what a process gives up before it reads what a stranger has written
 *
 *   static const struct lockdown_step steps[] = { { "give up capabilities", lockdown_capabilities },
 *                                                 { "install its filter", filter_calls } };
 *   int r = lockdown_take(steps, COUNT(steps), &step);     negative: `step` says with what
 */
#pragma once

#include <linux/filter.h>
#include <stddef.h>
#include <stdint.h>

struct lockdown_step {
    const char *name;
    int (*take)(void); /* 0 or -errno */
};

/* In their order, to the first that fails: its -errno, and *out_step is its name. */
int lockdown_take(const struct lockdown_step *steps, size_t n, const char **out_step);

/* None of these resources any more. */
int lockdown_limits(const int *resources, size_t n);

/* No capabilities, and no program that could bring some back. */
int lockdown_capabilities(void);

/*
 * Nothing of all that this kernel's Landlock knows of, and of `net` as far as it knows that, but what
 * `allow` (NULL: nothing) adds to the rules. 1: it is so; 0: there is no Landlock here; -errno.
 */
int lockdown_landlock(uint64_t net, int (*allow)(int ruleset_fd));

int lockdown_filter(const struct sock_filter *filter, size_t n);

/*
 * A filter that allows these calls, in any order, and leaves the others to `rest` (seccomp_filter.h), which
 * ends with what becomes of all that it does not know. They are searched for as in a tree: the kernel
 * walks through a filter once for every call that there is, before it takes it.
 */
int lockdown_calls(const unsigned *allowed, size_t n, const struct sock_filter *rest,
                   size_t n_rest);
