/*
 * door_call.h - a call that waits at the door: who asks, what is in its memory, how it is answered
 *
 * Part of the init image: no libc.
 */
#pragma once

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Instead of an errno: the kernel may go on with the call. It reads the arguments once more, so only
 * where a wall stands behind. */
#define DOOR_CONTINUE (1L << 30) /* no descriptor is as high */

void door_clear(void *memory, size_t n);
void door_copy(void *to, const void *from, size_t n);
char *door_append(char *to, const char *text); /* returns the new end */
char *door_append_number(char *to, unsigned long number);

/* A path of the caller's /proc: "/proc/TID" and the rest. */
void door_proc_path(const struct seccomp_notif *asked, const char *rest, char out[64]);

bool door_is_waiting(uint64_t id);
void door_answer(uint64_t id, long result); /* -errno, 0, or DOOR_CONTINUE */

/* Gives the caller a descriptor as the call's result, or the reason why not. Closes ours. */
void door_answer_descriptor(const struct seccomp_notif *asked, int fd, bool close_on_exec);

/* All of it or -EFAULT. */
long door_read_memory(const struct seccomp_notif *asked, uint64_t at, void *out, size_t n);

/* A string with its NUL; its length, -ENAMETOOLONG or -EFAULT. It is the caller's if door_is_waiting()
 * afterwards: else the number may be somebody else's by now. */
long door_read_string(const struct seccomp_notif *asked, uint64_t at, char *out, size_t size);

/* The caller's own socket, the call's first argument, as a descriptor of ours; -errno. */
long door_take_socket(const struct seccomp_notif *asked);
