#include "plan/seccomp.h"

#include <assert.h>

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
