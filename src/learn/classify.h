/*
 * classify.h - may a policy suggest to show this path of the host?
 *
 * Text only: nothing looks at the host. Whoever follows links asks about both ends.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "learn/need.h"

/* What the owner agreed to. */
struct learn_consent {
    bool secrets;  /* --with-secrets */
    bool dotfiles; /* --with-dotfiles */
    bool writes;   /* --with-writes */
    bool network;  /* --with-network */
};

#define LEARN_PRIVATE_MAX 8

/* All are absolute and normal, or NULL. */
struct learn_places {
    const char *home;
    const char *workspace;              /* on the host */
    const char *own[LEARN_PRIVATE_MAX]; /* coop's directories */
    size_t n_own;
    struct learn_consent consent;
};

enum learn_file { LEARN_FILE, LEARN_DIRECTORY, LEARN_SOCKET, LEARN_DEVICE };

/* `path` is absolute and normal. */
enum need_verdict learn_classify(const struct learn_places *places, const char *path,
                                 enum learn_file file, bool is_written);

/* Whether names like this usually hold secrets, or lie where they are kept. */
bool learn_is_secret(const char *path);

/* Whether somebody who reads it in a file sees what it is: UTF-8, without control characters. */
bool learn_is_spellable(const char *text);
