/*
 * init.c - pid 1 of a box
 *
 * A program of its own, without libc, executed from a sealed memory file: the box's init must not
 * live in the caller's memory, must be tiny, and must have nothing worth stealing. It has an empty
 * environment, cannot be traced or dumped, and holds two descriptors at most. It waits for the
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
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "jail/door.h"
#include "jail/door_files.h"
#include "jail/door_gate.h"
#include "jail/door_made.h"
#include "jail/door_names.h"
#include "jail/door_project.h"
#include "jail/door_trap.h"
#include "jail/door_watch.h"
#include "jail/janitor.h"
#include "jail/protocol.h"
#include "sys/raw.h"

#if defined(__x86_64__)
__asm__(".globl _start\n"
        "_start:\n\t"
        "xor %ebp, %ebp\n\t"
        "mov %rsp, %rdi\n\t"
        "and $-16, %rsp\n\t"
        "call init_main\n\t"
        "hlt\n");
#elif defined(__aarch64__)
__asm__(".globl _start\n"
        "_start:\n\t"
        "mov x29, xzr\n\t"
        "mov x0, sp\n\t"
        "and sp, x0, #-16\n\t"
        "bl init_main\n\t"
        "brk #1\n");
#endif

_Noreturn void init_main(long *stack);

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

/* Everything that has ended or stopped so far; leaves when the command has ended. */
static void reap(const struct door *door, pid_t command)
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
            door_report(door);
            tell(EVENT_ENDED, status);
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
    const struct identity identity = { question->dev, question->ino, question->birth };

    /* What is asked about must be shown by now, or it could not be hidden. */
    while (door_project_is_there() && door_project_changed())
        ;
    struct protocol_event_message message = { .event = EVENT_WHOSE,
                                              .status = door_made_is(&identity),
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
    if (message.order == ORDER_GATE)
        door_gate_decided(message.slot, message.value);
    if (message.order == ORDER_WHOSE)
        tell_whose(&message);
    if (message.order == ORDER_HIDE && !door_project_hide(message.text))
        leave(); /* it could be read */
    if (message.order == ORDER_HOLD)
        door_project_hold_later();
    if (message.order != ORDER_SIGNAL)
        return;
    if (raw(SYS_kill, -command, message.value) == -ESRCH)
        (void)raw(SYS_kill, command, message.value);
}

static int parse_number(const char *text)
{
    int number = 0;

    while (*text >= '0' && *text <= '9')
        number = number * 10 + (*text++ - '0');
    return number;
}

static bool is_janitor(const char *word)
{
    const char *expected = JANITOR_WORD;

    while (*word && *word == *expected)
        word++, expected++;
    return *word == *expected;
}

_Noreturn void init_main(long *stack)
{
    const char *const *arguments = (const char *const *)(stack + 1);
    uint64_t children = 1ull << (SIGCHLD - 1);

    (void)raw(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
    if (stack[0] < 2)
        leave();
    if (is_janitor(arguments[1]))
        janitor_main((int)stack[0], arguments);
    (void)raw(SYS_prctl, PR_SET_NAME, "coop-init", 0, 0, 0);
    pid_t command = parse_number(arguments[1]);
    /* Every signal is blocked since before the box was made. */
    long signal_fd = raw(SYS_signalfd4, -1, &children, sizeof children, 02000000);
    if (signal_fd < 0)
        leave();
    struct door door = { .is_open = stack[0] > 2, .sockets = stack[0] > 4 ? arguments[4] : "" };
    bool has_names = false;
    bool watches_writes = false;
    bool watches_lookups = false;
    bool has_traps = false;
    for (const char *p = stack[0] > 2 ? arguments[2] : ""; *p; p++)
        door.has_own_network |= *p == DOOR_OWN_NETWORK, door.has_rules |= *p == DOOR_RULES,
            door.has_project |= *p == DOOR_PROJECT, has_names |= *p == DOOR_NAMES,
            watches_writes |= *p == DOOR_WATCH_WRITES, watches_lookups |= *p == DOOR_WATCH_LOOKUPS,
            has_traps |= *p == DOOR_TRAPS, door.has_own_tmp |= *p == DOOR_OWN_TMP;
    door_watch_start(watches_writes, watches_lookups, door.has_own_network);
    if (door.has_rules) {
        if (stack[0] < 4 ||
            !door_files_open(PROTOCOL_RULES_FD, (unsigned)parse_number(arguments[3])))
            leave();
        (void)raw(SYS_close, PROTOCOL_RULES_FD);
    }
    if (door.has_project && !door_project_start())
        leave();
    if (has_traps && (stack[0] < 6 || !door_trap_start((char *)(stack + 1)[5], watches_writes)))
        leave(); /* whoever came into one would never wake up */
    struct pollfd fds[] = {
        { .fd = PROTOCOL_CONTROL_FD, .events = POLLIN },
        { .fd = (int)signal_fd, .events = POLLIN },
        { .fd = door.is_open ? PROTOCOL_LISTENER_FD : -1, .events = POLLIN },
        { .fd = door.has_project ? PROTOCOL_WATCH_FD : -1, .events = POLLIN },
        { .fd = has_names ? PROTOCOL_NAMES_FD : -1, .events = POLLIN },
    };
    if (door.is_open)
        door_begin();
    reap(&door, command); /* what ended before the descriptor was there */
    for (;;) {
        uint64_t drain[16];

        (void)raw(SYS_ppoll, fds, sizeof fds / sizeof *fds, NULL, NULL, 0);
        if (fds[1].revents) {
            (void)raw(SYS_read, signal_fd, drain, sizeof drain);
            reap(&door, command);
        }
        if (fds[0].revents)
            obey(command);
        if (fds[3].revents)
            (void)door_project_changed();
        if (fds[4].revents)
            door_names_serve(PROTOCOL_NAMES_FD);
        if (fds[2].revents & POLLIN)
            door_serve(&door);
        else if (fds[2].revents)
            fds[2].fd = -1;
    }
}
