/*
 * private.h - what the dimensions of within.c share
 */
#pragma once

#include "base/buffer.h"
#include "policy/policy.h"

/* A dimension appends to `why` where the child has more; running out of memory shows there too. */
struct narrow_pair {
    const coop_policy *child;
    const coop_policy *parent;
    struct buffer *why;
};

void narrow_quote(struct buffer *out, const char *text);
/* "the child has '...', the parent '...'"; false, for returning it. */
bool narrow_more(const struct narrow_pair *pair, const char *child, const char *parent);

bool narrow_mounts_within(const struct narrow_pair *pair);
bool narrow_protect_within(const struct narrow_pair *pair);
bool narrow_hosts_within(const struct narrow_pair *pair);
bool narrow_credentials_within(const struct narrow_pair *pair); /* credentials.c */
