/*
 * call.h - a call that waits at notify: who asks, what is in its memory, how it is answered
 *
 * Part of the init image: no libc.
 */
#pragma once

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Instead of an errno: the kernel may go on with the call. It reads the arguments once more, so only
 * where the backstop is behind it. */
#define NOTIFY_CONTINUE (1L << 30) /* no descriptor is as high */

void notify_clear(void *memory, size_t n);
char *notify_append(char *to, const char *text); /* returns the new end */
char *notify_append_number(char *to, unsigned long number);

/* A path of the caller's /proc: "/proc/TID" and the rest. */
void notify_proc_path(const struct seccomp_notif *asked, const char *rest, char out[64]);

bool notify_is_waiting(uint64_t id);
void notify_answer(uint64_t id, long result); /* -errno, 0, or NOTIFY_CONTINUE */

/* Gives the caller a descriptor as the call's result, or the reason why not. Closes ours. */
void notify_answer_descriptor(const struct seccomp_notif *asked, int fd, bool close_on_exec);

/* All of it or -EFAULT. */
long notify_read_memory(const struct seccomp_notif *asked, uint64_t at, void *out, size_t n);

/* A string with its NUL; its length, -ENAMETOOLONG or -EFAULT. It is the caller's if notify_is_waiting()
 * afterwards: else the number may be somebody else's by now. */
long notify_read_string(const struct seccomp_notif *asked, uint64_t at, char *out, size_t size);

/* The caller's own socket, the call's first argument, as a descriptor of ours; -errno. */
long notify_take_socket(const struct seccomp_notif *asked);
