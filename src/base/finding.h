/*
 * finding.h - where something was written, and what is wrong with it
 *
 * A reader of configuration does not stop at the first mistake: it adds a finding for each and goes
 * on. Out of memory is remembered in `failed`, as in a buffer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "coop/error.h"

/* Who said a thing. The name is borrowed from whoever holds the text: it outlives the finding. */
struct origin {
    const char *name; /* a file's path, or the flag itself: "--memory"; NULL: built in */
    unsigned line;    /* from 1; 0 for a flag or a whole file */
    unsigned column;  /* from 1, in characters */
};

enum severity { SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_ERROR };

struct finding {
    enum severity severity;
    struct origin origin;
    char *message; /* one sentence, no full stop */
    char *fix;     /* what to do about it, likewise; NULL: nothing better to say */
};

#define FINDINGS_MAX 100 /* kept; what is beyond is only counted */

struct findings {
    struct finding items[FINDINGS_MAX];
    size_t n;
    size_t n_dropped;
    size_t n_errors; /* among all, the dropped ones too */
    bool failed;
};

struct buffer;

void findings_add(struct findings *findings, enum severity severity, struct origin origin,
                  const char *fix, const char *format, ...) __attribute__((format(printf, 5, 6)));
void findings_done(struct findings *findings);
#define auto_findings __attribute__((cleanup(findings_done)))

/* "coop.toml:3:9", "--memory", "built-in default". */
void origin_print(struct buffer *out, struct origin origin);

/* "coop.toml:3:9: error: ... (fix)\n", made printable. */
void finding_print(struct buffer *out, const struct finding *finding);

/* The errors among them as one error object, a line each; 0 if there are none. */
int findings_fail(const struct findings *findings, coop_error **err);

extern const char *const severity_names[]; /* by enum severity */
