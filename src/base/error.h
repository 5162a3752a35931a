/*
 * error.h - the one way to fail
 *
 *   return fail(err, errno, "open '%s'", path);          "open 'x': No such file or directory"
 *   return fail_kind(err, KIND, EINVAL, "...");          the errno's text is not added
 *   return fail_within(err, r, "read the policy");       puts its words in front
 *   return fail_hint(err, r, "run 'coop doctor'");       adds what to do about it
 *
 * All return the negative errno they were given. Out of memory yields a static object.
 */
#pragma once

#include "coop/error.h"
#include "coop/result.h"

struct coop_error {
    coop_error_kind kind;
    int errnum;
    char *message;
    char *hint;
    coop_denial *denial; /* with texts of its own; NULL: nothing was refused by a rule */
};

int fail(coop_error **err, int errnum, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));
int fail_kind(coop_error **err, coop_error_kind kind, int errnum, const char *format, ...)
    __attribute__((format(printf, 4, 5), cold));
int fail_within(coop_error **err, int r, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));
int fail_hint(coop_error **err, int r, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));
int fail_no_memory(coop_error **err) __attribute__((cold));

/* Adds what was refused, and by which rule. Copies the texts. */
int fail_denied(coop_error **err, int r, const coop_denial *denial) __attribute__((cold));

/* Changes the kind of an error that a deeper layer could not know. */
int fail_as(coop_error **err, int r, coop_error_kind kind) __attribute__((cold));
