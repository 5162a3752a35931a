/*
 * toml.c - a TOML file is lines: [table], [[array of tables]], key = value
 */
#include "toml.h"

#include <errno.h>
#include <string.h>

#include "base/utf8.h"
#include "config/toml/private.h"

static int line_end(struct toml *toml)
{
    toml_skip_blanks(toml);
    int r = toml_skip_comment(toml);
    if (r < 0)
        return r;
    if (toml_skip_newline(toml) || (toml->at == toml->end && !toml->is_cut))
        return 0;
    return toml_unexpected(toml, "the end of the line", NULL);
}

static int expression(struct toml *toml)
{
    int r;

    if (toml_peek(toml) == '[')
        r = toml_header(toml);
    else
        r = toml_key_value(toml, toml->table, toml->table ? toml->table->level + 1 : 1);
    return r < 0 ? r : line_end(toml);
}

/*
 * After a mistake the next line is a good place to go on, unless the mistake lies in an array or a
 * string of several lines: nobody knows where its author thinks that it ends.
 */
static bool recover(struct toml *toml)
{
    const char *newline = memchr(toml->at, '\n', (size_t)(toml->end - toml->at));

    if (toml->is_hopeless || toml->n_spanning > 0 || !newline ||
        toml->n_syntax_errors >= TOML_SYNTAX_ERRORS_MAX)
        return false;
    toml->at = newline;
    return toml_skip_newline(toml);
}

static int read_all(struct toml *toml)
{
    for (;;) {
        int r = toml_skip_lines(toml);

        if (r == 0 && toml->at == toml->end)
            return toml->is_cut ? toml_unexpected(toml, "text", NULL) : 0;
        if (r == 0)
            r = expression(toml);
        if (r < 0 && !recover(toml))
            return r;
    }
}

static void skip_byte_order_mark(struct toml *toml)
{
    static const char mark[] = "\xEF\xBB\xBF";

    if (toml->end - toml->at >= 3 && memcmp(toml->at, mark, 3) == 0)
        toml->counted = toml->at += 3;
}

int toml_parse(const char *name, const char *text, size_t n, struct document **out,
               struct findings *findings)
{
    if (n > NODE_TEXT_MAX) {
        findings_add(findings, SEVERITY_ERROR, (struct origin){ .name = name }, NULL,
                     "the file is larger than %zu MiB", NODE_TEXT_MAX >> 20);
        return -EINVAL;
    }
    struct document *document = document_new(name);
    if (!document) {
        findings->failed = true;
        return -ENOMEM;
    }
    size_t n_valid = utf8_valid_prefix(text, n);
    struct toml toml = {
        .at = text,
        .end = text + n_valid,
        .is_cut = n_valid < n,
        .line = 1,
        .counted = text,
        .column = 1,
        .document = document,
        .table = document->root.table,
        .findings = findings,
    };
    document->root.table->how = TOML_HEADER;
    skip_byte_order_mark(&toml);
    int r = read_all(&toml);
    buffer_wipe(&toml.scratch);
    if (r == 0 && toml.n_errors == 0) {
        *out = document;
        return 0;
    }
    document_free(document);
    return r == -ENOMEM ? r : -EINVAL;
}
