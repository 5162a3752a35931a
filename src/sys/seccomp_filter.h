/*
 * seccomp_filter.h - the words of a system call filter that is written by hand
 *
 *   static const struct sock_filter filter[] = {
 *       FILTER_BEGIN, FILTER_ALLOW_CALL(SYS_brk), ..., FILTER_KILL,
 *   };
 *
 * Each rule falls through to the next one for other calls. The low half of an argument comes first
 * on the machines that coop knows.
 */
#pragma once

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#if defined(__x86_64__) && !defined(__ILP32__)
#define FILTER_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && !defined(__AARCH64EB__) && !defined(__ILP32__)
#define FILTER_ARCH AUDIT_ARCH_AARCH64
#else
#error "the filter does not know this architecture"
#endif

#define FILTER_LOAD(member) \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define FILTER_IF_EQUAL(k, yes, no)   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, k, yes, no)
#define FILTER_IF_ANY_BIT(k, yes, no) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, k, yes, no)
#define FILTER_MASK(k)                BPF_STMT(BPF_ALU | BPF_AND | BPF_K, k)
#define FILTER_ALLOW                  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define FILTER_KILL                   BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
#define FILTER_FAIL(errnum)           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (errnum))

/* Calls of this machine only, and their number. */
#define FILTER_BEGIN \
    FILTER_LOAD(arch), FILTER_IF_EQUAL(FILTER_ARCH, 1, 0), FILTER_KILL, FILTER_LOAD(nr)

#define FILTER_ALLOW_CALL(nr) FILTER_IF_EQUAL(nr, 0, 1), FILTER_ALLOW

/* Where none of these bits is in that argument. */
#define FILTER_ALLOW_WITHOUT(nr, argument, bits)                                                   \
    FILTER_IF_EQUAL(nr, 0, 4), FILTER_LOAD(argument), FILTER_IF_ANY_BIT(bits, 1, 0), FILTER_ALLOW, \
        FILTER_KILL

/* mmap, of memory and not of files, and not as code. */
#define FILTER_ALLOW_MEMORY(nr)                                                          \
    FILTER_IF_EQUAL(nr, 0, 6), FILTER_LOAD(args[2]), FILTER_IF_ANY_BIT(PROT_EXEC, 3, 0), \
        FILTER_LOAD(args[3]), FILTER_IF_ANY_BIT(MAP_ANONYMOUS, 0, 1), FILTER_ALLOW, FILTER_KILL
