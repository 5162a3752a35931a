#include "value.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/printable.h"
#include "base/quantity.h"

#define SHOWN 60 /* bytes of a text in a message */

const char *value_text(const struct node *node)
{
    return node->kind == NODE_STRING || node->kind == NODE_TEXT ? node->string.bytes : NULL;
}

int value_bool(const struct node *node, bool *out)
{
    bool is_true = node->kind == NODE_TEXT && strcmp(node->string.bytes, "true") == 0;
    bool is_false = node->kind == NODE_TEXT && strcmp(node->string.bytes, "false") == 0;

    if (node->kind != NODE_BOOLEAN && !is_true && !is_false)
        return -EDOM;
    *out = node->kind == NODE_BOOLEAN ? node->boolean : is_true;
    return 0;
}

/* ---- numbers */

static int more_than_zero(int r, const char *text, const uint64_t *value, coop_error **err)
{
    if (r < 0 || *value > 0)
        return r;
    return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "'%s' is not more than 0", text);
}

int value_number_of_text(const struct schema_row *row, const char *text, uint64_t *out,
                         coop_error **err)
{
    uint64_t value = VALUE_NONE;
    int r = 0;

    if (row->flags & SCHEMA_NONE && strcmp(text, "none") == 0) {
        *out = VALUE_NONE;
        return 0;
    }
    if (row->type == SCHEMA_SIZE)
        r = quantity_size(text, &value, err);
    else if (row->type == SCHEMA_DURATION)
        r = quantity_duration_ms(text, &value, err);
    else if (row->type == SCHEMA_DECIMAL)
        r = quantity_decimal_milli(text, &value, err);
    else
        r = quantity_count(text, 1, INT64_MAX, &value, err);
    r = more_than_zero(r, text, &value, err);
    if (r == 0)
        *out = value;
    return r;
}

static int number_of_integer(const struct schema_row *row, int64_t integer, uint64_t *out,
                             coop_error **err)
{
    char text[32];

    (void)snprintf(text, sizeof text, "%" PRId64, integer);
    return value_number_of_text(row, text, out, err);
}

static int number_of_float(double number, uint64_t *out, coop_error **err)
{
    double milli = number * 1000 + 0.5;

    if (!(milli >= 1 && milli <= (double)QUANTITY_DECIMAL_MAX_MILLI)) /* not a number: neither */
        return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                         "'%g' is not between 0.001 and a million", number);
    *out = (uint64_t)milli;
    return 0;
}

int value_number(const struct schema_row *row, const struct node *node, uint64_t *out,
                 coop_error **err)
{
    const char *text = value_text(node);

    if (node->kind == NODE_INTEGER)
        return number_of_integer(row, node->integer, out, err);
    if (node->kind == NODE_FLOAT && row->type == SCHEMA_DECIMAL)
        return number_of_float(node->number, out, err);
    if (!text)
        return -EDOM;
    bool is_quoted = node->kind == NODE_STRING;
    bool is_plain_number = row->type == SCHEMA_COUNT || row->type == SCHEMA_DECIMAL;
    if (is_quoted && is_plain_number && strcmp(text, "none") != 0)
        return -EDOM;
    return value_number_of_text(row, text, out, err);
}

/* ---- for messages */

static void print_text(struct buffer *out, const struct node *node)
{
    size_t n = node->string.length;

    buffer_append_char(out, '\'');
    printable_append(out, node->string.bytes, n > SHOWN ? SHOWN : n);
    buffer_append_string(out, n > SHOWN ? "...'" : "'");
}

void value_print(struct buffer *out, const struct node *node)
{
    if (value_text(node))
        print_text(out, node);
    else if (node->kind == NODE_INTEGER)
        buffer_printf(out, "%" PRId64, node->integer);
    else if (node->kind == NODE_FLOAT)
        buffer_printf(out, "%g", node->number);
    else if (node->kind == NODE_BOOLEAN)
        buffer_append_string(out, node->boolean ? "true" : "false");
    else
        buffer_append_string(out, node_kind_name(node->kind));
}

static const struct {
    const char *one;
    const char *many;
} expected[] = {
    [SCHEMA_TABLE] = { "a table", NULL },
    [SCHEMA_TABLES] = { "a list of tables", NULL },
    [SCHEMA_BOOL] = { "true or false", NULL },
    [SCHEMA_WORD] = { "one of ", NULL },
    [SCHEMA_COUNT] = { "a whole number above 0", NULL },
    [SCHEMA_DECIMAL] = { "a number above 0 such as 1.5", NULL },
    [SCHEMA_SIZE] = { "a size such as \"512m\" or \"2g\"", NULL },
    [SCHEMA_DURATION] = { "a duration such as \"30s\" or \"1h30m\"", NULL },
    [SCHEMA_TEXT] = { "a text", "a list of texts" },
    [SCHEMA_PATH] = { "a path", "a list of paths" },
    [SCHEMA_TARGET] = { "a path in the box", NULL },
    [SCHEMA_VARIABLE] = { "the name of a variable", "a list of names of variables" },
    [SCHEMA_HOST] = { "a host", "a list of hosts" },
    [SCHEMA_EXPECTATION] = { "a text such as \"read PATH\" or \"connect HOST:PORT\"", NULL },
    [SCHEMA_COMMAND] = { "a text for the shell, or a list of words", NULL },
};

void value_print_expected(struct buffer *out, const struct schema_row *row)
{
    bool is_list = row->flags & SCHEMA_LIST;

    buffer_append_string(out, is_list ? expected[row->type].many : expected[row->type].one);
    if (row->type == SCHEMA_WORD) {
        for (size_t i = 0; row->words[i]; i++)
            buffer_printf(out, "%s%s", i ? ", " : "", row->words[i]);
    }
    if (row->flags & SCHEMA_NONE)
        buffer_append_string(out, " or \"none\"");
}
