/*
 * value.h - scalars of a document as the numbers and words that their schema row makes of them
 */
#pragma once

#include <stdint.h>

#include "base/buffer.h"
#include "config/node.h"
#include "config/schema.h"

#define VALUE_NONE UINT64_MAX /* "none" */

/* Counts, sizes (bytes), durations (ms) and decimals (thousandths), more than 0. -EINVAL and a
 * sentence that names the value; -EDOM where the kind of node is wrong, without one. */
int value_number(const struct schema_row *row, const struct node *node, uint64_t *out,
                 coop_error **err);
int value_number_of_text(const struct schema_row *row, const char *text, uint64_t *out,
                         coop_error **err);

/* -EDOM where it is neither true nor false. */
int value_bool(const struct node *node, bool *out);

/* The text of a string or a scalar of YAML; NULL: it is none. */
const char *value_text(const struct node *node);

/* As a person would write it; long texts are cut. What is secret is not for here. */
void value_print(struct buffer *out, const struct node *node);

/* "a size such as \"512m\"", "one of off, none, gate, nat, host", "a list of paths". */
void value_print_expected(struct buffer *out, const struct schema_row *row);
