#include "names.h"

#include <stdlib.h>
#include <string.h>

#include "base/siphash.h"

#define FIRST_OFFSET 0x100u      /* of the first name, in both ranges */
#define IPV4_RANGE   0xc6120000u /* 198.18.0.0/15 */
#define IPV4_SIZE    0x20000u

static const uint8_t ipv6_range[6] = { 0xfd, 0x63, 0x6f, 0x6f, 0x70, 0x00 };
static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

void gate_names_init(struct gate_names *names, const uint64_t hash_key[2])
{
    *names = (struct gate_names){ .hash_key = { hash_key[0], hash_key[1] } };
}

/* ---- by text */

static uint32_t *slot_of(const struct gate_names *names, const char *text)
{
    uint32_t slot = (uint32_t)siphash(names->hash_key, text, strlen(text));

    for (;; slot++) {
        uint32_t *at = &names->slots[slot & (names->n_slots - 1)];

        if (!*at || strcmp(names->names[*at - 1]->text, text) == 0)
            return at;
    }
}

/* Twice as many slots as names, always. */
static bool grow(struct gate_names *names)
{
    uint32_t capacity = names->capacity ? 2 * names->capacity : 64;
    struct gate_name **moved = realloc(names->names, capacity * sizeof(struct gate_name *));

    if (!moved)
        return false;
    names->names = moved;
    uint32_t *slots = calloc(2 * (size_t)capacity, sizeof *slots);
    if (!slots)
        return false;
    free(names->slots);
    names->slots = slots;
    names->n_slots = 2 * capacity;
    names->capacity = capacity;
    for (uint32_t i = 0; i < names->n; i++)
        *slot_of(names, names->names[i]->text) = i + 1;
    return true;
}

struct gate_name *gate_names_add(struct gate_names *names, const char *text, bool is_free)
{
    if (names->n == names->capacity && !grow(names))
        return NULL;
    uint32_t *slot = slot_of(names, text);
    if (*slot)
        return names->names[*slot - 1];
    if (names->n == GATE_NAMES_MOST || (is_free && names->n_free == GATE_NAMES_MOST_FREE))
        return NULL;
    size_t size = strlen(text) + 1;
    struct gate_name *name = malloc(sizeof *name + size);
    if (!name)
        return NULL;
    *name = (struct gate_name){ .index = names->n };
    memcpy(name->text, text, size);
    names->names[names->n++] = name;
    names->n_free += is_free;
    *slot = names->n;
    return name;
}

/* ---- by address */

void gate_names_ipv4(const struct gate_name *name, uint8_t out[4])
{
    uint32_t address = IPV4_RANGE + FIRST_OFFSET + name->index;

    for (unsigned i = 0; i < 4; i++)
        out[i] = (uint8_t)(address >> (24 - 8 * i));
}

void gate_names_ipv6(const struct gate_name *name, uint8_t out[16])
{
    uint32_t offset = FIRST_OFFSET + name->index;

    memset(out, 0, 16);
    memcpy(out, ipv6_range, sizeof ipv6_range);
    for (unsigned i = 0; i < 4; i++)
        out[12 + i] = (uint8_t)(offset >> (24 - 8 * i));
}

static uint32_t number_at(const uint8_t bytes[4])
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

struct gate_name *gate_names_find(const struct gate_names *names, const uint8_t address[16],
                                  bool *out_is_ours)
{
    static const uint8_t zero[6];
    uint32_t offset = number_at(address + 12);

    *out_is_ours = false;
    if (memcmp(address, mapped, sizeof mapped) == 0) {
        offset -= IPV4_RANGE;
        if (offset >= IPV4_SIZE)
            return NULL;
        *out_is_ours = true;
    } else {
        if (memcmp(address, ipv6_range, sizeof ipv6_range) != 0)
            return NULL;
        *out_is_ours = true;
        if (memcmp(address + 6, zero, sizeof zero) != 0)
            return NULL;
    }
    if (offset < FIRST_OFFSET || offset - FIRST_OFFSET >= names->n)
        return NULL;
    return names->names[offset - FIRST_OFFSET];
}
