/*
 * replay.c - runs a fuzzer over its corpus, as an ordinary test
 *
 *   PROGRAM DIRECTORY     one TAP line for each file there; a file that breaks the fuzzer's rules
 *                         ends the program
 *
 * In the long part of the suite (COOP_TEST_LONG=1) each file is also changed at random, many times. The seed is
 * printed; COOP_TEST_SEED=N begins there. What broke a rule is then in the file that COOP_TEST_INPUT names.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

#define CHANGED     5000 /* inputs made of each file */
#define CHANGES_MAX 8
#define GROWTH      64

struct input {
    uint8_t *data;
    size_t size;
};

static int load(const char *directory, const char *name, struct input *out)
{
    char path[4096];
    long size = -1;

    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "rbe");
    if (!file)
        return -1;
    if (fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size >= 0 && fseek(file, 0, SEEK_SET) == 0)
        out->data = malloc(size > 0 ? (size_t)size : 1);
    out->size = size > 0 ? (size_t)size : 0;
    int r = out->data && fread(out->data, 1, out->size, file) == out->size ? 0 : -1;
    (void)fclose(file);
    return r;
}

/* The fuzzer gets memory of the exact size: a sanitizer sees a byte too many. */
static void give(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);

    if (!copy)
        abort();
    memcpy(copy, data, size);
    (void)LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static uint64_t state;

static size_t below(size_t n) /* xorshift64* */
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return n > 0 ? (size_t)((state * 0x2545F4914F6CDD1Du) >> 33) % n : 0;
}

/* One small change; `data` has room for GROWTH bytes more than it had at first. */
static size_t change(uint8_t *data, size_t size, size_t room)
{
    static const uint8_t odd[] = { 0,    0x7f, 0x80, 0xff, '\n', '\r', '"',
                                   '\\', '/',  '.',  '*',  '[',  '{',  ' ' };
    size_t at = below(size + 1);
    size_t n = 1 + below(GROWTH / CHANGES_MAX);

    switch (below(5)) {
    case 0: /* a bit */
        if (at < size)
            data[at] ^= (uint8_t)(1u << below(8));
        return size;
    case 1: /* a byte that is often special */
        if (at < size)
            data[at] = odd[below(sizeof odd)];
        return size;
    case 2: /* some bytes out */
        n = at + n > size ? size - at : n;
        memmove(data + at, data + at + n, size - at - n);
        return size - n;
    case 3: /* some bytes twice */
        if (at + n > size || size + n > room)
            return size;
        memmove(data + at + n, data + at, size - at);
        return size + n;
    default: /* the end off */
        return below(8) == 0 ? at : size;
    }
}

static void save(const uint8_t *data, size_t size)
{
    const char *path = getenv("COOP_TEST_INPUT");
    FILE *file = path && *path ? fopen(path, "wbe") : NULL;

    if (file) {
        (void)fwrite(data, 1, size, file);
        (void)fclose(file);
    }
}

static void give_changed(const struct input *input)
{
    size_t room = input->size + GROWTH;
    uint8_t *data = malloc(room);

    if (!data)
        abort();
    for (int i = 0; i < CHANGED; i++) {
        size_t size = input->size;

        memcpy(data, input->data, size);
        for (size_t n = 1 + below(CHANGES_MAX); n > 0; n--)
            size = change(data, size, room);
        save(data, size);
        give(data, size);
    }
    free(data);
}

static int replay(const char *directory, const char *name, int is_long)
{
    struct input input = { 0 };
    int r = load(directory, name, &input);

    if (r == 0)
        give(input.data, input.size);
    if (r == 0 && is_long)
        give_changed(&input);
    free(input.data);
    return r;
}

static void begin_random(void)
{
    const char *seed = getenv("COOP_TEST_SEED");

    state = seed && *seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL) * 1000003 + 1;
    printf("# COOP_TEST_SEED=%llu\n", (unsigned long long)state);
}

int main(int argc, char **argv)
{
    struct dirent **entries = NULL;
    int n = argc == 2 ? scandir(argv[1], &entries, is_visible, alphasort) : -1;
    const char *part = getenv("COOP_TEST_LONG");
    int is_long = part && *part == '1';
    int bad = 0;

    if (n <= 0) {
        (void)fprintf(stderr, "usage: %s DIRECTORY, with files in it\n", argv[0]);
        return 2;
    }
    printf("1..%d\n", n);
    if (is_long)
        begin_random();
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;

        (void)fflush(stdout);
        if (replay(argv[1], name, is_long) < 0) {
            printf("not ok %d - %s: cannot be read\n", i + 1, name);
            bad = 1;
        } else {
            printf("ok %d - %s\n", i + 1, name);
        }
        free(entries[i]);
    }
    free(entries);
    return bad;
}
