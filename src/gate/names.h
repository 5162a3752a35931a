/*
 * names.h - one made-up address for each name
 *
 * The name with index i has 198.18.1.0 + i and fd63:6f6f:7000::100 + i, so that an address says the
 * name to which a program wants to connect. A program may keep an address as long as it runs:
 * none is ever given to another name, and a name never loses its own. Names of the rules have
 * theirs from the start; those that only a pattern allows are code's own choice, so they are capped.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GATE_NAMES_MOST_FREE 4096           /* that are not written in a rule */
#define GATE_NAMES_MOST      (131072 - 512) /* addresses of the range */
#define GATE_NAME_SIZE       256

struct gate_answer;
struct gate_question;

struct gate_name {
    uint32_t index;
    struct gate_answer *answer;     /* gate/resolver.h; NULL: not asked for yet */
    struct gate_question *question; /* being asked for */
    char text[];                    /* lower case, no dot at the end */
};

struct gate_names {
    uint64_t hash_key[2];
    struct gate_name **names; /* by index */
    uint32_t n, n_free, capacity;
    uint32_t *slots; /* index + 1; 0: free */
    uint32_t n_slots;
};

void gate_names_init(struct gate_names *names, const uint64_t hash_key[2]);

/*
 * The name's entry, a new one where it has none; NULL: no more can be had. `text` is in lower case.
 * is_free: no rule names it itself.
 */
struct gate_name *gate_names_add(struct gate_names *names, const char *text, bool is_free);

void gate_names_ipv4(const struct gate_name *name, uint8_t out[4]);
void gate_names_ipv6(const struct gate_name *name, uint8_t out[16]);

/* Whose address this is: 16 bytes, IPv4 mapped. *out_is_ours says whether it is one of the made-up
 * ranges, also where nobody has been given it. */
struct gate_name *gate_names_find(const struct gate_names *names, const uint8_t address[16],
                                  bool *out_is_ours);
