/*
 * literal.c - a text that every match holds
 *
 * Looking for it is much faster than matching, and most patterns have one. Only the sequence at the
 * top, and what it needs at least once, is searched for it; the longest one is taken.
 */
#include <string.h>

#include "base/regex/private.h"

struct finder {
    const struct regex_tree *tree;
    struct regex_literal best;
    struct regex_literal run;
};

static void end_run(struct finder *finder)
{
    if (finder->run.n > finder->best.n)
        finder->best = finder->run;
    finder->run = (struct regex_literal){ 0 };
}

/* Characters come from the last to the first. */
static void add_character(struct finder *finder, const struct regex_node *node)
{
    struct regex_literal *run = &finder->run;
    unsigned char bytes[4];
    size_t n = regex_encode(node->character, bytes);

    if (run->n + n > FIND_BYTES_MAX)
        end_run(finder);
    memmove(run->bytes + n, run->bytes, run->n);
    memcpy(run->bytes, bytes, n);
    run->n += n;
    run->folds |= node->folds;
}

static void look(struct finder *finder, uint32_t at)
{
    const struct regex_node *node = &finder->tree->nodes[at];

    switch ((enum regex_kind)node->kind) {
    case REGEX_EMPTY:
    case REGEX_ASSERTION:
        return; /* takes no room */
    case REGEX_CHARACTER:
        add_character(finder, node);
        return;
    case REGEX_SEQUENCE:
        for (uint32_t child = node->first; child != REGEX_NONE;
             child = finder->tree->nodes[child].next)
            look(finder, child);
        return;
    case REGEX_REPEAT:
        end_run(finder);
        if (node->min > 0)
            look(finder, node->first);
        end_run(finder);
        return;
    case REGEX_SET:
    case REGEX_ALTERNATIVE:
        end_run(finder);
        return;
    }
}

/* Whether it is nothing but one text, of which each letter ignores case or none does. */
static bool is_plain(const struct regex_tree *tree, bool folds)
{
    const struct regex_node *root = &tree->nodes[tree->root];

    if (root->kind != REGEX_SEQUENCE)
        return false;
    for (uint32_t child = root->first; child != REGEX_NONE; child = tree->nodes[child].next) {
        const struct regex_node *node = &tree->nodes[child];
        bool is_letter = (node->character | 0x20) >= 'a' && (node->character | 0x20) <= 'z';

        if (node->kind != REGEX_CHARACTER || (folds && is_letter && !node->folds))
            return false;
    }
    return true;
}

static size_t length_of(const struct regex_tree *tree)
{
    unsigned char bytes[4];
    size_t n = 0;

    for (uint32_t child = tree->nodes[tree->root].first; child != REGEX_NONE;
         child = tree->nodes[child].next)
        n += regex_encode(tree->nodes[child].character, bytes);
    return n;
}

void regex_find_literal(const struct regex_tree *tree, struct regex_literal *out)
{
    struct finder finder = { .tree = tree };

    look(&finder, tree->root);
    end_run(&finder);
    *out = finder.best;
    out->is_all = out->n > 0 && is_plain(tree, out->folds) && length_of(tree) == out->n;
}
