#include "check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/suggest.h"
#include "config/value.h"

#define MAX_KEYS  64 /* more than any table of the schema has */
#define KEY_SHOWN 60 /* bytes of a key in a message */

struct value_check {
    const struct document *document;
    struct findings *findings;
};

static struct origin at(const struct value_check *check, struct position place)
{
    return node_origin(check->document, place);
}

static void wrong(const struct value_check *check, struct position place, const char *fix,
                  struct buffer *message)
{
    if (message->failed)
        check->findings->failed = true;
    else
        findings_add(check->findings, SEVERITY_ERROR, at(check, place), fix, "%s", message->data);
}

/* ---- scalars */

static void not_expected(const struct value_check *check, const struct schema_row *row,
                         const char *key, const struct node *node, const char *fix)
{
    auto_buffer struct buffer text = { 0 };

    buffer_printf(&text, "%s is ", key);
    if (row->flags & SCHEMA_SECRET && node->kind != NODE_TABLE && node->kind != NODE_ARRAY)
        buffer_append_string(&text, "something else");
    else
        value_print(&text, node);
    buffer_append_string(&text, ", expected ");
    value_print_expected(&text, row);
    wrong(check, node->place, fix, &text);
}

static void check_number(const struct value_check *check, const struct schema_row *row,
                         const char *key, const struct node *node)
{
    auto_error coop_error *err = NULL;
    uint64_t value;
    int r = value_number(row, node, &value, &err);
    const char *none = row->flags & SCHEMA_NONE ? "write \"none\" for no limit" : NULL;

    if (r == -EDOM)
        not_expected(check, row, key, node,
                     node->kind == NODE_STRING ? "write the number without quotes" : NULL);
    else if (r < 0)
        not_expected(check, row, key, node,
                     node->kind == NODE_INTEGER && node->integer == 0 ? none : NULL);
}

static void check_bool(const struct value_check *check, const struct schema_row *row,
                       const char *key, const struct node *node)
{
    bool value;

    if (value_bool(node, &value) == 0)
        return;
    const char *text = node->kind == NODE_STRING ? node->string.bytes : "";
    bool is_quoted = strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
    not_expected(check, row, key, node,
                 is_quoted ? "write it without quotes" : "write true or false");
}

static void check_word(const struct value_check *check, const struct schema_row *row,
                       const char *key, const struct node *node)
{
    const char *text = value_text(node);
    char fix[80];

    if (text && strlen(text) == node->string.length && schema_word(row, text) >= 0)
        return;
    const char *near = text ? suggest(text, row->words) : NULL;
    if (near)
        (void)snprintf(fix, sizeof fix, "did you mean \"%s\"?", near);
    not_expected(check, row, key, node, near ? fix : NULL);
}

static void check_text(const struct value_check *check, const struct schema_row *row,
                       const char *key, const struct node *node)
{
    auto_buffer struct buffer text = { 0 };
    const char *value = value_text(node);

    if (!value) {
        bool is_scalar = node->kind != NODE_TABLE && node->kind != NODE_ARRAY;

        not_expected(check, row, key, node, is_scalar ? "write it in quotes" : NULL);
        return;
    }
    const char *mistake =
        strlen(value) != node->string.length ? "has a NUL character in it" : check_form(row, value);
    if (!mistake)
        return;
    buffer_printf(&text, "%s: ", key);
    if (row->flags & SCHEMA_SECRET)
        buffer_append_string(&text, "the value");
    else
        value_print(&text, node);
    buffer_printf(&text, " %s", mistake);
    wrong(check, node->place, NULL, &text);
}

static void check_scalar(const struct value_check *check, const struct schema_row *row,
                         const char *key, const struct node *node)
{
    switch (row->type) {
    case SCHEMA_BOOL:
        check_bool(check, row, key, node);
        break;
    case SCHEMA_WORD:
        check_word(check, row, key, node);
        break;
    case SCHEMA_COUNT:
    case SCHEMA_DECIMAL:
    case SCHEMA_SIZE:
    case SCHEMA_DURATION:
        check_number(check, row, key, node);
        break;
    case SCHEMA_TEXT:
    case SCHEMA_PATH:
    case SCHEMA_TARGET:
    case SCHEMA_VARIABLE:
    case SCHEMA_HOST:
    case SCHEMA_EXPECTATION:
    case SCHEMA_COMMAND:
        check_text(check, row, key, node);
        break;
    case SCHEMA_TABLE:
    case SCHEMA_TABLES:
        break;
    }
}

static void check_list(const struct value_check *check, const struct schema_row *row,
                       const char *key, const struct node *node)
{
    if (node->kind != NODE_ARRAY) {
        not_expected(check, row, key, node,
                     value_text(node) ? "write it in brackets, also when it is one only" : NULL);
        return;
    }
    if (row->type == SCHEMA_COMMAND && node->array->n == 0)
        findings_add(check->findings, SEVERITY_ERROR, at(check, node->place), NULL, "%s is empty",
                     key);
    for (const struct node *item = node->array->first; item; item = item->next) {
        if (value_text(item))
            check_text(check, row, key, item);
        else
            findings_add(check->findings, SEVERITY_ERROR, at(check, item->place),
                         "write each in quotes", "%s has %s in its list, expected texts", key,
                         node_kind_name(item->kind));
    }
}

/* ---- tables */

static void check_table(const struct value_check *check, const struct schema_row *row,
                        const char *key, const struct node *node);

static void check_tables(const struct value_check *check, const struct schema_row *row,
                         const char *key, const struct node *node)
{
    auto_buffer struct buffer item_key = { 0 };

    buffer_printf(&item_key, "%s[]", key);
    if (item_key.failed) {
        check->findings->failed = true;
        return;
    }
    if (node->kind != NODE_ARRAY) {
        not_expected(check, row, key, node,
                     strchr(key, '.') ? NULL : "write [[ ]] around its name");
        return;
    }
    for (const struct node *item = node->array->first; item; item = item->next)
        check_table(check, row, item_key.data, item);
}

static void check_any(const struct value_check *check, const struct schema_row *row,
                      const char *key, const struct node *node)
{
    if (row->type == SCHEMA_TABLE)
        check_table(check, row, key, node);
    else if (row->type == SCHEMA_TABLES)
        check_tables(check, row, key, node);
    else if (row->flags & SCHEMA_LIST || (row->type == SCHEMA_COMMAND && !value_text(node)))
        check_list(check, row, key, node);
    else
        check_scalar(check, row, key, node);
}

/* A name that the author chose; it becomes a part of messages, file names and variables. */
static const char *name_mistake(struct node_string name)
{
    if (name.length == 0)
        return "is empty";
    if (name.length > 255)
        return "is longer than 255 bytes";
    for (size_t i = 0; i < name.length; i++)
        if ((unsigned char)name.bytes[i] < 0x20 || name.bytes[i] == 0x7f)
            return "has a control character in it";
    return NULL;
}

static void unknown_key(const struct value_check *check, const struct schema_row *row,
                        const char *key, const struct node_entry *entry)
{
    const char *names[MAX_KEYS + 1] = { NULL };
    char fix[128] = "coop-policy(5) lists the keys";
    size_t n = 0;
    int length = entry->key.length > KEY_SHOWN ? KEY_SHOWN : (int)entry->key.length;

    if (check->findings->n < FINDINGS_MAX) {
        for (const struct schema_row *child = NULL; (child = schema_next_child(row, child));)
            if (n < MAX_KEYS && *schema_key(child) != '*')
                names[n++] = schema_key(child);
        const char *near = suggest(entry->key.bytes, names);
        if (near)
            (void)snprintf(fix, sizeof fix, "did you mean '%s'?", near);
    }
    findings_add(check->findings, SEVERITY_ERROR, at(check, entry->key_place), fix,
                 "unknown key '%.*s'%s%s", length, entry->key.bytes, *key ? " in " : "", key);
}

static void check_entry(const struct value_check *check, const struct schema_row *row,
                        const char *key, const struct node_entry *entry)
{
    const struct schema_row *child = schema_child(row, entry->key.bytes, entry->key.length);
    auto_buffer struct buffer path = { 0 };

    if (!child) {
        unknown_key(check, row, key, entry);
        return;
    }
    if (*schema_key(child) == '*') {
        const char *mistake = name_mistake(entry->key);

        if (mistake) {
            findings_add(check->findings, SEVERITY_ERROR, at(check, entry->key_place), NULL,
                         "a name in %s %s", key, mistake);
            return;
        }
    }
    buffer_printf(&path, "%s%s", key, *key ? "." : "");
    buffer_append(&path, entry->key.bytes, entry->key.length);
    if (path.failed)
        check->findings->failed = true;
    else
        check_any(check, child, path.data, &entry->value);
}

static void check_required(const struct value_check *check, const struct schema_row *row,
                           const char *key, const struct node *node)
{
    for (const struct schema_row *child = NULL; (child = schema_next_child(row, child));)
        if (child->flags & SCHEMA_REQUIRED && !node_get(node, schema_key(child)))
            findings_add(check->findings, SEVERITY_ERROR, at(check, node->place), child->help,
                         "%s has no '%s'", key, schema_key(child));
}

/* ---- keys that go together, or do not */

static void check_one_of(const struct value_check *check, const char *key, const struct node *node,
                         const char *const *keys, const char *all)
{
    const struct node *first = NULL;

    for (; *keys; keys++) {
        const struct node *value = node_get(node, *keys);

        if (first && value)
            findings_add(check->findings, SEVERITY_ERROR, at(check, value->place), NULL,
                         "%s has more than one of %s", key, all);
        if (!first)
            first = value;
    }
    if (!first)
        findings_add(check->findings, SEVERITY_ERROR, at(check, node->place), NULL,
                     "%s has none of %s", key, all);
}

static void check_secret(const struct value_check *check, const char *key, const struct node *node)
{
    static const char *const keys[] = { "value", "file", "command", "from", NULL };

    check_one_of(check, key, node, keys, "value, file, command and from");
}

static void check_expect(const struct value_check *check, const char *key, const struct node *node)
{
    static const char *const keys[] = { "deny", "allow", NULL };

    check_one_of(check, key, node, keys, "deny and allow");
}

static void check_command(const struct value_check *check, const char *key, const struct node *node)
{
    const struct node *restrictions = node_get(node, "subcommand_restrictions");

    for (size_t i = 0; restrictions && i < 2; i++) {
        const char *name = i ? "blocked" : "allowed";
        const struct node *other = node_get(restrictions, name);

        if (other && node_get(node, name))
            findings_add(check->findings, SEVERITY_ERROR, at(check, other->place), NULL,
                         "%s has '%s' in two places", key, name);
    }
}

/* Three seeds, three ways to choose the network; in one table they must mean the same. */
static void check_network(const struct value_check *check, const char *key, const struct node *node)
{
    enum { UNKNOWN = -1, OFF, NONE, GATE, NAT, HOST };
    const struct node *word = node_get(node, "network");
    const struct node *allow = node_get(node, "allow_network");
    const struct node *isolate = node_get(node, "isolate_network");
    bool is_allowed = false;
    bool is_isolated = false;
    const char *text = word ? value_text(word) : NULL;
    int network = text ? schema_word(schema_find("sandbox.network"), text) : UNKNOWN;
    bool has_allow = allow && value_bool(allow, &is_allowed) == 0;
    bool has_isolate = isolate && value_bool(isolate, &is_isolated) == 0;
    const char *fix = "write only 'network'";

    if (network != UNKNOWN && has_allow && is_allowed != (network >= GATE))
        findings_add(check->findings, SEVERITY_ERROR, at(check, allow->place), fix,
                     "%s has network = \"%s\" and allow_network = %s, which contradict each other",
                     key, text, is_allowed ? "true" : "false");
    if (network != UNKNOWN && has_isolate && is_isolated == (network == HOST))
        findings_add(
            check->findings, SEVERITY_ERROR, at(check, isolate->place), fix,
            "%s has network = \"%s\" and isolate_network = %s, which contradict each other", key,
            text, is_isolated ? "true" : "false");
    if (network == UNKNOWN && has_allow && has_isolate && is_allowed == is_isolated)
        findings_add(
            check->findings, SEVERITY_ERROR, at(check, isolate->place), fix,
            "%s has allow_network = %s and isolate_network = %s, which contradict each other", key,
            is_allowed ? "true" : "false", is_isolated ? "true" : "false");
}

static const struct {
    const char *path;
    void (*check)(const struct value_check *check, const char *key, const struct node *node);
} together[] = {
    { "secrets.*", check_secret },        { "expect", check_expect },
    { "commands.*", check_command },      { "sandbox", check_network },
    { "users[].sandbox", check_network }, { "cron[].sandbox", check_network },
};

static void check_table(const struct value_check *check, const struct schema_row *row,
                        const char *key, const struct node *node)
{
    if (node->kind != NODE_TABLE) {
        const char *text = value_text(node);
        bool is_none = text && row->flags & SCHEMA_NONE && strcmp(text, "none") == 0;
        /* In YAML, a key with nothing behind it. */
        bool is_empty = node->kind == NODE_TEXT && node->string.length == 0;

        if (!is_none && !is_empty)
            not_expected(check, row, key, node, NULL);
        return;
    }
    for (const struct node_entry *entry = node->table->first; entry; entry = entry->next)
        check_entry(check, row, key, entry);
    check_required(check, row, key, node);
    for (size_t i = 0; i < COUNT(together); i++)
        if (strcmp(together[i].path, row->path) == 0)
            together[i].check(check, key, node);
}

/* One key in two spellings, in two tables of one file: sandbox.network and network.mode. */
static void check_spellings(const struct value_check *check, const char *table, const char *key,
                            const char *other_table, const char *other_key)
{
    const struct node *one = node_get(&check->document->root, table);
    const struct node *other = node_get(&check->document->root, other_table);

    one = one ? node_get(one, key) : NULL;
    other = other ? node_get(other, other_key) : NULL;
    if (one && other)
        findings_add(check->findings, SEVERITY_ERROR, at(check, other->place), "write one of them",
                     "%s.%s and %s.%s (line %u) are the same key", other_table, other_key, table,
                     key, one->place.line);
}

size_t check_document(const struct document *document, struct findings *findings)
{
    const struct value_check check = { document, findings };
    size_t n_errors = findings->n_errors;

    for (const struct node_entry *e = document->root.table->first; e; e = e->next)
        check_entry(&check, NULL, "", e);
    check_spellings(&check, "sandbox", "network", "network", "mode");
    check_spellings(&check, "sandbox", "env_passthrough", "environment", "pass");
    return findings->n_errors - n_errors;
}

void config_check_value(const struct document *document, const struct schema_row *row,
                        const char *key, const struct node *node, struct findings *findings)
{
    const struct value_check check = { document, findings };

    check_any(&check, row, key, node);
}
