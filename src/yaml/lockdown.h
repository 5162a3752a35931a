/*
 * lockdown.h - gives up what a parser does not need
 *
 * Afterwards the process can read descriptor 0, write descriptor 1, get memory and end; any other
 * system call kills it. All other descriptors are closed.
 */
#pragma once

#define LOCKDOWN_MEMORY      (512ul << 20) /* bytes */
#define LOCKDOWN_CPU_SECONDS 10ul

/* 0, or -errno of the step that failed; *out_step names it. */
int lockdown(const char **out_step);
