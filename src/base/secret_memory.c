#include "secret_memory.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* In front of what is handed out. */
struct header {
    size_t size; /* of the mapping */
    size_t unused;
};

char *secret_new(size_t n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    if (n > SIZE_MAX / 2)
        return NULL;
    size_t size = (sizeof(struct header) + n + 1 + page - 1) & ~(page - 1);
    struct header *header =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (header == MAP_FAILED)
        return NULL;
    (void)madvise(header, size, MADV_DONTDUMP);
    (void)mlock(header, size); /* refused by RLIMIT_MEMLOCK: then it may be swapped */
    header->size = size;
    return (char *)(header + 1);
}

char *secret_copy(const char *bytes, size_t n)
{
    char *copy = secret_new(n);

    if (copy && n > 0)
        memcpy(copy, bytes, n);
    return copy;
}

void secret_free(char *memory)
{
    if (!memory)
        return;
    struct header *header = (struct header *)(void *)memory - 1;
    size_t size = header->size;
    explicit_bzero(header, size);
    (void)munmap(header, size);
}
