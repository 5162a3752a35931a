/*
 * command_steps.h - the steps of the command's own process
 *
 * They run between clone and exec in memory that is the caller's: system calls only.
 */
#pragma once

#include "jail/child.h"

long command_session(struct child *child, const struct step *step);
long command_stdio(struct child *child, const struct step *step);
long command_limit(struct child *child, const struct step *step);
long command_keyring(struct child *child, const struct step *step);
long command_change_directory(struct child *child, const struct step *step);
long command_close_descriptors(struct child *child, const struct step *step);
long command_landlock(struct child *child, const struct step *step);
long command_wall(struct child *child, const struct step *step);
long command_capabilities(struct child *child, const struct step *step);
long command_seccomp(struct child *child, const struct step *step);
long command_no_code_files(struct child *child, const struct step *step);
long command_no_shared_objects(struct child *child, const struct step *step);
long command_no_unix_sockets(struct child *child, const struct step *step);
