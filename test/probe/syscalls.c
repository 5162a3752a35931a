/*
 * syscalls.c - asks the kernel for everything the filter refuses, and says what it answered
 *
 *   syscalls VARIANT     prints, line by line: WHAT EXPECTED GOT
 *
 * VARIANT is the filter's (see plan/seccomp/seccomp.h). EXPECTED comes from the rule table for the calls
 * that are always refused, and from the lists below for those that depend on their arguments; "any"
 * means that the filter lets it through, whatever the kernel then says.
 *
 * Every call has arguments that no kernel accepts, so the same program may run outside of a box, as
 * root too: there the answers must be others. vhangup has no arguments and is left out there
 * (variant "outside").
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plan/seccomp/seccomp.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define RUBBISH      0xdeadbeef00000000u

static const char *name_of(int error)
{
    static char number[16];
    const char *name = error ? strerrorname_np(error) : "ok";

    if (name)
        return name;
    (void)snprintf(number, sizeof number, "%d", error);
    return number;
}

static void tell(const char *what, const char *expected, long result)
{
    printf("%s %s %s\n", what, expected, name_of(result == -1 ? errno : 0));
}

static void tell_number(const char *what, unsigned long number, const char *expected, long result)
{
    char words[64];
    int error = errno;

    (void)snprintf(words, sizeof words, "%s(%#lx)", what, number);
    errno = error;
    tell(words, expected, result);
}

/* The calls of the table whose arguments decide; each is tried by a function below. */
static const char *const by_arguments[] = {
    "clone",  "personality", "ioctl",  "seccomp",  "socketpair", "socket",     "connect",
    "sendto", "chmod",       "fchmod", "fchmodat", "fchmodat2",  "mknod",      "mknodat",
    "open",   "openat",      "creat",  "fcntl",    "prlimit64",  "close_range"
};

static bool is_by_arguments(const char *name)
{
    for (size_t i = 0; i < COUNT(by_arguments); i++)
        if (strcmp(by_arguments[i], name) == 0)
            return true;
    return false;
}

static void try_table(unsigned variant, bool is_outside)
{
    const struct seccomp_arch *arch = seccomp_native_arch();

    for (size_t i = 0; i < arch->n_denied; i++) {
        const struct seccomp_denied *row = &arch->denied[i];
        bool holds = (variant & row->variant_mask) == row->variant_value;

        /* Calls that init does on behalf are notify.t's, those that it looks at denials.t's. */
        if (row->error == 0 && row->variant_value & (SECCOMP_PROTECT | SECCOMP_WATCH_WRITES))
            continue;
        if (row->depends_on_arguments || row->error == 0) {
            if (!is_by_arguments(row->name))
                printf("%s tried not-tried\n", row->name);
            continue;
        }
        if (is_outside && strcmp(row->name, "vhangup") == 0)
            continue;
        /* One name may stand there for several variants. */
        if (!holds && i + 1 < arch->n_denied && arch->denied[i + 1].nr == row->nr)
            continue;
        tell(row->name, holds ? name_of(row->error) : "any",
             syscall(row->nr, -1L, -1L, -1L, -1L, -1L, -1L));
    }
}

static void try_clone(void)
{
    static const struct {
        const char *name;
        unsigned long flag;
    } flags[] = {
        { "clone-newns", 0x20000 },
        { "clone-newcgroup", 0x2000000 },
        { "clone-newuts", 0x4000000 },
        { "clone-newipc", 0x8000000 },
        { "clone-newuser", 0x10000000 },
        { "clone-newpid", 0x20000000 },
        { "clone-newnet", 0x40000000 },
        { "clone-all", 0x7e020000 },
        { "clone-rubbish", RUBBISH | 0x10000000 },
    };

    /* A thread that does not share its signal handlers is refused by every kernel. */
    for (size_t i = 0; i < COUNT(flags); i++)
        tell(flags[i].name, "EPERM",
             syscall(SYS_clone, flags[i].flag | CLONE_THREAD, NULL, NULL, NULL, NULL));
    tell("clone-thread", "ENOSYS", syscall(SYS_clone, CLONE_THREAD, NULL, NULL, NULL, NULL));
    tell("close_range-unshare", "ENOSYS", syscall(436, 3000, 3000, 2)); /* CLOSE_RANGE_UNSHARE */
    tell("close_range-rubbish", "ENOSYS", syscall(436, 3000, 3000, RUBBISH | 2));
    tell("close_range-shared", "ok", syscall(436, 3000, 3000, 0));
}

static void try_personality(bool is_dev)
{
    static const unsigned long allowed[] = { 0, 8, 0x20000, 0x20008, 0xffffffff, RUBBISH };
    static const unsigned long refused[] = { 0x400000, 0x100000, 0x200000,          0x8000000,
                                             0x440000, 0x9,      RUBBISH | 0x400000 };

    for (size_t i = 0; i < COUNT(allowed); i++)
        tell_number("personality", allowed[i], "any", syscall(SYS_personality, allowed[i]));
    for (size_t i = 0; i < COUNT(refused); i++)
        tell_number("personality", refused[i], "EPERM", syscall(SYS_personality, refused[i]));
    tell_number("personality", 0x40000, is_dev ? "any" : "EPERM",
                syscall(SYS_personality, 0x40000));
    (void)syscall(SYS_personality, 0);
}

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

/* Modes with S_ISUID or S_ISGID. No path is there, so a call that is let through fails otherwise; and
 * where nothing is made, what stands in the mode's place does not matter. */
static void try_modes(void)
{
    static const unsigned long modes[] = { 04755, 02755, 06000, RUBBISH | 04111 };
    const long at = AT_FDCWD;
    const char *const none = NULL;

    for (size_t i = 0; i < COUNT(modes); i++) {
        unsigned long mode = modes[i];

        tell_number("fchmod", mode, "EPERM", syscall(SYS_fchmod, -1, mode));
        tell_number("fchmodat", mode, "EPERM", syscall(SYS_fchmodat, at, none, mode));
        tell_number("fchmodat2", mode, "EPERM", syscall(SYS_fchmodat2, at, none, mode, 0));
        tell_number("mknodat", mode, "EPERM", syscall(SYS_mknodat, at, none, mode | S_IFREG, 0));
        tell_number("openat", mode, "EPERM", syscall(SYS_openat, at, none, O_CREAT, mode));
        tell_number("openat-unnamed", mode, "EPERM",
                    syscall(SYS_openat, at, none, O_TMPFILE | O_RDWR, mode));
        tell_number("openat-of-what-is-there", mode, "EFAULT",
                    syscall(SYS_openat, at, none, O_RDONLY | O_DIRECTORY, mode));
#ifdef SYS_open
        tell_number("chmod", mode, "EPERM", syscall(SYS_chmod, none, mode));
        tell_number("mknod", mode, "EPERM", syscall(SYS_mknod, none, mode | S_IFREG, 0));
        tell_number("creat", mode, "EPERM", syscall(SYS_creat, none, mode));
        tell_number("open", mode, "EPERM", syscall(SYS_open, none, O_CREAT | O_RDWR, mode));
        tell_number("open-of-what-is-there", mode, "EFAULT", syscall(SYS_open, none, 0, mode));
#endif
    }
    tell_number("fchmodat", 01777, "EFAULT", syscall(SYS_fchmodat, at, none, 01777));
}

static void try_ioctl(void)
{
    static const unsigned long refused[] = { 0x5412, 0x541c, 0x5423 };

    for (size_t i = 0; i < COUNT(refused); i++) {
        tell_number("ioctl", refused[i], "EPERM", syscall(SYS_ioctl, -1, refused[i], 0));
        tell_number("ioctl", refused[i] | RUBBISH, "EPERM",
                    syscall(SYS_ioctl, -1, refused[i] | RUBBISH, 0));
    }
    tell_number("ioctl", TIOCGWINSZ, "any", syscall(SYS_ioctl, -1, TIOCGWINSZ, 0));
}

static void try_fcntl(void)
{
    static const unsigned long refused[] = { 1024, 1026, 1040 }; /* leases and F_NOTIFY */

    for (size_t i = 0; i < COUNT(refused); i++) {
        tell_number("fcntl", refused[i], "EPERM", syscall(SYS_fcntl, -1, refused[i], 0));
        tell_number("fcntl", refused[i] | RUBBISH, "EPERM",
                    syscall(SYS_fcntl, -1, refused[i] | RUBBISH, 0));
    }
    tell_number("fcntl", F_GETFD, "EBADF", syscall(SYS_fcntl, -1, F_GETFD, 0));
}

/* The new limits lie nowhere, so nothing is changed wherever it is let through. */
static void try_limits(void)
{
    tell("prlimit64-of-init", "EPERM", syscall(SYS_prlimit64, 1ul, 7, 1ul, NULL));
    tell("prlimit64-rubbish", "EPERM", syscall(SYS_prlimit64, RUBBISH | 1, 7, 1ul << 32, NULL));
    tell("prlimit64-own", "EFAULT", syscall(SYS_prlimit64, 0ul, 7, 1ul, NULL));
    tell("prlimit64-own-rubbish", "EFAULT", syscall(SYS_prlimit64, RUBBISH, 7, 1ul, NULL));
    tell("prlimit64-ask", "any", syscall(SYS_prlimit64, 1ul, 7, NULL, NULL));
}

static void try_seccomp(void)
{
    /* Without no_new_privs and without a program it fails at once where it is not filtered. */
    tell("seccomp-listener", "EBUSY", syscall(SYS_seccomp, 1, 8, NULL));
    tell("seccomp-listener-rubbish", "EBUSY", syscall(SYS_seccomp, 1, RUBBISH | 8, NULL));
}

static void close_if_open(long fd)
{
    if (fd >= 0)
        (void)close((int)fd);
}

static void try_sockets(bool unix_only)
{
    for (unsigned long family = 0; family <= 46; family++) {
        bool is_ip = family == AF_INET || family == AF_INET6;
        bool allowed = family == AF_UNIX || (!unix_only && is_ip);
        long type = family == AF_NETLINK ? SOCK_RAW : SOCK_STREAM;

        if (family == AF_NETLINK)
            allowed = !unix_only;
        long fd = syscall(SYS_socket, family, type, 0);
        tell_number("socket", family, allowed ? "ok" : "EAFNOSUPPORT", fd);
        close_if_open(fd);
        int ends[2] = { -1, -1 };
        long r = syscall(SYS_socketpair, family, SOCK_STREAM, 0, ends);
        tell_number("socketpair", family, family == AF_UNIX ? "ok" : "EAFNOSUPPORT", r);
        close_if_open(ends[0]);
        close_if_open(ends[1]);
    }
    for (unsigned long protocol = 1; protocol <= 31; protocol++) {
        long fd = syscall(SYS_socket, AF_NETLINK, SOCK_RAW, protocol);

        tell_number("netlink", protocol, "EAFNOSUPPORT", fd);
        close_if_open(fd);
    }
    /* A rule that compared all 64 bits would not know this family. */
    long fd = syscall(SYS_socket, RUBBISH | AF_VSOCK, SOCK_STREAM, 0);
    tell_number("socket", RUBBISH | AF_VSOCK, "EAFNOSUPPORT", fd);
    close_if_open(fd);
}

static void try_unknown_numbers(void)
{
    long newest = seccomp_native_arch()->newest_nr;

    for (long nr = newest + 1; nr < newest + 40; nr++)
        tell_number("number", (unsigned long)nr, "ENOSYS", syscall(nr, -1L, -1L, -1L, -1L));
    tell_number("number", 0x3fffffff, "ENOSYS", syscall(0x3fffffff, -1L, -1L, -1L, -1L));
}

#ifdef __x86_64__
/* The 32-bit entry, from a 64-bit program: number 20 is getpid there, 21 is mount. */
static long enter_i386(long nr)
{
    long result;

    __asm__ volatile("int $0x80"
                     : "=a"(result)
                     : "a"(nr), "b"(0), "c"(0), "d"(0), "S"(0), "D"(0)
                     : "r8", "r9", "r10", "r11", "memory");
    result = (int)result;
    if (result < 0 && result > -4096) {
        errno = (int)-result;
        return -1;
    }
    return result;
}

static void try_other_entries(void)
{
    static const long x32[] = { 39 /* getpid */, 165 /* mount */, 101 /* ptrace */, 520, 547 };

    for (size_t i = 0; i < COUNT(x32); i++)
        tell_number("x32", (unsigned long)x32[i], "ENOSYS",
                    syscall(x32[i] | 0x40000000, -1L, -1L, -1L, -1L, -1L));
    tell("i386-getpid", "ENOSYS", enter_i386(20));
    tell("i386-mount", "ENOSYS", enter_i386(21));
    tell("i386-unshare", "ENOSYS", enter_i386(310));
}
#else
static void try_other_entries(void)
{
}
#endif

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: syscalls VARIANT|outside\n");
        return 2;
    }
    bool is_outside = strcmp(argv[1], "outside") == 0;
    unsigned variant = is_outside ? 0 : (unsigned)strtoul(argv[1], NULL, 10);

    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    try_table(variant, is_outside);
    try_clone();
    try_personality(variant & SECCOMP_PROFILE_DEV);
    try_modes();
    try_ioctl();
    try_fcntl();
    try_limits();
    try_seccomp();
    try_sockets(variant & SECCOMP_UNIX_ONLY);
    try_unknown_numbers();
    try_other_entries();
    return 0;
}
