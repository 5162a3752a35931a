/*
 * attack.h - words that all attempts share
 */
#pragma once

#include <stdint.h>

struct way {
    const char *name; /* NULL: the last */
    int (*act)(const char *target);
};

extern const struct way attack_makes[];   /* a target that is absent */
extern const struct way attack_changes[]; /* one that is there */
extern const struct way attack_brings[];  /* trees prepared elsewhere; no target */

struct race {
    const char *name;
    void (*run)(unsigned seconds);
};
extern const struct race attack_races[];

extern const char attack_text[6]; /* what nobody wants in a file */
extern char attack_root[4096];    /* the workspace, absolute */
extern int attack_fd;             /* and as a descriptor */

/* The name of something protected that is there or has changed, or NULL. */
const char *attack_look(void);

int attack_write(int fd); /* writes the text and closes; -1 also for a bad descriptor */
void attack_file(const char *path);
long attack_openat2(int fd, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve);
const char *attack_from_scratch(const char *target); /* "../TARGET" */
const char *attack_joined(const char *before, const char *target);
