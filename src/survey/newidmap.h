/*
 * newidmap.h - ranges of ids that /etc/subuid and /etc/subgid grant to the caller
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define NEWIDMAP_USERS  "/usr/bin/newuidmap"
#define NEWIDMAP_GROUPS "/usr/bin/newgidmap"

struct newidmap_range {
    unsigned long first;
    unsigned long count;
};

/* "" if /etc/passwd does not have one. */
void newidmap_login_name(uid_t uid, char *out, size_t size);

/* Whether both files grant the caller a range. */
bool newidmap_find(uid_t uid, struct newidmap_range *users, struct newidmap_range *groups);

/* A range of the usual size that no line of the files grants to anybody; false: there is none left, or
 * a file cannot be read. A file that is not there grants nothing. */
extern const char *const newidmap_files[2];
bool newidmap_find_unused(const char *const files[], size_t n, struct newidmap_range *out);

/* Maps one id of the caller's and the range after it into the user namespace of `pid`. 0, the exit
 * status of the program that refused, or -errno. */
long newidmap_run(pid_t pid, uid_t inside, uid_t uid, gid_t gid, const struct newidmap_range *users,
                  const struct newidmap_range *groups);
