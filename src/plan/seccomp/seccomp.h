/*
 * seccomp.h - the system call filters, ready to load
 *
 * The programs are generated at build time from plan/seccomp/rules.h by plan/seccomp/gen.c; at run time they
 * are constant data. A variant is a sum of the flags below; zero is the default program.
 *
 *   const struct seccomp_program *program = seccomp_program_for(SECCOMP_PROFILE_DEV);
 *
 * Everything returned here is static and never freed.
 */
#pragma once

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Debuggers work: ptrace and its kin, and switching off address randomisation. */
#define SECCOMP_PROFILE_DEV 1u
/* Sockets of the family AF_UNIX only. */
#define SECCOMP_UNIX_ONLY 2u
/*
 * connect asks the listener; load it with SECCOMP_FILTER_FLAG_NEW_LISTENER, else it fails with
 * ENOSYS. Unix datagram sockets are refused, because sendmsg would carry an address that no filter
 * can see.
 */
#define SECCOMP_NOTIFY_CONNECT 4u
/* Refusals other than ENOSYS ask the listener too, so that they can be counted. */
#define SECCOMP_NOTIFY_DENIED 8u
/* Calls that open for writing or make names ask the listener: paths are protected. */
#define SECCOMP_PROTECT 16u
/* Calls that remove names ask too: init keeps the root's. With RECORD and PROTECT only, else it is the
 * same program as without. */
#define SECCOMP_ROOT 32u
/* Whatever writes, makes or removes a name, executes a file, binds a socket or sends to an address asks
 * too, to be looked at. With RECORD only; it has all that PROTECT and ROOT ask for. */
#define SECCOMP_WATCH_WRITES 64u
/* And whatever looks a path up. With WATCH_WRITES only. */
#define SECCOMP_WATCH_LOOKUPS 128u
#define SECCOMP_N_VARIANTS    256u
#define SECCOMP_ROOT_NEEDS    (SECCOMP_NOTIFY_DENIED | SECCOMP_PROTECT)

/*
 * coop makes some calls behind its own filter, before anybody listens: it puts this where the kernel
 * reads nothing, as their fourth argument. Whoever does the same is not looked at, and no more.
 */
#define SECCOMP_OWN_CALL 0x636f6f70u

/* The same program for variants that do not differ. */
static inline unsigned seccomp_plain_variant(unsigned variant)
{
    if (!(variant & SECCOMP_NOTIFY_DENIED))
        variant &= ~(SECCOMP_WATCH_WRITES | SECCOMP_WATCH_LOOKUPS);
    if (!(variant & SECCOMP_WATCH_WRITES))
        variant &= ~SECCOMP_WATCH_LOOKUPS;
    if (variant & SECCOMP_WATCH_WRITES)
        return variant & ~(SECCOMP_PROTECT | SECCOMP_ROOT);
    return (variant & SECCOMP_ROOT_NEEDS) == SECCOMP_ROOT_NEEDS ? variant : variant & ~SECCOMP_ROOT;
}

struct seccomp_program {
    const struct sock_filter *filter;
    unsigned short length; /* in instructions */
};

/* One refusal of one call. It holds in a variant when (variant & variant_mask) == variant_value. */
struct seccomp_denied {
    const char *name;
    int nr;
    int error; /* the errno answered, or 0: the listener is asked */
    unsigned variant_mask;
    unsigned variant_value;
    bool depends_on_arguments; /* refused with some arguments only */
    const char *when;          /* which: "argument 1 is 0x5412"; "": all others, or simply all */
};

/* What was generated for one architecture. */
struct seccomp_arch {
    const char *name;
    uint32_t audit_arch;
    int newest_nr;                          /* every number above it is ENOSYS */
    const struct seccomp_program *programs; /* by variant */
    const struct seccomp_denied *denied;    /* by number */
    size_t n_denied;
    const char *const *names; /* by number, up to the newest; NULL: there is no such call */
};

extern const struct seccomp_arch seccomp_arch_x86_64;
extern const struct seccomp_arch seccomp_arch_aarch64;

/* The rest speaks of the architecture compiled for. */

const struct seccomp_arch *seccomp_native_arch(void);

const struct seccomp_program *seccomp_program_for(unsigned variant);

/* The number of a call that the architecture has; -1: there is none of that name. */
int seccomp_call_number(const char *name);

/* The name of a call that some variant refuses, for messages; NULL for any other number. */
const char *seccomp_call_name(int nr);

/*
 * The second filter, of boxes with the strength `enforce`: no programs from memory. It is small, and
 * cheaper than twice the variants of the first.
 */
extern const struct seccomp_program seccomp_no_code_files;
/* What it refuses; the last has no name. */
extern const struct seccomp_denied seccomp_no_code_denied[];
