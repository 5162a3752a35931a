/*
 * init.c - pid 1 of a box
 *
 * A program of its own, without libc, executed from a sealed memory file: the box's init must not
 * live in the caller's memory, must be tiny, and must have nothing worth stealing. It has an empty
 * environment and no arguments (what it needs is in start.h), cannot be traced or dumped, and holds few
 * descriptors (protocol.h). It waits for the
 * command, reaps what the command leaves, passes signals on, and exits when the command has ended or
 * the supervisor is gone; the kernel then kills everything else in the box.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "init/janitor.h"
#include "init/notify/files.h"
#include "init/notify/made.h"
#include "init/notify/names.h"
#include "init/notify/notify.h"
#include "init/notify/pids.h"
#include "init/notify/review.h"
#include "init/notify/root_view.h"
#include "init/notify/watch.h"
#include "init/protocol.h"
#include "init/runner.h"
#include "init/start.h"
#include "init/watchfs/serve.h"
#include "sys/raw.h"

#define SOON_NS 1000000 /* until it is looked again whether somebody has closed a file */

#if defined(__x86_64__)
__asm__(".globl _start\n"
        "_start:\n\t"
        "xor %ebp, %ebp\n\t"
        "mov %rsp, %rdi\n\t"
        "and $-16, %rsp\n\t"
        "call init_main\n\t"
        "hlt\n"
        ".globl init_restore\n"
        "init_restore:\n\t"
        "mov $15, %eax\n\t" /* rt_sigreturn */
        "syscall\n");
#define RESTORER_FLAG 0x04000000ul /* SA_RESTORER */
#elif defined(__aarch64__)
__asm__(".globl _start\n"
        "_start:\n\t"
        "mov x29, xzr\n\t"
        "mov x0, sp\n\t"
        "and sp, x0, #-16\n\t"
        "bl init_main\n\t"
        "brk #1\n"
        ".globl init_restore\n"
        "init_restore:\n\t"
        "mov x8, #139\n\t" /* rt_sigreturn */
        "svc #0\n");
#define RESTORER_FLAG 0x04000000ul
#endif

_Noreturn void init_main(long *stack);
void init_restore(void); /* where a signal's handler returns to */

static _Noreturn void leave(void)
{
    for (;;)
        (void)raw(SYS_exit_group, 0);
}

static void tell(enum protocol_event event, int status)
{
    struct protocol_event_message message = { .event = event, .status = status };

    (void)raw(SYS_sendto, PROTOCOL_CONTROL_FD, &message, sizeof message, MSG_NOSIGNAL, NULL, 0);
}

static int supervisor_fd = -1; /* where the host lets us have one */

/*
 * The second way to learn of the supervisor's end, for the day when the loop below is stuck: the kernel
 * sends a signal when something happens to the control socket. Anybody in the box may send the same.
 * A parent-death signal would not do: it follows the thread that made the box, not its process.
 */
static void look_for_supervisor(int number)
{
    struct pollfd ends[] = {
        { .fd = PROTOCOL_CONTROL_FD, .events = POLLIN },
        { .fd = supervisor_fd, .events = POLLIN },
    };
    const struct timespec at_once = { 0 };
    long n = raw(SYS_ppoll, ends, 2, &at_once, NULL, 0);

    (void)number;
    if ((n < 0 && n != -EINTR) || (n > 0 && (ends[0].revents & ~POLLIN || ends[1].revents)))
        leave();
}

static void watch_supervisor(void)
{
    const struct {
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)(void);
        uint64_t mask;
    } act = { look_for_supervisor, SA_RESTART | RESTORER_FLAG, init_restore, 0 };
    const uint64_t io = 1ull << (SIGIO - 1);

    if (raw(SYS_rt_sigaction, SIGIO, &act, NULL, sizeof act.mask) < 0 ||
        raw(SYS_fcntl, PROTOCOL_CONTROL_FD, F_SETOWN, raw(SYS_getpid)) < 0 ||
        raw(SYS_fcntl, PROTOCOL_CONTROL_FD, F_SETFL, O_ASYNC) < 0 ||
        raw(SYS_rt_sigprocmask, SIG_UNBLOCK, &io, NULL, sizeof io) < 0)
        leave();
    look_for_supervisor(SIGIO); /* what came before */
}

/* Processes that end with the box: what the command started and did not wait for. */
static int count_left(void)
{
    _Alignas(8) char room[4096];
    int n_left = 0;
    long n;

    while (raw(SYS_wait4, -1, NULL, WNOHANG | __WALL, NULL) > 0)
        ;
    if (raw(SYS_kill, -1, 0) < 0) /* everybody but ourselves */
        return 0;
    long fd = raw(SYS_openat, AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (fd >= 0 && (n = raw(SYS_getdents64, fd, room, sizeof room)) > 0)
        for (long at = 0; at < n;) {
            /* the number of its node, where the next begins, its size, its type, its name */
            const char *name = room + at + 19;
            uint16_t size;

            memcpy(&size, room + at + 16, sizeof size);
            n_left += name[0] >= '1' && name[0] <= '9' && !(name[0] == '1' && !name[1]);
            at += size;
        }
    return n_left;
}

static void tell_ended(int status)
{
    struct protocol_event_message message = {
        .event = EVENT_ENDED, .status = status, .count = notify_pids_are_all(), .rule = count_left()
    };

    (void)raw(SYS_sendto, PROTOCOL_CONTROL_FD, &message, sizeof message, MSG_NOSIGNAL, NULL, 0);
}

/* Everything that has ended or stopped so far; leaves when the command has ended. */
static void reap(const struct notify *notify, pid_t command)
{
    for (;;) {
        int status = 0;
        long pid = raw(SYS_wait4, -1, &status, WNOHANG | WUNTRACED | WCONTINUED | __WALL, NULL);

        if (pid <= 0)
            return;
        if (pid != command)
            continue;
        if (WIFSTOPPED(status)) {
            tell(EVENT_STOPPED, status);
        } else if (WIFCONTINUED(status)) {
            tell(EVENT_CONTINUED, status);
        } else {
            notify_review_look(true);
            notify_report(notify);
            tell_ended(status);
            leave();
        }
    }
}

/* Column 15 of /proc/sysvipc/shm, "rss": the list is of the reader's own ipc namespace. */
static void tell_segments(void)
{
    char text[4096];
    unsigned column = 0;
    uint64_t number = 0;
    uint64_t sum = 0;
    bool in_word = false;
    long fd = raw(SYS_openat, AT_FDCWD, "/proc/sysvipc/shm", O_RDONLY | O_CLOEXEC);
    long n;

    while (fd >= 0 && (n = raw(SYS_read, fd, text, sizeof text)) > 0)
        for (long i = 0; i < n; i++) {
            char c = text[i];
            bool is_digit = c >= '0' && c <= '9';

            if (c == ' ' || c == '\n') {
                column += in_word;
                if (in_word && column == 15)
                    sum += number;
                in_word = false;
                if (c == '\n')
                    column = 0;
            } else {
                number = in_word ? number : 0;
                number = is_digit ? number * 10 + (uint64_t)(c - '0') : 0;
                in_word = true;
            }
        }
    if (fd >= 0)
        (void)raw(SYS_close, fd);
    struct protocol_event_message message = { .event = EVENT_SEGMENTS, .count = sum };
    (void)raw(SYS_sendto, PROTOCOL_CONTROL_FD, &message, sizeof message,
              MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0);
}

static void tell_whose(const struct protocol_order_message *question)
{
    const struct file_id identity = { question->dev, question->ino, question->birth };

    /* What is asked about must be shown by now, or it could not be hidden. */
    while (notify_root_view_is_there() && notify_root_view_changed())
        ;
    struct protocol_event_message message = { .event = EVENT_WHOSE,
                                              .status = notify_made_is(&identity),
                                              .count = question->slot };

    (void)raw(SYS_sendto, PROTOCOL_CONTROL_FD, &message, sizeof message, MSG_NOSIGNAL, NULL, 0);
}

static void obey(pid_t command)
{
    struct protocol_order_message message = { 0 };
    long n =
        raw(SYS_recvfrom, PROTOCOL_CONTROL_FD, &message, sizeof message, MSG_DONTWAIT, NULL, 0);

    if (n == -EAGAIN || n == -EINTR)
        return;
    if (n < (long)sizeof message) /* end of file: the supervisor is gone */
        leave();
    if (message.order == ORDER_COUNT_SEGMENTS)
        tell_segments();
    if (message.order == ORDER_REVIEWED)
        notify_review_decided(message.slot, message.value);
    if (message.order == ORDER_WHOSE)
        tell_whose(&message);
    if (message.order == ORDER_HIDE && !notify_root_view_hide(message.text))
        leave(); /* it could be read */
    if (message.order == ORDER_HOLD)
        notify_root_view_hold_later();
    if (message.order != ORDER_SIGNAL)
        return;
    if (raw(SYS_kill, -command, message.value) == -ESRCH)
        (void)raw(SYS_kill, command, message.value);
}

/* How the box was made. Private memory: the rules are unpacked where they are. */
static struct init_start *read_start(void)
{
    uint32_t size = 0;

    if (raw(SYS_pread64, PROTOCOL_START_FD, &size, sizeof size,
            offsetof(struct init_start, size)) != (long)sizeof size ||
        size < sizeof(struct init_start) || size > INIT_START_MAX)
        leave();
    long at = raw(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, PROTOCOL_START_FD, 0);
    if (at < 0 && at > -4096)
        leave();
    (void)raw(SYS_close, PROTOCOL_START_FD);
    return (struct init_start *)at;
}

static bool is_word(const char *word, const char *expected)
{
    while (*word && *word == *expected)
        word++, expected++;
    return *word == *expected;
}

_Noreturn void init_main(long *stack)
{
    const char *const *arguments = (const char *const *)(stack + 1);
    uint64_t children = 1ull << (SIGCHLD - 1);

    (void)raw(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
    if (stack[0] > 1 && is_word(arguments[1], JANITOR_WORD))
        janitor_main((int)stack[0], arguments);
    if (stack[0] > 1 && is_word(arguments[1], RUNNER_WORD))
        runner_main((int)stack[0], arguments);
    (void)raw(SYS_prctl, PR_SET_NAME, "coop-init", 0, 0, 0);
    struct init_start *start = read_start();
    char *const bytes = (char *)start;
    const pid_t command = start->command;
    notify_pids_start(command);
    /* Every signal is blocked since before the box was made. */
    long signal_fd = raw(SYS_signalfd4, -1, &children, sizeof children, 02000000);
    if (signal_fd < 0)
        leave();
    struct notify notify = {
        .has_own_network = start->has_own_network,
        .has_rules = start->rules_at != 0,
        .has_root_view = start->has_root_view,
        .has_own_tmp = start->has_own_tmp,
        .is_open = start->has_listener,
        .sockets = (const struct init_socket *)(bytes + start->sockets_at),
        .n_sockets = start->n_sockets,
    };
    notify_watch_start(start->watches_writes, start->watches_lookups, start->has_own_network);
    if (notify.has_rules &&
        !notify_files_open(bytes + start->rules_at, start->umask, start->has_own_tmp))
        leave();
    if (notify.has_root_view && !notify_root_view_start())
        leave();
    if (start->has_watchfs &&
        (!start->nodes_at || !watchfs_start(bytes + start->nodes_at, start->watches_writes)))
        leave(); /* whoever came into one would never wake up */
    if (raw(SYS_fcntl, PROTOCOL_SUPERVISOR_FD, F_GETFD) >= 0)
        supervisor_fd = PROTOCOL_SUPERVISOR_FD;
    struct pollfd fds[] = {
        { .fd = PROTOCOL_CONTROL_FD, .events = POLLIN },
        { .fd = (int)signal_fd, .events = POLLIN },
        { .fd = notify.is_open ? PROTOCOL_LISTENER_FD : -1, .events = POLLIN },
        { .fd = notify.has_root_view ? PROTOCOL_WATCH_FD : -1, .events = POLLIN },
        { .fd = start->has_names ? PROTOCOL_NAMES_FD : -1, .events = POLLIN },
        { .fd = supervisor_fd, .events = POLLIN },
    };
    if (notify.is_open)
        notify_begin();
    watch_supervisor();     /* after the thread's start: it has no part in this */
    reap(&notify, command); /* what ended before the descriptor was there */
    for (;;) {
        uint64_t drain[16];
        struct timespec soon = { 0, SOON_NS };

        long n = raw(SYS_ppoll, fds, sizeof fds / sizeof *fds,
                     notify_review_is_waiting() ? &soon : NULL, NULL, 0);

        if (n < 0 && n != -EINTR)
            leave(); /* nothing would be heard any more, not even the supervisor's end */
        notify_review_look(false);
        if (n <= 0)
            continue;
        if (fds[1].revents) {
            (void)raw(SYS_read, signal_fd, drain, sizeof drain);
            reap(&notify, command);
        }
        if (fds[5].revents)
            leave(); /* though somebody else may hold the other end of the socket */
        if (fds[0].revents)
            obey(command);
        if (fds[3].revents)
            (void)notify_root_view_changed();
        if (fds[4].revents)
            notify_names_serve(PROTOCOL_NAMES_FD);
        if (fds[2].revents & POLLIN)
            notify_serve(&notify);
        else if (fds[2].revents)
            fds[2].fd = -1;
    }
}
