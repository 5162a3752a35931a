#include "decode.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json/write.h"
#include "config/node_walk.h"

static const char *const types[] = {
    [NODE_STRING] = "string",
    [NODE_INTEGER] = "integer",
    [NODE_FLOAT] = "float",
    [NODE_BOOLEAN] = "bool",
    [NODE_DATETIME] = "datetime",
    [NODE_LOCAL_DATETIME] = "datetime-local",
    [NODE_LOCAL_DATE] = "date-local",
    [NODE_LOCAL_TIME] = "time-local",
    [NODE_TEXT] = "text",
};

/* The fewest digits that give the same number again. */
static void float_text(struct buffer *out, double number)
{
    char text[40];

    if (isnan(number)) {
        buffer_append_string(out, "nan");
        return;
    }
    for (int n = 15; n <= 17; n++) {
        (void)snprintf(text, sizeof text, "%.*g", n, number);
        if (strtod(text, NULL) == number)
            break;
    }
    buffer_append_string(out, text);
}

static void date_text(struct buffer *out, const struct node_datetime *datetime)
{
    buffer_printf(out, "%04u-%02u-%02u", datetime->year, datetime->month, datetime->day);
}

static void time_text(struct buffer *out, const struct node_datetime *datetime)
{
    char digits[16];
    int n = snprintf(digits, sizeof digits, "%09u", (unsigned)datetime->nanosecond);

    buffer_printf(out, "%02u:%02u:%02u", datetime->hour, datetime->minute, datetime->second);
    if (datetime->nanosecond == 0)
        return;
    while (digits[n - 1] == '0')
        n--;
    buffer_append_char(out, '.');
    buffer_append(out, digits, (size_t)n);
}

static void offset_text(struct buffer *out, int minutes)
{
    int distance = minutes < 0 ? -minutes : minutes;

    if (minutes == 0)
        buffer_append_char(out, 'Z');
    else
        buffer_printf(out, "%c%02d:%02d", minutes < 0 ? '-' : '+', distance / 60, distance % 60);
}

static void scalar_text(struct buffer *out, const struct node *node)
{
    switch (node->kind) {
    case NODE_STRING:
    case NODE_TEXT:
        buffer_append(out, node->string.bytes, node->string.length);
        break;
    case NODE_INTEGER:
        buffer_printf(out, "%" PRId64, node->integer);
        break;
    case NODE_FLOAT:
        float_text(out, node->number);
        break;
    case NODE_BOOLEAN:
        buffer_append_string(out, node->boolean ? "true" : "false");
        break;
    case NODE_DATETIME:
    case NODE_LOCAL_DATETIME:
        date_text(out, &node->datetime);
        buffer_append_char(out, 'T');
        time_text(out, &node->datetime);
        if (node->kind == NODE_DATETIME)
            offset_text(out, node->datetime.offset_minutes);
        break;
    case NODE_LOCAL_DATE:
        date_text(out, &node->datetime);
        break;
    case NODE_LOCAL_TIME:
        time_text(out, &node->datetime);
        break;
    case NODE_TABLE:
    case NODE_ARRAY:
        break;
    }
}

struct printing {
    struct json_writer json;
    struct buffer text; /* of one scalar */
};

static void scalar(void *context, const struct node *node)
{
    struct printing *printing = context;
    struct json_writer *json = &printing->json;

    printing->text.length = 0;
    scalar_text(&printing->text, node);
    json->out->failed |= printing->text.failed;
    json_write_object_begin(json);
    json_write_key(json, "type");
    json_write_text(json, types[node->kind]);
    json_write_key(json, "value");
    json_write_string(json, printing->text.data, printing->text.length);
    json_write_object_end(json);
}

static void enter(void *context, const struct node *node)
{
    struct printing *printing = context;

    if (node->kind == NODE_TABLE)
        json_write_object_begin(&printing->json);
    else
        json_write_array_begin(&printing->json);
}

static void key(void *context, const struct node_entry *entry)
{
    struct printing *printing = context;

    json_write_key_bytes(&printing->json, entry->key.bytes, entry->key.length);
}

static void leave(void *context, const struct node *node)
{
    struct printing *printing = context;

    if (node->kind == NODE_TABLE)
        json_write_object_end(&printing->json);
    else
        json_write_array_end(&printing->json);
}

void decode_print(struct buffer *out, const struct document *document)
{
    static const struct node_visitor visitor = {
        .enter = enter, .key = key, .scalar = scalar, .leave = leave
    };
    struct printing printing = { 0 };

    _Static_assert(NODE_DEPTH_MAX + 2 <= JSON_WRITE_MAX_DEPTH, "every document can be printed");
    json_write_init(&printing.json, out, false);
    node_walk(&document->root, &visitor, &printing);
    json_write_finish(&printing.json);
    buffer_append_char(out, '\n');
    buffer_done(&printing.text);
}
