/*
 * request.h - one call that writes or makes names, as notify sees it
 *
 * Read once from the caller; what happens to it is in init/notify/open.c, init/notify/make.c, init/notify/move.c,
 * init/notify/link.c and init/notify/bind.c. Each function returns what the call shall return: 0 or -errno,
 * NOTIFY_CONTINUE where the kernel may go on, -EINPROGRESS where somebody else will answer.
 *
 * Part of the init image: no libc.
 */
#pragma once

#include "init/git_shape.h"
#include "init/notify/target.h"

struct notify_request {
    const struct seccomp_notif *asked;
    int nr;
    int directory, directory2; /* AT_FDCWD or a descriptor of the caller's */
    uint64_t path, path2;      /* addresses in the caller */
    uint64_t flags, mode, extra;
    bool needs_no_look; /* it goes on, and nothing of the box's making lets it fail */
    char text[PLACE_PATH_MAX], text2[PLACE_PATH_MAX];
};

void notify_open_start(bool has_own_tmp);
/* Answers by itself: a descriptor is more than a number. */
void notify_open(struct notify_request *request);
long notify_truncate(struct notify_request *request);
long notify_mkdir(struct notify_request *request);
long notify_mknod(struct notify_request *request);
long notify_symlink(struct notify_request *request);
long notify_remove(struct notify_request *request);
long notify_rename(struct notify_request *request);
long notify_link(struct notify_request *request);
long notify_bind(struct notify_request *request);

/*
 * What these have in common.
 */

/* Tells of the refusal, and returns `error`. */
long notify_refuse(const struct notify_request *request, const char *path, int rule, long error);

/* After the act: the lock is for others, and who could not have it is refused. Returns the result. */
long notify_let_go(const struct notify_request *request, long result);

/* Before every answer: what will fail may have to be told. */
void notify_will_answer(const struct seccomp_notif *asked, long result);

enum notify_kind { NOTIFY_DIRECTORY, NOTIFY_LINK, NOTIFY_ANYTHING_ELSE };

enum git_shape_kind notify_shape(enum notify_kind kind);

/* A name that is to come into being there: 0, or refused; of a directory also NOTIFY_GIT_CONFIG. */
long notify_check_new(const struct notify_request *request, const struct target *place,
                      enum notify_kind kind);

/* One new name: `text`, found from `directory`. */
long notify_make(struct notify_request *request, const char *text, int directory,
                 enum notify_kind kind,
                 long (*act)(const struct notify_request *request, const struct target *place));

/* Where the object behind a descriptor of ours lies; 0: nowhere in a protected root. */
long notify_where_is(long fd, char out[PLACE_PATH_MAX]);

/* "/proc/self/fd/N" of a descriptor of ours. */
void notify_own_path(long fd, char out[64]);

/* A descriptor of the caller's that it names by /proc/self/fd; ours, O_PATH. */
long notify_take_named(const struct notify_request *request, const struct target *place);
