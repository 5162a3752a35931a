/*
 * read.h - a JSON document that somebody else wrote, read strictly
 *
 *   struct json_document document;
 *   if (json_read(text, n, &document, &err) == 0)
 *       json_get(document.root, "commands");
 *   json_document_done(&document);
 *
 * RFC 8259 and no more: valid UTF-8, no comments, no commas at the end, nothing behind the value; a
 * name that an object has twice is an error, and so is a NUL in a text. Depth and members are
 * limited, time and memory are linear but for the search for twins. Values belong to the document.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "coop/error.h"

#define JSON_DEPTH_MAX   64
#define JSON_MEMBERS_MAX 4096 /* of one object */

enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_TEXT, JSON_ARRAY, JSON_OBJECT };

struct json_value {
    enum json_kind kind;
    bool truth;       /* JSON_BOOL */
    const char *text; /* JSON_TEXT, unescaped; JSON_NUMBER, as it was written */
    const char *name; /* of a member of an object; NULL elsewhere */
    struct json_value *first, *next;
};

struct json_document {
    struct json_value *root;
    struct json_block *blocks; /* private */
};

/* Borrows `text`. -EINVAL: "line 3, column 9: ..."; then *out is empty. */
int json_read(const char *text, size_t n, struct json_document *out, coop_error **err);
void json_document_done(struct json_document *document);
#define auto_json_document __attribute__((cleanup(json_document_done)))

/* The member of that name; NULL: `value` is no object, or has none. */
const struct json_value *json_get(const struct json_value *value, const char *name);
