/*
 * find.h - where a path of the caller's leads in the box, for reports
 *
 * Part of the init image: no libc.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "init/notify/call.h"

#define NOTIFY_FIND_MAX 4096

/*
 * The object, as a descriptor (O_PATH), and in `out` where it is. Or -errno, and `out` says where it
 * would be: links are followed as far as there is anything, what is left is taken by its words.
 * `directory`: AT_FDCWD or a descriptor of the caller's. No links of /proc are followed.
 */
long notify_find(const struct seccomp_notif *asked, int directory, const char *text, bool follow,
                 char out[NOTIFY_FIND_MAX]);

/* `path`, absolute, becomes one without links, as far as there is anything. `read_link` as readlink(2),
 * but with -errno; what it refuses with anything but -EINVAL counts as missing. */
struct notify_find_room {
    char rest[2 * NOTIFY_FIND_MAX], link[NOTIFY_FIND_MAX];
};
void notify_find_expand(char path[NOTIFY_FIND_MAX], struct notify_find_room *room,
                        long (*read_link)(const char *path, char *out, size_t size));

/* The text of a link, or -errno: -EINVAL of what is none. `resolve`: as of openat2(2). */
long notify_find_link(const char *path, uint64_t resolve, char *out, size_t size);

/* Cuts the last name off; false: there is none that could be made. */
bool notify_find_split(const char *text, char above[NOTIFY_FIND_MAX], char name[256]);
/* One more name; false: there is no room. */
bool notify_find_append(char path[NOTIFY_FIND_MAX], const char *name);
