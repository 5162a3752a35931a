/*
 * allocator.c - the program's malloc(): one piece of memory, used from its beginning
 *
 * coop lives for two milliseconds when a command is short, and what a general allocator does for a
 * process that lives long (a mapping for every size, each given back at once) was a tenth of that: a
 * new page costs more than a thousand instructions. So blocks lie side by side in one array, a freed one is
 * taken again by the next request of its size, and only what is large is mapped.
 *
 * For the static program alone, which has one thread. The library uses its host's malloc().
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define UNIT   16u   /* of sizes, and the alignment */
#define FINE   1024u /* up to here by units, above by STEP */
#define STEP   512u
#define LARGE  (32u * 1024u) /* above this, a mapping of its own */
#define CHUNK  (256u * 1024u)
#define N_BINS (FINE / UNIT + LARGE / STEP + 1)

enum block_state { BLOCK_USED = 0x75736564, BLOCK_FREE = 0x66726565, BLOCK_MAPPED = 0x6d617070 };

struct block {
    size_t size; /* of what follows; of the whole mapping, less this, for one of its own */
    uint64_t state;
};
_Static_assert(sizeof(struct block) == UNIT, "what follows is aligned");

static _Alignas(UNIT) char first_chunk[CHUNK];
static char *next = first_chunk;  /* unused from here */
static char *fresh = first_chunk; /* never used from here: zero */
static char *end = first_chunk + CHUNK;
static struct block *bins[N_BINS]; /* the next one stands in the block */

static struct block *block_of(void *memory)
{
    return (struct block *)memory - 1;
}

static size_t rounded(size_t size)
{
    size_t unit = size <= FINE ? UNIT : STEP;

    return size ? (size + unit - 1) / unit * unit : UNIT;
}

static struct block **bin_of(size_t size)
{
    return &bins[size <= FINE ? size / UNIT : FINE / UNIT + (size - FINE) / STEP];
}

static void *map(size_t size)
{
    if (size > PTRDIFF_MAX - 2 * sizeof(struct block)) {
        errno = ENOMEM;
        return NULL;
    }
    size_t whole = (size + sizeof(struct block) + 4095) & ~(size_t)4095;
    struct block *block =
        mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        return NULL;
    *block = (struct block){ whole - sizeof *block, BLOCK_MAPPED };
    return block + 1;
}

static bool next_chunk(void)
{
    char *chunk = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (chunk == MAP_FAILED)
        return false;
    next = fresh = chunk;
    end = chunk + CHUNK;
    return true;
}

/* A block of a rounded size; *is_zero: its bytes are. */
static void *take(size_t size, bool *is_zero)
{
    struct block **bin = bin_of(size);
    struct block *block = *bin;

    *is_zero = false;
    if (block) {
        if (block->state != BLOCK_FREE)
            abort();
        memcpy(bin, (const void *)(block + 1), sizeof *bin);
    } else {
        if ((size_t)(end - next) < size + sizeof *block && !next_chunk())
            return NULL;
        block = (struct block *)next;
        next += sizeof *block + size;
        *is_zero = (char *)block >= fresh;
        if (next > fresh)
            fresh = next;
    }
    *block = (struct block){ size, BLOCK_USED };
    return block + 1;
}

void *malloc(size_t size)
{
    bool is_zero;

    return size > LARGE ? map(size) : take(rounded(size), &is_zero);
}

void *calloc(size_t n, size_t size)
{
    bool is_zero = true;
    size_t whole;

    if (__builtin_mul_overflow(n, size, &whole)) {
        errno = ENOMEM;
        return NULL;
    }
    void *memory = whole > LARGE ? map(whole) : take(rounded(whole), &is_zero);
    if (memory && !is_zero)
        memset(memory, 0, whole);
    return memory;
}

/* The last block of all goes back to what is unused, the others to those of their size. */
void free(void *memory)
{
    if (!memory)
        return;
    struct block *block = block_of(memory);
    if (block->state == BLOCK_MAPPED) {
        int error = errno;

        (void)munmap(block, block->size + sizeof *block);
        errno = error;
        return;
    }
    if (block->state != BLOCK_USED) /* twice, or written over */
        abort();
    block->state = BLOCK_FREE;
    if ((char *)memory + block->size == next) {
        next = (char *)block;
        return;
    }
    struct block **bin = bin_of(block->size);
    memcpy(memory, bin, sizeof *bin);
    *bin = block;
}

/* What is last of all grows where it is. */
static bool grow_in_place(struct block *block, size_t size)
{
    char *memory = (char *)(block + 1);

    if (block->state != BLOCK_USED || memory + block->size != next || size > LARGE ||
        (size_t)(end - memory) < rounded(size))
        return false;
    block->size = rounded(size);
    next = memory + block->size;
    if (next > fresh)
        fresh = next;
    return true;
}

void *realloc(void *memory, size_t size)
{
    if (!memory)
        return malloc(size);
    struct block *block = block_of(memory);
    if (size <= block->size || grow_in_place(block, size))
        return memory;
    void *larger = malloc(size);
    if (!larger)
        return NULL;
    memcpy(larger, memory, block->size);
    free(memory);
    return larger;
}
