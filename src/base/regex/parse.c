/*
 * parse.c - patterns, read
 *
 * By descent, one function for each level of the grammar:
 *
 *   alternatives   sequence | sequence ...
 *   sequence       piece piece ...
 *   piece          atom, and how often
 *   atom           character, set, group, assertion
 *
 * A node's number, or a negative errno, is what they return.
 */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/regex/parse.h"
#include "base/utf8.h"

static int64_t parse_alternatives(struct regex_parser *parser);

int regex_complain(struct regex_parser *parser, const char *at, const char *problem,
                   const char *instead)
{
    /* characters, as a person counts them */
    size_t place = 1;

    for (const char *c = parser->begin; c < at; c++)
        place += !utf8_is_continuation((unsigned char)*c);
    return fail_kind(parser->err, COOP_ERROR_BAD_POLICY, EINVAL,
                     "the pattern has %s at character %zu: %s", problem, place, instead);
}

/* ---- nodes */

int64_t regex_add_node(struct regex_parser *parser, struct regex_node node)
{
    struct regex_tree *tree = parser->tree;

    if (tree->n_nodes == tree->nodes_capacity) {
        size_t wanted = tree->nodes_capacity ? 2 * tree->nodes_capacity : 64;
        void *more = reallocarray(tree->nodes, wanted, sizeof *tree->nodes);

        if (!more)
            return fail_no_memory(parser->err);
        tree->nodes = more;
        tree->nodes_capacity = wanted;
    }
    tree->nodes[tree->n_nodes] = node;
    return (int64_t)tree->n_nodes++;
}

static int64_t add_kind(struct regex_parser *parser, enum regex_kind kind)
{
    return regex_add_node(
        parser,
        (struct regex_node){ .kind = (uint8_t)kind, .first = REGEX_NONE, .next = REGEX_NONE });
}

/* In front of its siblings: the children of a sequence stand in reverse. */
static void add_child(struct regex_parser *parser, int64_t parent, int64_t child)
{
    struct regex_node *nodes = parser->tree->nodes;

    nodes[child].next = nodes[parent].first;
    nodes[parent].first = (uint32_t)child;
}

int64_t regex_add_character(struct regex_parser *parser, uint32_t c)
{
    uint32_t other = parser->ignores_case ? regex_other_case(c) : c;

    if (other == c || c < 0x80) {
        int64_t node = add_kind(parser, REGEX_CHARACTER);
        if (node >= 0) {
            parser->tree->nodes[node].character = other != c ? c | 0x20 : c; /* the small letter */
            parser->tree->nodes[node].folds = other != c;
        }
        return node;
    }
    struct regex_set set = { 0 };
    regex_set_add(&set, c, c);
    regex_set_add(&set, other, other);
    return regex_add_set(parser, &set, false);
}

/* Takes the set. */
int64_t regex_add_set(struct regex_parser *parser, struct regex_set *set, bool is_negated)
{
    struct regex_set *all = &parser->tree->ranges;
    struct regex_node node = { .kind = REGEX_SET, .first = REGEX_NONE, .next = REGEX_NONE };

    if (parser->ignores_case)
        regex_set_fold(set);
    regex_set_tidy(set, is_negated);
    node.ranges = (uint32_t)all->n;
    node.n_ranges = (uint32_t)set->n;
    for (size_t i = 0; i < set->n; i++)
        regex_set_add(all, set->items[i].from, set->items[i].to);
    all->failed |= set->failed;
    regex_set_done(set);
    if (all->failed)
        return fail_no_memory(parser->err);
    return regex_add_node(parser, node);
}

/* ---- how often */

static bool read_number(const char **at, const char *end, uint32_t *out)
{
    const char *from = *at;
    uint32_t value = 0;

    for (; *at < end && **at >= '0' && **at <= '9'; (*at)++) {
        if (value <= REGEX_REPEAT_MAX)
            value = value * 10 + (uint32_t)(**at - '0');
    }
    *out = value;
    return *at > from;
}

/* After a '{'. What is no repetition is a brace: 1 if it is one, 0 if not. */
static int read_bounds(struct regex_parser *parser, uint32_t *min, uint32_t *max)
{
    const char *at = parser->at + 1;
    bool has_min = read_number(&at, parser->end, min);
    bool has_max = has_min;

    *max = *min;
    if (at < parser->end && *at == ',') {
        at++;
        has_max = read_number(&at, parser->end, max);
        if (!has_max)
            *max = REGEX_NO_LAST;
    }
    if ((!has_min && !has_max) || at == parser->end || *at != '}')
        return 0;
    if (*min > REGEX_REPEAT_MAX || (has_max && *max > REGEX_REPEAT_MAX))
        return regex_complain(parser, parser->at, "a repetition of more than 1000 times",
                              "repeat fewer times, or use '*' or '+'");
    if (*max < *min)
        return regex_complain(parser, parser->at, "a repetition {n,m} with m smaller than n",
                              "write the smaller number first");
    parser->at = at + 1;
    return 1;
}

/* 1: there is one and it was read, 0: there is none. */
static int read_quantifier(struct regex_parser *parser, uint32_t *min, uint32_t *max)
{
    if (parser->at == parser->end)
        return 0;
    switch (*parser->at) {
    case '*':
        *min = 0;
        *max = REGEX_NO_LAST;
        break;
    case '+':
        *min = 1;
        *max = REGEX_NO_LAST;
        break;
    case '?':
        *min = 0;
        *max = 1;
        break;
    case '{':
        return read_bounds(parser, min, max);
    default:
        return 0;
    }
    parser->at++;
    return 1;
}

static int64_t parse_piece(struct regex_parser *parser)
{
    uint32_t min, max;
    int64_t atom = regex_parse_atom(parser);

    if (atom < 0)
        return atom;
    int r = read_quantifier(parser, &min, &max);
    if (r < 0)
        return r;
    if (r == 0)
        return atom;
    /* whether it takes much or little makes no difference to whether a line matches */
    if (parser->at < parser->end && *parser->at == '?')
        parser->at++;
    const char *second = parser->at;
    uint32_t unused_min, unused_max;
    r = read_quantifier(parser, &unused_min, &unused_max);
    if (r < 0)
        return r;
    if (r > 0)
        return regex_complain(parser, second, "a quantifier behind another one",
                              "possessive quantifiers such as '*+' do not exist here; to repeat a "
                              "repetition write '(?:x*)+', and escape a plain '*', '+' or '?' "
                              "with a backslash");
    int64_t repeat = add_kind(parser, REGEX_REPEAT);
    if (repeat < 0)
        return repeat;
    parser->tree->nodes[repeat].min = min;
    parser->tree->nodes[repeat].max = max;
    add_child(parser, repeat, atom);
    return repeat;
}

/* ---- groups */

int64_t regex_parse_group(struct regex_parser *parser, const char *open)
{
    bool outer = parser->ignores_case;

    if (++parser->depth > REGEX_NESTING_MAX)
        return regex_complain(parser, open, "groups nested more than 200 deep", "nest less");
    int r = regex_parse_options(parser, open);
    if (r < 0)
        return r;
    if (r == REGEX_OPTIONS_ALONE) { /* "(?i)": until the group around it ends */
        parser->depth--;
        return add_kind(parser, REGEX_EMPTY);
    }
    int64_t inside = parse_alternatives(parser);
    if (inside < 0)
        return inside;
    if (parser->at == parser->end)
        return regex_complain(parser, open, "a '(' without its ')'",
                              "close it; for a plain parenthesis write '\\('");
    parser->at++;
    parser->depth--;
    parser->ignores_case = outer;
    return inside;
}

static int64_t parse_sequence(struct regex_parser *parser)
{
    int64_t sequence = add_kind(parser, REGEX_SEQUENCE);

    while (sequence >= 0 && parser->at < parser->end && *parser->at != '|') {
        if (*parser->at == ')') {
            if (parser->depth > 0)
                break;
            return regex_complain(parser, parser->at, "a ')' without its '('",
                                  "remove it; for a plain parenthesis write '\\)'");
        }
        int64_t piece = parse_piece(parser);
        if (piece < 0)
            return piece;
        add_child(parser, sequence, piece);
    }
    return sequence;
}

static int64_t parse_alternatives(struct regex_parser *parser)
{
    int64_t first = parse_sequence(parser);

    if (first < 0 || parser->at == parser->end || *parser->at != '|')
        return first;
    int64_t alternative = add_kind(parser, REGEX_ALTERNATIVE);
    if (alternative < 0)
        return alternative;
    add_child(parser, alternative, first);
    while (parser->at < parser->end && *parser->at == '|') {
        parser->at++;
        int64_t next = parse_sequence(parser);
        if (next < 0)
            return next;
        add_child(parser, alternative, next);
    }
    return alternative;
}

/* ---- the whole */

static int64_t parse_literal(struct regex_parser *parser)
{
    int64_t sequence = add_kind(parser, REGEX_SEQUENCE);

    while (sequence >= 0 && parser->at < parser->end) {
        uint32_t c;

        parser->at +=
            utf8_decode((const unsigned char *)parser->at, (size_t)(parser->end - parser->at), &c);
        int64_t character = regex_add_character(parser, c);
        if (character < 0)
            return character;
        add_child(parser, sequence, character);
    }
    return sequence;
}

int regex_parse(const char *pattern, size_t n, unsigned flags, struct regex_tree *out,
                coop_error **err)
{
    struct regex_tree tree = { 0 };
    struct regex_parser parser = { .begin = pattern,
                                   .at = pattern,
                                   .end = pattern + n,
                                   .ignores_case = flags & REGEX_IGNORE_CASE,
                                   .tree = &tree,
                                   .err = err };
    const char *newline = memchr(pattern, '\n', n);
    int64_t root;

    if (n > REGEX_PATTERN_MAX)
        root = fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "the pattern is longer than %d bytes",
                         REGEX_PATTERN_MAX);
    else if (utf8_valid_prefix(pattern, n) != n)
        root = regex_complain(&parser, pattern + utf8_valid_prefix(pattern, n),
                              "bytes that are not UTF-8", "write the pattern in UTF-8");
    else if (newline)
        root = regex_complain(&parser, newline, REGEX_LINE_BREAK, REGEX_LINE_BREAK_INSTEAD);
    else
        root = flags & REGEX_LITERAL ? parse_literal(&parser) : parse_alternatives(&parser);
    if (root < 0) {
        regex_tree_done(&tree);
        return (int)root;
    }
    tree.root = (uint32_t)root;
    *out = tree;
    return 0;
}

void regex_tree_done(struct regex_tree *tree)
{
    free(tree->nodes);
    regex_set_done(&tree->ranges);
    *tree = (struct regex_tree){ 0 };
}
