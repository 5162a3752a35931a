#include "plan/seccomp/seccomp.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/syscall.h>

#if defined(__x86_64__) && !defined(__ILP32__)
#define NATIVE_ARCH seccomp_arch_x86_64
#elif defined(__aarch64__) && !defined(__AARCH64EB__) && !defined(__ILP32__)
#define NATIVE_ARCH seccomp_arch_aarch64
#else
#error "no seccomp programs for this architecture: add it to seccomp_gen.c"
#endif

const struct seccomp_arch *seccomp_native_arch(void)
{
    return &NATIVE_ARCH;
}

const struct seccomp_program *seccomp_program_for(unsigned variant)
{
    assert(variant < SECCOMP_N_VARIANTS);
    return &NATIVE_ARCH.programs[variant];
}

const char *seccomp_call_name(int nr)
{
    size_t low = 0;
    size_t high = NATIVE_ARCH.n_denied;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct seccomp_denied *denied = &NATIVE_ARCH.denied[middle];

        if (denied->nr == nr)
            return denied->name;
        if (denied->nr < nr)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

int seccomp_call_number(const char *name)
{
    for (int nr = 0; nr <= NATIVE_ARCH.newest_nr; nr++)
        if (NATIVE_ARCH.names[nr] && strcmp(NATIVE_ARCH.names[nr], name) == 0)
            return nr;
    return -1;
}

/* A file in memory is on no mount of the view, so no noexec holds it, and Landlock lets the kernel's
 * own file systems pass. Hence there are none. The first filter has seen to foreign tables. */
static const struct sock_filter no_code_files[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 3, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execveat, 0, 4),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[4])),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, AT_EMPTY_PATH, 1, 2),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

const struct seccomp_program seccomp_no_code_files = { no_code_files, sizeof no_code_files /
                                                                          sizeof *no_code_files };

const struct seccomp_denied seccomp_no_code_denied[] = {
    { "memfd_create", SYS_memfd_create, ENOSYS, 0, 0, false, "" },
    { "execveat", SYS_execveat, EACCES, 0, 0, true, "argument 4 has a bit of 0x1000" },
    { 0 },
};
