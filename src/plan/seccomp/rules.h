/*
 * rules.h - which system calls are refused, and with what answer
 *
 * The one list, read by the generator of the programs and by the test that checks them. Rules of
 * one call are tried in the order of the table, the first that holds decides, and a call without
 * one is allowed. Of a number argument the kernel reads 32 bits, so conditions look at the low word
 * only: whoever compares all 64 is passed by with rubbish in the high word.
 *
 * ENOSYS is the answer where programs have another way to go, EPERM elsewhere; nothing is killed.
 * Numbers that no kernel known here uses get ENOSYS: a deny list is safe only up to the day it was
 * written. A name may be unknown to an architecture; a name known to none stops the build.
 */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "plan/seccomp/seccomp.h"

/* Answers besides an errno. */
#define SECCOMP_ANSWER_ALLOW  0
#define SECCOMP_ANSWER_NOTIFY (-1)

enum seccomp_condition_kind {
    SECCOMP_CONDITION_NONE,
    SECCOMP_CONDITION_EQUAL,   /* (low word & mask) == value */
    SECCOMP_CONDITION_ANY_BIT, /* (low word & mask) != 0 */
    SECCOMP_CONDITION_POINTER, /* not NULL, all 64 bits; stands last */
};

struct seccomp_condition {
    enum seccomp_condition_kind kind;
    unsigned arg;
    uint32_t mask;
    uint32_t value;
};

struct seccomp_rule {
    const char *call;
    int answer;
    unsigned variant_mask; /* holds in a variant when (variant & variant_mask) == variant_value */
    unsigned variant_value;
    struct seccomp_condition conditions[2]; /* all must hold */
};

/* Numbers that libseccomp's tables may be too old for, and with them the newest number allowed. */
struct seccomp_newer_call {
    const char *call;
    int nr;
};

/* clang-format off */
#define ALWAYS 0, 0
#define IN(flag) (flag), (flag)
#define NOT_IN(flag) (flag), 0
#define DENY(call, error) { call, error, ALWAYS, { { 0 } } }
#define DENY_UNLESS_DEV(call, error) { call, error, NOT_IN(SECCOMP_PROFILE_DEV), { { 0 } } }
#define RULE(call, answer, variants, ...) { call, answer, variants, { __VA_ARGS__ } }
#define EQUAL(arg, value) { SECCOMP_CONDITION_EQUAL, arg, 0xffffffff, value }
#define MASKED(arg, mask, value) { SECCOMP_CONDITION_EQUAL, arg, mask, value }
#define ANY_BIT(arg, mask) { SECCOMP_CONDITION_ANY_BIT, arg, mask, 0 }
#define POINTER(arg) { SECCOMP_CONDITION_POINTER, arg, 0, 0 }
#define ALLOW SECCOMP_ANSWER_ALLOW
#define NOTIFY SECCOMP_ANSWER_NOTIFY

static const struct seccomp_rule seccomp_rules[] = {
    /* Mounts. The new calls are ENOSYS so that tools go back to mount(2) and report its EPERM;
     * statmount and listmount so that they read mountinfo. */
    DENY("mount", EPERM),
    DENY("umount", EPERM),
    DENY("umount2", EPERM),
    DENY("pivot_root", EPERM),
    DENY("chroot", EPERM),
    DENY("open_tree", ENOSYS),
    DENY("open_tree_attr", ENOSYS),
    DENY("move_mount", ENOSYS),
    DENY("fsopen", ENOSYS),
    DENY("fsconfig", ENOSYS),
    DENY("fsmount", ENOSYS),
    DENY("fspick", ENOSYS),
    DENY("mount_setattr", ENOSYS),
    DENY("statmount", ENOSYS),
    DENY("listmount", ENOSYS),

    /* Namespaces. clone3 hides its flags behind a pointer; libc falls back to clone, whose flags are
     * seen. CLONE_NEWTIME (0x80) is no flag of clone: the bits belong to the exit signal there. */
    DENY("unshare", EPERM),
    DENY("setns", EPERM),
    DENY("clone3", ENOSYS),
    RULE("clone", EPERM, ALWAYS, ANY_BIT(0, 0x7e020000)), /* CLONE_NEW{NS,CGROUP,UTS,IPC,USER,PID,NET} */

    /* A thread with descriptors of its own: nobody would look there for memory files (supervise/memory_files.h).
     * Nothing in use asks for one: threads share, and who closes all descriptors shares too. */
    RULE("clone", ENOSYS, ALWAYS, MASKED(0, 0x10400, 0x10000)), /* CLONE_THREAD without CLONE_FILES */
    RULE("close_range", ENOSYS, ALWAYS, ANY_BIT(2, 2)), /* CLOSE_RANGE_UNSHARE */

    /* Other processes. process_madvise came late enough for every caller to have a second way. */
    DENY_UNLESS_DEV("ptrace", EPERM),
    DENY_UNLESS_DEV("process_vm_readv", EPERM),
    DENY_UNLESS_DEV("process_vm_writev", EPERM),
    DENY_UNLESS_DEV("kcmp", EPERM),
    DENY_UNLESS_DEV("pidfd_getfd", EPERM),
    DENY("process_madvise", ENOSYS),

    /* Limits of another process: the kernel asks only whether it is of the same user, and process 1 of a
     * box is. About others than the caller init is asked, who knows which are the box's. Of everything
     * else that one process may change of another the kernel first compares their capabilities. */
    RULE("prlimit64", ALLOW, ALWAYS, EQUAL(0, 0)),
    RULE("prlimit64", NOTIFY, IN(SECCOMP_NOTIFY_CONNECT), POINTER(2)), /* NULL only asks */
    RULE("prlimit64", EPERM, ALWAYS, POINTER(2)),

    /* The machine: kernel, power, swap, accounting, quota, clock, log, console, name. */
    DENY("init_module", EPERM),
    DENY("finit_module", EPERM),
    DENY("delete_module", EPERM),
    DENY("kexec_load", EPERM),
    DENY("kexec_file_load", EPERM),
    DENY("reboot", EPERM),
    DENY("swapon", EPERM),
    DENY("swapoff", EPERM),
    DENY("acct", EPERM),
    DENY("quotactl", EPERM),
    DENY("quotactl_fd", EPERM),
    DENY("settimeofday", EPERM),
    DENY("clock_settime", EPERM),
    DENY("clock_settime64", EPERM),
    DENY("adjtimex", EPERM),
    DENY("clock_adjtime", EPERM),
    DENY("clock_adjtime64", EPERM),
    DENY("stime", EPERM),
    DENY("syslog", EPERM),
    DENY("vhangup", EPERM),
    DENY("sethostname", EPERM),
    DENY("setdomainname", EPERM),

    /* Keyrings belong to the user, not to the box. */
    DENY("add_key", EPERM),
    DENY("request_key", EPERM),
    DENY("keyctl", EPERM),

    /* Kernel surface that exploits like. io_uring also does its work unseen by any filter. */
    DENY("bpf", EPERM),
    DENY("perf_event_open", EPERM),
    DENY("userfaultfd", EPERM),
    DENY("io_uring_setup", ENOSYS),
    DENY("io_uring_enter", ENOSYS),
    DENY("io_uring_register", ENOSYS),
    DENY("memfd_secret", ENOSYS),

    /* Files by handle instead of by path, and watching whole file systems. */
    DENY("name_to_handle_at", EPERM),
    DENY("open_by_handle_at", EPERM),
    DENY("fanotify_init", EPERM),
    DENY("fanotify_mark", EPERM),

    /* Ports, segments, real mode. */
    DENY("iopl", EPERM),
    DENY("ioperm", EPERM),
    DENY("modify_ldt", EPERM),
    DENY("vm86", EPERM),
    DENY("vm86old", EPERM),

    /* Memory placement: all of it answers as a kernel built without NUMA does, so that libnuma says
     * "not available" and its users have a way; half of it would be a kernel that does not exist.
     * move_pages and migrate_pages reach into other processes. */
    DENY("move_pages", ENOSYS),
    DENY("migrate_pages", ENOSYS),
    DENY("mbind", ENOSYS),
    DENY("get_mempolicy", ENOSYS),
    DENY("set_mempolicy", ENOSYS),
    DENY("set_mempolicy_home_node", ENOSYS),

    /* Calls that the kernel has dropped or is about to. */
    DENY("lookup_dcookie", ENOSYS),
    DENY("nfsservctl", ENOSYS),
    DENY("create_module", ENOSYS),
    DENY("get_kernel_syms", ENOSYS),
    DENY("query_module", ENOSYS),
    DENY("uselib", ENOSYS),
    DENY("ustat", ENOSYS),
    DENY("sysfs", ENOSYS),
    DENY("_sysctl", ENOSYS),

    /* Harmless personalities: PER_LINUX and PER_LINUX32, each also with UNAME26, and the question
     * for the current one. Others weaken memory protection (READ_IMPLIES_EXEC, MMAP_PAGE_ZERO). */
    RULE("personality", ALLOW, ALWAYS, EQUAL(0, 0x0)),
    RULE("personality", ALLOW, ALWAYS, EQUAL(0, 0xffffffff)),
    RULE("personality", ALLOW, ALWAYS, EQUAL(0, 0x0008)),
    RULE("personality", ALLOW, ALWAYS, EQUAL(0, 0x20000)),
    RULE("personality", ALLOW, ALWAYS, EQUAL(0, 0x20008)),
    RULE("personality", ALLOW, IN(SECCOMP_PROFILE_DEV), EQUAL(0, 0x40000)), /* ADDR_NO_RANDOMIZE */
    DENY("personality", EPERM),

    /* Typing and pasting into a terminal, and line disciplines, which load odd drivers. */
    RULE("ioctl", EPERM, ALWAYS, EQUAL(1, 0x5412)), /* TIOCSTI */
    RULE("ioctl", EPERM, ALWAYS, EQUAL(1, 0x541c)), /* TIOCLINUX */
    RULE("ioctl", EPERM, ALWAYS, EQUAL(1, 0x5423)), /* TIOCSETD */

    /* A lease on a file keeps everybody else's open waiting, 45 s by default; F_NOTIFY is what inotify
     * replaced, without its limits. */
    RULE("fcntl", EPERM, ALWAYS, EQUAL(1, 1024)), /* F_SETLEASE */
    RULE("fcntl", EPERM, ALWAYS, EQUAL(1, 1026)), /* F_NOTIFY */
    RULE("fcntl", EPERM, ALWAYS, EQUAL(1, 1040)), /* F_SETDELEG */

    /* A box may filter itself further, but has at most one listener, ours. EBUSY is what the kernel
     * says to a second one. */
    RULE("seccomp", EBUSY, ALWAYS, ANY_BIT(1, 0x8)), /* SECCOMP_FILTER_FLAG_NEW_LISTENER */

    /* Socket families by allow list: AF_UNIX 1, AF_INET 2, AF_INET6 10, AF_NETLINK 16 for
     * NETLINK_ROUTE 0. To AF_UNIX, SOCK_RAW (3) is another word for SOCK_DGRAM (2), and one end of a
     * datagram pair can send to any path as well. */
    RULE("socket", EPERM, IN(SECCOMP_NOTIFY_CONNECT), EQUAL(0, 1), MASKED(1, 0xf, 2)),
    RULE("socket", EPERM, IN(SECCOMP_NOTIFY_CONNECT), EQUAL(0, 1), MASKED(1, 0xf, 3)),
    RULE("socket", ALLOW, ALWAYS, EQUAL(0, 1)),
    RULE("socket", ALLOW, NOT_IN(SECCOMP_UNIX_ONLY), EQUAL(0, 2)),
    RULE("socket", ALLOW, NOT_IN(SECCOMP_UNIX_ONLY), EQUAL(0, 10)),
    RULE("socket", ALLOW, NOT_IN(SECCOMP_UNIX_ONLY), EQUAL(0, 16), EQUAL(2, 0)),
    DENY("socket", EAFNOSUPPORT),
    RULE("socketpair", EPERM, IN(SECCOMP_NOTIFY_CONNECT), EQUAL(0, 1), MASKED(1, 0xf, 2)),
    RULE("socketpair", EPERM, IN(SECCOMP_NOTIFY_CONNECT), EQUAL(0, 1), MASKED(1, 0xf, 3)),
    RULE("socketpair", ALLOW, ALWAYS, EQUAL(0, 1)),
    DENY("socketpair", EAFNOSUPPORT),

    /* Programs that run as their owner, whoever starts them: inside they are nothing, because every
     * mount is nosuid, but they would stay when the box has gone. 06000 is S_ISUID | S_ISGID, 020000100
     * is O_CREAT | __O_TMPFILE: without these the mode is rubbish. openat2 has its own in memory,
     * where it can change after anybody has looked: its callers go back to openat. */
    RULE("chmod", EPERM, ALWAYS, ANY_BIT(1, 06000)),
    RULE("fchmod", EPERM, ALWAYS, ANY_BIT(1, 06000)),
    RULE("fchmodat", EPERM, ALWAYS, ANY_BIT(2, 06000)),
    RULE("fchmodat2", EPERM, ALWAYS, ANY_BIT(2, 06000)),
    RULE("mknod", EPERM, ALWAYS, ANY_BIT(1, 06000)),
    RULE("mknodat", EPERM, ALWAYS, ANY_BIT(2, 06000)),
    RULE("creat", EPERM, ALWAYS, ANY_BIT(1, 06000)),
    RULE("open", EPERM, ALWAYS, ANY_BIT(1, 020000100), ANY_BIT(2, 06000)),
    RULE("openat", EPERM, ALWAYS, ANY_BIT(2, 020000100), ANY_BIT(3, 06000)),
    DENY("openat2", ENOSYS),

    /* Asked of the listener. sendto with an address needs a datagram socket to do harm. */
    RULE("connect", NOTIFY, IN(SECCOMP_NOTIFY_CONNECT), { 0 }),

    /* Whatever writes or makes a name, where paths are protected. Nothing here need be complete: a
     * Landlock layer stands behind. */
    RULE("open", NOTIFY, IN(SECCOMP_PROTECT), ANY_BIT(1, 01103)),
    RULE("openat", NOTIFY, IN(SECCOMP_PROTECT), ANY_BIT(2, 01103)),
    RULE("creat", NOTIFY, IN(SECCOMP_PROTECT), { 0 }),
    RULE("mkdir", NOTIFY, IN(SECCOMP_PROTECT), { 0 }),
    RULE("mkdirat", NOTIFY, IN(SECCOMP_PROTECT), { 0 }),
    RULE("mknod", NOTIFY, IN(SECCOMP_PROTECT), { 0 }),
    RULE("mknodat", NOTIFY, IN(SECCOMP_PROTECT), { 0 }),
    RULE("rename", NOTIFY, IN(SECCOMP_PROTECT), { 0 }),
    RULE("renameat", NOTIFY, IN(SECCOMP_PROTECT), { 0 }),
    RULE("renameat2", NOTIFY, IN(SECCOMP_PROTECT), { 0 }),
    RULE("link", NOTIFY, IN(SECCOMP_PROTECT), { 0 }),
    RULE("linkat", NOTIFY, IN(SECCOMP_PROTECT), { 0 }),
    RULE("symlink", NOTIFY, IN(SECCOMP_PROTECT), { 0 }),
    RULE("symlinkat", NOTIFY, IN(SECCOMP_PROTECT), { 0 }),
    RULE("truncate", NOTIFY, IN(SECCOMP_PROTECT), { 0 }),
    RULE("umask", NOTIFY, IN(SECCOMP_PROTECT), { 0 }),
    RULE("bind", NOTIFY, IN(SECCOMP_PROTECT), { 0 }),
    RULE("unlink", NOTIFY, IN(SECCOMP_ROOT | SECCOMP_ROOT_NEEDS), { 0 }),
    RULE("unlinkat", NOTIFY, IN(SECCOMP_ROOT | SECCOMP_ROOT_NEEDS), { 0 }),
    RULE("rmdir", NOTIFY, IN(SECCOMP_ROOT | SECCOMP_ROOT_NEEDS), { 0 }),

    /* The same and more, to be looked at and then let through: what a read-only place refuses, or one
     * that the box does not have. Nothing is decided by it. */
    RULE("open", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), ANY_BIT(1, 01103)),
    RULE("openat", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), ANY_BIT(2, 01103)),
    RULE("creat", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("mkdir", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("mkdirat", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("mknod", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("mknodat", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("rename", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("renameat", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("renameat2", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("link", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("linkat", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("symlink", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("symlinkat", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("truncate", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("umask", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("bind", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("unlink", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("unlinkat", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("rmdir", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("chmod", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("fchmodat", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("fchmodat2", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("chown", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("lchown", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("fchownat", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("utime", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("utimes", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("futimesat", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("utimensat", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), POINTER(1)),
    RULE("setxattr", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("lsetxattr", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("removexattr", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("lremovexattr", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("execveat", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("sendto", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), POINTER(4)),
    RULE("execve", ALLOW, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), EQUAL(3, SECCOMP_OWN_CALL)),
    RULE("execve", NOTIFY, IN(SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),

    /* What only reads. A program makes hundreds of times as many of these. */
    RULE("openat", ALLOW, IN(SECCOMP_WATCH_LOOKUPS | SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), ANY_BIT(2, 010000000)), /* O_PATH */
    RULE("openat", NOTIFY, IN(SECCOMP_WATCH_LOOKUPS | SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("open", NOTIFY, IN(SECCOMP_WATCH_LOOKUPS | SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("chdir", ALLOW, IN(SECCOMP_WATCH_LOOKUPS | SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), EQUAL(3, SECCOMP_OWN_CALL)),
    RULE("chdir", NOTIFY, IN(SECCOMP_WATCH_LOOKUPS | SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("faccessat", ALLOW, IN(SECCOMP_WATCH_LOOKUPS | SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), EQUAL(3, SECCOMP_OWN_CALL)),
    RULE("faccessat", NOTIFY, IN(SECCOMP_WATCH_LOOKUPS | SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("stat", NOTIFY, IN(SECCOMP_WATCH_LOOKUPS | SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("lstat", NOTIFY, IN(SECCOMP_WATCH_LOOKUPS | SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("access", NOTIFY, IN(SECCOMP_WATCH_LOOKUPS | SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("readlink", NOTIFY, IN(SECCOMP_WATCH_LOOKUPS | SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("readlinkat", NOTIFY, IN(SECCOMP_WATCH_LOOKUPS | SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("faccessat2", NOTIFY, IN(SECCOMP_WATCH_LOOKUPS | SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("newfstatat", ALLOW, IN(SECCOMP_WATCH_LOOKUPS | SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), ANY_BIT(3, 0x1000)), /* AT_EMPTY_PATH: fstat */
    RULE("newfstatat", NOTIFY, IN(SECCOMP_WATCH_LOOKUPS | SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("statx", ALLOW, IN(SECCOMP_WATCH_LOOKUPS | SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), ANY_BIT(2, 0x1000)),
    RULE("sendmsg", NOTIFY, IN(SECCOMP_WATCH_LOOKUPS | SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("sendmmsg", NOTIFY, IN(SECCOMP_WATCH_LOOKUPS | SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
    RULE("statx", NOTIFY, IN(SECCOMP_WATCH_LOOKUPS | SECCOMP_WATCH_WRITES | SECCOMP_NOTIFY_DENIED), { 0 }),
};

/* The same numbers on every architecture. Before a line is added here, its call is looked at. */
static const struct seccomp_newer_call seccomp_newer_calls[] = {
    { "pidfd_send_signal", 424 },      { "io_uring_setup", 425 },
    { "io_uring_enter", 426 },         { "io_uring_register", 427 },
    { "open_tree", 428 },              { "move_mount", 429 },
    { "fsopen", 430 },                 { "fsconfig", 431 },
    { "fsmount", 432 },                { "fspick", 433 },
    { "pidfd_open", 434 },             { "clone3", 435 },
    { "close_range", 436 },            { "openat2", 437 },
    { "pidfd_getfd", 438 },            { "faccessat2", 439 },
    { "process_madvise", 440 },        { "epoll_pwait2", 441 },
    { "mount_setattr", 442 },          { "quotactl_fd", 443 },
    { "landlock_create_ruleset", 444 },{ "landlock_add_rule", 445 },
    { "landlock_restrict_self", 446 }, { "memfd_secret", 447 },
    { "process_mrelease", 448 },       { "futex_waitv", 449 },
    { "set_mempolicy_home_node", 450 },{ "cachestat", 451 },
    { "fchmodat2", 452 },              { "map_shadow_stack", 453 },
    { "futex_wake", 454 },             { "futex_wait", 455 },
    { "futex_requeue", 456 },          { "statmount", 457 },
    { "listmount", 458 },              { "lsm_get_self_attr", 459 },
    { "lsm_set_self_attr", 460 },      { "lsm_list_modules", 461 },
    { "mseal", 462 },                  { "setxattrat", 463 },
    { "getxattrat", 464 },             { "listxattrat", 465 },
    { "removexattrat", 466 },          { "open_tree_attr", 467 },
    { "file_getattr", 468 },           { "file_setattr", 469 },
};

/* Made by the kernel's own trampolines in a process that is being traced from outside; refused, such
 * a process would crash. */
static const struct seccomp_newer_call seccomp_newer_calls_x86_64[] = {
    { "uretprobe", 335 },
    { "uprobe", 336 },
};

#undef ALWAYS
#undef IN
#undef NOT_IN
#undef DENY
#undef DENY_UNLESS_DEV
#undef RULE
#undef EQUAL
#undef MASKED
#undef ANY_BIT
#undef POINTER
#undef ALLOW
#undef NOTIFY
/* clang-format on */
