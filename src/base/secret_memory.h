/*
 * secret_memory.h - memory for what must not stay behind
 *
 *   auto_secret char *value = secret_new(n);      zeroed, n + 1 bytes; NULL: out of memory
 *
 * Pages of their own: left out of core dumps, kept from swap where the limits allow it, and wiped
 * before they go back. Larger by a page than what is asked for, so for few and precious things.
 */
#pragma once

#include <stddef.h>

char *secret_new(size_t n);
char *secret_copy(const char *bytes, size_t n); /* with a NUL behind it */
void secret_free(char *memory);                 /* NULL is fine */

static inline void secret_free_at_exit(char **memory)
{
    secret_free(*memory);
}
#define auto_secret __attribute__((cleanup(secret_free_at_exit)))
