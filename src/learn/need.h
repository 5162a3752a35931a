/*
 * need.h - what a command was refused while it was watched, and whether a policy may suggest it
 *
 *   learn_needs_add(), any number of times -> learn_collapse() -> learn_write() -> learn_needs_done()
 *
 * The command chose every text in here: it is reported, and decides nothing but what is asked of its
 * owner. So many different needs are kept, the rest are summed. A zeroed struct is an empty list.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LEARN_NEEDS_MAX  400
#define LEARN_GRANTS_MAX 64 /* paths, and hosts: more is nothing that somebody reads */

enum need_kind {
    NEED_READ,
    NEED_EXECUTE,
    NEED_WRITE, /* of a name that was to be made: the directory */
    NEED_HOST,  /* "example.org:443" */
    NEED_NAME,  /* of a host; nobody knows yet which port */
    NEED_LIMIT, /* "memory" */
    NEED_OTHER  /* what no line of a policy gives, or what somebody chose to refuse */
};

/* Why something is not suggested. */
enum need_verdict {
    NEED_OPEN, /* it is */
    NEED_TOO_WIDE,
    NEED_SYSTEM, /* /proc, /dev, /run ... */
    NEED_COOP,   /* its own files, and the audit log */
    NEED_SOCKET,
    NEED_SECRET,
    NEED_DOTFILE,
    NEED_DOTFILE_WRITE,
    NEED_WRITES,
    NEED_NETWORK,
    NEED_PRIVATE, /* an address that is not of the internet */
    NEED_PROTECTED,
    NEED_UNSPELLABLE, /* no TOML can hold it, or nobody could read it */
    NEED_TOO_MUCH,    /* there are too many, or the host has no more */
    NEED_REFUSED,     /* somebody wrote that it is, or nothing would permit it */
    NEED_VERDICTS
};

struct need {
    enum need_kind kind;
    enum need_verdict verdict;
    char *what;
    char *note; /* who refuses it, for NEED_PROTECTED and NEED_REFUSED; or NULL */
    bool is_directory;
    unsigned round;      /* in which it was first seen */
    unsigned last_round; /* and last; these two are set by learn_needs_add() */
    uint64_t last_count; /* how often in that one */
    uint64_t count;      /* how often in the round in which it was most */
};

struct learn_needs {
    struct need *items;
    size_t n;
    uint64_t more; /* refusals for which there was no room */
    bool failed;   /* out of memory */
};

/* Texts are copied; `need->round` is the current one. The same need again adds to its count. True if
 * it is a new one. */
bool learn_needs_add(struct learn_needs *needs, const struct need *need);
void learn_needs_done(struct learn_needs *needs);

static inline bool need_is_path(const struct need *need)
{
    return need->kind == NEED_READ || need->kind == NEED_EXECUTE || need->kind == NEED_WRITE;
}
