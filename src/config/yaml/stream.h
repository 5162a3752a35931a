/*
 * stream.h - what coop-yaml answers, and its reader
 *
 * The answer is a row of records. Each is a header of YAML_HEADER bytes, numbers with their little
 * end first, and a text:
 *
 *   kind     1 byte    enum yaml_kind
 *   line     4 bytes   both from 1; both 0 in an error about the file as a whole
 *   column   4 bytes   in characters
 *   length   4 bytes   of the text that follows; 0 for kinds without one
 *
 *   answer = { error } [ map ] { error } done     errors may stand between any two records
 *   map    = MAP { KEY value } END
 *   list   = LIST { value } END
 *   value  = PLAIN | QUOTED | map | list
 *
 * The map outside is the document; there is none for an empty file. An answer without DONE is that
 * of a program that died. Texts are UTF-8. An error's is one sentence, and behind a newline, where
 * there is something to say, what to write instead.
 *
 * coop-yaml reads text that an agent wrote with a parser that is not ours, so its answer is
 * believed no more than that text: the reader takes nothing that breaks these rules or the limits
 * of node.h. That no key comes twice is looked at here as well.
 *
 *   struct yaml_stream stream = { .document = document, .findings = findings };
 *   while (more) r = yaml_stream_feed(&stream, bytes, n);
 *   if (stream.is_done && stream.n_errors == 0) ... the document is complete
 *   yaml_stream_done(&stream);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "config/node.h"

#define YAML_HEADER       13
#define YAML_TEXT_MAX     (2 * NODE_TEXT_MAX) /* all texts together: an escape can grow by half */
#define YAML_SENTENCE_MAX 400
#define YAML_ERRORS_MAX   20 /* of coop-yaml; then it stops */

enum yaml_kind {
    YAML_MAP = 'm',
    YAML_LIST = 'l',
    YAML_END = 'e', /* of the innermost of these two */
    YAML_KEY = 'k',
    YAML_PLAIN = 'p',  /* without quotes: what it means only a schema can tell */
    YAML_QUOTED = 'q', /* in quotes, or a block with | or >: a string */
    YAML_ERROR = '!',
    YAML_DONE = '.',
};

/* A map or a list that has not ended; one of the two is NULL. */
struct yaml_frame {
    struct node_table *table;
    struct node_array *array;
};

struct yaml_stream {
    struct document *document; /* borrowed, both */
    struct findings *findings;
    bool is_done;
    size_t n_errors; /* what was found wrong, also in the file */

    struct yaml_frame frames[NODE_DEPTH_MAX + 1];
    unsigned n_frames;
    bool has_root;
    bool has_key;    /* its value comes next */
    bool is_dropped; /* the value of a key that was there already */
    struct node_string key;
    struct position key_place;

    unsigned char header[YAML_HEADER];
    size_t n_header;
    struct buffer text;
    size_t n_text; /* in all records */
    size_t n_error_records;
};

/*
 * Takes bytes of the answer, cut anywhere. -EPROTO: they break the rules. -EINVAL: the file cannot
 * be read further, a finding says why. -ENOMEM. After a failure there is nothing more to feed.
 */
int yaml_stream_feed(struct yaml_stream *stream, const void *bytes, size_t n);

void yaml_stream_done(struct yaml_stream *stream); /* not the document, nor the findings */
