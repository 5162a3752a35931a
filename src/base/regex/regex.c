#include "regex.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/regex/private.h"

/* Text that every match holds is not looked for any more when it was found this often in lines that
 * do not match, once in so many bytes: then it costs more than it saves. */
#define POOR_TIMES 32
#define POOR_BYTES 200

struct regex {
    struct regex_program program;
    struct regex_stepper stepper;
    struct regex_tables *tables;
    struct regex_literal literal;
    struct find_bytes find;
};

int regex_new(const char *pattern, size_t n, unsigned flags, struct regex **out, coop_error **err)
{
    struct regex *regex = calloc(1, sizeof *regex);
    struct regex_tree tree = { 0 };

    if (!regex)
        return fail_no_memory(err);
    int r = regex_parse(pattern, n, flags, &tree, err);
    if (r == 0)
        r = regex_compile(&tree, &regex->program, err);
    if (r == 0)
        r = regex_stepper_init(&regex->stepper, &regex->program, err);
    if (r == 0)
        r = regex_tables_new(&regex->stepper, &regex->tables, err);
    if (r == 0)
        regex_find_literal(&tree, &regex->literal);
    regex_tree_done(&tree);
    if (r < 0) {
        regex_free(regex);
        return r;
    }
    if (regex->literal.n > 0)
        find_bytes_init(&regex->find, regex->literal.bytes, regex->literal.n, regex->literal.folds);
    *out = regex;
    return 0;
}

void regex_free(struct regex *regex)
{
    if (!regex)
        return;
    regex_tables_free(regex->tables);
    regex_stepper_done(&regex->stepper);
    regex_program_done(&regex->program);
    free(regex);
}

/* The line of text[from..n) around `at`. */
static void find_line(const char *text, size_t n, size_t from, size_t at, struct regex_line *out)
{
    const char *before = at > from ? memrchr(text + from, '\n', at - from) : NULL;
    const char *behind = at < n ? memchr(text + at, '\n', n - at) : NULL;

    out->begin = before ? (size_t)(before - text) + 1 : from;
    out->end = behind ? (size_t)(behind - text) : n;
    out->hit = at;
    out->next = behind ? out->end + 1 : n;
}

static bool run(struct regex *regex, const char *text, size_t n, size_t *at)
{
    enum regex_verdict verdict = regex_tables_run(regex->tables, text, n, at);

    if (verdict == REGEX_TOO_MANY_ROWS)
        verdict = regex_states_run(regex->tables, text, n, at);
    return verdict == REGEX_LINE;
}

bool regex_next(struct regex *regex, const char *text, size_t n, size_t from,
                struct regex_line *out)
{
    const size_t begin = from;
    size_t n_poor = 0;

    if (from >= n)
        return false;
    if (regex->stepper.matches_all) {
        find_line(text, n, from, from, out);
        return true;
    }
    while (regex->literal.n > 0 && from < n) {
        if (n_poor > POOR_TIMES && (from - begin) / n_poor < POOR_BYTES)
            break;
        size_t at = find_bytes_in(&regex->find, text, n, from);
        if (at == FIND_BYTES_NOT)
            return false;
        struct regex_line line;
        find_line(text, n, from, at, &line);
        if (regex->literal.is_all) {
            *out = line;
            return true;
        }
        at = line.begin;
        if (run(regex, text, line.end, &at)) {
            line.hit = at;
            *out = line;
            return true;
        }
        n_poor++;
        from = line.next;
    }
    size_t at = from;
    if (from >= n || !run(regex, text, n, &at))
        return false;
    find_line(text, n, from, at, out);
    return true;
}
