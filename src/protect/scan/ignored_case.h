/*
 * ignored_case.h - file systems and directories to which names of different case are the same
 *
 * There ".ENV" is ".env", and whoever is to be kept from one must be kept from the other.
 */
#pragma once

#include <stdbool.h>

/* By the type that statfs(2) tells: those that never mind case, as far as they are mounted usually. */
bool ignored_case_by_type(unsigned long type);

/* By its own flags: ext4, f2fs, tmpfs and others let single directories be so. `fd` is readable. */
bool ignored_case_by_flag(int fd);

/* What the flags say, for ignored_case_by_flag(). */
bool ignored_case_in_flags(unsigned long flags);
