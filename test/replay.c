/*
 * replay.c - runs a fuzzer over its corpus, as an ordinary test
 *
 *   PROGRAM DIRECTORY     one TAP line for each file there; a file that breaks the fuzzer's rules
 *                         ends the program
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* The fuzzer gets memory of the exact size: a sanitizer sees a byte too many. */
static int replay(const char *directory, const char *name)
{
    char path[4096];
    long size = -1;
    uint8_t *data = NULL;

    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "rbe");
    if (!file)
        return -1;
    if (fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size >= 0 && fseek(file, 0, SEEK_SET) == 0)
        data = malloc(size > 0 ? (size_t)size : 1);
    int r = data && fread(data, 1, (size_t)size, file) == (size_t)size ? 0 : -1;
    if (r == 0)
        (void)LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    (void)fclose(file);
    return r;
}

int main(int argc, char **argv)
{
    struct dirent **entries = NULL;
    int n = argc == 2 ? scandir(argv[1], &entries, is_visible, alphasort) : -1;
    int bad = 0;

    if (n <= 0) {
        (void)fprintf(stderr, "usage: %s DIRECTORY, with files in it\n", argv[0]);
        return 2;
    }
    printf("1..%d\n", n);
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;

        (void)fflush(stdout);
        if (replay(argv[1], name) < 0) {
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
