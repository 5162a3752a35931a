/*
 * private.h - what the parts of decide_path() share
 */
#pragma once

#include "policy/decide/decide.h"
#include "policy/path/path.h"
#include "policy/protect.h"
#include "policy/view/place.h"

/* One question, and what is needed for it. */
struct decide_asked {
    const struct decide_subject *subject;
    enum decide_act act;
    bool is_directory; /* it was written with a slash at its end */
    bool is_strict;    /* what is not there is protected like what is */
    struct view_index *index;
    struct protect *protect; /* NULL: nothing is protected */
    const char *view;        /* where the workspace is shown; NULL: nobody knows */
    const char *base; /* directory of the host that rules are relative to; NULL: the workspace */
};

/* What is to be said of a normal path of the box. */
int decide_place(const struct decide_asked *asked, const char *path, struct decide_answer *out);

/* What is left of a path behind one that it is within. */
static inline const char *decide_rest(const char *path, const char *ancestor)
{
    const char *rest = path + (ancestor[1] ? strlen(ancestor) : 0);

    return rest + (*rest == '/');
}
