/*
 * kernel.h - kernel interfaces newer than the headers coop may be built with
 *
 * Numbers and structures only; each with the version that brought it. The numbers are the same on
 * every architecture coop knows.
 */
#pragma once

#include <stdint.h>
#include <sys/syscall.h>

/* System calls: 5.1 to 5.13 */
#define NR_PIDFD_SEND_SIGNAL       424
#define NR_OPEN_TREE               428
#define NR_MOVE_MOUNT              429
#define NR_FSOPEN                  430
#define NR_FSCONFIG                431
#define NR_FSMOUNT                 432
#define NR_PIDFD_OPEN              434
#define NR_CLONE3                  435
#define NR_CLOSE_RANGE             436
#define NR_OPENAT2                 437
#define NR_PIDFD_GETFD             438
#define NR_MOUNT_SETATTR           442
#define NR_LANDLOCK_CREATE_RULESET 444
#define NR_LANDLOCK_ADD_RULE       445
#define NR_LANDLOCK_RESTRICT_SELF  446

/* openat2(2): 5.6 */
struct kernel_open_how {
    uint64_t flags;
    uint64_t mode;
    uint64_t resolve;
};
#define RESOLVE_NO_XDEV       0x01
#define RESOLVE_NO_MAGICLINKS 0x02
#define RESOLVE_NO_SYMLINKS   0x04
#define RESOLVE_BENEATH       0x08
#define RESOLVE_IN_ROOT       0x10
#define RESOLVE_CACHED        0x20 /* 5.12 */

/* the mount API: 5.2, mount_setattr 5.12 */
#define OPEN_TREE_CLONE_TREE     1u
#define AT_RECURSIVE_TREE        0x8000u
#define MOVE_MOUNT_EMPTY_PATH    4u
#define MOVE_MOUNT_TO_EMPTY_PATH 0x40u
#define MOVE_MOUNT_UNDER         0x200u /* 6.5 */
#define FSOPEN_CLOSE_ON_EXEC     1u
#define FSMOUNT_CLOSE_ON_EXEC    1u
#define FSCONFIG_FLAG            0u
#define FSCONFIG_STRING          1u
#define FSCONFIG_CREATE          6u
#define MOUNT_READ_ONLY          0x00000001u
#define MOUNT_NO_SUID            0x00000002u
#define MOUNT_NO_DEV             0x00000004u
#define MOUNT_NO_EXEC            0x00000008u
#define MOUNT_IDMAP              0x00100000u
#define MOUNT_PROPAGATE_PRIVATE  (1ull << 18)
struct kernel_mount_attr {
    uint64_t set;
    uint64_t clear;
    uint64_t propagation;
    uint64_t userns_fd;
};

/* clone3(2): 5.3; CLEAR_SIGHAND 5.5; INTO_CGROUP 5.7 */
struct kernel_clone_args {
    uint64_t flags;
    uint64_t pidfd;
    uint64_t child_tid;
    uint64_t parent_tid;
    uint64_t exit_signal;
    uint64_t stack;
    uint64_t stack_size;
    uint64_t tls;
    uint64_t set_tid;
    uint64_t set_tid_size;
    uint64_t cgroup;
};
#define CLONE_NEW_CGROUP 0x02000000u

/* close_range(2): 5.9; the second flag 5.11 */
#define CLOSE_RANGE_UNSHARE_TABLE 2u
#define CLOSE_RANGE_SET_CLOEXEC   4u

/* Landlock: ABI 1 in 5.13, 2 in 5.19, 3 in 6.2, 4 in 6.7, 5 in 6.10, 6 in 6.12, 7 in 6.15 */
struct kernel_landlock_attr {
    uint64_t fs;
    uint64_t net;    /* ABI 4 */
    uint64_t scoped; /* ABI 6 */
};
struct kernel_landlock_path {
    uint64_t allowed;
    int32_t parent_fd;
} __attribute__((packed));
struct kernel_landlock_port {
    uint64_t allowed;
    uint64_t port;
};
#define LANDLOCK_VERSION_FLAG   1u
#define LANDLOCK_PATH_RULE      1
#define LANDLOCK_PORT_RULE      2
#define LANDLOCK_EXECUTE        (1ull << 0)
#define LANDLOCK_WRITE_FILE     (1ull << 1)
#define LANDLOCK_READ_FILE      (1ull << 2)
#define LANDLOCK_READ_DIR       (1ull << 3)
#define LANDLOCK_MAKE_CHAR      (1ull << 6)
#define LANDLOCK_MAKE_DIR       (1ull << 7)
#define LANDLOCK_MAKE_REG       (1ull << 8)
#define LANDLOCK_MAKE_SOCK      (1ull << 9)
#define LANDLOCK_MAKE_FIFO      (1ull << 10)
#define LANDLOCK_MAKE_BLOCK     (1ull << 11)
#define LANDLOCK_MAKE_SYM       (1ull << 12)
#define LANDLOCK_ALL_ABI1       ((1ull << 13) - 1)
#define LANDLOCK_REFER          (1ull << 13) /* ABI 2 */
#define LANDLOCK_TRUNCATE       (1ull << 14) /* ABI 3 */
#define LANDLOCK_IOCTL_DEV      (1ull << 15) /* ABI 5 */
#define LANDLOCK_TCP_BIND       (1ull << 0)
#define LANDLOCK_TCP_CONNECT    (1ull << 1)
#define LANDLOCK_SCOPE_ABSTRACT (1ull << 0)
#define LANDLOCK_SCOPE_SIGNAL   (1ull << 1)

/* What TCSETS takes; the C library's struct termios is larger. */
struct kernel_termios {
    uint32_t input, output, control, local;
    uint8_t line;
    uint8_t keys[19];
};

/* ioctl(2) on a pidfd: 6.13; how it ended, 6.15 */
struct kernel_pidfd_info {
    uint64_t mask;
    uint64_t cgroup;
    uint32_t ids[11];
    int32_t exit_code; /* as wait gives it */
};
#define PIDFD_ASK_INFO 0xc040ff0bu
#define PIDFD_ENDED    8u

/* waitid(2) on a pidfd: 5.4 */
#define WAIT_ON_PIDFD 3

/* memfd_create(2): the flag 6.3 */
#define MEMFD_EXECUTABLE 0x10u
