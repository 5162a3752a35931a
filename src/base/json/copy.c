#include "copy.h"

#include <string.h>

/* As deep as base/json/read.h lets a document be. */
void json_copy(struct json_writer *json, const struct json_value *value)
{
    switch (value->kind) {
    case JSON_NULL:
        json_write_null(json);
        return;
    case JSON_BOOL:
        json_write_bool(json, value->truth);
        return;
    case JSON_NUMBER:
        json_write_raw(json, value->text, strlen(value->text));
        return;
    case JSON_TEXT:
        json_write_text(json, value->text);
        return;
    case JSON_ARRAY:
        json_write_array_begin(json);
        for (const struct json_value *item = value->first; item; item = item->next)
            json_copy(json, item);
        json_write_array_end(json);
        return;
    case JSON_OBJECT:
        json_write_object_begin(json);
        for (const struct json_value *item = value->first; item; item = item->next) {
            json_write_key(json, item->name);
            json_copy(json, item);
        }
        json_write_object_end(json);
        return;
    }
}
