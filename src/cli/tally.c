#include "tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS (4u * TALLY_MAX)

int tally_init(struct tally *tally)
{
    *tally = (struct tally){ .items = calloc(TALLY_MAX, sizeof *tally->items),
                             .slots = calloc(SLOTS, sizeof *tally->slots) };
    return tally->items && tally->slots ? 0 : -ENOMEM;
}

void tally_done(struct tally *tally)
{
    for (size_t i = 0; i < tally->n; i++)
        free(tally->items[i].text);
    free(tally->items);
    free(tally->slots);
    *tally = (struct tally){ 0 };
}

/* Whoever chooses texts that collide slows a walk over at most TALLY_MAX slots. */
static uint32_t hash_of(const char *text, size_t n)
{
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}

int tally_add(struct tally *tally, const char *text, size_t n, uint64_t count, uint64_t denied)
{
    uint32_t slot = hash_of(text, n) % SLOTS;

    for (; tally->slots[slot]; slot = (slot + 1) % SLOTS) {
        struct tally_item *item = &tally->items[tally->slots[slot] - 1];

        if (strlen(item->text) == n && memcmp(item->text, text, n) == 0) {
            item->count += count;
            item->denied += denied;
            return 0;
        }
    }
    if (tally->n == TALLY_MAX) {
        tally->others += count;
        return 0;
    }
    char *copy = strndup(text, n);
    if (!copy)
        return -ENOMEM;
    tally->items[tally->n++] = (struct tally_item){ copy, count, denied };
    tally->slots[slot] = (uint32_t)tally->n;
    return 0;
}

static int compare(const void *a, const void *b)
{
    const struct tally_item *x = a;
    const struct tally_item *y = b;

    return x->count != y->count ? (x->count < y->count) - (x->count > y->count)
                                : strcmp(x->text, y->text);
}

void tally_sort(struct tally *tally)
{
    if (tally->n)
        qsort(tally->items, tally->n, sizeof *tally->items, compare);
}
