#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Stands ready for the moment when no other object can be made. Never freed, never changed. */
static coop_error no_memory = { COOP_ERROR_SYSTEM, ENOMEM, (char *)"out of memory", NULL, NULL };

static const char *const kind_names[] = {
    [COOP_ERROR_NONE] = "none",
    [COOP_ERROR_SYSTEM] = "system",
    [COOP_ERROR_NOT_AVAILABLE] = "not-available",
    [COOP_ERROR_BAD_POLICY] = "bad-policy",
    [COOP_ERROR_SETUP] = "set-up-failed",
    [COOP_ERROR_EXEC] = "exec-failed",
    [COOP_ERROR_TIMEOUT] = "timeout",
    [COOP_ERROR_CANCELLED] = "cancelled",
    [COOP_ERROR_DENIED] = "denied",
};

static void fill(coop_error **err, coop_error_kind kind, int errnum, char *message)
{
    coop_error *e = message ? calloc(1, sizeof *e) : NULL;

    if (*err)
        coop_error_free(*err);
    if (!e) {
        free(message);
        *err = &no_memory;
        return;
    }
    e->kind = kind;
    e->errnum = errnum;
    e->message = message;
    *err = e;
}

static __attribute__((format(printf, 1, 0))) char *format_text(const char *format, va_list args)
{
    char *text = NULL;

    return vasprintf(&text, format, args) < 0 ? NULL : text;
}

int fail(coop_error **err, int errnum, const char *format, ...)
{
    va_list args;

    if (!err)
        return -errnum;
    va_start(args, format);
    char *what = format_text(format, args);
    va_end(args);
    char *message = NULL;
    if (what && asprintf(&message, "%s: %s", what, strerror(errnum)) < 0)
        message = NULL;
    free(what);
    fill(err, COOP_ERROR_SYSTEM, errnum, message);
    return -errnum;
}

int fail_kind(coop_error **err, coop_error_kind kind, int errnum, const char *format, ...)
{
    va_list args;

    if (!err)
        return -errnum;
    va_start(args, format);
    char *message = format_text(format, args);
    va_end(args);
    fill(err, kind, errnum, message);
    return -errnum;
}

int fail_within(coop_error **err, int r, const char *format, ...)
{
    va_list args;

    if (!err || !*err || *err == &no_memory)
        return r;
    va_start(args, format);
    char *what = format_text(format, args);
    va_end(args);
    char *message = NULL;
    if (what && asprintf(&message, "%s: %s", what, (*err)->message) >= 0) {
        free((*err)->message);
        (*err)->message = message;
    }
    free(what);
    return r;
}

int fail_hint(coop_error **err, int r, const char *format, ...)
{
    va_list args;

    if (!err || !*err || *err == &no_memory)
        return r;
    va_start(args, format);
    char *hint = format_text(format, args);
    va_end(args);
    free((*err)->hint);
    (*err)->hint = hint;
    return r;
}

int fail_no_memory(coop_error **err)
{
    if (err) {
        if (*err)
            coop_error_free(*err);
        *err = &no_memory;
    }
    return -ENOMEM;
}

static void free_denial(coop_denial *denial)
{
    if (!denial)
        return;
    free((char *)(uintptr_t)denial->operation);
    free((char *)(uintptr_t)denial->target);
    free((char *)(uintptr_t)denial->rule);
    free((char *)(uintptr_t)denial->origin);
    free((char *)(uintptr_t)denial->fix);
    free((char *)(uintptr_t)denial->why);
    free(denial);
}

int fail_denied(coop_error **err, int r, const coop_denial *denial)
{
    coop_denial *copy = err && *err && *err != &no_memory ? malloc(sizeof *copy) : NULL;

    if (!copy)
        return r;
    *copy = *denial;
    copy->operation = strdup(denial->operation);
    copy->target = strdup(denial->target);
    copy->rule = strdup(denial->rule);
    copy->origin = strdup(denial->origin);
    copy->why = strdup(denial->why);
    copy->fix = denial->fix ? strdup(denial->fix) : NULL;
    free_denial((*err)->denial);
    (*err)->denial = copy;
    if (!copy->operation || !copy->target || !copy->rule || !copy->origin || !copy->why) {
        free_denial(copy);
        (*err)->denial = NULL;
    }
    return r;
}

int fail_as(coop_error **err, int r, coop_error_kind kind)
{
    if (err && *err && *err != &no_memory)
        (*err)->kind = kind;
    return r;
}

coop_error_kind coop_error_get_kind(const coop_error *err)
{
    return err ? err->kind : COOP_ERROR_NONE;
}

int coop_error_errno(const coop_error *err)
{
    return err ? err->errnum : 0;
}

const char *coop_error_message(const coop_error *err)
{
    return err ? err->message : "no error";
}

const char *coop_error_hint(const coop_error *err)
{
    return err ? err->hint : NULL;
}

const coop_denial *coop_error_denial(const coop_error *err)
{
    return err ? err->denial : NULL;
}

void coop_error_free(coop_error *err)
{
    if (!err || err == &no_memory)
        return;
    free(err->message);
    free(err->hint);
    free_denial(err->denial);
    free(err);
}

const char *coop_error_kind_name(coop_error_kind kind)
{
    if ((unsigned)kind >= sizeof kind_names / sizeof *kind_names)
        return "unknown";
    return kind_names[kind];
}
