/*
 * door_request.h - one call that writes or makes names, as the door sees it
 *
 * Read once from the caller; what happens to it is in door_open.c, door_make.c, door_move.c,
 * door_link.c and door_bind.c. Each function returns what the call shall return: 0 or -errno,
 * DOOR_CONTINUE where the kernel may go on, -EINPROGRESS where somebody else will answer.
 *
 * Part of the init image: no libc.
 */
#pragma once

#include "jail/door_place.h"

struct door_request {
    const struct seccomp_notif *asked;
    int nr;
    int directory, directory2; /* AT_FDCWD or a descriptor of the caller's */
    uint64_t path, path2;      /* addresses in the caller */
    uint64_t flags, mode, extra;
    char text[PLACE_PATH_MAX], text2[PLACE_PATH_MAX];
};

/* Answers by itself: a descriptor is more than a number. */
void door_open(struct door_request *request);
long door_truncate(struct door_request *request);
long door_mkdir(struct door_request *request);
long door_mknod(struct door_request *request);
long door_symlink(struct door_request *request);
long door_remove(struct door_request *request);
long door_rename(struct door_request *request);
long door_link(struct door_request *request);
long door_bind(struct door_request *request);

/*
 * What these have in common.
 */

/* Tells of the refusal, and returns `error`. */
long door_refuse(const struct door_request *request, const char *path, int rule, long error);

/* Before every answer: what will fail may have to be told. */
void door_will_answer(const struct seccomp_notif *asked, long result);

enum door_kind { DOOR_DIRECTORY, DOOR_LINK, DOOR_ANYTHING_ELSE };

/* A name that is to come into being there: 0, or refused. */
long door_check_new(const struct door_request *request, const struct place *place,
                    enum door_kind kind);

/* One new name: `text`, found from `directory`. */
long door_make(struct door_request *request, const char *text, int directory, enum door_kind kind,
               long (*act)(const struct door_request *request, const struct place *place));

/* Where the object behind a descriptor of ours lies; 0: nowhere in a protected root. */
long door_where_is(long fd, char out[PLACE_PATH_MAX]);

/* "/proc/self/fd/N" of a descriptor of ours. */
void door_own_path(long fd, char out[64]);

/* A descriptor of the caller's that it names by /proc/self/fd; ours, O_PATH. */
long door_take_named(const struct door_request *request, const struct place *place);
