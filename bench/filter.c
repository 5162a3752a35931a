/*
 * filter.c - writes coop's own system call filter as a file, so that peers can be given the same
 */
#include <stdio.h>

#include "plan/seccomp/seccomp.h"

int main(void)
{
    const struct seccomp_program *program = seccomp_program_for(0);

    return fwrite(program->filter, sizeof *program->filter, program->length, stdout) ==
                       program->length &&
                   fflush(stdout) == 0
               ? 0
               : 1;
}
