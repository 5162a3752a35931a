#include "known.h"

#include <string.h>

const struct known_rule *known_rule_find(const char *text, size_t length)
{
    size_t from = 0;
    size_t to = n_known_rules;

    while (from < to) {
        size_t middle = from + (to - from) / 2;
        const struct known_rule *known = &known_rules[middle];
        int order = strncmp(text, known->text, length);

        if (order == 0 && !known->text[length])
            return known;
        if (order > 0)
            from = middle + 1;
        else
            to = middle;
    }
    return NULL;
}
