/*
 * command_steps.c - the steps of the command's own process
 *
 * They run between clone and exec in memory that is the caller's: system calls only.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "launch/steps.h"
#include "plan/seccomp/seccomp.h"
#include "plan/seccomp/shared.h"
#include "sys/kernel.h"
#include "sys/raw.h"

long step_session(struct child *child, const struct step *step)
{
    (void)step;
    if (child->terminal_fd < 0) {
        long r = raw(SYS_setsid);

        return r < 0 ? r : 0;
    }
    long r = raw(SYS_setpgid, 0, 0);
    if (r < 0)
        return r;
    int group = (int)raw(SYS_getpid);
    /* Every signal is blocked still, so SIGTTOU does not stop this. */
    return raw(SYS_ioctl, child->terminal_fd, TIOCSPGRP, &group);
}

long step_stdio(struct child *child, const struct step *step)
{
    (void)step;
    for (int i = 0; i < 3; i++) {
        int fd = child->terminal_fd >= 0 ? child->terminal_fd : child->stdio_fds[i];
        long r = raw(SYS_dup3, fd, i, 0);

        if (r < 0)
            return r;
    }
    return 0;
}

/* A limit above the hard one is clamped to it: nobody here may raise it. */
long step_limit(struct child *child, const struct step *step)
{
    struct {
        uint64_t soft, hard;
    } old, wanted = { step->value, step->value2 };

    (void)child;
    long r = raw(SYS_prlimit64, 0, step->fd, NULL, &old);
    if (r < 0)
        return r;
    if (wanted.soft == PLAN_SOFT_OF_CALLER)
        wanted.soft = old.soft;
    /* Also where the caller may raise it: his own limits hold. */
    if (wanted.hard > old.hard)
        wanted.hard = old.hard;
    if (wanted.soft > wanted.hard)
        wanted.soft = wanted.hard;
    return raw(SYS_prlimit64, 0, step->fd, &wanted, NULL);
}

/* The keyring calls are refused by seccomp as well, so a full quota or a kernel without is fine. */
long step_keyring(struct child *child, const struct step *step)
{
    (void)child;
    (void)step;
    long r = raw(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL, 0, 0, 0);

    return r == -EDQUOT || r == -ENOSYS || r == -EPERM ? 0 : r < 0 ? r : 0;
}

long step_change_directory(struct child *child, const struct step *step)
{
    (void)child;
    return raw(SYS_chdir, step->source, 0, 0, SECCOMP_OWN_CALL); /* nobody listens yet */
}

static long set_close_on_exec(int fd, bool on)
{
    return raw(SYS_fcntl, fd, F_SETFD, on ? FD_CLOEXEC : 0);
}

long step_close_descriptors(struct child *child, const struct step *step)
{
    (void)step;
    if (raw(NR_CLOSE_RANGE, 3, ~0u, CLOSE_RANGE_SET_CLOEXEC) < 0) {
        for (int fd = 3; fd < 4096; fd++) /* the flag came with 5.11 */
            (void)set_close_on_exec(fd, true);
        long r = raw(NR_CLOSE_RANGE, 4096, ~0u, 0);
        if (r < 0)
            return r;
    }
    for (size_t i = 0; i < child->n_keep_fds; i++)
        if (child->keep_fds[i] > 2) {
            long r = set_close_on_exec(child->keep_fds[i], false);

            if (r < 0)
                return r;
        }
    return 0;
}

static long add_landlock_rule(int ruleset_fd, const struct plan_landlock_rule *rule,
                              bool must_exist)
{
    struct kernel_landlock_path path = { .allowed = rule->allowed };
    struct stat st;
    long fd = raw(SYS_openat, AT_FDCWD, rule->path, O_PATH | O_CLOEXEC);

    if (fd == -ENOENT && !must_exist)
        return 0;
    if (fd < 0)
        return fd;
    long r = raw(SYS_fstat, fd, &st);
    if (r == 0 && rule->is_opened && (st.st_dev != rule->dev || st.st_ino != rule->ino))
        r = -ESTALE;
    if (r == 0 && !S_ISDIR(st.st_mode))
        path.allowed &= LANDLOCK_EXECUTE | LANDLOCK_WRITE_FILE | LANDLOCK_READ_FILE |
                        LANDLOCK_TRUNCATE | LANDLOCK_IOCTL_DEV;
    path.parent_fd = (int)fd;
    if (r == 0)
        r = raw(NR_LANDLOCK_ADD_RULE, ruleset_fd, LANDLOCK_PATH_RULE, &path, 0);
    (void)raw(SYS_close, fd);
    return r;
}

static long restrict_by(struct child *child, const struct plan_landlock *layer)
{
    struct kernel_landlock_attr attr = { layer->fs, layer->net, layer->scoped };
    long fd = raw(NR_LANDLOCK_CREATE_RULESET, &attr, layer->attr_size, 0);
    long r = 0;

    if (fd < 0)
        return fd;
    for (size_t i = 0; r == 0 && i < layer->n_rules; i++)
        r = add_landlock_rule((int)fd, &layer->rules[i], child->plan->tier >= COOP_TIER_NAMESPACES);
    if (r == 0)
        r = raw(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (r == 0)
        r = raw(NR_LANDLOCK_RESTRICT_SELF, fd, 0);
    (void)raw(SYS_close, fd);
    return r;
}

long step_landlock(struct child *child, const struct step *step)
{
    (void)step;
    return restrict_by(child, &child->plan->landlock);
}

long step_backstop(struct child *child, const struct step *step)
{
    (void)step;
    return restrict_by(child, &child->plan->backstop);
}

#define LOCKED_BITS                                                                          \
    (SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |                         \
     SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | \
     SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED)

long step_capabilities(struct child *child, const struct step *step)
{
    struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct none[2] = { 0 };

    (void)step;
    if (child->plan->tier >= COOP_TIER_NAMESPACES) {
        long r = child_shrink_bounding_set(&child->command_bounding_set, 0);
        if (r == 0)
            r = raw(SYS_prctl, PR_SET_SECUREBITS, LOCKED_BITS, 0, 0, 0);
        if (r < 0)
            return r;
    }
    long r = raw(SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (r == 0)
        r = raw(SYS_capset, &header, none);
    if (r < 0)
        return r;
    return raw(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

long step_seccomp(struct child *child, const struct step *step)
{
    struct sock_fprog program = { child->plan->seccomp_length,
                                  (struct sock_filter *)(uintptr_t)child->plan->seccomp };

    if (!step->value)
        return raw(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
    long fd =
        raw(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
            SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &program);
    if (fd == -EINVAL) /* the second flag came with 5.19: without it a signal repeats a call */
        fd = raw(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    if (fd < 0)
        return fd;
    child->listener_fd = (int)fd;
    return 0;
}

static long add_filter(const struct seccomp_program *filter)
{
    struct sock_fprog program = { filter->length, (struct sock_filter *)(uintptr_t)filter->filter };

    return raw(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

long step_no_code_files(struct child *child, const struct step *step)
{
    (void)child;
    (void)step;
    return add_filter(&seccomp_no_code_files);
}

long step_no_shared_objects(struct child *child, const struct step *step)
{
    (void)child;
    (void)step;
    return add_filter(&seccomp_no_shared_objects);
}

long step_no_unix_sockets(struct child *child, const struct step *step)
{
    (void)child;
    (void)step;
    return add_filter(&seccomp_no_unix_sockets);
}
