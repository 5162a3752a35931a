/*
 * seccomp.c - system call filters, and asking a supervisor about a call
 */
#include "survey/probe/probe.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

#include "base/cleanup.h"
#include "sys/raw.h"

#ifndef SECCOMP_FILTER_FLAG_NEW_LISTENER
#define SECCOMP_FILTER_FLAG_NEW_LISTENER (1UL << 3) /* 5.0 */
#endif
#define WAIT_KILLABLE_RECV (1UL << 5) /* 5.19 */

struct trial {
    long install;
    long answer;   /* what the filtered call said */
    long listener; /* with WAIT_KILLABLE_RECV */
    long plain;    /* and without */
};

/* getppid never fails: an error from it can only be the filter's. */
static int filter_child(void *arg)
{
    struct trial *trial = arg;
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EXDEV),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { COUNT(code), code };

    (void)raw(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    trial->install = raw(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
    trial->answer = raw(SYS_getppid);
    return 0;
}

static int listener_child(void *arg)
{
    struct trial *trial = arg;
    struct sock_filter code[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
    struct sock_fprog program = { COUNT(code), code };

    (void)raw(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    trial->listener = raw(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                          SECCOMP_FILTER_FLAG_NEW_LISTENER | WAIT_KILLABLE_RECV, &program);
    if (trial->listener < 0)
        trial->plain =
            raw(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    return 0;
}

void probe_seccomp(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    struct trial trial = { .install = PROBE_NOT_TRIED };
    long r = probe_child(0, filter_child, &trial);

    if (r < 0)
        verdict_refused(verdict, probe, r, "start a child", NULL);
    else if (trial.install == -EINVAL)
        verdict_no(verdict, "kernel %s was built without CONFIG_SECCOMP_FILTER",
                   probe->host.kernel);
    else if (trial.install < 0)
        verdict_refused(verdict, probe, trial.install, "seccomp", "3.17");
    else if (trial.answer != -EXDEV)
        verdict_no(verdict, "a filter can be installed but has no effect");
    else
        verdict_yes(verdict, "%s",
                    probe->host.seccomp == 2 ? "filter, on top of one already here" : "filter");
}

void probe_seccomp_notify(const struct coop_probe *probe, struct probe_verdict *verdict)
{
    struct trial trial = { .listener = PROBE_NOT_TRIED, .plain = PROBE_NOT_TRIED };
    long r = probe_child(0, listener_child, &trial);

    if (r < 0)
        verdict_refused(verdict, probe, r, "start a child", NULL);
    else if (trial.listener >= 0 && trial.listener != PROBE_NOT_TRIED)
        verdict_yes(verdict, "with WAIT_KILLABLE_RECV");
    else if (trial.plain >= 0 && trial.plain != PROBE_NOT_TRIED)
        verdict_yes(verdict, "without WAIT_KILLABLE_RECV, which was introduced in Linux 5.19");
    else if (trial.plain == -EBUSY)
        verdict_no(verdict, "a supervisor outside already listens; the kernel allows one");
    else if (trial.plain == -EINVAL)
        verdict_no(verdict, "introduced in Linux 5.0; this is %s", probe->host.kernel);
    else
        verdict_refused(verdict, probe, trial.plain, "seccomp with a listener", "5.0");
}
