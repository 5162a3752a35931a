#include "arguments.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/printable.h"
#include "base/suggest.h"
#include "tools/tool.h"

#define MISTAKES_MAX 10 /* told; a model mends no more at once */

/* Where in the arguments: "edits[2].new_text". */
struct spot {
    const struct spot *outer; /* NULL: the arguments themselves */
    const char *name;         /* NULL: an item */
    size_t index;
};

struct checking {
    struct buffer mistakes; /* a line each */
    size_t n;
};

static void check_value(struct checking *checking, const struct spot *spot,
                        const struct json_value *schema, const struct json_value *value);

static void print_spot(struct buffer *out, const struct spot *spot)
{
    if (spot->outer)
        print_spot(out, spot->outer);
    if (spot->name) {
        if (spot->outer && (spot->outer->outer || spot->outer->name))
            buffer_append_char(out, '.');
        printable_append(out, spot->name, strnlen(spot->name, 100));
    } else if (spot->outer) {
        buffer_printf(out, "[%zu]", spot->index);
    }
}

/* Begins the line of a mistake; false: there have been enough. */
static bool complain_of(struct checking *checking, const struct spot *spot)
{
    if (++checking->n > MISTAKES_MAX)
        return false;
    if (checking->mistakes.length > 0)
        buffer_append_char(&checking->mistakes, '\n');
    buffer_append_char(&checking->mistakes, '\'');
    print_spot(&checking->mistakes, spot);
    buffer_append_string(&checking->mistakes, "' ");
    return true;
}

/* A whole number in JSON: 5, -5, also 5.0. */
static bool whole_number(const char *text, int64_t *out)
{
    char *end = NULL;

    errno = 0;
    *out = strtoll(text, &end, 10);
    if (errno || end == text)
        return false;
    if (*end == '.') {
        end++;
        end += strspn(end, "0");
    }
    return *end == '\0';
}

static int64_t keyword_number(const struct json_value *schema, const char *name, int64_t otherwise)
{
    const struct json_value *value = json_get(schema, name);
    int64_t number;

    return value && value->kind == JSON_NUMBER && whole_number(value->text, &number) ? number
                                                                                     : otherwise;
}

static const char *kind_words(const struct json_value *value)
{
    static const char *const words[] = {
        [JSON_NULL] = "null", [JSON_BOOL] = "a boolean", [JSON_NUMBER] = "a number",
        [JSON_TEXT] = "text", [JSON_ARRAY] = "an array", [JSON_OBJECT] = "an object"
    };

    return words[value->kind];
}

static void check_number(struct checking *checking, const struct spot *spot,
                         const struct json_value *schema, const struct json_value *value)
{
    int64_t least = keyword_number(schema, "minimum", INT64_MIN);
    int64_t most = keyword_number(schema, "maximum", INT64_MAX);
    int64_t number = 0;

    if (!whole_number(value->text, &number)) {
        if (complain_of(checking, spot)) {
            buffer_append_string(&checking->mistakes, "is ");
            printable_append(&checking->mistakes, value->text, strnlen(value->text, 40));
            buffer_append_string(&checking->mistakes, ", and must be a whole number");
        }
        return;
    }
    if (number >= least && number <= most)
        return;
    if (!complain_of(checking, spot))
        return;
    buffer_printf(&checking->mistakes, "is %" PRId64 ", and must be ", number);
    if (most == INT64_MAX)
        buffer_printf(&checking->mistakes, "at least %" PRId64, least);
    else if (least == INT64_MIN)
        buffer_printf(&checking->mistakes, "at most %" PRId64, most);
    else
        buffer_printf(&checking->mistakes, "from %" PRId64 " to %" PRId64, least, most);
}

static int64_t count_characters(const char *text)
{
    int64_t n = 0;

    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static bool is_in_enum(const struct json_value *choices, const char *text)
{
    for (const struct json_value *choice = choices->first; choice; choice = choice->next)
        if (choice->kind == JSON_TEXT && strcmp(choice->text, text) == 0)
            return true;
    return false;
}

static void check_text(struct checking *checking, const struct spot *spot,
                       const struct json_value *schema, const struct json_value *value)
{
    const struct json_value *choices = json_get(schema, "enum");
    int64_t least = keyword_number(schema, "minLength", 0);
    int64_t most = keyword_number(schema, "maxLength", INT64_MAX);

    if (choices && !is_in_enum(choices, value->text) && complain_of(checking, spot)) {
        buffer_append_string(&checking->mistakes, "is '");
        printable_append(&checking->mistakes, value->text, strnlen(value->text, 60));
        buffer_append_string(&checking->mistakes, "', and must be one of");
        for (const struct json_value *choice = choices->first; choice; choice = choice->next)
            buffer_printf(&checking->mistakes, " '%s'%s", choice->text, choice->next ? "," : "");
    }
    int64_t n = least > 0 || most < INT64_MAX ? count_characters(value->text) : 0;
    if (n < least && complain_of(checking, spot))
        buffer_printf(&checking->mistakes,
                      n == 0 ? "is empty" : "has fewer than %" PRId64 " characters", least);
    if (n > most && complain_of(checking, spot))
        buffer_printf(&checking->mistakes, "has more than %" PRId64 " characters", most);
}

static void check_array(struct checking *checking, const struct spot *spot,
                        const struct json_value *schema, const struct json_value *value)
{
    const struct json_value *items = json_get(schema, "items");
    int64_t least = keyword_number(schema, "minItems", 0);
    int64_t most = keyword_number(schema, "maxItems", INT64_MAX);
    int64_t n = 0;

    for (const struct json_value *item = value->first; item; item = item->next, n++) {
        const struct spot inner = { spot, NULL, (size_t)n };

        if (items)
            check_value(checking, &inner, items, item);
    }
    if (n < least && complain_of(checking, spot))
        buffer_printf(&checking->mistakes, "needs at least %" PRId64 " item%s", least,
                      least == 1 ? "" : "s");
    if (n > most && complain_of(checking, spot))
        buffer_printf(&checking->mistakes, "has %" PRId64 " items, and may have %" PRId64, n, most);
}

#define NAMES_MAX 32

/* The name that a member was meant to have, among those that the schema knows. */
static const char *nearest(const struct json_value *properties, const char *name)
{
    const char *names[NAMES_MAX + 1] = { NULL };
    size_t n = 0;

    for (const struct json_value *p = properties ? properties->first : NULL; p && n < NAMES_MAX;
         p = p->next)
        names[n++] = p->name;
    return suggest(name, names);
}

static bool is_required(const struct json_value *schema, const char *name)
{
    const struct json_value *required = json_get(schema, "required");

    return required && is_in_enum(required, name);
}

static void check_object(struct checking *checking, const struct spot *spot,
                         const struct json_value *schema, const struct json_value *value)
{
    const struct json_value *properties = json_get(schema, "properties");
    const struct json_value *required = json_get(schema, "required");
    const struct json_value *others = json_get(schema, "additionalProperties");
    bool is_closed = others && others->kind == JSON_BOOL && !others->truth;

    for (const struct json_value *member = value->first; member; member = member->next) {
        const struct spot inner = { spot, member->name, 0 };
        const struct json_value *property = json_get(properties, member->name);

        if (property) {
            check_value(checking, &inner, property, member);
        } else if (is_closed && complain_of(checking, &inner)) {
            const char *near = nearest(properties, member->name);

            buffer_append_string(&checking->mistakes, "is not an argument of this tool");
            if (near)
                buffer_printf(&checking->mistakes, "; did you mean '%s'?", near);
        }
    }
    for (const struct json_value *name = required ? required->first : NULL; name;
         name = name->next) {
        const struct spot inner = { spot, name->text, 0 };

        if (!json_get(value, name->text) && complain_of(checking, &inner))
            buffer_append_string(&checking->mistakes, "is missing");
    }
}

static const struct {
    const char *type;
    enum json_kind kind;
    const char *words;
    void (*check)(struct checking *, const struct spot *, const struct json_value *,
                  const struct json_value *);
} types[] = {
    { "string", JSON_TEXT, "text", check_text },
    { "integer", JSON_NUMBER, "a whole number", check_number },
    { "boolean", JSON_BOOL, "true or false", NULL },
    { "array", JSON_ARRAY, "an array", check_array },
    { "object", JSON_OBJECT, "an object", check_object },
};

static void check_value(struct checking *checking, const struct spot *spot,
                        const struct json_value *schema, const struct json_value *value)
{
    const struct json_value *type = json_get(schema, "type");

    for (size_t i = 0; type && i < COUNT(types); i++) {
        if (strcmp(types[i].type, type->text) != 0)
            continue;
        if (value->kind == types[i].kind) {
            if (types[i].check)
                types[i].check(checking, spot, schema, value);
        } else if (complain_of(checking, spot)) {
            buffer_printf(&checking->mistakes, "is %s, and must be %s", kind_words(value),
                          types[i].words);
            if (value->kind == JSON_NULL)
                buffer_append_string(&checking->mistakes, "; omit arguments that you do not need");
        }
        return;
    }
}

/* "path (required), offset, limit" */
static void print_known(struct buffer *out, const struct json_value *schema)
{
    const struct json_value *properties = json_get(schema, "properties");

    for (const struct json_value *p = properties ? properties->first : NULL; p; p = p->next)
        buffer_printf(out, "%s%s%s", p->name, is_required(schema, p->name) ? " (required)" : "",
                      p->next ? ", " : "");
}

int arguments_check(const char *tool, const struct json_value *schema,
                    const struct json_value *arguments, coop_error **err)
{
    struct checking checking = { 0 };
    const struct spot top = { 0 };
    auto_buffer struct buffer known = { 0 };

    check_value(&checking, &top, schema, arguments);
    if (checking.n == 0)
        return 0;
    if (checking.n > MISTAKES_MAX)
        buffer_printf(&checking.mistakes, "\nand %zu more", checking.n - MISTAKES_MAX);
    print_known(&known, schema);
    auto_free char *mistakes = buffer_take_string(&checking.mistakes);
    if (!mistakes || known.failed)
        return fail_no_memory(err);
    int r = fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "%s: %s", tool, mistakes);
    return known.length ? fail_hint(err, r, "%s takes %s", tool, known.data)
                        : fail_hint(err, r, "%s takes no arguments", tool);
}

/* ---- for the tools */

const struct json_value *tool_argument(const struct tool_call *call, const char *name)
{
    return json_get(call->arguments, name);
}

const char *tool_text(const struct tool_call *call, const char *name)
{
    const struct json_value *value = tool_argument(call, name);

    return value ? value->text : NULL;
}

int64_t tool_number(const struct tool_call *call, const char *name, int64_t otherwise)
{
    const struct json_value *value = tool_argument(call, name);
    int64_t number;

    return value && whole_number(value->text, &number) ? number : otherwise;
}

bool tool_flag(const struct tool_call *call, const char *name, bool otherwise)
{
    const struct json_value *value = tool_argument(call, name);

    return value ? value->truth : otherwise;
}
