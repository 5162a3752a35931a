/*
 * answer.h - writes the records of config/yaml/stream.h to standard output
 *
 * What cannot be written ends the program: there is nobody left to tell.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "config/yaml/stream.h"

struct answer {
    unsigned n_errors;
    size_t length;
    unsigned char bytes[1 << 16];
};

void answer_record(struct answer *answer, enum yaml_kind kind, struct position place,
                   const void *text, size_t n);

/* One sentence, and what to write instead (NULL: nothing to say). A long one is cut. */
void yaml_answer_error(struct answer *answer, struct position place, const char *fix,
                       const char *format, ...) __attribute__((format(printf, 4, 5)));

static inline bool answer_is_full(const struct answer *answer)
{
    return answer->n_errors == YAML_ERRORS_MAX;
}

/* The last record, and out with it all. */
void answer_finish(struct answer *answer);
