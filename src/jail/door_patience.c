#include "door_patience.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/time.h>

#include "sys/raw.h"

/* A connection within one machine takes a tenth of it. */
#define MOMENT_US 300

#define RESTORER 0x04000000 /* SA_RESTORER, which some headers hide */

struct kernel_sigaction {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

struct kernel_timer {
    int64_t interval[2], first[2]; /* seconds, microseconds */
};

static const uint64_t alarms = 1ull << (SIGALRM - 1);

/* What interrupts is that there is one. */
static void on_alarm(int signal)
{
    (void)signal;
}

#if defined(__x86_64__)
/* The way back from it: rt_sigreturn. Others have it from the kernel. */
void door_patience_return(void);
__asm__(".globl door_patience_return\n"
        "door_patience_return:\n\t"
        "mov $15, %eax\n\t"
        "syscall\n");
#endif

static void listen_to_alarms(void)
{
    const struct kernel_sigaction action = {
        .handler = on_alarm,
#if defined(__x86_64__)
        .flags = RESTORER,
        .restorer = door_patience_return,
#endif
        .mask = UINT64_MAX,
    };
    static bool is_listening;

    if (!is_listening)
        is_listening = raw(SYS_rt_sigaction, SIGALRM, &action, NULL, sizeof action.mask) == 0;
}

/* Again and again: the first may come before the call has begun to wait. */
void door_patience_begin(void)
{
    static const struct kernel_timer often = { { 0, MOMENT_US }, { 0, MOMENT_US } };

    listen_to_alarms();
    (void)raw(SYS_setitimer, ITIMER_REAL, &often, NULL);
    (void)raw(SYS_rt_sigprocmask, SIG_UNBLOCK, &alarms, NULL, sizeof alarms);
}

void door_patience_end(void)
{
    static const struct kernel_timer never;

    (void)raw(SYS_rt_sigprocmask, SIG_BLOCK, &alarms, NULL, sizeof alarms);
    (void)raw(SYS_setitimer, ITIMER_REAL, &never, NULL);
}
