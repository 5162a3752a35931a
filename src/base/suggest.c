#include "suggest.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Nobody mistypes a word that is longer than this. */
enum { LONGEST = 63 };

static char fold(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;

    return least < c ? least : c;
}

/* Damerau-Levenshtein, each pair of letters swapped at most once; both at most LONGEST long. */
static size_t distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
    size_t rows[3][LONGEST + 1]; /* row i of the table lies at i % 3 */

    for (size_t j = 0; j <= n_b; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n_a; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3];
        const size_t *above_that = rows[(i + 1) % 3];

        row[0] = i;
        for (size_t j = 1; j <= n_b; j++) {
            char x = fold(a[i - 1]);
            char y = fold(b[j - 1]);

            row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == fold(b[j - 2]) && fold(a[i - 2]) == y &&
                above_that[j - 2] + 1 < row[j])
                row[j] = above_that[j - 2] + 1;
        }
    }
    return rows[n_a % 3][n_b];
}

/* How many mistypings are forgiven: few enough that most of the shorter word is still there. */
static size_t forgiven(size_t n_word, size_t n_candidate)
{
    size_t n = n_word < n_candidate ? n_word : n_candidate;

    if (n < 2)
        return 0;
    return n < 5 ? 1 : n < 8 ? 2 : 3;
}

static size_t count_dashes(const char *text)
{
    return strspn(text, "-");
}

static const char *nearest(const char *word, const char *const *candidates)
{
    size_t n_word = strlen(word);
    size_t n_dashes = count_dashes(word);
    const char *best = NULL;
    size_t least = LONGEST;

    for (; *candidates; candidates++) {
        size_t n = strlen(*candidates);

        if (n > LONGEST)
            continue;
        size_t d = distance(word, n_word, *candidates, n);
        /* The dashes of an option are not what makes it long. */
        if (d < least && d <= forgiven(n_word - n_dashes, n - count_dashes(*candidates))) {
            least = d;
            best = *candidates;
        }
    }
    return best;
}

static const char *only_completion(const char *word, const char *const *candidates)
{
    const char *found = NULL;

    for (; *candidates; candidates++) {
        if (strncmp(word, *candidates, strlen(word)) != 0)
            continue;
        if (found)
            return NULL;
        found = *candidates;
    }
    return found;
}

const char *suggest(const char *word, const char *const *candidates)
{
    size_t n = strlen(word);

    if (n > LONGEST)
        return NULL;
    const char *best = nearest(word, candidates);
    if (!best && n - count_dashes(word) >= 2)
        best = only_completion(word, candidates);
    return best;
}
