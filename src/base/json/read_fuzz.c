/*
 * Whatever is read can be written, and reads the same again. Whatever is refused leaves nothing, and
 * says where in one line.
 */
#include "read.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json/write.h"
#include "test/fuzz.h"

/* Numbers as texts: what matters is that they come back. */
static void write_value(struct json_writer *json, const struct json_value *value)
{
    switch (value->kind) {
    case JSON_NULL:
        json_write_null(json);
        return;
    case JSON_BOOL:
        json_write_bool(json, value->truth);
        return;
    case JSON_NUMBER:
    case JSON_TEXT:
        json_write_text(json, value->text);
        return;
    case JSON_ARRAY:
        json_write_array_begin(json);
        break;
    case JSON_OBJECT:
        json_write_object_begin(json);
        break;
    }
    for (const struct json_value *member = value->first; member; member = member->next) {
        if (member->name)
            json_write_key(json, member->name);
        write_value(json, member);
    }
    if (value->kind == JSON_ARRAY)
        json_write_array_end(json);
    else
        json_write_object_end(json);
}

static bool is_same(const struct json_value *a, const struct json_value *b)
{
    enum json_kind kind = a->kind == JSON_NUMBER ? JSON_TEXT : a->kind;

    if (b->kind != kind || a->truth != b->truth || !a->name != !b->name ||
        (a->name && strcmp(a->name, b->name) != 0) || (a->text && strcmp(a->text, b->text) != 0))
        return false;
    for (a = a->first, b = b->first; a && b; a = a->next, b = b->next)
        if (!is_same(a, b))
            return false;
    return !a && !b;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    auto_error coop_error *err = NULL;
    auto_json_document struct json_document document = { 0 };
    auto_json_document struct json_document again = { 0 };
    auto_buffer struct buffer text = { 0 };
    struct json_writer json;
    char *copy =
        malloc(size ? size : 1); /* of exact size: a sanitizer sees what is read behind it */

    if (!copy)
        return 0;
    if (size > 0)
        memcpy(copy, data, size);
    int r = json_read(copy, size, &document, &err);
    free(copy);
    if (r < 0) {
        REQUIRE(r == -EINVAL && !document.root && !document.blocks);
        REQUIRE(strncmp(coop_error_message(err), "line ", 5) == 0);
        REQUIRE(!strchr(coop_error_message(err), '\n'));
        return 0;
    }
    json_write_init(&json, &text, false);
    write_value(&json, document.root);
    json_write_finish(&json);
    if (text.failed)
        return 0;
    REQUIRE(json_read(text.data, text.length, &again, NULL) == 0);
    REQUIRE(is_same(document.root, again.root));
    return 0;
}
