#include "arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT   alignof(uint64_t)
#define FIRST_BLOCK 4096
#define LAST_BLOCK  ((size_t)1 << 20) /* blocks double up to this */

struct arena_block {
    struct arena_block *next;
    size_t size; /* of bytes[] */
    size_t used;
    alignas(ALIGNMENT) unsigned char bytes[];
};

static struct arena_block *block_new(size_t size)
{
    struct arena_block *block = calloc(1, sizeof *block + size);

    if (block)
        block->size = size;
    return block;
}

void *arena_alloc(struct arena *arena, size_t n)
{
    struct arena_block *first = arena->blocks;

    if (n > SIZE_MAX / 4)
        return NULL;
    n = (n + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
    if (first && n <= first->size - first->used) {
        void *memory = first->bytes + first->used;

        first->used += n;
        return memory;
    }
    size_t size = first ? first->size * 2 : FIRST_BLOCK;
    size = size > LAST_BLOCK ? LAST_BLOCK : size;
    struct arena_block *block = block_new(n > size / 4 ? n : size);
    if (!block)
        return NULL;
    block->used = n;
    if (n > size / 4 && first) { /* full from birth: what has room stays first */
        block->next = first->next;
        first->next = block;
    } else {
        block->next = first;
        arena->blocks = block;
    }
    return block->bytes;
}

char *arena_copy(struct arena *arena, const void *bytes, size_t n)
{
    char *copy = arena_alloc(arena, n + 1);

    if (copy && n > 0)
        memcpy(copy, bytes, n);
    return copy;
}

void arena_done(struct arena *arena)
{
    while (arena->blocks) {
        struct arena_block *block = arena->blocks;

        arena->blocks = block->next;
        explicit_bzero(block->bytes, block->used); /* it may have held a secret */
        free(block);
    }
}
