#include "content.h"

#include <string.h>

#include "base/json/write.h"

static void member(struct json_writer *json, const char *name, const char *text)
{
    json_write_key(json, name);
    json_write_text(json, text);
}

struct quoted {
    size_t begin, n;
};

static struct quoted write_text(struct json_writer *json, const struct content *content)
{
    json_write_object_begin(json);
    member(json, "type", "text");
    json_write_key(json, "text");
    size_t begin = json->out->length;
    json_write_string(json, content->text, content->n_text);
    struct quoted text = { begin, json->out->length - begin };
    json_write_object_end(json);
    return text;
}

/* What was quoted once is copied: it may be large. */
static void repeat_text(struct json_writer *json, struct quoted text)
{
    json_write_key(json, "structuredContent");
    json_write_object_begin(json);
    json_write_key(json, "content");
    if (buffer_reserve(json->out, text.n)) /* so that it stays where it is */
        json_write_raw(json, json->out->data + text.begin, text.n);
    else
        json_write_null(json);
    json_write_object_end(json);
}

static void write_data(struct json_writer *json, const struct revision *revision,
                       const struct content *content)
{
    bool is_picture = strncmp(content->mime_type, "image/", 6) == 0;
    bool is_sound = strncmp(content->mime_type, "audio/", 6) == 0 && revision->has_sounds;

    json_write_object_begin(json);
    member(json, "type", is_picture ? "image" : is_sound ? "audio" : "resource");
    if (!is_picture && !is_sound) {
        json_write_key(json, "resource");
        json_write_object_begin(json);
        member(json, "uri", content->uri ? content->uri : "data:");
    }
    if (!is_picture && !is_sound)
        member(json, "mimeType", content->mime_type);
    json_write_key(json, is_picture || is_sound ? "data" : "blob");
    json_write_string(json, content->data, content->n_data);
    if (is_picture || is_sound)
        member(json, "mimeType", content->mime_type);
    else
        json_write_object_end(json);
    json_write_object_end(json);
}

void content_write(struct buffer *out, const struct revision *revision,
                   const struct content *content)
{
    struct quoted text = { 0, 0 };
    struct json_writer json;

    json_write_init(&json, out, false);
    json_write_object_begin(&json);
    json_write_key(&json, "content");
    json_write_array_begin(&json);
    if (content->n_text > 0 || !content->data)
        text = write_text(&json, content);
    if (content->data)
        write_data(&json, revision, content);
    json_write_array_end(&json);
    if (content->structured && revision->has_structure) {
        json_write_key(&json, "structuredContent");
        json_write_raw(&json, content->structured, content->n_structured);
    }
    if (content->repeats_text && revision->has_structure)
        repeat_text(&json, text);
    if (content->is_error) {
        json_write_key(&json, "isError");
        json_write_bool(&json, true);
    }
    json_write_object_end(&json);
    json_write_finish(&json);
}
