/*
 * freestanding.c - the few functions of <string.h> that the init image needs
 *
 * Compiled with -fno-builtin and without loop idioms, or they would call themselves.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    char *p = to;
    const char *q = from;

    while (n-- > 0)
        *p++ = *q++;
    return to;
}

void *memset(void *memory, int byte, size_t n)
{
    char *p = memory;

    while (n-- > 0)
        *p++ = (char)byte;
    return memory;
}

int memcmp(const void *a, const void *b, size_t n)
{
    const unsigned char *p = a;
    const unsigned char *q = b;

    for (; n > 0; n--, p++, q++)
        if (*p != *q)
            return *p < *q ? -1 : 1;
    return 0;
}

void *memchr(const void *memory, int byte, size_t n)
{
    const unsigned char *p = memory;

    for (; n > 0; n--, p++)
        if (*p == (unsigned char)byte)
            return (void *)(uintptr_t)p;
    return NULL;
}

size_t strlen(const char *text)
{
    const char *end = text;

    while (*end)
        end++;
    return (size_t)(end - text);
}

int strncmp(const char *a, const char *b, size_t n)
{
    for (; n > 0 && *a && *a == *b; n--)
        a++, b++;
    return n == 0 ? 0 : (unsigned char)*a - (unsigned char)*b;
}

int strcmp(const char *a, const char *b)
{
    return strncmp(a, b, (size_t)-1);
}

size_t strspn(const char *text, const char *accept)
{
    size_t n = 0;

    for (; text[n]; n++) {
        const char *p = accept;

        while (*p && *p != text[n])
            p++;
        if (!*p)
            break;
    }
    return n;
}

size_t strcspn(const char *text, const char *reject)
{
    size_t n = 0;

    for (; text[n]; n++)
        for (const char *p = reject; *p; p++)
            if (*p == text[n])
                return n;
    return n;
}
