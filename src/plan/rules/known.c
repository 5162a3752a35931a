#include "door_known.h"

#include <string.h>

const struct door_known *door_known(const char *text, size_t length)
{
    size_t from = 0;
    size_t to = door_n_known_patterns;

    while (from < to) {
        size_t middle = from + (to - from) / 2;
        const struct door_known *known = &door_known_patterns[middle];
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
