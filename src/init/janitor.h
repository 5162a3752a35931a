/*
 * janitor.h - removes a box's cgroups when its supervisor cannot any more
 *
 * A process of its own, executed from the init image before the first directory is made:
 *
 *   coop-janitor janitor NAME
 *
 * It has an empty environment, its own session, every signal blocked, and these descriptors only.
 * janitor.c uses neither libc nor anything else, so that the image can hold it.
 */
#pragma once

#define JANITOR_LIFE_FD       3 /* a pipe: end of file when the supervisor ended or closed it */
#define JANITOR_SUPERVISOR_FD 4 /* its pidfd: a fork of it may hold the pipe open; may be missing */
#define JANITOR_PARENTS_FD    5 /* and two more: directories that may hold a cgroup NAME, or none */
#define JANITOR_MAX_PARENTS   3

#define JANITOR_WORD "janitor" /* the first argument */

/*
 * Kills what is in the cgroup and removes it, for at most some ten seconds. 0 when it is gone, also
 * when it never was, or -errno.
 */
long janitor_clear(int parent_fd, const char *name);

_Noreturn void janitor_main(int argc, const char *const *argv);
