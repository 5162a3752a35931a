/* The program's malloc() under other names, beside the one that the test itself uses. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/check.h"

#define malloc  tried_malloc
#define calloc  tried_calloc
#define realloc tried_realloc
#define free    tried_free
void *tried_malloc(size_t size);
void *tried_calloc(size_t n, size_t size);
void *tried_realloc(void *memory, size_t size);
void tried_free(void *memory);
#include "cli/allocator.c"
#undef malloc
#undef calloc
#undef realloc
#undef free

#define N_SLOTS 300

struct slot {
    unsigned char *memory;
    size_t size;
    unsigned char mark;
};

static unsigned state = 12345;

static unsigned random_below(unsigned n)
{
    state = state * 1103515245u + 12345u;
    return (state >> 8) % n;
}

static size_t random_size(void)
{
    switch (random_below(10)) {
    case 0:
        return random_below(200000);
    case 1:
    case 2:
        return random_below(20000);
    default:
        return random_below(300);
    }
}

static void fill(struct slot *slot, unsigned char mark)
{
    slot->mark = mark;
    memset(slot->memory, mark, slot->size);
}

static bool is_whole(const struct slot *slot, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (slot->memory[i] != slot->mark)
            return false;
    return true;
}

static void change(struct slot *slot, unsigned char mark)
{
    size_t size = random_size();

    if (!slot->memory) {
        bool is_zeroed = random_below(2) == 1;

        slot->memory = is_zeroed ? tried_calloc(1, size) : tried_malloc(size);
        slot->size = size;
        CHECK(slot->memory && (uintptr_t)slot->memory % 16 == 0);
        slot->mark = 0;
        CHECK(!is_zeroed || is_whole(slot, size));
        fill(slot, mark);
    } else if (random_below(3) == 0) {
        slot->memory = tried_realloc(slot->memory, size);
        CHECK(slot->memory && is_whole(slot, size < slot->size ? size : slot->size));
        slot->size = size;
        fill(slot, mark);
    } else {
        CHECK(is_whole(slot, slot->size));
        tried_free(slot->memory);
        slot->memory = NULL;
    }
}

TEST(blocks_keep_their_bytes)
{
    static struct slot slots[N_SLOTS];

    for (unsigned i = 0; i < 60000; i++)
        change(&slots[random_below(N_SLOTS)], (unsigned char)(i % 255 + 1));
    for (unsigned i = 0; i < N_SLOTS; i++)
        tried_free(slots[i].memory);
}

TEST(the_same_size_again_takes_no_more)
{
    void *first = tried_malloc(100);
    void *other = tried_malloc(50);

    tried_free(first);
    CHECK(tried_malloc(100) == first);
    tried_free(other);
    char *before = next;
    for (int i = 0; i < 100000; i++)
        tried_free(tried_malloc((size_t)(i % 5000)));
    CHECK(next == before);
}

TEST(what_is_last_grows_in_place)
{
    char *text = tried_malloc(10);

    while (text + 16 != next) /* one that was freed before */
        text = tried_malloc(10);
    char *same = text;

    for (size_t size = 20; size < 30000; size += 500)
        same = tried_realloc(same, size);
    CHECK(same == text);
    tried_free(same);
}

TEST(too_much_is_refused)
{
    CHECK(!tried_malloc(SIZE_MAX) && errno == ENOMEM);
    CHECK(!tried_malloc(PTRDIFF_MAX));
    CHECK(!tried_calloc(SIZE_MAX / 2, 3) && errno == ENOMEM);
}

TEST(freeing_twice_ends_the_program)
{
    pid_t pid = fork();
    int status = 0;

    if (pid == 0) {
        void *memory = tried_malloc(100);
        void *behind = tried_malloc(100);

        tried_free(memory);
        tried_free(memory);
        _exit(behind ? 0 : 1);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}
