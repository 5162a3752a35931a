/*
 * check.h - does a document say only what the schema knows?
 */
#pragma once

#include "base/finding.h"
#include "config/node.h"
#include "config/schema.h"

/* Adds a finding for every mistake: unknown keys, wrong types, forms and ranges, missing keys, keys
 * that contradict each other. Number of errors. */
size_t check_document(const struct document *document, struct findings *findings);

/* One value against its row; `key` as messages name it. */
void config_check_value(const struct document *document, const struct schema_row *row,
                        const char *key, const struct node *node, struct findings *findings);

/* ---- forms of texts, check_form.c: what is wrong, as the end of a sentence; NULL: nothing */

const char *check_form(const struct schema_row *row, const char *text);
