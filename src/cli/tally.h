/*
 * tally.h - how often each of many texts came, in bounded memory
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define TALLY_MAX 4096 /* different texts; further ones are counted together */

struct tally_item {
    char *text;
    uint64_t count, denied;
};

struct tally {
    struct tally_item *items; /* TALLY_MAX */
    uint32_t *slots;          /* 1 + the place in items; 0: free */
    size_t n;
    uint64_t others; /* of texts that there was no room for */
};

int tally_init(struct tally *tally); /* -ENOMEM */
void tally_done(struct tally *tally);
int tally_add(struct tally *tally, const char *text, size_t n, uint64_t count, uint64_t denied);
/* The most frequent first; of equals, by their text. No more can be added then. */
void tally_sort(struct tally *tally);
